"""The task of an orientation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cayley.compiler.typing import Array
from cayley.control.tasks.kinds.frame_rows import FrameRowsTask, turn_missing
from cayley.kinematics.forward import frame_pose
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class OrientationTask(FrameRowsTask):
    """The axes of a frame along those of a rotation matrix (3, 3). The error is the rotation vector of R_target R^T, in
    the root's axes; at half-turns it jumps to the other side."""

    word: ClassVar[str] = "orientation"

    def places(self) -> list[int]:
        return [3, 4, 5]

    def shape(self, tree: Tree) -> tuple[int, ...]:
        return (3, 3)

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        return turn_missing(frame_pose(tree, q, self.frame).R, target)
