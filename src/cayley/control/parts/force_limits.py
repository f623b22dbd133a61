"""Limits of forces that a law knows of, so that what it remembers does not wind up while its drives saturate."""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.control.arms import numbers_of
from cayley.control.parts.signals import finite_or
from cayley.errors import SignatureError
from cayley.wording import shown


def force_limits(limits: ArrayLike | None, count: int) -> Array:
    """The limits (count) [N m, N], given one by one or as one for all; infinite if there are none."""
    most = numbers_of(np.inf if limits is None else limits, "the limits of forces")
    if most.shape not in ((), (count,)) or not (most > 0).all():
        raise SignatureError(f"the limits of forces are positive, ({count}) or one for all, not {shown(limits)}")
    return np.array(np.broadcast_to(most, (count,)))


def within(wanted: Array, limits: Array) -> Array:
    """The forces that act (n): those wanted, or the limit beyond which they are; zero for what is not finite; a text.

    >>> within(np.array([3.0, -9.0, np.nan]), np.array([4.0, 4.0, 4.0]))
    array([ 3., -4.,  0.])
    """
    return finite_or(np.minimum(np.maximum(wanted, -limits), limits), 0.0)


def is_within(wanted: Array, limits: Array) -> Scalar:
    """One if every force can act as it is wanted, zero if one saturates or is not a number; a text.

    >>> is_within(np.array([3.0, -9.0]), np.array([4.0, 4.0]))
    np.float64(0.0)
    """
    return np.prod(where(abs(wanted) <= limits, 1.0, 0.0))
