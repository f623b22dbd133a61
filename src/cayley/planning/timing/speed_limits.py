"""How many times as fast a motion may be, between any samples of it as well, and which limit of which joint says so.

    tau(c) = G + F_c + c F_v + c^2 D
Made c times as fast, a motion has c times its velocities, c^2 its accelerations, c^3 its jerks, and these forces of
gravity, Coulomb and viscous friction, inertia and Coriolis: four evaluations of inverse dynamics. Source: spec S1-108.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from cayley.compiler.typing import Array
from cayley.errors import PlanningError
from cayley.planning.motion import Motion
from cayley.planning.timing.limits import KINDS, MotionLimits

_SAMPLES_A_PIECE = 9
_SAMPLES = 257
_NEAR = 1.05
_SIDES = 1e-14  # two samples so close are the sides of a break
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
_GOLDEN_STEPS = 30


class Worst(NamedTuple):
    """When the limits allow least, which joint and which of its limits that is, and how many times as fast the motion
    may be. Infinity, and no joint, if nothing limits it."""

    time: float
    joint: str
    limit: str
    speed: float


class Parts(NamedTuple):
    """The forces at rest and by dry friction, those that grow with the speed, and those with its square (..., n)."""

    resting: Array
    viscous: Array
    inertial: Array


def allowed_speed(motion: Motion, limits: MotionLimits, kinds: Sequence[str] = KINDS) -> Worst:
    """How many times as fast a motion may be for its limits of these kinds. Raises if forces at rest are beyond a
    limit: then no speed is allowed.

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
    """How many times as fast at times (...), a column for each finite limit of each kind."""
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
    """The joints (n) that have a limit of the kind: of a joint that must stand still, only that of effort counts."""
    bounds = getattr(limits, kind)
    return np.isfinite(bounds) & ((bounds > 0.0) | (kind == "effort"))


def effort_parts(limits: MotionLimits, q: Array, qd: Array, qdd: Array) -> Parts:
    """The parts of the forces at states (..., n) of a motion."""
    none = np.zeros_like(qd)
    gravity = limits.forces(q, none, none)
    ahead = limits.forces(q, qd, qdd)
    back = limits.forces(q, -qd, qdd)  # friction turns, the square of the velocity does not
    inertial = 0.5 * (ahead + back) - gravity
    friction = 0.5 * (ahead - back)
    if np.abs(friction).max(initial=0.0) <= 1e-13 * np.abs(ahead).max(initial=0.0):
        return Parts(gravity, none, inertial)
    viscous = limits.forces(q, 2.0 * qd, 4.0 * qdd) - gravity - 4.0 * inertial - friction
    return Parts(gravity + friction - viscous, viscous, inertial)


def forces_along(limits: MotionLimits, q: Array, direction: Array) -> Array:
    """The forces of inertia (..., n) that an acceleration along the velocity takes. It is looked at moving to both
    sides: at rest, dry friction would be on the side of the acceleration."""
    none = np.zeros_like(direction)
    ahead, back = (limits.forces(q, way, direction) - limits.forces(q, way, none) for way in (direction, -direction))
    return 0.5 * (ahead + back)


def force_speeds(parts: Parts, effort: Array) -> Array:
    """How many times as fast (..., n) before a force leaves its limits for the first time; infinity if never."""
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
