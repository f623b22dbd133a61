"""A symmetric matrix from its upper triangle: how the methods hand over what they compute, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayley.compiler.typing import Array


def mirrored(columns: Sequence[Sequence[Any]]) -> Array:
    """The matrix (n, n) whose column i is `columns[i]` down to the diagonal, and below it the mirror image of its row.

    >>> mirrored([[1.0], [2.0, 3.0]])
    array([[1., 2.],
           [2., 3.]])
    """
    n = len(columns)
    return np.array([[columns[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]).reshape(n, n)
