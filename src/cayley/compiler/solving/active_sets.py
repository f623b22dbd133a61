"""Solutions of small quadratic programs by the dual active-set method, in a tableau.

    x = x0 - P^-1 G'z        v = G x = v0 - H z        H = G P^-1 G', in units of rows in which its diagonal is 1
A row that is held stays at one of its bounds; the multiplier z of any other row is zero. The tableau is H swept on the
rows that are held: its columns say how v of free rows and z of held rows, the entries of u, change with one multiplier.
Each turn takes one column, at first that of the row that is violated most. Its multiplier grows until the row meets its
bound, and the row is held from then on, or until the multiplier of a held row is zero. That row is free from the next
turn on. The dual cost grows with each turn, so that no set of held rows comes twice. If nothing stops a multiplier, all
multipliers together prove that no x meets the constraints.
Sources: Goldfarb & Idnani, Math. Programming 27, 1983; Beaton, The use of special matrix operators, 1964 (sweeping).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.interior_point import ConeProgram, Right, StepEquations
from cayley.compiler.solving.linear import chosen, is_zero
from cayley.compiler.solving.loops import repeat
from cayley.compiler.solving.program_data import INFINITE
from cayley.compiler.solving.quasidefinite import is_large
from cayley.compiler.tracing.symbols import symbols, where
from cayley.compiler.typing import Array, Scalar

MOST_ROWS = 48
_VIOLATED = 1e-2  # of the root of rounding, in units of rows
_FLAT = 1e-3
_LEAST = 1e-30


class Tableau(NamedTuple):
    """The state of the loop: the lower triangle of the swept matrix; its column that is taken; u; 1 or -1 for rows held
    at the upper or lower bound, 0 for free ones; the row of the column; 1 at that row, 0 elsewhere; the row that is to
    be held, its signed distance from its bound and its multiplier; and whether the loop has ended (1) or found a
    proof (2)."""

    swept: Array
    column: Array
    u: Array
    held: Array
    row: Scalar
    mark: Array
    entering: Scalar
    beyond: Scalar
    multiplier: Scalar
    ended: Scalar


class Guess(NamedTuple):
    """x, multipliers of equations and sides, and whether the multipliers are to prove that there is no solution."""

    x: Array
    y: Array
    z: Array
    proves: Scalar


def is_small(program: ConeProgram) -> bool:
    """True if a program has so few rows that its tableau is written out, and no cones."""
    return not program.cones and 0 < len(set(program.rows)) <= MOST_ROWS and not is_large(program.P)


def by_active_sets(program: ConeProgram, has_ended: Scalar) -> Guess:
    """A solution or a proof that there is none, if nothing went wrong; nothing is done where it `has_ended` (0, 1)."""
    rows = sorted(set(program.rows))
    places = {row: k for k, row in enumerate(rows)}
    none = np.zeros(len(program.side))
    equations = StepEquations(program, none, [])
    first = equations.solve(Right(-program.q, program.b, none, []))
    each = [equations.solve(Right(program.G[row], np.zeros(len(program.b)), none, [])) for row in rows]
    H = _products([program.G[row] for row in rows], [found.x for found in each])
    size = symbols([chosen(h > _FLAT * program.regular, 1.0 / np.sqrt(np.maximum(h, _LEAST)), 1.0)
                    for h in (H[k * (k + 3) // 2] for k in range(len(rows)))])
    low, high = _bounds(program, places, size)
    swept = symbols([size[i] * size[k] * h for h, i, k in zip(H, *_triangle(len(rows)), strict=True)])
    v = size * symbols([program.G[row] @ first.x for row in rows])
    free = symbols(np.zeros(len(rows)))
    over = _violations(v, free, low, high)
    most, row = _largest([abs(e) for e in over])
    mark = _marks(row, len(rows))
    start = Tableau(swept, _swept(swept, free, free, free, mark)[1], v, free, row, mark, row, _at(mark, over), 0.0,
                    np.maximum(has_ended, chosen(most > _VIOLATED * program.regular, 0.0, 1.0)))
    end = repeat(lambda now: _turned(program, now, low, high), start, 3 * len(rows) + 10,
                 until=lambda now: now.ended != 0.0)
    proves = end.ended == 2.0
    is_held = end.held * end.held
    z = size * where(proves, chosen(end.beyond > 0.0, 1.0, -1.0) * (end.mark - is_held * end.column), is_held * end.u)
    x, y = (symbols([chosen(proves, 0.0, e) for e in own]) - sum(m * part for m, part in zip(z, parts, strict=True))
            for own, parts in ((first.x, [found.x for found in each]), (first.y, [found.y for found in each])))
    return Guess(x, y, symbols([np.maximum(factor * z[places[row]], 0.0) for factor, row
                                in zip(program.factor, program.rows, strict=True)]), proves)


def _products(G: Sequence[Array], X: Sequence[Array]) -> list[Any]:
    """The lower triangle of G P^-1 G', given P^-1 G'. The row with fewer entries is multiplied."""
    full = [np.count_nonzero([not is_zero(e) for e in row]) for row in G]
    return [G[i] @ X[k] if full[i] < full[k] else G[k] @ X[i] for i, k in zip(*_triangle(len(G)), strict=True)]


def _triangle(n: int) -> tuple[list[int], list[int]]:
    """The rows and columns of a lower triangle."""
    rows, columns = np.tril_indices(n)
    return rows.tolist(), columns.tolist()


def _bounds(program: ConeProgram, places: Mapping[int, int], size: Array) -> tuple[list[Any], list[Any]]:
    """The lower and upper bounds of rows in their units, 1e20 where there is none."""
    low: list[Any] = [-INFINITE] * len(places)
    high: list[Any] = [INFINITE] * len(places)
    for row, factor, side in zip(program.rows, program.factor, program.side, strict=True):
        k = places[row]
        high[k] = chosen(factor > 0.0, size[k] * side, high[k])
        low[k] = chosen(factor < 0.0, -size[k] * side, low[k])
    return low, high


def _turned(program: ConeProgram, now: Tableau, low: Sequence[Any], high: Sequence[Any]) -> Tableau:
    """The tableau after one turn. What concerns every row is arithmetic: truth values would take most of the time."""
    column, mark, flat = now.column, now.mark, _FLAT * program.regular
    pivot, side = _at(mark, column), _at(mark, now.held)
    leaves = side != 0.0
    sign = chosen(now.beyond > 0.0, 1.0, -1.0)
    rate, blocking = _largest([chosen(c > flat, c / abs(u), 0.0)
                               for c, u in zip(sign * now.held * column, now.u, strict=True)])
    full = pivot / abs(now.beyond)
    is_flat = pivot <= flat
    blocked = ~leaves & (rate > 0.0) & (is_flat | (rate > full))
    proves = ~leaves & ~blocked & is_flat
    enters = ~(leaves | blocked | proves)
    changes = enters | leaves
    step = chosen(leaves | proves, 0.0, sign / chosen(blocked, rate, full))
    multiplier = now.multiplier + step
    own = chosen(leaves, chosen(side > 0.0, _at(mark, high), _at(mark, low)), multiplier)
    u = now.u - step * column + chosen(changes, own - (_at(mark, now.u) - step * pivot), 0.0) * mark
    held = now.held + chosen(enters, sign, chosen(leaves, -side, 0.0)) * mark
    over = _violations(u, held, low, high)
    most, violated = _largest([abs(e) for e in over])
    row = chosen(blocked, blocking, chosen(leaves, now.entering, chosen(proves, now.row, violated)))
    w = column - chosen(leaves, -1.0, 1.0) * mark
    following = _marks(row, len(u))
    swept, picked = _swept(now.swept, w, chosen(changes, 1.0 / pivot, 0.0) * w,
                           chosen(enters, -2.0, chosen(leaves, 2.0, 0.0)) * mark, following)
    return Tableau(swept, picked, u, held, row, following, chosen(enters, row, now.entering),
                   chosen(enters, _at(following, over), now.beyond - step * pivot),
                   chosen(enters, 0.0, multiplier),
                   chosen(proves, 2.0, chosen(enters & (most <= _VIOLATED * program.regular), 1.0, 0.0)))


def _marks(row: Scalar, count: int) -> Array:
    """1 at the row, 0 elsewhere."""
    return symbols([chosen(row == float(k), 1.0, 0.0) for k in range(count)])


def _swept(triangle: Array, w: Array, ratio: Array, diagonal: Array, mark: Array) -> tuple[Array, Array]:
    """The triangle less w ratio' and with something on its diagonal, and its marked column. That is read from the
    triangle as it was, so that its sums need not wait and stay in registers."""
    n = len(w)
    whole = np.empty((n, n), dtype=object)
    for entry, i, k in zip(triangle, *_triangle(n), strict=True):
        whole[i, k] = whole[k, i] = entry
    far, more = _at(mark, ratio), _at(mark, diagonal)
    return (symbols([whole[i, k] - w[i] * ratio[k] + (diagonal[i] if i == k else 0.0)
                     for i, k in zip(*_triangle(n), strict=True)]),
            symbols([_at(mark, row) for row in whole]) - far * w + more * mark)


def _at(mark: Array, values: Array | Sequence[Any]) -> Scalar:
    """The value that is marked, in four sums, none of which waits long."""
    return sum(symbols(values[k::4]) @ mark[k::4] for k in range(min(4, len(mark))))


def _violations(u: Array, held: Array, low: Sequence[Any], high: Sequence[Any]) -> Array:
    """The signed distances of free rows from their bounds, 0 where these are kept."""
    return symbols([(1.0 - h * h) * (_larger(e - b, 0.0) + _smaller(e - a, 0.0))
                    for e, h, a, b in zip(u, held, low, high, strict=True)])


def _largest(values: Sequence[Any]) -> tuple[Scalar, Scalar]:
    """The largest of some numbers and its place, the first of equal ones."""
    most = _by_halves(_larger, values)
    places = [chosen(value == most, float(k), float(len(values))) for k, value in enumerate(values)]
    return most, _by_halves(_smaller, places)


def _by_halves(choice: Callable[[Scalar, Scalar], Scalar], values: Sequence[Any]) -> Scalar:
    half = len(values) // 2
    return choice(_by_halves(choice, values[:half]), _by_halves(choice, values[half:])) if half else values[0]


def _larger(one: Scalar, other: Scalar) -> Scalar:
    """One instruction, where np.maximum also looks for NaN."""
    return chosen(one > other, one, other)


def _smaller(one: Scalar, other: Scalar) -> Scalar:
    return chosen(one < other, one, other)
