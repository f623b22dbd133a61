"""A helical (screw) joint."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.model.joint_kinds.held import Along, Held, Screwed, axis_kept, on_line
from cayley.model.joint_kinds.motion import NUMBER, Mark, Screw, plane_across, turn
from cayley.model.joint_kinds.single_axis import SingleAxis


@dataclass(frozen=True)
class Helical(SingleAxis):
    """A turn about an axis with a slide of `pitch` metres for each radian along it."""

    pitch: float = field(default=0.0, metadata=NUMBER)
    nq = 1
    nv = 1
    word = "helical"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.pitch):
            raise ModelError(
                f"the pitch of a helical joint is {self.pitch}: it must be a finite number of metres a radian")

    def pose(self, q: Array) -> tuple[Any, Any]:
        return turn(self.axis, q[0]), np.asarray(self.axis) * (self.pitch * q[0])

    def subspace(self, q: Array) -> Array:
        return np.array([[*(self.pitch * np.asarray(self.axis)), *self.axis]]).T

    @property
    def screw(self) -> Screw:
        return self._screw(1.0, self.pitch)

    @property
    def held(self) -> tuple[Held, ...]:
        axis = np.asarray(self.axis)
        across = plane_across(self.axis)
        along = Screwed("screw", axis, across, self.pitch) if self.pitch else Along("along", axis)
        return (*on_line(across), *axis_kept(axis, across), along)

    def in_units(self, length: float) -> Helical:
        return replace(self, pitch=self.pitch / length)

    @property
    def length(self) -> float:
        return abs(self.pitch)

    @property
    def samples(self) -> list[Array]:
        return [np.array([q]) for q in np.linspace(0.0, 5.0, 16)]

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "screw", self._along_axis(on_parent=True))
