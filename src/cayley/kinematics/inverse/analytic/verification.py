"""From candidates to solutions, for one pose.

Candidates are brought onto the pose by Newton steps with the geometric Jacobian; what then does not close is dropped,
so no test of reach in a family decides alone. Double roots are found to the root of the rounding only; they count once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.kinematics.inverse.analytic.arms import Arm, check_target, rotation_defect, wrap
from cayley.kinematics.inverse.analytic.candidates import (
    LAST,
    SAME,
    AnalyticResult,
    Branch,
    Candidate,
    Careful,
    Continuum,
    Free,
    Special,
)
from cayley.model.denavit_hartenberg.table import DHTable, dh_frames

CLOSED = 1e-12  # residual of a solution, times the size of the arm where that is more than one metre
_ROUNDED = 1e-15
_NEWTON_STEPS = 6
_TURNING = 1e-3  # a joint this much slower than another turns back
_PATH_STEPS = 5
_ON_PATH = 1e-10  # residual along a continuum
_CUTS = (1e-10, 1e-8, 1e-6, 1e-4)  # of the largest singular value


@dataclass(frozen=True)
class Family:
    """Arms with one closed form: their `joints`, what is demanded of their tables, their candidates (arm, target,
    special), and `rows`: 6, or 3 if only a point is asked for."""

    joints: str
    check: Callable[[Arm], None]
    candidates: Callable[[Arm, Any, Special], list[Candidate]]
    rows: int = 6

    def arm(self, table: DHTable) -> Arm:
        """The table made ready; an error that says why if the arm is not of this family."""
        arm = Arm.of(table, self.joints)
        self.check(arm)
        return arm

    def solutions(self, arm: Arm, target: ArrayLike, reference: ArrayLike | None) -> AnalyticResult:
        """All configurations of an arm of this family that reach one pose."""
        target = check_target(target)
        return close(arm, target, self.candidates(arm, target, Careful(arm.moving(reference))), self.rows)


def closing_bound(arm: Arm, target: Array) -> Scalar:
    """The residual (...) that a solution may have: rounding, and what the targets (..., 4, 4) themselves are off from a
    pose."""
    return CLOSED * max(1.0, arm.size) + 2 * rotation_defect(target)


def close(arm: Arm, target: Array, candidates: Sequence[Candidate], rows: int) -> AnalyticResult:
    """The solutions among the candidates."""
    n = len(arm.offsets)
    q = np.array([c.moving for c in candidates], dtype=np.float64).reshape(-1, n) - arm.offsets
    q = _polished(arm, target, q, rows)
    q = np.where(arm.turns, wrap(q), q)
    residuals = _residual(_error(arm, target, q, rows)[1])
    closed = np.flatnonzero(residuals <= closing_bound(arm, target)).tolist()
    candidates, closed = _told_apart(arm, candidates, closed, q, rows)
    closed = _chosen(candidates, closed)
    kept: list[int] = []
    # a continuum first: a candidate that lies on it, found by chance, is not a solution of its own
    for i in sorted(closed, key=lambda i: (-len(candidates[i].free), i)):
        if not any(_same(arm, q[i], q[k], candidates[k].free) for k in kept):
            kept.append(i)
    kept.sort()
    branches = distinct([tuple(sign.name for sign in candidates[i].branch) for i in kept])
    free = [_continuum(arm, target, number, q[i], f, rows) for number, i in enumerate(kept) for f in candidates[i].free]
    return AnalyticResult(q[kept], branches, residuals[kept], tuple(c for c in free if c is not None))


def _told_apart(arm: Arm, candidates: Sequence[Candidate], closed: list[int], q: Array,
                rows: int) -> tuple[list[Candidate], list[int]]:
    """Where a straight continuum crosses another, as an aligned wrist does where the arm is free, its members are on
    the other at the crossing only: the other is shown at other values. So it is where a candidate can not move at all.
    """
    told = list(candidates)
    crossed: list[int] = []
    for i in closed:
        free = candidates[i].free
        straight = any(f.weights for f in free)
        motions = [_motion(arm, q[i], f, rows) for f in free]
        moving = tuple(f for f, motion in zip(free, motions, strict=True)
                       if motion is not None and (motion[0] == f.joint or not straight))
        if len(moving) < len(free):
            alone = tuple((("crossing", i), 0) for _ in candidates[i].choices)
            told[i] = replace(candidates[i], free=moving, choices=alone)
            if straight:
                crossed.append(i)
    wanted = [i for i in crossed if all(number in (0, LAST) for _, number in candidates[i].choices)]
    return told, [i for i in closed if i in wanted
                  or not any(_same(arm, q[i], q[k], told[k].free) for k in crossed)]


def _chosen(candidates: Sequence[Candidate], closed: list[int]) -> list[int]:
    for depth in range(max((len(c.choices) for c in candidates), default=0)):
        best: dict[Hashable, int] = {}
        for i in closed:
            key, number = candidates[i].choices[depth]
            best[key] = min(number, best.get(key, number))
        closed = [i for i in closed if best[candidates[i].choices[depth][0]] == candidates[i].choices[depth][1]]
    return closed


def _polished(arm: Arm, target: Array, q: Array, rows: int) -> Array:
    """Newton steps, each taken only where it helps. Near a singular configuration small singular values are left out,
    more and more of them until a step helps."""
    for _ in range(_NEWTON_STEPS):
        J, error = _error(arm, target, q, rows)
        before = least = _residual(error)
        open_ones = (before > _ROUNDED) & (before < 0.1 * max(1.0, arm.size))
        if not open_ones.any():
            break
        U, s, Vt = np.linalg.svd(J, full_matrices=False)
        way = np.swapaxes(U, 1, 2) @ _task_error(error, target, rows)[..., None]
        start = q
        for cut in _CUTS:
            kept = s > cut * s[:, :1]
            scaled = np.where(kept, 1 / np.where(kept, s, 1.0), 0.0)[..., None] * way
            trial = start + (np.swapaxes(Vt, 1, 2) @ scaled)[..., 0]
            off = _residual(_error(arm, target, trial, rows)[1])
            q = np.where((off < least)[:, None], trial, q)
            least = np.minimum(off, least)
            if (least[open_ones] < 0.1 * before[open_ones]).all():
                break
        if not np.any(least < before):
            break
    return q


def _error(arm: Arm, target: Array, q: Array, rows: int) -> tuple[Array, Array]:
    """The geometric Jacobian (m, rows, n), and target minus pose (m, 3, 4 or 1), the position in the last column."""
    frames = dh_frames(arm.table, q)
    pose = frames[:, -1] @ arm.table.tool
    z = frames[:, :-1, :3, 2]
    o = frames[:, :-1, :3, 3]
    linear = np.where(arm.turns[:, None], np.cross(z, pose[:, None, :3, 3] - o), z)
    angular = np.where(arm.turns[:, None], z, 0.0)
    J = np.concatenate([linear, angular], axis=-1).swapaxes(-1, -2)[:, :rows]
    error = target[:3] - pose[:, :3]
    return J, error if rows == 6 else error[..., 3:]


def _residual(error: Array) -> Array:
    return np.sqrt(np.sum(error[..., -1] ** 2, axis=-1) + np.sum(error[..., :-1] ** 2, axis=(-1, -2)) / 2)


def _task_error(error: Array, target: Array, rows: int) -> Array:
    if rows == 3:
        return error[..., -1]
    R = target[:3, :3] - error[..., :3]
    turn = np.cross(R, np.broadcast_to(target[:3, :3], R.shape), axis=-2).sum(axis=-1) / 2
    return np.concatenate([error[..., -1], turn], axis=-1)


def _same(arm: Arm, q: Array, other: Array, free: tuple[Free, ...]) -> bool:
    """True if q is the other, or a member of the straight continuum through the other."""
    difference = np.where(arm.turns, wrap(q - other), q - other)
    for f in free:
        if f.weights:
            (_, _), (k, w) = f.weights
            difference = difference.copy()
            difference[k] = wrap(difference[f.joint] + w * difference[k])
            difference[f.joint] = 0.0
    return bool(np.abs(difference).max() < SAME)


def distinct(branches: list[Branch]) -> tuple[Branch, ...]:
    """The signs of an arm without symmetry do not always tell its branches apart: then the sheets are counted."""
    names: list[Branch] = []
    for i, branch in enumerate(branches):
        before = branches[:i].count(branch)
        names.append((*branch, f"sheet {before + 1}") if before else branch)
    return tuple(names)


def _continuum(arm: Arm, target: Array, number: int, q: Array, free: Free, rows: int) -> Continuum | None:
    """The continuum through q, shown by another joint where the free one turns back; None where q is alone."""
    n = len(q)
    weights = np.zeros(n)
    for joint, weight in free.weights:
        weights[joint] = weight
    motion = _motion(arm, q, free, rows)
    if motion is None or not (free.weights or _moves(arm, target, q, motion[1], rows)):
        return None
    joint, tangent = motion
    reason = free.reason if joint == free.joint else f"{free.reason}; q{free.joint + 1} turns back here"
    straight = bool(free.weights) or not np.delete(tangent, joint).any()
    value = float(weights @ q) if free.weights else float("nan")
    return Continuum(number, joint, straight, weights, value, tangent, reason)


def _motion(arm: Arm, q: Array, free: Free, rows: int) -> tuple[int, Array] | None:
    """The free joint and the rates (n) of all joints for a rate of one of it, to second order; None where there are
    none. Where it turns back, with others at rates without bound, the fastest of them takes its place."""
    n = len(q)
    tangent = np.zeros(n)
    if free.weights:
        (_, _), (k, w) = free.weights
        tangent[[free.joint, k]] = 1.0, -w
        return free.joint, tangent
    columns = np.array([free.joint, *(free.followers or np.delete(np.arange(n), free.joint))])
    ways = _directions(arm, q, columns, rows)
    if not ways:
        return None
    way = max(ways, key=lambda way: abs(way[0]))
    first = 0 if abs(way[0]) > _TURNING * np.abs(way).max() else int(np.abs(way).argmax())
    tangent[columns] = np.where(np.abs(way) > _ROUNDED, way, 0.0) / way[first]
    return int(columns[first]), tangent


def _directions(arm: Arm, q: Array, columns: Array, rows: int) -> list[Array]:
    """Unit rates of those joints at which the tool stays at rest. Where J loses two ranks, rates v with J v = 0 are
    kept up only if w J' v = 0 for all w with w J = 0: two directions, in which two continua cross, or none."""
    J = _error(arm, np.eye(4), q[None], rows)[0][0][:, columns]
    U, s, Vt = np.linalg.svd(J)
    rank = int(np.count_nonzero(s > 1e-6 * s[0]))
    null = Vt[rank:]
    if len(null) < 2:
        return list(null)
    steps = np.zeros((2 * len(null), len(q)))
    steps[:, columns] = 1e-4 * np.concatenate([null, -null])
    ahead, behind = np.split(_error(arm, np.eye(4), q + steps, rows)[0][..., columns], 2)
    bends = np.einsum("rw,arc,bc->wab", U[:, rank:], (ahead - behind) / 2e-4, null)
    bends = (bends + bends.swapaxes(1, 2)) / 2
    sizes = np.linalg.norm(bends, axis=(1, 2))
    if len(null) > 2 or sizes.max(initial=0.0) <= 1e-6 * s[0]:  # left open: the others move as little as they can
        way = null.T @ null[:, 0]
        return [way / np.linalg.norm(way)] if np.linalg.norm(way) > 1e-6 else list(null)
    values, vectors = np.linalg.eigh(bends[sizes.argmax()])
    if values[0] * values[1] > 1e-6 * sizes.max() ** 2:
        return []
    low, high = np.sqrt(np.abs(values) / np.abs(values).sum())
    pairs = [vectors @ (high, sign * low) for sign in (1.0, -1.0)]
    return [null.T @ pair for pair in pairs if np.abs(pair @ bends @ pair).max() <= 1e-5 * sizes.max()]


def _moves(arm: Arm, target: Array, q: Array, tangent: Array, rows: int) -> bool:
    """True if the arm leaves q by a tenth along its tangent, forwards or back, with the tool at rest."""
    way = tangent / np.linalg.norm(tangent)
    return any(_follows(arm, target, q, sign * way, rows) for sign in (1.0, -1.0))


def _follows(arm: Arm, target: Array, q: Array, way: Array, rows: int) -> bool:
    bound = _ON_PATH * max(1.0, arm.size) + 2 * closing_bound(arm, target)
    for _ in range(_PATH_STEPS):
        here = start = q + 0.1 / _PATH_STEPS * way
        for _ in range(20):
            J, error = _error(arm, target, here[None], rows)
            if _residual(error)[0] <= bound:
                break
            off = np.append(_task_error(error, target, rows)[0], 0.0)
            here = here + np.linalg.lstsq(np.vstack([J[0], way]), off, rcond=1e-9)[0]
        else:
            return False
        if np.linalg.norm(here - start) > 0.1 / _PATH_STEPS:
            return False
        way = (here - q) / np.linalg.norm(here - q)
        q = here
    return True
