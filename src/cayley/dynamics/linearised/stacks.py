"""Matrices with vectors, where both have the same leading axes."""

from __future__ import annotations

from typing import Any

import numpy as np


def times(matrix: Any, vector: Any) -> np.ndarray:
    """A x (..., m) of A (..., m, n) and x (..., n)."""
    return (matrix @ np.asarray(vector, dtype=float)[..., None])[..., 0]


def solved(matrix: Any, vector: Any) -> np.ndarray:
    """A^-1 x (..., n)."""
    return np.linalg.solve(matrix, np.asarray(vector, dtype=float)[..., None])[..., 0]


def transposed(matrix: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrix, -2, -1)


def over(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A B^-1."""
    return transposed(np.linalg.solve(transposed(B), transposed(A)))
