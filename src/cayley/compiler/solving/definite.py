"""True if a symmetric matrix is positive definite, or any matrix regular, and not by rounding alone; for numbers and
for symbols.

Every pivot of L D L^T must be positive. What rounding leaves of one that is zero is found by a step of inverse
iteration: of a probe f, the answer y = M^-1 f is nearly all along the eigenvector of the least eigenvalue, so that
y.f tells that eigenvalue,

    y.f  against  (sum of |y_k| sqrt(M_kk))^2

in the arithmetic that computes, float64 or float32; false for NaN as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from cayley.compiler.solving.linear import eliminated, ldl, ldl_solve
from cayley.compiler.solving.null_space import null_space
from cayley.compiler.solving.rounding import UNITS, Scale, beyond_rounding, no_pattern
from cayley.compiler.tracing.symbols import where, wrapped
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SingularityError


def is_definite(M: Array) -> Scalar:
    """True if a symmetric matrix (n, n) is positive definite beyond rounding, by L D L^T as `ldl_solve`; for numbers
    and for symbols."""
    return is_definite_by_pivots(ldl(M)[1], [M[k][k] for k in range(len(M))], partial(ldl_solve, M))


def are_definite(M: Array) -> Array:
    """The same (...) of numbers (..., n, n), by eigenvalues, each row and column scaled to a diagonal of ones."""
    own = np.diagonal(M, axis1=-2, axis2=-1)
    possible = np.asarray(np.isfinite(M).all(axis=(-2, -1)) & (own > 0).all(axis=-1))
    scale = 1 / np.sqrt(np.where(possible[..., None], own, 1.0))
    scaled = np.where(possible[..., None, None], M, 0.0) * scale[..., :, None] * scale[..., None, :]
    return possible & (np.linalg.eigvalsh(scaled).min(axis=-1, initial=1.0)
                       > UNITS * M.shape[-1] * np.finfo(M.dtype).eps / 2)


def scaled_condition(M: Array) -> Array:
    """The condition numbers (...) of mass matrices (..., n, n), each row and column scaled to a diagonal of ones;
    infinite where the diagonal has an entry that is not positive."""
    own = np.diagonal(M, axis1=-2, axis2=-1)
    scale = 1 / np.sqrt(np.where(own > 0, own, 1.0))
    condition = np.linalg.cond(scale[..., :, None] * M * scale[..., None, :])
    return np.where((own > 0).all(axis=-1) | np.isnan(condition), condition, np.inf)[()]


def is_definite_by_pivots(pivots: Sequence[Any], own: Scalar, solve: Callable[[Any], Any]) -> Scalar:
    """The same by the pivots (n), the diagonal (n) and what solves the equations, where a method has them already."""
    found: Any = True
    for pivot in pivots:
        found = found & (pivot > 0)
    if len(pivots) < 2:
        return found
    sizes = np.array([np.sqrt(entry) for entry in own])
    probe = sizes * no_pattern(len(pivots))
    motion = solve(probe)
    most = (np.abs(motion) @ sizes) ** 2
    return found & beyond_rounding(motion @ probe, most, len(pivots))


def rows_are_independent(A: Array, scale: Scale | None = None, square: Array | None = None,
                         columns: int | None = None) -> Scalar:
    """True if the rows of a matrix (h, n) are independent beyond rounding: if their least singular value, without
    units, is more than `least_singular(n)`. One step of inverse iteration with `square`, which is A W A^T for any W
    that is positive definite, finds the y for which A^T y is smallest. Without a scale rows are measured by their own
    lengths."""
    h, n = np.shape(A)
    whole = A @ A.T if square is None else square
    found: Any = True
    for pivot in ldl(whole)[1]:
        found = found & (pivot > 0)
    if not h:
        return found
    sizes, lengths = scale or Scale(np.array([np.sqrt(row @ row) for row in A]), np.ones(n))
    y = ldl_solve(whole, sizes * no_pattern(h))
    least = (y @ A) * lengths
    across = (y @ y) * scale.size**2 if scale is not None and scale.is_even else (y * sizes) @ (y * sizes)
    return found & beyond_rounding(least @ least, across, columns or n)


def others_follow(A: Array, chosen: Sequence[int], scale: Scale | None = None, free: int = 0) -> Scalar:
    """True if every x (n) with A x = 0 follows from its entries at the places `chosen`, but for a known number of
    `free` motions: if so many singular values of the columns of the others are more than `least_singular(n)`, without
    units, which are ones without a `scale`; for numbers and for symbols. Where motions are free and rows depend on each
    other, the least of them is known to a factor of about two.

    >>> A = np.array([[1.0, -1.0, 0.0], [0.0, 1e-9, 1.0]])
    >>> [bool(others_follow(A, [k])) for k in range(3)]
    [True, True, False]
    """
    h, n = np.shape(A)
    others = [k for k in range(n) if k not in chosen]
    rank = len(others) - free
    sizes, lengths = scale or Scale(np.ones(h), np.ones(n))
    unit, own = Scale(sizes, lengths[others]).apart
    left = own.of(wrapped(A)[:, others])  # before squares are taken, in which unlike units leave no digits
    if rank < h:
        left = left.T
    if rank < len(left):
        return null_space(left, rank, size=unit, columns=n).is_full
    return rows_are_independent(left, Scale(np.full(rank, unit), np.ones(left.shape[1])), columns=n)


def is_regular(A: Array, scale: Scale, n: int) -> Scalar:
    """True if a square matrix, measured in its `scale`, has only singular values of more than `least_singular(n)`; for
    numbers and for symbols. Of two of them the smaller one, where it is far below the other, is the determinant over
    the norm of all entries. Of more, x = U^-1 g and y = A^-T h, of A = L U, g and h of no pattern, are nearly along the
    singular vectors of the least one, h.x / (|x| |y|)."""
    if not len(A):
        return True
    try:
        made = eliminated(A)
    except SingularityError:  # by its zeros alone
        return False
    unit, own = scale.apart
    with np.errstate(all="ignore"):
        if len(A) <= 2:
            entries = own.of(A).ravel() if len(A) == 2 else np.ones(1)
            volume = prod(made.pivots) * prod(own.lengths / own.sizes)
            return beyond_rounding(volume * volume, unit**2 * (entries @ entries), n)
        g = no_pattern(len(A))
        x = np.array(made.substituted(list(g)))
        y = own.sizes * np.array(made.solve_transposed(list(g[::-1])))
        across = g[::-1] @ x
        x = x / own.lengths
        return beyond_rounding(across * across, unit**2 * (x @ x) * (y @ y), n)


def only_where(condition: Scalar, values: Scalar) -> Scalar:
    """The values where a condition holds, NaN elsewhere; and so their derivatives."""
    return values * where(condition, 1.0, np.nan) + where(condition, 0.0, np.nan)
