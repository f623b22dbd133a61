"""Numbers as they are given, or an error that says what else was."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError, SignatureError
from cayley.wording import shown


def numbers(value: ArrayLike, what: str) -> Array:
    """A new array of real numbers.

    >>> numbers(["one", 2], "the times")
    Traceback (most recent call last):
    cayley.errors.SignatureError: the times are real numbers, not ['one', 2]
    """
    try:
        found = np.array(value)
        if found.dtype.kind in "fiub" or value is None:
            return found.astype(float, order="C", copy=False)
    except ValueError:  # rows of different lengths
        pass
    raise SignatureError(f"{what} are real numbers, not {shown(value)}")


def positive_seconds(value: float) -> float:
    """How long something takes."""
    found = numbers(value, "seconds")
    if found.ndim or not 0.0 < found < np.inf:
        raise PlanningError(f"a motion takes a time > 0 [s]; asked was for {shown(value)}")
    return float(found)
