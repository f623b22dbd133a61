"""The fastest way along a path, in the plane of x = (ds/dt)^2 and u = d^2 s/dt^2, where limits are straight lines.

    f(s) = m(s) u + c(s) x(s) + g(s),   |f| <= 1
On each interval of a grid u is constant and x linear in s. An acceleration or force over its limit, f, is sampled at
the beginning, in the middle and at the end; the parabola through the samples stays within the limits if its three
Bernstein coefficients do, which are linear in u and in the x at the beginning. For a path of cubic polynomials the
parabola is the acceleration itself. Backwards from the end the greatest x is found from which the rest can be gone, and
forwards the greatest u is taken (Pham & Pham 2018, "A new approach to time-optimal path parameterization based on
reachability analysis"). Standing still is always possible at rest, so that the possible x are those from 0 to a
greatest one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np

from cayley.compiler.iterate import iterate
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar

UNBOUNDED = 1e30
_FLAT = 1e-10  # beside the greatest: what u does not change


class Lines(NamedTuple):
    """Bounds (3, k) of u on an interval, `lower` + `slope` x and `upper` + `slope` x; and of x, by the greatest x at
    its end: `gain` times that less `offset`."""

    lower: Array
    upper: Array
    slope: Array
    gain: Array
    offset: Array


class Limited(NamedTuple):
    """The limited quantities on each interval of a grid, over their limits: samples (intervals, 3, k) of m, c and g,
    those (intervals, 3, n) of the derivative q' by s over the limits of velocity, and the lengths (intervals)."""

    m: Array
    c: Array
    g: Array
    velocity: Array
    steps: Array


