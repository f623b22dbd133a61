"""Points that do not slip sideways: a knife edge, a skate or a fin, and the middle of a steered axle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cayley.model.constraint_kinds.constraint import AXIS, WORD, Constraint
from cayley.model.constraint_kinds.rolling import checked_axis, seen_from, slip
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
    of_frames = ("ground", "blade")
    row_names = ("side slip",)
    positions = 0
    says = "knife edge {0.name!r} lets {0.blade!r} not slip sideways on {0.ground!r}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "across", checked_axis(self.across, f"across of the knife edge {self.name!r}"))

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        blade = seen_from(*frames)
        a = blade.R @ np.asarray(self.across)
        return [slip(a, np.cross(blade.w, a), blade.u, blade.du)]


@dataclass(frozen=True)
class SteeredAxle(Constraint):
    """The middle of a steered axle does not slip sideways on the ground: the origin of the frame `axle`, whose x is
    ahead and z up, has no velocity across the direction ahead turned about z by the coordinate of the joint `steering`.
    """

    ground: str = field(metadata=WORD)
    axle: str = field(metadata=WORD)
    steering: str = field(metadata=WORD)
    word = "steered axle"
    of_frames = ("ground", "axle")
    of_coordinates = ("steering",)
    row_names = ("side slip",)
    positions = 0
    says = "steered axle {0.name!r} lets {0.axle!r} not slip sideways on {0.ground!r}"

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        axle = seen_from(*frames)
        steering, = coordinates
        c = np.cos(steering.value)
        s = np.sin(steering.value)
        across = axle.R @ np.stack([-s, c, 0.0 * s])
        ahead = axle.R @ np.stack([c, s, 0.0 * s])
        return [slip(across, np.cross(axle.w, across) - steering.rate * ahead, axle.u, axle.du)]
