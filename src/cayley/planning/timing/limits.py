"""Limits of the joints along a motion: velocity, acceleration, jerk and effort; and how many times as fast a motion may
be for them, between any samples of it as well.

    tau(c) = G + F_c + c F_v + c^2 D
Made c times as fast, a motion has c times its velocities, c^2 its accelerations, c^3 its jerks, and these forces of
gravity, Coulomb and viscous friction, inertia and Coriolis: four evaluations of inverse dynamics. Source: spec S1-108.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FieldArray
from cayley.errors import PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.model.coordinate_labels import velocity_labels
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.model.tree import Tree

from scipy.optimize import minimize_scalar

from cayley.planning.motion import Motion

_FORCELESS = 1e-9  # of the greatest force
KINDS = ("velocity", "acceleration", "jerk", "effort")


class DrivenMechanism(Protocol):
    """A machine with joints and forces at them: a `Mechanism`."""

    @property
    def tree(self) -> Tree: ...

    @property
    def inverse_dynamics(self) -> Callable[..., Array]: ...

    @property
    def jacobian(self) -> Callable[..., Array]: ...

    @property
    def jacobian_rate(self) -> Callable[..., Array]: ...


def tree_of(mechanism: DrivenMechanism | Tree) -> Tree:
    """The tree of a mechanism, or the tree itself."""
    return getattr(mechanism, "tree", mechanism)  # type: ignore[arg-type]


class Duration(NamedTuple):
    """The least duration of a motion [s], the joint that determines it, and which of its limits."""

    seconds: float
    joint: str
    limit: str


@dataclass(frozen=True, eq=False)
class MotionLimits:
    """The greatest velocity, acceleration and jerk of each joint (n) [rad/s or m/s, ...], to both sides, and the
    greatest force or torque, `effort` [N or N m], which needs the `machine` whose dynamics say it. A number applies to
    all joints. The default is infinity, no limit; a joint with a limit of zero must not move.

    >>> MotionLimits(velocity=[2.0, 1.0], acceleration=10.0).resized(2).acceleration
    array([10., 10.])
    """

    velocity: FieldArray = np.inf
    acceleration: FieldArray = np.inf
    jerk: FieldArray = np.inf
    effort: FieldArray = np.inf
    names: Sequence[str] = ()
    machine: DrivenMechanism | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        sizes = set()
        for kind in KINDS:
            values = numbers(getattr(self, kind), f"limits of {kind}")
            if values.ndim > 1:
                raise SignatureError(f"the limits of {kind} are a number or one for each joint, (n); given was the "
                                     f"shape {values.shape}")
            wrong = np.atleast_1d(~(values >= 0.0))
            if wrong.any():
                joint = int(wrong.argmax())
                raise PlanningError(f"the limit of {kind} of joint {self._name(joint)} is "
                                    f"{np.atleast_1d(values)[joint]:g}: limits are to both sides, and not negative")
            sizes |= set(values.shape)
            values.flags.writeable = False
            object.__setattr__(self, kind, values)
        sizes |= {len(self.names)} if self.names else set()
        if len(sizes) > 1:
            raise SignatureError(f"limits of {', '.join(map(str, sorted(sizes)))} joints do not fit together")
        if np.isfinite(self.effort).any() and self.machine is None:
            raise PlanningError("limits of effort need the mechanism for its dynamics: MotionLimits.of(arm, ...)")

    @staticmethod
    def of(machine: DrivenMechanism, *, velocity: ArrayLike | None = None, acceleration: ArrayLike = np.inf,
           jerk: ArrayLike = np.inf, effort: ArrayLike | None = None) -> MotionLimits:
        """The limits of the joints of a machine: velocities and efforts are those of its description unless others are
        given (infinity: none), accelerations and jerks must be given, since no description has them.

        >>> import cayley as cy
        >>> MotionLimits.of(cy.load("panda"), acceleration=10.0).velocity[:2]
        array([2.175, 2.175])
        """
        tree = machine.tree
        said = {kind: [x for joint in tree.joints for x in getattr(joint.limits, kind)]
                for kind in ("velocity", "effort")}
        has_drive = np.isin(np.arange(tree.nv), tree.actuated_velocities)
        driven = np.where(has_drive | (not tree.is_constrained), said["effort"], np.inf)
        return MotionLimits(said["velocity"] if velocity is None else velocity, acceleration, jerk,
                            driven if effort is None else effort,
                            tuple(name for name, _ in velocity_labels(tree)), machine).resized(tree.nv)

    def resized(self, n: int) -> MotionLimits:
        """The same limits as arrays of n joints."""
        if n not in self._sized:
            self._sized[n] = self._made_for(n)
        return self._sized[n]

    @cached_property
    def _sized(self) -> dict[int, MotionLimits]:
        return {}

    def _made_for(self, n: int) -> MotionLimits:
        if all(getattr(self, kind).shape == (n,) for kind in KINDS):
            return self
        if any(getattr(self, kind).shape not in ((), (n,)) for kind in KINDS) or len(self.names) not in (0, n):
            raise SignatureError(f"the limits are not those of {n} joints")
        velocity, acceleration, jerk, effort = (np.broadcast_to(getattr(self, kind), (n,)) for kind in KINDS)
        return MotionLimits(velocity, acceleration, jerk, effort, self.names, self.machine)

    @property
    def ties_joints(self) -> bool:
        """True for the limits of a machine with constraints, whose joints do not move on their own."""
        return self.machine is not None and self.machine.tree.is_constrained

    def of_velocities(self, places: Sequence[int]) -> MotionLimits:
        """The limits of velocity, acceleration and jerk of some joints, without those of effort."""
        own = self.resized(self.machine.tree.nv) if self.machine is not None else self
        velocity, acceleration, jerk = (getattr(own, kind)[list(places)] for kind in KINDS[:3])
        return MotionLimits(velocity, acceleration, jerk, names=[own.name(k) for k in places])

    def name(self, joint: int) -> str:
        """The name of a joint, by its number from 0."""
        return self.names[joint] if self.names else f"number {joint + 1}"

    def _name(self, joint: int) -> str:
        return repr(self.names[joint]) if joint < len(self.names) else f"number {joint + 1}"

    @cached_property
    def has_efforts(self) -> bool:
        return bool(np.isfinite(self.effort).any())

    @cached_property
    def lets_all_move(self) -> bool:
        """True if every joint has limits with which it can move, and one of acceleration."""
        return bool(all((getattr(self, kind) > 0.0).all() for kind in KINDS) and np.isfinite(self.acceleration).all())

    def inverse(self, kind: str) -> Array:
        """One over the limits (n), 0 where there is none and for a joint that must not move."""
        if kind not in self._inverses:
            bounds = np.array(getattr(self, kind))
            self._inverses[kind] = np.divide(1.0, bounds, out=np.zeros_like(bounds), where=bounds > 0.0)
        return self._inverses[kind]

    @cached_property
    def _inverses(self) -> dict[str, Array]:
        return {}

    def check_can_move(self, moves: Array) -> None:
        """Raise if a joint that moves, by truth values (n), has a limit of zero."""
        for kind in KINDS[:3]:
            stuck = moves & (getattr(self, kind) == 0.0)
            if stuck.any():
                raise PlanningError(f"joint {self._name(int(stuck.argmax()))} moves, but its limit of {kind} is 0: "
                                    "raise the limit, or let the joint stay where it is")

    def forces(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """The forces of the machine."""
        if self.machine is None:
            raise PlanningError("these limits have no machine: MotionLimits.of(arm, ...)")
        return self.machine.inverse_dynamics(q, qd, qdd)

    def checked_forces(self, t: Array, q: Array, qd: Array, qdd: Array) -> Array:
        """The forces (k, nv) of the machine at times (k) of a motion; an error if it has none, or would need one at a
        joint without a drive, that says when and where."""
        tau = self.forces(q, qd, qdd)
        missing = ~np.isfinite(tau).all(axis=1)
        if missing.any():
            k = int(missing.argmax())
            self.forces(q[k], qd[k], qdd[k])  # which says why
        check_undriven(self, t, tau)
        return tau


def check_undriven(limits: MotionLimits, t: Array, tau: Array) -> None:
    """Raise if forces (k, nv) at times (k) are needed at joints without a drive."""
    tree = limits.machine.tree  # type: ignore[union-attr]
    driven = np.isin(np.arange(tree.nv), tree.actuated_velocities)
    needed = np.where(driven, 0.0, np.abs(tau))
    if needed.max(initial=0.0) <= _FORCELESS * (1.0 + np.abs(tau).max(initial=0.0)):
        return
    row, place = (int(k) for k in np.unravel_index(int(needed.argmax()), needed.shape))
    raise PlanningError(
        f"the motion needs {tau[row, place]:.6g} at {limits.name(place)!r} of {tree.name} at t = {t[row]:.6g} s, where "
        "there is no drive: fix the base (`floating_base=False`), add what holds it as a constraint, or name the joint "
        "among the drives with `variants.with_actuated(...)`")


def checked_configuration(value: ArrayLike, what: str, n: int | None = None) -> Array:
    """Finite numbers (n), or an error that says which are not."""
    q = numbers(value, f"the numbers of {what}")
    if q.ndim != 1 or q.size == 0 or (n is not None and len(q) != n):
        raise SignatureError(f"{what} is ({'n' if n is None else n}); given was the shape {q.shape}")
    if not np.isfinite(q).all():
        raise PlanningError(f"{what} [{int((~np.isfinite(q)).argmax())}] is not a finite number")
    return q


_SAMPLES_A_PIECE = 9
_SAMPLES = 257
_NEAR = 1.05
_SIDES = 1e-14  # two samples so close are the sides of a break
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
_GOLDEN_STEPS = 30


class Worst(NamedTuple):
    """The time at which the limits allow least, the joint and the kind of its limit, and how many times as fast the
    motion may be. Infinity, and no joint, if nothing limits it."""

    time: float
    joint: str
    limit: str
    speed: float


class EffortParts(NamedTuple):
    """The forces at rest and by dry friction, those that grow with the speed, and those with its square (..., n)."""

    resting: Array
    viscous: Array
    inertial: Array


def allowed_speed(motion: Motion, limits: MotionLimits, kinds: Sequence[str] = KINDS) -> Worst:
    """The factor by which a motion may be made faster within limits of these kinds. Raises an error if forces at rest
    exceed a limit: then no speed is allowed.

    >>> from cayley.planning.splines.polynomials import line
    >>> allowed_speed(line(0.0, 2.0, [0.0], [1.0]), MotionLimits(velocity=0.75), ["velocity"])[1:]
    ('number 1', 'velocity', 1.5)
    """
    limits = limits.resized(motion.nv)
    columns = [(kind, int(joint)) for kind in kinds for joint in np.flatnonzero(_limiting(limits, kind))]
    if not columns:
        return Worst(motion.start, "", "", np.inf)

    def speeds(t: Array) -> Array:
        return speeds_at(motion, limits, kinds, t)

    t = sample_times(motion)
    found = speeds(t)
    row, column = (int(place) for place in np.unravel_index(int(np.argmin(found)), found.shape))
    kind, joint = columns[column]
    if found[row, column] == 0.0:
        force = effort_parts(limits, *motion(t[row])).resting[joint]
        need = f"{force:.6g} at rest" if abs(force) > limits.effort[joint] else "a force however slow it is"
        raise PlanningError(
            f"at t = {t[row]:.6g} s joint {limits.name(joint)!r} needs {need}, and its limit of effort is "
            f"{limits.effort[joint]:g}: no slower motion helps; change the path, the load or the drive")
    if not np.isfinite(found[row, column]):
        return Worst(motion.start, "", "", np.inf)
    time, column, speed = _refined(speeds, t, found)
    kind, joint = columns[column]
    return Worst(time, limits.name(joint), kind, speed)


def speeds_at(motion: Motion, limits: MotionLimits, kinds: Sequence[str], t: Array) -> Array:
    """The factors by which the motion may be faster at times (...), a column for each finite limit of each kind."""
    q, *rates = motion.derivatives(t)
    columns = []
    for kind in kinds:
        bounds = getattr(limits, kind)
        limiting = _limiting(limits, kind)
        if not limiting.any():
            continue
        if kind == "effort":
            allowed = force_speeds(effort_parts(limits, q, rates[0], rates[1]), bounds)
        else:
            order = KINDS.index(kind)
            with np.errstate(divide="ignore", invalid="ignore"):
                allowed = (bounds / np.abs(rates[order])) ** (1.0 / (order + 1))
        columns.append(allowed[..., limiting])
    return np.concatenate(columns, axis=-1)


def _limiting(limits: MotionLimits, kind: str) -> Array:
    """The joints (n) that have a limit of the kind; of a joint that must not move, only the limit of effort counts."""
    bounds = getattr(limits, kind)
    return np.isfinite(bounds) & ((bounds > 0.0) | (kind == "effort"))


def effort_parts(limits: MotionLimits, q: Array, qd: Array, qdd: Array) -> EffortParts:
    """The parts of the forces at states (..., n) of a motion."""
    none = np.zeros_like(qd)
    gravity = limits.forces(q, none, none)
    ahead = limits.forces(q, qd, qdd)
    back = limits.forces(q, -qd, qdd)  # friction turns, the square of the velocity does not
    inertial = 0.5 * (ahead + back) - gravity
    friction = 0.5 * (ahead - back)
    if np.abs(friction).max(initial=0.0) <= 1e-13 * np.abs(ahead).max(initial=0.0):
        return EffortParts(gravity, none, inertial)
    viscous = limits.forces(q, 2.0 * qd, 4.0 * qdd) - gravity - 4.0 * inertial - friction
    return EffortParts(gravity + friction - viscous, viscous, inertial)


def forces_along(limits: MotionLimits, q: Array, direction: Array) -> Array:
    """The forces of inertia (..., n) that an acceleration along the velocity takes. It is looked at moving to both
    sides: at rest, dry friction would be on the side of the acceleration."""
    none = np.zeros_like(direction)
    ahead, back = (limits.forces(q, way, direction) - limits.forces(q, way, none) for way in (direction, -direction))
    return 0.5 * (ahead + back)


def force_speeds(parts: EffortParts, effort: Array) -> Array:
    """The factors (..., n) by which the motion may be faster before a force leaves its limits for the first time;
    infinity if never."""
    sides = [_first_beyond(effort - sign * parts.resting, sign * parts.viscous, sign * parts.inertial)
             for sign in (1.0, -1.0)]
    return np.minimum(*sides)


def _first_beyond(room: Array, linear: Array, square: Array) -> Array:
    """The least c > 0 at which linear c + square c^2 = room, infinity if there is none; 0 if there is no room."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # where there is no limit, room is infinite
        discriminant = linear**2 + 4.0 * square * room
        rise = linear + np.sqrt(np.maximum(discriminant, 0.0))
        first = np.where((discriminant >= 0.0) & (rise > 0.0) & np.isfinite(room), 2.0 * room / rise, np.inf)
    rises = (linear > 0.0) | ((linear == 0.0) & (square > 0.0))
    return np.where((room < 0.0) | ((room == 0.0) & rises), 0.0, first)


