"""The linear-quadratic regulator of an arm at an equilibrium: the law that minimises a weighted sum of errors and
forces on the linearised arm.

    tau = tau0 + K (e; e') + Ki z        dz/dt = e of the driven joints
    minimal: the integral of x^T Q x + z^T Qi z + u^T R u
    A^T X + X A - X B R^-1 B^T X + Q = 0        K = R^-1 B^T X
    X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q        K = (R + B^T X B)^-1 B^T X A        of steps
A and B are those of `arm.linearize` at rest at q, with the integrals as further states. With a `period` the gains are
those of the discrete Riccati equation, of forces that are held for a period. Joints may lack drives if the driven ones
reach every mode that does not decay (Popov, Belevitch and Hautus); the error names a mode that they do not reach.
Source: Anderson & Moore, Optimal Control, 1990, 2.4, 3.1, 11.1; Balafoutis & Patel (7.2.1); spec S3-48."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from cayley.compiler.solving.rounding import significant
from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.control.arms import ArmLike, finite_or, integral_action, law_ports, numbers_of, positive_gains_of, tree_of
from cayley.control.tracking import Weights, linear_at, regulator_gain, weight_matrix
from cayley.dynamics.linearised.state_space import LinearisedMechanism, StateSpace
from cayley.errors import SignatureError, SingularityError, UnsupportedError, shown
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.model.configuration_space import configuration_difference
from cayley.model.configurations import check_configuration
from cayley.model.tree import Tree
from cayley.systems import Record, State, System

_STILL = 1e-8  # of the largest force: what an undriven joint may need to stay


def lqr(arm: ArmLike, q: ArrayLike, state: ArrayLike = 1.0, force: ArrayLike = 1.0, *,
        integral: ArrayLike | None = None, period: float | None = None, driven: Sequence[str] | None = None,
        wind_up: ArrayLike | None = None, name: str = "lqr") -> System:
    """The linear-quadratic regulator at an equilibrium, with integral action if it is weighted.

    `q` (nq): where the arm is to stand; `state` weighs errors and rates (2 nv), `force` the driven forces (m): numbers,
    diagonals or matrices. `integral` weighs the integral of the errors of the driven joints (m), and gives the law the
    state `integral`, of which no more than the force `wind_up` (m) acts. `driven`: the names of joints with drives, if
    not all have them; those without must need no force at q. Inputs: `q`, `qd`, `target`, which is q or near it, and
    `target_qd`. Output: `tau`. Parameters: `gain` K (nv, 2 nv) and `ki`. Of a mechanism with constraints the errors are
    those of its independent joints. Forces are zero where they depend on what is not finite.

    >>> import cayley as cy
    >>> arm = cy.load("s1_g1")  # upright, driven in its first joint alone
    >>> law = lqr(arm, [np.pi / 2, 0.0], driven=["joint1"])
    >>> loop = cy.connect(arm, law)
    >>> run = loop.simulate({"q": [np.pi / 2 - 0.02, 0.03], "qd": [0.0, 0.0]}, until=12.0,
    ...                     inputs={"target": [np.pi / 2, 0.0]})
    >>> bool(abs(run.end["q"] - [np.pi / 2, 0.0]).max() < 1e-4)
    True
    """
    tree = tree_of(arm)
    columns = _driven(tree, driven)
    held = _equilibrium(tree, q, columns)
    model = linear_at(LinearisedMechanism(tree), *held).driven_by(columns)
    leading = list(constraint_structure(tree).independent if tree.is_constrained else range(tree.nv))
    places = [] if integral is None else _integrated(tree, columns, leading)
    whole = with_integrals(model, places, period)
    check_stabilisable(whole, [_joint_of(tree, k) for k in leading])
    K = optimal_gain(whole, state, force, np.zeros(0) if integral is None else positive_gains_of(
        integral, len(places), "integral"))
    gain = np.zeros((tree.nv, 2 * len(leading)))
    gain[columns] = K[:, :2 * len(leading)]
    nominal = np.zeros(tree.nv)
    nominal[columns] = LinearisedMechanism(tree).inverse_dynamics(*held)[columns]
    ki = np.zeros((tree.nv, len(places)))
    ki[columns] = K[:, 2 * len(leading):]
    return _law(tree, gain, ki, nominal, leading, columns, wind_up, name)


def _law(tree: Tree, gain: Array, ki: Array, nominal: Array, leading: list[int], driven: list[int],
         wind_up: ArrayLike | None, name: str) -> System:
    if wind_up is not None and not ki.size:
        raise SignatureError("wind_up limits integral action, and so needs weights `integral`")

    def errors(u: Record) -> Array:
        return configuration_difference(tree, u.q, u.target)

    own = np.abs(ki).max(axis=0, initial=0.0) if ki.size else None
    memory = integral_action(own, wind_up, len(driven), lambda u, p: errors(u)[driven], acting=own)

    def tau(x: State, u: Record, p: Record) -> Array:
        e = np.concatenate([errors(u)[leading], (u.target_qd - u.qd)[leading]])
        wanted = nominal + p.gain @ e
        return finite_or(wanted + p.ki @ x.integral if ki.size else wanted, 0.0)

    return System(
        name, state=memory.state, inputs=law_ports(tree, "q qd target target_qd"), outputs={"tau": tree.nv},
        parameters={"gain": gain, **memory.gains, **({"ki": ki} if ki.size else {})}, derivative=memory.derivative,
        output=lambda t, x, u, p: tau(x, u, p))


def _driven(tree: Tree, names: Sequence[str] | None) -> list[int]:
    """The velocities that have drives."""
    if names is None:
        return list(tree.actuated_velocities)
    given = [names] if isinstance(names, str) else list(names)
    return [k for name in given for k in range(tree.nv)[tree.v_slices[tree.joint_number(name)]]]


def _equilibrium(tree: Tree, q: ArrayLike, columns: Sequence[int]) -> tuple[Array, Array, Array]:
    """The state of rest, which is one under the driven forces alone."""
    given = numbers_of(q, "the equilibrium q")
    if given.shape != (tree.nq,) or not np.isfinite(given).all():
        raise SignatureError(f"an equilibrium of {tree.name} must be finite numbers ({tree.nq}), not {shown(q)}")
    check_configuration(tree, given, limits=False)
    rest = np.zeros(tree.nv)
    needed = LinearisedMechanism(tree).inverse_dynamics(given, rest, rest)
    idle = [k for k in range(tree.nv) if k not in columns]
    for k in idle:
        if abs(needed[k]) > _STILL * max(1.0, np.abs(needed).max()):
            raise SignatureError(f"{tree.name} is not in equilibrium at {shown(given.tolist())}: "
                                 f"{_joint_of(tree, k)!r} has no drive there, and would need {needed[k]:.4g}")
    return given, rest, rest


def _integrated(tree: Tree, columns: Sequence[int], leading: Sequence[int]) -> list[int]:
    """The places of the driven joints' errors in the state."""
    missing = [k for k in columns if k not in leading]
    if missing:
        raise UnsupportedError(f"integral action is on driven joints that are independent ones of {tree.name}; "
                               f"{_joint_of(tree, missing[0])!r} follows from others")
    return [list(leading).index(k) for k in columns]


