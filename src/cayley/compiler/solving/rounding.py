"""The one tolerance by which ranks are decided, for numbers and for symbols: how small is zero.

    s^2 <= 64 n eps        s a singular value of a matrix of n columns whose rows are about one long, eps the rounding
                           of the arithmetic that computes, float64 or float32
It is the square that is compared, because equations of motion contain A M^-1 A^T, in which singular values are squared:
below s = 8 sqrt(n eps), 1.5e-7 for three joints in float64, nothing is left of them there. What has more digits does
not use them, so that all functions agree on what is singular. A row has the length one at ordinary configurations
(`cayley.kinematics.constraints.rows`); a row that is rounding at one of them is not measured by its own length there.

Other matrices are measured by their largest singular value. The same rule holds where their entries come from states
that were searched for, samples or differences, which are known to the root of rounding. Of `exact` ones, made of given
numbers and not squared, s <= 64 n eps is zero."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, DTypeLike, Scalar

UNITS = 64.0  # of rounding, for each row or column
_EVEN = 2.0  # rows that differ in length by no more are measured alike


class Scale(NamedTuple):
    """Units of the rows and columns of a matrix: `sizes` (h) are the lengths of its rows at ordinary
    states, `lengths` (n) units of its columns."""

    sizes: Array
    lengths: Array

    @property
    def is_even(self) -> bool:
        """True if rows are about equally long, and columns of one unit."""
        return bool((self.lengths == 1.0).all()) and _are_alike(self.sizes)

    @property
    def size(self) -> float:
        """The mean length of rows that are about equally long."""
        return _mean(self.sizes)

    @property
    def apart(self) -> tuple[float, Scale]:
        """A unit of all entries, and what rows and columns differ from it, which is nothing if they are about alike."""
        return self.size / _mean(self.lengths), Scale(*[
            np.ones(len(units)) if _are_alike(units) else units / _mean(units) for units in self])

    def of(self, A: Array) -> Array:
        """Matrices (..., h, n) without units."""
        return A * self.lengths / self.sizes[:, None]


def _are_alike(units: Array) -> bool:
    return bool((units[:, None] <= _EVEN * units).all())


def _mean(units: Array) -> float:
    return float(np.sqrt(np.mean(units**2))) if len(units) else 1.0


def beyond_rounding(square: Scalar, whole: Scalar, n: int) -> Scalar:
    """True if a square, or a pivot of squares, is more than rounding of the `whole` that it is a part of; false for
    NaN. For numbers and for symbols."""
    return whole + square / (UNITS * n) > whole


def no_pattern(n: int) -> Array:
    """Numbers (n) between 0.5 and 1.5 of no pattern, so that hardly any direction is at right angles to them."""
    return 0.5 + np.arange(n) * ((np.sqrt(5) - 1) / 2) % 1


def least_singular(n: int, dtype: DTypeLike = np.float64, *, exact: bool = False) -> float:
    """Singular values up to this are zero, in a matrix of n columns whose rows are about one long; with `exact` in one
    that is known to the last digit, and not squared.

    >>> round(least_singular(3), 9), least_singular(3, exact=True)
    (1.46e-07, 2.1316282072803006e-14)
    """
    square = float(UNITS * n * np.finfo(dtype).eps / 2)
    return square if exact else square**0.5


def significant(sizes: Array, n: int, *, exact: bool = False, tolerance: float | None = None) -> Array:
    """Flags (..., k) of the singular values of matrices of n columns, or of other sizes, that are not zero beside the
    largest of them.

    >>> significant(np.array([1e3, 1e-2, 1e-6]), 3)
    array([ True,  True, False])
    """
    least = least_singular(n, exact=exact) if tolerance is None else tolerance
    return np.asarray(sizes > least * sizes.max(axis=-1, keepdims=True, initial=0.0))


def relative_rank(A: Array, *, exact: bool = False, tolerance: float | None = None) -> Array:
    """The ranks (...) of matrices (..., h, n), by singular values that are significant beside the largest."""
    return np.asarray(np.count_nonzero(significant(np.linalg.svd(A, compute_uv=False), A.shape[-1], exact=exact,
                                                   tolerance=tolerance), axis=-1))


def rank_of(A: Array, tolerance: float | None = None) -> Array:
    """The ranks (...) of matrices (..., h, n) whose rows are about one long, of numbers.

    >>> int(rank_of(np.array([[1.0, 0.0], [1.0, 1e-9]])))
    1
    """
    values = np.linalg.svd(A, compute_uv=False)
    least = least_singular(A.shape[-1]) if tolerance is None else tolerance
    return np.asarray(np.count_nonzero(values > least, axis=-1))


def pseudo_inverse(A: Array, tolerance: float | None = None) -> Array:
    """The pseudo-inverses (..., n, h) of matrices (..., h, n) whose rows are about one long, of numbers.

    >>> pseudo_inverse(np.array([[1.0, 0.0], [1.0, 1e-9]])).round(6)
    array([[0.5, 0.5],
           [0. , 0. ]])
    """
    U, values, V = np.linalg.svd(A, full_matrices=False)
    is_more = values > (least_singular(A.shape[-1]) if tolerance is None else tolerance)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=is_more)
    return np.swapaxes(V, -1, -2) * inverse[..., None, :] @ np.swapaxes(U, -1, -2)
