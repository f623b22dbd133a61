"""Planar arms: two links to a point, three links to a point and a direction.

    k^2 = (x^2 + y^2 + l1^2 + l2^2)^2 - 2 ((x^2 + y^2)^2 + l1^4 + l2^4) = (2 l1 l2 sin q2)^2
    q1 = atan2(y, x) -+ atan2(k, l1^2 + x^2 + y^2 - l2^2),   q2 = +- atan2(k, x^2 + y^2 - l1^2 - l2^2)
Source: Yamamoto 1.10, (1.24). The elbow is "left" for q2 > 0 (the arm turns to the left at it), "right" for q2 < 0.

Seen along the axes it is an arm of two links; the third joint gives the height, the fourth the direction of the tool.
Axes may be turned head down (alpha = pi), which turns the sense of what follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError
from cayley.geometry.pose import Pose
from cayley.kinematics.inverse.analytic.candidates import FLAT, AnalyticResult, Candidate, DHArm, Free, Sign, Special
from cayley.kinematics.inverse.analytic.verification import Family
from cayley.model.denavit_hartenberg.table import DHRow, DHTable, standard_dh_pose

ELBOW = ("elbow left", "elbow right", "elbow at its limit")
FOLDED = "the links are of one length and folded onto each other"


class TwoLink(NamedTuple):
    """One way of two links to a point; `folded` if the first angle is free."""

    first: Scalar
    second: Scalar
    folded: bool = False

    @property
    def bend(self) -> Scalar:
        return np.sin(self.second)

    def free(self, joint: int, follower: int | None = None, sense: float = 1.0) -> tuple[Free, ...]:
        """The free joints of a folded arm: the first angle, and the joint that goes with it."""
        weights = () if follower is None else ((joint, 1.0), (follower, sense))
        return (Free(joint, FOLDED, weights),) if self.folded else ()


def elbow_discriminant(x: Scalar, y: Scalar, l1: float, l2: float) -> Scalar:
    """k^2 [m^4], broadcast over points: negative out of reach, zero on the outer and the inner boundary. (1.24). It is
    written as the product of its factors, which loses no digits on the boundary.

    >>> round(float(elbow_discriminant(0.6, 0.3, 0.5, 0.4)), 12)
    0.1584
    """
    r = np.hypot(x, y)
    return ((l1 + l2) - r) * ((l1 + l2) + r) * (r - (l1 - l2)) * (r + (l1 - l2))


def check_links(l1: float, l2: float) -> None:
    """Refuse links of no length."""
    if min(abs(l1), abs(l2)) <= FLAT * (abs(l1) + abs(l2)):
        raise ModelError(
            f"a link of no length, of {l1:.3g} and {l2:.3g}, moves nothing: its joint is not determined by a point")


def two_links(x: Scalar, y: Scalar, l1: float, l2: float, special: Special, joint: int) -> list[TwoLink]:
    """The two ways to a point. A point beyond reach is taken to the boundary: who asks sees how far he is off. On the
    axis of the first joint with equal links the first angle is free, and is that of the reference: it is the number of
    `joint`."""
    size = abs(l1) + abs(l2)
    if abs(abs(l1) - abs(l2)) <= FLAT * size and special.near(np.hypot(x, y), FLAT * size):
        return [TwoLink(special.values(joint)[0][1], np.pi if l1 * l2 > 0 else 0.0, folded=True)]
    square = x * x + y * y
    k = np.sqrt(np.maximum(elbow_discriminant(x, y, l1, l2), 0.0))
    # a table may have negative lengths
    way = np.sign(l1)
    bend = np.sign(l1 * l2)
    return [TwoLink(np.arctan2(y, x) - np.arctan2(s * k * way, (l1 * l1 + square - l2 * l2) * way),
                    np.arctan2(s * k * bend, (square - l1 * l1 - l2 * l2) * bend)) for s in (1.0, -1.0)]


def planar_2r(arm: DHTable | Sequence[float], target: ArrayLike, *,
              reference: ArrayLike | None = None) -> AnalyticResult:
    """All configurations of a planar arm of two links that bring its tip to a point. `arm` is a table, or the two
    lengths [m]; `target` a point (2) of its plane, or a pose (4, 4) of which only the position is asked.

    >>> planar_2r((0.5, 0.4), (0.6, 0.3)).solutions.round(10)
    array([[-0.17149942,  1.47062891],
           [ 1.09879464, -1.47062891]])
    """
    return PLANAR_2R.solutions(PLANAR_2R.arm(_table(arm, 2)), _pose(target, 2), reference)


def planar_3r(arm: DHTable | Sequence[float], target: ArrayLike, *,
              reference: ArrayLike | None = None) -> AnalyticResult:
    """All configurations of a planar arm of three links that bring its tip to a pose. `arm` is a table, or the three
    lengths [m]; `target` is (x, y, angle) in its plane, or a pose (4, 4).

    >>> planar_3r((1.0, 0.8, 0.5), (1.5, 0.6, 0.4)).branches
    (('elbow left',), ('elbow right',))
    """
    return PLANAR_3R.solutions(PLANAR_3R.arm(_table(arm, 3)), _pose(target, 3), reference)


def _two(arm: DHArm, target: Array, special: Special) -> list[Candidate]:
    x, y = Pose.of(arm.table.base).inverse.then(Pose.of(target)).p[:2]
    l1, l2, bend = _second_link(arm)
    return [Candidate(np.array([way.first, way.second - bend]), (Sign(way.bend, ELBOW),), way.free(0))
            for way in two_links(x, y, l1, l2, special, 0)]


def _three(arm: DHArm, target: Array, special: Special) -> list[Candidate]:
    inner = arm.inner(target)
    direction = np.arctan2(inner.R[1, 0], inner.R[0, 0])
    l1, l2 = arm.column("a")[:2].tolist()
    return [
        Candidate(np.array([way.first, way.second, direction - way.first - way.second]), (Sign(way.bend, ELBOW), ),
                  way.free(0, 2)) for way in two_links(inner.p[0], inner.p[1], l1, l2, special, 0)]


def _second_link(arm: DHArm) -> tuple[float, float, float]:
    """Lengths of both links, and the angle of the tip from x of the second."""
    x, y = arm.table.tool[:2, 3].tolist()
    return float(arm.table.rows[0].a), float(np.hypot(x, y)), float(np.arctan2(y, x))


def _check_two(arm: DHArm) -> None:
    arm.require({"alpha_1": arm.table.rows[0].alpha}, "planar 2R arm")
    check_links(*_second_link(arm)[:2])


def _check_three(arm: DHArm) -> None:
    arm.require({f"alpha_{i + 1}": arm.table.rows[i].alpha for i in (0, 1)}, "planar 3R arm")
    check_links(arm.table.rows[0].a, arm.table.rows[1].a)


def _table(arm: DHTable | Sequence[float], n: int) -> DHTable:
    if isinstance(arm, DHTable):
        return arm
    if len(arm) != n:
        raise ModelError(f"a planar {n}R arm has {n} lengths, not {len(arm)}")
    return DHTable(tuple(DHRow(a=float(a)) for a in arm), "standard")


def _pose(target: ArrayLike, n: int) -> Array:
    """A point (x, y), or a point and an angle, as a pose; other targets as they are."""
    target = np.asarray(target, dtype=np.float64)
    if target.shape != (n,):
        return target
    pose = np.eye(4)
    pose[:2, 3] = target[:2]
    if n == 3:
        c = np.cos(target[2])
        s = np.sin(target[2])
        pose[:2, :2] = [[c, -s], [s, c]]
    return pose


PLANAR_2R = Family("RR", _check_two, _two, rows=3)
PLANAR_3R = Family("RRR", _check_three, _three)


def _check_slide(arm: DHArm) -> None:
    arm.require({f"sin(alpha_{i + 1})": np.sin(arm.table.rows[i].alpha) for i in range(3)}, "SCARA arm")
    check_links(arm.table.rows[0].a, _link_to_slide(arm)[0])


def _link_to_slide(arm: DHArm) -> tuple[float, float]:
    """The length from axis 2 to axis 4, and its angle from x of the second row."""
    rows = arm.table.rows
    slide = standard_dh_pose(rows[2].theta, 0.0, rows[2].a, 0.0)[:2, 3] * [1.0, np.sign(np.cos(rows[1].alpha))]
    return float(np.hypot(rows[1].a + slide[0], slide[1])), float(np.arctan2(slide[1], rows[1].a + slide[0]))


def _scara(arm: DHArm, target: Array, special: Special) -> list[Candidate]:
    inner = arm.inner(target)
    length, bend = _link_to_slide(arm)
    senses = np.cumprod([1.0, *[np.sign(np.cos(row.alpha)) for row in arm.table.rows[:3]]]).tolist()

    def candidate(way: TwoLink) -> Candidate:
        theta2 = senses[1] * way.second - bend
        reached = arm.row(0, way.first).then(arm.row(1, theta2)).then(arm.row(2, 0.0))
        turn = reached.R.T @ inner.R
        height = senses[2] * (inner.p[2] - reached.p[2])
        moving = np.array([way.first, theta2, height, np.arctan2(turn[1, 0], turn[0, 0])])
        return Candidate(moving, (Sign(np.sin(theta2 + bend), ELBOW),), way.free(0, 3, senses[3]))

    return [candidate(way) for way in two_links(inner.p[0], inner.p[1], arm.table.rows[0].a, length, special, 0)]


# SCARA arms: two, elbow "left" for q2 > 0; a pose whose axis is tilted is unreachable
scara = Family("RRPR", _check_slide, _scara)
