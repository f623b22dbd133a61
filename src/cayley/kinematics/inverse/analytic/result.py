"""Results of analytic solutions: every configuration that reaches the pose, named by its branch, and the continua among
them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array

Branch = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Continuum:
    """The solution of that number is one of infinitely many: the joint `free` (counted from 0) may have any value near
    its own.

    With a `straight` continuum q + s `tangent` reaches the pose for every s, and the sum of `weights` times q is fixed.
    Otherwise the tangent holds at the solution only, and other joints must follow in their own way.
    """

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
    """All configurations that reach a pose, joint limits not looked at.

    Angles are in (-pi, pi]. `residuals` are computed anew from the solutions: the root of the sum of squares of the
    distance [m] and of 2 sin(angle / 2) [rad] (the distance alone for an arm that is asked for a point). A solution
    that belongs to a continuum has its free joint at the value of the reference, if the pose is in reach there, and is
    named in `degenerate`; where that joint turns back, another one is named as free.
    """

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
