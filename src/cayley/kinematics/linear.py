"""Linear equations written out, so that they can be traced: no pivots, no branches, sizes known."""

from __future__ import annotations

from typing import Any

import numpy as np


def ldl_solve(A: Any, b: Any) -> Any:
    """x of A x = b for A (n, n) symmetric and positive definite, b (n) or (n, k), by A = L D L^T: no square roots, no pivoting.

    Only the lower triangle of A is read. The text is scalar-agnostic: floats, symbols, 50 digits. If A is not positive definite, a
    pivot may be zero; the answer is then infinite or NaN, as in any compiled kernel.

    >>> ldl_solve(np.array([[4.0, 2.0], [2.0, 3.0]]), np.array([8.0, 8.0])).tolist()
    [1.0, 2.0]
    """
    L, pivots = ldl(A)
    n = len(pivots)
    x = [b[i] for i in range(n)]
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i][k] * x[k]
    x = [x[i] / pivots[i] for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return np.stack(x) if n else np.zeros(np.shape(b))


def ldl(A: Any) -> tuple[list[list[Any]], list[Any]]:
    """The rows of L below its diagonal of ones, and the pivots D, with A = L D L^T."""
    L: list[list[Any]] = [[] for _ in range(len(A))]
    pivots: list[Any] = []
    for i in range(len(A)):
        undivided: list[Any] = []  # row i of L D
        for j in range(i):
            rest = A[i][j]
            for k in range(j):
                rest = rest - L[j][k] * undivided[k]
            undivided.append(rest)
            L[i].append(rest / pivots[j])
        pivot = A[i][i]
        for k in range(i):
            pivot = pivot - L[i][k] * undivided[k]
        pivots.append(pivot)
    return L, pivots
