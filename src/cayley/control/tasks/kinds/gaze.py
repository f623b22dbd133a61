"""The task of a gaze: an axis of a frame, as of a camera, points at a point.

    s = (target - p) / |target - p|      b1, b2, d the frame's axes, d the one that looks
    e = (b1 . s, b2 . s) sqrt(2 / (1 + d . s))              twice the sine of half the angle between d and s
    J = - (b x s)^T J_w + b^T (1 - s s^T) J_v / |target - p|       of each b, the rows of d e/dt = - J qd nearby
The error grows until d looks straight back, where no way to turn is the shorter one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.tasks.kinds.frame_rows import FrameRowsTask, axes_places
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.general_jacobian import configuration_rate_map, general_jacobian
from cayley.kinematics.orientation import changing
from cayley.model.tree import Tree

_BEHIND = 1e-12


@dataclass(frozen=True, eq=False)
class GazeTask(FrameRowsTask):
    """The `axis` of a frame, "x", "y" or "z", through a point (3) in the root's axes."""

    axis: str = "z"
    word: ClassVar[str] = "gaze"

    def rows(self, tree: Tree) -> tuple[str, ...]:
        tree.frame(self.frame)
        across = "xyz".replace(self.axis, "")
        axes_places(self.axis, f"the gaze {self.label!r}")
        return tuple(f"{self.frame} looks along its {letter}" for letter in across[:2])

    def shape(self, tree: Tree) -> tuple[int, ...]:
        return (3,)

    def _sight(self, tree: Tree, q: Array, target: Array) -> tuple[Array, Array, Array, Array]:
        """The two axes across, that of the gaze, the direction to the target and its distance (1)."""
        here = frame_pose(tree, q, self.frame)
        way = target - here.p
        distance = np.sqrt(way @ way)
        looking = "xyz".index(self.axis)
        across = np.stack([here.R[:, k] for k in range(3) if k != looking])
        return across, here.R[:, looking], way / distance, distance

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        across, axis, s, _ = self._sight(tree, q, target)
        return (across @ s) * np.sqrt(2.0 / (1.0 + _BEHIND + axis @ s))

    def jacobian(self, tree: Tree, q: Array, target: Array) -> Array:
        across, _, s, distance = self._sight(tree, q, target)
        J = general_jacobian(tree, q, self.frame, axes="world")
        aside = J[:3] - np.outer(s, s @ J[:3])
        return np.stack([(b @ aside) / distance - np.cross(b, s) @ J[3:] for b in across])

    def drift(self, tree: Tree, q: Array, qd: Array, target: Array) -> Array:
        rate = changing(self.jacobian(tree, q, target), [q], [configuration_rate_map(tree, q) @ qd])
        return rate @ qd
