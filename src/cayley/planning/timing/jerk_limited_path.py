"""A fast motion along a given path under limits of jerk as well: a given timing is made faster, again and again.

    velocity Q' sqrt(x)    acceleration Q' u + Q'' x    jerk sqrt(x) (Q' u' + 3 Q'' u + Q''' x)    force m u + c x + g
A motion Q(T) that rests at both ends is gone along in another time, dT/dt = sqrt(x(T)), u = x'/2, x a parabola on each
interval of a grid. At samples all limits are linear in x and u but for that of jerk, which is convex: 1/sqrt(x) >= (3 -
x)/2 takes its place (Debrouwere et al. 2013, "Time-optimal path following for robots with convex-concave constraints
using sequential convex programming"). The sum of x is made greatest, first on a coarse grid and in great steps; limits
are tightened where they are exceeded between samples, and the last timing is scaled so that one limit is reached."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from cayley.compiler.typing import Array
from cayley.planning.motion import Motion
from cayley.planning.profiles.two_points import point_to_point
from cayley.planning.sequence import Composed
from cayley.planning.splines.joint_paths import Path, along
from cayley.planning.splines.polynomials import Polynomials, through_knots
from cayley.planning.timing.limits import KINDS, MotionLimits, allowed_speed, effort_parts, forces_along, speeds_at

_COARSE = 48
_FASTER = (0.4, 2.4)  # of x, at first
_NEAR = (0.7, 1.4)
_ROUNDS = 14


def jerk_limited_timing(way: Path, limits: MotionLimits, count: int) -> Motion:
    """A motion along a path from rest to rest, and to rest at its stops, on a grid of the fewest intervals."""
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
    """True if the path between two places is a straight line, on which the fastest motion is known."""
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
    """The timing with the points of the grid kept, and limits tightened where they are exceeded between the samples."""
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
    motion = Composed(curve, profile.timing())
    return speeds_at(motion, limits, KINDS, profile.times(SAMPLES)).min(axis=(1, 2))


def _faster(curve: Motion, profile: Profile, limits: MotionLimits, tighter: Array,
            bounds: tuple[float, float]) -> Profile | None:
    """The profile with the greatest x between bounds that the limits allow, each tightened on an interval by its factor
    of slowness. If polynomials cannot follow it without going back, with closer bounds; None if there is none."""
    for _ in range(4):
        found = _greatest(curve, profile, limits, tighter, bounds)
        if found is None or found.goes_on():
            return found
        bounds = np.sqrt(bounds[0]), np.sqrt(bounds[1])
    return None


def _greatest(curve: Motion, profile: Profile, limits: MotionLimits, tighter: Array,
              bounds: tuple[float, float]) -> Profile | None:
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


SAMPLES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])


class Profile(NamedTuple):
    """The place s on a path, its speed and its acceleration at times t, (k) each, and which of these are breaks of the
    path."""

    t: Array
    s: Array
    speed: Array
    acceleration: Array
    marks: Array

    def timing(self) -> Polynomials:
        """Polynomials of degree five between the times."""
        return through_knots(self.t, self.s[:, None], self.speed[:, None], self.acceleration[:, None])

    def times(self, parts: Array) -> Array:
        """Times (intervals, parts), the last of each interval before what follows begins."""
        t = self.t[:-1, None] + np.diff(self.t)[:, None] * parts
        t[:, -1] = np.nextafter(self.t[1:], 0.0)
        return t

    def goes_on(self) -> bool:
        """True if the place never goes back between the times."""
        return bool((self.timing().derivatives(self.times(SAMPLES))[1][:, 1:-1] > 0.0).all())

    def slower(self, factor: float) -> Profile:
        """The same path in a time that is a factor longer."""
        return Profile(self.t * factor, self.s, self.speed / factor, self.acceleration / factor**2, self.marks)

    def resampled(self, count: int) -> Profile:
        """Evenly in time between the breaks of the path, with a few more points if it would go back between fewer."""
        tried = (self._sampled(round(more * count)) for more in (1.0, 1.3, 1.7))
        return next((profile for profile in tried if profile.goes_on()), self)

    def _sampled(self, count: int) -> Profile:
        marks = self.t[self.marks]
        parts = np.diff(marks) / marks[-1]
        ends = np.concatenate([[0], np.cumsum(np.maximum(np.round(count * parts), 4.0))]).astype(int)
        t = np.interp(np.arange(ends[-1] + 1), ends, marks)
        s, v, a = (part[:, 0].copy() for part in self.timing().derivatives(t)[:3])
        s[ends] = self.s[self.marks]
        return Profile(t, s, v, a, ends)


def begin(curve: Motion, first: float, last: float, count: int) -> Profile:
    """The 3-4-5 polynomial, whose jerk at the ends is finite and not zero, in one second."""
    breaks = np.asarray(curve.breaks)
    places = np.concatenate([[first], breaks[(breaks > first) & (breaks < last)], [last]])
    x = np.linspace(0.0, 1.0, 4 * count + 1)
    law = 10.0 * x**3 - 15.0 * x**4 + 6.0 * x**5
    marks = np.interp((places - first) / (last - first), law, x)
    parts = np.maximum(np.round(count * np.diff(marks)), 4.0)
    ends = np.concatenate([[0], np.cumsum(parts)]).astype(int)
    t = np.interp(np.arange(ends[-1] + 1), ends, marks)
    way = last - first
    s = first + way * (10.0 * t**3 - 15.0 * t**4 + 6.0 * t**5)
    s[ends] = places
    return Profile(t, s, way * (30.0 * t**2 - 60.0 * t**3 + 30.0 * t**4),
                   way * (60.0 * t - 180.0 * t**2 + 120.0 * t**3), ends)


PARTS = (0.0, 0.5, 1.0)
"""Where in each interval the limits are looked at."""


def greatest_warp(at: tuple[Array, ...], h: Array, limits: MotionLimits, tighter: Array,
                  bounds: tuple[float, float]) -> tuple[Array, Array] | None:
    """x and u (k + 1) at the ends of intervals h (k) long, for the derivatives (k, 3, n) of a motion in them. Limits
    are tightened on an interval by its factor of slowness. None if no x between the bounds will do."""
    count = len(h)
    rows, rights = _rows(at, h, limits, tighter)
    here = np.arange(count)
    ones = np.ones(count)
    smooth = csr_array((np.concatenate([-ones, ones, -h, -h]),
                        (np.tile(here, 4), np.concatenate([here, here + 1, here + count + 1, here + count + 2]))),
                       shape=(count, 2 * count + 2))  # x grows by h (u0 + u1)
    weights = np.zeros(2 * count + 2)
    weights[:count] -= h / h.mean()
    weights[1:count + 1] -= h / h.mean()
    found = linprog(weights, rows, rights, smooth, np.zeros(count), method="highs-ipm",
                    bounds=[bounds] * (count + 1) + [(None, None)] * (count + 1))
    return (found.x[:count + 1], found.x[count + 1:]) if found.status == 0 else None


def _rows(at: tuple[Array, ...], h: Array, limits: MotionLimits, tighter: Array) -> tuple[csr_array, Array]:
    q, first, second, third = at
    scale = tighter[:, None]
    moving = [np.where(bound > 0.0, bound, np.inf) for bound in (limits.velocity, limits.acceleration, limits.jerk)]
    parts = effort_parts(limits, q, first, second) if limits.has_efforts else None
    rows, rights = [], []
    for place, part in enumerate(PARTS):
        Q1, Q2, Q3 = first[:, place], second[:, place], third[:, place]
        squares = np.square(Q1 / (moving[0] * scale)).max(axis=1, keepdims=True)
        own = [(squares, 0.0 * squares, 0.0 * squares, np.ones_like(squares))]
        for sign in (1.0, -1.0):
            acceleration = sign / (moving[1] * scale**2)
            jerk = sign / (moving[2] * scale**3)
            own += [(Q2 * acceleration, Q1 * acceleration, 0.0 * Q1, np.ones_like(Q1)),
                    (Q3 * jerk + 0.5, 3.0 * Q2 * jerk, Q1 * jerk, np.full_like(Q1, 1.5))]
            if parts is not None:
                own.append(_force_row(limits, parts, q[:, place], Q1, place, sign, scale))
        for row in own:
            rows.append(_in_unknowns(*row[:3], h, part))
            rights.append(row[3].reshape(-1))
    return vstack(rows).tocsr(), np.concatenate(rights)


def _force_row(limits: MotionLimits, parts: tuple[Array, ...], q: Array, Q1: Array, place: int, sign: float,
               scale: Array) -> tuple[Array, Array, Array, Array]:
    """The row of the forces; viscous friction, which grows with sqrt(x), by its tangent at x = 1."""
    bounds = np.where(limits.effort > 0.0, limits.effort, np.inf)
    resting, viscous, inertial = (sign * part[:, place] / bounds for part in parts)
    drive = sign * forces_along(limits, q, Q1) / bounds
    return ((inertial + 0.5 * viscous) / scale**2, drive / scale**2, np.zeros_like(Q1), 1.0 - resting - 0.5 * viscous)


def _in_unknowns(by_x: Array, by_u: Array, by_rate: Array, h: Array, part: float) -> csr_array:
    """Rows for values by x, u and u' at a part of each interval, in x at its beginning and u at both ends."""
    H = h[:, None]
    first = by_u * (1.0 - part) - by_rate / H + by_x * (2.0 * H * (part - 0.5 * part**2))
    last = by_u * part + by_rate / H + by_x * (H * part**2)
    count, width = by_x.shape
    here = np.repeat(np.arange(count), width)
    numbers = np.arange(count * width)
    return csr_array((np.concatenate([by_x.reshape(-1), first.reshape(-1), last.reshape(-1)]),
                      (np.tile(numbers, 3), np.concatenate([here, here + count + 1, here + count + 2]))),
                     shape=(count * width, 2 * count + 2))
