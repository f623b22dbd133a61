"""How much faster a motion may be at each of its instants, as a linear program.

A motion Q(T) that rests at both ends is gone along in another time, dT/dt = sqrt(x(T)), u = x'/2, where x is a parabola
on each interval of a grid and smooth between them. It rests at its ends whatever x is, and
    velocity Q' sqrt(x)    acceleration Q' u + Q'' x    jerk sqrt(x) (Q' u' + 3 Q'' u + Q''' x)    force m u + c x + g
so that at samples all limits are linear in x and u but for that of jerk, which is convex: 1/sqrt(x) >= (3 - x)/2, its
tangent at x = 1, takes its place (Debrouwere et al. 2013, "Time-optimal path following for robots with convex-concave
constraints using sequential convex programming"). What is made greatest is the sum of x.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from cayley.compiler.typing import Array
from cayley.planning.timing.limits import MotionLimits
from cayley.planning.timing.speed_limits import effort_parts, forces_along

PARTS = (0.0, 0.5, 1.0)
"""Where in each interval the limits are looked at."""


def greatest_warp(at: tuple[Array, ...], h: Array, limits: MotionLimits, tighter: Array,
                  bounds: tuple[float, float]) -> tuple[Array, Array] | None:
    """x and u (k + 1) at the ends of intervals h (k) long, for the derivatives (k, 3, n) of a motion in them. Limits
    are tightened on an interval as if it had to be so many times as slow. None if no x between the bounds will do."""
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
    """All limits as rows of the linear program in x (k + 1) and u (k + 1)."""
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
    """Of the forces; viscous friction, which grows with sqrt(x), by its tangent at x = 1."""
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
