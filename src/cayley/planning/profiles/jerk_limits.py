"""Jerk-limited motions in the least time: from rest to rest in closed form, from moving states by ruckig.

    jerk, constant acceleration, jerk back | constant velocity | the same backwards
Every joint finds the times of its own phases; those that would arrive early are slowed down, each as a whole. Batches
are compiled: `rest_to_rest` plans and `rest_to_rest_state` evaluates; `jerk_limited` is the `Motion`. Other states have
a hundred cases, which ruckig solves (Berscheid & Kröger 2021, "Jerk-limited real-time trajectory generation with
arbitrary target states")."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import PlanningError, UnsupportedError
from cayley.planning.driven import driven_between
from cayley.planning.motion import Motion, MotionState
from cayley.planning.sequence import Standing
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.timing.limits import Duration, MotionLimits, allowed_speed, checked_configuration

if TYPE_CHECKING:
    from ruckig import Profile, Trajectory


class Phases(NamedTuple):
    """Durations [s] for each joint (n): of the first jerk phase, until the greatest velocity, at that velocity, and of
    the whole motion."""

    jerk: Array
    rise: Array
    cruise: Array
    duration: Scalar


def phases_of(distance: Scalar, velocity: Scalar, acceleration: Scalar, jerk: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Jerk, rise and cruise of one joint in the least time. A distance of zero takes none."""
    ramp = acceleration / jerk
    is_full = velocity * jerk >= acceleration * acceleration  # whether the velocity needs the whole acceleration
    root = np.sqrt(velocity / jerk)
    rise = where(is_full, velocity / acceleration + ramp, 2.0 * root)
    cruise = distance / velocity - rise
    is_long = distance >= 2.0 * acceleration * ramp * ramp  # the same, of a distance without cruise
    third = np.cbrt(distance / (2.0 * jerk))
    short_rise = where(is_long, 0.5 * ramp + np.sqrt(0.25 * ramp * ramp + distance / acceleration), 2.0 * third)
    reaches = cruise >= 0.0
    return (where(reaches, where(is_full, ramp, root), where(is_long, ramp, third)),
            where(reaches, rise, short_rise), where(reaches, cruise, 0.0))


@kernel("(n),(n),(n),(n),(n)->(n),(n),(n),()")
def rest_to_rest(start: Array, end: Array, velocity: Array, acceleration: Array, jerk: Array) -> Phases:
    """The phases of the fastest motion in which all joints arrive together; limits are positive (negative: NaN).

    >>> found = rest_to_rest([0.0, 0.0], [1.0, 0.1], [0.5, 1.0], [1.0, 1.0], [4.0, 4.0])
    >>> found.duration, found.cruise.round(6)
    (np.float64(2.75), array([1.25, 0. ]))
    """
    own = [phases_of(abs(b - a), *of) for a, b, *of in zip(start, end, velocity, acceleration, jerk, strict=True)]
    takes = [2.0 * rise + cruise for _, rise, cruise in own]
    least = reduce(np.minimum, [*velocity, *acceleration, *jerk])
    duration = where(least >= 0.0, reduce(np.maximum, takes), np.nan)
    slower = [where(each == 0.0, 1.0, duration / each) for each in takes]
    ramp, rise, cruise = (np.stack([phase * factor for phase, factor in zip(phases, slower, strict=True)])
                          for phases in zip(*own, strict=True))
    return Phases(ramp, rise, cruise, duration)


class JerkState(NamedTuple):
    """Position, velocity, acceleration and jerk (n)."""

    q: Array
    qd: Array
    qdd: Array
    qddd: Array


@kernel("(n),(n),(n),(n),(n),(),()->(n),(n),(n),(n)")
def rest_to_rest_state(start: Array, end: Array, jerk: Array, rise: Array, cruise: Array, duration: Scalar,
                       t: Scalar) -> JerkState:
    """The state at a time of the motion with these phases; at rest before it and after it.

    >>> plan = rest_to_rest([0.0], [1.0], [0.5], [1.0], [4.0])
    >>> rest_to_rest_state([0.0], [1.0], *plan, 1.0).qd
    array([0.5])
    """
    columns = [_state(*each, t) for each in zip(end - start, jerk, rise, cruise, strict=True)]
    moved, qd, qdd, qddd = (np.stack(part) for part in zip(*columns, strict=True))
    arrives = t >= duration
    return JerkState(where(arrives, end, start + moved), qd, qdd, qddd)


