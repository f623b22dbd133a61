"""Motions that are given by a function of time, differentiated by the compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, Scalar
from cayley.errors import PlanningError
from cayley.planning.motion import ROUNDING, Derivatives, Motion

_CELLS = 2048
_MOST_CELLS = 1 << 18
_JUMP = 1e-6  # of the greatest value of a derivative
_COARSE = 1e-3  # what is less than this, and shrinks with the interval, is smooth
_SHRINKS = 0.15


@dataclass(frozen=True, eq=False, repr=False)
class FunctionOfTime(HoldsFunctions, Motion):
    """The positions `function(t)` (n), written with NumPy for one time, from `start` to `end` [s]. Velocity,
    acceleration and jerk are its derivatives. Its `breaks` are found by looking: where one of them jumps, as at a
    corner of `abs`.

    >>> swing = FunctionOfTime(lambda t: np.stack([np.sin(t), np.cos(2.0 * t)]), 0.0, 3.0)
    >>> swing(0.0).qd
    array([ 1., -0.])
    >>> FunctionOfTime(lambda t: np.stack([t, abs(t - 0.3)])).breaks
    array([0. , 0.3, 1. ])
    """

    function: Callable[[Scalar], Array]
    start: float = 0.0
    end: float = 1.0

    def __post_init__(self) -> None:
        if not -np.inf < self.start < self.end < np.inf:
            raise PlanningError(f"a motion ends after its start, both finite; given were {self.start:g} and "
                                f"{self.end:g}")

    @cached_property
    def breaks(self) -> Array:
        return np.array([self.start, *_jumps(self._values, self.start, self.end), self.end])

    def __repr__(self) -> str:
        return f"<motion of {self.nq} coordinates from {self.start:g} to {self.end:g} s: {type(self).__name__}>"

    @cached_property
    def nq(self) -> int:
        return int(np.size(self.function(float(self.start))))

    def _text(self, t: Scalar) -> Derivatives:
        return self._differentiated(t)

    @cached_property
    def _differentiated(self) -> Kernel[Derivatives]:
        n = self.nq

        def text(t: Scalar) -> Derivatives:
            t = independent(t)
            found = [np.reshape(self.function(t), (n,))]
            for _ in range(3):
                found.append(jacobian(found[-1], t))
            return tuple(found)  # type: ignore[return-value]

        return kernel(f"()->({n}),({n}),({n}),({n})", name="motion", inputs=["t"],
                      outputs=["q", "qd", "qdd", "qddd"])(text)

    @property
    def _kernel(self) -> Kernel[Derivatives]:
        return self._differentiated


def _jumps(values: Callable[[Array], Derivatives], start: float, end: float) -> Array:
    """The times at which a function or one of its three derivatives jumps: intervals over which a derivative does not
    grow by the integral of the next one are halved until nothing is between their ends. Of a smooth function they are
    soon gone."""
    edges = np.linspace(start, end, _CELLS + 1)
    left, right, before = edges[:-1], edges[1:], np.full((_CELLS, 4), np.inf)
    scales = [np.abs(np.where(np.isfinite(part), part, 0.0)).max() for part in values(edges)]
    found: list[Array] = []
    nothing = 1e-30 * max(abs(start), abs(end))
    while len(left):
        if len(left) > _MOST_CELLS:
            raise PlanningError(f"the function changes too fast near t = {left[len(left) // 2]:g} to be looked at for "
                                "corners: give it in shorter pieces, one after the other with `then`")
        middle = 0.5 * (left + right)
        is_last = (middle <= left) | (middle >= right) | (right - left < nothing)
        found.append(right[is_last])
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = _unexplained([values(t) for t in (left, middle, right)], right - left, scales)
        rough = ~((gaps <= _JUMP) | ((gaps < _COARSE) & (gaps < _SHRINKS * before))).all(axis=1) & ~is_last
        left, right = np.concatenate([left[rough], middle[rough]]), np.concatenate([middle[rough], right[rough]])
        before = np.concatenate([gaps[rough]] * 2)
    slack = ROUNDING * (end - start)
    places = np.sort(np.concatenate(found))
    places[np.abs(places) < 2.0 * nothing] = 0.0
    places = places[(places > start + slack) & (places < end - slack)]
    return places[np.diff(places, prepend=-np.inf) > slack]


def _unexplained(at: list[Derivatives], steps: Array, scales: list[float]) -> Array:
    """The growth of the values of each order (k, 4) over intervals beyond the integral of the next order, by Simpson's
    rule; of the third, that beyond the growth of the second while rounding lets it be seen, and then its own growth. In
    parts of the greatest values."""
    orders = [np.stack(order) for order in zip(*at, strict=True)]
    size = [np.maximum(np.abs(order).max(axis=(0, 2)), scale) + 1e-300
            for order, scale in zip(orders, scales, strict=True)]
    gaps = np.zeros((len(steps), 4))
    for k in range(3):
        (a, _, b), (da, dm, db) = orders[k:k + 2]
        gaps[:, k] = np.abs(b - a - steps[:, None] * (da + db + 4.0 * dm) / 6.0).max(axis=1) / size[k]
    growth = np.abs(np.diff(orders[3], axis=0)).max(axis=(0, 2)) / size[3]
    (a, m, b), (da, _, db) = orders[2:]
    middle = np.abs(m - 0.5 * (a + b) - steps[:, None] * (da - db) / 8.0).max(axis=1)  # of the cubic with these ends
    seen = np.maximum(gaps[:, 2] * size[2], middle) / (steps * size[3] + 1e-300)
    is_lost = steps * size[3] * _JUMP < 1e4 * np.finfo(float).eps * size[2]
    gaps[:, 3] = np.where(is_lost, np.where(growth > _COARSE, growth, 0.0), np.minimum(growth, seen))
    gaps[~np.isfinite(at[1][0]).all(axis=1)] = 0.0
    return gaps
