"""Events: functions of time and state that are watched for changes of sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from cayley.errors import ConventionError, SignatureError

_GRID = 2.0 ** np.arange(-44.0, 0.25, 0.25)  # of a step: dense where it begins
_DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}


@dataclass(frozen=True)
class Event:
    """Something to watch for: `function(t, q, qd)` changes its sign.

    `direction`: "rising", "falling" or "both". `action`: "end" the simulation or "record" it and go on. `effect(t, q, qd) -> (q, qd)`, if
    given, changes the state there and then; effects that follow each other ever faster are an event storm, and end the simulation.
    An event that starts from zero happens when it comes back.
    """

    name: str
    function: Callable[[float, np.ndarray, np.ndarray], float]
    direction: str = "both"
    action: str = "end"
    effect: Callable[[float, np.ndarray, np.ndarray], tuple[Any, Any]] | None = None

    def __post_init__(self) -> None:
        if self.direction not in _DIRECTIONS:
            raise ConventionError(f"the direction of event {self.name!r} is {self.direction!r}: it is one of {', '.join(_DIRECTIONS)}")
        if self.action not in ("end", "record"):
            raise ConventionError(f'the action of event {self.name!r} is {self.action!r}: it is "end" or "record"')

    def value(self, t: float, q: np.ndarray, qd: np.ndarray) -> float:
        found = np.asarray(self.function(t, q, qd), dtype=float)
        if found.size != 1:
            raise SignatureError(f"event {self.name!r} must be a number; its function returned the shape {found.shape}")
        return float(found.reshape(()))

    @property
    def sign(self) -> int:
        return _DIRECTIONS[self.direction]


def crossings(before: np.ndarray, after: np.ndarray, signs: Sequence[int]) -> np.ndarray:
    """Which functions have changed their sign, in the directions asked for; one that starts from zero has not."""
    rising = (before < 0) & (after >= 0)
    falling = (before > 0) & (after <= 0)
    asked = np.asarray(signs, dtype=int)
    return np.flatnonzero((rising & (asked >= 0)) | (falling & (asked <= 0)))


def instant(function: Callable[[float], float], start: float, stop: float, *, from_zero: bool = False) -> float:
    """Where a function changes its sign between two times, to the last digit.

    One that starts from zero, or from the wrong side, may have left it before: then the first change on a fine grid counts; if there is
    none, it is now.
    """
    low, high = 0.0 if from_zero else function(start), function(stop)
    if high == 0:
        return stop
    if low == 0 or (low > 0) == (high > 0):
        times = start + (stop - start) * _GRID
        same_side = np.array([function(t) * high for t in times]) >= 0
        if same_side.all():
            return start
        away = int(np.argmin(same_side))
        back = away + int(np.argmax(same_side[away:]))
        start, stop = times[back - 1], times[back]
    rounding = 4 * float(np.finfo(float).eps)
    return float(brentq(function, start, stop, xtol=rounding * max(abs(start), abs(stop), 1e-300), rtol=rounding))
