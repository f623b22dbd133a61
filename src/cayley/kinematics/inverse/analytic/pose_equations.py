"""How many equations a pose gives, and what that means for a serial arm. Source: Ruggiu 2.2.2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cayley.errors import ModelError

ENTRIES = 16
LAST_ROW = 4
ORTHONORMALITY = 6


@dataclass(frozen=True)
class PoseEquations:
    """The equations A_1 ... A_n = target for the coordinates of n joints.

    Direct problem: the coordinates are given, and the `nontrivial` entries are explicit: one pose. Inverse problem: of
    these entries six conditions of orthonormality hold on both sides, so that `independent` ones are left for the
    `unknowns`.
    """

    unknowns: int
    equations: int = ENTRIES
    trivial: int = LAST_ROW  # the last row, 0 0 0 1, says the same on both sides
    dependent: int = ORTHONORMALITY

    @property
    def nontrivial(self) -> int:
        return self.equations - self.trivial

    @property
    def independent(self) -> int:
        return self.nontrivial - self.dependent

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
        raise ModelError(f"an arm has at least one joint, not {joints}")
    return PoseEquations(joints)
