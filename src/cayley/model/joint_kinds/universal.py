"""A universal joint."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cayley.model.joint_kinds.compound import Compound
from cayley.model.joint_kinds.held import POINT, Aligned, Held
from cayley.model.joint_kinds.motion import AXIS, Axis, Mark, MarkAxis, Motion
from cayley.model.joint_kinds.revolute import Revolute


@dataclass(frozen=True)
class Universal(Compound):
    """A turn about `axis`, then one about `second`, which turns with the first."""

    axis: Axis = field(default=(1.0, 0.0, 0.0), metadata=AXIS)
    second: Axis = field(default=(0.0, 1.0, 0.0), metadata=AXIS)
    nq = 2
    nv = 2
    word = "universal"
    constant_subspace = False

    @property
    def elementary(self) -> tuple[Motion, ...]:
        return Revolute(self.axis), Revolute(self.second)

    @property
    def held(self) -> tuple[Held, ...]:
        first = np.asarray(self.axis)
        second = np.asarray(self.second)
        return (*POINT, Aligned("twist", first, second, float(first @ second)))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        return ("first", "second")

    @property
    def mark(self) -> Mark:
        return Mark("cylinder", "turn", (MarkAxis(self.axis, True), MarkAxis(self.second, False)))
