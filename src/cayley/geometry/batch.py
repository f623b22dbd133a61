"""Checks of a batch: how exact the numbers are, which element fails first, and how to name it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import CayleyError, GeometryError, SignatureError, shown

TOLERANCE = {np.dtype(np.float32): 1e-4, np.dtype(np.float16): 1e-2}
"""How far numbers of these types may be from a unit length, from orthogonal, skew or symmetric; 1e-8 for all other
types.

It is one number for every check, so that what one check admits no other refuses. What makes a rotation of parameters
(an axis, a quaternion, a spinor) divides their rest away, so that it gives a rotation to the last digit; what composes
adds the defects of its factors."""


def tolerance_of(values: ArrayLike | None, tolerance: float | None = None) -> float:
    """The asked tolerance, or what the type of the numbers deserves."""
    return TOLERANCE.get(np.asarray(values).dtype, 1e-8) if tolerance is None else tolerance


def rounding_of(values: ArrayLike) -> float:
    """The relative rounding of the numbers, in what kernels compute with them."""
    return float(np.finfo(float_array(values).dtype).eps)


def above_rounding(tolerance: float, *data: ArrayLike) -> float:
    """A relative tolerance, or 16 times the rounding of the coarsest of the numbers where that is more."""
    return max(tolerance, *(16 * rounding_of(each) for each in data))


def least_exact(n: int, *data: ArrayLike) -> float:
    """Singular values of matrices of n columns up to this are zero beside the largest, for the coarsest of the given
    numbers."""
    return max(least_singular(n, float_array(each).dtype, exact=True) for each in data)


def digits_of(values: ArrayLike, tolerance: float | None = None) -> float:
    """The asked tolerance, or 4500 times the rounding of the numbers: 1e-12, and 5e-4 for float32."""
    return 4500 * rounding_of(values) if tolerance is None else tolerance


def numbers(value: ArrayLike, what: str) -> Array:
    """A new array of real numbers.

    >>> numbers(["one", 2], "the times")
    Traceback (most recent call last):
    cayley.errors.SignatureError: the times must be real numbers, not ['one', 2]
    """
    try:
        found = np.array(value)
        if found.dtype.kind in "fiub" or value is None:
            return found.astype(float, order="C", copy=False)
    except ValueError:  # rows of different lengths
        pass
    raise SignatureError(f"{what} must be real numbers, not {shown(value)}")


def float_array(values: ArrayLike) -> Array:
    """An array of float32 if the values are that (or less), of float64 otherwise, as kernels take arguments."""
    array = np.asarray(values)
    small = array.dtype.kind == "f" and array.dtype.itemsize <= 4
    return array.astype(np.float32 if small else np.float64, copy=False)


def real_array(values: ArrayLike, shape: tuple[int | None, ...], what: str) -> Array:
    """The values as float64 in an array of that shape (None: any length), or `GeometryError`."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "fiub":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise GeometryError(f"{what} must be made of real numbers, not {values!r}") from None
    if len(array.shape) != len(shape) or any(wanted not in (None, found)
                                             for found, wanted in zip(array.shape, shape, strict=True)):
        words = ", ".join("n" if size is None else str(size) for size in shape)
        raise GeometryError(f"{what} must have shape ({words}), not {array.shape}")
    return array


def shaped(values: ArrayLike, core: tuple[int, ...], what: str, note: str = "") -> Array:
    """The values as an array (..., *core), or `GeometryError` that says what has which shape."""
    array = np.asarray(values)
    if array.shape[-len(core):] != core:
        raise GeometryError(f"{what} must have shape (..., {', '.join(map(str, core))}){note}, not {array.shape}")
    return array


def first_failure(good: ArrayLike) -> tuple[int, ...] | None:
    """The index of the first element that is not good, or None."""
    if np.ndim(good) == 0:
        return None if good else ()
    return None if np.all(good) else tuple(int(i) for i in np.argwhere(~np.asarray(good))[0])


def refuse(good: ArrayLike, message: Callable[[tuple[int, ...]], str],
           error: type[CayleyError] = GeometryError) -> None:
    """Raise an error for the first element of a batch that is not good; `message` is made of its index."""
    bad = first_failure(good)
    if bad is not None:
        raise error(message(bad))


def place(index: tuple[int, ...]) -> str:
    """The element of a batch in words, to stand after a noun: nothing for a single value."""
    if not index:
        return ""
    return f" {index[0]} of the batch" if len(index) == 1 else f" {index} of the batch"
