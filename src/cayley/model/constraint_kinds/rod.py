"""A rod of fixed length between two points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real

from cayley.errors import ModelError
from cayley.model.constraint_kinds.constraint import NUMBER, WORD, Constraint, Tendon
from cayley.model.joint_kinds.held import FrameMotion, Row


@dataclass(frozen=True)
class Rod(Constraint):
    """A rod without mass that keeps the origins of two frames at a distance, `length` [m], with a ball joint at each
    end: (d.d - length^2) / (2 length) = 0, whose rate is that of the distance."""

    first: str = field(metadata=WORD)
    second: str = field(metadata=WORD)
    length: float = field(metadata=NUMBER)
    word = "rod"
    straight = True
    of_frames = ("first", "second")
    row_names = ("length",)
    says = "rod {0.name!r} joins {0.first!r} and {0.second!r}"

    def __post_init__(self) -> None:
        if not isinstance(self.length, Real) or not 0.0 < self.length < float("inf"):
            raise ModelError(f"the rod {self.name!r} has the length {self.length!r}: it must be a number, positive and "
                             "finite; two points that coincide are a loop that a spherical joint closes")

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        first, second = frames
        d = second.p - first.p
        speed = second.u - first.u
        value = (d @ d - self.length * self.length) / (2 * self.length)
        second_rate = (d @ (second.du - first.du) + speed @ speed) / self.length
        return [Row(value, d @ speed / self.length, second_rate)]

    @property
    def mjcf_tendon(self) -> Tendon:
        return Tendon("spatial", ((self.first, None), (self.second, None)), self.length)
