"""The task of a pose: position and orientation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.tasks.kinds.frame_rows import FrameRowsTask, turn_missing
from cayley.kinematics.forward import frame_pose
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class PoseTask(FrameRowsTask):
    """A frame at a pose (4, 4) in the root: rows of position, then of turns, in the root's axes.

    >>> from cayley.control import PoseTask
    >>> cy.load("panda").tasks([PoseTask("tool", gain=5.0)]).outputs["residual_tool"].shape
    (6,)
    """

    word: ClassVar[str] = "pose"

    def shape(self, tree: Tree) -> tuple[int, ...]:
        return (4, 4)

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        here = frame_pose(tree, q, self.frame)
        return np.concatenate([target[:3, 3] - here.p, turn_missing(here.R, target[:3, :3])])
