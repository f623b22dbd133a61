"""6R arms whose axes 2, 3 and 4 are parallel, at right angles to axes 1 and 5, with 5 and 6 at right angles: the UR family.

    n = z_1      direction of the three parallel axes;   p   meeting point of axes 5 and 6
p lies d2 + d3 + d4 along n, whatever the other joints do: two theta1. Axis 6 makes the angle theta5 with n: two theta5, and the
direction of n as seen by the hand is theta6. What is left between is a planar arm of three links.
Branches: shoulder "left" or "right" of the plane through axis 1 and p (the sign of p x n along axis 1), wrist by the sign of sin(theta5),
elbow by that of sin(theta3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.errors import ModelError
from cayley.kinematics.inverse.analytic.closing import (
    FLAT,
    LAST,
    Arm,
    Candidate,
    Choice,
    Free,
    angles_of,
    around,
    check_target,
    close,
    inner_target,
    sign_name,
)
from cayley.kinematics.inverse.analytic.planar import FOLDED, two_links
from cayley.kinematics.inverse.analytic.result import AnalyticResult
from cayley.model.dh_table import DHTable, dh_row_poses

SHOULDER = ("shoulder left", "shoulder right", "shoulder at its limit")
WRIST = ("wrist up", "wrist down", "wrist at its limit")
ELBOW = ("elbow up", "elbow down", "elbow at its limit")
_ON_AXIS = 1e-9
_NEARLY_ALIGNED = 1e-7


def parallel_6r(table: DHTable, target: Any, *, reference: Any = None) -> AnalyticResult:
    """All configurations of an arm of the UR family that reach the pose (4, 4): up to eight.

    `reference` (6) gives free joints their value: theta6 where axis 6 is parallel to axes 2 to 4, theta1 where p lies on axis 1.
    """
    arm = Arm.of(table, "RRRRRR")
    rows = arm.table.rows
    right = {f"cos(alpha_{i + 1})": np.cos(rows[i].alpha) for i in (0, 3, 4)}
    arm.require({**right, "alpha_2": rows[1].alpha, "alpha_3": rows[2].alpha, "a_5": rows[4].a}, "arm of the UR family")
    if min(abs(rows[1].a), abs(rows[2].a)) <= FLAT * arm.size:
        raise ModelError("two of the axes 2, 3 and 4 coincide: the elbow moves nothing")
    target = check_target(target)
    inner, start = inner_target(arm, target), arm.moving(reference)
    return close(arm, target, [candidate for first in _shoulders(arm, inner, start) for hand in _hands(arm, inner, start, *first)
                               for candidate in _elbows(arm, inner, start, *hand)])


Hand = tuple[np.ndarray, tuple[str, str], tuple[Free, ...], tuple[Choice, ...]]


def _shoulders(arm: Arm, inner: np.ndarray, start: np.ndarray) -> list[tuple[float, str, tuple[Free, ...], Choice]]:
    """theta1: sin(alpha1) (x sin theta1 - y cos theta1) = d2 + d3 + d4."""
    x, y = inner[:2, 3]
    across, sa1 = float(arm.column("d")[1:4].sum()), np.sin(arm.table.rows[0].alpha)
    found: list[tuple[float, str, tuple[Free, ...], Choice]] = []
    if max(np.hypot(x, y), abs(across)) <= _ON_AXIS * arm.size:
        free = Free(0, "axes 5 and 6 meet on axis 1; the other joints follow")
        found = [(theta, SHOULDER[2], (free,), ("theta1", number)) for number, theta in around(float(start[0]))]
    return found + [(theta, sign_name(-sa1 * (x * np.cos(theta) + y * np.sin(theta)), arm.size, SHOULDER), (), ("theta1", LAST))
                    for theta in angles_of(-sa1 * y, sa1 * x, across)]


def _hands(arm: Arm, inner: np.ndarray, start: np.ndarray, theta1: float, side: str,
           free: tuple[Free, ...], choice: Choice) -> list[Hand]:
    """theta5 and theta6 from the direction of the parallel axes, seen by the hand: m = sa4 (s5 c6, -s5 s6, -sa5 c5)."""
    sa1, sa4, sa5 = (np.sin(arm.table.rows[i].alpha) for i in (0, 3, 4))
    m = inner[:3, :3].T @ [sa1 * np.sin(theta1), -sa1 * np.cos(theta1), 0.0]
    sine, cosine = np.hypot(m[0], m[1]), -m[2] * sa4 * sa5
    found: list[Hand] = []
    values = around(float(start[5]))
    if sine <= _NEARLY_ALIGNED:
        aligned = Free(5, "axis 6 is parallel to axes 2, 3 and 4, which follow")
        theta5 = 0.0 if cosine > 0 else np.pi
        found = [(np.array([theta1, theta5, theta6]), (side, WRIST[2]), (*free, aligned), (choice, (theta1, number)))
                 for number, theta6 in values]
    for s in (1.0, -1.0):
        angles = np.array([theta1, np.arctan2(s * sine, cosine), np.arctan2(-s * sa4 * m[1], s * sa4 * m[0])])
        found.append((angles, (side, sign_name(s * sine, 1.0, WRIST)), free, (choice, (theta1, len(values)))))
    return found


def _elbows(arm: Arm, inner: np.ndarray, start: np.ndarray, angles: np.ndarray, branch: tuple[str, str],
            free: tuple[Free, ...], choices: tuple[Choice, ...]) -> list[Candidate]:
    """The planar arm of joints 2, 3 and 4 between the shoulder and axis 5."""
    theta1, theta5, theta6 = angles
    A = dh_row_poses(arm.table, np.array([theta1, 0.0, 0.0, 0.0, theta5, theta6]) - arm.offsets)
    between = np.linalg.solve(A[0], inner) @ np.linalg.inv(A[3] @ A[4] @ A[5])
    direction = np.arctan2(between[1, 0], between[0, 0])
    found = []
    for way in two_links(between[0, 3], between[1, 3], arm.table.rows[1].a, arm.table.rows[2].a, reference=float(start[1])):
        moving = np.array([theta1, way.first, way.second, direction - way.first - way.second, theta5, theta6])
        folded = (Free(1, FOLDED, ((1, 1.0), (3, 1.0))),) if way.folded else ()
        found.append(Candidate(moving, (*branch, sign_name(np.sin(way.second), 1.0, ELBOW)), free + folded, choices))
    return found
