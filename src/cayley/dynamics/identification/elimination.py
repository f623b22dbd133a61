"""Columns that depend on those before them, and spaces in echelon form: which parameters are kept, and what others add
to them.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array

_ROUNDING = 1e-8  # of the largest: columns of sampled regressors that are no more than this apart are dependent


def triangular(rows: Array) -> Array:
    """The triangle R of Q R: as many columns, few rows, the same sums of squares."""
    return np.asarray(np.linalg.qr(rows, mode="r"))


def independent_columns(Y: Array, *, tolerance: float = _ROUNDING) -> Array:
    """Which columns (bool) are not, to a relative `tolerance`, combinations of those before them: Gram and Schmidt,
    twice for rounding.

    >>> independent_columns(np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 1.0]]))
    array([ True, False,  True])
    """
    kept = np.zeros(Y.shape[1], dtype=bool)
    basis = np.zeros((len(Y), 0))
    sizes = np.linalg.norm(Y, axis=0)
    for k, column in enumerate(Y.T):
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if size > tolerance * sizes.max() and size > tolerance * sizes[k]:
            kept[k] = True
            basis = np.column_stack([basis, rest / size])
    return kept


def echelon(rows: Array, *, tolerance: float = _ROUNDING) -> Array:
    """The rows' space in reduced form: each row has a 1 in its last place, where the other rows have 0; nearest
    integers made exact.

    >>> echelon(np.array([[1.0, 2.0, 2.0], [1.0, 2.0, 4.0]]))
    array([[0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    left = rows.copy()
    found: list[np.ndarray] = []
    for column in reversed(range(rows.shape[1])):
        if not len(left):
            break
        best = int(np.argmax(np.abs(left[:, column])))
        if abs(left[best, column]) < tolerance * max(np.abs(left[best]).max(), 1.0):
            left[:, column] = 0.0
            continue
        pivot = left[best] / left[best, column]
        left = np.delete(left, best, axis=0)
        left = left - np.outer(left[:, column], pivot)
        found = [row - row[column] * pivot for row in found]
        found.append(pivot)
    ordered = np.array(found[::-1]).reshape(-1, rows.shape[1])
    return tidy(ordered)


def tidy(matrix: Array, *, tolerance: float = _ROUNDING) -> Array:
    """Entries that only rounding keeps from integers made exact."""
    near = np.round(matrix)
    return np.where(np.abs(matrix - near) < tolerance, near + 0.0, matrix)


def words(coefficients: Array, names: tuple[str, ...], *, digits: int = 6) -> str:
    """A linear combination as text.

    >>> words(np.array([1.0, 0.0, -0.5]), ("a", "b", "c"))
    'a - 0.5 c'
    """
    text = ""
    for value, name in zip(coefficients, names, strict=True):
        if value:
            size = "" if abs(abs(value) - 1) < 1e-9 else f"{abs(value):.{digits}g} "
            sign = (" - " if value < 0 else " + ") if text else ("-" if value < 0 else "")
            text += f"{sign}{size}{name}"
    return text or "0"
