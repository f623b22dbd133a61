"""A stride that ends as it began: the trunk's angle and rate for which it does, by Broyden's method.

The program of the legs says all but the trunk, which falls as an inverted pendulum does while it stands on one foot:
of all starts one comes back. Which errors grow from stride to stride is in the multipliers, the eigenvalues of the map
from one stride to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import GeometryError, UnsupportedError
from cayley.machines.walking.programmed_body import FLIGHT
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.machines.walking.stride import Stride

_MOST = 20
_CLOSE = 1e-11
_STEP = 1e-5  # rad and rad/s, of differences


@dataclass(frozen=True)
class RepeatingStride:
    """`status` "repeats", "not found", or "not held" of one that would repeat if no foot were unloaded or slid, which
    `message` names; `theta` [rad] and `rate` [rad/s] of the trunk at the start; `residual`
    by how much they differ after the stride; `multipliers` (2, complex), stable if all are within the unit circle;
    `start`, the whole state."""

    status: str
    message: str
    theta: float
    rate: float
    residual: float
    multipliers: Array
    iterations: int
    start: dict[str, Array]

    __repr__ = brief

    @property
    def is_stable(self) -> bool:
        return bool((np.abs(self.multipliers) < 1.0).all())


def repeating_stride(stride: Stride, theta: float, rate: float) -> RepeatingStride:
    if not stride.repeats or stride.phases[0][0] == FLIGHT:
        raise UnsupportedError("a stride that is sought by its trunk repeats, and begins with a foot on the ground")
    guess = np.array([theta, rate])
    step = np.zeros(2)
    slope = np.zeros((2, 2))
    left = np.full(2, np.nan)
    for iteration in range(_MOST):
        left = _after(stride, guess) - guess
        if not np.isfinite(left).all():
            return _result(stride, "not found", "the stride that was tried last has no end", guess, left, iteration)
        if np.abs(left).max() < _CLOSE * (1.0 + np.abs(guess).max()):
            return _walked(stride, guess, left, iteration)
        # Broyden's: what the last step has left shows how the map bends
        slope = slope + np.outer(left, step) / (step @ step) if iteration else _map(stride, guess) - np.eye(2)
        step = -np.linalg.solve(slope, left)
        guess = guess + step
    return _result(stride, "not found", f"after {_MOST} steps the stride still ends otherwise than it began", guess,
                   left, _MOST)


def _walked(stride: Stride, start: Array, left: Array, iterations: int) -> RepeatingStride:
    """A stride that repeats with feet that are held, tried with feet that are not."""
    try:
        run = stride.system.simulate(stride.start(*start), until=stride.duration, progress=False)
    except GeometryError as error:
        return _result(stride, "not held", str(error), start, left, iterations)
    status = "repeats" if run.finished else "not held"
    return _result(stride, status, "the stride ends as it began" if run.finished else run.message, start, left,
                   iterations)


def _map(stride: Stride, start: Array) -> Array:
    """How the trunk after a stride depends on the trunk before (2, 2)."""
    return np.stack([(_after(stride, start + way) - _after(stride, start - way)) / (2 * _STEP)
                     for way in _STEP * np.eye(2)], axis=1)


def _after(stride: Stride, start: Array) -> Array:
    """The trunk's angle and rate after a stride with feet that are held."""
    run = stride.held_system.simulate(stride.start(*start), until=stride.duration, rtol=1e-12, atol=1e-13,
                                      progress=False)
    return np.array([run.end["body"][2], run.end["rates"][2]]) if run.finished else np.full(2, np.nan)


def _result(stride: Stride, status: str, message: str, guess: Array, left: Array, iterations: int) -> RepeatingStride:
    found = np.full(2, np.nan) if status == "not found" else np.linalg.eigvals(_map(stride, guess))
    multipliers = found.astype(complex)  # which NumPy before 2.5 gives only where one is not real
    return RepeatingStride(status, message, float(guess[0]), float(guess[1]), float(np.abs(left).max()), multipliers,
                           iterations, stride.start(*guess))
