"""A list of poses solved one after the other on one continuous posture.

Rates, or the two previous solutions, predict the next solution, and Newton's method corrects it. The result must be
near the prediction. Otherwise the next pose is approached on the way between the two, in steps that are halved until
they succeed. If the smallest does not help, the posture is lost: the way ends at the edge of the workspace, or at a
singular posture where branches meet. That is told, and nothing jumps to another branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept
from cayley.compiler.solving.null_space import null_basis
from cayley.compiler.solving.rounding import significant
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError
from cayley.geometry.rotations.rotation_vector import matrix_from_rotation_vector, rotation_vector_from_matrix
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.rows import check_holonomic
from cayley.kinematics.continuation import Progress
from cayley.kinematics.frame_kernels import integrate_kernel
from cayley.kinematics.inverse.bounds import limits_crossed
from cayley.kinematics.inverse.goal import Goal, Task, named_kernel
from cayley.kinematics.inverse.numeric import checked_targets
from cayley.kinematics.inverse.tracking import TrackingError, moment_kernel
from cayley.kinematics.subspaces import subspaces
from cayley.model.constraint_kinds import Constraint
from cayley.model.constraints import constraints_on
from cayley.model.tree import Tree
from cayley.showing import brief

_NEWTON = 20
_HALVINGS = 16
_FARTHEST = 0.3  # that a step may move a joint [rad or, in the size of the arm, m]
_CORRECTION = 0.25  # of the predicted step, by which the corrector may move
_SMALL = 2e-3


@dataclass(frozen=True, eq=False)
class PostureResult:
    """Configurations (K, nq) that bring a frame to K poses, on the posture of the start; NaN from where it is lost.

    residual                  (K) metres and radians together; smallest_singular_value (K) of the rows of the task
    reached                   how many poses were reached; reason: why not all were, in words
    limits_crossed            for each joint coordinate that leaves its limits: (name, first pose, by how much at most)
    """

    q: Array
    residual: Array
    smallest_singular_value: Array
    reached: int
    reason: str
    limits_crossed: tuple[tuple[str, int, float], ...]

    __repr__ = brief

    @property
    def status(self) -> str:
        """"followed", or "lost" where the posture could not be continued to all poses."""
        return "lost" if self.reason else "followed"

    @property
    def largest_step(self) -> float:
        """The most that a coordinate changes from one pose to the next."""
        return float(np.abs(np.diff(self.q[:self.reached], axis=0)).max(initial=0.0))

    @property
    def complaints(self) -> tuple[str, ...]:
        """The objections to such a motion, in sentences; none if all is well."""
        said = [self.reason] if self.reason else []
        said += [f"{name} leaves its limits from pose {first + 1} on, by {most:.3g} at most"
                 for name, first, most in self.limits_crossed]
        return tuple(said)


def continuous_posture(tree: Tree, poses: ArrayLike, frame: str, start: ArrayLike, *, tolerance: float = 1e-12,
                       task: str | Sequence[bool] = "pose", secondary: Callable[[Array], Array] | None = None
                       ) -> PostureResult:
    """Configurations that bring a frame to poses (K, 4, 4), one after the other, on the posture of `start` (nq), which
    must be near the first; see `PostureResult`. Loops stay closed. Limits of joints are told, not kept; the joints of a
    redundant arm move least, or besides as `secondary` wants, a function of q (nq) that gives velocities (nv) for a
    unit of time, in which the whole list is passed.

    >>> from cayley.model.catalogue import load_robot
    >>> path = np.tile(np.eye(4), (5, 1, 1))
    >>> path[:, 0, 3] = np.linspace(0.6, 1.0, 5)  # beyond the reach of 0.9 m
    >>> found = continuous_posture(load_robot("planar2r"), path, "tool", [-0.8, 1.7], task=(1, 1, 0, 0, 0, 0))
    >>> found.status, found.reached
    ('lost', 4)
    """
    goals = checked_targets(np.asarray(poses, dtype=float))
    q = np.array(start, dtype=float)
    if goals.ndim != 3 or q.shape != (tree.nq,):
        raise SignatureError(f"poses (K, 4, 4) are solved from one configuration ({tree.nq}), not {goals.shape} from "
                             f"{q.shape}")
    wanted = Task.of(tree, task, "world")
    move = kept(tree, "integrate", lambda: integrate_kernel(tree))
    march = _March(_looking(tree, frame, wanted), move, sum(wanted.rows), tree.nv, tolerance, secondary,
                   1.0 / max(len(goals) - 1, 1))
    found = np.full((len(goals), tree.nq), np.nan)
    residual = np.full(len(goals), np.nan)
    smallest = np.full(len(goals), np.nan)
    reason = ""
    for k, goal in enumerate(goals):
        solved = march.corrected(q, goal) if k == 0 else march.next(q, goals[k - 1], goal)
        if solved is None:
            reason = march.explained(q, k)
            break
        q = solved
        found[k] = q
        residual[k], smallest[k] = march.looked(q, goal)
    reached = int(np.isfinite(residual).sum())
    return PostureResult(found, residual, smallest, reached, reason, limits_crossed(tree, found[:reached]))


def _looking(tree: Tree, frame: str, task: Task) -> Kernel[TrackingError]:
    """The kernel of what is missing of a pose; below the rows of the task, those of the constraints that tie the joints
    on the way to the frame, which are to be kept."""
    tied = constraints_on(tree, tree.path(tree.body_number(tree.frame(frame).body)))
    if not tied:
        return kept(tree, ("moment", frame, task, "rotation vector"),
                    lambda: moment_kernel(tree, frame, task, "rotation vector"))
    check_untimed(tree)
    check_holonomic(tree, f"a posture of {frame!r} along poses")
    return kept(tree, ("tied moment", frame, task), lambda: _tied_moment_kernel(tree, frame, task, tied))


def _tied_moment_kernel(tree: Tree, frame: str, task: Task, tied: tuple[Constraint, ...]) -> Kernel[TrackingError]:
    free = moment_kernel(tree, frame, task, "rotation vector")
    goal = Goal(tree, None, None, tied)
    sizes = goal.sizes
    no_time = np.zeros(())

    def text(q: Array, target: Array, twist: Array) -> TrackingError:
        seen = free(q, target, twist)
        return seen._replace(error=np.concatenate([seen.error, goal.missing(q, no_time).opening / sizes]),
                             jacobian=np.concatenate([seen.jacobian, goal.jacobian(q, no_time) / sizes[:, None]]),
                             ahead=np.concatenate([seen.ahead, np.zeros(len(sizes))]))

    rows = sum(task.rows) + len(sizes)
    return named_kernel(tree, "tied_moment_of", frame,
                        f"({tree.nq}),(4,4),(6)->({rows}),({rows},{tree.nv}),({rows}),(),(),()", text)


class _March:
    """The predictor and corrector of one task."""

    def __init__(self, look: Kernel[TrackingError], move: Kernel, rows: int, nv: int, tolerance: float,
                 secondary: Callable[[Array], Array] | None, portion: float) -> None:
        self._look = look
        self._rows = rows  # of the task; those of constraints are below them
        self._secondary = secondary
        self._portion = portion  # of the list, from a pose to the next
        self._nv = nv
        self._motion = np.zeros(0)  # from the last solution but one to the last
        self._move = move
        self._tolerance = tolerance
        self._last = np.zeros(0)

    def looked(self, q: Array, goal: Array) -> tuple[float, float]:
        """Residual and smallest singular value."""
        here = self._look(q, goal, np.zeros(6))
        return float(np.hypot(here.distance, here.angle)), float(self._singular_values(here.jacobian)[-1])

    def _singular_values(self, J: Array) -> Array:
        """The singular values of the task by the velocities that the constraints allow."""
        tied = J[self._rows:]
        return np.linalg.svd(J[:self._rows] @ null_basis(tied) if len(tied) else J, compute_uv=False)

    def corrected(self, q: Array, goal: Array) -> Array | None:
        """Newton's method; near singular postures its steps are damped as little as does."""
        for _ in range(_NEWTON):
            here = self._look(q, goal, np.zeros(6))
            size = float(np.linalg.norm(here.error))
            nearer = self._move(q, _solved(here.jacobian, here.error, size))
            if size <= self._tolerance:  # one step more, to rounding
                return nearer if np.linalg.norm(self._look(nearer, goal, np.zeros(6)).error) < size else q
            q = nearer
        return None

    def next(self, q: Array, first: Array, last: Array) -> Array | None:
        """From the solution at one pose to that at the next: at once, if rates or the motion until now predict it."""
        turn = rotation_vector_from_matrix.unchecked(last[:3, :3] @ first[:3, :3].T)
        twist = np.concatenate([last[:3, 3] - first[:3, 3], turn])
        found = self._step(q, first, last, twist, 1.0)
        if found is None and len(self._motion):
            found = self._near(self._move(q, self._motion), last, float(np.abs(self._motion).max()))
        if found is None:
            found = self._way(q, first, last, twist)
        if found is not None and len(q) == self._nv:  # without quaternions, whose differences are no velocities
            self._motion = found - q
        return found

    def _way(self, q: Array, first: Array, goal: Array, twist: Array) -> Array | None:
        walk = Progress(1, 0.5)
        only = np.zeros(1, dtype=int)
        while walk.next[0] >= 0.5**_HALVINGS:
            done = float(walk.done[0])
            last = done + walk.next[0] >= 1.0
            ahead = 1.0 if last else done + float(walk.next[0])
            found = self._step(q, _between(first, twist, done), goal if last else _between(first, twist, ahead),
                               (ahead - done) * twist, ahead - done)
            walk.record(only, np.array([found is not None]), np.array([last]))
            q = q if found is None else found
            if found is not None and last:
                return q
        self._last = q
        return None

    def _step(self, q: Array, here: Array, goal: Array, twist: Array, share: float) -> Array | None:
        moment = self._look(q, here, twist)
        rate = _solved(moment.jacobian, moment.ahead, float(np.linalg.norm(moment.ahead)))
        if self._secondary is not None:
            wanted = share * self._portion * np.asarray(self._secondary(q), dtype=float)
            rate = rate + subspaces(moment.jacobian).null_projector @ wanted
        length = float(np.abs(rate).max(initial=0.0))
        if length > _FARTHEST:
            return None
        return self._near(self._move(q, rate), goal, length)

    def _near(self, predicted: Array, goal: Array, length: float) -> Array | None:
        """The solution near a predicted one, that is `length` away from the last; nothing if there is none."""
        found = self.corrected(predicted, goal)
        if found is None or np.abs(found - predicted).max(initial=0.0) > _CORRECTION * length + _SMALL:
            return None
        return found

    def explained(self, q: Array, k: int) -> str:
        """Why pose k was not reached."""
        if k == 0:
            return "the first pose is not reached from the start: begin with a configuration near it"
        J = self._look(self._last, np.eye(4), np.zeros(6)).jacobian
        values = self._singular_values(J)
        where = f"between poses {k} and {k + 1}"
        if values[-1] < 1e-2 * values[0]:
            return (f"the posture is lost {where}: it is singular there (singular values {values[0]:.3g} to "
                    f"{values[-1]:.3g}), and does not go on; choose another posture, or move the path away")
        return f"the posture is lost {where}: the frame does not reach farther"


def _solved(J: Array, error: Array, size: float) -> Array:
    """The shortest step that takes an error away, damped by the size of the error where J is singular."""
    U, s, V = np.linalg.svd(J, full_matrices=False)
    largest = s[0] if len(s) and s[0] > 0 else 1.0
    damping = min(size, 1.0) ** 2 * 1e-2 * largest**2 if s[-1:].size and s[-1] < 1e-2 * largest else 0.0
    gains = np.where(significant(s, J.shape[1]), s / (s * s + damping + 1e-300), 0.0)
    return V.T @ (gains * (U.T @ error))


def _between(first: Array, twist: Array, share: float) -> Array:
    pose = np.array(first)
    pose[:3, 3] += share * twist[:3]
    pose[:3, :3] = matrix_from_rotation_vector.unchecked(share * twist[3:]) @ first[:3, :3]
    return pose
