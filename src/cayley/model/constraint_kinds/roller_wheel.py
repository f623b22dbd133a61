"""A wheel with rollers on its rim: an omni wheel, a mecanum wheel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.compiler.typing import is_finite_number
from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import ANGLE
from cayley.model.constraint_kinds.rolling import seen_from
from cayley.model.constraint_kinds.wheel import Wheel
from cayley.model.joint_kinds.held import FrameMotion, Row
from cayley.wording import shown


@dataclass(frozen=True)
class RollerWheel(Wheel):
    """A wheel that touches the ground with rollers, which roll by themselves: only along their axes it does not slip.
    At the ground that axis is turned by `angle` [rad] from the wheel's axis towards where the wheel rolls: pi/2 is an
    omni wheel, pi/4 and -pi/4 are the mecanum wheels of the two hands."""

    angle: float = field(default=np.pi / 2, metadata=ANGLE)
    word = "roller wheel"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_finite_number(self.angle):
            raise ModelError(f"the roller wheel {self.name!r} has rollers at the angle {shown(self.angle)}: it must be "
                             "finite")

    @property
    def row_names(self) -> tuple[str, ...]:
        return ("slip along its rollers",)

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        at = self.contact(seen_from(*frames))
        c = np.cos(self.angle)
        s = np.sin(self.angle)
        along = c * at.aside + s * at.ahead
        along_rate = c * at.aside_rate + s * at.ahead_rate
        return [Row(0.0, along @ at.v, along @ at.dv + along_rate @ at.v)]
