"""Goals of searches: the asked rows of a frame's pose, in named axes, the residuals of constraints, or both together.

    x = p_t - p            what is missing in position, in the axes
    l = log(R_t R^T)       in orientation, if all three rows are asked: a rotation vector, its angle from 0 to pi
    2 sin(phi/2) e         if only one or two are: from the quaternion of R_t R^T, smooth all the way round, equal to
                           the rotation vector to first order; two rows are zero where the frames share the third axis
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError
from cayley.geometry.batch import numbers
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_quaternion
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.constraints.rows import RowName, jacobian_of, least_sense, residual_of, row_names, row_sizes
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians.velocity import jacobian
from cayley.model.constraint_kinds import Constraint
from cayley.model.tree import Tree

_NAMED = {"pose": (True,) * 6, "position": (True,) * 3 + (False,) * 3, "orientation": (False,) * 3 + (True,) * 3}
_AXES = ("world", "target", "body")


@dataclass(frozen=True)
class Task:
    """The rows of (x, y, z; x, y, z) that count, linear first, and the axes that they are along. `axes`: "world" (the
    root's), "target" (those of the asked pose), "body" (the frame's own), or the name of a frame."""

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
    """The targets as poses (..., 4, 4): poses, or, of a task without orientation, points (..., 3), or as many numbers
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
    """The error of a pose: the asked linear rows [m] and the asked angular rows [rad]."""
    here = frame_pose(tree, q, frame)
    there = Pose.of(target)
    turn = _axes(tree, q, here, there, task).T
    missing, _ = _missing_turn(here, there, task)
    return (turn @ (there.p - here.p))[task.linear], (turn @ missing)[task.angular]


def task_jacobian(tree: Tree, q: Array, frame: str, target: Array, task: Task) -> Array:
    """The rows (m, nv) by which the velocities diminish the error: d(error)/dt = -rows @ v. With all three angular rows
    the error is the rotation vector l, and J itself stands for d l/dt = -(1 - hat(l)/2 + ...) J v: the two lead to the
    same step, since (1 - hat(l)/2 + ...) l = l, and the plain one is simpler."""
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


class Errors(NamedTuple):
    """Norms of the asked linear rows [m], of the angular rows [rad], of all rows, and of what constraints leave open
    [m, rad]; without a task that of all rows is in the size of the machine."""

    position: Scalar
    angle: Scalar
    residual: Scalar
    opening: Scalar


class TaskError(NamedTuple):
    """The linear rows of the task that are missing [m], the angular ones [rad], and what constraints leave open."""

    linear: Any
    angular: Any
    opening: Any


@dataclass(frozen=True, eq=False)
class Goal:
    """A task of a frame, or none, and constraints to be kept."""

    tree: Tree
    frame: str | None
    task: Task | None
    constraints: tuple[Constraint, ...] = ()

    @property
    def target(self) -> str:
        """The target in a signature: a pose, or the time, if a constraint depends on it."""
        return "(4,4)" if self.task else "()"

    def missing(self, q: Array, target: Array) -> TaskError:
        opening = [-residual_of(self.tree, each, q, self._time(target))[:each.positions] for each in self.constraints]
        linear, angular = task_error(self.tree, q, self.frame, target, self.task) if self.task and self.frame else (
            np.zeros(0), np.zeros(0))
        return TaskError(linear, angular, np.concatenate(opening) if opening else np.zeros(0))

    def is_meant(self, q: Array) -> Scalar:
        """True if constraints that have two senses are kept in the right one."""
        return least_sense(self.tree, q, self.constraints) > 0

    def jacobian(self, q: Array, target: Array) -> Array:
        """The rows (m, nv) by which the velocities diminish what is missing."""
        parts = [jacobian_of(self.tree, each, q, self._time(target))[:each.positions] for each in self.constraints]
        if self.task and self.frame:
            parts.insert(0, task_jacobian(self.tree, q, self.frame, target, self.task))
        return np.concatenate(parts)

    def _time(self, target: Array) -> Scalar:
        return None if self.task else target

    def weights(self, missing: TaskError, size: float) -> Array:
        """The weight of each row; the lengths of the task are measured in the size of the chain, those of constraints
        in that of the machine."""
        task = [1.0 / size] * len(missing.linear) + [1.0] * len(missing.angular)
        return np.concatenate([task, 1.0 / self.sizes])

    def square(self, missing: TaskError) -> Scalar:
        """The sum of the squares of what is missing [m, rad], and open, in the size of the machine."""
        parts = (missing.linear, missing.angular, missing.opening / self.sizes)
        return sum((part @ part for part in parts if len(part)), start=0.0)

    def errors(self) -> Kernel[Errors]:
        """The kernel `(q, target) -> Errors`."""
        def text(q: Array, target: Array) -> Errors:
            missing = self.missing(q, target)
            position2, angle2, opening2 = (part @ part for part in missing)
            whole = position2 + angle2 + opening2 if self.task else self.square(missing)
            return Errors(np.sqrt(position2), np.sqrt(angle2), np.sqrt(whole), np.sqrt(opening2))

        return named_kernel(self.tree, "errors_of", self.frame or "constraints",
                            f"({self.tree.nq}),{self.target}->(),(),(),()", text)

    @property
    def sizes(self) -> Array:
        """The units in which the rows of the constraints are measured."""
        if not self.constraints:
            return np.zeros(0)
        of_each = dict(zip(row_names(self.tree), row_sizes(self.tree), strict=True))
        return np.array([of_each[RowName(each.name, holds)] for each in self.constraints
                         for holds in each.row_names[:each.positions]])


def named_kernel(tree: Tree, name: str, frame: str, signature: str, text: Callable[..., Any]) -> Kernel[Any]:
    """The kernel of a text, with the names of the mechanism and of the frame in its own."""
    return kernel(signature, name="".join(c if c.isalnum() else "_" for c in f"{name}_{tree.name}_{frame}"))(text)
