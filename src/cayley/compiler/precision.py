"""The working precisions, and which one a call computes in: one rule for every backend."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.algebras.foreign_symbols import instead_of
from cayley.compiler.typing import Array, ArrayLike, DTypeLike
from cayley.errors import UnsupportedError

PRECISION = {"float64": "double", "float32": "float"}
"""By NumPy's name, and by LLVM's and C's."""


def dtype_name(dtype: DTypeLike) -> str:
    """NumPy's name of a type that can be computed in."""
    name = np.dtype(dtype).name
    if name not in PRECISION:
        raise UnsupportedError(f"kernels compute in float64 or float32, not in {name}")
    return name


def computed_in(function: str, labels: Sequence[str], arguments: Sequence[ArrayLike], arrays: Sequence[Array],
                dtype: DTypeLike | None = None) -> str:
    """The precision of a call: the requested one, else float32 if every argument is float32 or float16 (Python numbers
    adapt), else float64. The arrays, of any library, are those made of the arguments."""
    for label, array in zip(labels, arrays, strict=True):
        if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
            first = next(iter(getattr(array, "flat", ())), None) if array.dtype.kind == "O" else None
            instead = instead_of(first, function)
            given = "text" if array.dtype.kind in "US" else array.dtype
            raise UnsupportedError(f"argument {label!r} of {function} is {given}: kernels take real numbers that "
                                   f"fit into float64{instead and f'; {instead}'}")
    if dtype is not None:
        return dtype_name(dtype)
    fixed = [array.dtype for argument, array in zip(arguments, arrays, strict=True) if not adapts(argument)]
    small = bool(fixed) and all(d.kind == "f" and d.itemsize <= 4 for d in fixed)
    return "float32" if small else "float64"


def adapts(argument: ArrayLike) -> bool:
    """True if this is a number of Python, which takes the type of the arrays beside it, as in NumPy."""
    return isinstance(argument, (int, float)) and not isinstance(argument, np.generic)
