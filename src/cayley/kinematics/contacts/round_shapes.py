"""Spheres and capsules against each other: the nearest points of their axes, and two contact points of capsules that
lie along each other."""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.convex_shapes import Capsule, Sphere
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.spot import FAR, Spot, between_balls, direction_of

_PARALLEL = 1e-10  # the square of the sine below which axes count as parallel, about
_ALONG, _ACROSS = 1e-6, 1e-3  # the same of two points where they are farthest apart, and above which there is one
_SHORT = 1e-6  # of the squared radius: capsules that have no more side by side touch in one point


def round_shapes(first: Sphere | Capsule, second: Sphere | Capsule, pose: Pose, other: Pose) -> list[Spot]:
    """The contact point of two spheres or capsules where their axes are nearest: where axes cross with a normal across
    both, and where centres are one with a vertical normal. Of two capsules there are two: where what they have side by
    side begins and ends, nearer to each other as seen along the normal the axes cross, until one is far away.

    Source: Ericson, Real-time collision detection (2005), 5.1.9, with a choice for parallel axes that is continuous."""
    (start, d, a), (there, e, c) = _axis(first, pose), _axis(second, other)
    r = start - there
    b, dr, er = d @ e, d @ r, e @ r
    ends = [_clipped(-dr / a), _clipped((b - dr) / a)]  # of the second, seen on the first
    blur = _PARALLEL * a * c
    s = _clipped((b * er - dr * c + 0.5 * (ends[0] + ends[1]) * blur) / (a * c - b * b + blur))
    t = _clipped((b * s + er) / c)
    s = _clipped((b * t - dr) / a)
    cross = np.cross(d, e)
    across = direction_of(cross, np.array([0.0, 0.0, 1.0]))[1]
    nearest = between_balls(start + s * d, there + t * e, (first.radius, second.radius), across)
    if isinstance(first, Sphere) or isinstance(second, Sphere):
        return [nearest]
    crossing = (nearest.axes[2] @ cross) ** 2 / (a * c)
    is_one = (crossing > _ACROSS) | ((ends[1] - ends[0]) ** 2 * a < _SHORT * first.radius * first.radius)
    places = [s + _ALONG / (_ALONG + crossing) * (end - s) for end in ends]
    both = [between_balls(start + x * d, there + _clipped((b * x + er) / c) * e, (first.radius, second.radius), across)
            for x in places]
    return [Spot(*[where(is_one, one, other) for one, other in zip(nearest, both[0], strict=True)]),
            both[1]._replace(gap=where(is_one, FAR, both[1].gap))]


def _axis(shape: Sphere | Capsule, pose: Pose) -> tuple[Array, Array, float]:
    """The start of an axis and the way to its end, in the root's frame, and its squared length, one if it has none."""
    start, end = (shape.center, shape.center) if isinstance(shape, Sphere) else (shape.start, shape.end)
    way = end - start
    return pose.R @ start + pose.p, pose.R @ way, float(way @ way) or 1.0


def _clipped(x: Scalar) -> Scalar:
    return np.minimum(np.maximum(x, 0.0), 1.0)
