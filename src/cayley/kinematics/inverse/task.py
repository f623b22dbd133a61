"""What is asked of a frame: all of its pose, its position, or chosen rows of the error, in named axes.

    x = p_t - p            what is missing in position, in the axes
    l = log(R_t R^T)       what is missing in orientation, if all three rows are asked: a rotation vector, its angle
                           from 0 to pi
    2 sin(phi/2) e         the same if only one or two rows are asked, from the quaternion of R_t R^T

The rows of the second form are smooth all the way round, because the free part of the rotation may have any angle. They
are to first order those of the first; two rows are zero exactly where the two frames share the third axis, and one
where the rotation that is missing has its axis across that row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError
from cayley.geometry.batch import numbers
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_quaternion
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.world_jacobian import jacobian
from cayley.model.tree import Tree

_NAMED = {"pose": (True,) * 6, "position": (True,) * 3 + (False,) * 3, "orientation": (False,) * 3 + (True,) * 3}
_AXES = ("world", "target", "body")


@dataclass(frozen=True)
class Task:
    """The rows of (x, y, z; x, y, z) that count, linear first, and the axes that they are along.

    `axes`: "world" (the root's), "target" (those of the asked pose), "body" (the frame's own), or the name of a frame.
    """

    rows: tuple[bool, ...] = (True,) * 6
    axes: str = "world"

    @classmethod
    def of(cls, tree: Tree, task: str | Sequence[bool], axes: str) -> Task:
        listed = tuple(bool(x) for x in task) if isinstance(task, Iterable) else None
        rows = _named_rows(task) if isinstance(task, str) else listed
        if rows is None or len(rows) != 6 or not any(rows):
            raise ConventionError(
                'a task is "pose", "position", "orientation", letters of a position ("xy", "z"), or six truth values '
                f"(x, y, z; x, y, z), linear first, not all of them false; not {task!r}")
        if axes not in _AXES:
            tree.frame(axes)
        partial = any(rows[:3]) != all(rows[:3]) or any(rows[3:]) != all(rows[3:])
        return cls(rows, axes if partial else "world")  # whole vectors have the same length in all axes

    @property
    def linear(self) -> list[int]:
        return [k for k in range(3) if self.rows[k]]

    @property
    def angular(self) -> list[int]:
        return [k for k in range(3) if self.rows[3 + k]]


def _named_rows(task: str) -> tuple[bool, ...] | None:
    """The rows of a task that has a name, or that is some of the letters x, y, z."""
    letters = len(task) == len(set(task)) and set(task) <= set("xyz")
    return _NAMED.get(task, tuple(axis in task for axis in "xyz") + (False,) * 3 if letters else None)


def as_targets(target: ArrayLike, task: Task) -> Array:
    """What is asked as poses (..., 4, 4): poses, or, of a task without orientation, points (..., 3), or as many numbers
    as the task has rows: (x, y) of a task "xy"."""
    given = numbers(target, "the poses")
    if given.shape[-2:] == (4, 4) or task.angular or given.ndim == 0 or given.shape[-1] not in (3, len(task.linear)):
        return given
    places = task.linear if given.shape[-1] == len(task.linear) else [0, 1, 2]
    if len(places) < 3 and task.axes != "world":
        raise ConventionError(f"{len(places)} numbers say where in the axes of the world; in those of {task.axes!r} a "
                              "task needs points of three coordinates")
    poses = np.broadcast_to(np.eye(4), (*given.shape[:-1], 4, 4)).copy()
    poses[..., places, 3] = given
    return poses


def task_error(tree: Tree, q: Array, frame: str, target: Array, task: Task) -> tuple[Any, Any]:
    """What is missing, as the asked linear rows [m] and the asked angular rows [rad]."""
    here = frame_pose(tree, q, frame)
    there = Pose.of(target)
    turn = _axes(tree, q, here, there, task).T
    missing, _ = _missing_turn(here, there, task)
    return (turn @ (there.p - here.p))[task.linear], (turn @ missing)[task.angular]


def task_jacobian(tree: Tree, q: Array, frame: str, target: Array, task: Task) -> Array:
    """The rows (m, nv) by which the velocities diminish the error: d(error)/dt = -rows @ v.

    With all three angular rows the error is the rotation vector l, and J itself stands for d l/dt = -(1 - hat(l)/2 +
    ...) J v: the two lead to the same step, since (1 - hat(l)/2 + ...) l = l, and the plain one is simpler.
    """
    here = frame_pose(tree, q, frame)
    there = Pose.of(target)
    J = jacobian(tree, q, frame, axes="world")
    turn = _axes(tree, q, here, there, task).T
    missing, to_missing = _missing_turn(here, there, task)
    spin = _spin_of_axes(tree, q, frame, task, J)
    linear = turn @ (J[:3] - hat(there.p - here.p) @ spin)
    angular = turn @ (to_missing @ J[3:] - hat(missing) @ spin)
    return np.concatenate([linear[task.linear], angular[task.angular]])


def target_motion(tree: Tree, q: Array, frame: str, target: Array, task: Task, twist: Array) -> Array:
    """The rows (m) by which the target's own motion (v; w) enlarges the error, for tasks in the root's axes."""
    _, to_missing = _missing_turn(frame_pose(tree, q, frame), Pose.of(target), task)
    return np.concatenate([twist[:3][task.linear], (to_missing.T @ twist[3:])[task.angular]])


def _axes(tree: Tree, q: Array, here: Pose, there: Pose, task: Task) -> Array:
    named = {"world": np.eye(3), "target": there.R, "body": here.R}
    return named[task.axes] if task.axes in named else frame_pose(tree, q, task.axes).R


def _spin_of_axes(tree: Tree, q: Array, frame: str, task: Task, J: Array) -> Array:
    """The angular velocity (3, nv) of the axes themselves."""
    if task.axes in ("world", "target"):
        return np.zeros((3, tree.nv))
    return J[3:] if task.axes == "body" else jacobian(tree, q, task.axes, axes="world")[3:]


def _missing_turn(here: Pose, there: Pose, task: Task) -> tuple[Any, Any]:
    """The angular error in the root's axes, and the matrix by which the angular velocity diminishes it."""
    if not task.angular:
        return np.zeros(3), np.zeros((3, 3))
    quaternion = quaternion_from_matrix.unchecked(there.R @ here.R.T)
    if len(task.angular) == 3:
        return rotation_vector_from_quaternion.unchecked(quaternion), np.eye(3)
    return 2.0 * quaternion[1:], quaternion[0] * np.eye(3) + hat(quaternion[1:])
