"""Numbers as they are given, or an error that says what else was."""

from __future__ import annotations

import numpy as np

from cayley.errors import PlanningError
from cayley.geometry.batch import numbers
from cayley.wording import shown


def positive_seconds(value: float) -> float:
    """How long something takes."""
    found = numbers(value, "seconds")
    if found.ndim or not 0.0 < found < np.inf:
        raise PlanningError(f"a motion takes a time > 0 [s]; asked was for {shown(value)}")
    return float(found)
