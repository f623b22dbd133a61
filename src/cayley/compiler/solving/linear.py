"""Linear equations written out, so that they can be traced: sizes known, no branches, no work for zeros.

Rows are dictionaries that hold only the entries that can differ from zero. Whoever knows an order in which no pivot
vanishes eliminates in it (`ldl`, `solve_rows`); otherwise rows are exchanged by selection, so that the largest entry of
the column is the pivot. A matrix that is block triangular after a permutation of its rows and columns is eliminated in
that order (`block_order`): nothing is selected among the rows of a triangular one. All texts are scalar-agnostic:
floats, symbols, 50 digits. A pivot that is zero gives infinity or NaN.

Each row is matched with a column of its own, in which it has an entry; unknowns that need each other then form a block.
A triangular matrix has blocks of one, whatever its rows and columns were permuted by. Source: Duff & Reid, An
implementation of Tarjan's algorithm for the block triangularization of a matrix, ACM TOMS 4 (1978)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from cayley.compiler.solving.strongly_connected import strongly_connected
from cayley.compiler.tracing.graph import Node, apply, is_constant
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SingularityError

Row = dict[int, Any]  # the entries of a row by column
_LARGEST_EXPANDED = 4  # beyond it an elimination takes fewer products than the expansion by minors
_SINGULAR = "the matrix is singular whatever the values are: its rows depend on each other by how they are made"


# Symmetric and positive definite

def ldl_solve(A: Scalar, b: Scalar) -> Scalar:
    """x of A x = b for A (n, n) symmetric and positive definite, b (n) or (n, k), by A = L D L^T without pivoting.

    Only the lower triangle of A is read. If A is not positive definite, a pivot may be zero; the answer is then
    infinite or NaN, as in any compiled kernel.

    >>> ldl_solve(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([8.0, 8.0])).tolist()
    [1.0, 2.0]
    """
    L, pivots = ldl(A)
    n = len(pivots)
    if np.ndim(b) == 2:
        from cayley.compiler.solving.columns import (  # which trace, and so build upon this module
            graph_of_many,
            substituted,
        )
        if (graph := graph_of_many(_products(L, np.shape(b)[1]), b)) is not None:
            return substituted(graph, L, pivots, np.asarray(b, dtype=object))
    x = [entry / pivot for entry, pivot in zip(solve_lower(L, b), pivots, strict=True)]
    return np.stack(solve_lower_transposed(L, x)) if n else np.zeros(np.shape(b))


def solve_lower(L: Scalar, b: Scalar) -> list[Any]:
    """The rows of L^-1 b, for L with a diagonal of ones and the rows of `ldl`."""
    x = [b[i] for i in range(len(L))]
    for i in range(len(x)):
        for k in range(i):
            if not is_zero(L[i][k]):
                x[i] = x[i] - L[i][k] * x[k]
    return x


def solve_lower_transposed(L: Scalar, b: Scalar) -> list[Any]:
    """The rows of L^-T b."""
    x = [b[i] for i in range(len(L))]
    for i in reversed(range(len(x))):
        for k in reversed(range(i + 1, len(x))):  # what was found last is needed last: nothing waits for a whole row
            if not is_zero(L[k][i]):
                x[i] = x[i] - L[k][i] * x[k]
    return x


def _products(L: list[list[Any]], columns: int) -> int:
    """The number of products that the substitution of some columns takes."""
    return 2 * columns * sum(not is_zero(entry) for row in L for entry in row)


def ldl(A: Array, least: Sequence[Scalar] | None = None) -> tuple[list[list[Any]], list[Any]]:
    """The rows of L below its diagonal of ones, and the pivots D, with A = L D L^T.

    Pivots below the `least` (n) are raised to it: A is then A and something on its diagonal, where that is needed."""
    L: list[list[Any]] = [[] for _ in range(len(A))]
    pivots: list[Any] = []
    filled: list[list[int]] = []  # the places of each row of L that can differ from zero
    for i in range(len(A)):
        undivided: dict[int, Any] = {}  # row i of L D, without zeros
        for j in range(i):
            rest = A[i][j]
            for k in filled[j]:
                if k in undivided:
                    rest = rest - L[j][k] * undivided[k]
            if not is_zero(rest):
                undivided[j] = rest
            L[i].append(rest / pivots[j])
        filled.append(list(undivided))
        pivot = A[i][i]
        for k, entry in undivided.items():
            pivot = pivot - L[i][k] * entry
        pivots.append(pivot if least is None else np.maximum(pivot, least[i]))
    return L, pivots


def cholesky(A: Array) -> list[list[Any]]:
    """The lower triangular L with A = L L^T, from the lower triangle of A. NaN where A is not positive definite."""
    n = len(A)
    L: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = A[i][j]
            for k in range(j):
                rest = rest - L[i][k] * L[j][k]
            L[i][j] = np.sqrt(rest) if i == j else rest / L[j][j]
    return L


# Any square matrix

@dataclass(frozen=True)
class Elimination:
    """The steps that brought equations to upper triangular form, to be done again to right-hand sides.

    `steps` are (i, k, factor): row k times the factor is taken from row i; or (i, k, condition, None): the rows change
    places where it holds. `upper` are the rows that are left. `rows` and `columns`: which equation, which unknown, was
    taken at each place."""

    steps: tuple[tuple[Any, ...], ...]
    upper: tuple[Row, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def solve(self, right: Sequence[Any]) -> list[Any]:
        """The unknowns for one right-hand side."""
        b = [right[i] for i in self.rows]
        for i, k, by, *is_exchange in self.steps:
            if is_exchange:
                b[k], b[i] = exchanged(by, b[k], b[i])
            else:
                b[i] = b[i] - by * b[k]
        return self.substituted(b)

    def substituted(self, b: Sequence[Any]) -> list[Any]:
        """The unknowns of the triangular equations that are left, with their right-hand side."""
        found: dict[int, Any] = {}
        for k in reversed(range(len(b))):
            rest = b[k]
            for j, entry in self.upper[k].items():
                if j > k:
                    rest = rest - entry * found[j]
            found[k] = rest / self.upper[k][k]
        place = {column: k for k, column in enumerate(self.columns)}
        return [found[place[j]] for j in range(len(b))]

    def solve_transposed(self, right: Sequence[Any]) -> list[Any]:
        """The unknowns of the transposed equations for one right-hand side."""
        y: list[Any] = []
        for k, column in enumerate(self.columns):
            rest = right[column]
            for j in range(k):
                rest = rest - self.upper[j].get(k, 0.0) * y[j]
            y.append(rest / self.upper[k][k])
        for i, k, by, *is_exchange in reversed(self.steps):
            if is_exchange:
                y[k], y[i] = exchanged(by, y[k], y[i])
            else:
                y[k] = y[k] - by * y[i]
        place = {row: k for k, row in enumerate(self.rows)}
        return [y[place[i]] for i in range(len(y))]

    def mapped(self, function: Callable[[Any], Any]) -> Elimination:
        """The same steps with other factors and entries."""
        steps = tuple(step if len(step) == 4 else (*step[:2], function(step[2])) for step in self.steps)
        upper = tuple({j: function(entry) for j, entry in row.items()} for row in self.upper)
        return Elimination(steps, upper, self.rows, self.columns)

    @property
    def pivots(self) -> list[Any]:
        return [row[k] for k, row in enumerate(self.upper)]

    @property
    def sign(self) -> Scalar:
        """1 or -1: whether an even or an odd number of rows and columns changed places."""
        sign: Any = parity(self.rows) * parity(self.columns)
        for _, _, condition, *_ in (step for step in self.steps if len(step) == 4):
            sign = chosen(condition, -sign, sign)
        return sign


def eliminated(A: Array) -> Elimination:
    """The elimination of a square matrix with partial pivoting by selection, its structural zeros used."""
    pattern = [[j for j, entry in enumerate(row) if not is_zero(entry)] for row in A]
    order = block_order(pattern)
    if order is None:
        raise SingularityError(_SINGULAR)
    rows, columns = order
    place = {column: k for k, column in enumerate(columns)}
    return _eliminate([{place[j]: A[i][j] for j in pattern[i]} for i in rows], rows, columns, _largest_first)


def solve_rows(rows: Sequence[Row], right: Sequence[Any], *, named: Callable[[int], str] = str) -> list[Any]:
    """The unknowns of the equations `rows` x = `right`, square and in an order that needs no pivoting.

    `named` says what an unknown is, for the `SingularityError` that is raised where nothing determines it.

    >>> solve_rows([{0: 2.0, 1: 1.0}, {0: 2.0, 1: 3.0, 2: 1.0}, {2: 4.0}], [3.0, 6.0, 4.0])
    [1.0, 1.0, 1.0]
    """
    return eliminated_in_order(rows, named=named).solve(right)


def eliminated_in_order(rows: Sequence[Row], *, named: Callable[[int], str] = str) -> Elimination:
    """The elimination of the square matrix with these `rows`, in an order that needs no pivoting; see `solve_rows`."""
    def as_given(rows: list[Row], k: int) -> list[tuple[Any, ...]]:
        if is_zero(rows[k].get(k, 0.0)):
            raise SingularityError(f"nothing determines {named(k)}")
        return []

    same = range(len(rows))
    return _eliminate([dict(row) for row in rows], same, same, as_given)


def _eliminate(rows: list[Row], taken: Sequence[int], columns: Sequence[int],
               exchange: Callable[[list[Row], int], list[tuple[Any, ...]]]) -> Elimination:
    steps: list[tuple[Any, ...]] = []
    for k in range(len(rows)):
        steps += exchange(rows, k)
        pivot = rows[k]
        for i in range(k + 1, len(rows)):
            if k in rows[i]:
                factor = rows[i].pop(k) / pivot[k]
                steps.append((i, k, factor))
                for j in pivot:
                    if j > k:
                        rows[i][j] = rows[i][j] - factor * pivot[j] if j in rows[i] else -factor * pivot[j]
                        if is_zero(rows[i][j]):
                            del rows[i][j]
    return Elimination(tuple(steps), tuple(rows), tuple(taken), tuple(columns))


def _largest_first(rows: list[Row], k: int) -> list[tuple[Any, ...]]:
    """Bring the row with the largest entry in column k to place k, among those that can have one there."""
    steps: list[tuple[Any, ...]] = []
    for i in range(k + 1, len(rows)):
        if k in rows[i]:
            condition = abs(rows[i][k]) > abs(rows[k][k]) if k in rows[k] else True
            steps.append((i, k, condition, None))
            pairs = {j: exchanged(condition, rows[k].get(j, 0.0), rows[i].get(j, 0.0)) for j in {**rows[k], **rows[i]}}
            rows[k] = {j: upper for j, (upper, _) in pairs.items() if not is_zero(upper)}
            rows[i] = {j: lower for j, (_, lower) in pairs.items() if not is_zero(lower)}
    if k not in rows[k]:
        raise SingularityError(_SINGULAR)
    return steps


def determinant(A: Array) -> Scalar:
    """The determinant, by minors if A is small, by elimination otherwise: zero if zeros alone make A singular."""
    n = len(A)
    if n <= _LARGEST_EXPANDED:
        return _by_minors(A)
    try:
        found = eliminated(A)
    except SingularityError:
        return 0.0
    return found.sign * prod(found.pivots)


def _by_minors(A: Array) -> Scalar:
    """Laplace expansion along the first row, minors shared: a polynomial, with derivatives where A is singular too."""
    n = len(A)
    minors: dict[tuple[int, ...], Any] = {(): 1.0}
    for row in reversed(range(n)):
        minors = {columns: sum((-1) ** k * A[row][c] * minors[columns[:k] + columns[k + 1:]]
                               for k, c in enumerate(columns))
                  for columns in combinations(range(n), n - row)}
    return minors[tuple(range(n))]


# Scalars

def is_zero(scalar: Scalar) -> bool:
    """True if this is the number 0, not something that may turn out to be."""
    return is_constant(scalar, 0.0) if isinstance(scalar, Node) else bool(scalar == 0)


def chosen(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(condition, Node):
        return a if condition else b
    return a if a is b else apply("where", condition, a, b)


def exchanged(condition: Scalar, a: Scalar, b: Scalar) -> tuple[Any, Any]:
    return chosen(condition, b, a), chosen(condition, a, b)


Pattern = Sequence[Sequence[int]]  # for each row, the columns in which it has entries


def block_order(pattern: Pattern) -> tuple[list[int], list[int]] | None:
    """Rows and columns in an order that makes the matrix block upper triangular with entries on its diagonal, if any.

    >>> block_order([[0], [0, 1], [0, 1, 2]])
    ([2, 1, 0], [2, 1, 0])
    """
    row_of = _matched(pattern)
    if row_of is None:
        return None
    needs = {column: pattern[row] for column, row in enumerate(row_of)}
    columns = [column for block in reversed(strongly_connected(needs)) for column in sorted(block)]
    return [row_of[column] for column in columns], columns


def _matched(pattern: Pattern) -> list[int] | None:
    """For each column the row that it is matched with: its own, where possible."""
    row_of: dict[int, int] = {row: row for row, columns in enumerate(pattern) if row in columns}

    def find(row: int, tried: set[int]) -> bool:
        for column in pattern[row]:
            if column not in tried:
                tried.add(column)
                if column not in row_of or find(row_of[column], tried):
                    row_of[column] = row
                    return True
        return False

    for row in range(len(pattern)):
        if row not in row_of.values() and not find(row, set()):
            return None
    return [row_of[column] for column in range(len(pattern))]


def parity(order: Sequence[int]) -> int:
    """1 for an even permutation, -1 for an odd one."""
    left = list(order)
    sign = 1
    for k in range(len(left)):
        while left[k] != k:
            j = left[k]
            left[k], left[j] = left[j], left[k]
            sign = -sign
    return sign
