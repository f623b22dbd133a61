"""6R arms of the UR family: axes 2, 3 and 4 parallel, at right angles to axes 1 and 5, with 5 and 6 at right angles.

    n = z_1      direction of the three parallel axes;   p   meeting point of axes 5 and 6
p lies d2 + d3 + d4 along n: two theta1. Axis 6 makes the angle theta5 with n: two theta5; the direction of n as seen by
the tool is theta6. What is left between is a planar arm of three links. Branches: shoulder "left" or "right" (the sign
of p x n along axis 1), wrist by the sign of sin(theta5), elbow by that of sin(theta3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.geometry.pose import Pose
from cayley.kinematics.inverse.analytic.candidates import (
    FLAT,
    LAST,
    Candidate,
    Choice,
    DHArm,
    Free,
    Sign,
    Special,
    angles_of,
)
from cayley.kinematics.inverse.analytic.planar import two_links
from cayley.kinematics.inverse.analytic.verification import Family

SHOULDER = ("shoulder left", "shoulder right", "shoulder at its limit")
WRIST = ("wrist up", "wrist down", "wrist at its limit")
ELBOW = ("elbow up", "elbow down", "elbow at its limit")
_ON_AXIS = 1e-9
_NEARLY_ALIGNED = 1e-7


def _check(arm: DHArm) -> None:
    rows = arm.table.rows
    right = {f"cos(alpha_{i + 1})": np.cos(rows[i].alpha) for i in (0, 3, 4)}
    arm.require({**right, "alpha_2": rows[1].alpha, "alpha_3": rows[2].alpha, "a_5": rows[4].a}, "arm of the UR family")
    if min(abs(rows[1].a), abs(rows[2].a)) <= FLAT * arm.size:
        raise ModelError("two of the axes 2, 3 and 4 coincide: the elbow moves nothing")


class Hand(NamedTuple):
    """theta1, and with it theta5 and theta6; their branch and what is free."""

    angles: tuple[Any, ...]
    branch: tuple[Sign, ...]
    free: tuple[Free, ...]
    choices: tuple[Choice, ...]


def _candidates(arm: DHArm, target: Array, special: Special) -> list[Candidate]:
    inner = arm.inner(target)
    return [candidate for shoulder in _shoulders(arm, inner, special) for hand in _hands(arm, inner, special, shoulder)
            for candidate in _elbows(arm, inner, special, hand)]


def _shoulders(arm: DHArm, inner: Pose, special: Special) -> list[Hand]:
    """theta1: sin(alpha1) (x sin theta1 - y cos theta1) = d2 + d3 + d4."""
    x, y = inner.p[:2]
    across = float(arm.column("d")[1:4].sum())
    sa1 = np.sin(arm.table.rows[0].alpha)
    found = []
    if abs(across) <= _ON_AXIS * arm.size and special.near(np.hypot(x, y), _ON_AXIS * arm.size):
        free = Free(0, "axes 5 and 6 meet on axis 1; the other joints follow")
        found = [
            Hand((theta,), (Sign(0.0, SHOULDER), ), (free,), (("theta1", number), ))
            for number, theta in special.values(0)]
    return found + [
        Hand((theta,), (Sign(-sa1 * (x * np.cos(theta) + y * np.sin(theta)) / arm.size, SHOULDER), ), (),
             (("theta1", LAST), )) for theta in angles_of(-sa1 * y, sa1 * x, across)]


def _hands(arm: DHArm, inner: Pose, special: Special, shoulder: Hand) -> list[Hand]:
    """theta5 and theta6 from the direction of the parallel axes, seen by the tool: m = sa4 (s5 c6, -s5 s6, -sa5 c5)."""
    (theta1,), branch, free, choices = shoulder
    sa1, sa4, sa5 = (np.sin(arm.table.rows[i].alpha) for i in (0, 3, 4))
    m = inner.R.T @ np.array([sa1 * np.sin(theta1), -sa1 * np.cos(theta1), 0.0])
    sine = np.hypot(m[0], m[1])
    cosine = -m[2] * sa4 * sa5
    found = []
    if special.near(sine, _NEARLY_ALIGNED):
        aligned = Free(5, "axis 6 is parallel to axes 2, 3 and 4, which follow", followers=(1, 2, 3))
        theta5 = 0.0 if cosine > 0 else np.pi
        found = [
            Hand((theta1, theta5, theta6), (*branch, Sign(0.0, WRIST)), (*free, aligned), (*choices, (theta1, number)))
            for number, theta6 in special.values(5)]
    return found + [Hand((theta1, np.arctan2(s * sine, cosine), np.arctan2(-s * sa4 * m[1], s * sa4 * m[0])),
                         (*branch, Sign(s * sine, WRIST)), free, (*choices, (theta1, LAST))) for s in (1.0, -1.0)]


def _elbows(arm: DHArm, inner: Pose, special: Special, hand: Hand) -> list[Candidate]:
    """The planar arm of joints 2, 3 and 4 between the shoulder and axis 5."""
    theta1, theta5, theta6 = hand.angles
    after = arm.row(3, 0.0).then(arm.row(4, theta5)).then(arm.row(5, theta6))
    between = arm.row(0, theta1).inverse.then(inner).then(after.inverse)
    direction = np.arctan2(between.R[1, 0], between.R[0, 0])
    return [Candidate(np.array([theta1, way.first, way.second, direction - way.first - way.second, theta5, theta6]),
                      (*hand.branch, Sign(way.bend, ELBOW)), hand.free + way.free(1, 3), hand.choices)
            for way in two_links(between.p[0], between.p[1], arm.table.rows[1].a, arm.table.rows[2].a, special, 1)]


# the UR family: up to eight; theta6 is free where axis 6 is parallel to axes 2 to 4, theta1 where p is on axis 1
parallel_6r = Family("RRRRRR", _check, _candidates)
