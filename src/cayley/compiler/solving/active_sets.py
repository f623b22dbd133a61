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

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.interior_point import ConeProgram, Right, StepEquations
from cayley.compiler.solving.linear import chosen, is_zero
from cayley.compiler.solving.loops import repeat
from cayley.compiler.solving.program_data import INFINITE
from cayley.compiler.solving.quasidefinite import is_large
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array, Scalar

MOST_ROWS = 48
_VIOLATED = 1e-2  # of the root of rounding, in units of rows
_FLAT = 1e-3
_LEAST = 1e-30


class Tableau(NamedTuple):
    """The state of the loop: the lower triangle of the swept matrix; its column that is taken; u; 1 or -1 for rows held
    at the upper or lower bound, 0 for free ones; the row of the column; the row that is to be held, its signed distance
    from its bound and its multiplier; and whether the loop has ended (1) or found a proof (2)."""

    swept: Array
    column: Array
    u: Array
    held: Array
    row: Scalar
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
    row, beyond, is_left = _most_violated(program, v, free, low, high)
    column = _swept(swept, free, free, _marks(row, len(rows)))[1]
    start = Tableau(swept, column, v, free, row, row, beyond, 0.0, np.maximum(has_ended, is_left))
    end = repeat(lambda now: _turned(program, now, low, high), start, 3 * len(rows) + 10,
                 until=lambda now: now.ended != 0.0)
    proves = end.ended == 2.0
    z = symbols([s * chosen(h != 0.0, u, chosen(proves & (end.entering == float(k)), end.multiplier, 0.0))
                 for k, (s, u, h) in enumerate(zip(size, end.u, end.held, strict=True))])
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
    """The tableau after one turn."""
    column, mark = now.column, _marks(now.row, len(now.u))
    is_row = [each != 0.0 for each in mark]
    pivot, side = column @ mark, now.held @ mark
    leaves = side != 0.0
    sign = chosen(now.beyond > 0.0, 1.0, -1.0)
    flat = _FLAT * program.regular
    rate, blocking = _largest([chosen((h != 0.0) & (abs(c) > flat), sign * c / u, 0.0)
                               for h, c, u in zip(now.held, column, now.u, strict=True)])
    full = pivot / abs(now.beyond)
    is_flat = pivot <= flat
    blocked = ~leaves & (rate > 0.0) & (is_flat | (rate > full))
    proves = ~leaves & ~blocked & is_flat
    enters = ~(leaves | blocked | proves)
    changes = enters | leaves
    step = chosen(leaves, 0.0, chosen(proves, sign, sign / chosen(blocked, rate, full)))
    multiplier = chosen(proves, sign, now.multiplier + step)
    bound = chosen(side > 0.0, symbols(high) @ mark, symbols(low) @ mark)
    own, own_side = chosen(enters, multiplier, bound), chosen(leaves, 0.0, sign)
    u = symbols([chosen(proves, -sign * c, chosen(mine & changes, own, e - step * c))
                 for mine, e, c in zip(is_row, now.u, column, strict=True)])
    held = symbols([chosen(mine & changes, own_side, h) for mine, h in zip(is_row, now.held, strict=True)])
    most, beyond, left = _most_violated(program, u, held, low, high)
    row = chosen(blocked, blocking, chosen(leaves, now.entering, most))
    w = column - chosen(leaves, -1.0, 1.0) * mark
    swept, following = _swept(now.swept, w, chosen(changes, 1.0 / pivot, 0.0) * w, _marks(row, len(u)),
                              [(mine & changes, -1.0 / pivot) for mine in is_row])
    return Tableau(swept, following, u, held, row, chosen(enters, most, now.entering),
                   chosen(enters, beyond, now.beyond - step * pivot), chosen(enters, 0.0, multiplier),
                   chosen(proves, 2.0, chosen(enters, left, 0.0)))


def _marks(row: Scalar, count: int) -> Array:
    """1 at the row, 0 elsewhere."""
    return symbols([chosen(row == float(k), 1.0, 0.0) for k in range(count)])


def _swept(triangle: Array, w: Array, ratio: Array, mark: Array,
           diagonal: Sequence[tuple[Scalar, Scalar]] = ()) -> tuple[Array, Array]:
    """The triangle less w ratio', with some entries of the diagonal, and its marked column: each entry is read once."""
    made: list[Any] = []
    column: list[Any] = [0.0] * len(w)
    for entry, i, k in zip(triangle, *_triangle(len(w)), strict=True):
        new = entry - w[i] * ratio[k]
        if i == k and diagonal:
            new = chosen(diagonal[i][0], diagonal[i][1], new)
        made.append(new)
        column[i] = column[i] + new * mark[k]
        if i != k:
            column[k] = column[k] + new * mark[i]
    return symbols(made), symbols(column)


def _most_violated(program: ConeProgram, u: Array, held: Array, low: Sequence[Any],
                   high: Sequence[Any]) -> tuple[Scalar, Scalar, Scalar]:
    """The free row that is violated most, its signed distance from the bound, and 1 if no row is violated."""
    over = [e - b for e, b in zip(u, high, strict=True)]
    under = [a - e for e, a in zip(u, low, strict=True)]
    scores = [chosen(h != 0.0, 0.0, np.maximum(p, n)) for p, n, h in zip(over, under, held, strict=True)]
    most, row, beyond = _largest(scores, [chosen(p > n, p, -n) for p, n in zip(over, under, strict=True)])
    return row, beyond, chosen(most > _VIOLATED * program.regular, 0.0, 1.0)


def _largest(values: Sequence[Any], *others: Sequence[Any]) -> tuple[Any, ...]:
    """The largest of some numbers, its place, and the numbers of others at that place."""
    rows = [(value, float(k), *rest) for k, (value, *rest) in enumerate(zip(values, *others, strict=True))]
    while len(rows) > 1:
        rows = [_larger(*rows[k:k + 2]) if k + 1 < len(rows) else rows[k] for k in range(0, len(rows), 2)]
    return rows[0]


def _larger(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    is_first = one[0] >= other[0]
    return tuple(chosen(is_first, a, b) for a, b in zip(one, other, strict=True))
