"""From candidates to solutions, for one pose and for many at once.

    candidates(target)    traced from the family's text: configurations, signs of branches, distance from special poses
    closing(q, target)    two Newton steps onto the pose; how far it still is, and from a singular configuration
Candidates are brought onto the pose by Newton steps; what then does not close is dropped, so no test of reach in a
family decides alone. Double roots count once. Of many poses, one at which all candidates either miss by far or close in
a regular configuration is done by kernels; any other by itself, by `close`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.linear import ldl, ldl_solve
from cayley.compiler.solving.rounding import least_singular, significant
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import UnsupportedError
from cayley.geometry.pose import Pose
from cayley.kinematics.inverse.analytic.candidates import (
    LAST,
    SAME,
    AnalyticResult,
    Branch,
    Candidate,
    Continuum,
    DHArm,
    Free,
    Noting,
    OnePose,
    Special,
    check_target,
    rotation_defect,
    wrap,
)
from cayley.model.denavit_hartenberg.table import DHTable, dh_frames, dh_tool_pose
from cayley.progress import PatientBar
from cayley.showing import brief

CLOSED = 1e-12  # residual of a solution, times the size of the arm where that is more than one metre
_ROUNDED = 1e-15
_NEWTON_STEPS = 6
_TURNING = 1e-3  # a joint this much slower than another turns back
_PATH_STEPS = 5
_ON_PATH = 1e-10  # residual along a continuum
_CUTS = (1e-10, 1e-8, 1e-6, 1e-4)  # of the largest singular value: tried in turn, and kept where they help


@dataclass(frozen=True)
class Family:
    """Arms with one closed form: their `joints`, what is demanded of their tables, their candidates (arm, target,
    special), and `rows`: 6, or 3 if only a point is asked for."""

    joints: str
    check: Callable[[DHArm], None]
    candidates: Callable[[DHArm, Any, Special], list[Candidate]]
    rows: int = 6

    def arm(self, table: DHTable) -> DHArm:
        """The table made ready; an error that says why if the arm is not of this family."""
        arm = DHArm.of(table, self.joints)
        self.check(arm)
        return arm

    def __call__(self, table: DHTable, target: ArrayLike, *, reference: ArrayLike | None = None) -> AnalyticResult:
        """All configurations of an arm of this family that reach the pose (4, 4); `reference` (n), zero if not given,
        gives free joints their value."""
        return self.solutions(self.arm(table), target, reference)

    def solutions(self, arm: DHArm, target: ArrayLike, reference: ArrayLike | None) -> AnalyticResult:
        """All configurations of an arm made ready that reach one pose."""
        target = check_target(target)
        return close(arm, target, self.candidates(arm, target, OnePose(arm.moving(reference))), self.rows)


def closing_bound(arm: DHArm, target: Array) -> Scalar:
    """The residual (...) that a solution may have: rounding, and what the targets (..., 4, 4) themselves are off from a
    pose."""
    return CLOSED * max(1.0, arm.size) + 2 * rotation_defect(target)


def close(arm: DHArm, target: Array, candidates: Sequence[Candidate], rows: int) -> AnalyticResult:
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


def _told_apart(arm: DHArm, candidates: Sequence[Candidate], closed: list[int], q: Array,
                rows: int) -> tuple[list[Candidate], list[int]]:
    """Solutions told apart: where a straight continuum crosses another, as an aligned wrist does where the arm is free,
    its members are on the other at the crossing only: the other is shown at other values. So it is where a candidate
    can not move at all."""
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


def _polished(arm: DHArm, target: Array, q: Array, rows: int) -> Array:
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


def _error(arm: DHArm, target: Array, q: Array, rows: int) -> tuple[Array, Array]:
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


def _same(arm: DHArm, q: Array, other: Array, free: tuple[Free, ...]) -> bool:
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


def _continuum(arm: DHArm, target: Array, number: int, q: Array, free: Free, rows: int) -> Continuum | None:
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


def _motion(arm: DHArm, q: Array, free: Free, rows: int) -> tuple[int, Array] | None:
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


def _directions(arm: DHArm, q: Array, columns: Array, rows: int) -> list[Array]:
    """Unit rates of those joints at which the tool stays at rest. Where J loses two ranks, rates v with J v = 0 are
    kept up only if w J' v = 0 for all w with w J = 0: two directions, in which two continua cross, or none."""
    J = _error(arm, np.eye(4), q[None], rows)[0][0][:, columns]
    U, s, Vt = np.linalg.svd(J)
    rank = int(np.count_nonzero(significant(s, len(columns))))
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


