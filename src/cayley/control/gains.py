"""Gains of laws, checked, and integral action.

    dz/dt = e        the law adds ki z
The integral stands still as long as ki z is at its limit and the error would drive it further; without a limit a drive
that saturates winds it up. An error that is not finite is not integrated. Source: Yamamoto (6.28), spec S3-43, S3-51.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Text
from cayley.control.arms import numbers_of
from cayley.control.signals import finite_or
from cayley.errors import SignatureError
from cayley.systems import Block, Record
from cayley.wording import shown


class IntegralAction(NamedTuple):
    """The parts of a system that integral action adds to a law; empty and none without a gain."""

    state: dict[str, Block]
    gains: dict[str, Array]
    derivative: Text | None

    def added(self, wanted: Array, x: Record, p: Record) -> Array:
        """The sum of what a law wants and ki z; a text."""
        return wanted + p.ki * x.integral if self.state else wanted


def integral_action(ki: ArrayLike | None, wind_up: ArrayLike | None, count: int,
                    error: Callable[[Record, Record], Array], *, signed: bool = False) -> IntegralAction:
    """Integral action on an `error(u, p)` (count), a text of inputs and parameters."""
    gains = integral_gains(ki, wind_up, count, signed=signed)
    return IntegralAction(integral_state(ki, count), gains, None if ki is None else lambda t, x, u, p: integral_rate(
        error(u, p), x.integral, p.ki, p.wind_up))


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


def gains_of(values: ArrayLike, count: int, name: str, *, signed: bool = False) -> Array:
    """Gains (count), given one by one or as one for all; not negative, unless they are `signed`, as those in volts are
    behind negative gears."""
    given = numbers_of(values, f"the gains {name}")
    if given.shape not in ((), (count,)) or not np.isfinite(given).all():
        raise SignatureError(f"the gains {name} are finite numbers, ({count}) or one for all, not {shown(values)}")
    if not signed and (given < 0).any():
        raise SignatureError(f"the gains {name} are not negative, or the law would drive away from its target; given "
                             f"were {shown(values)}")
    return np.array(np.broadcast_to(given, (count,)))


def positive_gains_of(values: ArrayLike, count: int, name: str, *, zero: bool = False) -> Array:
    """Gains (count) on which a proof of stability rests: more than zero, or at least zero."""
    given = gains_of(values, count, name, signed=True)
    if not ((given >= 0) if zero else (given > 0)).all():
        raise SignatureError(f"the gains {name} are {'not negative' if zero else 'positive'}, not {shown(values)}")
    return given


def matrix_of(values: ArrayLike, count: int, name: str, *, definite: bool = False) -> Array:
    """A symmetric matrix (count, count) without negative eigenvalues, given as one, by its diagonal, or as one number
    for all; an error says which of them `name` is not."""
    given = numbers_of(values, f"the {name}")
    if given.shape not in ((), (count,), (count, count)) or not np.isfinite(given).all():
        raise SignatureError(f"the {name} is finite numbers, one for all, ({count}) or ({count}, {count}), not "
                             f"{shown(values)}")
    matrix: Array = given if given.ndim == 2 else np.diag(np.broadcast_to(given, (count,)))
    if not np.allclose(matrix, matrix.T, rtol=1e-12, atol=0.0):
        raise SignatureError(f"the {name} is a symmetric matrix, not {shown(values)}")
    least = float(np.linalg.eigvalsh(matrix).min())
    if least < -1e-12 * np.abs(matrix).max() or (definite and least <= 0):
        raise SignatureError(f"the {name} is {'positive' if definite else 'not negative'} in every direction; of "
                             f"{shown(values)} an eigenvalue is {least:.3g}")
    return np.array(matrix)
