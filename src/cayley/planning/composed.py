"""A path, and when it is where: q(s(t)). Motions that are slower, later, cut or reversed are composed too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import PlanningError
from cayley.planning.motion import ROUNDING, Derivatives, Motion, held


@kernel("(v),(v),(v),(),(),()->(v),(v),(v)", outputs=("qd", "qdd", "qddd"))
def chain_rule(first: Array, second: Array, third: Array, sd: Scalar, sdd: Scalar,
               sddd: Scalar) -> tuple[Array, Array, Array]:
    """Derivatives by the time of what is known by s, of which s', s'', s''' are given. Angular velocities in body axes
    follow the same rule.
    """
    return (first * sd, second * sd**2 + first * sdd, third * sd**3 + 3.0 * second * (sd * sdd) + first * sddd)


@dataclass(frozen=True, eq=False, repr=False)
class Composed(Motion):
    """The motion along a `path`, a motion whose time is the parameter s of the path, where `timing`, a motion of one
    coordinate, gives s at each time.

    >>> from cayley.planning.splines.polynomials import Polynomials, line
    >>> path = line(0.0, 1.0, [0.0, 0.0], [2.0, -1.0])
    >>> timing = Polynomials([0.0, 4.0], [[[0.0], [0.0], [3 / 16], [-1 / 32]]])
    >>> Composed(path, timing)([2.0, 4.0]).q
    array([[ 1. , -0.5],
           [ 2. , -1. ]])
    """

    path: Motion
    timing: Motion

    def __post_init__(self) -> None:
        if self.timing.nq != 1:
            raise PlanningError(f"the timing of a path has one coordinate, s; this has {self.timing.nq}")
        s = self.timing.position(np.unique([*self.timing.breaks, *np.linspace(self.start, self.end, 33)]))
        low, high = self.path.start, self.path.end
        slack = 1e3 * ROUNDING * max(abs(low), abs(high), high - low)
        if s.min() < low - slack or s.max() > high + slack:
            raise PlanningError(f"the timing leads from s = {s.min():g} to {s.max():g}; the path is from {low:g} to "
                                f"{high:g}")

    @property
    def start(self) -> float:
        return self.timing.start

    @property
    def end(self) -> float:
        return self.timing.end

    @property
    def nq(self) -> int:
        return self.path.nq

    @property
    def attitudes(self) -> tuple[int, ...]:
        return self.path.attitudes

    @property
    def breaks(self) -> Array:
        """Those of the timing, and when the breaks of the path are passed."""
        inner = self.path.breaks[1:-1]
        if not len(inner):
            return self.timing.breaks
        return np.unique(np.concatenate([self.timing.breaks, _passed(self.timing, inner)]))

    def _text(self, t: Scalar) -> Derivatives:
        s, *rates = (part[0] for part in self.timing._text(t))
        q, *along = self.path._text(held(s, self.path.start, self.path.end))
        return (q, *chain_rule(*along, *rates))

    def _values(self, t: Array) -> Derivatives:
        s, *rates = (part[..., 0] for part in self.timing._values(t))
        q, *along = self.path._values(np.clip(s, self.path.start, self.path.end))
        return (q, *chain_rule(*along, *rates))


def _passed(timing: Motion, places: Array) -> Array:
    """When a monotonous timing passes these places, by halving; places that it does not pass are left out."""
    low = np.full(len(places), timing.start)
    high = np.full(len(places), timing.end)
    ends = timing._values(np.array([timing.start, timing.end]))[0][:, 0]
    sign = 1.0 if ends[1] >= ends[0] else -1.0
    is_passed = (places > ends.min()) & (places < ends.max())
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_before = sign * (timing._values(middle)[0][:, 0] - places) < 0
        low = np.where(is_before, middle, low)
        high = np.where(is_before, high, middle)
    return high[is_passed]
