"""Singular postures of parallel machines: motions that are lost, motions that are gained, forces that nothing holds.

    Jx xd = Jq thetad     xd rates of the platform (k), thetad of the actuators (m), a row for each leg
inverse     Jq is singular: a leg is straight or folded, and stops the platform along its row of Jx
direct      Jx is singular: the platform can move along its null vectors with all actuators held, and no actuator
            holds a force along them
combined    both
Source: Gosselin & Angeles; Ruggiu (4.14), 4.2.3, 4.4.4. For lengths and angles together, `lengths` says how many
metres a unit of each coordinate is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.showing import brief

SINGULAR = 1e-6  # of the largest: where two postures meet, a place is known to the root of rounding only


@dataclass(frozen=True, eq=False)
class ParallelSingularity:
    """What a posture loses and gains. `lost` (l, k): rates of the platform that it cannot have; `gained` (g, k): those
    that it has with the actuators held; a force or wrench with power along a gained motion is held by no actuator.
    `legs` are those that are straight or folded, counted from 1."""

    kind: Literal["regular", "inverse", "direct", "combined"]
    lost: Array
    gained: Array
    legs: tuple[int, ...]
    singular_values: Array  # of Jx, rows of unit length, in metres

    __repr__ = brief

    @property
    def unbalanced(self) -> Array:
        """Wrenches (g, k) on the platform, one for each gained motion, that no force of the actuators balances."""
        return self.gained


def parallel_singularity(Jx: ArrayLike, Jq: ArrayLike, *, lengths: ArrayLike = 1.0,
                         tolerance: float = SINGULAR) -> ParallelSingularity:
    """The class of one posture, by Jx (m, k) and the diagonal Jq (m), both in metres a unit.

    `tolerance`: how small, beside the largest, is zero.

    >>> parallel_singularity([[1.0, 0.0], [1.0, 0.0]], [1.0, 1.0]).gained.round(12) + 0.0
    array([[0., 1.]])
    """
    rows = np.asarray(Jx, dtype=float)
    drives = np.asarray(Jq, dtype=float)
    worth = np.broadcast_to(np.asarray(lengths, dtype=float), rows.shape[1:])
    scaled = rows / worth
    _, values, V = np.linalg.svd(scaled)
    rank = int((values > tolerance * values.max(initial=1e-300)).sum())
    gained = V[rank:] / worth
    stuck = np.abs(drives) <= tolerance * np.abs(drives).max(initial=float(np.abs(scaled).max(initial=0.0)))
    lost = _directions(scaled[stuck], tolerance) / worth
    inverse = bool(stuck.any())
    direct = len(gained) > 0
    kind: Literal["regular", "inverse", "direct", "combined"] = (
        "combined" if inverse and direct else "inverse" if inverse else "direct" if direct else "regular")
    legs = tuple(int(k) + 1 for k in np.flatnonzero(stuck))
    return ParallelSingularity(kind, _normal(lost), _normal(gained), legs, values)


def _directions(rows: Array, tolerance: float) -> Array:
    """A basis (l, k) of what rows span."""
    if not len(rows):
        return rows
    _, values, V = np.linalg.svd(rows)
    return V[:int((values > tolerance * values[0]).sum())]


def _normal(rows: Array) -> Array:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
