"""What a frame misses of a pose that moves, with the orientation measured in one of several ways.

    "rotation vector"       l = log(R_t R^T), the angle from 0 to pi; partial tasks as in `task`
    "vect"                  vect(R_t R^T) = sin(angle) e; zero at a half-turn too, though the frame is not there
    "zyx moving", ...       differences of Euler angles, every sequence of `orientation`; no rates at gimbal lock
The first two go with the angular velocity itself, Euler angles with their rates, f' = B(R) w. `margin` is zero where
the error says nothing: at a half-turn of vect, and where one of the two orientations is at gimbal lock.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ConventionError
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_quaternion
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.goal import Task, named_kernel, target_motion, task_error, task_jacobian
from cayley.kinematics.jacobians.velocity import jacobian
from cayley.kinematics.orientation import orientation as orientation_named
from cayley.model.tree import Tree


class Moment(NamedTuple):
    """Rows (m) of the error, (m, nv) of the Jacobian, and (m) of the motion of the target itself; the distance [m] and
    the angle [rad] that are missing, and the margin of the orientation's parameters, 1 where there is none."""

    error: Array
    jacobian: Array
    ahead: Array
    distance: Scalar
    angle: Scalar
    margin: Scalar


def moment_kernel(tree: Tree, frame: str, task: Task, orientation: str) -> Kernel[Moment]:
    """`(q, target, twist) -> Moment`, for a target that moves with a twist (v; w) in the root's axes."""
    if orientation != "rotation vector" and len(task.angular) != 3:
        raise ConventionError(f"the orientation error {orientation!r} is of all three angular rows: ask for the task "
                              '"pose" or "orientation", or leave it to "rotation vector"')
    if orientation not in ("rotation vector", "vect") and not orientation.endswith((" moving", " fixed")):
        raise ConventionError(f'an orientation error is "rotation vector", "vect" or of Euler angles as "zyx moving", '
                              f"not {orientation!r}")

    def text(q: Array, target: Array, twist: Array) -> Moment:
        if orientation == "rotation vector":
            linear, angular = task_error(tree, q, frame, target, task)
            return Moment(np.concatenate([linear, angular]), task_jacobian(tree, q, frame, target, task),
                          target_motion(tree, q, frame, target, task, twist), np.sqrt(linear @ linear),
                          np.sqrt(angular @ angular), 1.0 + 0.0 * q[0] if tree.nq else 1.0)
        return _whole(tree, q, frame, target, task, twist, orientation)

    rows = sum(task.rows)
    return named_kernel(tree, "moment_of", f"{frame} {orientation}",
                        f"({tree.nq}),(4,4),(6)->({rows}),({rows},{tree.nv}),({rows}),(),(),()", text)


def _whole(tree: Tree, q: Array, frame: str, target: Array, task: Task, twist: Array, orientation: str) -> Moment:
    here = frame_pose(tree, q, frame)
    there = Pose.of(target)
    J = jacobian(tree, q, frame, axes="world")
    missing = (there.p - here.p)[task.linear]
    turn = there.R @ here.R.T
    quaternion = quaternion_from_matrix.unchecked(turn)
    rotation = rotation_vector_from_quaternion.unchecked(quaternion)
    angle = np.sqrt(rotation @ rotation)
    if orientation == "vect":
        error = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        rows = J[3:]
        ahead = twist[3:]
        margin = quaternion[0]
    else:
        named = orientation_named(orientation)
        off = named.parameters(there.R) - named.parameters(here.R)
        error = np.arctan2(np.sin(off), np.cos(off))
        rows = named.rate_map(here.R) @ J[3:]
        ahead = named.rate_map(there.R) @ twist[3:]
        margin = np.minimum(named.margin(here.R), named.margin(there.R))
    return Moment(np.concatenate([missing, error]), np.concatenate([J[:3][task.linear], rows]),
                  np.concatenate([twist[:3][task.linear], ahead]), np.sqrt(missing @ missing), angle, margin)
