"""Singular vectors of a small matrix, written out so that they can be traced: rotations of pairs of columns.

    A V = B     the columns of B at right angles, the longest first; those beyond the rank are zero
Each rotation makes two columns orthogonal and puts the longer first; a few rounds over all pairs end to rounding, since
the angles that are left are squared by each (Hestenes 1958; de Rijk 1989). The last columns of V span all x with
A x = 0. Where two singular values are equal their vectors may jump between states; nothing of this is differentiated.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.rounding import beyond_rounding
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, Scalar

LARGEST = 9
"""Columns beyond which the rotations would make too long a text."""


class SingularVectors(NamedTuple):
    """V (n, n) and B (h, n) by columns, for a matrix (h, n) of known rank."""

    V: list[Array]
    B: list[Array]
    rank: int

    @property
    def is_full(self) -> Scalar:
        """True if the matrix has its rank beyond rounding."""
        if not self.rank:
            return True
        longest = self.B[0] @ self.B[0]
        least = self.B[self.rank - 1] @ self.B[self.rank - 1]
        return beyond_rounding(least, longest, len(self.V))

    @property
    def basis(self) -> Array:
        """All x with A x = 0: (n, n - rank), orthonormal."""
        n = len(self.V)
        return wrapped(np.array(self.V[self.rank:]).reshape(-1, n)).T

    def shortest(self, b: Array) -> Array:
        """The shortest x (n) with A x = b, for b (h) that the rows agree on."""
        parts = [v * ((u @ b) / (u @ u)) for v, u in zip(self.V[:self.rank], self.B, strict=False)]
        return sum(parts, np.zeros(len(self.V)))

    def coefficients(self, g: Array) -> Array:
        """The shortest y (h) with A^T y = g, for g (n) that the rows span."""
        parts = [u * ((v @ g) / (u @ u)) for v, u in zip(self.V[:self.rank], self.B, strict=False)]
        return sum(parts, np.zeros(len(self.B[0])))


def singular_vectors(A: Array, rank: int) -> SingularVectors:
    """The singular vectors of a matrix (h, n) of at most `LARGEST` columns.

    >>> singular_vectors(np.array([[3.0, 4.0]]), 1).basis.T.round(12)
    array([[-0.8,  0.6]])
    """
    n = np.shape(A)[1]
    V = list(np.eye(n))
    B = [A[:, k] for k in range(n)]
    for _ in range(4 + n // 2):
        for i, j in combinations(range(n), 2):
            angle = np.arctan2(2 * (B[i] @ B[j]), B[i] @ B[i] - B[j] @ B[j]) / 2
            c = np.cos(angle)
            s = np.sin(angle)
            for columns in (V, B):
                columns[i], columns[j] = c * columns[i] + s * columns[j], c * columns[j] - s * columns[i]
    return SingularVectors(V, B, rank)
