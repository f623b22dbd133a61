"""All configurations of a mechanism that bring a frame to a pose, in closed form.

The arm is the chain from the root to the frame. Its family is found from its Denavit-Hartenberg table; axes that point
against the one before are turned round, and their coordinates with them. Of solutions that differ by whole turns, the
one nearest to the reference within the joint limits is given, if there is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, SignatureError, UnsupportedError
from cayley.kinematics.inverse.analytic.candidates import AnalyticResult, Continuum, DHArm, check_target, kinds_of
from cayley.kinematics.inverse.analytic.decoupled import decoupled_6r, stanford_arm
from cayley.kinematics.inverse.analytic.parallel import parallel_6r
from cayley.kinematics.inverse.analytic.planar import PLANAR_2R, PLANAR_3R, scara
from cayley.kinematics.inverse.analytic.verification import Family, ManyPoses, VerifiedSolutions
from cayley.kinematics.inverse.numeric import checked_targets
from cayley.model.chains import chain_pose, chain_to
from cayley.model.denavit_hartenberg.axis_lines import AxisLine, assign_frames, lines_from_tree
from cayley.model.denavit_hartenberg.table import DHTable, dh_tool_pose
from cayley.model.tree import Tree

_TURN = 2 * np.pi
_AT_A_LIMIT = 1e-9  # rad or m beyond a limit that count as being at it


@dataclass(frozen=True, eq=False)
class AllSolutions:
    """All configurations that reach poses (...), at most m = 8 for each; they come first, and NaN (or "") is in the
    places left over."""

    q: Array  # (..., m, nq)
    found: Array  # truth values (..., m)
    within_limits: Array  # truth values (..., m)
    residual: Array  # (..., m): the root of the squares of the distance [m] and of 2 sin(angle / 2)
    branches: Array  # names (..., m)
    continua: dict[tuple[int, ...], tuple[Continuum, ...]]  # by the index of the pose, () for a single one
    task: Literal["pose", "position"]  # "position" for a planar arm of two joints: it has no choice of orientation
    limits: tuple[Array, Array]  # lower and upper, (nq)
    turns: Array  # which coordinates come back after a whole turn (nq)

    @property
    def count(self) -> Array:
        """The number of solutions (...), those outside the limits included."""
        return np.count_nonzero(self.found, axis=-1)

    @property
    def status(self) -> str | Array:
        """"solved", "outside limits" (of every solution) or "unreachable" (...)."""
        words = np.where(self.within_limits.any(axis=-1), "solved",
                         np.where(self.found.any(axis=-1), "outside limits", "unreachable"))
        return str(words) if words.ndim == 0 else words

    @property
    def solutions(self) -> Array:
        """The solutions within the limits for one pose, (k, nq)."""
        self._one_pose()
        return self.q[self.within_limits]

    def with_turns(self, number: int) -> Array:
        """The solutions that differ from one for one pose by whole turns and are within the limits, (k, nq); endless
        joints stay."""
        self._one_pose()
        if not 0 <= number < self.count:
            raise SignatureError(
                f"there are {self.count} solutions, and none has the number {number}: they are counted from 0")
        low, high = self.limits
        q = self.q[number]
        choices = []
        for k, x in enumerate(q):
            endless = not self.turns[k] or np.isinf(low[k]) or np.isinf(high[k])
            inside = low[k] - _AT_A_LIMIT <= x <= high[k] + _AT_A_LIMIT
            first, last = (0, 0 if inside else -1) if endless else _turns_inside(x, low[k], high[k])
            choices.append(x + _TURN * np.arange(first, last + 1))
        return np.array(list(product(*choices))).reshape(-1, len(q))

    def _one_pose(self) -> None:
        if self.found.ndim != 1:
            raise SignatureError("poses have different numbers of solutions: take one of the batch, as in found[3]")

    def __getitem__(self, index: int | tuple[int, ...]) -> AllSolutions:
        """The solutions for one pose of a batch."""
        index = index if isinstance(index, tuple) else (index,)
        if len(index) != self.found.ndim - 1 or not all(isinstance(i, (int, np.integer)) for i in index):
            raise SignatureError(f"{self.found.ndim - 1} whole numbers name one pose of this batch, not {index}")
        key = tuple(int(i) % n for i, n in zip(index, self.found.shape, strict=False))
        parts = {name: getattr(self, name)[key] for name in ("q", "found", "within_limits", "residual", "branches")}
        return replace(self, **parts, continua={(): self.continua[key]} if key in self.continua else {})

    def __repr__(self) -> str:
        if self.found.ndim != 1:
            return f"<all solutions: {np.count_nonzero(self.count)} of {self.count.size} poses reached>"
        lines = [
            f"\n  {branch}: {np.array2string(q, precision=6)}{'' if inside else ' (outside the limits)'}"
            for q, found, inside, branch in zip(self.q, self.found, self.within_limits, self.branches, strict=True)
            if found]
        return f"<all solutions: {self.status}, {self.count}>{''.join(lines)}" + "".join(
            f"\n  {c}" for c in self.continua.get((), ()))


def all_solutions(tree: Tree, target: ArrayLike, frame: str, *, reference: ArrayLike | None = None) -> AllSolutions:
    """All configurations that bring a frame to poses (..., 4, 4) of the root's frame; see `AllSolutions`. `reference`
    (..., nq), zero if not given, chooses among whole turns, gives free joints their values, and is where the joints
    stay that the frame does not depend on. `UnsupportedError` if no closed form is known for the arm.

    >>> from cayley.model.catalogue import load_robot
    >>> target = np.array([[1.0, 0.0, 0.0, 0.5], [0.0, -1.0, 0.0, 0.2], [0.0, 0.0, -1.0, 0.1], [0.0, 0.0, 0.0, 1.0]])
    >>> found = all_solutions(load_robot("puma560"), target, "tool")
    >>> found.status, int(found.count), found.solutions.shape, found.branches[0]
    ('solved', 8, (2, 6), 'shoulder back, elbow down, wrist flip')
    """
    return kept(tree, ("analytic", frame), lambda: AnalyticSolver(tree, frame)).solve(target, reference)


class AnalyticSolver:
    """The closed form of one chain of one mechanism."""

    def __init__(self, tree: Tree, frame: str) -> None:
        tree.frame(frame)
        try:
            chain = chain_to(tree, frame)
            lines = lines_from_tree(tree, frame)
        except ModelError as reason:
            raise UnsupportedError(
                f"no closed form for {frame!r} of {tree.name}: {reason}. Use the numeric inverse_kinematics"
            ) from reason
        self.name = tree.name
        self.neutral = tree.neutral
        self.lower = tree.lower
        self.upper = tree.upper
        self.places = np.array([tree.q_slices[tree.joint_number(joint.name)].start for joint in chain.joints])
        turned, self.senses = _of_one_sense(lines)
        table = assign_frames(turned, convention="standard", tool=chain.tip).table
        _check_table(tree, table, chain.tip_name, self.places, self.senses, chain.reach)
        family, arm = family_of(table)
        self.rows = family.rows
        self.many = ManyPoses(family, arm)
        self.turns = np.zeros(tree.nq, dtype=bool)
        self.turns[self.places] = arm.turns

    def solve(self, target: ArrayLike, reference: ArrayLike | None) -> AllSolutions:
        targets = checked_targets(target)
        own = self.neutral if reference is None else np.asarray(reference, dtype=np.float64)
        if own.shape[-1:] != self.neutral.shape or not np.isfinite(own).all():
            raise SignatureError(f"a reference of {self.name} must be {len(self.neutral)} finite numbers, not "
                                 f"{reference!r}")
        batch = np.broadcast_shapes(targets.shape[:-2], own.shape[:-1])
        targets = np.broadcast_to(targets, (*batch, 4, 4)).reshape(-1, 4, 4)
        own = np.broadcast_to(own, (*batch, len(self.neutral))).reshape(-1, len(self.neutral))
        return self._result(self.many.solutions(targets, lambda i: self.senses * own[i, self.places]), own, batch)

    def _result(self, made: VerifiedSolutions, own: Array, batch: tuple[int, ...]) -> AllSolutions:
        found = ~np.isnan(made.residuals)
        q = np.where(found[..., None], own[:, None], np.nan)
        q[..., self.places] = self.senses * made.q
        q = self._turned(q, own[:, None])
        inside = ((q >= self.lower - _AT_A_LIMIT) &
                  (q <= self.upper + _AT_A_LIMIT))[..., self.places].all(axis=-1) & found

        def shaped(x: Array) -> Array:
            return x.reshape(*batch, *x.shape[1:])

        continua = {tuple(int(k) for k in np.unravel_index(i, batch)) if batch else (): self._continua(alone, q[i])
                    for i, alone in made.alone.items() if alone.degenerate}
        return AllSolutions(shaped(q), shaped(found), shaped(inside), shaped(made.residuals), shaped(made.branches),
                            continua, "pose" if self.rows == 6 else "position", (self.lower, self.upper), self.turns)

    def _turned(self, q: Array, own: Array) -> Array:
        """Whole turns added to come near to `own`, within the limits where that is possible."""
        nearest = np.round((own - q) / _TURN)
        first, last = _turns_inside(q, self.lower, self.upper)
        k = np.where(first <= last, np.clip(nearest, first, last), nearest)
        return np.where(self.turns, q + _TURN * k, q)

    def _continua(self, alone: AnalyticResult, q: Array) -> tuple[Continuum, ...]:
        """The same in the coordinates of the mechanism."""
        def lifted(c: Continuum) -> Continuum:
            weights = np.zeros(len(self.neutral))
            tangent = np.zeros(len(self.neutral))
            weights[self.places] = self.senses * c.weights
            tangent[self.places] = self.senses * c.tangent
            value = float(weights @ q[c.solution]) if weights.any() else float("nan")
            return replace(c, free=int(self.places[c.free]), weights=weights, tangent=tangent * self.senses[c.free],
                           value=value)
        return tuple(map(lifted, alone.degenerate))


def _turns_inside(x: Array, low: Array, high: Array) -> tuple[Any, Any]:
    """The least and the greatest number of turns that bring x between the limits; crossed if none does."""
    return np.ceil((low - _AT_A_LIMIT - x) / _TURN), np.floor((high + _AT_A_LIMIT - x) / _TURN)


def _of_one_sense(lines: tuple[AxisLine, ...]) -> tuple[list[AxisLine], Array]:
    turned = [lines[0]]
    for line in lines[1:]:
        against = np.linalg.norm(turned[-1].direction + line.direction) < 1e-9
        turned.append(replace(line, direction=-line.direction) if against else line)
    return turned, np.array([1.0 if new is old else -1.0 for new, old in zip(turned, lines, strict=True)])


def _check_table(tree: Tree, table: DHTable, tip: str, places: Array, senses: Array, reach: float) -> None:
    """The table must keep the poses: neighbouring axes that are nearly parallel have feet far away, where rounding is
    felt."""
    samples = np.random.default_rng(0).uniform(-2.5, 2.5, (4, len(places)))
    for sample, pose in zip(samples, dh_tool_pose(table, senses * samples), strict=True):
        q = tree.neutral
        q[places] = sample
        off = float(np.abs(chain_pose(tree, tip, q) - pose).max())
        if not off <= 1e-12 * max(1.0, reach):
            raise UnsupportedError(
                f"no closed form for {tip!r} of {tree.name}: its Denavit-Hartenberg table misses poses by {off:.2g}, "
                "since neighbouring axes are nearly, but not quite, parallel. Use the numeric inverse_kinematics")


FAMILIES = (PLANAR_2R, PLANAR_3R, scara, stanford_arm, decoupled_6r, parallel_6r)


def family_of(table: DHTable) -> tuple[Family, DHArm]:
    """The family that an arm belongs to, and the arm made ready for it. An arm of no known family is refused with the
    reasons."""
    kinds = kinds_of(table)
    reasons = []
    for family in FAMILIES:
        if family.joints == kinds:
            try:
                return family, family.arm(table)
            except ModelError as refusal:
                reasons.append(str(refusal))
    raise UnsupportedError(
        f"no closed form for this arm with the joints {kinds}: {'; '.join(reasons) or 'no family has these joints'}. "
        "Use the numeric inverse_kinematics")


def analytic_inverse_kinematics(table: DHTable, targets: ArrayLike, *,
                                reference: ArrayLike | None = None) -> AnalyticResult | list[AnalyticResult]:
    """All configurations that reach a pose (4, 4), or each of a batch of poses (k, 4, 4), by the family that the arm
    belongs to. The number of solutions differs from pose to pose: a batch gives a list, made pose by pose. For many
    poses of a mechanism, `all_solutions` is the quicker way. An arm of no known family is refused with the reasons."""
    targets = np.asarray(targets, dtype=np.float64)
    batch = targets.ndim == 3 and targets.shape[1:] == (4, 4)
    for target in targets if batch else [targets]:
        check_target(target)
    family, arm = family_of(table)
    found = [family.solutions(arm, target, reference) for target in (targets if batch else [targets])]
    return found if batch else found[0]


@dataclass(frozen=True)
class PoseEquations:
    """The equations A_1 ... A_n = target for the coordinates of n joints. Direct problem: the coordinates are given,
    and the `nontrivial` entries are explicit: one pose. Inverse problem: of these entries six conditions of
    orthonormality hold on both sides, so that `independent` ones are left for the `unknowns`."""

    unknowns: int
    equations: int = 16
    trivial: int = 4  # the last row, 0 0 0 1, says the same on both sides
    nontrivial: int = 12
    dependent: int = 6
    independent: int = 6

    @property
    def freedom(self) -> int:
        """Unknowns that are left over; negative, the conditions that a target must meet to be reachable at all."""
        return self.unknowns - self.independent

    @property
    def inverse_problem(self) -> Literal["overdetermined", "finitely many solutions", "continuum"]:
        """The number of solutions of a general arm and a pose within its reach."""
        return "overdetermined" if self.freedom < 0 else "continuum" if self.freedom > 0 else "finitely many solutions"


def count_pose_equations(joints: int) -> PoseEquations:
    """The count for a serial arm of that many joints of one freedom.

    >>> count = count_pose_equations(6)
    >>> count.equations, count.trivial, count.nontrivial, count.independent, count.inverse_problem
    (16, 4, 12, 6, 'finitely many solutions')
    """
    if joints < 1:
        raise ModelError(f"an arm must have at least one joint, not {joints}")
    return PoseEquations(joints)
