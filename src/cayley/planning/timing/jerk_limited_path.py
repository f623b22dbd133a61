"""A fast motion along a given path under limits of jerk as well: a given timing is made faster, again and again.

Each round warps the time of the motion as far as its limits allow, linearised about what it is (`time_warp.py`), first
on a coarse grid and in great steps. Where limits are exceeded between the samples they are tightened there. The last
timing is made slower or faster as a whole, so that one limit is reached and none is exceeded at any time.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cayley.compiler.typing import Array
from cayley.planning.composed import Composed
from cayley.planning.motion import Motion
from cayley.planning.rest_to_rest.two_points import point_to_point
from cayley.planning.splines.joint_paths import Path, along
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.timing.limits import KINDS, MotionLimits
from cayley.planning.timing.path_profile import SAMPLES, Profile, begin
from cayley.planning.timing.speed_limits import allowed_speed, speeds_at
from cayley.planning.timing.time_warp import PARTS, greatest_warp

_COARSE = 48
_FASTER = (0.4, 2.4)  # of x, at first
_NEAR = (0.7, 1.4)
_ROUNDS = 14


def jerk_limited_timing(way: Path, limits: MotionLimits, count: int) -> Motion:
    """A motion along a path from rest to rest, and to rest at its stops, on a grid of at least so many intervals."""
    total = way.rests[-1] - way.rests[0]
    sections: list[Motion] = []
    for first, last in pairwise(way.rests):
        if _is_straight(way.curve, first, last) and not limits.has_efforts:
            ends = way.curve.derivatives(np.array([first, last]))[0]
            sections.append(point_to_point(*ends, law="s-curve", limits=limits))
            continue
        last -= 0.0 if last == way.rests[-1] else way.curve.aside  # on this side of a corner
        curve = way.curve if len(way.rests) == 2 else way.curve.during(first, last)
        timing = _section(curve, first, last, limits, max(24, round(count * (last - first) / total))).timing()
        motion = along(curve, timing)
        slower = (1.0 + 1e-13) / allowed_speed(motion, limits, KINDS).speed
        sections.append(motion.scaled(duration=motion.duration * slower))
    return sections[0].then(*sections[1:]) if len(sections) > 1 else sections[0]


def _is_straight(curve: Motion, first: float, last: float) -> bool:
    """Whether the path between two places is a straight line, on which the fastest motion is known."""
    if not isinstance(curve, Polynomials):
        return False
    inside = (curve.breaks[:-1] >= first) & (curve.breaks[1:] <= last)
    return inside.sum() == 1 and not curve.coefficients[inside, 2:].any()


def _section(curve: Motion, first: float, last: float, limits: MotionLimits, count: int) -> Profile:
    """Between two stops: first on a coarse grid, on which it becomes fast in great steps, then on that which was asked
    for, with the points of it kept, until nothing is gained."""
    profile = begin(curve, first, last, _COARSE)
    before = np.inf
    for _ in range(_ROUNDS):
        allowed = _allowed(curve, profile, limits).min()
        profile = profile.slower(1.0 / allowed)
        if profile.t[-1] > 0.98 * before:
            break
        before = profile.t[-1]
        faster = _faster(curve, profile, limits, np.ones(len(profile.t) - 1), _FASTER)
        if faster is None:
            break
        profile = faster.resampled(_COARSE)
    profile = profile.slower(1.0 / _allowed(curve, profile, limits).min()).resampled(count)
    return _polished(curve, profile, limits)


def _polished(curve: Motion, profile: Profile, limits: MotionLimits) -> Profile:
    """With the points of the grid kept, and limits tightened where they are exceeded between the samples."""
    tighter = np.ones(len(profile.t) - 1)
    best = profile
    seconds = np.inf
    for _ in range(_ROUNDS):
        allowed = np.minimum(_allowed(curve, profile, limits), 1.0)
        real = profile.t[-1] / allowed.min()
        if real > seconds * (1.0 - 1e-5) and allowed.min() > 1.0 - 1e-4:
            break
        if real < seconds:
            best, seconds = profile, real
        tighter *= allowed
        faster = _faster(curve, profile, limits, tighter, _NEAR)
        if faster is None:
            break
        profile = faster
    return best


def _allowed(curve: Motion, profile: Profile, limits: MotionLimits) -> Array:
    """How many times as fast each interval might be, by samples inside it."""
    motion = Composed(curve, profile.timing())
    return speeds_at(motion, limits, KINDS, profile.times(SAMPLES)).min(axis=(1, 2))


def _faster(curve: Motion, profile: Profile, limits: MotionLimits, tighter: Array,
            bounds: tuple[float, float]) -> Profile | None:
    """The profile with the greatest x between bounds that the limits allow, each made smaller on an interval as if that
    had to be so many times as slow. If polynomials cannot follow it without going back, with closer bounds; None if
    there is none."""
    for _ in range(4):
        found = _greatest(curve, profile, limits, tighter, bounds)
        if found is None or found.goes_on():
            return found
        bounds = np.sqrt(bounds[0]), np.sqrt(bounds[1])
    return None


def _greatest(curve: Motion, profile: Profile, limits: MotionLimits, tighter: Array,
              bounds: tuple[float, float]) -> Profile | None:
    """The profile after the greatest time warp, if there is one."""
    h = np.diff(profile.t)
    at = Composed(curve, profile.timing()).derivatives(profile.times(np.array(PARTS)))
    warp = greatest_warp(at, h, limits, tighter, bounds)
    if warp is None:
        return None
    x, u = warp
    middle = np.maximum(x[:-1] + h * (0.75 * u[:-1] + 0.25 * u[1:]), 0.1 * bounds[0])
    root = np.sqrt(x)
    steps = h / 6.0 * (1.0 / root[:-1] + 4.0 / np.sqrt(middle) + 1.0 / root[1:])
    return Profile(np.concatenate([[0.0], np.cumsum(steps)]), profile.s, profile.speed * root,
                   profile.acceleration * x + profile.speed * u, profile.marks)
