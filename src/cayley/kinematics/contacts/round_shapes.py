"""Spheres and capsules against each other: the nearest points of their axes, one contact point a pair."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.geometry.convex_shapes import Capsule, Sphere
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.spot import Spot, between_balls, direction_of

_UP = np.array([0.0, 0.0, 1.0])
_SMALL = 1e-30  # [m^2], of a segment without length
_PARALLEL = 1e-10  # the square of the sine below which axes count as parallel, about


def spheres(first: Sphere, second: Sphere, pose: Pose, other: Pose) -> list[Spot]:
    """The contact point of two spheres, with a vertical normal where their centres are one."""
    return [between_balls(pose.R @ first.center + pose.p, other.R @ second.center + other.p,
                          (first.radius, second.radius), _UP)]


def sphere_and_capsule(first: Sphere, second: Capsule, pose: Pose, other: Pose) -> list[Spot]:
    """The contact point of a sphere and of the ball of a capsule that is nearest to it."""
    center = pose.R @ first.center + pose.p
    start, way = _axis(second, other)
    nearest = start + _clipped((way @ (center - start)) / _square(second)) * way
    return [between_balls(center, nearest, (first.radius, second.radius), _UP)]


def capsules(first: Capsule, second: Capsule, pose: Pose, other: Pose) -> list[Spot]:
    """The contact point of two capsules where their axes are nearest: of parallel ones in the middle of what they have
    side by side, and where axes cross across both.

    Source: Ericson, Real-time collision detection (2005), 5.1.9, with a choice for parallel axes that is continuous."""
    start, d = _axis(first, pose)
    there, e = _axis(second, other)
    a, c = _square(first), _square(second)
    r = start - there
    b, dr, er = d @ e, d @ r, e @ r
    ends = [_clipped(-dr / a), _clipped((b - dr) / a)]  # of the second, seen on the first
    blur = _PARALLEL * a * c
    s = _clipped((b * er - dr * c + 0.5 * (ends[0] + ends[1]) * blur) / (a * c - b * b + blur))
    t = _clipped((b * s + er) / c)
    s = _clipped((b * t - dr) / a)
    across = direction_of(np.cross(d, e), _UP)[1]
    return [between_balls(start + s * d, there + t * e, (first.radius, second.radius), across)]


def _axis(shape: Capsule, pose: Pose) -> tuple[Array, Array]:
    """The start of a capsule's axis and the way to its end, in the root's frame."""
    return pose.R @ shape.start + pose.p, pose.R @ (shape.end - shape.start)


def _square(shape: Capsule) -> float:
    way = shape.end - shape.start
    return float(way @ way) + _SMALL


def _clipped(x: Scalar) -> Scalar:
    return np.minimum(np.maximum(x, 0.0), 1.0)
