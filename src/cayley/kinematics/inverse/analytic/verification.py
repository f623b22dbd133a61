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
from cayley.kinematics.inverse.analytic.candidates import LAST, SAME, Candidate, Careful, Free, Special
from cayley.kinematics.inverse.analytic.result import AnalyticResult, Branch, Continuum
from cayley.model.denavit_hartenberg.table import DHTable, dh_frames

CLOSED = 1e-12  # residual of a solution, times the size of the arm where that is more than one metre
_ROUNDED = 1e-15
_NEWTON_STEPS = 6
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
    pose.
    """
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
    free = [_continuum(arm, number, q[i], f, rows) for number, i in enumerate(kept) for f in candidates[i].free]
    return AnalyticResult(q[kept], branches, residuals[kept], tuple(free))


def _told_apart(arm: Arm, candidates: Sequence[Candidate], closed: list[int], q: Array,
                rows: int) -> tuple[list[Candidate], list[int]]:
    """Where a straight continuum crosses another, as an aligned wrist does where the arm is free, its members are on
    the other at the crossing only: they are of the straight one alone, and the other is shown at other values.
    """
    told = list(candidates)
    crossed: list[int] = []
    for i in closed:
        free = candidates[i].free
        moving = tuple(f for f in free if f.weights or _tangent(arm, q[i], f, rows)[1])
        if any(f.weights for f in free) and len(moving) < len(free):
            alone = tuple((("crossing", i), 0) for _ in candidates[i].choices)
            told[i] = replace(candidates[i], free=moving, choices=alone)
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
    """Newton steps, each taken only where it helps.

    Near a singular configuration small singular values are left out, more and more of them until a step helps.
    """
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
    """Position error and small rotation vector (m, rows)."""
    if rows == 3:
        return error[..., -1]
    R = target[:3, :3] - error[..., :3]
    turn = np.cross(R, np.broadcast_to(target[:3, :3], R.shape), axis=-2).sum(axis=-1) / 2
    return np.concatenate([error[..., -1], turn], axis=-1)


def _same(arm: Arm, q: Array, other: Array, free: tuple[Free, ...]) -> bool:
    """Whether q is the other, or a member of the straight continuum through the other."""
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


def _continuum(arm: Arm, number: int, q: Array, free: Free, rows: int) -> Continuum:
    n = len(q)
    weights = np.zeros(n)
    for joint, weight in free.weights:
        weights[joint] = weight
    tangent, _ = _tangent(arm, q, free, rows)
    straight = bool(free.weights) or not np.delete(tangent, free.joint).any()
    value = float(weights @ q) if free.weights else float("nan")
    return Continuum(number, free.joint, straight, weights, value, tangent, free.reason)


def _tangent(arm: Arm, q: Array, free: Free, rows: int) -> tuple[Array, bool]:
    """The rates (n) of all joints for a rate of one of the free joint, and whether the others can follow it."""
    n = len(q)
    tangent = np.zeros(n)
    tangent[free.joint] = 1.0
    if free.weights:
        (_, _), (k, w) = free.weights
        tangent[k] = -w
        return tangent, True
    J = _error(arm, np.eye(4), q[None], rows)[0][0]
    others = list(free.followers) or np.arange(n) != free.joint
    tangent[others] = -np.linalg.lstsq(J[:, others], J[:, free.joint], rcond=1e-6)[0]
    return tangent, bool(np.linalg.norm(J @ tangent) <= 1e-6 * np.linalg.norm(J[:, free.joint]))
