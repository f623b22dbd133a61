"""Base class of revolute, prismatic and helical joints: one coordinate, about or along one axis."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.joint_kinds.motion import AXIS, Axis, MarkAxis, Motion, Screw, Z

_ROUNDING = 1e-15  # components of a unit axis this small are zero


@dataclass(frozen=True)
class SingleAxis(Motion):
    """A motion about and along an axis; it holds its child fast until `screw` says how much."""

    axis: Axis = field(default=Z, metadata=AXIS)

    def turned(self, R: Array) -> SingleAxis:
        turned = R.T @ np.asarray(self.axis)
        turned = np.where(np.abs(turned) < _ROUNDING, 0.0, turned)
        return replace(self, axis=Z if np.abs(turned - Z).max() < _ROUNDING else tuple(turned.tolist()))

    def in_units(self, length: float) -> SingleAxis:
        return self

    def reach(self, lower: Array, upper: Array) -> float:
        slide = 0.0 if self.screw is None else self.screw.slide
        return abs(slide) * float(np.maximum(np.abs(lower), np.abs(upper))[0]) if slide else 0.0

    def _screw(self, turn: float, slide: float) -> Screw:
        return Screw(self.axis, turn, slide)

    def _along_axis(self, *, on_parent: bool) -> tuple[MarkAxis, ...]:
        return (MarkAxis(self.axis, on_parent),)