def sample_times(motion: Motion) -> Array:
    """Times that see each piece between its breaks, and both sides of every break."""
    breaks = motion.breaks
    each = max(_SAMPLES_A_PIECE, _SAMPLES // (len(breaks) - 1))
    pieces = breaks[:-1, None] + np.diff(breaks)[:, None] * np.linspace(0.0, 1.0, each)
    pieces[:, -1] = np.nextafter(breaks[1:], motion.start)
    return np.append(pieces.reshape(-1), motion.end)


def least_near(values: Callable[[Array], Array], times: Array, at: int) -> tuple[float, float]:
    """The least of values of time between the samples beside that of the number `at`, and when it is."""
    low, high = times[max(at - 1, 0)], times[min(at + 1, len(times) - 1)]
    found = minimize_scalar(lambda s: float(values(np.array([s]))[0]), bounds=(low, high), method="bounded",
                            options={"xatol": 1e-12 * (1.0 + abs(high))})
    return min((float(found.fun), float(found.x)), (float(values(times[[at]])[0]), float(times[at])))


def _refined(values: Callable[[Array], Array], t: Array, found: Array) -> tuple[float, int, float]:
    """The least of values (..., columns) of time, between the samples too: around every small one that is the least of
    its neighbours on its side of a break, by the golden section, all at once. Its time, column and value."""
    is_break = np.concatenate([[True], np.diff(t) <= _SIDES * np.abs(t).max(), [True]])  # before each sample
    places = np.arange(len(t))
    before = np.where(is_break[:-1], places, places - 1)
    after = np.where(is_break[1:], places, places + 1)
    is_low = (found <= found[before]) & (found <= found[after]) & (found <= _NEAR * found.min())
    rows, columns = np.nonzero(is_low)
    numbers = np.arange(len(rows))
    low, high = t[before[rows]], t[after[rows]]
    times, best = t[rows], found[rows, columns]
    for _ in range(_GOLDEN_STEPS):
        inner = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        left, right = (values(place)[numbers, columns] for place in inner)
        for place, value in zip(inner, (left, right), strict=True):
            times, best = np.where(value < best, place, times), np.minimum(value, best)
        low, high = np.where(left <= right, low, inner[0]), np.where(left <= right, inner[1], high)
    place = int(best.argmin())
    return float(times[place]), int(columns[place]), float(best[place])
