"""One step of a damped search, as a straight-line kernel: a whole batch of searches is one call for each iteration.

    (J J^T + lambda 1) y = r,   dq = J^T y           the damped least-squares step;
                                                     (J^T J + lambda 1) dq = J^T r where J is tall
    lambda = c r.r + a little of J's own size        after Sugihara: the damping vanishes with the error, so that the
                                                     end is quadratic, at
                                                     singular solutions too; and |dq| <= 1/(2 sqrt c) wherever J is
                                                     singular
Lengths are measured in the size of the chain, so that metres and radians weigh alike and the scale of the robot does
not matter. Where the error cannot vanish, this damping is too small to come to rest: r.r is then less than the
curvature of what cannot be followed, at most |r| |J|. A search that only settles adds that. A coordinate at a limit
that the descent direction would cross is held: its column is left out. The others are brought back between their limits
after the step (a projected Levenberg-Marquardt method).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.inverse.bounds import Bounds
from cayley.kinematics.inverse.goal import Goal, Missing, named_kernel
from cayley.model.configuration_space import moving_joints
from cayley.model.constraint_kinds import Constraint
from cayley.model.tree import Tree

UNROLLED = 5  # iterations of one call: a call costs as much as some iterations of a few searches
DAMPING = 0.05
_FAR = 10.0  # a squared error that slides may have to make good: more of it does not damp them more
_LONGEST_TURN = 2.0  # rad
_FLOOR = 1e-15  # of the trace: keeps the pivots of a singular matrix positive
_IMPROVEMENT = 0.9  # of the best squared error: less than that is progress
_PATIENCE = 5  # iterations without progress

RUNNING = 0.0
SOLVED = 1.0
STALLED = 2.0


class SearchState(NamedTuple):
    """Where a search is: the configuration (nq), and what it remembers (4): best squared error, iterations since it was
    met, iterations, and whether it is running, solved or stalled."""

    q: Array
    memory: Array


FRESH = np.array([np.inf, 0.0, 0.0, RUNNING])
SETTLING = np.array([np.inf, -np.inf, 0.0,
                     RUNNING])  # does not stall, and is damped enough to come to rest where the error is not zero


def search_step(goal: Goal, bounds: Bounds) -> Kernel[SearchState]:
    """The kernel `(q, memory, target, tolerance^2) -> SearchState` of several iterations; of one, if there are
    constraints, of which a machine has so many that calls cost little beside them.

    A search that has ended stays where it is.
    """
    def text(q: Array, memory: Array, target: Array, tolerance2: Scalar) -> SearchState:
        for _ in range(iterations_of_a_call(goal.constraints)):
            q, memory = _iteration(goal, bounds, q, memory, target, tolerance2)
        return SearchState(q, memory)

    nq = goal.tree.nq
    return named_kernel(goal.tree, "search_step_of", goal.frame or "constraints",
                        f"({nq}),(4),{goal.target},()->({nq}),(4)", text)


def iterations_of_a_call(constraints: Sequence[Constraint]) -> int:
    return 1 if constraints else UNROLLED


def _iteration(goal: Goal, bounds: Bounds, q: Array, memory: Array, target: Array, tolerance2: Scalar) -> SearchState:
    missing = goal.missing(q, target)
    enough = where(goal.is_meant(q), tolerance2, -1.0)
    memory = _remember(memory, goal.square(missing), enough)
    dq = damped_step(goal, q, target, bounds, missing, memory[1] < 0)
    return SearchState(where(memory[3] == RUNNING, bounds.kept(integrate(goal.tree, q, dq)), q), memory)


def damped_step(goal: Goal, q: Array, target: Array, bounds: Bounds, missing: Missing, settling: Scalar) -> Array:
    """The change dq (nv) of the coordinates that a damped step asks for."""
    tree = goal.tree
    rows = goal.weights(missing, bounds.size)
    columns = velocity_scale(tree, bounds)
    r = rows * np.concatenate(missing)
    J = rows[:, None] * goal.jacobian(q, target) * (columns * bounds.free)
    J = J * _unblocked(q, J.T @ r, tree.nv, bounds)
    bend = (r @ r) * sum(row @ row for row in J) if goal.constraints else r @ r
    damping = DAMPING * np.minimum(r @ r, _FAR) + where(settling, np.sqrt(bend), 0.0)
    return _with_short_turns(columns * damped_solution(J, r, damping), tree, bounds)


def damped_solution(J: Array, r: Array, damping: Scalar) -> Array:
    """x with the least |J x - r|^2 + damping |x|^2, by the smaller of the two normal equations."""
    columns = [k for k in range(J.shape[1]) if any(not _is_zero(x) for x in J[:, k])]
    wide = len(columns) >= len(J)
    x = np.zeros(J.shape[1], dtype=object)
    if columns:
        part = J[:, columns]
        A = part @ part.T if wide else part.T @ part
        A = A + (damping + _FLOOR * np.trace(A)) * np.eye(len(A))
        x[columns] = part.T @ ldl_solve(A, r) if wide else ldl_solve(A, part.T @ r)
    return x


def integrate(tree: Tree, q: Array, qd: Array) -> Array:
    """Where the constant velocity qd leads from q in unit time; quaternions stay unit."""
    return np.concatenate([
        q[a] if all(map(_is_zero, qd[b])) else joint.motion.step(q[a], qd[b]) for joint, a, b in moving_joints(tree)])


def velocity_scale(tree: Tree, bounds: Bounds) -> Array:
    """The worth of one unit of each velocity (nv): the size of the chain for slides, a radian for turns."""
    return np.where(_slides(tree, bounds), bounds.size, 1.0)


def _slides(tree: Tree, bounds: Bounds) -> Array:
    """A mask (nv) of the velocities along a line."""
    lengths = [bounds.lengths[place][:joint.motion.nv] for joint, place in zip(tree.joints, tree.q_slices, strict=True)]
    return np.concatenate(lengths)


def _with_short_turns(qd: Array, tree: Tree, bounds: Bounds) -> Array:
    limits = np.where(_slides(tree, bounds), np.inf, _LONGEST_TURN)
    return np.stack([
        np.minimum(np.maximum(x, -limit), limit) if np.isfinite(limit) else x
        for x, limit in zip(qd, limits, strict=True)])


def _unblocked(q: Array, descent: Array, nv: int, bounds: Bounds) -> Array:
    """0 for velocities that would cross a limit at which their coordinate is, 1 for the others (nv)."""
    free = np.ones(nv, dtype=object)
    for k in np.flatnonzero(bounds.blocks & bounds.moved):
        place = bounds.velocity[k]
        crossing = ((q[k] >= bounds.upper[k]) & (descent[place] > 0)) | ((q[k] <= bounds.lower[k]) &
                                                                         (descent[place] < 0))
        free[place] = where(crossing, 0.0, 1.0)
    return free


def _remember(memory: Array, error2: Scalar, tolerance2: Scalar) -> Array:
    best, since, iterations, state = memory
    progress = error2 < _IMPROVEMENT * best
    waited = where(progress & (since >= 0), 0.0, since + 1.0)
    found = where(error2 <= tolerance2, SOLVED, where(waited >= _PATIENCE, STALLED, RUNNING))
    running = state == RUNNING
    return np.stack([where(running, np.minimum(best, error2), best), where(running, waited, since),
                     iterations + where(running & (found == RUNNING), 1.0, 0.0), where(running, found, state)])


def _is_zero(x: Scalar) -> bool:
    return bool(getattr(x, "op", None) == "constant" and x.value == 0.0) if hasattr(x, "op") else bool(x == 0.0)
