"""Numeric inverse kinematics: damped searches from several starts, for one pose or a whole batch, with any joints.

Attempt 0 begins at the given start, or near the middle of the ranges; the others at points that a seed scatters over
the ranges, the same for every target. Sources: Mladenova, the kinematic control of 3.1 and 7.1 (spec R-27); Yamamoto
1.9; the damping is that of T. Sugihara, "Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method",
IEEE Transactions on Robotics 27 (2011)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.made_once import kept
from cayley.compiler.signature import joined_batch
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import rank_of
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError, SignatureError
from cayley.geometry.batch import numbers
from cayley.geometry.motions.homogeneous import check_pose, pose_defect
from cayley.geometry.pose import Pose
from cayley.geometry.rotations.quaternion import check_unit_quaternion
from cayley.kinematics.inverse.bounds import Bounds, bounds_of, reach_from_first_joint
from cayley.kinematics.inverse.goal import Goal, Task, as_targets, named_kernel, task_jacobian
from cayley.kinematics.inverse.search import (
    FRESH,
    STALLED,
    Found,
    GoalSearch,
    PoseSearch,
    first_of_each,
    iterations_of_a_call,
    quick_search,
    search,
    velocity_scale,
)
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_on
from cayley.model.tree import Tree


def inverse_kinematics(tree: Tree, target: ArrayLike, frame: str, *, start: ArrayLike | None = None,
                       tolerance: float = 1e-10, limits: bool = True, task: str | Sequence[bool] = "pose",
                       axes: str = "world",
                       restarts: int = 100, iterations: int = 200, seed: int = 0) -> InverseKinematicsResult:
    """A configuration that brings a frame to a pose; see `InverseKinematicsResult`. Joints that constraints tie to
    those on the way move with them: in it loops are closed, too. Turns without limits are returned between -pi and pi.

    target       poses (..., 4, 4) in the root's frame; of a task without orientation also points (..., 3), or (x, y)
                 (..., 2) of the task "xy"
    start        configurations (..., nq) to begin at, brought to their limits; joints that the frame does not depend on
                 stay where they are in it
    tolerance    of the residual: the norm of the asked rows, metres and radians together
    limits       False ignores the limits of the joints
    task         "pose", "position", "orientation", some letters of a position ("xy"), or which of the rows (x, y, z;
                 x, y, z) of the error count, linear first
    axes         in which the rows of a partial task are: "world", "target", "body", or the name of a frame
    restarts     attempts after the first, `iterations` for each at most (in fives), `seed` of their starts

    >>> from cayley.model.catalogue import load_robot
    >>> target = np.array([[1.0, 0.0, 0.0, 0.5], [0.0, -1.0, 0.0, 0.2], [0.0, 0.0, -1.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
    >>> found = inverse_kinematics(load_robot("puma560"), target, "tool")
    >>> found.status, bool(found.residual <= 1e-10), bool(found.limits_hit.any())
    ('solved', True, False)
    >>> target[0, 3] = 1.5
    >>> inverse_kinematics(load_robot("puma560"), target, "tool").reason
    'beyond the reach of the chain'
    """
    return solver_of(tree, frame, task, axes, limits).solve(target, start, tolerance, restarts, iterations, seed)


def distinct_solutions(tree: Tree, target: Array, frame: str, *, starts: int = 200, tolerance: float = 1e-10,
                       limits: bool = True, task: str | Sequence[bool] = "pose", axes: str = "world",
                       iterations: int = 200, seed: int = 0, apart: float = 1e-4) -> InverseKinematicsResult:
    """The different configurations that searches from many starts find for one pose (4, 4), as a batch, in the order of
    the starts. Two are the same if they differ by whole turns, or by less than `apart`. A search proves nothing about
    what it has not found; of a continuum of solutions (a redundant arm, a singular pose) these are samples.

    >>> from cayley.model.catalogue import load_robot
    >>> target = np.array([[1.0, 0.0, 0.0, 0.6], [0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> found = distinct_solutions(load_robot("planar2r"), target, "tool",
    ...                            task=(True, True, False, False, False, False))
    >>> sorted(found.branch)                                                                  # elbow up, elbow down
    [np.float64(-1.0), np.float64(1.0)]
    """
    if np.shape(target) != (4, 4):
        raise SignatureError(
            f"distinct_solutions takes one pose (4, 4), not {np.shape(target)}: poses have different numbers of "
            "solutions"
        )
    solver = solver_of(tree, frame, task, axes, limits)
    found = solver.solve(target, solver.table(starts, seed), tolerance, 0, iterations, seed)
    solved = np.flatnonzero(found.solved)
    first, _ = first_of_each(solver.bounds.places(found.q[solved]), apart)
    return found[solved[first]]


def solver_of(tree: Tree, frame: str, task: str | Sequence[bool], axes: str, limits: bool) -> Solver:
    """The solver of one task, made once for each mechanism."""
    tree.frame(frame)
    key = ("solver", frame, task if isinstance(task, str) else tuple(task), axes, limits)
    return kept(tree, key,
                lambda: Solver(tree, frame, Task.of(tree, task, axes), bounds_of(tree, frame, limits=limits)))


class Solver:
    """The kernels of one task of one frame of one mechanism."""

    def __init__(self, tree: Tree, frame: str, task: Task, bounds: Bounds) -> None:
        self.name = tree.name
        self.nq = tree.nq
        self.neutral = tree.neutral
        self.bounds = bounds
        self.task = task
        constraints = constraints_on(tree, tree.path(tree.body_number(tree.frame(frame).body)))
        self._calls = iterations_of_a_call(constraints)
        self._search = GoalSearch(Goal(tree, frame, task, constraints), bounds)
        self._jacobian = jacobian_kernel(tree, frame, task, bounds) if not constraints else allowed_jacobian(
            tree, frame, task, bounds, constraints)
        self._is_free = not constraints
        self._reach = reach_from_first_joint(tree, frame, bounds) if len(task.linear) == 3 else np.inf
        self._origin = _first_origin(tree, frame)

    def solve(self, target: ArrayLike, start: ArrayLike | None, tolerance: float, restarts: int, iterations: int,
              seed: int) -> InverseKinematicsResult:
        targets = checked_targets(as_targets(target, self.task))
        if not (restarts >= 0 and iterations >= 1 and tolerance >= 0.0):
            raise SignatureError(
                f"restarts are 0 or more, iterations 1 or more, a tolerance is not negative; not {restarts}, "
                f"{iterations} and {tolerance}")
        own = None if start is None else self._checked_start(start)
        batch = targets.shape[:-2]
        if own is not None:
            batch = joined_batch([batch, own.shape[:-1]], ["target", "start"])
            targets = np.broadcast_to(targets, (*batch, 4, 4))
            own = np.broadcast_to(own, (*batch, self.nq)).reshape(-1, self.nq)
        targets = targets.reshape(-1, 4, 4)
        made = self._search.of(own, tolerance, -(-iterations // self._calls), 1 + restarts, seed, self._hopeless)
        with np.errstate(all="ignore"):
            quick = None if batch else self._quick_result(made, targets[0], tolerance)
            return self._result(search(made, targets), targets, tolerance, batch) if quick is None else quick

    def table(self, count: int, seed: int) -> Array:
        """The first starts (count, nq) of a seed."""
        return self._search.table(count, seed)

    def _checked_start(self, start: ArrayLike) -> Array:
        q = np.asarray(start, dtype=np.float64)
        if q.shape[-1:] != (self.nq,) or not np.isfinite(q).all():
            raise SignatureError(f"a start of {self.name} must be {self.nq} finite numbers, not {start!r}")
        for place in self.bounds.quaternions:
            check_unit_quaternion(q[..., place])
        return self.bounds.kept(q)

    def _hopeless(self, targets: Array) -> Array:
        return np.linalg.norm(targets[:, :3, 3] - self._origin, axis=-1) > self._reach * (1 + 1e-9)

    def _quick_result(self, made: PoseSearch, target: Array, tolerance: float) -> InverseKinematicsResult | None:
        found = quick_search(made, target)
        if found is None:
            return None
        q = self.bounds.unwound(self._nearer(found[0][None], target)[0])
        position, angle, residual, opening = self._search.error(q, target)
        if not residual <= tolerance:
            return None
        return InverseKinematicsResult(q, np.True_, position, angle, residual, opening, found[2], found[1],
                                       self.bounds.size, WITHIN_TOLERANCE, self.bounds.hit,
                                       partial(self._jacobian, q, target), self._is_free)

    def _nearer(self, q: Array, targets: Array) -> Array:
        """The nearer solution of mechanisms with constraints, after one more step: loops should be closed to rounding,
        not to the tolerance of the task."""
        if self._is_free or not len(q):
            return q
        moved, _ = self._search.step(q, FRESH[None].repeat(len(q), axis=0), targets, 0.0)
        is_nearer = self._search.errors(moved, targets)[2] < self._search.errors(q, targets)[2]
        return np.where(is_nearer[:, None], moved, q)

    def _result(self, found: Found, targets: Array, tolerance: float,
                batch: tuple[int, ...]) -> InverseKinematicsResult:
        q = self.bounds.unwound(self._nearer(found.q, targets))
        position, angle, residual, opening = self._search.errors(q, targets)
        solved = residual <= tolerance
        why = self._why(solved, found.state, targets)

        def shaped(x: Array) -> Scalar:
            return x.reshape(*batch, *x.shape[1:]) if batch else x[0]

        q = shaped(q)
        targets = shaped(targets)
        return InverseKinematicsResult(q, shaped(solved), shaped(position), shaped(angle), shaped(residual),
                                       shaped(opening), shaped(found.iterations.astype(int)), shaped(found.attempt),
                                       self.bounds.size, shaped(why), self.bounds.hit,
                                       partial(self._jacobian, q, targets), self._is_free)

    def _why(self, solved: Array, state: Array, targets: Array) -> Array:
        if np.count_nonzero(solved) == len(solved):
            return np.zeros(len(solved), dtype=int)
        why = np.where(state == STALLED, LOCAL_MINIMUM, ITERATION_LIMIT)
        return np.where(solved, WITHIN_TOLERANCE, np.where(self._hopeless(targets), BEYOND_REACH, why))


@kernel("(4,4)->()")
def _defect(T: Array) -> Scalar:
    return np.maximum(pose_defect(T), where(np.max(np.abs(T[:3, 3])) < np.inf, 0.0, np.inf))


def checked_targets(target: ArrayLike) -> Array:
    """Poses (..., 4, 4) as floats, or an error that says what is wrong with them."""
    targets = numbers(target, "the poses")
    task = {2: "xy", 3: "position"}.get(targets.shape[-1] if targets.ndim else 0)
    if task and targets.shape[-2:] != (3, 3):
        raise GeometryError(f"a pose must have shape (..., 4, 4), not {targets.shape}: of points alone say "
                            f"task=\"{task}\"")
    if targets.shape[-2:] != (4, 4) or not (_defect(targets) <= 1e-8).all():
        check_pose(targets)
    return targets


def _first_origin(tree: Tree, frame: str) -> Array:
    """The origin (3) of the first joint on the way to a frame: it does not move."""
    way = tree.path(tree.body_number(tree.frame(frame).body))
    return Pose.of(tree.joints[way[0]].placement).p if way else np.zeros(3)


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
        null = null_basis(A, int(np.max(rank_of(A), initial=0)))
        return (rows(q, target) * bounds.free) @ (null * bounds.free[:, None])

    return allowed


WITHIN_TOLERANCE, LOCAL_MINIMUM, ITERATION_LIMIT, BEYOND_REACH = range(4)
REASONS = np.array(["within tolerance", "local minimum", "iteration limit", "beyond the reach of the chain"])
_STATUS = np.array(["solved", "not found", "not found", "unreachable"])


@dataclass(frozen=True, eq=False)
class InverseKinematicsResult(HoldsFunctions):
    """The configuration found, how well it does, and why the search ended. Every field has the batch axes of the
    targets. The residuals are those of `q` itself, computed anew: `residual` is the norm of all asked rows, metres and
    radians together. What is not solved is the best of all attempts, never a success."""

    q: Array  # (..., nq)
    solved: Scalar  # truth values (...)
    position_error: Scalar  # [m] (...), zero where no position is asked
    angle_error: Scalar  # [rad] (...), zero where no orientation is asked
    residual: Scalar  # (...)
    opening: Scalar  # of loops and other constraints, part of the residual; zero where there are none (...)
    iterations: Scalar  # of the attempt that gave q (...)
    restarts: Scalar  # number of that attempt: 0 is the first start (...)
    length: float  # [m]; in which lengths are measured for `singular_values`
    _reason: Scalar = field(repr=False)
    _limits: Callable[[Array], Array] = field(repr=False)
    _jacobian: Callable[[], Array] = field(repr=False)
    _is_free: bool = field(default=True, repr=False)

    @property
    def status(self) -> str | Array:
        """"solved", "unreachable" where the target is provably too far, or "not found" (the target may still be
        unreachable)."""
        return _words(_STATUS, self._reason)

    @property
    def reason(self) -> str | Array:
        """Why the search stopped: "within tolerance", "local minimum" (of every attempt), "iteration limit" (of at
        least one attempt), or "beyond the reach of the chain"."""
        return _words(REASONS, self._reason)

    @cached_property
    def limits_hit(self) -> Array:
        """A mask of the coordinates that are at a limit, to 1e-9 (..., nq)."""
        return self._limits(self.q)

    @cached_property
    def singular_values(self) -> Array:
        """The singular values of the task's Jacobian at q (..., min(rows, nv)), largest first, with lengths measured in
        `length`: they have no unit. Under constraints, of its action on the velocities that they allow."""
        return np.linalg.svd(self._jacobian(), compute_uv=False)

    @property
    def smallest_singular_value(self) -> Array:
        """The distance of q from a singular configuration (...)."""
        return self.singular_values[..., -1]

    @cached_property
    def branch(self) -> Scalar:
        """The sign of the determinant of the task's Jacobian (...): a singular configuration lies between solutions of
        different signs. Zero where the Jacobian is not square, and of mechanisms with constraints, whose allowed
        velocities have no order."""
        J = self._jacobian()
        is_square = J.shape[-2] == J.shape[-1] and self._is_free
        return np.sign(np.linalg.det(J)) if is_square else np.zeros(J.shape[:-2])

    def __getitem__(self,
                    index: int | slice | list[int] | Array
                    | tuple[int | slice | Array, ...]) -> InverseKinematicsResult:
        """The result of one or some of the batch."""
        arrays = ("q", "solved", "position_error", "angle_error", "residual", "opening", "iterations", "restarts",
                  "_reason")
        return replace(self, **{name: getattr(self, name)[index]
                                for name in arrays}, _jacobian=lambda: self._jacobian()[index])

    def __repr__(self) -> str:
        if np.ndim(self.solved):
            return f"<inverse kinematics: {np.count_nonzero(self.solved)} of {np.size(self.solved)} solved>"
        q = np.array2string(self.q, precision=6)
        return f"<inverse kinematics: {self.status} ({self.reason}), residual {self.residual:.1e}, q = {q}>"


def _words(words: Array, codes: Array) -> str | Array:
    return str(words[codes]) if np.ndim(codes) == 0 else words[codes]
