"""The task of the pose of one frame in another, as of two hands that carry a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.tasks.kinds.frame_rows import FrameRowsTask, turn_missing
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, jacobian_rate
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class RelativePoseTask(FrameRowsTask):
    """A frame at a pose (4, 4) in the frame `relative_to`, in whose axes the rows are."""

    relative_to: str
    word: ClassVar[str] = "relative pose"

    @property
    def subject(self) -> str:
        return f"{self.frame} in {self.relative_to}"

    def rows(self, tree: Tree) -> tuple[str, ...]:
        tree.frame(self.relative_to)
        return super().rows(tree)

    def shape(self, tree: Tree) -> tuple[int, ...]:
        return (4, 4)

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        here = frame_pose(tree, q, self.frame, self.relative_to)
        return np.concatenate([target[:3, 3] - here.p, turn_missing(here.R, target[:3, :3])])

    def jacobian(self, tree: Tree, q: Array, target: Array) -> Array:
        return general_jacobian(tree, q, self.frame, axes=self.relative_to, relative_to=self.relative_to)

    def drift(self, tree: Tree, q: Array, qd: Array, target: Array) -> Array:
        return jacobian_rate(tree, q, qd, self.frame, axes=self.relative_to, relative_to=self.relative_to) @ qd