def _joint_of(tree: Tree, velocity: int) -> str:
    return next(joint.name for joint, own in zip(tree.joints, tree.v_slices, strict=True)
                if velocity in range(tree.nv)[own])


_NEGLIGIBLE = 1e-9  # [1/s], of the unit circle, and of the largest cost
_SHARE = 0.01  # of the largest part: a joint that takes part


class LostMode(NamedTuple):
    """A pole, and the combination of states that goes with it."""

    pole: complex
    shape: Array


def lost_mode(A: Array, B: Array, dt: float | None) -> LostMode | None:
    """A mode that does not die by itself and that B does not reach, w^T [A - s, B] = 0, if there is one; by the test of
    Popov, Belevitch and Hautus. With transposes, one that is not seen."""
    for pole in np.linalg.eigvals(A):
        left, sizes, _ = np.linalg.svd(np.concatenate([A - pole * np.eye(len(A)), B], axis=1))
        lasts = pole.real >= -_NEGLIGIBLE if dt is None else abs(pole) >= 1 - _NEGLIGIBLE
        if lasts and not significant(sizes, len(A)).all():
            return LostMode(pole, left[:, -1])
    return None


def check_stabilisable(model: StateSpace, joints: Sequence[str]) -> None:
    """`SingularityError` that names a mode that no force reaches: its pole, and the joints of its combination."""
    lost = lost_mode(model.A, model.B, model.dt)
    if lost is not None:
        n = len(joints)
        parts = np.abs(lost.shape[:n]) + np.abs(lost.shape[n:2 * n])
        named = [repr(name) for name, much in zip(joints, parts, strict=True) if much > _SHARE * parts.max(initial=0.0)]
        what = f"a motion of {', '.join(named)}" if named else "the integral of an error"
        raise SingularityError(f"there is no regulator: {what} with the pole {lost.pole:.4g} "
                               f"{'1/s' if model.dt is None else 'a step'} does not decay, and no drive controls it")


def optimal_gain(model: StateSpace, state: ArrayLike, force: ArrayLike, integral: Array) -> Array:
    """K (m, states) for weights of states, forces and integrals, the last of the states."""
    size = len(model.A) - len(integral)
    Q = block_diag(weight_matrix(state, size, "state"), np.diag(integral)) if len(integral) else weight_matrix(
        state, size, "state")
    R = weight_matrix(force, model.B.shape[1], "force")
    if np.linalg.eigvalsh(R).min() <= 0 or np.linalg.eigvalsh(Q).min() < -_NEGLIGIBLE * np.abs(Q).max():
        raise SignatureError("the weights of forces are positive definite, and those of states not negative")
    unseen = lost_mode(model.A.T, Q, model.dt)
    if unseen is not None:
        raise SingularityError(f"there is no regulator: the mode with the pole {unseen.pole:.4g} does not decay, and "
                               f"has no weight: give every state a weight")
    return regulator_gain(model, Weights(Q, R))


def with_integrals(model: StateSpace, places: Sequence[int], period: float | None = None) -> StateSpace:
    """The model with the integrals of some of its states as states besides; with a `period` [s], of steps, whose
    integrals are Euler's, as a controller takes them."""
    if period is not None:
        if not is_finite_number(period) or period <= 0:
            raise SignatureError(f"the period of a controller must be more than 0 s, not {shown(period)}")
        model = model.discretised(period)
    m, size = len(places), len(model.A)
    kept, share = (np.zeros((m, m)), 1.0) if period is None else (np.eye(m), period)
    A = np.block([[model.A, np.zeros((size, m))], [share * np.eye(size)[list(places)], kept]])
    return StateSpace(A, np.concatenate([model.B, np.zeros((m, model.B.shape[1]))]), period)
