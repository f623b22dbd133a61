"""Impacts at stops, with restitution.

An impact is an impulse on the coordinates that hit: those leave with -e times the speed they came with, those that rest
stay at rest, and no impulse pulls. What leaves slower than `REST_SPEED` rests: a ball that bounces ever faster comes to
an end, and so do two joints that knock each other off their stops. Source: Newton's law of restitution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array
from cayley.systems.friction_and_stops import REST_SPEED, Stop

_DEPENDENT = 1e-12  # of the largest: joints that constraints tie together are struck as one


@dataclass
class Impacts:
    """The stops of a system, whose coordinates are places in the state, and the restitution (n) of each velocity."""

    stops: list[Stop]
    restitution: Sequence[float]

    def touches(self, stop: Stop, x: Array) -> bool:
        """True if a state touches a stop."""
        return bool(stop.n * (x[stop.coordinate] - stop.limit) <= stop.tolerance)

    def any(self, x: Array, v: Array) -> bool:
        """True if a state with the velocities v (n) strikes a stop."""
        return any(stop.n * v[stop.column] < 0 and self.touches(stop, x) for stop in self.stops)

    def hit(self, x: Array, v: Array, compliance: Array, held: Array) -> tuple[Array, list[Stop]]:
        """Resolve all that touches: the velocity (n) after impacts, and the stops that were struck.

        `compliance`: what impulses do to velocities (n, n), the inverse of the inertia matrix of an open tree.
        `held`: the velocities (n) that rest; those at stops take part.
        """
        struck: list[Stop] = []
        for _ in range(2 * len(self.stops) + 1):
            now = [s for s in self.stops if self.touches(s, x) and s.n * v[s.column] < 0]
            if not now:
                break
            struck += now
            others = [s for s in self.stops if held[s.column] and self.touches(s, x) and s not in now]
            v = self._impact(v, compliance, now, others)
        return v, struck

    def _impact(self, v: Array, W: Array, struck: list[Stop], resting: list[Stop]) -> Array:
        """The velocity (n) after an impact at `struck`; of those that rest, none is pulled, but where it would leave
        slowly."""
        others = resting
        slow = list[Stop]()
        while True:
            acting = [*struck, *others]
            columns = [s.column for s in acting]
            n = np.array([s.n for s in acting])
            wanted = np.array([self._rebound(s.column, v) for s in struck] + [0.0 for _ in others])
            impulse = np.linalg.lstsq(W[np.ix_(columns, columns)], wanted - v[columns], rcond=_DEPENDENT)[0]
            pulling = [
                s for s, push in zip(acting, n * impulse, strict=True) if push < 0 and s in others and s not in slow]
            after = v + W[:, columns] @ impulse
            after[columns] = wanted
            leaving = [s for s in resting if s not in others and 0 < s.n * after[s.column] < REST_SPEED]
            if not pulling and not leaving:
                return after
            slow += [] if pulling else leaving
            others = [s for s in (others if pulling else [*others, *leaving]) if s not in pulling]

    def _rebound(self, column: int, v: Array) -> float:
        rebound = -self.restitution[column] * v[column]
        return float(rebound) if abs(rebound) > REST_SPEED else 0.0
