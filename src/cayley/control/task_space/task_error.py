"""The task of a frame: its error against a target and the rows of the Jacobian that go with it, for laws in the
workspace, and the maps between what the frame does and what the joints do.

    e = (p_d - p; l)        l = the rotation vector of R_d R^T, in the root's axes, its angle from 0 to pi
    e' = (-v; -B(l)^T w)    of a target that stands; B is the map from angular velocities to rates of rotation vectors
l is no difference of Euler angles, has no wrap-around but at half-turns, where it jumps to the other side, and is
nowhere singular. Ways back from the frame to the joints are results that say how many answers there are, and at
singular postures what cannot be done. Source of the maps: Yamamoto 1.15, Fig. 2.2, Fig. 5.1, spec S3-50."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, law_ports, tree_for
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import SignatureError, UnsupportedError
from cayley.geometry.rates.charts import world_velocity_map_inverse
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_quaternion
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.inverse import InverseKinematicsResult, inverse_kinematics
from cayley.kinematics.inverse.goal import Task
from cayley.kinematics.jacobians.general_jacobian import general_jacobian, jacobian_rate
from cayley.kinematics.singular.redundancy import RateSolutions, minimum_norm
from cayley.kinematics.statics import WrenchSolutions, wrench_from_joint_forces
from cayley.model.constraints import check_independent
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


@dataclass(frozen=True, eq=False)
class TaskMap:
    """Maps between joints and the m rows of a frame's task; made by `task_map`. Everything broadcasts over leading
    axes."""

    asked: FrameTask

    @cached_property
    def place(self) -> Kernel:
        """`place(q)`: the pose (..., 4, 4), or the point (..., 3) if turns do not count."""
        tree = self.asked.tree
        turns = self.asked.turns

        def place(q: Array) -> Array:
            pose = frame_pose(tree, q, self.asked.frame)
            return pose.matrix if turns else pose.p

        return kernel(sized(tree, "(q)->(4,4)" if turns else "(q)->(3)"))(place)

    @cached_property
    def jacobian(self) -> Kernel:
        """`jacobian(q)`: J (..., m, nv)."""
        return kernel(sized(self.asked.tree, f"(q)->({self.asked.size},v)"), name="jacobian")(self.asked.jacobian)

    @cached_property
    def velocity(self) -> Kernel:
        """`velocity(q, qd)`: r' (..., m)."""
        return kernel(sized(self.asked.tree, f"(q),(v)->({self.asked.size})"), name="velocity")(
            lambda q, qd: self.asked.jacobian(q) @ qd)

    @cached_property
    def bias(self) -> Kernel:
        """`bias(q, qd)`: J' qd (..., m)."""
        return kernel(sized(self.asked.tree, f"(q),(v)->({self.asked.size})"), name="bias")(self.asked.bias)

    @cached_property
    def acceleration(self) -> Kernel:
        """`acceleration(q, qd, qdd)`: r'' (..., m)."""
        return kernel(sized(self.asked.tree, f"(q),(v),(v)->({self.asked.size})"), name="acceleration")(
            lambda q, qd, qdd: self.asked.jacobian(q) @ qdd + self.asked.bias(q, qd))

    @cached_property
    def error(self) -> Kernel:
        """`error(q, target)`: what is missing (..., m), turns as a rotation vector."""
        target = ",".join(map(str, self.asked.target.shape))
        return kernel(sized(self.asked.tree, f"(q),({target})->({self.asked.size})"), name="error")(self.asked.error)

    @cached_property
    def joint_forces(self) -> Kernel:
        """`joint_forces(q, wrench)`: tau (..., nv) that exert the rows (..., m) of a wrench at rest."""
        return kernel(sized(self.asked.tree, f"(q),({self.asked.size})->(v)"), name="joint_forces")(
            lambda q, wrench: self.asked.jacobian(q).T @ wrench)

    def acceleration_under(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> Array:
        """r'' (..., m) under joint forces."""
        return self.acceleration(q, qd, forward_dynamics_kernel(self.asked.tree)(q, qd, tau))

    def configuration(self, target: ArrayLike, start: ArrayLike | None = None, *,
                      limits: bool = True) -> InverseKinematicsResult:
        """A configuration that brings the frame to a pose (..., 4, 4), or a point (..., 3); `status` says whether."""
        given = np.asarray(target, dtype=float)
        wanted = self.asked.target.shape
        if given.shape[-len(wanted):] != wanted:
            raise SignatureError(f"a target of this task must have the shape (..., {', '.join(map(str, wanted))}), not "
                                 f"{given.shape}")
        if not self.asked.turns:
            pose = np.zeros((*given.shape[:-1], 4, 4)) + np.eye(4)
            pose[..., :3, 3] = given
            given = pose
        rows = [row in self.asked.rows for row in range(6)]
        return inverse_kinematics(self.asked.tree, given, self.asked.frame, start=start, limits=limits, task=rows)

    def joint_velocity(self, q: ArrayLike, velocity: ArrayLike) -> RateSolutions:
        """The least qd that gives r' (..., m), and how many others do; at a singular posture there may be none."""
        return minimum_norm(self.jacobian(q), velocity)

    def joint_acceleration(self, q: ArrayLike, qd: ArrayLike, acceleration: ArrayLike) -> RateSolutions:
        """The least qdd, as its `velocities`, that gives r'' (..., m)."""
        return minimum_norm(self.jacobian(q), acceleration - self.bias(q, qd))

    def wrench(self, q: ArrayLike, tau: ArrayLike) -> WrenchSolutions:
        """The rows (..., m) of the wrench that joint forces exert at rest, and what they cannot tell of it."""
        return wrench_from_joint_forces(self.jacobian(q), tau)

    def forces_for(self, q: ArrayLike, qd: ArrayLike, acceleration: ArrayLike) -> Array:
        """tau (..., nv) for r'' (..., m), with the least qdd; at singular postures for what of it can be done."""
        least = self.joint_acceleration(q, qd, acceleration).velocities
        return inverse_dynamics_kernel(self.asked.tree)(q, qd, least)


def task_map(arm: ArmLike, frame: str, *, task: str | Sequence[bool] = "pose") -> TaskMap:
    """The map of a frame of an arm; `task` is "pose", "position", "orientation" or six truth values, linear first.

    >>> import cayley as cy
    >>> hand = task_map(cy.load("planar2r"), "tool", task=[True, True, False, False, False, False])
    >>> q = [0.3, 0.7]
    >>> hand.joint_velocity(q, hand.velocity(q, [0.5, -0.2])).velocities.round(12)
    array([ 0.5, -0.2])
    >>> hand.joint_velocity([0.3, 0.0], [1.0, 0.0]).status  # stretched out
    'none'
    """
    asked = FrameTask.of(arm, frame, task, "a map of a task", pushes=False)
    check_independent(asked.tree, "a map of a task")
    return TaskMap(asked)
