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

from cayley.compiler.solving.least_squares import Reflection, longest_first, put_back, reflection, square
from cayley.compiler.solving.linear import exchanged
from cayley.compiler.solving.rounding import Scale, beyond_rounding
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, Scalar


class NullSpace(NamedTuple):
    """The factors of A (h, n), or of what its scale makes of it."""

    reflections: list[Reflection]
    columns: list[list[Any]]
    """R, by columns, with zeros below."""
    exchanges: list[tuple[int, int, Any]]
    n: int
    rank: int
    is_full: Scalar
    """Whether A has its rank beyond rounding."""
    scale: Scale | None = None

    @property
    def basis(self) -> Array:
        """N (n, n - rank)."""
        found = [self._turned([float(i == j) for i in range(self.n)]) for j in range(self.rank, self.n)]
        N = wrapped(np.array(found).reshape(-1, self.n)).T
        return N if self.scale is None else self.scale.lengths[:, None] * N

    def shortest(self, b: Array) -> Array:
        """The x (n) with A x = b, for b (h) that the rows agree on, that is shortest without units."""
        sides = list(b if self.scale is None else b / self.scale.sizes)
        for j, k, condition in self.exchanges:
            sides[k], sides[j] = exchanged(condition, sides[k], sides[j])
        y: list[Any] = []
        for k, column in enumerate(self.columns[:self.rank]):
            rest = sides[k]
            for j in range(k):
                rest = rest - column[j] * y[j]
            y.append(rest / column[k])
        x = np.array(self._turned([*y, *[0.0] * (self.n - self.rank)]))
        return x if self.scale is None else self.scale.lengths * x

    @property
    def pseudo_inverse(self) -> Array:
        """(n, h): `shortest` of unit vectors."""
        columns = [self.shortest(unit) for unit in np.eye(len(self.columns))]
        return wrapped(np.array(columns).reshape(-1, self.n)).T

    def coefficients(self, g: Array) -> Array:
        """A y (h) with A^T y = g, for g (n) that the rows span; zero for the rows that depend on those chosen."""
        turned = list(g if self.scale is None else self.scale.lengths * g)
        for each in self.reflections:
            turned = each.of(turned)
        y: list[Any] = [0.0] * len(self.columns)
        for k in reversed(range(self.rank)):
            rest = turned[k]
            for j in range(k + 1, self.rank):
                rest = rest - self.columns[j][k] * y[j]
            y[k] = rest / self.columns[k][k]
        found = np.array(put_back(y, self.exchanges))
        return found if self.scale is None else found / self.scale.sizes

    def _turned(self, x: list[Any]) -> list[Any]:
        """Q x."""
        for each in reversed(self.reflections):
            x = each.of(x)
        return x


def null_space(A: Array, rank: int | None = None, scale: Scale | None = None) -> NullSpace:
    """The factors of A (h, n), with h <= n independent rows if no rank is given. What its rows and columns are measured
    in is the `scale`; without one all alike.

    >>> found = null_space(np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0]]), rank=1)
    >>> found.basis.T.round(12) + 0.0
    array([[-0.8,  0.6,  0. ],
           [ 0. ,  0. ,  1. ]])
    >>> found.shortest(np.array([5.0, 10.0])).round(12)
    array([0.6, 0.8, 0. ])
    """
    whole = None if scale is None else float(scale.sizes @ scale.sizes)
    if scale is not None and scale.is_even:  # nothing is gained by it but what is ordinary
        scale = None
    rows = [list(row) for row in (A if scale is None else scale.of(A))]
    n = np.shape(A)[1]
    r = len(rows) if rank is None else rank
    size = len(rows) if scale is not None else whole or square([entry for row in rows for entry in row])
    exchanges: list[tuple[int, int, Any]] = []
    reflections: list[Reflection] = []
    is_full: Any = True
    for k in range(r):
        exchanges += longest_first(rows, k) if r < len(rows) else []
        reflections.append(reflection(rows[k], k, True))
        rows[k:] = [reflections[-1].of(row) for row in rows[k:]]
        is_full = is_full & beyond_rounding(rows[k][k] * rows[k][k], size, n)
    return NullSpace(reflections, rows, exchanges, n, r, is_full, scale)
