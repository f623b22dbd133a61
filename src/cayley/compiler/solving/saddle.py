"""Equations of motion or of least change under many constraints, eliminated as they are: few entries stay few.

    M x + A^T y = f,   A x - D y = r        M (n, n) positive definite, D a damping that is small
To eliminate x first would fill A M^-1 A^T wherever constraints share an unknown. The whole is quasidefinite, D being
positive, and can be eliminated in any order without exchanges (Vanderbei, SIAM J. Optim. 5, 1995), also where
constraints depend on each other: they then share what they ask for. The order is that of minimum degree: the unknown
with the fewest neighbours is next. What D spoils, A x = r + D y, is known, and taken out by solving once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import is_zero, ldl, solve_lower, solve_lower_transposed
from cayley.compiler.typing import Array, ArrayLike


class Saddle(NamedTuple):
    """The factors of (M A^T; A -D) in the order in which it was eliminated."""

    n: int
    order: list[int]
    L: list[list[Any]]
    pivots: list[Any]
    damping: Sequence[float] | Array

    def solve(self, f: ArrayLike, r: ArrayLike) -> tuple[Array, Array]:
        """x (n) and y (h)."""
        given = [*np.asarray(f), *np.asarray(r)]
        right = [given[k] for k in self.order]
        halfway = [b / pivot for b, pivot in zip(solve_lower(self.L, right), self.pivots, strict=True)]
        found = dict(zip(self.order, solve_lower_transposed(self.L, halfway), strict=True))
        both = np.stack([found[k] for k in range(len(found))])
        return both[:self.n], both[self.n:]

    def solve_undamped(self, f: ArrayLike, r: ArrayLike) -> Array:
        """x (n) with D = 0, to the square of the damping, and to rounding divided by it where M and one block of A
        would be singular by themselves."""
        x, y = self.solve(f, r)
        return x + self.solve(np.zeros(self.n), -y * np.asarray(self.damping))[0]

    def least_change(self, r: ArrayLike) -> Array:
        """The smallest x, in the metric M, with A x = r, damped: M^-1 A^T (A M^-1 A^T + D)^-1 r."""
        return self.solve(np.zeros(self.n), r)[0]


def saddle(M: Array, A: Array, damping: Sequence[float] | Array) -> Saddle:
    """The factors for M (n, n), A (h, n) and a damping (h), small beside the diagonal of A M^-1 A^T.

    >>> rod = saddle(np.eye(2), np.array([[3.0, 4.0]]), [1e-9])
    >>> rod.least_change([5.0]).round(6), rod.solve_undamped([1.0, 0.0], [0.0]).round(6)
    (array([0.6, 0.8]), array([ 0.64, -0.48]))
    """
    n = len(M)
    whole = np.block([[M, A.T], [A, -np.diag(damping)]])
    order = fewest_neighbours_first([[j for j, entry in enumerate(row) if not is_zero(entry)] for row in whole])
    return Saddle(n, order, *ldl(whole[np.ix_(order, order)]), damping)


def fewest_neighbours_first(pattern: Sequence[Sequence[int]]) -> list[int]:
    """The order of minimum degree for a symmetric matrix, given the columns in which each row has entries: what is
    eliminated makes its neighbours neighbours of each other.

    >>> fewest_neighbours_first([[0, 1, 2, 3], [0, 1], [0, 2], [0, 3]])
    [1, 2, 0, 3]
    """
    neighbours = {row: set(columns) - {row} for row, columns in enumerate(pattern)}
    order = []
    while neighbours:
        chosen = min(neighbours, key=lambda k: (len(neighbours[k]), k))
        around = neighbours.pop(chosen)
        for other in around:
            neighbours[other] = (neighbours[other] | around) - {other, chosen}
        order.append(chosen)
    return order
