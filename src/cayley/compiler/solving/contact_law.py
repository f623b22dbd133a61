"""The law of contacts with Coulomb friction, and of impulses within bounds, as one equation.

    v = free + W r           velocities of the rows; W (m, m) positive semidefinite
    contact (t1, t2, n)      r_n >= 0, v_n >= 0, r_n v_n = 0;  |r_t| <= mu r_n;  r_t = -mu r_n v_t / |v_t| if it slides
    lower <= r <= upper      v = 0 between the bounds, v >= 0 at the lower one, v <= 0 at the upper one
    r = P(r - s v)           the same as an equation: P projects on r_n >= 0, on discs of radius mu r_n, and on bounds

Smoothed, P has no corners: max(x, 0) is (x + sqrt(x^2 + 4 w^2)) / 2, with a width w."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import Elimination, eliminated_in_order, is_zero
from cayley.compiler.solving.loops import graph_of
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.implied_values import implied
from cayley.compiler.tracing.symbols import symbols, where
from cayley.compiler.typing import Array, Scalar

DAMPING = 1e-7
TINY = 1e-30
_REFINED = 3  # solves, which take the damping out of derivatives
_FAR = 1e15  # from a corner: nothing is smoothed there


class ContactRows(NamedTuple):
    """The rows of a contact problem: `friction` (c) of the contacts, whose 3 c rows come first; `lower` and `upper` (k)
    of the others."""

    W: Array
    free: Array
    friction: Array
    lower: Array
    upper: Array


class Impulses(NamedTuple):
    """The impulses (m), the velocities of their rows (m), and the largest violation of their law with what is allowed
    [m/s]."""

    r: Array
    v: Array
    residual: Scalar
    tolerance: Scalar


class Projection(NamedTuple):
    """P(y) and its derivative by y: of each contact a block (3, 3), of each other row a number."""

    value: Array
    blocks: list[Array]
    slopes: list[Scalar]


def step_lengths(rows: ContactRows) -> Array:
    """The lengths s (m) of steps along velocities: one for all rows of a contact, so that discs stay discs."""
    own = [rows.W[k][k] for k in range(len(rows.W))]
    size = 3 * len(rows.friction)
    largest = [reduce(np.maximum, own[k:k + 3]) for k in range(0, size, 3) for _ in range(3)]
    return np.stack([1.0 / where(x > 0.0, x, 1.0) for x in (*largest, *own[size:])])


def largest_speed(rows: ContactRows) -> Scalar:
    """The largest free velocity that impulses may have to change: not that of points which are apart or part."""
    size = 3 * len(rows.friction)
    return reduce(np.maximum, [-x if k < size and k % 3 == 2 else abs(x) for k, x in enumerate(rows.free)], 0.0)


def residual(rows: ContactRows, scales: Array, r: Array) -> Scalar:
    y = r - scales * (rows.free + rows.W @ r)
    return distance(scales, r, projected(rows, y))


def distance(scales: Array, r: Array, aim: Array) -> Scalar:
    return reduce(np.maximum, [abs(x) for x in (r - aim) / scales])


def projected(rows: ContactRows, y: Array) -> Array:
    """P(y) (m)."""
    value: list[Any] = []
    for c, mu in enumerate(rows.friction):
        t1, t2, n = y[3 * c], y[3 * c + 1], y[3 * c + 2]
        radius = mu * np.maximum(n, 0.0)
        length = np.sqrt(t1 * t1 + t2 * t2 + TINY)
        share = where(length <= radius, where(n > 0.0, 1.0, 0.0), radius / length)
        value += [share * t1, share * t2, np.maximum(n, 0.0)]
    rest = y[3 * len(rows.friction):]
    clipped = [np.minimum(np.maximum(x, a), b) for x, a, b in zip(rest, rows.lower, rows.upper, strict=True)]
    return np.stack([*value, *clipped])


def smoothed(rows: ContactRows, y: Array, widths: Array) -> Projection:
    """P(y) with corners of some widths (m), zero for none, and its derivative."""
    value: list[Any] = []
    blocks = []
    for c, mu in enumerate(rows.friction):
        t1, t2, n = y[3 * c], y[3 * c + 1], y[3 * c + 2]
        added, slope = _rounded(n, widths[3 * c])
        n = np.maximum(n, 0.0) + added
        radius, length = mu * n, np.sqrt(t1 * t1 + t2 * t2 + TINY)
        added, outer = _rounded(radius - length, mu * widths[3 * c])
        size = np.maximum(radius, length) + added
        share, along = radius / size, length / size
        u1, u2 = t1 / length, t2 / length
        value += [share * t1, share * t2, n]
        less, more = share * along * (1.0 - outer), mu * along * slope * (1.0 - share * outer)
        blocks.append(np.array([[share - less * u1 * u1, -less * u1 * u2, more * u1],
                                [-less * u1 * u2, share - less * u2 * u2, more * u2],
                                [0.0, 0.0, slope]], dtype=object))
    slopes = []
    size = 3 * len(rows.friction)
    for x, a, b, width in zip(y[size:], rows.lower, rows.upper, widths[size:], strict=True):
        (above, rising), (below, falling) = (_rounded(np.minimum(np.maximum(x - bound, -_FAR), _FAR), width)
                                             for bound in (a, b))
        value.append(np.minimum(np.maximum(x, a), b) + above - below)
        slopes.append(rising - falling)
    return Projection(np.stack(value), blocks, slopes)


def _rounded(x: Scalar, width: Scalar) -> tuple[Scalar, Scalar]:
    """Height of the smoothed max(x, 0) above it, and its slope."""
    root = np.sqrt(x * x + 4.0 * width * width + TINY)
    return 2.0 * width * width / (root + abs(x)), 0.5 + 0.5 * x / root


def derivative(rows: ContactRows, scales: Array, found: Projection, damping: Scalar) -> list[list[Any]]:
    """I - P'(I - s W), damped."""
    m = len(rows.W)
    along = [[scales[i] * rows.W[i][j] - (1.0 if i == j else 0.0) for j in range(m)] for i in range(m)]
    made: list[list[Any]] = []
    for c, block in enumerate(found.blocks):
        for row in block:
            parts = [(slope, along[3 * c + k]) for k, slope in enumerate(row) if not is_zero(slope)]
            made.append([sum(slope * line[j] for slope, line in parts) for j in range(m)])
    made += [[slope * x for x in along[3 * len(found.blocks) + k]] for k, slope in enumerate(found.slopes)]
    for i in range(m):
        made[i][i] = made[i][i] + (1.0 + damping)
    return made


def eliminated(A: Sequence[Sequence[Any]]) -> Elimination:
    return eliminated_in_order([{j: x for j, x in enumerate(row) if not is_zero(x)} for row in A])


def with_derivatives(rows: ContactRows, scales: Array, r: Array) -> Array:
    """The same impulses, whose derivatives are those of the solution and not those of the steps to it."""
    if graph_of(r) is None:
        return r

    def law(places: list[Any], hold: Callable[[Any], Any]) -> list[Any]:
        at = symbols(np.array(places, dtype=object))
        found = smoothed(rows, at - scales * (rows.free + rows.W @ at), np.zeros(len(r)))
        A = [[hold(x) if isinstance(x, Node) else x for x in row]
             for row in derivative(rows, scales, found, DAMPING)]
        factors, left = eliminated(A), found.value - at
        step = np.zeros(len(r))
        for _ in range(_REFINED):  # takes the damping out
            step = symbols(np.array(factors.solve(list(left + DAMPING * step)), dtype=object))
        return list(at + step)

    return symbols(np.array(implied([*r], law).values, dtype=object))
