"""A cylindrical joint."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cayley.model.joint_kinds.compound import Compound
from cayley.model.joint_kinds.held import Held, axis_kept, on_line
from cayley.model.joint_kinds.motion import AXIS, Axis, Mark, MarkAxis, Motion, Z, plane_across
from cayley.model.joint_kinds.prismatic import Prismatic
from cayley.model.joint_kinds.revolute import Revolute


@dataclass(frozen=True)
class Cylindrical(Compound):
    """A slide along `axis` and a turn about it, each by itself: (slide, angle)."""

    axis: Axis = field(default=Z, metadata=AXIS)
    nq = 2
    nv = 2
    word = "cylindrical"

    @property
    def elementary(self) -> tuple[Motion, ...]:
        return Prismatic(self.axis), Revolute(self.axis)

    @property
    def held(self) -> tuple[Held, ...]:
        axis = np.asarray(self.axis)
        across = plane_across(self.axis)
        return (*on_line(across), *axis_kept(axis, across))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return ("slide", "angle")

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "slide", (MarkAxis(self.axis, True),))
