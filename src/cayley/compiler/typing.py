"""The types of signatures: what algorithm texts take and give, and what users give.

    Array        what a text computes with: a NumPy array of floats, graph nodes, SymPy symbols, mpmath numbers ...
    Scalar       one of these
    ArrayLike    what a user gives: an array, a number, lists of numbers
    FieldArray   a field that is given as ArrayLike and holds an Array
    DTypeLike    float64 or float32, in any of the ways in which NumPy is told a type
    Text         an algorithm: a function of arrays
    Result       what a kernel gives: an array, unless its text gives a named tuple of several
    FrameName    the name of a body or of a frame on one
    TaskRows     "pose", "position", "orientation", letters of a position ("xy"), or which of (x, y, z; x, y, z), six
                 truth values
    Axes         "world" (the root's), "body" (the frame's own), or the name of a frame
    Convention   of a Denavit-Hartenberg table: "standard" (distal) or "modified" (proximal)"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import DTypeLike

# The type of an array's elements decides what a text does, and is not known when it is written.
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
# Floats, nodes and symbols share operators and NumPy's functions, but no class; a protocol would shut out np.sin.
Scalar: TypeAlias = Any
# Dataclasses cannot say that a field is converted: it takes what a user gives, and holds an array.
FieldArray: TypeAlias = Any
# A text for one state: its arguments are as many as its signature has inputs, its results as many as it has outputs.
Text: TypeAlias = Callable[..., Any]
FrameName: TypeAlias = str
TaskRows: TypeAlias = str | Sequence[bool]
Axes: TypeAlias = Literal["world", "body"] | FrameName
Convention: TypeAlias = Literal["standard", "modified"]

if TYPE_CHECKING:
    # numbers alone: NumPy's public ArrayLike takes texts as well
    from numpy._typing import _ArrayLikeNumber_co as ArrayLike
    from typing_extensions import TypeVar

    Result = TypeVar("Result", default=Array, covariant=True)
else:
    from typing import TypeVar

    from numpy.typing import ArrayLike

    Result = TypeVar("Result", covariant=True)  # defaults are of Python 3.13

__all__ = ["Array", "ArrayLike", "Axes", "Convention", "DTypeLike", "FieldArray", "FrameName", "Result", "Scalar",
           "TaskRows", "Text", "is_finite_number"]


def is_finite_number(given: object) -> TypeGuard[float]:
    """True if a user has given one finite number: no text, no list, no truth value.

    >>> [is_finite_number(each) for each in (0.1, np.float32(2), "0.1", True, [0.1], float("nan"), None)]
    [True, True, False, False, False, False, False]
    """
    value = given[()] if isinstance(given, np.ndarray) and given.ndim == 0 else given
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and bool(np.isfinite(float(value)))
