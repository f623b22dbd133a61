"""What a search brings to zero: the asked rows of a frame's pose, the residuals of constraints, or both together.

Constraints are rows like any others: a configuration of a mechanism with loops that brings a frame to a target is one
that does so and closes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.constraints.rows import RowName, jacobian_of, least_sense, residual_of, row_names
from cayley.kinematics.constraints.scale import row_sizes
from cayley.kinematics.inverse.task import Task, task_error, task_jacobian
from cayley.model.constraint_kinds import Constraint
from cayley.model.tree import Tree


class Errors(NamedTuple):
    """Norms of the asked linear rows [m], of the angular rows [rad], of all rows, and of what constraints leave open
    [m, rad]; without a task that of all rows is in the size of the machine."""

    position: Scalar
    angle: Scalar
    residual: Scalar
    opening: Scalar


class Missing(NamedTuple):
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

    def missing(self, q: Array, target: Array) -> Missing:
        opening = [-residual_of(self.tree, each, q, self._time(target))[:each.positions] for each in self.constraints]
        linear, angular = task_error(self.tree, q, self.frame, target, self.task) if self.task and self.frame else (
            np.zeros(0), np.zeros(0))
        return Missing(linear, angular, np.concatenate(opening) if opening else np.zeros(0))

    def is_meant(self, q: Array) -> Scalar:
        """Whether constraints that are kept are so the right way round."""
        return least_sense(self.tree, q, self.constraints) > 0

    def jacobian(self, q: Array, target: Array) -> Array:
        """The rows (m, nv) by which the velocities diminish what is missing."""
        parts = [jacobian_of(self.tree, each, q, self._time(target))[:each.positions] for each in self.constraints]
        if self.task and self.frame:
            parts.insert(0, task_jacobian(self.tree, q, self.frame, target, self.task))
        return np.concatenate(parts)

    def _time(self, target: Array) -> Scalar:
        return None if self.task else target

    def weights(self, missing: Missing, size: float) -> Array:
        """Of each row; the lengths of the task are measured in the size of the chain, those of constraints in that of
        the machine."""
        task = [1.0 / size] * len(missing.linear) + [1.0] * len(missing.angular)
        return np.concatenate([task, 1.0 / self.sizes])

    def square(self, missing: Missing) -> Scalar:
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
        """What the rows of the constraints are measured in."""
        if not self.constraints:
            return np.zeros(0)
        of_each = dict(zip(row_names(self.tree), row_sizes(self.tree), strict=True))
        return np.array([of_each[RowName(each.name, holds)] for each in self.constraints
                         for holds in each.row_names[:each.positions]])


def named_kernel(tree: Tree, name: str, frame: str, signature: str, text: Callable[..., Any]) -> Kernel[Any]:
    """The kernel of a text, with the names of the mechanism and of the frame in its own."""
    return kernel(signature, name="".join(c if c.isalnum() else "_" for c in f"{name}_{tree.name}_{frame}"))(text)
