"""Candidates: what a family of arms offers for a pose, before it is known whether they reach it; and results.

A family writes its candidates once, as a text without branches on values, and asks `near` where a special pose needs
more (a joint that is free). `Careful` answers for a single pose; a kernel for many poses is traced with `Noting`, which
says no and notes how near it was, so that these poses can be done again, one by one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from cayley.compiler.typing import Array, Scalar

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
class Careful:
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
