"""Arrays that a user gives to a network: of the right shape and finite, or refused by what they are."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError
from cayley.geometry.batch import tolerance_of
from cayley.geometry.rotations.matrix import rotation_defect
from cayley.model.parts import frozen
from cayley.wording import shown


def given_array(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """An array of this shape and of finite numbers; symbols of any algebra are as they are."""
    array = np.asarray(values) if np.ndim(values) == len(shape) else None
    if array is not None and array.dtype == object and array.shape == shape and not _has_text(array):
        return array
    return frozen(values, shape, what)


def given_rotation(values: ArrayLike, what: str) -> Array:
    """Axes (3, 3): a rotation."""
    array = given_array(values, (3, 3), what)
    if array.dtype != object:
        defect = float(rotation_defect.reference(array))
        if not defect <= tolerance_of(values):
            raise ModelError(f"{what} are no rotation, which they miss by {defect:.2g}: {shown(values)}")
    return array


def _has_text(array: Array) -> bool:
    return any(isinstance(entry, str) or entry is None for entry in array.flat)
