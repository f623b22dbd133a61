"""A basis of the null space of a matrix of known rank, written out so that it can be traced: QR of the transposed.

    A^T P = Q (R; 0)        Q by reflections, R (r, h) trapezoidal, P an exchange of the rows of A
The last n - r columns of Q are an orthonormal basis N of all x with A x = 0; the first r with R solve A x = b and
A^T y = g. Rows are exchanged, the longest that is left first, only where some depend on others (r < h). Where the rank
is less than the known one the factors mean nothing: `is_full` is false there. The sign of the basis, and with
exchanges the basis itself, may jump between states; what is made of all of it does not.
Source: Golub & Van Loan, Matrix Computations, section 5.4.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.least_squares import Reflection, longest_first, put_back, reflection, square
from cayley.compiler.linear import exchanged
from cayley.compiler.symbols import wrapped
from cayley.compiler.typing import Array, Scalar

_UNITS = 64.0  # of rounding, for each column: what is shorter is zero


class NullSpace(NamedTuple):
    """The factors of A (h, n)."""

    reflections: list[Reflection]
    columns: list[list[Any]]
    """R, by columns, with zeros below."""
    exchanges: list[tuple[int, int, Any]]
    n: int
    rank: int
    is_full: Scalar
    """Whether A has its rank beyond rounding."""

    @property
    def basis(self) -> Array:
        """N (n, n - rank)."""
        found = [self._turned([float(i == j) for i in range(self.n)]) for j in range(self.rank, self.n)]
        return wrapped(np.array(found).reshape(-1, self.n)).T

    def shortest(self, b: Array) -> Array:
        """The shortest x (n) with A x = b, for b (h) that the rows agree on."""
        sides = list(b)
        for j, k, condition in self.exchanges:
            sides[k], sides[j] = exchanged(condition, sides[k], sides[j])
        y: list[Any] = []
        for k, column in enumerate(self.columns[:self.rank]):
            rest = sides[k]
            for j in range(k):
                rest = rest - column[j] * y[j]
            y.append(rest / column[k])
        return np.array(self._turned([*y, *[0.0] * (self.n - self.rank)]))

    @property
    def pseudo_inverse(self) -> Array:
        """(n, h): `shortest` of unit vectors."""
        columns = [self.shortest(unit) for unit in np.eye(len(self.columns))]
        return wrapped(np.array(columns).reshape(-1, self.n)).T

    def coefficients(self, g: Array) -> Array:
        """A y (h) with A^T y = g, for g (n) that the rows span; zero for the rows that depend on those chosen."""
        turned = list(g)
        for each in self.reflections:
            turned = each.of(turned)
        y: list[Any] = [0.0] * len(self.columns)
        for k in reversed(range(self.rank)):
            rest = turned[k]
            for j in range(k + 1, self.rank):
                rest = rest - self.columns[j][k] * y[j]
            y[k] = rest / self.columns[k][k]
        return np.array(put_back(y, self.exchanges))

    def _turned(self, x: list[Any]) -> list[Any]:
        """Q x."""
        for each in reversed(self.reflections):
            x = each.of(x)
        return x


def null_space(A: Array, rank: int | None = None) -> NullSpace:
    """The factors of A (h, n), with h <= n independent rows if no rank is given.

    >>> found = null_space(np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0]]), rank=1)
    >>> found.basis.T.round(12) + 0.0
    array([[-0.8,  0.6,  0. ],
           [ 0. ,  0. ,  1. ]])
    >>> found.shortest(np.array([5.0, 10.0])).round(12)
    array([0.6, 0.8, 0. ])
    """
    rows = [list(row) for row in A]
    n = np.shape(A)[1]
    r = len(rows) if rank is None else rank
    size = square([entry for row in rows for entry in row])
    exchanges: list[tuple[int, int, Any]] = []
    reflections: list[Reflection] = []
    is_full: Any = True
    for k in range(r):
        exchanges += longest_first(rows, k) if r < len(rows) else []
        reflections.append(reflection(rows[k], k, True))
        rows[k:] = [reflections[-1].of(row) for row in rows[k:]]
        is_full = is_full & (size + rows[k][k] * rows[k][k] / (_UNITS * n) > size)
    return NullSpace(reflections, rows, exchanges, n, r, is_full)
