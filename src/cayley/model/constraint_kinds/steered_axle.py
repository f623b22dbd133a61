"""An axle whose wheels are steered, as one wheel in its middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.model.constraint_kinds.constraint import WORD, Constraint
from cayley.model.constraint_kinds.rolling import seen_from
from cayley.model.joint_kinds.held import FrameMotion, Row


@dataclass(frozen=True)
class SteeredAxle(Constraint):
    """The middle of a steered axle does not slip sideways on the ground: the origin of the frame `axle`, whose x is
    ahead and z up, has no velocity across the direction ahead turned about z by the coordinate of the joint `steering`.
    """

    ground: str = field(metadata=WORD)
    axle: str = field(metadata=WORD)
    steering: str = field(metadata=WORD)
    word = "steered axle"

    @property
    def frames(self) -> tuple[str, ...]:
        return self.ground, self.axle

    @property
    def coordinates(self) -> tuple[str, ...]:
        return (self.steering,)

    @property
    def row_names(self) -> tuple[str, ...]:
        return ("side slip",)

    @property
    def positions(self) -> int:
        return 0

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        axle = seen_from(*frames)
        steering, = coordinates
        c = np.cos(steering.value)
        s = np.sin(steering.value)
        across = axle.R @ np.stack([-s, c, 0.0 * s])
        ahead = axle.R @ np.stack([c, s, 0.0 * s])
        across_rate = np.cross(axle.w, across) - steering.rate * ahead
        return [Row(0.0, across @ axle.u, across @ axle.du + across_rate @ axle.u)]

    @property
    def sentence(self) -> str:
        return f"steered axle {self.name!r} lets {self.axle!r} not slip sideways on {self.ground!r}"
