"""The error of a frame against its target, and the rows of the Jacobian that go with it, for laws in the workspace.

    e = (p_d - p; l)        l = the rotation vector of R_d R^T, in the root's axes, its angle from 0 to pi
    e' = (-v; -B(l)^T w)    of a target that stands; B is the map from angular velocities to rates of rotation vectors
l is no difference of Euler angles, has no wrap-around but at half-turns, where it jumps to the other side, and is
nowhere singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.arms import ArmLike, law_ports, tree_for
from cayley.errors import UnsupportedError
from cayley.geometry.rates.charts import world_velocity_map_inverse
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_quaternion
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, jacobian_rate
from cayley.model.tree import Tree
from cayley.systems import Port


@dataclass(frozen=True)
class FrameTask:
    """A frame and the `rows` of (x, y, z; turn about x, y, z) that count; all three turns or none."""

    tree: Tree
    frame: str
    rows: tuple[int, ...]

    @classmethod
    def of(cls, arm: ArmLike, frame: str, task: str | Sequence[bool], what: str, *,
           pushes: bool = True) -> FrameTask:
        tree = tree_for(arm, what, driven=pushes)
        tree.frame(frame)
        rows = tuple(k for k, asked in enumerate(Task.of(tree, task, "world").rows) if asked)
        if 0 < sum(row >= 3 for row in rows) < 3:
            raise UnsupportedError(f"{what} is for all of an orientation or for none of it, not for rows {task!r}")
        return cls(tree, frame, rows)

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def turns(self) -> bool:
        return self.rows[-1] >= 3

    @property
    def target(self) -> Port:
        """A pose, or a point if turns do not count."""
        return Port((4, 4) if self.turns else (3,))

    def ports(self, names: str, *, rows: int | None = None, pressed: int = 0) -> dict[str, Port]:
        """The ports of a law of this frame; see `law_ports`."""
        return law_ports(self.tree, names, place=self.target.shape, rows=self.size if rows is None else rows,
                         pressed=pressed)

    def error(self, q: Array, target: Array) -> Array:
        """e (m); a text."""
        here = frame_pose(self.tree, q, self.frame)
        if not self.turns:
            return (target - here.p)[list(self.rows)]
        turn = rotation_vector_from_quaternion.unchecked(quaternion_from_matrix.unchecked(target[:3, :3] @ here.R.T))
        return np.concatenate([target[:3, 3] - here.p, turn])[list(self.rows)]

    def jacobian(self, q: Array) -> Array:
        """J (m, nv) of the rows; a text."""
        return general_jacobian(self.tree, q, self.frame, axes="world")[list(self.rows)]

    def bias(self, q: Array, qd: Array) -> Array:
        """J' qd (m); a text."""
        return (jacobian_rate(self.tree, q, qd, self.frame, axes="world") @ qd)[list(self.rows)]

    def pull(self, error: Array, weighted: Array) -> Array:
        """The rows (m) of force and moment that do the work of -de . weighted on the frame: with weighted = kp e they
        are those of the potential e^T kp e / 2, whatever the gains."""
        if not self.turns:
            return weighted
        turned = world_velocity_map_inverse.unchecked(error[-3:]) @ weighted[-3:]
        return np.concatenate([weighted[:-3], turned])
