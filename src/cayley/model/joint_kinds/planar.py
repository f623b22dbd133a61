"""A planar joint."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.joint_kinds.compound import Compound
from cayley.model.joint_kinds.held import Along, Held, axis_kept
from cayley.model.joint_kinds.motion import AXIS, Axis, Mark, MarkAxis, Motion, Z, plane_across
from cayley.model.joint_kinds.prismatic import Prismatic
from cayley.model.joint_kinds.revolute import Revolute


@dataclass(frozen=True)
class Planar(Compound):
    """A slide in the plane across `axis` and a turn about it: (x, y, angle), x and y along the joint's own axes of the
    plane."""

    axis: Axis = field(default=Z, metadata=AXIS)
    nq = 3
    nv = 3
    word = "planar"
    constant_subspace = False

    @property
    def plane(self) -> Array:
        return plane_across(self.axis)

    @property
    def elementary(self) -> tuple[Motion, ...]:
        x, y = self.plane.tolist()
        return Prismatic(tuple(x)), Prismatic(tuple(y)), Revolute(self.axis)

    @property
    def held(self) -> tuple[Held, ...]:
        axis = np.asarray(self.axis)
        return (Along("along", axis), *axis_kept(axis, self.plane))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return ("x", "y", "angle")

    @property
    def urdf(self) -> str:
        return "planar"

    @property
    def mark(self) -> Mark:
        return Mark("plate", "slide", (MarkAxis(self.axis, False),), on_child=True)
