"""Signals between a law and an arm: limits of drives, dry friction, encoders, and digital control, which samples once a
period and acts late.

Each is a system with one signal in and one out, to be connected by name:

    law.renamed({"tau": "wanted_tau"})        saturation("tau", [80.0, 40.0])        the arm
A law that knows the limits of its drives does not wind up its memory while they saturate. A digital law takes the steps
of `law.step` and of `law.c_source`, with the mechanism moving on meanwhile:

    at k T:  y_k = output(x_k, u(k T)),  x_{k+1} = x_k + T derivative(x_k, u(k T));  y_{k - late} goes out until (k+1) T
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector
from cayley.compiler.tracing.symbols import symbols, where
from cayley.compiler.typing import Array, ArrayLike, Scalar, is_finite_number
from cayley.control.arms import ArmLike, finite_or, numbers_of, tree_of
from cayley.dynamics.rigid_links.drives import DriveSpring, ties
from cayley.errors import ConventionError, SignatureError, UnsupportedError, shown
from cayley.model.configuration_space import configuration_step
from cayley.model.tree import Tree
from cayley.systems import Block, Port, Record, State, System, Transition, connect


def saturation(signal: str, limits: ArrayLike, *, name: str = "saturation") -> System:
    """A limiter: the input `wanted_<signal>` (n) goes out as `<signal>`, within -limits and limits (n), a parameter.
    NaN becomes zero.

    >>> saturation("voltage", [24.0, 12.0])
    <system saturation: inputs wanted_voltage; outputs voltage; parameters limits>
    """
    bounds = np.atleast_1d(numbers_of(limits, f"the limits of {signal}"))
    if bounds.ndim != 1 or not (bounds > 0).all():
        raise SignatureError(f"the limits of {signal} must be positive, (n), not {shown(limits)}")

    def limited(wanted: Array, most: Array) -> Array:
        return where(wanted == wanted, np.minimum(np.maximum(wanted, -most), most), 0.0)

    return System(name, inputs={f"wanted_{signal}": len(bounds)}, outputs={signal: len(bounds)},
                  parameters={"limits": bounds},
                  output=lambda t, x, u, p: limited(u[f"wanted_{signal}"], p.limits))


def dry_friction(signal: str, coulomb: ArrayLike, *, creep: float = 1e-3, name: str = "friction") -> System:
    """A friction: the input `wanted_<signal>` (n) goes out as `<signal>`, less the dry friction coulomb tanh(qd /
    creep) (n) of joints that move with `qd` (n).

    It is a smooth stand-in for the jump at rest: a joint that dry friction would hold under a force F creeps with
    creep artanh(F / coulomb) [rad/s, m/s]. Mechanisms themselves have friction that holds
    (`including("friction")`).

    >>> dry_friction("tau", [2.0, 1.0])
    <system friction: inputs wanted_tau, qd; outputs tau; parameters coulomb>
    """
    given = np.atleast_1d(numbers_of(coulomb, "dry friction"))
    if given.ndim != 1 or not (np.isfinite(given) & (given >= 0)).all() or not 0 < creep < np.inf:
        raise SignatureError(f"dry friction must be finite and not negative, (n), and its creep positive, not "
                             f"{shown(coulomb)} and {shown(creep)}")
    n = len(given)
    return System(name, inputs={f"wanted_{signal}": n, "qd": n}, outputs={signal: n}, parameters={"coulomb": given},
                  output=lambda t, x, u, p: u[f"wanted_{signal}"] - p.coulomb * np.tanh(u.qd / creep))


def encoder(signal: str, counts: ArrayLike, *, turn: float = 2 * np.pi, name: str = "encoder") -> System:
    """An encoder: the input `<signal>` (n) goes out as `measured_<signal>`, rounded to the nearest of `counts` (n)
    steps of a `turn`, 2 pi of an angle or the length of a scale; a half is rounded up.

    Encoders are piecewise constant: integrate them behind `sample_and_hold`, or in a rollout.

    >>> encoder("q", [4096, 4096])
    <system encoder: inputs q; outputs measured_q; parameters resolution>
    """
    given = np.atleast_1d(numbers_of(counts, "the counts of an encoder"))
    if given.ndim != 1 or not (np.isfinite(given) & (given > 0)).all() or not 0 < turn < np.inf:
        raise SignatureError(f"an encoder must have a positive number of counts, (n), a turn, not {shown(counts)}")
    return System(name, inputs={signal: len(given)}, outputs={f"measured_{signal}": len(given)},
                  parameters={"resolution": turn / given},
                  output=lambda t, x, u, p: p.resolution * np.floor(u[signal] / p.resolution + 0.5))


@dataclass(frozen=True)
class SensorErrors:
    """Errors of the measured q and qd, of each velocity (nv) or of all: `offset` and `rate_offset`, the standard
    deviations `noise` and `rate_noise`, and the `resolution` to which q is rounded. Noise is drawn anew at each look of
    a digital controller, the same for the same `seed`."""

    offset: ArrayLike = 0.0
    rate_offset: ArrayLike = 0.0
    resolution: ArrayLike = 0.0
    noise: ArrayLike = 0.0
    rate_noise: ArrayLike = 0.0
    seed: int = 0

    @property
    def digital(self) -> bool:
        """True if these errors need a digital controller."""
        return any(np.any(x) for x in (self.resolution, self.noise, self.rate_noise))

    def system(self, arm: ArmLike) -> System:
        """The sensors of an arm: `q` and `qd` go out as `measured_q` and `measured_qd`, with the standard normal inputs
        `drawn` and `drawn_rate` (nv), zero if nothing gives them.

        >>> from cayley.model.catalogue import load_robot
        >>> SensorErrors(offset=0.01, resolution=1e-3).system(load_robot("planar2r"))
        <system sensors: inputs q, qd, drawn, drawn_rate; outputs measured_q, measured_qd>
        """
        tree = tree_of(arm)
        of = _by_velocity(self, tree)
        coarse, steps = np.flatnonzero(of["resolution"]), of["resolution"][of["resolution"] > 0]
        if len(coarse) and tree.nq != tree.nv:
            raise SignatureError(f"{tree.name} has attitudes, whose quaternions are not rounded: leave the resolution "
                                 "out")

        def measured(t: Scalar, x: Record, u: Record, p: Record) -> dict[str, Array]:
            q = symbols(configuration_step(tree, u.q, of["offset"] + of["noise"] * u.drawn)).copy()
            q[coarse] = steps * np.floor(q[coarse] / steps + 0.5)
            return {"measured_q": q, "measured_qd": u.qd + of["rate_offset"] + of["rate_noise"] * u.drawn_rate}

        drawn = Port((tree.nv,), default=0.0)
        return System("sensors", inputs={"q": tree.nq, "qd": tree.nv, "drawn": drawn, "drawn_rate": drawn},
                      outputs={"measured_q": tree.nq, "measured_qd": tree.nv}, output=measured)

    def draws(self, count: int, period: float, start: float = 0.0) -> dict[str, Callable[..., Array]]:
        """The inputs `drawn` and `drawn_rate` (count) of a run, the same whenever they are asked for within a period.
        """
        @lru_cache(maxsize=2)
        def normal(which: int, look: int) -> Array:
            return np.random.default_rng([self.seed, which, look + 2**31]).normal(size=count)

        return {name: lambda t, *_, which=which: normal(which, round((t - start) / period))
                for which, name in enumerate(("drawn", "drawn_rate"))}


@dataclass(frozen=True)
class ActuatorErrors:
    """Errors of the forces (nv) that a law asks for: gain times force plus `offset`, at most `limit`."""

    gain: ArrayLike = 1.0
    offset: ArrayLike = 0.0
    limit: ArrayLike = np.inf

    def system(self, arm: ArmLike) -> System:
        """The actuators of an arm: `wanted_tau` (nv) goes out as `tau`."""
        tree = tree_of(arm)
        of = _by_velocity(self, tree)
        return System("actuators", inputs={"wanted_tau": tree.nv}, outputs={"tau": tree.nv}, output=lambda t, x, u, p: (
            np.minimum(np.maximum(of["gain"] * u.wanted_tau + of["offset"], -of["limit"]), of["limit"])))


def _by_velocity(errors: SensorErrors | ActuatorErrors, tree: Tree) -> dict[str, Array]:
    """The numbers (nv) of errors by their names."""
    found = {name: numbers_of(value, name) for name, value in vars(errors).items()}
    for name, given in found.items():
        if given.shape not in ((), (1,), (tree.nv,)) or np.isnan(given).any():
            raise SignatureError(f"{name} is a number, or one for each of the {tree.nv} velocities of {tree.name}, not "
                                 f"{shown(given)}")
        if name in ("resolution", "noise", "rate_noise", "limit") and (given < 0).any():
            raise SignatureError(f"{name} is not negative, not {shown(given)}")
    return {name: np.broadcast_to(given, (tree.nv,)) for name, given in found.items()}


def check_sampling(period: float, late: int) -> None:
    """Check a period [s] and a delay in periods."""
    if not is_finite_number(period) or period <= 0 or not is_finite_number(late) or late != int(late) or late < 0:
        raise SignatureError(f"the period must be more than 0 s, and `late` a whole number of periods, not "
                             f"{shown(period)} and {shown(late)}")


def sample_and_hold(signal: str, count: int, period: float, *, late: int = 0, name: str = "hold") -> System:
    """A sampler: the input `wanted_<signal>` (count) is sampled each `period` [s], the first time after one, and held
    as `<signal>` until the next sample, `late` periods later: the delay of a controller's computation.

    Until then zero goes out, or what a start gives for the state `held` (late + 1, count), the oldest last. What is not
    finite is not taken: the value of the look before stays.

    >>> sample_and_hold("tau", 2, 1e-3, late=1)
    <system hold: state clock, held; inputs wanted_tau; outputs tau>
    """
    check_sampling(period, late)

    def look(t: float, x: State, u: Record, p: Record) -> dict[str, Array]:
        seen = finite_or(u[f"wanted_{signal}"], x.held[0])
        return {"clock": x.clock - period, "held": np.concatenate([seen[None], x.held[:-1]])}

    return System(
        name, state={"clock": Block((), "s", default=0.0), "held": Block((late + 1, count), default=0.0)},
        inputs={f"wanted_{signal}": count}, outputs={signal: count},
        derivative=lambda t, x, u, p: {"clock": 1.0, "held": np.zeros((late + 1, count))},
        output=lambda t, x, u, p: x.held[-1],
        transitions=[Transition(f"{name} looks", lambda t, x, u, p: x.clock - period, "rising", jump=look,
                                counted=False)])


def within(wanted: Array, limits: Array) -> Array:
    """Saturated forces (n), zero where they are not finite, as a text.

    >>> within(np.array([3.0, -9.0, np.nan]), np.array([4.0, 4.0, 4.0]))
    array([ 3., -4.,  0.])
    """
    return finite_or(np.minimum(np.maximum(wanted, -limits), limits), 0.0)


def is_within(wanted: Array, limits: Array) -> Scalar:
    """One if every force can act as it is wanted, zero if one saturates or is not a number; a text.

    >>> is_within(np.array([3.0, -9.0]), np.array([4.0, 4.0]))
    np.float64(0.0)
    """
    return np.prod(where(abs(wanted) <= limits, 1.0, 0.0))


def digital(law: System, period: float, *, late: int = 0, at_once: bool = False, name: str | None = None) -> System:
    """The law sampled each `period` [s], the first time after one, or where it starts if `at_once`, with outputs `late`
    periods later. It has the ports and parameters of the law, and besides its memory the states `clock` and
    `held_<output>` (late + 1, size), the oldest last: what goes out before the first look, zero if a start does not
    give it.

    A look that would give what is not finite leaves what was held before.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> law = digital(arm.control.pid(80.0, 20.0, 12.0), 1e-3, late=1)
    >>> law
    <system pid, digital: state integral, clock, held_tau; inputs q, qd, target, target_qd; outputs tau;
     parameters kp, kd, ki, wind_up>
    >>> end = cy.connect(arm.with_gravity([0.0, 0.0, 0.0]), law).rollout()(
    ...     {"q": [0.0, 0.0], "qd": [0.0, 0.0]}, step=1e-3, steps=20_000, inputs={"target": [0.5, -0.3]}).end
    >>> end["q"].round(3)
    array([ 0.5, -0.3])
    """
    check_sampling(period, late)
    if law.modes or law.transitions or law.constraints:
        raise UnsupportedError(f"{law.name} has modes, transitions or constraints: it cannot run as one step per "
                               f"period")
    held = {f"held_{output}": Block((late + 1, prod(port.shape)), default=0.0)
            for output, port in law.output_ports.items()}
    taken = [block for block in law.blocks if block in held or block == "clock"]
    if taken:
        raise UnsupportedError(f"{law.name} has a state {taken[0]!r}, which is a word of digital control: rename it")
    memory = {block: Block(given.shape, given.unit, given.manifold, default=given.default)
              for block, given in law.blocks.items()}

    def look(t: float, x: State, u: Record, p: Record) -> dict[str, Array]:
        now = law.layout.state(law.layout.vector(x)) if memory else x
        seen = {f"held_{output}": symbols(as_vector(value)) for output, value in law.values(t, now, u, p).items()}
        queues = {block: np.concatenate([finite_or(value, x[block][0])[None], x[block][:-1]])
                  for block, value in seen.items()}
        steps = {block: period * rate for block, rate in law.tangents(t, now, u, p).items()}
        return {"clock": x.clock - period, **queues, **law.layout.stepped(now, steps)}

    still = {block: np.zeros(given.tangent) for block, given in {**memory, **held}.items()}
    return System(
        name or f"{law.name}, digital", state={**memory, "clock": Block((), "s", default=period * at_once), **held},
        inputs=law.inputs, outputs=law.outputs, parameters=law.parameters, acts=law.acts,
        derivative=lambda t, x, u, p: {"clock": 1.0, **still},
        output=lambda t, x, u, p: {output: x[f"held_{output}"][-1] if port.shape == (port.size,) else
                                   np.reshape(x[f"held_{output}"][-1], port.shape)
                                   for output, port in law.output_ports.items()},
        transitions=[Transition(f"{law.name} looks", lambda t, x, u, p: x.clock - period, "rising", jump=look,
                                counted=False)])


_INNER = {"q": "joint_q", "qd": "joint_qd", "tau": "joint_tau"}


def through_springs(arm: ArmLike, law: System, *, measured: str = "motors", joints: Collection[str] | None = None,
                    name: str | None = None) -> System:
    """A law that was made for the rigid arm, as one for the same arm with elastic drives, whose springs count as rigid:

        measured at the motors    q = qm / gear + rest        tau_m = tau / gear
        measured at the joints    q, with the same forces of the motors
    The loop is stable while it is slower than the springs; from measurements at the motors it is the more robust
    (collocated control). `FeedbackLinearisation` is the law that knows the springs. Source: Spong 1987; spec R-51.

    `arm` includes "elastic drives", `law` was made for `arm.including("armature")`, or for another rigid model of it.
    The inputs `q` and `qd` belong to joints and motors. The output `tau` goes to the motors, and to the joints without
    springs. All other ports are those of the law. `measured` at the "motors" or at the "joints". `joints`: those whose
    springs count as rigid, if the law knows the motors of the others.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, stiffness=2e4)
    >>> soft = arm.including("elastic drives")
    >>> law = through_springs(soft, arm.including("armature").control.computed_torque(100.0, 20.0))
    >>> start = {"q": np.zeros(4), "qd": np.zeros(4)}
    >>> run = cy.connect(soft, law).simulate(start, until=2.0, inputs={"target": [0.5, -0.3]})
    >>> bool(abs(run.end["q"][:2] - [0.5, -0.3]).max() < 1e-3)
    True
    """
    tree = tree_of(arm)
    springs, own = counted_as_rigid(tree, joints)
    if not springs:
        raise UnsupportedError(f"{tree.name} includes no elastic drives: its laws need nothing in between")
    if measured not in ("motors", "joints"):
        raise ConventionError(f'joints are measured at the "motors" or at the "joints", not at {measured!r}')
    count = len(own.qd)
    if "tau" not in law.outputs or law.output_ports["tau"].shape != (count,):
        raise SignatureError(f"{law.name} must give `tau` ({count}), the forces of the joints of {tree.name} without "
                             "its motors: make it for the arm with rigid drives, `including(\"armature\")`")

    def joints_of(u: Record) -> dict[str, Array]:
        q, qd = symbols(u.q).copy(), symbols(u.qd).copy()
        for tie in springs if measured == "motors" else ():
            q[tie.q] = u.q[tie.qm] / tie.gear + tie.spring.rest_angle
            qd[tie.qd] = u.qd[tie.qmd] / tie.gear
        return {"joint_q": q[own.q], "joint_qd": qd[own.qd]}

    def forces(tau: Array) -> Array:
        found: list[Scalar] = [0.0] * tree.nv
        for place, force in zip(own.qd, tau, strict=True):
            found[place] = force
        for tie in springs:
            found[tie.qmd or 0], found[tie.qd] = found[tie.qd] / tie.gear, 0.0
        return np.stack(found)

    before = System("measurement", inputs={"q": tree.nq, "qd": tree.nv},
                    outputs={"joint_q": len(own.q), "joint_qd": count}, output=lambda t, x, u, p: joints_of(u))
    after = System("motor forces", inputs={"joint_tau": count}, outputs={"tau": tree.nv},
                   output=lambda t, x, u, p: forces(u.joint_tau))
    ports = (*law.inputs, *law.outputs)
    inner = law.renamed({port: new for port, new in _INNER.items() if port in ports})
    return connect(before, inner, after, name=name or f"{law.name} through springs")


class StatePlaces(NamedTuple):
    """Places in the configuration and in the velocity of a mechanism."""

    q: list[int]
    qd: list[int]


def counted_as_rigid(tree: Tree, joints: Collection[str] | None = None) -> tuple[list[DriveSpring], StatePlaces]:
    """The springs between the named joints, or all, and their motors; and the places of all that moves but these
    motors."""
    at = None if joints is None else {tree.v_slices[tree.joint_number(name)].start for name in joints}
    springs = [tie for tie in ties(tree) if tie.qm is not None and (at is None or tie.qd in at)]
    return springs, StatePlaces([k for k in range(tree.nq) if k not in {tie.qm for tie in springs}],
                           [k for k in range(tree.nv) if k not in {tie.qmd for tie in springs}])
