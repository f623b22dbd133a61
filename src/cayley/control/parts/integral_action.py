"""Integral action: the memory of a law that leaves no offset, with a limit to what it may wind up.

    dz/dt = e        the law adds ki z
The integral stands still as long as ki z is at its limit and the error would drive it further; without a limit a drive
that saturates winds it up. An error that is not finite is not integrated. Source: Yamamoto (6.28), spec S3-43, S3-51.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import gains_of, numbers_of
from cayley.control.parts.signals import finite_or
from cayley.errors import SignatureError
from cayley.systems.ports import Block
from cayley.wording import shown


def integral_state(ki: ArrayLike | None, count: int) -> dict[str, Block]:
    """The block `integral` (count) of a law that has integral action."""
    return {} if ki is None else {"integral": Block((count,), default=0.0)}


def integral_gains(ki: ArrayLike | None, wind_up: ArrayLike | None, count: int, *,
                   signed: bool = False) -> dict[str, Array]:
    """The parameters `ki` and `wind_up` of a law that has integral action."""
    if ki is None:
        if wind_up is not None:
            raise SignatureError("wind_up is a limit of integral action, which is there with a gain ki")
        return {}
    most = numbers_of(np.inf if wind_up is None else wind_up, "the limits wind_up")
    if most.shape not in ((), (count,)) or not (most > 0).all():
        raise SignatureError(f"the limits wind_up are positive, ({count}) or one for all, not {shown(wind_up)}")
    return {"ki": gains_of(ki, count, "ki", signed=signed), "wind_up": np.array(np.broadcast_to(most, (count,)))}


def integral_rate(error: Array, integral: Array, ki: Array, wind_up: Array) -> Array:
    """dz/dt (count); a text."""
    further = where(abs(ki * integral) >= wind_up, where(error * integral > 0, 0.0, error), error)
    return finite_or(further, 0.0)
