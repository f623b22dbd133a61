"""Planar arms: two links to a point, three links to a point and a direction.

    k^2 = (x^2 + y^2 + l1^2 + l2^2)^2 - 2 ((x^2 + y^2)^2 + l1^4 + l2^4) = (2 l1 l2 sin q2)^2
    q1 = atan2(y, x) -+ atan2(k, l1^2 + x^2 + y^2 - l2^2),   q2 = +- atan2(k, x^2 + y^2 - l1^2 - l2^2)
Source: Yamamoto 1.10, (1.24). The elbow is "left" for q2 > 0 (the arm turns to the left at it), "right" for q2 < 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.errors import ModelError
from cayley.geometry.motions.homogeneous import relative_pose
from cayley.kinematics.inverse.analytic.closing import FLAT, Arm, Candidate, Free, check_target, close, inner_target, sign_name
from cayley.kinematics.inverse.analytic.result import AnalyticResult
from cayley.model.dh_table import DHRow, DHTable

ELBOW = ("elbow left", "elbow right", "elbow at its limit")
FOLDED = "the links are of one length and folded onto each other"


@dataclass(frozen=True)
class TwoLink:
    """One way of two links to a point; `folded` if the first angle is free."""

    first: float
    second: float
    elbow: str
    folded: bool = False


def elbow_discriminant(x: Any, y: Any, l1: float, l2: float) -> Any:
    """k^2 [m^4], broadcast over points: negative out of reach, zero on the outer and the inner boundary. (1.24).

    It is written as the product of its factors, which loses no digits on the boundary.

    >>> round(float(elbow_discriminant(0.6, 0.3, 0.5, 0.4)), 12)
    0.1584
    """
    r = np.hypot(x, y)
    return ((l1 + l2) - r) * ((l1 + l2) + r) * (r - (l1 - l2)) * (r + (l1 - l2))


def two_links(x: float, y: float, l1: float, l2: float, *, reference: float = 0.0) -> list[TwoLink]:
    """Both ways to a point; one at the boundary. A point slightly beyond it is taken to it: who asks sees how far he is off.

    On the axis of the first joint with equal links the first angle is free, and is that of the reference.
    """
    size = abs(l1) + abs(l2)
    if min(abs(l1), abs(l2)) <= FLAT * size:
        raise ModelError(f"a link of no length, of {l1:.3g} and {l2:.3g}, moves nothing: its joint is not determined by a point")
    square = x * x + y * y
    if square <= (FLAT * size) ** 2 and abs(abs(l1) - abs(l2)) <= FLAT * size:
        return [TwoLink(reference, np.pi if l1 * l2 > 0 else 0.0, ELBOW[2], folded=True)]
    k = np.sqrt(max(float(elbow_discriminant(x, y, l1, l2)), 0.0))
    way, bend = np.sign(l1), np.sign(l1 * l2)  # a table may have negative lengths
    ways = []
    for s in (1.0, -1.0):
        second = np.arctan2(s * k * bend, (square - l1 * l1 - l2 * l2) * bend)
        first = np.arctan2(y, x) - np.arctan2(s * k * way, (l1 * l1 + square - l2 * l2) * way)
        ways.append(TwoLink(float(first), float(second), sign_name(np.sin(second), 1.0, ELBOW)))
    return ways if k > 0 else ways[:1]


def planar_2r(arm: DHTable | Sequence[float], target: Any, *, reference: Any = None) -> AnalyticResult:
    """All configurations of a planar arm of two links that bring its tip to a point.

    `arm` is a table, or the two lengths [m]; `target` a point (2) of its plane, or a pose (4, 4) of which only the position is asked.

    >>> planar_2r((0.5, 0.4), (0.6, 0.3)).solutions.round(10)
    array([[-0.17149942,  1.47062891],
           [ 1.09879464, -1.47062891]])
    """
    ready, pose = _planar(arm, target, 2)
    x, y = relative_pose(ready.table.base, pose)[:2, 3]
    l1, l2, bend = _second_link(ready, ready.table.tool)
    ways = two_links(float(x), float(y), l1, l2, reference=float(ready.moving(reference)[0]))
    return close(ready, pose, [Candidate(np.array([w.first, w.second - bend]), (w.elbow,), _folded(w)) for w in ways], rows=3)


def planar_3r(arm: DHTable | Sequence[float], target: Any, *, reference: Any = None) -> AnalyticResult:
    """All configurations of a planar arm of three links that bring its tip to a pose.

    `arm` is a table, or the three lengths [m]; `target` is (x, y, angle) in its plane, or a pose (4, 4).

    >>> planar_3r((1.0, 0.8, 0.5), (1.5, 0.6, 0.4)).branches
    (('elbow left',), ('elbow right',))
    """
    ready, pose = _planar(arm, target, 3)
    inner = inner_target(ready, pose)
    l1, l2 = ready.column("a")[:2]
    ways = two_links(inner[0, 3], inner[1, 3], l1, l2, reference=float(ready.moving(reference)[0]))
    direction = np.arctan2(inner[1, 0], inner[0, 0])
    return close(ready, pose, [Candidate(np.array([w.first, w.second, direction - w.first - w.second]), (w.elbow,), _folded(w, 2))
                               for w in ways])


def _folded(way: TwoLink, follows: int | None = None) -> tuple[Free, ...]:
    weights = () if follows is None else ((0, 1.0), (follows, 1.0))
    return (Free(0, FOLDED, weights),) if way.folded else ()


def _planar(arm: DHTable | Sequence[float], target: Any, n: int) -> tuple[Arm, np.ndarray]:
    if not isinstance(arm, DHTable):
        if len(arm) != n:
            raise ModelError(f"a planar {n}R arm has {n} lengths, not {len(arm)}")
        arm = DHTable(tuple(DHRow(a=float(a)) for a in arm), "standard")
    ready = Arm.of(arm, "R" * n)
    sines = {f"alpha_{i + 1}": row.alpha for i, row in enumerate(ready.table.rows[:-1])}
    ready.require(sines, f"planar {n}R arm")
    target = np.asarray(target, dtype=np.float64)
    if target.shape == (n,):
        pose = np.eye(4)
        pose[:2, 3] = target[:2]
        if n == 3:
            c, s = np.cos(target[2]), np.sin(target[2])
            pose[:2, :2] = [[c, -s], [s, c]]
        return ready, pose
    return ready, check_target(target)


def _second_link(arm: Arm, tool: np.ndarray) -> tuple[float, float, float]:
    """Lengths of both links, and the angle of the tip from x of the second."""
    return float(arm.table.rows[0].a), float(np.hypot(tool[0, 3], tool[1, 3])), float(np.arctan2(tool[1, 3], tool[0, 3]))
