"""From candidates to solutions: the steps that the arm families share.

A family works in the standard convention with the target stripped of base, tool and the constants of the last row. Its candidates are
brought onto the pose by Newton steps with the geometric Jacobian; what then does not close is dropped, so no test of reach in a family
decides alone. Double roots are found to the root of the rounding only; they count once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cayley.errors import ModelError
from cayley.geometry.motions.homogeneous import relative_pose
from cayley.kinematics.inverse.analytic.result import AnalyticResult, Branch, Continuum
from cayley.model.dh_table import DHTable, convert_dh, dh_frames, standard_dh_pose

CLOSED = 1e-12  # residual of a solution, times the size of the arm where that is more than one metre
FLAT = 1e-12  # sines and relative lengths below this are zero in a description of an arm
_ROUNDED = 1e-15
_SAME = 3e-7  # configurations nearer than this are one: a double root
_NEWTON_STEPS = 6


@dataclass(frozen=True)
class Free:
    """A joint that a candidate leaves free; `weights` of the combination that stays fixed, if there is one."""

    joint: int
    reason: str
    weights: tuple[tuple[int, float], ...] = ()


Choice = tuple[Hashable, int]
LAST = 99  # the number of what is tried when no value of a free joint will do


@dataclass(frozen=True, eq=False)
class Candidate:
    """Moving numbers of the rows (theta, or d of a prismatic joint), their branch and what is free.

    Among the candidates with the same key at the same place of `choices` only those of the lowest number that close at all are kept:
    values of a free joint are alternatives, not further solutions.
    """

    moving: np.ndarray
    branch: Branch
    free: tuple[Free, ...] = ()
    choices: tuple[Choice, ...] = ()


def around(value: float) -> list[tuple[int, float]]:
    """Values to try for a free joint, numbered by preference: the pose may be out of reach for the first of them."""
    turns = np.array([0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6]) * (np.pi / 6)
    return list(enumerate((value + turns).tolist()))


@dataclass(frozen=True, eq=False)
class Arm:
    """A table made ready: standard, with the constants of a last revolute row moved to the tool."""

    table: DHTable
    offsets: np.ndarray
    turns: np.ndarray
    size: float

    @staticmethod
    def of(table: DHTable, joints: str) -> Arm:
        """`joints` are the kinds wanted, such as "RRPR"."""
        table = convert_dh(table, convention="standard")
        kinds = "".join(row.kind[0].upper() for row in table.rows)
        if kinds != joints:
            raise ModelError(f"this solution is for an arm with the joints {joints}, not {kinds}")
        last = table.rows[-1]
        fixed = standard_dh_pose(0.0, last.d, last.a, last.alpha)
        table = replace(table, rows=(*table.rows[:-1], replace(last, d=0.0, a=0.0, alpha=0.0)), tool=fixed @ table.tool)
        turns = np.array([row.kind == "revolute" for row in table.rows])
        offsets = np.array([row.theta if row.kind == "revolute" else row.d for row in table.rows])
        return Arm(table, offsets, turns, sum(abs(row.a) + abs(row.d) for row in table.rows))

    def column(self, name: str) -> np.ndarray:
        return np.array([getattr(row, name) for row in self.table.rows])

    def moving(self, reference: Any) -> np.ndarray:
        """The moving numbers at the reference, zero joint coordinates if it is None."""
        q = np.zeros(len(self.offsets)) if reference is None else np.asarray(reference, dtype=np.float64)
        if q.shape != self.offsets.shape:
            raise ModelError(f"the reference must have the shape {self.offsets.shape}, not {q.shape}")
        return self.offsets + q

    def require(self, zero: dict[str, Any], family: str) -> None:
        """Refuse an arm in which one of the named values, sines or lengths, is not zero."""
        for name, value in zero.items():
            if not abs(value) <= FLAT * max(1.0, self.size):
                raise ModelError(f"this is no {family}: {name} should be zero, and is {value:.3g}")


def check_target(target: Any) -> np.ndarray:
    """A pose (4, 4) whose rotation is one to 1e-9."""
    target = np.asarray(target, dtype=np.float64)
    if target.shape != (4, 4) or not np.isfinite(target).all():
        raise ModelError(f"the target is one finite pose (4, 4), not an array of the shape {target.shape}")
    R = target[:3, :3]
    defect = float(np.abs(R.T @ R - np.eye(3)).max())
    if defect > 1e-9 or np.linalg.det(R) < 0 or np.any(target[3] != (0, 0, 0, 1)):
        raise ModelError(f"the target is not a pose: its rotation is {defect:.2g} from orthonormal, or the last row is not 0 0 0 1")
    return target


def inner_target(arm: Arm, target: np.ndarray) -> np.ndarray:
    """The pose of the last frame in frame 0."""
    tool = relative_pose(arm.table.tool, np.eye(4))
    return relative_pose(arm.table.base, target) @ tool


def wrap(angle: Any) -> Any:
    """Into (-pi, pi]."""
    return np.pi - np.mod(np.pi - np.asarray(angle), 2 * np.pi)


def angles_of(a: float, b: float, c: float) -> list[float]:
    """The angles x with a cos x + b sin x = c, the one ahead of atan2(b, a) first.

    Beyond reach the nearest angle is given (once): whether it will do is seen when it is closed.
    """
    middle, root = np.arctan2(b, a), a * a + b * b - c * c
    if root <= 0:
        return [float(middle if c >= 0 else middle + np.pi)]
    away = np.arctan2(np.sqrt(root), c)
    return [float(middle + away), float(middle - away)]


def sign_name(value: float, scale: float, names: tuple[str, str, str]) -> str:
    """One of three names: positive, negative, and where two branches meet."""
    return names[2] if abs(value) <= _SAME * scale else names[0] if value > 0 else names[1]


# Closing


def close(arm: Arm, target: np.ndarray, candidates: Sequence[Candidate], *, rows: int = 6) -> AnalyticResult:
    """The solutions among the candidates. `rows` is 3 if only a point is asked for."""
    n = len(arm.offsets)
    q = np.array([c.moving for c in candidates]).reshape(-1, n) - arm.offsets
    q = polished(arm, target, q, rows)
    q = np.where(arm.turns, wrap(q), q)
    residuals = _residual(_error(arm, target, q, rows)[1])
    closed = _chosen(candidates, [i for i in range(len(q)) if residuals[i] <= CLOSED * max(1.0, arm.size)])
    kept: list[int] = []
    # a continuum first: a candidate that lies on it, found by chance, is not a solution of its own
    for i in sorted(closed, key=lambda i: (-len(candidates[i].free), i)):
        if not any(_same(arm, q[i], q[k], candidates[k].free) for k in kept):
            kept.append(i)
    kept.sort()
    branches = _distinct([candidates[i].branch for i in kept])
    free = [_continuum(arm, number, q[i], f, rows) for number, i in enumerate(kept) for f in candidates[i].free]
    return AnalyticResult(q[kept], branches, residuals[kept], tuple(free))


def _chosen(candidates: Sequence[Candidate], closed: list[int]) -> list[int]:
    for depth in range(max((len(c.choices) for c in candidates), default=0)):
        best: dict[Hashable, int] = {}
        for i in closed:
            key, number = candidates[i].choices[depth]
            best[key] = min(number, best.get(key, number))
        closed = [i for i in closed if best[candidates[i].choices[depth][0]] == candidates[i].choices[depth][1]]
    return closed


def polished(arm: Arm, target: np.ndarray, q: np.ndarray, rows: int) -> np.ndarray:
    """Newton steps, each taken only where it helps. At a singular configuration the small singular values are left out."""
    for _ in range(_NEWTON_STEPS):
        J, error = _error(arm, target, q, rows)
        before = _residual(error)
        if not np.any((before > _ROUNDED) & (before < 0.1 * max(1.0, arm.size))):
            break
        step = _task_error(error, target, rows)
        for cut in (1e-10, 1e-5):
            trial = q + (np.linalg.pinv(J, rcond=cut) @ step[..., None])[..., 0]
            better = _residual(_error(arm, target, trial, rows)[1]) < before
            q = np.where(better[:, None], trial, q)
            if better.all():
                break
        if not better.any():
            break
    return q


def _error(arm: Arm, target: np.ndarray, q: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The geometric Jacobian (m, rows, n), and target minus pose (m, 3, 4 or 1), the position in the last column."""
    frames = dh_frames(arm.table, q)
    pose = frames[:, -1] @ arm.table.tool
    z, o = frames[:, :-1, :3, 2], frames[:, :-1, :3, 3]
    linear = np.where(arm.turns[:, None], np.cross(z, pose[:, None, :3, 3] - o), z)
    angular = np.where(arm.turns[:, None], z, 0.0)
    J = np.concatenate([linear, angular], axis=-1).swapaxes(-1, -2)[:, :rows]
    error = target[:3] - pose[:, :3]
    return J, error if rows == 6 else error[..., 3:]


