"""A disc that rolls on a plane and leans as it likes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Scalar
from cayley.model.constraint_kinds.rolling import seen_from
from cayley.model.constraint_kinds.wheel import Wheel
from cayley.model.joint_kinds.held import FrameMotion, Row

_LEFT_BY_STEPS = 0.1  # of the velocity of the rim: more is not what a step leaves open


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

    def passed(self, frames: Sequence[FrameMotion]) -> Scalar | None:
        """True if a step has led to the other side: the centre falls though it should rise, by more than the error of a
        step."""
        disc = seen_from(*frames)
        axis = disc.R @ np.asarray(self.axis)
        at = self.contact(disc)
        rise = -axis[2] * np.cross(disc.w, axis)[2] / at.upright
        rounding = _LEFT_BY_STEPS**2 * (disc.w @ disc.w)
        return (at.v[2] * rise < 0.0) & (at.v[2] * at.v[2] > self.radius**2 * (rise * rise + rounding))
