"""Compiled equations of a map of a mechanism with loops in a plane, the determinants that tell where it is singular,
and the configurations over the grid of the map on the branch of a start.

    A qd = 0, T J qd = xd      as many rows of the task as there are degrees of freedom: two lie in the plane of the
                               map, the others are held
    D_i = det (A; T J)         zero where the frame loses a motion (inverse)
    D_d = det (A; S)           zero where the frame moves although the actuated joints S qd are held (direct)

The places of the grid are reached one after the other by Newton's method from a neighbour, on the side of D_i = 0 where
the start is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import UnreachableError, UnsupportedError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.space import actuation
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.frame_kernels import integrate_kernel, rate_kernel
from cayley.kinematics.inverse.goal import Task, task_error, task_jacobian
from cayley.kinematics.loops.closing import close, is_within_limits
from cayley.model.tree import Tree


class MapFields:
    """The compiled functions of a mechanism, a frame and a task."""

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


_NEWTON = 8
_REACHED = 1e-9  # [m, rad]
_FARTHEST = 1.0  # [rad, m]: a neighbour is not farther in any joint


@dataclass(frozen=True, eq=False)
class MapGrid:
    """The fields, the start, and the places of the grid."""

    fields: MapFields
    start: ArrayLike
    horizontal: Array
    vertical: Array

    @cached_property
    def _begun(self) -> Array:
        tree = self.fields.tree
        closed = close(tree, np.asarray(self.start, dtype=float))
        if closed.configuration.shape != (tree.nq,) or closed.status == "open":
            raise UnreachableError(f"a map starts at one closed configuration ({tree.nq}) of {tree.name}: none was "
                                   "found near the start")
        return closed.configuration

    @cached_property
    def cell(self) -> float:
        """The width of a cell [m]."""
        return float(max(self.horizontal[1] - self.horizontal[0], self.vertical[1] - self.vertical[0]))

    def target(self, places: Array) -> Array:
        """Poses (..., 4, 4) of the frame at places (..., 2) of the plane, otherwise as at the start."""
        target = np.broadcast_to(self.fields.place(self._begun), (*places.shape[:-1], 4, 4)).copy()
        for k, axis in enumerate(self.fields.flat):
            target[..., axis, 3] = places[..., k]
        return target

    def reached(self) -> Array:
        """Configurations (k, l, nq), NaN where the branch does not get to."""
        here = self.fields.place(self._begun)[list(self.fields.flat), 3]
        first = np.array([np.abs(self.vertical - here[1]).argmin(), np.abs(self.horizontal - here[0]).argmin()])
        goal = np.array([self.horizontal[first[1]], self.vertical[first[0]]])
        q = self._begun
        for part in np.linspace(0, 1, 2 + int(np.linalg.norm(goal - here) / self.cell))[1:]:
            q, fine = self._moved(q[None], (here + part * (goal - here))[None])
            q = q[0]
            if not fine[0]:
                raise UnreachableError(
                    f"the frame is at {here.round(6).tolist()} at the start, and does not get into the box from there")
        found = np.full((len(self.vertical), len(self.horizontal), self.fields.tree.nq), np.nan)
        found[tuple(first)] = q
        front = first[None]
        while len(front):
            front = self._spread(found, front)
        return found

    def _spread(self, found: Array, front: Array) -> Array:
        """The neighbours (n, 2) of the front that were reached."""
        steps = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
        pairs = np.concatenate([np.stack([front, front + step], axis=1) for step in steps])
        inside = ((pairs[:, 1] >= 0) & (pairs[:, 1] < found.shape[:2])).all(axis=1)
        pairs = pairs[inside]
        pairs = pairs[np.isnan(found[tuple(pairs[:, 1].T)]).any(axis=-1)]
        if not len(pairs):
            return pairs[:, 1]
        places = np.stack([self.horizontal[pairs[:, 1, 1]], self.vertical[pairs[:, 1, 0]]], axis=1)
        q, fine = self._moved(found[tuple(pairs[:, 0].T)], places)
        found[tuple(pairs[fine, 1].T)] = q[fine]
        return np.unique(pairs[fine, 1], axis=0)

    @cached_property
    def side(self) -> float:
        """The sign of D_i on the branch."""
        return float(np.sign(self.fields.step(self._begun, self.fields.place(self._begun))[2]))

    def _moved(self, starts: Array, places: Array) -> tuple[Array, Array]:
        """Configurations (n, nq) at places (n, 2) from others nearby, and which of them are on the branch."""
        targets = self.target(places)
        q = starts.copy()
        fine = np.ones(len(q), dtype=bool)
        for _ in range(_NEWTON):
            step, missing, _ = self.fields.step(q, targets)
            fine &= np.isfinite(step).all(axis=-1)
            step = np.where(fine[:, None], step, 0.0)
            fine &= np.abs(step).max(axis=-1) < _FARTHEST
            q = self.fields.integrate(q, np.where(fine[:, None], step, 0.0))
            if not fine.any() or np.abs(missing[fine]).max() < 1e-13:
                break
        _, missing, D = self.fields.step(q, targets)
        near = np.abs(q - starts).max(axis=-1) < _FARTHEST
        fine &= (np.abs(missing).max(axis=-1) < _REACHED) & (np.sign(D) == self.side) & near
        return q, fine & is_within_limits(self.fields.tree, q)

    def places(self, q: Array) -> Array:
        """The places of the frame in the plane (..., 2)."""
        return self.fields.place(q)[..., list(self.fields.flat), 3]

    def contains(self, place: Array) -> bool:
        """True if a place (2) is in the box."""
        return bool(self.horizontal[0] <= place[0] <= self.horizontal[-1]
                    and self.vertical[0] <= place[1] <= self.vertical[-1])
