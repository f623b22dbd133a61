"""SCARA arms: four parallel axes, revolute, revolute, prismatic, revolute.

Seen along the axes it is an arm of two links; the third joint gives the height, the fourth the direction of the tool.
Axes may be turned head down (alpha = pi), which turns the sense of what follows.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.kinematics.inverse.analytic.arms import Arm
from cayley.kinematics.inverse.analytic.candidates import Candidate, Sign, Special
from cayley.kinematics.inverse.analytic.planar import ELBOW, TwoLink, check_links, two_links
from cayley.kinematics.inverse.analytic.result import AnalyticResult
from cayley.kinematics.inverse.analytic.verification import Family
from cayley.model.denavit_hartenberg.table import DHTable, standard_dh_pose


def scara(table: DHTable, target: Array, *, reference: ArrayLike | None = None) -> AnalyticResult:
    """The two configurations of a SCARA arm that reach the pose (4, 4). A pose whose axis is tilted is unreachable.

    The elbow is "left" for q2 > 0. With links of one length, above the first axis, q1 is free and q4 goes with it.
    """
    return SCARA.solutions(SCARA.arm(table), target, reference)


def _check(arm: Arm) -> None:
    arm.require({f"sin(alpha_{i + 1})": np.sin(arm.table.rows[i].alpha) for i in range(3)}, "SCARA arm")
    check_links(arm.table.rows[0].a, _second_link(arm)[0])


def _second_link(arm: Arm) -> tuple[float, float]:
    """The length from axis 2 to axis 4, and its angle from x of the second row."""
    rows = arm.table.rows
    slide = standard_dh_pose(rows[2].theta, 0.0, rows[2].a, 0.0)[:2, 3] * [1.0, np.sign(np.cos(rows[1].alpha))]
    return float(np.hypot(rows[1].a + slide[0], slide[1])), float(np.arctan2(slide[1], rows[1].a + slide[0]))


def _candidates(arm: Arm, target: Array, special: Special) -> list[Candidate]:
    inner = arm.inner(target)
    length, bend = _second_link(arm)
    senses = np.cumprod([1.0, *[np.sign(np.cos(row.alpha)) for row in arm.table.rows[:3]]]).tolist()

    def candidate(way: TwoLink) -> Candidate:
        theta2 = senses[1] * way.second - bend
        reached = arm.row(0, way.first).then(arm.row(1, theta2)).then(arm.row(2, 0.0))
        turn = reached.R.T @ inner.R
        height = senses[2] * (inner.p[2] - reached.p[2])
        moving = np.array([way.first, theta2, height, np.arctan2(turn[1, 0], turn[0, 0])])
        return Candidate(moving, (Sign(np.sin(theta2 + bend), ELBOW),), way.free(0, 3, senses[3]))

    return [candidate(way) for way in two_links(inner.p[0], inner.p[1], arm.table.rows[0].a, length, special, 0)]


SCARA = Family("RRPR", _check, _candidates)