def _chosen(values: Array, sign: float) -> Scalar:
    """The greatest, or with the sign -1 the least, in pairs: numbers only, so that one instruction does it."""
    left = list(values.flat)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [where(sign * a > sign * b, a, b) for a, b in pairs] + left[len(left) // 2 * 2:]
    return left[0]


def _bernstein(samples: Array) -> Array:
    """The coefficients (3, k) of the parabolas through samples at the beginning, in the middle and at the end."""
    return np.stack([samples[0], 2.0 * samples[1] - 0.5 * (samples[0] + samples[2]), samples[2]])


def _rows(m: Array, c: Array, g: Array, step: Scalar) -> tuple[Array, Array, Array]:
    """|A u + B x + C| <= 1 for each coefficient; x is that at the beginning."""
    return (_bernstein(np.stack([m[0], m[1] + step * c[1], m[2] + 2.0 * step * c[2]])), _bernstein(c), _bernstein(g))


@kernel("(3,k),(3,k),(3,k),()->(3,k),(3,k),(3,k),(3,k),(3,k)")
def lines(m: Array, c: Array, g: Array, step: Scalar) -> Lines:
    """The bounds of an interval `step` long."""
    A, B, C = _rows(m, c, g, step)
    smallest = _FLAT * _chosen(abs(A), 1.0) + 1e-300
    inverse = 1.0 / where(A < 0.0, np.minimum(A, -smallest), np.maximum(A, smallest))
    width = abs(inverse)
    lower = -C * inverse - width
    slope = -B * inverse
    growth = 1.0 + 2.0 * step * slope
    bounds = growth > 1e-14
    gain = where(bounds, 1.0 / where(bounds, growth, 1.0), 0.0)
    return Lines(lower, lower + 2.0 * width, slope, gain, where(bounds, 2.0 * step * lower * gain, -UNBOUNDED))


@kernel("(3,k),(3,k),(3,k),(),()->(),()", outputs=("lowered", "again"))
def lower_cap(lower: Array, upper: Array, slope: Array, step: Scalar, cap: Scalar) -> tuple[Scalar, Scalar]:
    """Newton's step to the greatest x for which any u is left, from above; the bounds are straight, so it ends."""
    above = [*zip(upper.flat, slope.flat, strict=True)]
    below = [*zip(lower.flat, slope.flat, strict=True), (0.0, -0.5 / step)]  # the last: x at the end is not negative
    high, falls = _extreme(above, cap, -1.0)
    low, rises = _extreme(below, cap, 1.0)
    crossing = np.maximum((high - low) / (rises - falls), 0.0)
    is_empty = high + falls * cap < low + rises * cap
    lowers = is_empty & (rises > falls) & (crossing < cap)
    return where(lowers, crossing, where(is_empty & (rises <= falls), 0.0, cap)), where(lowers, 1.0, 0.0)


def _extreme(bounds: list[tuple[Scalar, Scalar]], x: Scalar, sign: float) -> tuple[Scalar, Scalar]:
    """The line that is the greatest at x, or the smallest."""
    value, slope = bounds[0]
    for other, tilt in bounds[1:]:
        beyond = sign * (other + tilt * x) > sign * (value + slope * x)
        value, slope = where(beyond, other, value), where(beyond, tilt, slope)
    return value, slope


@kernel("(3,k),(3,k),(),()->()", outputs=("reach_before",))
def backward(gain: Array, offset: Array, cap: Scalar, reach: Scalar) -> Scalar:
    """The greatest x at the beginning of an interval from which at most `reach` is left at its end."""
    return np.maximum(np.minimum(_chosen(gain * reach - offset, -1.0), cap), 0.0)


@kernel("(3,k),(3,k),(),(),()->()", outputs=("x_after",))
def forward(upper: Array, slope: Array, step: Scalar, reach: Scalar, x: Scalar) -> Scalar:
    """The greatest x at the end of an interval."""
    u = _chosen(upper + slope * x, -1.0)
    return np.maximum(np.minimum(x + 2.0 * step * u, reach), 0.0)


lowered_caps = iterate(cast("Kernel", lower_cap), {"cap": "lowered"}, keeping=["lowered"], repeating=("again", 100))
reaches = iterate(backward, {"reach": "reach_before"}, changing=["gain", "offset", "cap"])
fastest = iterate(forward, {"x": "x_after"}, changing=["upper", "slope", "step", "reach"])


@kernel("(3,n)->(3)", outputs=("free",))
def free_squares(velocity: Array) -> Array:
    """The greatest x at the three samples."""
    return np.stack([np.minimum(1.0 / (_chosen(v * v, 1.0) + 1e-300), UNBOUNDED) for v in velocity])


@kernel("(3,n),(),()->()", outputs=("excess",))
def velocity_excess(velocity: Array, first: Scalar, last: Scalar) -> Scalar:
    """A bound of the greatest q'^2 x of an interval on which x goes from `first` to `last` and q' is a parabola: the
    greatest Bernstein coefficient of these polynomials of degree five on either half of it."""
    a, b, c = _bernstein(velocity)
    square = [a * a, a * b, (2.0 * b * b + a * c) / 3.0, b * c, c * c]
    whole = [((5 - k) * now * first + k * before * last) / 5.0
             for k, (now, before) in enumerate(zip([*square, 0.0 * a], [0.0 * a, *square], strict=True))]
    halves = []
    while whole:  # de Casteljau in the middle
        halves += [whole[0], whole[-1]]
        whole = [0.5 * (p + q) for p, q in pairwise(whole)]
    return _chosen(np.stack(halves), 1.0)


@kernel("(3,k),(3,k),(3,k),(),(),()->()", outputs=("excess",))
def greatest(m: Array, c: Array, g: Array, step: Scalar, first: Scalar, last: Scalar) -> Scalar:
    """The greatest |f| on an interval on which x goes from `first` to `last`."""
    A, B, C = _rows(m, c, g, step)
    found = A * ((last - first) / (2.0 * step)) + B * first + C
    return _chosen(abs(found), 1.0)


@cache
def compiled(kernel: Kernel[Scalar], size: int) -> np.ufunc:
    """The ufunc itself: called on the arrays of a grid, which need no looking at."""
    return kernel.ufunc(np.float64, **dict.fromkeys(kernel.signature.names, size))


def greatest_excess(limited: Limited, x: Array) -> float:
    """The largest part of its limit that is reached, squared if it is a velocity, with these x at the points of the
    grid."""
    forces = compiled(greatest, limited.m.shape[2])(*limited[:3], limited.steps, x[:-1], x[1:])
    squares = compiled(velocity_excess, limited.velocity.shape[2])(limited.velocity, x[:-1], x[1:])
    return max(float(forces.max()), float(squares.max()))


def velocity_caps(limited: Limited) -> Array:
    """The greatest x (intervals + 1) that keep the velocities, between the points of the grid as well."""
    n = limited.velocity.shape[2]
    free = compiled(free_squares, n)(limited.velocity)
    caps = np.empty(len(free) + 1)
    caps[0], caps[-1] = free[0, 0], free[-1, 2]
    np.minimum(free[1:, 0], free[:-1, 2], out=caps[1:-1])
    np.minimum(caps[:-1], 4.0 * free[:, 1], out=caps[:-1])  # where all joints turn there is no bound but that beside it
    np.minimum(caps[1:], 4.0 * free[:, 1], out=caps[1:])
    excess = np.ones(len(free) + 2)
    np.maximum(compiled(velocity_excess, n)(limited.velocity, caps[:-1], caps[1:]), 1.0, out=excess[1:-1])
    return caps / np.maximum(excess[1:], excess[:-1])


def fastest_squares(limited: Limited, caps: Array) -> Array:
    """The greatest x (intervals + 1) at the points of the grid, under `caps` on them."""
    bounds = Lines(*compiled(lines, limited.m.shape[2])(*limited[:3], limited.steps))
    lowered, back, forth = _passes(len(limited.steps), limited.m.shape[2])
    own, = lowered(bounds.lower, bounds.upper, bounds.slope, limited.steps, caps[:-1])
    reach = caps.copy()
    reach[-2::-1] = back(bounds.gain[::-1], bounds.offset[::-1], own[::-1, 0], caps[-1])[0]
    reach[1:] = forth(bounds.upper, bounds.slope, limited.steps, reach[1:], reach[0])[0]
    return reach


@cache
def _passes(count: int, k: int) -> tuple[Callable[..., tuple[Array, ...]], ...]:
    """The caps, backwards and forwards, for grids with given numbers of intervals and limits."""
    return lowered_caps.prepared(steps=1, k=k), reaches.prepared(steps=count, k=k), fastest.prepared(steps=count, k=k)
