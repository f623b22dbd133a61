"""A joint that closes a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cayley.compiler.typing import Scalar
from cayley.model.constraint_kinds.constraint import Constraint
from cayley.model.joint_kinds import JointKind, check_motion
from cayley.model.joint_kinds.held import POINT, FrameMotion, Row


@dataclass(frozen=True)
class Loop(Constraint):
    """A joint that closes a loop: `first` and `second` are frames, joined by a motion, which moves the second in the
    first. Its rows are what that joint holds: 5 for a revolute one, 3 for a spherical one. Where it holds the point,
    those three are along the axes of the body from which both frames hang."""

    first: str
    second: str
    motion: JointKind = field(default_factory=JointKind)
    word = "loop"
    of_frames = ("first", "second")
    says = "loop {0.name!r} is closed by a {0.motion.word} joint"

    def __post_init__(self) -> None:
        check_motion(self.motion, f"loop {self.name!r}")

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(held.name for held in self.motion.held)

    @property
    def row_units(self) -> tuple[str, ...]:
        return tuple(held.unit for held in self.motion.held)

    @property
    def turns(self) -> bool:
        return self.motion.held[:3] == POINT

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        first, second = frames
        held = self.motion.held
        if not self.turns:
            return [each.row(first, second) for each in held]
        point = zip(second.p - first.p, second.u - first.u, second.du - first.du, strict=True)
        return [*[Row(*each) for each in point], *[each.row(first, second) for each in held[3:]]]

    def senses(self, frames: Sequence[FrameMotion]) -> list[Scalar]:
        return [sense for each in self.motion.held if (sense := each.sense(*frames)) is not None]
