"""The kernels of a task: its errors and its Jacobian, and the motion of the joints.

Each is made once for a mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.inverse.bounds import Bounds
from cayley.kinematics.inverse.goal import Goal
from cayley.kinematics.inverse.step import integrate, velocity_scale
from cayley.kinematics.inverse.task import Task, task_jacobian
from cayley.model.constraint_kinds import Constraint
from cayley.model.tree import Tree


class Errors(NamedTuple):
    """Norms of the asked linear rows [m], of the angular rows [rad], and of all rows together, those of constraints
    among them; and of these alone."""

    position: Array
    angle: Scalar
    residual: Scalar
    opening: Scalar


def error_kernel(tree: Tree, frame: str, task: Task, constraints: Sequence[Constraint] = ()) -> Kernel:
    """`(q, target) -> Errors`."""
    goal = Goal(tree, frame, task, tuple(constraints))

    def text(q: Array, target: Array) -> Errors:
        position2, angle2, opening2 = (part @ part for part in goal.missing(q, target))
        return Errors(np.sqrt(position2), np.sqrt(angle2), np.sqrt(position2 + angle2 + opening2), np.sqrt(opening2))
    return named_kernel(tree, "task_errors_of", frame, f"({tree.nq}),(4,4)->(),(),(),()", text)


def opening_kernel(tree: Tree, constraints: Sequence[Constraint]) -> Kernel:
    """`(q, t)` -> the length of what constraints leave open [m, rad], and in the size of the machine."""
    goal = Goal(tree, None, None, tuple(constraints))

    def text(q: Array, t: Scalar) -> tuple[Scalar, Scalar]:
        missing = goal.missing(q, t)
        return np.sqrt(missing.opening @ missing.opening), np.sqrt(goal.square(missing))
    return named_kernel(tree, "opening_of", "", f"({tree.nq}),()->(),()", text)


def jacobian_kernel(tree: Tree, frame: str, task: Task, bounds: Bounds) -> Kernel:
    """`(q, target)` -> the rows of the task (m, nv), with lengths measured in the size of the chain."""
    def text(q: Array, target: Array) -> Array:
        rows = np.array([1.0 / bounds.size] * len(task.linear) + [1.0] * len(task.angular))
        return rows[:, None] * task_jacobian(tree, q, frame, target, task) * velocity_scale(tree, bounds)
    return named_kernel(tree, "task_jacobian_of", frame, f"({tree.nq}),(4,4)->({sum(task.rows)},{tree.nv})", text)


def allowed_jacobian(tree: Tree, frame: str, task: Task, bounds: Bounds,
                     constraints: Sequence[Constraint]) -> Callable[[Array, Array], Array]:
    """`(q, target)` -> the rows of the task by orthonormal velocities that the constraints allow, (..., m, k)."""
    rows = jacobian_kernel(tree, frame, task, bounds)
    own = Goal(tree, None, None, tuple(constraints))
    held = sum(constraint.positions for constraint in constraints)
    scale = velocity_scale(tree, bounds) * bounds.free
    sizes = own.sizes
    constrained = named_kernel(tree, "constraint_rows_of", frame, f"({tree.nq})->({held},{tree.nv})",
                         lambda q: own.jacobian(q, np.zeros(())) * scale / sizes[:, None])

    def allowed(q: Array, target: Array) -> Array:
        A = np.asarray(constrained(q))
        V = np.linalg.svd(A)[2]
        null = np.swapaxes(V[..., int(np.max(rank_of(A), initial=0)):, :], -1, -2)
        return (rows(q, target) * bounds.free) @ (null * bounds.free[:, None])

    return allowed


def motion_kernel(tree: Tree) -> Kernel:
    """`(q, qd)` -> where the constant velocity qd leads from q in unit time."""
    return named_kernel(tree, "motion_of", "", f"({tree.nq}),({tree.nv})->({tree.nq})",
                        lambda q, qd: integrate(tree, q, qd))


def named_kernel(tree: Tree, name: str, frame: str, signature: str, text: Callable[..., Any]) -> Kernel[Any]:
    """A kernel that is called by what it is of."""
    return kernel(signature, name="".join(c if c.isalnum() else "_" for c in f"{name}_{tree.name}_{frame}"))(text)
