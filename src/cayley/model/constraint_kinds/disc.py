"""A disc that rolls on a plane and leans as it likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cayley.model.constraint_kinds.rolling import seen_from
from cayley.model.constraint_kinds.wheel import Wheel
from cayley.model.joint_kinds.held import FrameMotion, Row


@dataclass(frozen=True)
class Disc(Wheel):
    """A wheel that touches the plane x, y of the ground with its edge, however it leans: a coin, a hoop, the wheel of a
    bicycle. Its first row holds the height of its centre. It may not leave the ground, and may pull at it."""

    word = "disc"
    presses = True

    @property
    def row_names(self) -> tuple[str, ...]:
        return "contact", *super().row_names

    @property
    def positions(self) -> int:
        return 1

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        disc = seen_from(*frames)
        at = self.contact(disc)
        return [Row(disc.p[2] - self.radius * at.upright, at.v[2], at.dv[2]), *super().rows(frames, coordinates)]