def _moves(arm: DHArm, target: Array, q: Array, tangent: Array, rows: int) -> bool:
    """True if the arm leaves q by a tenth along its tangent, forwards or back, with the tool at rest."""
    way = tangent / np.linalg.norm(tangent)
    return any(_follows(arm, target, q, sign * way, rows) for sign in (1.0, -1.0))


def _follows(arm: DHArm, target: Array, q: Array, way: Array, rows: int) -> bool:
    bound = _ON_PATH * max(1.0, arm.size) + 2 * closing_bound(arm, target)
    for _ in range(_PATH_STEPS):
        here = start = q + 0.1 / _PATH_STEPS * way
        for _ in range(20):
            J, error = _error(arm, target, here[None], rows)
            if _residual(error)[0] <= bound:
                break
            off = np.append(_task_error(error, target, rows)[0], 0.0)
            here = here + np.linalg.lstsq(np.vstack([J[0], way]), off, rcond=least_singular(len(q)))[0]
        else:
            return False
        if np.linalg.norm(here - start) > 0.1 / _PATH_STEPS:
            return False
        way = (here - q) / np.linalg.norm(here - q)
        q = here
    return True


MOST = 8  # solutions of any of the families
_FAR = 1e-3  # a residual above this is no solution, times the size of the arm where that is more than one metre
_REGULAR = 1e-8  # pivots of J^T J, with lengths measured in the size of the arm: smaller ones are solved one by one
_SPECIAL = 100.0  # times the distance at which special poses begin
_PIECE = 4096  # poses between two looks at the clock
_CLOSING_STEPS = 2


@dataclass(frozen=True, eq=False)
class VerifiedSolutions:
    """The verified solutions of poses (k): configurations (k, m, n), NaN where there are fewer, residuals (k, m),
    branches (k, m), and the poses that were done by themselves."""

    q: Array
    residuals: Array
    branches: Array
    alone: dict[int, AnalyticResult]

    __repr__ = brief


class ManyPoses:
    """The kernels of one arm. An arm whose text cannot be traced (the quartic) has none, and its poses are done one by
    one."""

    def __init__(self, family: Family, arm: DHArm) -> None:
        self._family = family
        self._arm = arm
        self._far = _FAR * max(1.0, arm.size)
        try:
            sample = family.candidates(arm, dh_tool_pose(arm.table, np.full(len(arm.offsets), 0.3)), Noting())
        except UnsupportedError:
            self._names: np.ndarray | None = None
            return
        self._names = _names(sample)
        self._candidates = _candidates_kernel(family, arm, len(sample), len(sample[0].branch))
        self._closing = _closing_kernel(arm, family.rows)

    def solutions(self, targets: Array, reference: Callable[[int], Array]) -> VerifiedSolutions:
        """The solutions for poses (k, 4, 4); `reference` gives the configuration (n) that free joints take for one of
        them."""
        count = len(targets)
        n = len(self._arm.offsets)
        q = np.full((count, MOST, n), np.nan)
        residuals = np.full((count, MOST), np.nan)
        branches = np.full((count, MOST), "", dtype=object)
        alone: dict[int, AnalyticResult] = {}
        with PatientBar("inverse kinematics in closed form", count) as bar:
            for first in range(0, count, _PIECE):
                piece = slice(first, min(first + _PIECE, count))
                for i in (first + self._regular(targets[piece], q[piece], residuals[piece], branches[piece])).tolist():
                    alone[i] = found = self._family.solutions(self._arm, targets[i], reference(i))
                    places = slice(0, len(found.solutions))
                    q[i, places] = found.solutions
                    residuals[i, places] = found.residuals
                    branches[i, places] = [", ".join(branch) for branch in found.branches]
                    bar.reached(i)
                bar.reached(piece.stop)
        return VerifiedSolutions(q, residuals, branches, alone)

    def _regular(self, targets: Array, q: Array, residuals: Array, branches: Array) -> Array:
        """Fill in what is found by the kernels; the numbers of the poses for which that will not do."""
        if self._names is None:
            return np.arange(len(targets))
        found = self._candidates(targets)
        closed_q, off, margin = self._closing(found.q, targets[:, None])
        closed = off <= closing_bound(self._arm, targets)[:, None]
        doubt = ~(found.special > _SPECIAL) | ~np.where(closed, margin > _REGULAR, off > self._far).all(axis=1)
        order = np.argsort(~closed, axis=1, kind="stable")
        codes = (found.signs > 0) @ (1 << np.arange(found.signs.shape[-1]))
        m = order.shape[1]
        arm = self._arm
        kept = np.take_along_axis(closed, order, 1) & ~doubt[:, None]
        with np.errstate(invalid="ignore"):  # infinite where a candidate is singular: such a pose is doubtful
            closed_q = np.where(arm.turns, wrap(closed_q), closed_q)
        q[:, :m] = np.where(kept[..., None], np.take_along_axis(closed_q, order[..., None], 1), np.nan)
        residuals[:, :m] = np.where(kept, np.take_along_axis(off, order, 1), np.nan)
        names = self._names[np.take_along_axis(codes, order, 1)]
        branches[:, :m] = np.where(kept, _numbered(names, kept), "")
        return np.flatnonzero(doubt)


