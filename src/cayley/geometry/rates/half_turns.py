"""The times at which an attitude is half a turn away from its reference: crossed, or touched on the way back.

They are the zeros of the scalar part w of a unit homogeneous form [w : v] that is continuous in time. Where w changes
its sign a half-turn is crossed; where |w| goes down to zero and up again it is touched. An integrated w is known to
some 1e-10 only, so that a touch may look like a near miss, or like two crossings: where |w| stays below `nearest` in
between they are one half-turn: where the rate of w, if that is known, is zero, or else in the middle.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.typing import Array


def half_turns_of(w: Callable[[Array], Array], grid: Array, *, nearest: float,
                  rate: Callable[[float], float] | None = None) -> Array:
    """The zeros of `w` in the order of the grid, which is fine enough that w has at most one between two neighbours.
    `rate` is that of w, to any factor that keeps its sign."""
    values = w(grid)
    found = [*_crossed(w, grid, values), *_touched(w, grid, values, nearest, rate)]
    ordered = sorted(found, key=lambda t: abs(t - grid[0]))
    return np.array(_distinct(w, ordered, nearest, rate))


def _turning(rate: Callable[[float], float] | None, low: float, high: float, otherwise: float) -> float:
    """Where the rate changes its sign between two times, if it does."""
    from scipy.optimize import brentq
    if rate is None or not rate(low) * rate(high) < 0:
        return otherwise
    return float(brentq(rate, low, high, xtol=1e-14, rtol=8.9e-16))


def _crossed(w: Callable[[Array], Array], grid: Array, values: Array) -> list[float]:
    from scipy.optimize import brentq  # only those who integrate should wait for it
    return [float(brentq(lambda t: float(w(np.array([t]))[0]), grid[k], grid[k + 1], xtol=1e-14, rtol=8.9e-16))
            for k in np.flatnonzero(values[:-1] * values[1:] < 0)]


def _touched(w: Callable[[Array], Array], grid: Array, values: Array, nearest: float,
             rate: Callable[[float], float] | None) -> list[float]:
    """The least |w| around each point of the grid that is nearer to zero than its neighbours and on the same side of
    it, if it is as good as zero."""
    from scipy.optimize import minimize_scalar
    size = np.abs(values)
    found = [float(t) for t in (grid[0], grid[-1]) if abs(float(w(np.array([t]))[0])) <= nearest]
    nearer = [(size[1:-1] <= size[beside]) & (values[1:-1] * values[beside] >= 0)
              for beside in (slice(None, -2), slice(2, None))]
    for k in np.flatnonzero(nearer[0] & nearer[1]) + 1:
        low, high = sorted((float(grid[k - 1]), float(grid[k + 1])))
        best = minimize_scalar(lambda t: abs(float(w(np.array([t]))[0])), bounds=(low, high), method="bounded",
                               options={"xatol": 1e-12})
        place = min((float(best.x), float(grid[k])), key=lambda t: abs(float(w(np.array([t]))[0])))
        if abs(float(w(np.array([place]))[0])) <= nearest:
            found.append(_turning(rate, low, high, place))
    return found


def _distinct(w: Callable[[Array], Array], times: list[float], nearest: float,
              rate: Callable[[float], float] | None) -> list[float]:
    """One time for each half-turn: between two of them w has been away from zero."""
    kept: list[tuple[float, float]] = []
    for t in times:
        if kept and np.abs(w(np.linspace(kept[-1][1], t, 9))).max() <= nearest:
            kept[-1] = kept[-1][0], t
        else:
            kept.append((t, t))
    return [_turning(rate, first, last, first + (last - first) / 2) for first, last in kept]
