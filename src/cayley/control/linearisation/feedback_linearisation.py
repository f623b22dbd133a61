"""Feedback linearisation of arms with elastic drives: under it each joint is a chain of four integrators.

    y1 = q,  y2 = q',  y3 = q'' = M^-1 (P - h),  y4 = q''' = M^-1 (P' - (M q'' + h)' without q''')
    tau = the forces of the motors along the motion (q, q', y3, y4, v)        then  q'''' = v
    y^(r) = v,   v = y_d^(r) + k(r-1) (y_d^(r-1) - y^(r-1)) + ... + k0 (y_d - y)        the outer loop
P are the pulls of the springs, h has gravity in it. The error obeys e^(r) + k(r-1) e^(r-1) + ... + k0 e = 0, of
which the roots are the poles. A joint without a spring becomes a chain of four as well, by two integrators before its
force, the state of the law. It is the law for the reduced model, of rotors that only spin: what they feel because their
carriers turn is left to the outer loop. Sources: Mladenova 7.4.2 (294)-(304), with gravity as in spec E-50, R-54; De
Luca 1998 for mixed drives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.c.c_source import CSource
from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.control.arms import ArmLike, numbers_of, tree_of
from cayley.dynamics.elastic_drives.motor_motion import (
    ElasticArm,
    MotorMotion,
    elastic_arm,
    motor_motion_kernel,
    motor_motion_text,
)
from cayley.dynamics.forward.singular_inertia import explanation, guarded
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.errors import SignatureError, shown
from cayley.kinematics.mechanism_kernel import MechanismKernel, described, of_a_mechanism
from cayley.model.tree import Tree
from cayley.showing import brief
from cayley.systems import Block, Port, Record, System
from cayley.systems.ports import PortLike

_WHAT = "feedback linearisation"
_TARGET = ("target", "target_qd", "target_qdd", "target_jerk", "target_snap")
_SENTENCE = "Feedback linearisation: under this law the joints are chains of four integrators."


class IntegratorChain(NamedTuple):
    """The state in which the closed loop is linear: position, velocity, acceleration and jerk of the joints (n)."""

    position: Array
    velocity: Array
    acceleration: Array
    jerk: Array


@dataclass(frozen=True, eq=False)
class FeedbackLinearisation:
    """The law for an arm with elastic drives, with the four `poles` [1/s] of every chain, or (n, 4) of each.

    It is joined with the arm by `cy.connect(arm, law)`, and follows a planned motion that is joined with them,
    `motion_target(move)`. `law.control` is the same as a kernel, `law.c_source("law")` as C.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, stiffness=500.0, inertia=1e-4, gear=100.0)
    >>> soft = arm.including("elastic drives")
    >>> law = FeedbackLinearisation(soft, poles=[-8.0, -8.0, -8.0, -8.0])
    >>> start = law.at_rest([0.0, 0.0])
    >>> loop = cy.connect(soft, law)
    >>> run = loop.simulate(start, until=3.0, inputs={"target": [0.5, -0.3]})
    >>> run.end["q"].round(5)
    array([ 0.5 , -0.3 , 52.72913, -29.42313])
    """

    of: ArmLike
    poles: ArrayLike

    __repr__ = brief

    def __post_init__(self) -> None:
        self.gains  # noqa: B018  (what is wrong with the arm or the poles is said at once)

    @cached_property
    def arm(self) -> ElasticArm:
        """The equations of links and motors that the law knows."""
        return elastic_arm(tree_of(self.of), _WHAT)

    @cached_property
    def gains(self) -> Array:
        """k0 to k3 of each joint (4, n)."""
        return chain_gains(self.poles, 4, self.arm.n)

    @cached_property
    def chain(self) -> MechanismKernel[IntegratorChain]:
        """`chain(q, qd)`: y1 to y4 (..., n) of a state, and of the forces of rigid joints and their rates (..., r)."""
        return chain_kernel(self.arm.tree)

    @cached_property
    def law(self) -> MechanismKernel:
        """`law(q, qd, v)`: the forces (..., nv) under which the snap of the joints is v (..., n). Of an arm with rigid
        joints `law(q, qd, force, force_rate, v)`, and the second rates (..., r) of their forces besides."""
        return law_kernel(self.arm.tree)

    @cached_property
    def control(self) -> MechanismKernel:
        """`control(q, qd, target, target_qd, target_qdd, target_jerk, target_snap)`: the law with its outer loop; of an
        arm with rigid joints with `force` and `force_rate` after qd."""
        return control_kernel(self.arm.tree, self.gains)

    @cached_property
    def motor_motion(self) -> Kernel[MotorMotion]:
        """`motor_motion(q, qd, qdd, jerk, snap)` of the joints (..., n): the whole motion and its forces."""
        return motor_motion_kernel(self.arm.tree)

    def c_source(self, name: str = "linearising_law") -> CSource:
        """`control` as C99, one function with its header, for a loop at a fixed rate."""
        return self.control.c_source(name)

    def at_rest(self, q: ArrayLike) -> dict[str, Array]:
        """The state of the closed loop at rest with the joints at q (n): springs hold the arm, drives hold springs."""
        where = np.asarray(q, dtype=float)
        found = self.motor_motion(where, *np.zeros((4, self.arm.n)))
        start = {"q": found.q, "qd": found.qd}
        if self.arm.rigid:
            start |= {"force": found.tau[self.arm.rigid], "force_rate": np.zeros(len(self.arm.rigid))}
        return start

    def system(self, name: str = _WHAT) -> System:
        """The law as a system: inputs `q`, `qd`, `target` (n), and its derivatives `target_qd`, `target_qdd`,
        `target_jerk` and `target_snap`, zero if nothing drives them. Output: `tau`. With rigid joints it has the state
        `force` and `force_rate` (r)."""
        n = self.arm.n
        size = self.arm.tree.nv
        r = len(self.arm.rigid)
        inputs: dict[str, PortLike] = {"q": size, "qd": size, "target": n}
        inputs |= {name: Port((n,), default=0.0) for name in _TARGET[1:]}
        control: Text = self.control.unchecked

        def found(x: Record, u: Record) -> tuple[Array, Array]:
            return control(u.q, u.qd, x.force, x.force_rate, *[u[name] for name in _TARGET])

        if not r:
            return System(name, inputs=inputs, outputs={"tau": size},
                          output=lambda t, x, u, p: control(u.q, u.qd, *[u[name] for name in _TARGET]))
        return System(name, inputs=inputs, outputs={"tau": size},
                      state={"force": Block((r,), velocity="force_rate"), "force_rate": r},
                      derivative=lambda t, x, u, p: found(x, u)[1], output=lambda t, x, u, p: found(x, u)[0])


@of_a_mechanism
def chain_kernel(tree: Tree) -> MechanismKernel[IntegratorChain]:
    """See `FeedbackLinearisation.chain`."""
    arm = elastic_arm(tree, _WHAT)

    def chain(q: Array, qd: Array, *forces: Array) -> IntegratorChain:
        return _chain(arm, q, qd, *forces)

    return _of_state(arm, chain, {}, dict.fromkeys(IntegratorChain._fields, arm.n))  # type: ignore[return-value]


@of_a_mechanism
def law_kernel(tree: Tree) -> MechanismKernel:
    """See `FeedbackLinearisation.law`."""
    arm = elastic_arm(tree, _WHAT)

    def law(q: Array, qd: Array, *others: Array) -> Array | tuple[Array, Array]:
        *forces, v = others
        return _driven(arm, _chain(arm, q, qd, *forces), v)

    return _of_state(arm, law, {"v": f"({arm.n})"}, _results(arm))


@of_a_mechanism
def control_kernel(tree: Tree, gains: Array) -> MechanismKernel:
    """See `FeedbackLinearisation.control`; gains (4, n)."""
    arm = elastic_arm(tree, _WHAT)

    def control(q: Array, qd: Array, *others: Array) -> Array | tuple[Array, Array]:
        *forces, target, rate, acceleration, jerk, snap = others
        y = _chain(arm, q, qd, *forces)
        errors = np.stack([target, rate, acceleration, jerk]) - np.stack(y)
        return _driven(arm, y, snap + np.sum(gains * errors, axis=0))

    return _of_state(arm, control, dict.fromkeys(_TARGET, f"({arm.n})"), _results(arm))


def _driven(arm: ElasticArm, y: IntegratorChain, v: Array) -> Array | tuple[Array, Array]:
    found = motor_motion_text(arm, *y, v)
    return (found.motion.tau, found.rigid) if arm.rigid else found.motion.tau


def _results(arm: ElasticArm) -> dict[str, int]:
    return {"tau": arm.tree.nv} | ({"force_acceleration": len(arm.rigid)} if arm.rigid else {})


def _of_state(arm: ElasticArm, text: Text, more: dict[str, str], results: dict[str, int]) -> MechanismKernel:
    """The kernel of the state, with the forces of rigid joints if there are some, and of more inputs; NaN, with a
    reason, where the links have no acceleration."""
    tree = arm.tree
    forces = dict.fromkeys(("force", "force_rate"), f"({len(arm.rigid)})") if arm.rigid else {}
    inputs = {"q": f"({tree.nq})", "qd": f"({tree.nv})"} | forces | more
    signature = f"{','.join(inputs.values())}->{','.join(f'({size})' for size in results.values())}"
    described(tree, text, _SENTENCE)
    return kernel(signature, name=text.__name__, inputs=list(inputs), outputs=list(results), kind=MechanismKernel,
                  explain=explanation(tree))(guarded(tree, text, [(size,) for size in results.values()]))


def _chain(arm: ElasticArm, q: Array, qd: Array, *forces: Array) -> IntegratorChain:
    """y1 to y4, from the pulls of springs, the forces of rigid joints, and the rates of both."""
    n = arm.n
    position = independent(symbols(q[:n]))
    velocity = independent(symbols(qd[:n]))
    stiffness = arm.pull_slopes(position, q[n:])
    springs = arm.pulls(position, q[n:]), stiffness * (qd[n:] / arm.gears - velocity[arm.elastic])
    given = forces or (np.zeros(0), np.zeros(0))
    P, rate = (_placed(arm, own, other) for own, other in zip(springs, given, strict=True))
    M = arm.inertia(position)
    acceleration = independent(symbols(solve(M, P - arm.forces(position, velocity, np.zeros(n)))))
    moving = np.concatenate([position, velocity, acceleration])
    without_jerk = slope_along(arm.forces(position, velocity, acceleration), moving,
                               np.concatenate([velocity, acceleration, np.zeros(n)]))
    return IntegratorChain(position, velocity, acceleration, solve(M, rate - without_jerk))


def _placed(arm: ElasticArm, elastic: Array, rigid: Array) -> Array:
    """Values (n) of all joints, from those of the elastic and those of the rigid ones."""
    found = np.empty(arm.n, dtype=object)
    found[arm.elastic] = elastic
    found[arm.rigid] = rigid
    return symbols(found)


_CONJUGATE = 1e-9  # of the largest coefficient


def chain_gains(poles: ArrayLike, length: int, chains: int) -> Array:
    """Gains k0 .. k(r-1) of each chain (r, chains) that place r = `length` poles, the same for all chains or (chains,
    r).

    >>> chain_gains([-5.0, -5.0, -5.0, -5.0], 4, 1)[:, 0]
    array([625., 500., 150., 20.])
    """
    given = numbers_of(poles, "poles", complex)
    if given.ndim not in (1, 2) or given.shape[-1:] != (length,) or given.shape[:-1] not in ((), (chains,)):
        raise SignatureError(f"the poles of {chains} chains of {length} integrators must be {length} numbers, or "
                             f"({chains}, {length}), not {shown(poles)}")
    if not np.isfinite(given).all() or not (given.real < 0).all():
        raise SignatureError(f"poles must have negative real parts, or errors would not die out: {shown(poles)}")
    rows = np.broadcast_to(given, (chains, length))
    coefficients = [np.poly(row) for row in rows]
    for row, polynomial in zip(rows, coefficients, strict=True):
        if np.abs(np.imag(polynomial)).max() > _CONJUGATE * np.abs(polynomial).max():
            raise SignatureError(f"complex poles come in conjugate pairs: {shown(row)}")
    return np.stack([np.real(polynomial)[:0:-1] for polynomial in coefficients], axis=1)