def _names(sample: list[Candidate]) -> Array:
    """The names of the branches by the bits of their signs."""
    parts = [sign.names for sign in sample[0].branch]
    joined = [
        ", ".join(names[0] if code >> k & 1 else names[1] for k, names in enumerate(parts))
        for code in range(1 << len(parts))]
    return np.array(joined, dtype=object)


def _numbered(names: Array, kept: Array) -> Array:
    """The branches by number: where the signs do not tell all branches apart, the sheets are counted."""
    before = np.zeros(names.shape, dtype=int)
    for i in range(1, names.shape[1]):
        for k in range(i):
            before[:, i] += kept[:, k] & kept[:, i] & (names[:, k] == names[:, i])
    return np.where(before > 0,
                    names + np.array([f", sheet {k + 1}" for k in range(names.shape[1])], dtype=object)[before], names)


class _Candidates(NamedTuple):
    q: Array  # (m, n)
    signs: Array  # (m, b)
    special: Scalar  # distance from the nearest special pose, one where it begins


def _candidates_kernel(family: Family, arm: DHArm, count: int, names: int) -> Kernel[_Candidates]:
    def text(target: Array) -> _Candidates:
        noting = Noting()
        found = family.candidates(arm, target, noting)
        nearest = noting.notes[0] if noting.notes else 1e300
        for note in noting.notes[1:]:
            nearest = np.minimum(nearest, note)
        signs = np.array([[sign.value for sign in c.branch] for c in found])
        return _Candidates(np.stack([c.moving - arm.offsets for c in found]), signs, nearest)

    return kernel(f"(4,4)->({count},{len(arm.offsets)}),({count},{names}),()", name="candidates")(text)


class _Closed(NamedTuple):
    q: Array  # (n)
    residual: Scalar
    margin: Scalar  # the smallest pivot of J^T J


def _closing_kernel(arm: DHArm, rows: int) -> Kernel[_Closed]:
    lengths = np.where(arm.turns, 1.0, arm.size)

    def text(q: Array, target: Array) -> _Closed:
        margin = 1.0
        for _ in range(_CLOSING_STEPS):
            J, error, _ = _misfit(arm, q, target, rows)
            gram = J.T @ J
            q = q + lengths * ldl_solve(gram, J.T @ error)
            pivots = ldl(gram)[1]
            margin = pivots[0]
            for pivot in pivots[1:]:
                margin = np.minimum(margin, pivot)
        return _Closed(q, _misfit(arm, q, target, rows)[2], margin)

    n = len(arm.offsets)
    return kernel(f"({n}),(4,4)->({n}),(),()", name="closing")(text)


def _misfit(arm: DHArm, q: Array, target: Array, rows: int) -> tuple[Any, Any, Any]:
    """Jacobian and error, with lengths measured in the size of the arm, and the residual in metres and radians."""
    here = Pose.of(arm.table.base)
    axes = []
    for i, turns in enumerate(arm.turns):
        axes.append((here, turns))
        here = here.then(arm.row(i, q[i] + arm.offsets[i]))
    tip = here.then(Pose.of(arm.table.tool))
    wanted = Pose.of(target)
    columns = [np.concatenate([np.cross(a.R[:, 2], tip.p - a.p) / arm.size, a.R[:, 2]]) if turns
               else np.concatenate([a.R[:, 2], np.zeros(3)]) for a, turns in axes]
    way = wanted.p - tip.p
    turn = sum(np.cross(tip.R[:, k], wanted.R[:, k]) for k in range(3)) / 2
    square = way @ way
    if rows == 6:
        square = square + np.sum((wanted.R - tip.R) ** 2) / 2
    return np.stack(columns, axis=1)[:rows], np.concatenate([way / arm.size, turn])[:rows], np.sqrt(square)
