"""What the checks of a batch share: how exact the numbers are, which element fails first, and how to name it."""

from __future__ import annotations

from typing import Any

import numpy as np


def tolerance_of(values: Any, tolerance: float | None) -> float:
    """The asked tolerance, or what the type of the numbers deserves: 1e-4 for float32 and float16, 1e-8 for all others."""
    if tolerance is not None:
        return tolerance
    small = np.issubdtype(values.dtype, np.floating) and values.dtype.itemsize <= 4
    return 1e-4 if small else 1e-8


def first_failure(good: Any) -> tuple[int, ...] | None:
    """The index of the first element that is not good, or None."""
    if np.all(good):
        return None
    return tuple(int(i) for i in np.argwhere(~np.atleast_1d(good))[0]) if np.ndim(good) else ()


def place(index: tuple[int, ...]) -> str:
    """The element of a batch in words, to stand after a noun: nothing for a single value."""
    if not index:
        return ""
    return f" {index[0]} of the batch" if len(index) == 1 else f" {index} of the batch"
