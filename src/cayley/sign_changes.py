"""Changes of sign of a function along a step of a solver: when they happen, to the last digit of the time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from cayley.compiler.typing import Array

_NOW = 16  # units of rounding of a time: what comes back so soon has not been away
_GRID = 2.0 ** np.arange(-44.0, 0.25, 0.25)  # of a step: dense where it begins


def happenings(function: Callable[[float], float], times: Array, values: Array, sign: int, *,
               at_once: bool = False) -> list[float]:
    """The times at which a function changes its sign, in the direction asked for, given its values at some times of a
    step.

    A function that starts from zero has not changed its sign, unless its event is `at_once`; it does when it returns to
    zero. A function that only just goes through zero between the given times, and back, is found where its values turn.
    """
    times, values = _with_turns(function, times, values)
    found = []
    for k, (low, high) in enumerate(pairwise(values)):
        if (low < 0 <= high and sign >= 0) or (low > 0 >= high and sign <= 0):
            found.append(instant(function, times[k], times[k + 1]))
        elif k == 0 and low == 0 and high and sign * high >= 0:
            back = instant(function, times[0], times[1], from_zero=True)
            found += [back] if at_once or back - times[0] > _NOW * np.spacing(abs(times[0])) else []
    return found


def loss(function: Callable[[float], float], times: Array, values: Array, tolerance: float) -> float | None:
    """The time at which a function that must not be negative becomes so, by more than a tolerance; it may have been at
    the start."""
    times, values = _with_turns(function, times, values)
    beyond = np.flatnonzero(values < -tolerance)
    if not len(beyond):
        return None
    fine = np.flatnonzero(values[:beyond[0]] > 0)
    if len(fine):
        return instant(function, times[fine[-1]], times[beyond[0]])
    return instant(function, times[0], times[beyond[0]], from_zero=True)


def _with_turns(function: Callable[[float], float], times: Array, values: Array) -> tuple[Array, Array]:
    """The times and values, and with them those where the function turns towards zero and is beyond it."""
    from scipy.optimize import minimize_scalar
    size = np.abs(values)
    found = list(zip(times.tolist(), values.tolist(), strict=True))
    for k in range(1, len(values) - 1):
        side = np.sign(values[k])
        around = (size[k - 1], size[k + 1])
        if (np.sign(values[k - 1:k + 2]) == side).all() and min(around) >= size[k] < max(around):
            width = times[k + 1] - times[k - 1]
            turn = minimize_scalar(lambda t, side=side: side * function(t), bounds=(times[k - 1], times[k + 1]),
                                   method="bounded", options={"xatol": 1e-9 * width})
            found += [(turn.x, side * turn.fun)] if turn.fun < 0 else []
    found.sort()
    return np.array([t for t, _ in found]), np.array([value for _, value in found])


def instant(function: Callable[[float], float], start: float, stop: float, *, from_zero: bool = False) -> float:
    """The time between two others at which a function changes its sign, to the last digit.

    One that starts from zero, or from the wrong side, may have left it before: then the first change on a fine grid
    counts; if there is none, it is now."""
    low = 0.0 if from_zero else function(start)
    high = function(stop)
    if high == 0:
        return stop
    if low == 0 or (low > 0) == (high > 0):
        times = start + (stop - start) * _GRID
        values = np.array([function(t) for t in times])
        at_zero = 2 * abs(function(start))  # what rounding has left of it
        same_side = values * high >= 0
        near = same_side | (np.abs(values) <= at_zero)
        if near.all():
            return start
        away = int(np.argmin(near))
        back = away + int(np.argmax(same_side[away:]))
        start = times[back - 1]
        stop = times[back]
    from scipy.optimize import brentq
    rounding = 4 * float(np.finfo(float).eps)
    return float(brentq(function, start, stop, xtol=rounding * max(abs(start), abs(stop), 1e-300), rtol=rounding))
