"""A basis of the null space of a matrix of known rank, written out so that it can be traced: QR of the transposed.

    A^T P = Q (R; 0)        Q by reflections, R (r, h) trapezoidal, P an exchange of the rows of A
The last n - r columns of Q are an orthonormal basis N of all x with A x = 0; the first r with R solve A x = b and
A^T y = g. Rows are exchanged, the longest that is left first, only where some depend on others (r < h). Where the rank
is less than the known one the factors mean nothing: `is_full` is false there. The sign of the basis, and with
exchanges the basis itself, may jump between states; what is made of all of it does not.
Source: Golub & Van Loan, Matrix Computations, section 5.4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.least_squares import Reflection, longest_first, put_back, reflection, square
from cayley.compiler.solving.linear import exchanged
from cayley.compiler.solving.rounding import Scale, beyond_rounding, no_pattern, rank_of, significant
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
        y = _solved_below(self.columns[:self.rank], sides)
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
        y = _solved_above(self.columns[:self.rank], turned) + [0.0] * (len(self.columns) - self.rank)
        found = np.array(put_back(y, self.exchanges))
        return found if self.scale is None else found / self.scale.sizes

    def _turned(self, x: list[Any]) -> list[Any]:
        """Q x."""
        for each in reversed(self.reflections):
            x = each.of(x)
        return x


def _solved_below(rows: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Any]:
    """y of L y = right, for the rows of a lower triangle."""
    y: list[Any] = []
    for k, row in enumerate(rows):
        rest = right[k]
        for j in range(k):
            rest = rest - row[j] * y[j]
        y.append(rest / row[k])
    return y


def _solved_above(rows: Sequence[Sequence[Any]], right: Sequence[Any]) -> list[Any]:
    """y of L^T y = right."""
    y: list[Any] = [0.0] * len(rows)
    for k in reversed(range(len(rows))):
        rest = right[k]
        for j in range(k + 1, len(rows)):
            rest = rest - rows[j][k] * y[j]
        y[k] = rest / rows[k][k]
    return y


def null_space(A: Array, rank: int | None = None, scale: Scale | None = None, size: float | None = None,
               columns: int | None = None) -> NullSpace:
    """The factors of A (h, n), with h <= n independent rows if no rank is given. What its rows and columns are measured
    in is the `scale`, or the `size` of all rows; without either they are measured alike. The tolerance is that of a
    matrix with this number of `columns`, by default n.

    >>> found = null_space(np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.0]]), rank=1)
    >>> found.basis.T.round(12) + 0.0
    array([[-0.8,  0.6,  0. ],
           [ 0. ,  0. ,  1. ]])
    >>> found.shortest(np.array([5.0, 10.0])).round(12)
    array([0.6, 0.8, 0. ])
    """
    if scale is not None and scale.is_even:  # then numbers need not be multiplied by it
        size = scale.size
        scale = None
    rows = [list(row) for row in (A if scale is None else scale.of(A))]
    n = np.shape(A)[1]
    r = len(rows) if rank is None else rank
    ordinary = 1.0 if scale is not None else (
        size * size if size is not None else square([entry for row in rows for entry in row]) / max(len(rows), 1))
    exchanges: list[tuple[int, int, Any]] = []
    reflections: list[Reflection] = []
    for k in range(r):
        exchanges += longest_first(rows, k) if r < len(rows) else []
        reflections.append(reflection(rows[k], k, True))
        rows[k:] = [reflections[-1].of(row) for row in rows[k:]]
    return NullSpace(reflections, rows, exchanges, n, r, _is_full(rows[:r], ordinary, columns or n), scale)


def _is_full(rows: Sequence[Sequence[Any]], ordinary: Scalar, n: int) -> Scalar:
    """True if a triangle is regular beyond rounding, by a step of inverse iteration as in `definite.is_regular`."""
    if not rows:
        return True
    if len(rows) == 1:
        return beyond_rounding(rows[0][0] * rows[0][0], ordinary, n)
    y = _solved_below(rows, list(no_pattern(len(rows))))
    z = _solved_above(rows, y)
    return beyond_rounding(square(y), ordinary * square(z), n)


def null_basis(A: Array, rank: int | Array | None = None, tolerance: float | None = None) -> Array:
    """An orthonormal basis (..., n, d) of all x with A x = 0, of matrices of numbers (..., h, n) whose rows are about
    one long. d is the largest of n - rank; a matrix of larger rank has columns of zeros first. With a `rank`, of all or
    of each, the last n - rank singular vectors.

    >>> null_basis(np.array([[3.0, 4.0]])).round(12).T
    array([[-0.8,  0.6]])
    """
    n = A.shape[-1]
    ranks = rank_of(A, tolerance) if rank is None else np.broadcast_to(rank, A.shape[:-2])
    first = int(ranks.min(initial=n))
    free = np.arange(first, n) >= ranks[..., None]
    return np.swapaxes(np.linalg.svd(A)[2][..., first:, :] * free[..., None], -1, -2)


def row_space(A: Array, tolerance: float | None = None) -> Array:
    """An orthonormal basis (r, n) of what the rows of a matrix of numbers (h, n) span, beside its largest singular
    value."""
    _, values, V = np.linalg.svd(A)
    return V[:np.count_nonzero(significant(values, A.shape[-1], tolerance=tolerance))]
