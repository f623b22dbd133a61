"""Factors L D L' of symmetric matrices that can be eliminated in any order: small or sparse ones are written out in the
order of minimum degree, and of large dense ones the products are loops in the emitted code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import is_zero, ldl, solve_lower, solve_lower_transposed
from cayley.compiler.solving.loops import scan
from cayley.compiler.solving.saddle import fewest_neighbours_first
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.symbols import symbols
from cayley.compiler.typing import Array

_LARGE = 24  # rows of a dense matrix that is no longer written out
_MANY = _LARGE * _LARGE // 2  # entries
_DENSE = 0.6


class WrittenOut(NamedTuple):
    """The factors in the order in which the unknowns were eliminated."""

    order: Sequence[int]
    L: Sequence[Array]
    pivots: Array

    def solve(self, right: Array) -> Array:
        rows: Any = self.L
        halfway = symbols(solve_lower(rows, [right[k] for k in self.order])) / self.pivots
        found = solve_lower_transposed(rows, halfway)
        return symbols([found[place] for place in np.argsort(self.order)])

    def mapped(self, function: Callable[[Array], Array]) -> WrittenOut:
        return WrittenOut(self.order, [function(row) for row in self.L], function(self.pivots))


class Looped(NamedTuple):
    """The pivots, and for each the column of L below it and zeros."""

    pivots: Array
    columns: Array

    def solve(self, right: Array) -> Array:
        def down(left: Array, column: Array) -> tuple[Array, Any]:
            return np.concatenate([left[1:] - left[0] * column, np.zeros(1)]), left[0]

        def up(below: Array, halfway: Any, pivot: Any, column: Array) -> tuple[Array, None]:  # noqa: ANN401
            found = halfway / pivot - column @ below[:-1]
            return np.concatenate([np.stack([found]), below[:-1]]), None

        halfway = scan(down, right, self.columns)[1]
        found: Array = scan(up, np.zeros(len(right)), halfway, self.pivots, self.columns, reverse=True)[0]
        return found

    def mapped(self, function: Callable[[Array], Array]) -> Looped:
        return Looped(function(self.pivots), function(self.columns))


Factors = WrittenOut | Looped


def factored(A: Array) -> Factors:
    """The factors of a symmetric matrix (n, n), whose lower triangle is read."""
    n = len(A)
    if not is_large(A):
        order = fewest_neighbours_first([[j for j, entry in enumerate(row) if not is_zero(entry)] for row in A])
        L, pivots = ldl(A[np.ix_(order, order)])
        return WrittenOut(order, [symbols(np.array(row, dtype=object)) for row in L], symbols(pivots))
    rows, columns = np.tril_indices(n)
    left = (rows > 0) & (columns > 0)
    place = {pair: k for k, pair in enumerate(zip(rows.tolist(), columns.tolist(), strict=True))}
    first = [place[k, 0] for k in range(1, n)]

    def eliminate(triangle: Array, _: Any) -> tuple[Array, tuple[Any, Array]]:  # noqa: ANN401
        pivot, column = triangle[0], triangle[first]
        factor = column / pivot
        rest = triangle[left] - factor[rows[left] - 1] * column[columns[left] - 1]
        return np.concatenate([rest, np.zeros(n)]), (pivot, factor)

    pivots, found = scan(eliminate, A[rows, columns], np.zeros(n))[1]
    return Looped(pivots, found)


def is_large(A: Array) -> bool:
    """True if a matrix of symbols has so many entries, and so few zeros, that loops over them pay."""
    count = sum(isinstance(entry, Node) and not is_zero(entry) for entry in A.flat)
    return count > _MANY and count > _DENSE * A.size


def times(A: Array, x: Array) -> Array:
    """A x, of which zeros take no work, not even that of tracing them."""
    if is_large(A):
        found: Array = scan(lambda start, row: (start, row @ x), 0.0, A)[1]
        return found
    filled = [[k for k, entry in enumerate(row) if not is_zero(entry)] for row in A]
    return symbols([row[places] @ x[places] if places else 0.0 for row, places in zip(A, filled, strict=True)])


def squared(G: Array, weights: Array) -> Array:
    """G' diag(weights) G, of which zeros take no work."""
    n = G.shape[1]
    if is_large(G):
        found: Array = scan(lambda start, column: (start, times(G.T, weights * column)), 0.0, G.T)[1]
        return found
    total = np.zeros((n, n), dtype=object)
    for row, weight in zip(G, weights, strict=True):
        places = [j for j in range(n) if not is_zero(row[j])]
        for i in places:
            share = weight * row[i]
            for j in places:
                if j <= i:
                    total[i, j] = total[i, j] + share * row[j]
    for i in range(n):
        total[:i, i] = total[i, :i]
    return total
