"""The Stanford arm: two turns and a slide place the centre of a spherical wrist."""

from __future__ import annotations

from cayley.compiler.typing import Array, ArrayLike
from cayley.kinematics.inverse.analytic.decoupled import check_wrist, decoupled_candidates
from cayley.kinematics.inverse.analytic.result import AnalyticResult
from cayley.kinematics.inverse.analytic.verification import Family
from cayley.model.denavit_hartenberg.table import DHTable

STANFORD = Family("RRPRRR", check_wrist, decoupled_candidates)


def stanford_arm(table: DHTable, target: Array, *, reference: ArrayLike | None = None) -> AnalyticResult:
    """All configurations of an arm of the type RRPRRR with a spherical wrist that reach the pose (4, 4): up to eight.

    Half of them have the slide on its other side ("elbow down": d3 below the middle of both); limits are not looked at.
    """
    return STANFORD.solutions(STANFORD.arm(table), target, reference)
