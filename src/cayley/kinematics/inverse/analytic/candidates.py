"""Candidates: what a family of arms offers for a pose, before it is known whether they reach it; and results.

A family writes its candidates once, as a text without branches on values, and asks `near` where a special pose needs
more (a joint that is free). `OnePose` answers for a single pose; a kernel for many poses is traced with `Noting`, which
says no and notes how near it was, so that these poses can be done again, one by one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError
from cayley.geometry.pose import Pose
from cayley.model.denavit_hartenberg.table import DHTable, convert_dh, standard_dh_pose

LAST = 99  # the number of what is tried when no value of a free joint will do
TRIED = 12  # values of a free joint, round its circle
SAME = 3e-7  # configurations nearer than this are one: a double root

Names = tuple[str, str, str]
Choice = tuple[Hashable, int]


class Sign(NamedTuple):
    """A sign that tells two branches apart: a number without unit, and its names if positive, if negative, and where
    the branches meet."""

    value: Scalar
    names: Names

    @property
    def name(self) -> str:
        return self.names[2] if abs(self.value) <= SAME else self.names[0] if self.value > 0 else self.names[1]


@dataclass(frozen=True)
class Free:
    """A joint that a candidate leaves free; `weights` of the combination that stays fixed, if there is one, and the
    joints that follow, all others if none is named."""

    joint: int
    reason: str
    weights: tuple[tuple[int, float], ...] = ()
    followers: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Candidate:
    """Moving numbers of the rows (theta, or d of a prismatic joint), their branch and what is free. Among the
    candidates with the same key at the same place of `choices` only those of the lowest number that close at all are
    kept: values of a free joint are alternatives, not further solutions."""

    moving: Array
    branch: tuple[Sign, ...]
    free: tuple[Free, ...] = ()
    choices: tuple[Choice, ...] = ()


class Special(Protocol):
    """A special pose, or none, and the values of free joints there."""

    def near(self, distance: Scalar, bound: float) -> bool: ...

    def values(self, joint: int) -> list[tuple[int, float]]: ...


@dataclass(frozen=True, eq=False)
class OnePose:
    """For one pose. `start` are the moving numbers of the reference."""

    start: Array

    def near(self, distance: Scalar, bound: float) -> bool:
        return bool(distance <= bound)

    def values(self, joint: int) -> list[tuple[int, float]]:
        """Values to try for a free joint, numbered by preference: the pose may be out of reach for the first of them.
        """
        turns = np.array([(i + 1) // 2 * (1 if i % 2 else -1) for i in range(TRIED)]) * (2 * np.pi / TRIED)
        return list(enumerate((self.start[joint] + turns).tolist()))


@dataclass(frozen=True, eq=False)
class Noting:
    """For a kernel. `notes` are distances from special poses, one where they begin."""

    notes: list[Any] = field(default_factory=list)

    def near(self, distance: Scalar, bound: float) -> bool:
        self.notes.append(distance / bound)
        return False

    def values(self, joint: int) -> list[tuple[int, float]]:
        return []


def angles_of(a: Scalar, b: Scalar, c: Scalar) -> tuple[Any, Any]:
    """The angles x with a cos x + b sin x = c, the one ahead of atan2(b, a) first. Beyond reach the nearest angle is
    given twice: whether it will do is seen when it is closed. So is a double root, which rounding would take apart."""
    middle = np.arctan2(b, a)
    square = a * a + b * b
    rest = square - c * c
    away = np.arctan2(np.where(rest > SAME * SAME * square, np.sqrt(np.maximum(rest, 0.0)), 0.0), c)
    return middle + away, middle - away


Branch = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Continuum:
    """The solution of that number is one of infinitely many: the joint `free` (counted from 0) may have any value near
    its own. With a `straight` continuum q + s `tangent` reaches the pose for every s, and the sum of `weights` times q
    is fixed. Otherwise the tangent holds at the solution only, and other joints must follow in their own way."""

    solution: int
    free: int
    straight: bool
    weights: Array  # (n)
    value: float  # of the fixed sum; nan where there is none
    tangent: Array  # (n), one for the free joint
    reason: str

    def __str__(self) -> str:
        text = f"solution {self.solution}: q{self.free + 1} is free: {self.reason}"
        if not np.any(self.weights):
            return text
        terms = "".join(f" {'-' if w < 0 else '+'} q{i + 1}" for i, w in enumerate(self.weights) if w)
        return f"{text}; fixed: {terms.removeprefix(' + ')} = {self.value:.12g}"


@dataclass(frozen=True, eq=False)
class AnalyticResult:
    """All configurations that reach a pose, joint limits not looked at; angles in (-pi, pi]. `residuals` are computed
    anew: the root of the sum of squares of the distance [m] and of 2 sin(angle / 2) [rad] (the distance alone for a
    point). A solution of a continuum has its free joint at the value of the reference, if the pose is in reach there,
    and is named in `degenerate`; where that joint turns back, another one is named as free."""

    solutions: Array  # (m, n)
    branches: tuple[Branch, ...]
    residuals: Array  # (m)
    degenerate: tuple[Continuum, ...]

    @property
    def status(self) -> Literal["solved", "unreachable"]:
        return "solved" if len(self.solutions) else "unreachable"

    def __repr__(self) -> str:
        names = "".join(f"\n  {', '.join(branch)}: {np.array2string(q, precision=6)}"
                        for q, branch in zip(self.solutions, self.branches, strict=True))
        return f"<analytic inverse kinematics: {self.status}, {len(self.solutions)} solutions>{names}" + \
            "".join(f"\n  {c}" for c in self.degenerate)


FLAT = 1e-12  # sines and relative lengths below this are zero in a description of an arm


@dataclass(frozen=True, eq=False)
class DHArm:
    """A table made ready: standard, with the constants of a last revolute row moved to the tool."""

    table: DHTable
    offsets: Array
    turns: Array
    size: float

    @staticmethod
    def of(table: DHTable, joints: str) -> DHArm:
        """`joints` are the kinds wanted, such as "RRPR"."""
        table = convert_dh(table, convention="standard")
        if kinds_of(table) != joints:
            raise ModelError(f"this solution is for an arm with the joints {joints}, not {kinds_of(table)}")
        last = table.rows[-1]
        fixed = standard_dh_pose(0.0, last.d, last.a, last.alpha)
        table = replace(table, rows=(*table.rows[:-1], replace(last, d=0.0, a=0.0, alpha=0.0)), tool=fixed @ table.tool)
        turns = np.array([row.kind == "revolute" for row in table.rows])
        offsets = np.array([row.theta if row.kind == "revolute" else row.d for row in table.rows])
        lengths = sum(abs(row.a) + abs(row.d) for row in table.rows)
        return DHArm(table, offsets, turns,
                            lengths or 1.0)  # a slide between axes that meet has no length: metres, then

    def column(self, name: str) -> Array:
        return np.array([getattr(row, name) for row in self.table.rows])

    def moving(self, reference: ArrayLike | None) -> Array:
        """The moving numbers at the reference, zero joint coordinates if it is None."""
        q = np.zeros(len(self.offsets)) if reference is None else np.asarray(reference, dtype=np.float64)
        if q.shape != self.offsets.shape:
            raise ModelError(f"the reference must have the shape {self.offsets.shape}, not {q.shape}")
        return self.offsets + q

    def row(self, number: int, moving: Scalar) -> Pose:
        """A_i at its moving number, the rows counted from 0."""
        row = self.table.rows[number]
        theta, d = (moving, row.d) if self.turns[number] else (row.theta, moving)
        ct = np.cos(theta)
        st = np.sin(theta)
        ca = np.cos(row.alpha)
        sa = np.sin(row.alpha)
        R = np.array([[ct, -ca * st, sa * st], [st, ca * ct, -sa * ct], [0.0 * ct, sa, ca]])
        return Pose(R, np.array([row.a * ct, row.a * st, d]))

    def inner(self, target: Array) -> Pose:
        """The pose of the last frame in frame 0, where the tool is to be at `target` (4, 4)."""
        before, after = self._ends
        return before.then(Pose.of(target)).then(after)

    @cached_property
    def _ends(self) -> tuple[Pose, Pose]:
        return Pose.of(self.table.base).inverse, Pose.of(self.table.tool).inverse

    def require(self, zero: Mapping[str, Any], family: str) -> None:
        """Refuse an arm in which one of the named values, sines or lengths, is not zero."""
        for name, value in zero.items():
            if not abs(value) <= FLAT * max(1.0, self.size):
                raise ModelError(f"this is no {family}: {name} should be zero, and is {value:.3g}")


def kinds_of(table: DHTable) -> str:
    """The joints of a table as letters, such as "RRPR"."""
    return "".join(row.kind[0].upper() for row in table.rows)


def check_target(target: ArrayLike) -> Array:
    """A pose (4, 4) whose rotation is one to 1e-8."""
    target = np.asarray(target, dtype=np.float64)
    if target.shape != (4, 4) or not np.isfinite(target).all():
        raise ModelError(f"the target is one finite pose (4, 4), not an array of the shape {target.shape}")
    defect = float(rotation_defect(target))
    if defect > 1e-8 or np.linalg.det(target[:3, :3]) < 0 or np.any(target[3] != (0, 0, 0, 1)):
        raise ModelError(
            f"the target is not a pose: its rotation is {defect:.2g} from orthonormal, or the last row is not 0 0 0 1")
    return target


def rotation_defect(target: Array) -> Scalar:
    """The distance of the rotations of poses (..., 4, 4) from orthonormal ones (...)."""
    R = target[..., :3, :3]
    return np.abs(np.swapaxes(R, -2, -1) @ R - np.eye(3)).max(axis=(-2, -1))


def wrap(angle: ArrayLike) -> Array:
    """Into (-pi, pi]."""
    return np.pi - np.mod(np.pi - np.asarray(angle), 2 * np.pi)
