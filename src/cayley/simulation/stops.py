"""Joint limits as mechanical stops: impacts with restitution.

    n     +1 at a lower limit, -1 at an upper one: the direction in which a stop pushes
An impact is an impulse on the coordinates that hit: those leave with -e times the speed they came with, those that rest
stay at rest, and no impulse pulls. What leaves slower than `REST_SPEED` rests: a ball that bounces ever faster comes to
an end, and so do two joints that knock each other off their stops. How joints rest against their stops is in `rest`.
Source: Newton's law of restitution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.tree import Tree

REST_SPEED = 1e-4  # rad/s, m/s
TOUCHING = 1e-12  # rad, m
_DEPENDENT = 1e-12  # of the largest: joints that constraints tie together are struck as one


@dataclass
class Stop:
    """One side of one coordinate."""

    joint: str
    coordinate: int  # in q
    column: int  # in the velocity
    limit: float
    n: int

    def gap(self, q: Array) -> float:
        return self.n * (q[self.coordinate] - self.limit)

    def touches(self, q: Array) -> bool:
        return self.gap(q) <= TOUCHING * max(1.0, abs(self.limit))

    @property
    def name(self) -> str:
        return f"{self.joint}, {'lower' if self.n > 0 else 'upper'} limit"


def stops_of(tree: Tree) -> list[Stop]:
    """The finite limits of a mechanism; attitudes and positions of floating bodies have none."""
    found = []
    for joint, place, columns in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.attitude is not None:
            continue
        for k in range(joint.motion.nq):
            for limit, n in ((joint.limits.lower[k], 1), (joint.limits.upper[k], -1)):
                if np.isfinite(limit):
                    found.append(Stop(joint.name, place.start + k, columns.start + k, limit, n))
    return found


@dataclass
class Stops:
    """The stops of a mechanism in use, and how it rebounds from them."""

    restitution: float
    all: list[Stop]

    def hit(self, q: Array, qd: Array, compliance: Array, held: Array) -> tuple[Array, list[Stop]]:
        """Resolve all that touches: the velocity (nv) after impacts, and the stops that were struck.

        `compliance`: what impulses do to velocities (nv, nv), the inverse of the inertia matrix of an open tree.
        `held`: the columns (nv) that rest; those at stops take part.
        """
        struck: list[Stop] = []
        for _ in range(2 * len(self.all) + 1):
            now = [s for s in self.all if s.touches(q) and s.n * qd[s.column] < 0]
            if not now:
                break
            struck += now
            others = [s for s in self.all if held[s.column] and s.touches(q) and s not in now]
            qd = self._impact(qd, compliance, now, others)
        return qd, struck

    def _impact(self, v: Array, W: Array, struck: list[Stop], resting: list[Stop]) -> Array:
        """The velocity (nv) after an impact at `struck`; of those that rest, none is pulled, but where it would leave
        slowly.
        """
        others = resting
        slow = list[Stop]()
        while True:
            acting = [*struck, *others]
            columns = [s.column for s in acting]
            n = np.array([s.n for s in acting])
            wanted = np.array([self._rebound(v[s.column]) for s in struck] + [0.0 for _ in others])
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

    def _rebound(self, speed: float) -> float:
        rebound = -self.restitution * speed
        return rebound if abs(rebound) > REST_SPEED else 0.0
