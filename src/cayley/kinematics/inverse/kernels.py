"""The kernels of a task: its errors, its Jacobian, and what is needed to follow a path.

Each is made once for a mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.inverse.bounds import Bounds
from cayley.kinematics.inverse.step import integrate, velocity_scale
from cayley.kinematics.inverse.task import Task, target_motion, task_error, task_jacobian
from cayley.model.tree import Tree


class Errors(NamedTuple):
    """Norms of the asked linear rows [m], of the angular rows [rad], and of both together."""

    position: Array
    angle: Scalar
    residual: Scalar


class Moment(NamedTuple):
    """Rows (m) of the error, (m, nv) of the Jacobian, and (m) of the motion of the target itself."""

    error: Array
    jacobian: Array
    ahead: Array


def error_kernel(tree: Tree, frame: str, task: Task) -> Kernel:
    """`(q, target) -> Errors`."""
    def text(q: Array, target: Array) -> Errors:
        linear, angular = task_error(tree, q, frame, target, task)
        position2 = linear @ linear
        angle2 = angular @ angular
        return Errors(np.sqrt(position2), np.sqrt(angle2), np.sqrt(position2 + angle2))
    return _named(tree, "task_errors_of", frame, f"({tree.nq}),(4,4)->(),(),()", text)


def jacobian_kernel(tree: Tree, frame: str, task: Task, bounds: Bounds) -> Kernel:
    """`(q, target)` -> the rows of the task (m, nv), with lengths measured in the size of the chain."""
    def text(q: Array, target: Array) -> Array:
        rows = np.array([1.0 / bounds.size] * len(task.linear) + [1.0] * len(task.angular))
        return rows[:, None] * task_jacobian(tree, q, frame, target, task) * velocity_scale(tree, bounds)
    return _named(tree, "task_jacobian_of", frame, f"({tree.nq}),(4,4)->({sum(task.rows)},{tree.nv})", text)


def moment_kernel(tree: Tree, frame: str, task: Task) -> Kernel:
    """`(q, target, twist) -> Moment`, for a target that moves with a twist (v; w) in the root's axes."""
    def text(q: Array, target: Array, twist: Array) -> Moment:
        error = np.concatenate(task_error(tree, q, frame, target, task))
        return Moment(error, task_jacobian(tree, q, frame, target, task),
                      target_motion(tree, q, frame, target, task, twist))
    rows = sum(task.rows)
    return _named(tree, "moment_of", frame, f"({tree.nq}),(4,4),(6)->({rows}),({rows},{tree.nv}),({rows})", text)


def motion_kernel(tree: Tree) -> Kernel:
    """`(q, qd)` -> where the constant velocity qd leads from q in unit time."""
    return _named(tree, "motion_of", "", f"({tree.nq}),({tree.nv})->({tree.nq})", lambda q, qd: integrate(tree, q, qd))


def _named(tree: Tree, name: str, frame: str, signature: str, text: Callable[..., Any]) -> Kernel:
    return kernel(signature, name="".join(c if c.isalnum() else "_" for c in f"{name}_{tree.name}_{frame}"))(text)