def _state(distance: Scalar, ramp: Scalar, rise: Scalar, cruise: Scalar, t: Scalar) -> tuple[Scalar, ...]:
    """The state of one joint; the second half is the first one backwards."""
    total = 2.0 * rise + cruise
    moves = total > 0.0
    top = where(moves, distance / (rise + cruise), 0.0)
    most = where(moves, top / (rise - ramp), 0.0)
    steepness = where(ramp > 0.0, most / ramp, 0.0)
    second = 2.0 * t >= total
    now = np.maximum(where(second, total - t, t), 0.0)
    left = np.maximum(rise - now, 0.0)  # until the velocity is the greatest
    begins = now < ramp
    is_flat = (now >= ramp) & (left > ramp)
    ends = (now >= ramp) & (left <= ramp) & (left > 0.0)
    jerk = where(begins, steepness, where(ends, -steepness, 0.0))
    a = where(begins, steepness * now, where(is_flat, most, steepness * left))
    v = where(begins, 0.5 * steepness * now * now,
              where(is_flat, most * (now - 0.5 * ramp), top - 0.5 * steepness * left * left))
    flat = now - ramp
    x = where(begins, steepness * now * now * now / 6.0,
              where(is_flat, most * (ramp * ramp / 6.0 + 0.5 * ramp * flat + 0.5 * flat * flat),
                    top * (now - 0.5 * rise) + steepness * left * left * left / 6.0))
    stands = (t < 0.0) | (t > total)
    sign = where(stands, 0.0, where(second, -1.0, 1.0))
    return where(second, distance - x, x), where(stands, 0.0, v), sign * a, where(stands, 0.0, jerk)


def jerk_limited(first: ArrayLike, last: ArrayLike, limits: MotionLimits) -> Motion:
    """The fastest motion from rest at one configuration (n) to rest at another under the limits of velocity,
    acceleration and jerk, all joints arriving together; of 0 s, if these are the same. Limits of effort make all of it
    slower, if they have to.

    >>> move = jerk_limited([0.0, 0.0], [1.0, -0.5], MotionLimits(velocity=1.0, acceleration=2.0, jerk=20.0))
    >>> round(move.duration, 6)
    1.6
    """
    if limits.ties_joints:
        return driven_between(first, last, limits, None, jerk_limited)
    a, b, bounds = _checked_ends(first, last, limits)
    if not (a != b).any():
        return Standing(a)
    motion = polynomials_of(a, b, rest_to_rest(a, b, *bounds))
    if not limits.has_efforts or (worst := allowed_speed(motion, limits, ["effort"])).speed >= 1.0:
        return motion
    return motion.scaled(duration=motion.duration / worst.speed)


def least_duration(first: ArrayLike, last: ArrayLike, limits: MotionLimits) -> Duration:
    """The duration of `jerk_limited`, the joint that determines it, and which of its limits.

    >>> least_duration([0.0, 0.0], [1.0, -0.5], MotionLimits(velocity=1.0, acceleration=2.0, jerk=20.0))
    Duration(seconds=1.6, joint='number 1', limit='velocity')
    """
    a, b, bounds = _checked_ends(first, last, limits)
    if not (a != b).any():
        return Duration(0.0, "", "")
    seconds = rest_to_rest(a[:, None], b[:, None], *[bound[:, None] for bound in bounds]).duration
    slowest = int(np.argmax(seconds))
    tenth = np.eye(3) * 0.1 + 1.0  # the limit that gains most by being a little greater
    gains = rest_to_rest(a[[slowest]], b[[slowest]], *[bound[slowest] * row[:, None]
                                                     for bound, row in zip(bounds, tenth.T, strict=True)]).duration
    limit = ("velocity", "acceleration", "jerk")[int(np.argmin(gains))]
    found = Duration(float(seconds[slowest]), limits.resized(len(a)).name(slowest), limit)
    if not limits.has_efforts:
        return found
    worst = allowed_speed(polynomials_of(a, b, rest_to_rest(a, b, *bounds)), limits, ["effort"])
    return found if worst.speed >= 1.0 else Duration(found.seconds / worst.speed, worst.joint, "effort")


def _checked_ends(first: ArrayLike, last: ArrayLike, limits: MotionLimits) -> tuple[Array, Array, list[Array]]:
    """The two configurations, and the limits of velocity, acceleration and jerk, with which each joint that moves can;
    for others they are 1, as they may be 0 or infinite."""
    a = checked_configuration(first, "the first configuration")
    b = checked_configuration(last, "the last configuration", len(a))
    limits = limits.resized(len(a))
    moves = a != b
    limits.check_can_move(moves)
    free = moves & np.isinf(limits.acceleration) & np.isinf(limits.jerk)
    if free.any():
        raise PlanningError(f"joint {limits.name(int(free.argmax()))} has no limit of acceleration or jerk: it would "
                            "jump to its velocity; give one of them")
    return a, b, [np.where(moves, bound, 1.0) for bound in (limits.velocity, limits.acceleration, limits.jerk)]


def polynomials_of(first: Array, last: Array, phases: Phases) -> Polynomials:
    """The motion with these phases: cubic polynomials between the times at which the jerk of a joint changes."""
    rise = [phases.jerk, phases.rise - phases.jerk, phases.rise]
    changes = np.concatenate([np.zeros(1), *rise, *[phases.duration - t for t in rise], [phases.duration]])
    breaks = distinct_times(changes, phases.duration)
    middles = 0.5 * (breaks[1:] + breaks[:-1])
    q, qd, _, _ = rest_to_rest_state(first, last, *phases, breaks[:-1])
    _, _, qdd, jerk = rest_to_rest_state(first, last, *phases, middles)
    before = (middles - breaks[:-1])[:, None]
    return Polynomials(breaks, np.stack([q, qd, (qdd - before * jerk) / 2.0, jerk / 6.0], axis=1))


