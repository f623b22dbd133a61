"""Numbers of parts that must be finite, and not absurdly large."""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.tracing.symbols import Symbols
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, shown

LARGEST = 1e30  # nothing in a robot has this size in SI units


def check_finite(part: object, what: str) -> None:
    """Raise if a number among the fields of a part is not finite, or absurdly large; `what` it is."""
    for name, value in vars(part).items():
        if isinstance(value, (int, float)) and not -LARGEST <= value <= LARGEST:
            raise ModelError(
                f"the {name} of a {what} is {shown(value)}: it must be a finite number that is not absurdly large")


def frozen(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """A read-only array of finite floats of the given shape; symbols stay what they are."""
    if is_symbolic(values):
        return np.asarray(values, dtype=object).reshape(shape).view(Symbols)
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what} must be numbers of shape {shape}, not {shown(values)}") from error
    if array.shape != shape or not np.isfinite(array).all():
        raise ModelError(f"{what} must be finite numbers of shape {shape}, not {shown(values)}")
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise ModelError(f"{what} has the entry {np.abs(array).max():g}, which is absurdly large; the units are SI")
    array.flags.writeable = False
    return array
