"""A motion whose lengths are counted in another unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.joint_kinds.motion import Motion


@dataclass(frozen=True)
class InUnits(Motion):
    """The motion of a joint whose velocities are rates, its lengths in units of `unit` [m]."""

    motion: Motion
    unit: float
    word = "rescaled"

    def pose(self, q: Array) -> tuple[Any, Any]:
        R, p = self.motion.pose(q * self._lengths)
        return R, p / self.unit

    def subspace(self, q: Array) -> Array:
        return self.motion.subspace(None if q is None else q * self._lengths) * self._lengths / self._rows[:, None]

    def bias(self, q: Array, qd: Array) -> Array:
        return self.motion.bias(q * self._lengths, qd * self._lengths) / self._rows

    @property
    def nq(self) -> int:  # type: ignore[override]
        return self.motion.nq

    @property
    def nv(self) -> int:  # type: ignore[override]
        return self.motion.nv

    @property
    def constant_subspace(self) -> bool:  # type: ignore[override]
        return self.motion.constant_subspace

    @property
    def _lengths(self) -> Array:
        return np.where(np.array(self.motion.velocity_units) == "m", self.unit, 1.0)

    @property
    def _rows(self) -> Array:
        return np.repeat([self.unit, 1.0], 3)