def distinct_times(times: Array, duration: float) -> Array:
    """The times in order, those that differ by rounding alone taken as one; both ends are kept."""
    ordered = np.unique(np.clip(times, 0.0, duration))
    keep = np.diff(ordered, prepend=-1.0) > 1e-13 * duration
    kept = ordered[keep]
    kept[-1] = duration
    return kept


def jerk_limited_between(first: MotionState, last: MotionState, limits: MotionLimits) -> Polynomials:
    """The fastest motion from one state, (q, qd, qdd) of (n) each, to another under limits of velocity, acceleration
    and jerk, all of them finite, all joints arriving together. It needs the package ruckig: `pip install ruckig`."""
    ends = checked_states(first, last)
    limits = limits.resized(len(ends[0][0]))
    _check(ends, limits)
    if (np.array(ends[0]) == np.array(ends[1])).all():
        raise PlanningError("the first and the last state are the same: there is no motion")
    found = _planned(ends, limits)
    profiles = found.profiles[0]
    late = [profile.brake.duration > 0.0 for profile in profiles]
    if any(late):
        raise PlanningError(f"joint {limits.name(late.index(True))} is so fast at the first state that it exceeds a "
                            "limit whatever it does: raise the limit, or begin slower")
    motion = _polynomials(profiles, found.duration)
    if limits.has_efforts and (worst := allowed_speed(motion, limits, ["effort"])).speed < 1.0:
        raise PlanningError(f"joint {worst.joint} needs more than its limit of effort at t = {worst.time:.6g} s, and a "
                            "motion between states that move is not made slower as a whole: lower its limits of "
                            "acceleration and jerk")
    return motion


def checked_states(first: MotionState, last: MotionState) -> list[list[Array]]:
    """Positions, velocities and accelerations (n) of both states, finite."""
    return [[checked_configuration(part, f"the {word} of the {place} state", np.size(first[0]))
             for part, word in zip(state, ("position", "velocity", "acceleration"), strict=True)]
            for state, place in ((first, "first"), (last, "last"))]


def _check(ends: list[list[Array]], limits: MotionLimits) -> None:
    for kind, order in (("velocity", 1), ("acceleration", 2), ("jerk", None)):
        bounds = getattr(limits, kind)
        if not (np.isfinite(bounds) & (bounds > 0.0)).all():
            joint = int((~(np.isfinite(bounds) & (bounds > 0.0))).argmax())
            raise PlanningError(f"between states that move, every limit is positive and finite; that of {kind} of "
                                f"joint {limits.name(joint)} is {bounds[joint]:g}")
        for state, place in zip(ends, ("first", "last"), strict=True):
            if order is not None and (np.abs(state[order]) > bounds).any():
                joint = int((np.abs(state[order]) > bounds).argmax())
                raise PlanningError(f"the {kind} of joint {limits.name(joint)} at the {place} state is "
                                    f"{state[order][joint]:g}, beyond its limit of {bounds[joint]:g}")


def _planned(ends: list[list[Array]], limits: MotionLimits) -> Trajectory:
    try:
        import ruckig
    except ImportError:
        raise UnsupportedError("jerk-limited motions between states that are not at rest are planned by ruckig, which "
                               "is not installed: pip install ruckig") from None
    n = len(ends[0][0])
    asked = ruckig.InputParameter(n)
    asked.current_position, asked.current_velocity, asked.current_acceleration = ends[0]
    asked.target_position, asked.target_velocity, asked.target_acceleration = ends[1]
    asked.max_velocity, asked.max_acceleration, asked.max_jerk = limits.velocity, limits.acceleration, limits.jerk
    found = ruckig.Trajectory(n)
    try:
        result = ruckig.Ruckig(n).calculate(asked, found)
    except Exception as error:  # its own class, which it does not show
        raise PlanningError(f"ruckig refuses these states: {error}") from error
    if result != ruckig.Result.Working:
        raise PlanningError(f"ruckig finds no motion between these states: {result}")
    return found


def _polynomials(profiles: list[Profile], duration: float) -> Polynomials:
    changes = [np.concatenate([[0.0], np.cumsum(profile.t)]) for profile in profiles]
    breaks = distinct_times(np.concatenate([*changes, [duration]]), duration)
    middles = 0.5 * (breaks[1:] + breaks[:-1])
    columns = []
    for profile, times in zip(profiles, changes, strict=True):
        piece = np.clip(np.searchsorted(times, middles) - 1, 0, 6)
        p, v, a, j = (np.asarray(part)[piece] for part in (profile.p, profile.v, profile.a, profile.j))
        tau = breaks[:-1] - times[piece]
        columns.append(np.stack([p + tau * (v + tau * (a / 2.0 + tau * j / 6.0)), v + tau * (a + tau * j / 2.0),
                                 (a + tau * j) / 2.0, j / 6.0], axis=1))
    return Polynomials(breaks, np.stack(columns, axis=2))
