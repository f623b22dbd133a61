"""From rest at one configuration to rest at another by a law of motion, in a given time or in the least one.

    q = first + (last - first) s(t / T)    T = max over joints of max(kv |dq| / v, sqrt(ka |dq| / a), cbrt(kj |dq| / j))
with the greatest derivatives kv, ka, kj of the law, an entry of `LAWS`; efforts allow what inverse dynamics along the
law say. Source: Ruggiu 5.2 to 5.6; WE-34; spec S2-81 to S2-84, S2-109."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Scalar
from cayley.errors import PlanningError, did_you_mean
from cayley.planning.driven import driven_between
from cayley.planning.motion import Derivatives, Motion, positive_seconds
from cayley.planning.profiles.jerk_limits import Phases, phases_of, polynomials_of
from cayley.planning.sequence import Standing
from cayley.planning.splines.polynomials import InPieces, Polynomials
from cayley.planning.timing.limits import Duration, MotionLimits, allowed_speed, checked_configuration

_UNLIMITED = MotionLimits()
_ROUNDING = 1e-12


def point_to_point(first: ArrayLike, last: ArrayLike, *, law: str = "3-4-5", duration: float | None = None,
                   limits: MotionLimits | None = None) -> Motion:
    """The motion from rest at `first` (n) to rest at `last` by a law: "3-4-5", "4-5-6-7", "cycloidal", "trapezoidal" or
    "s-curve", all joints in step, on a straight line. In the `duration` [s] if one is given (an error if limits do not
    allow it), otherwise in the least that the `limits` allow, which is 0 s from a configuration to itself. Trapezoidal
    and S-curve laws take the shape that is fastest under the limits; `jerk_limited` is faster still, off the straight
    line.

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
    """The least duration of `point_to_point` under the limits, the joint that determines it, and which of its limits.

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


def _law(a: Array, b: Array, name: str, limits: MotionLimits) -> ProfileLaw:
    """The law, in the shape that is the fastest under the limits of s' s'' and s''' that those of the joints are."""
    law = law_named(name)
    if law.fitted is None:
        return law
    way = np.abs(b - a)
    moving = way > 0.0
    bounds = limits.velocity, limits.acceleration, limits.jerk
    least = [float((bound[moving] / way[moving]).min()) for bound in bounds]
    return law.fitted(*least)


def _durations(a: Array, b: Array, law: ProfileLaw, limits: MotionLimits) -> list[Duration]:
    way = np.abs(b - a)
    found = []
    for order, kind in enumerate(("velocity", "acceleration", "jerk"), 1):
        most = getattr(law, kind)
        bounds = getattr(limits, kind)
        for joint in np.flatnonzero((way > 0.0) & np.isfinite(bounds)):
            seconds = float((most * way[joint] / bounds[joint]) ** (1.0 / order))
            found.append(Duration(seconds, limits.name(int(joint)), kind))
    return found or [Duration(0.0, "", "")]


@kernel("(),(n),(n),()->(n),(n),(n),(n)", outputs=("q", "qd", "qdd", "qddd"))
def cycloid(t: Scalar, first: Array, last: Array, duration: Scalar) -> Derivatives:
    """s = x - sin(2 pi x) / (2 pi), x = t / T (Ruggiu 5.3)."""
    w = 2.0 * np.pi / duration
    sine, cosine = np.sin(w * t), np.cos(w * t)
    way = last - first
    return (first + way * (t / duration - sine / (2.0 * np.pi)), way * ((1.0 - cosine) / duration),
            way * (w / duration * sine), way * (w * w / duration * cosine))


@dataclass(frozen=True, eq=False, repr=False)
class Cycloid(InPieces):
    """From rest at one configuration (n) to rest at another.

    >>> Cycloid([0.0], [1.0], 2.0)(0.5).q.round(8)
    array([0.09084506])
    """

    first: FieldArray
    last: FieldArray
    seconds: float

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds < np.inf:
            raise PlanningError(f"a motion must take a time > 0, not {self.seconds:g} s")
        object.__setattr__(self, "first", np.atleast_1d(np.asarray(self.first, dtype=float)))
        object.__setattr__(self, "last", np.atleast_1d(np.asarray(self.last, dtype=float)))

    @property
    def breaks(self) -> Array:
        return np.array([0.0, self.seconds])

    @property
    def nq(self) -> int:
        return len(self.first)

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return cycloid

    @property
    def _tables(self) -> tuple[Array, ...]:
        return self.first[None], self.last[None], np.array([float(self.seconds)])


Fitted = Callable[[float, float, float], "ProfileLaw"]


@dataclass(frozen=True)
class ProfileLaw:
    """The greatest |s'|, |s''| and |s'''|, and what makes the motion from one configuration (n) to another in a time.
    Of a law whose shape may be `fitted`, to limits of s', s'' and s''' in time, this is the shape without them."""

    velocity: float
    acceleration: float
    jerk: float
    motion: Callable[[Array, Array, float], Motion]
    fitted: Fitted | None = None


def polynomial_law(*coefficients: float) -> Callable[[Array, Array, float], Motion]:
    """The motion with s = sum over k of coefficients[k] x^k."""
    def motion(first: Array, last: Array, duration: float) -> Motion:
        powers = np.array(coefficients, dtype=float) / duration ** np.arange(len(coefficients))
        c = powers[:, None] * (last - first)
        c[0] += first
        return Polynomials([0.0, duration], c[None])
    return motion


def phased_law(jerk: float, rise: float) -> ProfileLaw:
    """The law with acceleration in straight lines: for a part `jerk` of the time it grows, after `rise` the velocity is
    the greatest. Without jerk it is the trapezoidal law."""
    cruise = 1.0 - 2.0 * rise
    top = 1.0 / (rise + cruise)
    most = top / (rise - jerk)

    def motion(first: Array, last: Array, duration: float) -> Motion:
        ramp, up, along = (np.full(len(first), part * duration) for part in (jerk, rise, cruise))
        return polynomials_of(first, last, Phases(ramp, up, along, duration))
    return ProfileLaw(top, most, most / jerk if jerk else np.inf, motion)


def fitted_law(velocity: float, acceleration: float, jerk: float) -> ProfileLaw:
    """The fastest law with these limits of s', s'' and s''' in time."""
    if not np.isfinite(acceleration) and not np.isfinite(jerk):
        return phased_law(1.0 / 6.0, 1.0 / 3.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ramp, rise, cruise = (float(part) for part in phases_of(1.0, velocity, acceleration, jerk))
    duration = 2.0 * rise + cruise
    return phased_law(ramp / duration, min(rise / duration, 0.5))


def fitted_trapezium(velocity: float, acceleration: float, jerk: float) -> ProfileLaw:
    """The fastest trapezoidal law; its jerk is without bounds."""
    return fitted_law(velocity, acceleration, np.inf) if np.isfinite(acceleration) else phased_law(0.0, 1.0 / 3.0)


LAWS: dict[str, ProfileLaw] = {
    "3-4-5": ProfileLaw(15 / 8, 10 / np.sqrt(3.0), 60.0, polynomial_law(0, 0, 0, 10, -15, 6)),
    "4-5-6-7": ProfileLaw(35 / 16, 84 / (5 * np.sqrt(5.0)), 52.5, polynomial_law(0, 0, 0, 0, 35, -84, 70, -20)),
    "cycloidal": ProfileLaw(2.0, 2 * np.pi, 4 * np.pi**2, Cycloid),
    "trapezoidal": replace(phased_law(0.0, 1 / 3), fitted=fitted_trapezium),
    "s-curve": replace(phased_law(1 / 6, 1 / 3), fitted=fitted_law),
}


def law_named(name: str) -> ProfileLaw:
    """One of `LAWS`."""
    if name not in LAWS:
        raise PlanningError(f"there is no law {name!r}{did_you_mean(name, LAWS)}; there are {', '.join(LAWS)}")
    return LAWS[name]
