"""From rest at one configuration to rest at another by a law of motion, in a given time or in the least one.

    T = max over joints of max(kv |dq| / v, sqrt(ka |dq| / a), cbrt(kj |dq| / j))
with the greatest derivatives kv, ka, kj of the law; efforts allow what inverse dynamics along the law say. Source:
Ruggiu 5.3 to 5.6; spec S2-81 to S2-84, S2-109.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError
from cayley.planning.checked_numbers import positive_seconds
from cayley.planning.driven import driven_between
from cayley.planning.motion import Motion
from cayley.planning.rest_to_rest.motion_laws import Law, law_named
from cayley.planning.standing import Standing
from cayley.planning.timing.limits import Duration, MotionLimits, checked_configuration
from cayley.planning.timing.speed_limits import allowed_speed

_UNLIMITED = MotionLimits()
_ROUNDING = 1e-12


def point_to_point(first: ArrayLike, last: ArrayLike, *, law: str = "3-4-5", duration: float | None = None,
                   limits: MotionLimits | None = None) -> Motion:
    """The motion from rest at `first` (n) to rest at `last` by a law: "3-4-5", "4-5-6-7", "cycloidal", "trapezoidal" or
    "s-curve", all joints in step: the way is a straight line of the joints. In the `duration` [s] if one is given (an
    error if limits do not allow it), otherwise in the least that the `limits` allow. Trapezoidal and S-curve laws take
    the shape that is fastest under the limits; `jerk_limited` is faster still, where the way need not be straight. From
    a configuration to itself the least is no time at all.

    >>> move = point_to_point([0.0, 1.0], [1.0, 0.5], limits=MotionLimits(velocity=1.0, acceleration=4.0))
    >>> move.duration, move(0.9375).q.round(6)
    (1.875, array([0.5 , 0.75]))
    """
    if limits is not None and limits.ties_joints:
        return driven_between(first, last, limits, duration,
                              lambda a, b, own: point_to_point(a, b, law=law, duration=duration, limits=own))
    a, b = _ends(first, last)
    limits = (limits or _UNLIMITED).resized(len(a))
    if duration is None:
        return _fastest(a, b, law, limits)[0]
    duration = positive_seconds(duration)
    if not (a != b).any():
        return law_named(law).motion(a, b, duration)
    return _within(a, b, law, duration, limits)


def minimum_duration(first: ArrayLike, last: ArrayLike, limits: MotionLimits, *, law: str = "3-4-5") -> Duration:
    """The least time of `point_to_point` under the limits, the joint that does not allow less, and which limit that is.

    >>> minimum_duration([0.0, 0.0, 0.0], [np.pi / 2, -1.0, 0.3],
    ...                  MotionLimits(velocity=[1.0, 2.0, 0.5], acceleration=[4.0, 1.5, 2.0]))
    Duration(seconds=2.945243112740431, joint='number 1', limit='velocity')
    """
    a, b = _ends(first, last)
    return _fastest(a, b, law, limits.resized(len(a)))[1]


def _ends(first: ArrayLike, last: ArrayLike) -> tuple[Array, Array]:
    a = checked_configuration(first, "the first configuration")
    return a, checked_configuration(last, "the last configuration", len(a))


def _within(a: Array, b: Array, name: str, duration: float, limits: MotionLimits) -> Motion:
    """In the given time, if the limits allow it."""
    limits.check_can_move(a != b)
    fitted = _law(a, b, name, limits)
    longest = max(_durations(a, b, fitted, limits), key=lambda each: each.seconds)
    if longest.seconds > duration * (1.0 + _ROUNDING):
        raise PlanningError(f"{duration:g} s are too short: joint {longest.joint} needs {longest.seconds:.9g} s for "
                            f"its limit of {longest.limit} with the {name} law")
    shape = fitted if longest.seconds > 0.0 else law_named(name)
    motion = shape.motion(a, b, duration)
    if limits.has_efforts and (worst := allowed_speed(motion, limits, ["effort"])).speed < 1.0 - _ROUNDING:
        raise PlanningError(f"{duration:g} s are too short: joint {worst.joint} needs {duration / worst.speed:.9g} s "
                            f"for its limit of effort with the {name} law")
    return motion


def _fastest(a: Array, b: Array, name: str, limits: MotionLimits) -> tuple[Motion, Duration]:
    moves = a != b
    if not moves.any():
        return Standing(a), Duration(0.0, "", "")
    limits.check_can_move(moves)
    law = _law(a, b, name, limits)
    longest = max(_durations(a, b, law, limits), key=lambda each: each.seconds)
    if not np.isfinite(longest.seconds):
        raise PlanningError(f"the {name} law has jumps of its acceleration, and joint {longest.joint} has a limit of "
                            "jerk: take another law, as s-curve")
    if longest.seconds == 0.0 and not limits.has_efforts:
        raise PlanningError("no joint that moves has a limit: give limits, or a duration")
    if longest.seconds == 0.0:
        longest = Duration(1.0, "", "")  # from which it is made faster or slower
    motion = law.motion(a, b, longest.seconds)
    if limits.has_efforts:
        worst = allowed_speed(motion, limits, ["effort"])
        if worst.speed < 1.0 or not longest.joint:
            if not np.isfinite(worst.speed):
                raise PlanningError("no joint that needs a force has a limit: give limits, or a duration")
            longest = Duration(longest.seconds / worst.speed, worst.joint, "effort")
            motion = law.motion(a, b, longest.seconds)
    return motion, longest


def _law(a: Array, b: Array, name: str, limits: MotionLimits) -> Law:
    """The law, in the shape that is the fastest under the limits of s' s'' and s''' that those of the joints are."""
    law = law_named(name)
    if law.fitted is None:
        return law
    way = np.abs(b - a)
    moving = way > 0.0
    bounds = limits.velocity, limits.acceleration, limits.jerk
    least = [float((bound[moving] / way[moving]).min()) for bound in bounds]
    return law.fitted(*least)


def _durations(a: Array, b: Array, law: Law, limits: MotionLimits) -> list[Duration]:
    """The least time by each limit of each joint."""
    way = np.abs(b - a)
    found = []
    for order, kind in enumerate(("velocity", "acceleration", "jerk"), 1):
        most = getattr(law, kind)
        bounds = getattr(limits, kind)
        for joint in np.flatnonzero((way > 0.0) & np.isfinite(bounds)):
            seconds = float((most * way[joint] / bounds[joint]) ** (1.0 / order))
            found.append(Duration(seconds, limits.name(int(joint)), kind))
    return found or [Duration(0.0, "", "")]
