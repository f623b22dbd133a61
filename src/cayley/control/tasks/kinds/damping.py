"""The task of standing still: joints without velocity, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.tasks.kinds.posture import PostureTask
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class DampingTask(PostureTask):
    """Velocities of the actuated joints, or of `joints`, towards zero: what other tasks leave free comes to rest, and
    near singular postures the joints stay slow."""

    weight: float = 1e-4
    word: ClassVar[str] = "damping"

    def shape(self, tree: Tree) -> None:
        return None

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        return np.zeros(len(self.rows(tree)))
