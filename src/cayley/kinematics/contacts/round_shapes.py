"""Spheres and capsules against each other: the nearest points of their axes, one contact point a pair."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.geometry.convex_shapes import Capsule, Sphere
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.spot import Spot, between_balls, direction_of

_PARALLEL = 1e-10  # the square of the sine below which axes count as parallel, about


def round_shapes(first: Sphere | Capsule, second: Sphere | Capsule, pose: Pose, other: Pose) -> list[Spot]:
    """The contact point of two spheres or capsules where their axes are nearest: of parallel ones in the middle of what
    they have side by side, where axes cross across both, and where centres are one with a vertical normal.

    Source: Ericson, Real-time collision detection (2005), 5.1.9, with a choice for parallel axes that is continuous."""
    (start, d, a), (there, e, c) = _axis(first, pose), _axis(second, other)
    r = start - there
    b, dr, er = d @ e, d @ r, e @ r
    ends = [_clipped(-dr / a), _clipped((b - dr) / a)]  # of the second, seen on the first
    blur = _PARALLEL * a * c
    s = _clipped((b * er - dr * c + 0.5 * (ends[0] + ends[1]) * blur) / (a * c - b * b + blur))
    t = _clipped((b * s + er) / c)
    s = _clipped((b * t - dr) / a)
    across = direction_of(np.cross(d, e), np.array([0.0, 0.0, 1.0]))[1]
    return [between_balls(start + s * d, there + t * e, (first.radius, second.radius), across)]


def _axis(shape: Sphere | Capsule, pose: Pose) -> tuple[Array, Array, float]:
    """The start of an axis and the way to its end, in the root's frame, and its squared length, one if it has none."""
    start, end = (shape.center, shape.center) if isinstance(shape, Sphere) else (shape.start, shape.end)
    way = end - start
    return pose.R @ start + pose.p, pose.R @ way, float(way @ way) or 1.0


def _clipped(x: Scalar) -> Scalar:
    return np.minimum(np.maximum(x, 0.0), 1.0)
