"""Least squares and pseudo-inverses written out: the shortest x for which |A x - b| is smallest, without branches.

A is brought to R by reflections from the left, its longest remaining column first, exchanged by selection; then R to
triangular form by reflections from the right: a complete orthogonal decomposition. Nothing is squared but lengths.
Where what is left of A is no longer than `rcond` |A| (Frobenius' norm), it counts as zero: those directions are left
out by selection, so x and its derivatives are those of the matrix of smaller rank. With `rcond` 0 the rank is taken to
be full; then nothing is exchanged and one set of reflections is enough, and x is infinite or NaN where the rank is not
full. Source: Golub & Van Loan, Matrix Computations, sections 5.4 and 5.5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import chosen, exchanged
from cayley.compiler.typing import Array, Scalar

Columns = list[list[Any]]


class Reflection(NamedTuple):
    """I - v v^T / half, for the entries from `first` on; `half` is half the square of v."""

    first: int
    v: list[Any]
    half: Any

    def of(self, column: list[Any]) -> list[Any]:
        share = sum(a * b for a, b in zip(self.v, column[self.first:], strict=True)) / self.half
        return [*column[:self.first], *[b - share * a for a, b in zip(self.v, column[self.first:], strict=True)]]


class Solutions(NamedTuple):
    """`x`: for each right-hand side, the unknowns. `kept`: for each direction of A, whether it counts."""

    x: Columns
    kept: list[Any]


def least_squares(A: Array, right: Sequence[Sequence[Any]], rcond: float) -> Solutions:
    """The shortest least-squares solutions of A x = b for A (m, n), for each b in `right`."""
    if rcond == 0.0:
        return _of_full_rank(A, right)
    m, n = np.shape(A)
    columns = _columns(A)
    sides = [list(b) for b in right]
    least = rcond * rcond * square([entry for column in columns for entry in column])
    exchanges: list[tuple[int, int, Any]] = []
    kept: list[Any] = []
    for k in range(min(m, n)):
        exchanges += longest_first(columns, k)
        is_long = square(columns[k][k:]) > least
        kept.append(is_long & kept[-1] if kept else is_long)
        turn = reflection(columns[k], k, kept[k])
        columns[k:] = [turn.of(column) for column in columns[k:]]
        sides = [turn.of(side) for side in sides]
    rows = [[0.0] * k + [chosen(kept[k], columns[j][k], 0.0) for j in range(k, n)] for k in range(min(m, n))]
    return Solutions([put_back(x, exchanges) for x in _shortest(rows, sides, kept)], kept)


def _of_full_rank(A: Array, right: Sequence[Sequence[Any]]) -> Solutions:
    m, n = np.shape(A)
    kept = [True] * min(m, n)
    if m < n:
        return Solutions(_shortest([list(row) for row in A], right, kept), kept)
    columns = _columns(A)
    sides = [list(b) for b in right]
    for k in range(n):
        turn = reflection(columns[k], k, True)
        columns[k:] = [turn.of(column) for column in columns[k:]]
        sides = [turn.of(side) for side in sides]
    return Solutions([_back_substituted(columns, side) for side in sides], kept)


def _shortest(rows: Columns, sides: Sequence[Sequence[Any]], kept: list[Any]) -> Columns:
    """The shortest x of R x = c, for R (r, n) with r <= n: R^T = Z S, x = Z S^-T c. Rows that are not kept are zero."""
    columns = [list(row) for row in rows]
    reflections = []
    for k in range(len(rows)):
        reflections.append(reflection(columns[k], k, kept[k]))
        columns[k:] = [reflections[-1].of(column) for column in columns[k:]]
    found = []
    for side in sides:
        y: list[Any] = []
        for k, column in enumerate(columns):
            rest = side[k]
            for j in range(k):
                rest = rest - column[j] * y[j]
            y.append(chosen(kept[k], rest / column[k], 0.0))
        x = y + [0.0] * (len(rows[0]) - len(y))
        for turn in reversed(reflections):
            x = turn.of(x)
        found.append(x)
    return found


def reflection(column: list[Any], first: int, is_long: Scalar) -> Reflection:
    """The reflection that turns the entries from `first` on to the first of them; any reflection if they are not
    long."""
    tail = column[first:]
    if len(tail) == 1:
        return Reflection(len(column), [], 1.0)
    length = np.sqrt(chosen(is_long, square(tail), 1.0))
    signed = chosen(tail[0] < 0.0, -length, length)
    v = [tail[0] + signed, *tail[1:]]
    return Reflection(first, v, signed * v[0])


def square(entries: Sequence[Any]) -> Scalar:
    """The square of a length."""
    return sum(entry * entry for entry in entries)


def longest_first(columns: Columns, k: int) -> list[tuple[int, int, Any]]:
    """Bring the longest column from k on to place k, as seen from row k on."""
    exchanges = []
    squares = [square(column[k:]) for column in columns]
    for j in range(k + 1, len(columns)):
        longer = squares[j] > squares[k]
        exchanges.append((j, k, longer))
        squares[k], squares[j] = exchanged(longer, squares[k], squares[j])
        pairs = [exchanged(longer, a, b) for a, b in zip(columns[k], columns[j], strict=True)]
        columns[k], columns[j] = ([pair[side] for pair in pairs] for side in (0, 1))
    return exchanges


def put_back(x: list[Any], exchanges: list[tuple[int, int, Any]]) -> list[Any]:
    """The entries in the order before the exchanges."""
    for j, k, condition in reversed(exchanges):
        x[k], x[j] = exchanged(condition, x[k], x[j])
    return x


def _back_substituted(columns: Columns, side: Sequence[Any]) -> list[Any]:
    x: list[Any] = [None] * len(columns)
    for k in reversed(range(len(columns))):
        rest = side[k]
        for j in range(k + 1, len(columns)):
            rest = rest - columns[j][k] * x[j]
        x[k] = rest / columns[k][k]
    return x


def _columns(A: Array) -> Columns:
    return [[row[j] for row in A] for j in range(np.shape(A)[1])]
