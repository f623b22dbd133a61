"""What users give to the closed forms of machines: finite or not, but of the right shape."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, SignatureError


def batch_of(what: str, given: ArrayLike, core: tuple[int, ...]) -> Array:
    """Numbers (..., *core), or an error that says which they should have been.

    >>> batch_of("crank angles", [0.0, 0.1], (3,))
    Traceback (most recent call last):
    cayley.errors.SignatureError: crank angles have the shape (..., 3), not (2,)
    """
    values = np.asarray(given, dtype=float)
    if values.shape[values.ndim - len(core):] != core or values.ndim < len(core):
        raise SignatureError(f"{what} have the shape (..., {', '.join(map(str, core))}), not {values.shape}")
    return values


def data(what: str, given: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Finite numbers that a machine is made of, of one shape."""
    values = np.array(given, dtype=float)
    if values.shape != shape or not np.isfinite(values).all():
        raise ModelError(f"{what} are finite numbers of the shape {shape}, not {values.shape}")
    return values
