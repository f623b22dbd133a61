"""One map between what a frame does and what the joints do: places, velocities, accelerations, forces, both ways.

    r = f(q)        r' = J qd        r'' = J qdd + J' qd        tau = J^T wrench        tau = ID(q, qd, qdd)
Ways down (from q) have one answer; ways back are results that say how many there are, and at singular postures what
cannot be done. Turns are angular velocities and rotation vectors in the root's axes: no Euler angles; they jump
at half-turns only. Source: Yamamoto 1.15, Fig. 2.2, Fig. 5.1, spec S3-50.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike
from cayley.control.task_space.task_error import FrameTask
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import SignatureError
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.inverse import InverseKinematicsResult, inverse_kinematics
from cayley.kinematics.singular.redundancy import RateSolutions, minimum_norm
from cayley.kinematics.statics import WrenchSolutions, wrench_from_joint_forces
from cayley.model.constraints import check_independent


@dataclass(frozen=True, eq=False)
class TaskMap:
    """Of the m rows of a frame's task; made by `task_map`. Everything broadcasts over leading axes."""

    asked: FrameTask

    # From the joints to the frame

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

    # And back

    def configuration(self, target: ArrayLike, start: ArrayLike | None = None, *,
                      limits: bool = True) -> InverseKinematicsResult:
        """A configuration that brings the frame to a pose (..., 4, 4), or a point (..., 3); `status` says whether."""
        given = np.asarray(target, dtype=float)
        wanted = self.asked.target.shape
        if given.shape[-len(wanted):] != wanted:
            raise SignatureError(f"a target of this task has the shape (..., {', '.join(map(str, wanted))}), not "
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
