"""SCARA arms: four parallel axes, revolute, revolute, prismatic, revolute.

Seen along the axes it is an arm of two links; the third joint gives the height, the fourth the direction of the hand. Axes may be turned
head down (alpha = pi), which turns the sense of what follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.kinematics.inverse.analytic.closing import Arm, Candidate, Free, check_target, close, inner_target, sign_name
from cayley.kinematics.inverse.analytic.planar import ELBOW, FOLDED, two_links
from cayley.kinematics.inverse.analytic.result import AnalyticResult
from cayley.model.dh_table import DHTable, dh_row_poses, standard_dh_pose


def scara(table: DHTable, target: Any, *, reference: Any = None) -> AnalyticResult:
    """Both configurations of a SCARA arm that reach the pose (4, 4). A pose whose axis is tilted is unreachable.

    The elbow is "left" for q2 > 0. With links of one length, above the first axis, q1 is free and q4 goes with it.
    """
    arm = Arm.of(table, "RRPR")
    rows = arm.table.rows
    arm.require({f"sin(alpha_{i + 1})": np.sin(rows[i].alpha) for i in range(3)}, "SCARA arm")
    target = check_target(target)
    inner, start = inner_target(arm, target), arm.moving(reference)
    senses = np.cumprod([1.0, *[np.sign(np.cos(row.alpha)) for row in rows[:3]]])
    slide = standard_dh_pose(rows[2].theta, 0.0, rows[2].a, 0.0)[:2, 3] * [1.0, np.sign(np.cos(rows[1].alpha))]
    tip = np.array([rows[1].a + slide[0], slide[1]])  # of axis 4 in the second link
    length, bend = float(np.hypot(*tip)), float(np.arctan2(tip[1], tip[0]))
    candidates = []
    for way in two_links(float(inner[0, 3]), float(inner[1, 3]), rows[0].a, length, reference=float(start[0])):
        theta2 = senses[1] * way.second - bend
        moving = _height_and_hand(arm, inner, np.array([way.first, theta2, 0.0, 0.0]), senses)
        free = (Free(0, FOLDED, ((0, 1.0), (3, float(senses[3])))),) if way.folded else ()
        candidates.append(Candidate(moving, (sign_name(np.sin(theta2 + bend), 1.0, ELBOW),), free))
    return close(arm, target, candidates)


def _height_and_hand(arm: Arm, inner: np.ndarray, moving: np.ndarray, senses: np.ndarray) -> np.ndarray:
    A = dh_row_poses(arm.table, moving - arm.offsets)
    reached = A[0] @ A[1] @ A[2]
    turn = reached[:3, :3].T @ inner[:3, :3]
    moving[2] = senses[2] * (inner[2, 3] - reached[2, 3])
    moving[3] = np.arctan2(turn[1, 0], turn[0, 0])
    return moving
