"""Equations with a symmetric matrix whose rows may depend on each other: those that do are left out, by selection.

S = A A^T is eliminated as L D L^T. A pivot is the square of what a row of A has that the rows before it do not; where
that is a small part of an ordinary row, the row says nothing new: it gets the unknown zero, and is not looked at again.
What is left is solved exactly. With a `rank` less than the number of rows, the largest pivot is brought forward each
time, and no more rows than that are used: for matrices whose rank is known, but not which of their rows to take.
A part is small in the arithmetic that computes, float64 or float32, as `rounding` says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import chosen, exchanged
from cayley.compiler.solving.rounding import beyond_rounding
from cayley.compiler.typing import Array, Scalar


class Semidefinite(NamedTuple):
    """S = L D L^T: the rows of L below its diagonal of ones, the inverse pivots, 0 where a row is left out, and which
    rows were exchanged before."""

    L: list[list[Any]]
    inverses: list[Any]
    exchanges: list[tuple[int, int, Any]]

    def ordered(self, values: Array | Sequence[Any]) -> list[Any]:
        """Values of the rows in the order in which they were taken."""
        found = list(values)
        for i, j, condition in self.exchanges:
            found[i], found[j] = exchanged(condition, found[i], found[j])
        return found

    def reduced(self, b: Array | Sequence[Any]) -> list[Any]:
        """L^-1 b: what each row asks for beyond the rows before it."""
        y = self.ordered(b)
        for i, row in enumerate(self.L):
            for k, factor in enumerate(row):
                y[i] = y[i] - factor * y[k]
        return y[:len(self.inverses)]

    def solved(self, y: Sequence[Any]) -> Array:
        """x of S x = b, given the reduced right-hand side."""
        x = [entry * inverse for entry, inverse in zip(y, self.inverses, strict=True)]
        for i in reversed(range(len(x))):
            for k in reversed(range(i + 1, len(x))):
                x[i] = x[i] - self.L[k][i] * x[k]
        x += [0.0] * (len(self.L) - len(x))
        for i, j, condition in reversed(self.exchanges):
            x[i], x[j] = exchanged(condition, x[i], x[j])
        return np.stack(x)

    def solve(self, b: Array | Sequence[Any]) -> Array:
        """x of S x = b.

        >>> factored(np.array([[4.0, 2.0, 2.0], [2.0, 1.0, 1.0], [2.0, 1.0, 3.0]]), [4, 1, 3]).solve([2.0, 1.0, 3.0])
        array([0., 0., 1.])
        """
        return self.solved(self.reduced(b))


def factored(S: Array, scales: Sequence[Any], rank: int | None = None,
             least: float = 0.0) -> Semidefinite:
    """The factors of a symmetric positive semidefinite matrix (n, n), for numbers and for symbols. Of each row `scales`
    are ordinary values of its own entry; a pivot is small if it is rounding of that, or not more than `least` of it."""
    n = len(S)
    rest = [[S[i][j] for j in range(n)] for i in range(n)]
    ordinary = list(scales)
    L: list[list[Any]] = [[] for _ in range(n)]
    inverses: list[Any] = []
    exchanges: list[tuple[int, int, Any]] = []
    for k in range(n if rank is None else min(rank, n)):
        if rank is not None and rank < n:
            exchanges += _largest_first(rest, ordinary, L, k)
        inverses.append(_inverse(rest[k][k], ordinary[k], least, n))
        for i in range(k + 1, n):
            L[i].append(rest[i][k] * inverses[k])
            for j in range(k + 1, i + 1):
                rest[i][j] = rest[j][i] = rest[i][j] - L[i][k] * rest[j][k]
    return Semidefinite(L, inverses, exchanges)


def _inverse(pivot: Scalar, ordinary: Scalar, least: float, n: int) -> Scalar:
    new = (pivot > least * ordinary) & beyond_rounding(pivot, ordinary, n)
    return chosen(new, 1.0 / chosen(new, pivot, 1.0), 0.0)


def _largest_first(rest: list[list[Any]], ordinary: list[Any], L: list[list[Any]],
                   k: int) -> list[tuple[int, int, Any]]:
    """Bring the row with the largest pivot to place k."""
    exchanges = []
    for j in range(k + 1, len(rest)):
        larger = rest[j][j] * ordinary[k] > rest[k][k] * ordinary[j]
        exchanges.append((k, j, larger))
        ordinary[k], ordinary[j] = exchanged(larger, ordinary[k], ordinary[j])
        rest[k], rest[j] = _rows_exchanged(larger, rest[k], rest[j])
        for row in rest:
            row[k], row[j] = exchanged(larger, row[k], row[j])
        L[k], L[j] = _rows_exchanged(larger, L[k], L[j])
    return exchanges


def _rows_exchanged(condition: Scalar, one: list[Any], other: list[Any]) -> tuple[list[Any], list[Any]]:
    pairs = [exchanged(condition, a, b) for a, b in zip(one, other, strict=True)]
    return [first for first, _ in pairs], [second for _, second in pairs]
