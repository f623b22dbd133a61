"""Arrays that a user gives to a network: of the right shape and finite, or refused by what they are.

The operator of an active component: W = P d/dt + Q, from an across variable to the through variable that it takes.

    W x = P x' + Q x
    T^T W T = (T^T P T) d/dt + T^T (P T' + Q T)        seen through a transformer x = T z, which may change with time
The derivative stands on the right of every matrix: T' is left over when it is moved past T (the product rule).
Source: Tokad (4), (22)-(24).
"""

from __future__ import annotations

from typing import NamedTuple

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


class Operator(NamedTuple):
    """P d/dt + Q, with P (n, n) and Q (n, n).

    >>> import numpy as np
    >>> spin = Operator(np.diag([2.0, 1.0]), np.zeros((2, 2)))
    >>> spin(np.array([1.0, 3.0]), np.array([0.5, 0.0]))
    array([1., 0.])
    """

    P: Array
    Q: Array

    def __call__(self, x: Array, xd: Array) -> Array:
        """W x of an across variable (n) and its rate."""
        return self.P @ xd + self.Q @ x

    def through(self, T: Array, Td: Array) -> Operator:
        """T^T W T, for a transformer T (n, k) and its rate."""
        return Operator(T.T @ self.P @ T, T.T @ (self.P @ Td + self.Q @ T))
