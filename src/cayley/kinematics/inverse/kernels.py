"""The kernels of a task: its errors and its Jacobian, and the motion of the joints.

Each is made once for a mechanism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.typing import Array
from cayley.kinematics.inverse.bounds import Bounds
from cayley.kinematics.inverse.goal import Goal, named_kernel
from cayley.kinematics.inverse.step import integrate, velocity_scale
from cayley.kinematics.inverse.task import Task, task_jacobian
from cayley.model.constraint_kinds import Constraint
from cayley.model.tree import Tree


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
