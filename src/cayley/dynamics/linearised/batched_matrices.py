"""Matrices and vectors with leading axes. What is not a number in one place of a batch stays in that place."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike


def times(matrix: Array, vector: ArrayLike) -> Array:
    """A x (..., m) of A (..., m, n) and x (..., n)."""
    return (matrix @ np.asarray(vector, dtype=float)[..., None])[..., 0]


def solved(matrix: Array, vector: ArrayLike) -> Array:
    """A^-1 x (..., n)."""
    return np.linalg.solve(matrix, np.asarray(vector, dtype=float)[..., None])[..., 0]


def transposed(matrix: Array) -> Array:
    return np.swapaxes(matrix, -2, -1)


def regularity(matrix: Array) -> Array:
    """The smallest singular value beside the largest (...), zero if there are more rows than columns, NaN where an
    entry is.
    """
    rows, columns = matrix.shape[-2:]
    known = np.asarray(np.isfinite(matrix).all(axis=(-2, -1)))
    if rows > columns:
        return np.where(known, 0.0, np.nan)
    values = np.linalg.svd(np.where(known[..., None, None], matrix, 0.0), compute_uv=False)
    largest = values.max(axis=-1, initial=0.0)
    smallest = values.min(axis=-1, initial=np.inf)
    return np.where(known, np.divide(smallest, largest, out=np.zeros_like(largest), where=largest > 0), np.nan)


def over(A: Array, B: Array) -> Array:
    """A B^-1."""
    return transposed(np.linalg.solve(transposed(B), transposed(A)))
