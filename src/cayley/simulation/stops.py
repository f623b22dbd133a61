"""Joint limits as mechanical stops: impacts with restitution, and joints that rest against their stops until they are pulled away.

    n     +1 at a lower limit, -1 at an upper one: the direction in which a stop pushes
An impact is an impulse on the coordinates that hit: those leave with -e times the speed they came with, those that rest stay at rest, and
no impulse pulls. A joint that rests against a stop is held there by a force, as long as this force pushes. Rebounds slower than
`REST_SPEED` rest: a ball that bounces ever faster comes to an end. Source: Newton's law of restitution; the forces are multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.dynamics.inertia_matrix.kernels import inverse_inertia_matrix_kernel
from cayley.model.joint_kinds import Floating, Spherical
from cayley.model.tree import Tree

REST_SPEED = 1e-4  # rad/s, m/s
TOUCHING = 1e-12  # rad, m


@dataclass
class Stop:
    """One side of one coordinate."""

    joint: str
    coordinate: int  # in q
    column: int  # in the velocity
    limit: float
    n: int

    def gap(self, q: np.ndarray) -> float:
        return self.n * (q[self.coordinate] - self.limit)

    def touches(self, q: np.ndarray) -> bool:
        return self.gap(q) <= TOUCHING * max(1.0, abs(self.limit))

    @property
    def name(self) -> str:
        return f"{self.joint}, {'lower' if self.n > 0 else 'upper'} limit"


def stops_of(tree: Tree) -> list[Stop]:
    """The finite limits of a mechanism; attitudes and positions of floating bodies have none."""
    found = []
    for joint, place, columns in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if isinstance(joint.motion, (Spherical, Floating)):
            continue
        for k in range(joint.motion.nq):
            for limit, n in ((joint.limits.lower[k], 1), (joint.limits.upper[k], -1)):
                if np.isfinite(limit):
                    found.append(Stop(joint.name, place.start + k, columns.start + k, limit, n))
    return found


@dataclass
class Stops:
    """The stops of a mechanism in use, and those that joints rest against."""

    tree: Tree
    restitution: float
    all: list[Stop]
    resting: list[Stop] = field(default_factory=list)
    _inverse: Kernel | None = None

    @property
    def free(self) -> list[Stop]:
        return [stop for stop in self.all if stop not in self.resting]

    def compliance(self, q: np.ndarray) -> np.ndarray:
        """The inverse of the inertia matrix (nv, nv)."""
        if self._inverse is None:
            self._inverse = inverse_inertia_matrix_kernel(self.tree)
        return self._inverse(q)

    def forces(self, q: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """With which the stops push at the joints that rest against them, given what these joints would do without."""
        columns = [stop.column for stop in self.resting]
        return -np.linalg.solve(self.compliance(q)[np.ix_(columns, columns)], acceleration[columns])

    def held(self, q: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """The acceleration (nv) with the joints that rest held."""
        columns = [stop.column for stop in self.resting]
        change = self.compliance(q)[:, columns] @ self.forces(q, acceleration)
        held = acceleration + change
        held[columns] = 0.0
        return held

    def hit(self, q: np.ndarray, v: np.ndarray, struck: list[Stop]) -> np.ndarray:
        """The velocity (nv) after an impact at `struck`; those that rest take part."""
        W, others = self.compliance(q), [s for s in self.resting if s not in struck]
        while True:
            acting = [*struck, *others]
            columns, n = [s.column for s in acting], np.array([s.n for s in acting])
            wanted = np.array([self._rebound(v[s.column]) for s in struck] + [0.0 for _ in others])
            impulse = np.linalg.solve(W[np.ix_(columns, columns)], wanted - v[columns])
            pulling = [s for s, push in zip(acting, n * impulse, strict=True) if push < 0 and s in others]
            if not pulling:
                after = v + W[:, columns] @ impulse
                after[columns] = wanted
                return after
            others = [s for s in others if s not in pulling]

    def _rebound(self, speed: float) -> float:
        rebound = -self.restitution * speed
        return rebound if abs(rebound) > REST_SPEED else 0.0

    def settle(self, q: np.ndarray, v: np.ndarray, free_acceleration: Any, released: list[Stop]) -> tuple[np.ndarray, list[Stop]]:
        """Resolve all that touches: the velocity (nv) after impacts, and the stops that were struck. Then decide what rests.

        `free_acceleration(v)` is what the joints would do without stops; those that were `released` just now are not taken back.
        """
        struck: list[Stop] = []
        for _ in range(2 * len(self.all) + 1):
            now = [s for s in self.all if s.touches(q) and s.n * v[s.column] < 0]
            if not now:
                break
            struck += now
            v = self.hit(q, v, now)
        self.resting = []
        touching = [s for s in self.all if s.touches(q) and v[s.column] == 0 and s not in released]
        a = free_acceleration(v)
        for _ in range(len(touching)):
            current = self.held(q, a) if self.resting else a
            pressed = [s for s in touching if s not in self.resting and s.n * current[s.column] < 0]
            if not pressed:
                break
            self.resting.append(pressed[0])
            pushes = self.forces(q, a) * [s.n for s in self.resting]
            self.resting = [s for s, push in zip(self.resting, pushes, strict=True) if push >= 0]
        return v, struck

    def pushing(self, q: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """For each stop that is rested against, how hard it pushes: positive as long as it holds."""
        if not self.resting:
            return np.zeros(0)
        return self.forces(q, acceleration) * [s.n for s in self.resting]
