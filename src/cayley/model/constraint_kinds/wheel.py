"""A wheel that rolls on a plane, without slip and without side slip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, is_finite_number
from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import AXIS, NUMBER, WORD, Constraint
from cayley.model.constraint_kinds.rolling import checked_axis, circle, seen_from
from cayley.model.joint_kinds.held import FrameMotion, Row
from cayley.model.joint_kinds.motion import Axis
from cayley.wording import shown

FLAT = 1e-3  # rad: what leans so far lies flat
_UP = np.array([0.0, 0.0, 1.0])


class Contact(NamedTuple):
    """Where a wheel touches the ground, in the ground's axes: the velocity of its point there and its rate, the
    directions ahead and aside with theirs, and the cosine by which the wheel is less high than its radius."""

    v: Array
    dv: Array
    ahead: Array
    ahead_rate: Array
    aside: Array
    aside_rate: Array
    upright: Scalar


@dataclass(frozen=True)
class Wheel(Constraint):
    """A thin wheel of `radius` [m] about `axis`, a unit vector in the axes of the frame `wheel`, whose origin is its
    centre. It rolls on the plane x, y of the frame `ground`, whose z is up: the lowest point has no velocity along the
    wheel (slip), nor across it (side slip). The mechanism must keep it on the ground: a `Disc` is kept there by itself.

    A wheel that lies flat, to a thousandth of a radian, touches everywhere: there its rows are not numbers.
    """

    ground: str = field(metadata=WORD)
    wheel: str = field(metadata=WORD)
    radius: float = field(metadata=NUMBER)
    axis: Axis = field(default=(0.0, 1.0, 0.0), metadata=AXIS)
    word = "wheel"

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", checked_axis(self.axis, f"the axis of the {self.word} {self.name!r}"))
        if not is_finite_number(self.radius) or self.radius <= 0:
            raise ModelError(f"the {self.word} {self.name!r} has the radius {shown(self.radius)}: it must be positive "
                             "and finite")

    @property
    def frames(self) -> tuple[str, ...]:
        return self.ground, self.wheel

    @property
    def row_names(self) -> tuple[str, ...]:
        return "slip", "side slip"

    @property
    def positions(self) -> int:
        return 0

    @property
    def rim(self) -> Array | None:
        return circle(self.axis, self.radius)

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        at = self.contact(seen_from(*frames))
        return [Row(0.0, at.ahead @ at.v, at.ahead @ at.dv + at.ahead_rate @ at.v),
                Row(0.0, at.aside @ at.v, at.aside @ at.dv + at.aside_rate @ at.v)]

    def contact(self, wheel: FrameMotion) -> Contact:
        """At the lowest point, of the wheel's motion on the ground. With c the height of the axis' tip and s = sqrt(1 -
        c^2), that point is - radius (up - c axis) / s from the centre."""
        axis = wheel.R @ np.asarray(self.axis)
        turned = np.cross(wheel.w, axis)
        c = axis[2]
        dc = turned[2]
        upright = np.sqrt(where(c * c < 0.5, 1 - c * c, axis[0] * axis[0] + axis[1] * axis[1]))
        s = where(upright > FLAT, upright, np.nan)
        ds = -c * dc / s
        arm = -self.radius * (_UP - c * axis) / s
        arm_rate = (self.radius * (dc * axis + c * turned) - arm * ds) / s
        v = wheel.u + np.cross(wheel.w, arm)
        dv = wheel.du + np.cross(wheel.dw, arm) + np.cross(wheel.w, arm_rate)
        ahead = np.cross(axis, _UP) / s
        ahead_rate = (np.cross(turned, _UP) - ahead * ds) / s
        return Contact(v, dv, ahead, ahead_rate, np.cross(_UP, ahead), np.cross(_UP, ahead_rate),
                       upright)

    def margin(self, frames: Sequence[FrameMotion]) -> Scalar | None:
        axis = seen_from(*frames).R @ np.asarray(self.axis)
        return np.hypot(axis[0], axis[1]) - FLAT

    @property
    def where_lost(self) -> str:
        return f"{self.word} {self.name!r} lies flat, and touches everywhere"

    @property
    def sentence(self) -> str:
        return f"{self.word} {self.name!r} rolls on {self.ground!r}"
