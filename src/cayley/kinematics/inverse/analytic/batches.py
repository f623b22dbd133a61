"""All solutions for many poses at once, by kernels.

    candidates(target)    traced from the family's text: configurations, signs of branches, distance from special poses
    closing(q, target)    two Newton steps onto the pose; how far it still is, and from a singular configuration
A pose at which all candidates either miss by far or close in a regular configuration is done; any other pose is done
again by itself, by `verification.close`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.linear import ldl, ldl_solve
from cayley.compiler.typing import Array, Scalar
from cayley.errors import UnsupportedError
from cayley.geometry.pose import Pose
from cayley.kinematics.inverse.analytic.arms import Arm, wrap
from cayley.kinematics.inverse.analytic.candidates import AnalyticResult, Candidate, Noting
from cayley.kinematics.inverse.analytic.verification import Family, closing_bound
from cayley.model.denavit_hartenberg.table import dh_tool_pose
from cayley.showing import brief

MOST = 8  # solutions of any of the families
_FAR = 1e-3  # a residual above this is no solution, times the size of the arm where that is more than one metre
_REGULAR = 1e-8  # pivots of J^T J, with lengths measured in the size of the arm
_SPECIAL = 100.0  # times the distance at which special poses begin
_NEWTON_STEPS = 2


@dataclass(frozen=True, eq=False)
class Solutions:
    """Of poses (k): configurations (k, m, n), NaN where there are fewer, residuals (k, m), branches (k, m), and the
    poses that were done by themselves."""

    q: Array
    residuals: Array
    branches: Array
    alone: dict[int, AnalyticResult]

    __repr__ = brief


class ManyPoses:
    """The kernels of one arm. An arm whose text cannot be traced (the quartic) has none, and its poses are done one by
    one."""

    def __init__(self, family: Family, arm: Arm) -> None:
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

    def solutions(self, targets: Array, reference: Callable[[int], Array]) -> Solutions:
        """The solutions for poses (k, 4, 4); `reference` gives the configuration (n) that free joints take for one of
        them."""
        count = len(targets)
        n = len(self._arm.offsets)
        q = np.full((count, MOST, n), np.nan)
        residuals = np.full((count, MOST), np.nan)
        branches = np.full((count, MOST), "", dtype=object)
        doubtful = np.arange(count)
        if self._names is not None and count:
            doubtful = self._regular(targets, q, residuals, branches)
        alone = {int(i): self._family.solutions(self._arm, targets[i], reference(int(i))) for i in doubtful}
        for i, found in alone.items():
            places = slice(0, len(found.solutions))
            q[i, places] = found.solutions
            residuals[i, places] = found.residuals
            branches[i, places] = [", ".join(branch) for branch in found.branches]
        return Solutions(q, residuals, branches, alone)

    def _regular(self, targets: Array, q: Array, residuals: Array, branches: Array) -> Array:
        """Fill in what is found by the kernels; the numbers of the poses for which that will not do."""
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
        names = self._names[np.take_along_axis(codes, order, 1)]  # type: ignore[index]
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
    """Where the signs do not tell all branches apart, the sheets are counted."""
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


def _candidates_kernel(family: Family, arm: Arm, count: int, names: int) -> Kernel[_Candidates]:
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


def _closing_kernel(arm: Arm, rows: int) -> Kernel[_Closed]:
    lengths = np.where(arm.turns, 1.0, arm.size)

    def text(q: Array, target: Array) -> _Closed:
        margin = 1.0
        for _ in range(_NEWTON_STEPS):
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


def _misfit(arm: Arm, q: Array, target: Array, rows: int) -> tuple[Any, Any, Any]:
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