def _residual(error: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sum(error[..., -1] ** 2, axis=-1) + np.sum(error[..., :-1] ** 2, axis=(-1, -2)) / 2)


def _task_error(error: np.ndarray, target: np.ndarray, rows: int) -> np.ndarray:
    """Position error and small rotation vector (m, rows)."""
    if rows == 3:
        return error[..., -1]
    R = target[:3, :3] - error[..., :3]
    turn = np.cross(R, np.broadcast_to(target[:3, :3], R.shape), axis=-2).sum(axis=-1) / 2
    return np.concatenate([error[..., -1], turn], axis=-1)


def _same(arm: Arm, q: np.ndarray, other: np.ndarray, free: tuple[Free, ...]) -> bool:
    """Whether q is the other, or a member of the straight continuum through the other."""
    difference = np.where(arm.turns, wrap(q - other), q - other)
    for f in free:
        if f.weights:
            (_, _), (k, w) = f.weights
            difference = difference.copy()
            difference[k] = wrap(difference[f.joint] + w * difference[k])
            difference[f.joint] = 0.0
    return bool(np.abs(difference).max() < _SAME)


def _distinct(branches: list[Branch]) -> tuple[Branch, ...]:
    """The signs of an arm without symmetry do not always tell its branches apart: then the sheets are counted."""
    names: list[Branch] = []
    for i, branch in enumerate(branches):
        before = branches[:i].count(branch)
        names.append((*branch, f"sheet {before + 1}") if before else branch)
    return tuple(names)


def _continuum(arm: Arm, number: int, q: np.ndarray, free: Free, rows: int) -> Continuum:
    n = len(q)
    weights = np.zeros(n)
    for joint, weight in free.weights:
        weights[joint] = weight
    if free.weights:
        tangent = np.zeros(n)
        (_, _), (k, w) = free.weights
        tangent[free.joint], tangent[k] = 1.0, -w
        return Continuum(number, free.joint, True, weights, float(weights @ q), tangent, free.reason)
    J = _error(arm, np.eye(4), q[None], rows)[0][0]
    others = np.arange(n) != free.joint
    tangent = np.ones(n)
    tangent[others] = -np.linalg.lstsq(J[:, others], J[:, free.joint], rcond=1e-9)[0]
    return Continuum(number, free.joint, not tangent[others].any(), weights, float("nan"), tangent, free.reason)
