"""The task of a position: the origin of a frame at a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cayley.compiler.typing import Array
from cayley.control.tasks.kinds.frame_rows import FrameRowsTask, axes_places, picked
from cayley.kinematics.forward import frame_pose
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class PositionTask(FrameRowsTask):
    """The origin of a frame at a point (3) in the root's axes, or only some of its coordinates: `axes="xy"`; the target
    is the whole point.

    >>> from cayley.control import PositionTask
    >>> arm = cy.load("planar2r")
    >>> arm.tasks([PositionTask("tool", axes="xy", gain=5.0)]).inputs["target_tool"].shape
    (3,)
    """

    axes: str = "xyz"
    word: ClassVar[str] = "position"

    def places(self) -> list[int]:
        return axes_places(self.axes, f"the task {self.label!r}")

    def shape(self, tree: Tree) -> tuple[int, ...]:
        return (3,)

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        return picked(target - frame_pose(tree, q, self.frame).p, self.places())
