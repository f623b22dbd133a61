"""Many searches at once: attempt after attempt for every target, until each is solved or nothing is left to try.

    (J J^T + lambda 1) y = r,   dq = J^T y           the damped step; (J^T J + lambda 1) dq = J^T r where J is tall
    lambda = c r.r + a little of J's own size        after Sugihara: quadratic at the end, |dq| <= 1/(2 sqrt c)
The answer for a target is the first of its attempts, in their order, that ends within the tolerance, whatever else
runs. Lengths are measured in the size of the chain. A search that only settles adds |r| |J| to the damping, without
which it would not come to rest where the error cannot vanish. A coordinate at a limit that the descent would cross is
held; the others are brought back between their limits (a projected Levenberg-Marquardt method)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.inverse.bounds import Bounds
from cayley.kinematics.inverse.goal import Goal, TaskError, named_kernel
from cayley.model.configuration_space import moving_joints
from cayley.model.constraint_kinds import Constraint
from cayley.model.tree import Tree
from cayley.progress import PatientBar

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
    """The state of a search: the configuration (nq), and what it remembers (4): best squared error, iterations since it
    was met, iterations, and whether it is running, solved or stalled."""

    q: Array
    memory: Array


FRESH = np.array([np.inf, 0.0, 0.0, RUNNING])
SETTLING = np.array([np.inf, -np.inf, 0.0,
                     RUNNING])  # does not stall, and is damped enough to come to rest where the error is not zero


def search_step(goal: Goal, bounds: Bounds) -> Kernel[SearchState]:
    """The kernel `(q, memory, target, tolerance^2) -> SearchState` of several iterations, or of one if there are
    constraints, whose cost far exceeds that of a call. A search that has ended stays where it is."""
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


def damped_step(goal: Goal, q: Array, target: Array, bounds: Bounds, missing: TaskError, settling: Scalar) -> Array:
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
    """The configuration to which the constant velocity qd leads from q in unit time; quaternions stay unit."""
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


# searches that run at once where there are few targets: calls cost more than their lanes
_FIRST_LANES = 8
_LATER_LANES = 64
_CROWDED = 0.75  # the share of running searches below which the others are taken out of a batch
_SETTLING_CALLS = 20
_FRESH = FRESH[None]
_ALL = slice(None)


class Found(NamedTuple):
    """The best configuration for each target (n, nq), and (n) of each: the number of its attempt, the iterations of
    that attempt, and the state in which it ended."""

    q: Array
    attempt: Array
    iterations: Array
    state: Array


class PoseSearch(NamedTuple):
    """One search: `step` and `errors` are ufuncs, `starts(rows, first, count)` gives configurations (rows, count, nq),
    `hopeless(targets)` says which targets are out of reach, and `total` attempts of at most `calls` calls are made for
    the others."""

    step: Callable[..., Any]
    errors: Callable[..., Any]
    starts: Callable[..., Array]
    hopeless: Callable[[Array], Array]
    tolerance2: float
    calls: int
    total: int


class GoalSearch:
    """The kernels of searches for one goal between bounds, for targets (n, ...): poses of a frame, or times at which
    constraints are to be kept."""

    def __init__(self, goal: Goal, bounds: Bounds) -> None:
        self.bounds = bounds
        self.neutral = goal.tree.neutral
        self.step = search_step(goal, bounds).ufunc()
        self.error = goal.errors()  # of one configuration, where a ufunc costs more than its text
        self.errors = self.error.ufunc()
        self._tables: dict[tuple[int, int], Array] = {}

    def table(self, count: int, seed: int) -> Array:
        """The first starts (count, nq) of a seed: near the middle of the ranges, and scattered over them."""
        if (count, seed) not in self._tables:
            scattered = self.bounds.scattered(count - 1, seed, self.neutral)
            self._tables[count, seed] = np.concatenate([self.bounds.middle(self.neutral)[None], scattered])
        return self._tables[count, seed]

    def of(self, own: Array | None, tolerance: float, calls: int, attempts: int, seed: int = 0,
           hopeless: Callable[[Array], Array] = lambda targets: np.zeros(len(targets), dtype=bool)) -> PoseSearch:
        """A search whose first attempts begin at configurations (n, nq) that targets have of their own, if they have
        any, and whose others begin at the table of a seed; what the goal does not move stays as in their own."""
        table = self.table(attempts, seed)

        def starts(rows: Array | slice, number: int, count: int) -> Array:
            given = table[None, number:number + count]
            if own is None:
                return given if isinstance(rows, slice) else given.repeat(len(rows), axis=0)
            q = np.where(self.bounds.moved, given, own[rows, None])
            if number == 0:
                q[:, 0] = own[rows]
            return q

        return PoseSearch(self.step, self.errors, starts, hopeless, tolerance * tolerance, calls, attempts)


def search(s: PoseSearch, targets: Array) -> Found:
    """The best that all attempts find for each of the targets (n, 4, 4)."""
    with PatientBar("inverse kinematics", len(targets)) as bar:
        return _searched(s, targets, bar)


def _searched(s: PoseSearch, targets: Array, bar: PatientBar) -> Found:
    done = _width(s, len(targets), 0, _FIRST_LANES)
    found = _attempts(s, targets, s.starts(np.arange(len(targets)), 0, done), 0, bar)
    open_ones = found.state != SOLVED
    if not np.count_nonzero(open_ones):
        return found
    waiting = np.flatnonzero(open_ones)
    waiting = waiting[~s.hopeless(targets[waiting])]
    while waiting.size and done < s.total:
        width = _width(s, len(waiting), done, _LATER_LANES)
        again = _attempts(s, targets[waiting], s.starts(waiting, done, width), done, bar)
        better = (again.state == SOLVED) | (_residual(s, again.q, targets[waiting]) < _residual(
            s, found.q[waiting], targets[waiting]))
        for old, new in zip(found, again, strict=True):
            old[waiting[better]] = new[better]
        waiting = waiting[again.state != SOLVED]
        done = done + width
        bar.left(waiting.size)
    rows = np.flatnonzero(found.state != SOLVED)
    if rows.size:  # searches end when they slow down, before they are at rest
        found.q[rows] = settled(s, found.q[rows], targets[rows], _SETTLING_CALLS)
    return found


def quick_search(s: PoseSearch, target: Array) -> tuple[Array, int, int] | None:
    """The configuration, attempt and iterations that `search` finds for one target (4, 4), if the first attempts that
    run at once are enough: the same without arrays of one, for those who call it a thousand times a second."""
    width = _width(s, 1, 0, _FIRST_LANES)
    q, memory, states = _together(s, s.starts(_ALL, 0, width)[0], target, width)
    if SOLVED not in states:
        return None
    row = states.index(SOLVED)
    return q[row], row, int(memory[row, 2])


def settled(s: PoseSearch, q: Array, targets: Array, calls: int) -> Array:
    """The configurations (n, nq) that are nearest to the goal downhill from given ones, never farther than these."""
    memory = SETTLING[None].repeat(len(q), axis=0)
    nearest = q
    for _ in range(calls):
        q, memory = s.step(q, memory, targets, s.tolerance2)
    return np.where((_residual(s, q, targets) < _residual(s, nearest, targets))[:, None], q, nearest)


def _width(s: PoseSearch, targets: int, done: int, lanes: int) -> int:
    return min(s.total - done, max(1, lanes // max(1, targets)))


def _residual(s: PoseSearch, q: Array, targets: Array) -> Array:
    return np.fmin(s.errors(q, targets)[2], np.inf)  # what is not a number is the worst


def _attempts(s: PoseSearch, targets: Array, q: Array, first: int, bar: PatientBar) -> Found:
    """The best of some attempts for each target, from configurations (n, width, nq)."""
    n, width, size = q.shape
    if width == 1:
        q, memory = _apart(s, q[:, 0], targets, bar)
        return Found(q, np.full(n, first), memory[:, 2], memory[:, 3])
    aims = targets.repeat(width, axis=0)
    q, memory, states = _together(s, q.reshape(n * width, size), aims, width)
    columns = _first_solved(states, width)
    if -1 in columns:
        nearest = _residual(s, q, aims).reshape(n, width).argmin(axis=1).tolist()
        columns = [near if column < 0 else column for column, near in zip(columns, nearest, strict=True)]
    rows = np.array([k * width + column for k, column in enumerate(columns)], dtype=int)
    memory = memory[rows]
    return Found(q[rows], np.array(columns, dtype=int) + first, memory[:, 2], memory[:, 3])


def _together(s: PoseSearch, q: Array, aims: Array, width: int) -> tuple[Array, Array, list[float]]:
    """Searches in groups of `width`, one group a target, until the answer of each group is known; and the states of
    all."""
    memory = _FRESH.repeat(len(q), axis=0)
    states = [RUNNING]
    for _ in range(s.calls):
        q, memory = s.step(q, memory, aims, s.tolerance2)
        states = memory[:, 3].tolist()
        if _decided(states, width):
            break
    return q, memory, states


def _decided(states: list[float], width: int) -> bool:
    """True if in every group the first search that has not stalled is a solved one."""
    for k in range(0, len(states), width):
        for state in states[k:k + width]:
            if state == RUNNING:
                return False
            if state == SOLVED:
                break
    return True


def _first_solved(states: list[float], width: int) -> list[int]:
    groups = [states[k:k + width] for k in range(0, len(states), width)]
    return [group.index(SOLVED) if SOLVED in group else -1 for group in groups]


def _apart(s: PoseSearch, q: Array, targets: Array, bar: PatientBar) -> tuple[Array, Array]:
    """One search a target, until all have ended; those that have ended make room for the others."""
    ended_q = np.array(q)
    ended_memory = _FRESH.repeat(len(q), axis=0)
    rows = np.arange(len(q))
    memory = ended_memory
    for _ in range(s.calls):
        q, memory = s.step(q, memory, targets, s.tolerance2)
        running = memory[:, 3] == RUNNING
        count = np.count_nonzero(running)
        if count == 0:
            break
        bar.left(int(count))
        if count < _CROWDED * len(rows):
            ended_q[rows] = q
            ended_memory[rows] = memory
            rows = rows[running]
            q = q[running]
            memory = memory[running]
            targets = targets[running]
    ended_q[rows] = q
    ended_memory[rows] = memory
    return ended_q, ended_memory


def first_of_each(places: Array, apart: float) -> tuple[Array, Array]:
    """The numbers (m) of the points (n, k) that differ from all earlier ones by more than `apart` in some entry, and
    how many points each of them represents (m), itself included.

    >>> first_of_each(np.array([[0.0, 1.0], [2.0, 1.0], [0.0, 1.0]]), 1e-6)
    (array([0, 1]), array([2, 1]))
    """
    first: list[int] = []
    counts: list[int] = []
    left = np.arange(len(places))
    while left.size:
        same = np.abs(places[left] - places[left[0]]).max(axis=-1, initial=0.0) <= apart
        first.append(int(left[0]))
        counts.append(int(np.count_nonzero(same)))
        left = left[~same]
    return np.array(first, dtype=int), np.array(counts, dtype=int)
