"""Whether a symmetric matrix is positive definite, or any matrix regular, and not by rounding alone; for numbers and
for symbols.

Every pivot of L D L^T must be positive. What rounding leaves of one that is zero is found by a step of inverse
iteration: of a probe f, the answer y = M^-1 f is nearly all along the eigenvector of the least eigenvalue, so that
y.f tells that eigenvalue,

    y.f  against  (sum of |y_k| sqrt(M_kk))^2

in the arithmetic that computes, float64 or float32; false for NaN as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from cayley.compiler.linear import eliminated, ldl, ldl_solve
from cayley.compiler.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SingularityError

_UNITS = 64.0  # of rounding, for each row: no more than this is left of an eigenvalue that is zero
_GOLDEN = (np.sqrt(5) - 1) / 2


def is_definite(M: Array) -> Scalar:
    """Whether a symmetric matrix (n, n) is positive definite beyond rounding, by L D L^T as `ldl_solve`; for numbers
    and for symbols.
    """
    return is_definite_by_pivots(ldl(M)[1], [M[k][k] for k in range(len(M))], partial(ldl_solve, M))


def are_definite(M: Array) -> Array:
    """The same (...) of numbers (..., n, n), by eigenvalues, each row and column scaled to a diagonal of ones."""
    own = np.diagonal(M, axis1=-2, axis2=-1)
    possible = np.asarray(np.isfinite(M).all(axis=(-2, -1)) & (own > 0).all(axis=-1))
    scale = 1 / np.sqrt(np.where(possible[..., None], own, 1.0))
    scaled = np.where(possible[..., None, None], M, 0.0) * scale[..., :, None] * scale[..., None, :]
    return possible & (np.linalg.eigvalsh(scaled).min(axis=-1, initial=1.0)
                       > _UNITS * M.shape[-1] * np.finfo(M.dtype).eps / 2)


def scaled_condition(M: Array) -> Array:
    """The condition numbers (...) of mass matrices (..., n, n), each row and column scaled to a diagonal of ones;
    infinite where the diagonal has an entry that is not positive.
    """
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
    # of no pattern, so that no motion is at right angles to it
    probe = sizes * (0.5 + np.arange(len(pivots)) * _GOLDEN % 1)
    motion = solve(probe)
    most = (np.abs(motion) @ sizes) ** 2
    return found & (most + motion @ probe / (_UNITS * len(pivots)) > most)


def is_regular(A: Array) -> Scalar:
    """Whether a square matrix (n, n) is regular beyond rounding, by the pivots of its elimination; for numbers and for
    symbols.
    """
    size = sum(abs(entry) for row in A for entry in row)
    found: Any = True
    try:
        pivots = eliminated(A).pivots
    except SingularityError:  # by its zeros alone
        return False
    for pivot in pivots:
        found = found & (size + abs(pivot) / (_UNITS * len(A)) > size)
    return found


def only_where(condition: Scalar, values: Scalar) -> Scalar:
    """The values where a condition holds, NaN elsewhere; and so their derivatives."""
    return values * where(condition, 1.0, np.nan) + where(condition, 0.0, np.nan)
