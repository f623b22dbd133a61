"""The configurations of a mechanism with loops over a grid of a plane, on the branch of a start.

The places of the grid are reached one after the other by Newton's method from a neighbour, on the side of D_i = 0 where
the start is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.map_fields import MapFields
from cayley.errors import UnreachableError
from cayley.kinematics.loops.closing import close, is_within_limits

_NEWTON = 8
_REACHED = 1e-9  # [m, rad]
_FARTHEST = 1.0  # [rad, m]: a neighbour is not farther in any joint


@dataclass(frozen=True, eq=False)
class MapGrid:
    """The fields, the start, and the places of the grid."""

    fields: MapFields
    start: ArrayLike
    horizontal: Array
    vertical: Array

    @cached_property
    def _begun(self) -> Array:
        tree = self.fields.tree
        closed = close(tree, np.asarray(self.start, dtype=float))
        if closed.configuration.shape != (tree.nq,) or closed.status == "open":
            raise UnreachableError(f"a map starts at one closed configuration ({tree.nq}) of {tree.name}: none was "
                                   "found near the start")
        return closed.configuration

    @cached_property
    def cell(self) -> float:
        """The width of a cell [m]."""
        return float(max(self.horizontal[1] - self.horizontal[0], self.vertical[1] - self.vertical[0]))

    def target(self, places: Array) -> Array:
        """Poses (..., 4, 4) of the frame at places (..., 2) of the plane, otherwise as at the start."""
        target = np.broadcast_to(self.fields.place(self._begun), (*places.shape[:-1], 4, 4)).copy()
        for k, axis in enumerate(self.fields.flat):
            target[..., axis, 3] = places[..., k]
        return target

    def reached(self) -> Array:
        """Configurations (k, l, nq), NaN where the branch does not get to."""
        here = self.fields.place(self._begun)[list(self.fields.flat), 3]
        first = np.array([np.abs(self.vertical - here[1]).argmin(), np.abs(self.horizontal - here[0]).argmin()])
        goal = np.array([self.horizontal[first[1]], self.vertical[first[0]]])
        q = self._begun
        for part in np.linspace(0, 1, 2 + int(np.linalg.norm(goal - here) / self.cell))[1:]:
            q, fine = self._moved(q[None], (here + part * (goal - here))[None])
            q = q[0]
            if not fine[0]:
                raise UnreachableError(
                    f"the frame is at {here.round(6).tolist()} at the start, and does not get into the box from there")
        found = np.full((len(self.vertical), len(self.horizontal), self.fields.tree.nq), np.nan)
        found[tuple(first)] = q
        front = first[None]
        while len(front):
            front = self._spread(found, front)
        return found

    def _spread(self, found: Array, front: Array) -> Array:
        """The neighbours (n, 2) of the front that were reached."""
        steps = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
        pairs = np.concatenate([np.stack([front, front + step], axis=1) for step in steps])
        inside = ((pairs[:, 1] >= 0) & (pairs[:, 1] < found.shape[:2])).all(axis=1)
        pairs = pairs[inside]
        pairs = pairs[np.isnan(found[tuple(pairs[:, 1].T)]).any(axis=-1)]
        if not len(pairs):
            return pairs[:, 1]
        places = np.stack([self.horizontal[pairs[:, 1, 1]], self.vertical[pairs[:, 1, 0]]], axis=1)
        q, fine = self._moved(found[tuple(pairs[:, 0].T)], places)
        found[tuple(pairs[fine, 1].T)] = q[fine]
        return np.unique(pairs[fine, 1], axis=0)

    @cached_property
    def side(self) -> float:
        """The sign of D_i on the branch."""
        return float(np.sign(self.fields.step(self._begun, self.fields.place(self._begun))[2]))

    def _moved(self, starts: Array, places: Array) -> tuple[Array, Array]:
        """Configurations (n, nq) at places (n, 2) from others nearby, and which of them are on the branch."""
        targets = self.target(places)
        q = starts.copy()
        fine = np.ones(len(q), dtype=bool)
        for _ in range(_NEWTON):
            step, missing, _ = self.fields.step(q, targets)
            fine &= np.isfinite(step).all(axis=-1)
            step = np.where(fine[:, None], step, 0.0)
            fine &= np.abs(step).max(axis=-1) < _FARTHEST
            q = self.fields.integrate(q, np.where(fine[:, None], step, 0.0))
            if not fine.any() or np.abs(missing[fine]).max() < 1e-13:
                break
        _, missing, D = self.fields.step(q, targets)
        near = np.abs(q - starts).max(axis=-1) < _FARTHEST
        fine &= (np.abs(missing).max(axis=-1) < _REACHED) & (np.sign(D) == self.side) & near
        return q, fine & is_within_limits(self.fields.tree, q)

    def places(self, q: Array) -> Array:
        """Where the frame is in the plane (..., 2)."""
        return self.fields.place(q)[..., list(self.fields.flat), 3]

    def contains(self, place: Array) -> bool:
        """Whether a place (2) is in the box."""
        return bool(self.horizontal[0] <= place[0] <= self.horizontal[-1]
                    and self.vertical[0] <= place[1] <= self.vertical[-1])
