"""A knife edge, a skate or a fin, which does not slip sideways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.model.constraint_kinds.constraint import AXIS, WORD, Constraint
from cayley.model.constraint_kinds.rolling import checked_axis, seen_from
from cayley.model.joint_kinds.held import FrameMotion, Row
from cayley.model.joint_kinds.motion import Axis


@dataclass(frozen=True)
class KnifeEdge(Constraint):
    """A blade on the ground: the origin of the frame `blade` has no velocity, seen from the frame `ground`, along
    `across`, a unit vector in the axes of the blade."""

    ground: str = field(metadata=WORD)
    blade: str = field(metadata=WORD)
    across: Axis = field(default=(0.0, 1.0, 0.0), metadata=AXIS)
    word = "knife edge"

    def __post_init__(self) -> None:
        object.__setattr__(self, "across", checked_axis(self.across, f"across of the knife edge {self.name!r}"))

    @property
    def frames(self) -> tuple[str, ...]:
        return self.ground, self.blade

    @property
    def row_names(self) -> tuple[str, ...]:
        return ("side slip",)

    @property
    def positions(self) -> int:
        return 0

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        blade = seen_from(*frames)
        a = blade.R @ np.asarray(self.across)
        return [Row(0.0, a @ blade.u, a @ blade.du + np.cross(blade.w, a) @ blade.u)]

    @property
    def sentence(self) -> str:
        return f"knife edge {self.name!r} lets {self.blade!r} not slip sideways on {self.ground!r}"
