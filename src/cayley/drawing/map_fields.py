"""What a map of a mechanism with loops is made of, compiled: its equations in a plane, and the determinants that tell
where it is singular.

    A qd = 0, T J qd = xd      as many rows of the task as there are degrees of freedom: two lie in the plane of the
                               map, the others are held
    D_i = det (A; T J)         zero where the frame loses a motion (inverse)
    D_d = det (A; S)           zero where the frame moves although the actuated joints S qd are held (direct)
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, Scalar
from cayley.errors import UnsupportedError
from cayley.kinematics.configuration_kernels import integrate_kernel, rate_kernel
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.actuation import actuation
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.task import Task, task_error, task_jacobian
from cayley.model.tree import Tree


class MapFields:
    """What is compiled for a mechanism, a frame and a task."""

    def __init__(self, tree: Tree, frame: str, rows: tuple[bool, ...], flat: tuple[int, int]) -> None:
        check_untimed(tree)
        structure = constraint_structure(tree)
        if actuation(tree).kind != "fully actuated" or not structure.by_structure:
            raise UnsupportedError(
                f"a map with singular curves is of a mechanism with as many drives as degrees of freedom, whose "
                f"redundant constraints are the same everywhere: {tree.name} is {actuation(tree)}")
        self.tree = tree
        self.frame = frame
        self.task = Task(rows, "world")
        self.flat = flat
        self.chosen = [k for k, asked in enumerate(rows) if asked]
        self.leading = list(structure.leading)
        self.drives = list(tree.actuated_velocities)
        self.in_plane = [len(self.leading) + self.chosen.index(k) for k in flat]
        self.integrate = kept(tree, "integrate", lambda: integrate_kernel(tree))

    def _equations(self, q: Array, target: Array) -> tuple[Array, Array]:
        """The rows (nv, nv) of constraints and task, and what is missing (nv)."""
        missing = np.concatenate(task_error(self.tree, q, self.frame, target, self.task))
        rows = task_jacobian(self.tree, q, self.frame, target, self.task)
        A = constraints.jacobian(self.tree, q)[self.leading]
        left = constraints.residual(self.tree, q)[self.leading]
        return wrapped(np.concatenate([A, rows])), np.concatenate([-left, missing])

    @cached_property
    def equations(self) -> Kernel[tuple[Array, Array]]:
        n = self.tree.nv
        return kernel(f"({self.tree.nq}),(4,4)->({n},{n}),({n})", name="equations", outputs=("rows", "missing"))(
            self._equations)

    @cached_property
    def step(self) -> Kernel[tuple[Array, Array, Array]]:
        """One step of Newton's method (nv), what is missing (nv), and D_i."""
        def step(q: Array, target: Array) -> tuple[Array, Array, Scalar]:
            rows, missing = self._equations(q, target)
            return np.linalg.solve(rows, missing), missing, np.linalg.det(rows)

        n = self.tree.nv
        return kernel(f"({self.tree.nq}),(4,4)->({n}),({n}),()", outputs=("step", "missing", "D"))(step)

    @cached_property
    def place(self) -> Kernel:
        return kernel(f"({self.tree.nq})->(4,4)", name="place")(
            lambda q: frame_pose(self.tree, q, self.frame).matrix)

    @cached_property
    def rates(self) -> Kernel:
        """The velocities of the actuated joints by those of the task, (m, m)."""
        m = len(self.chosen)

        def rates(q: Array) -> Array:
            rows, _ = self._equations(q, frame_pose(self.tree, q, self.frame).matrix)
            right = np.concatenate([np.zeros((len(self.leading), m)), np.eye(m)])
            return np.linalg.solve(rows, right)[self.drives]

        return kernel(f"({self.tree.nq})->({m},{m})", name="rates")(rates)

    def _determinant(self, q: Array, direct: bool) -> Scalar:
        if direct:
            A = constraints.jacobian(self.tree, q)[self.leading]
            others = [k for k in range(self.tree.nv) if k not in self.drives]
            return np.linalg.det(wrapped(A)[:, others])
        return np.linalg.det(self._equations(q, frame_pose(self.tree, q, self.frame).matrix)[0])

    def determinant(self, direct: bool) -> Kernel:
        """D_d or D_i with its gradient by the velocities, (1 + nv)."""
        def make() -> Kernel:
            n = self.tree.nq
            value = kernel(f"({n})->()", name="determinant", inputs=("q",))(lambda q: self._determinant(q, direct))
            slope = value.jacobian("q")
            by_velocity = rate_kernel(self.tree).jacobian("qd")

            def determinant(q: Array) -> Array:
                return np.concatenate([np.stack([value(q)]), slope(q) @ by_velocity(q, np.zeros(self.tree.nv))])

            return kernel(f"({n})->({1 + self.tree.nv})", inputs=("q",))(determinant)

        return kept(self, ("determinant", direct), make)
