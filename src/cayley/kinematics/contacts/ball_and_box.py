"""Spheres and capsules against boxes: one contact point of a ball, three of a capsule (where its axis is nearest, and
where what lies over the nearest face begins and ends)."""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.spot import Spot, axes_about, direction_of

_LEVEL = 1e-9  # times the squared length of a segment: a slope so small is none, whatever rounding says


def ball_in_box(half: Array, center: Array, radius: float, box: Pose) -> Spot:
    """The contact point of a box with half edges (3) and of a ball about a point (3) in the root's frame. A centre
    inside the box leaves by the nearest face."""
    x = box.R.T @ (center - box.p)
    depths = [half[k] - np.abs(x[k]) for k in range(3)]
    is_x = (depths[0] <= depths[1]) & (depths[0] <= depths[2])
    is_y = depths[1] <= depths[2]
    sides = [where(x[k] < 0.0, -1.0, 1.0) for k in range(3)]
    face = np.stack([where(is_x, sides[0], 0.0), where(is_x, 0.0, where(is_y, sides[1], 0.0)),
                     where(is_x, 0.0, where(is_y, 0.0, sides[2]))])
    nearest = np.stack([np.minimum(np.maximum(x[k], -half[k]), half[k]) for k in range(3)])
    apart, normal = direction_of(x - nearest, face)
    height = apart - np.maximum(np.minimum(np.minimum(depths[0], depths[1]), depths[2]), 0.0)
    n = box.R @ normal
    return Spot(height - radius, center - 0.5 * (height + radius) * n, axes_about(n))


def box_and_sphere(first: Box, second: Sphere, pose: Pose, other: Pose) -> list[Spot]:
    """The contact point of a box and a sphere."""
    center = other.R @ second.center + other.p
    return [ball_in_box(first.size / 2, center, second.radius, pose.then(Pose.of(first.pose)))]


def box_and_capsule(first: Box, second: Capsule, pose: Pose, other: Pose) -> list[Spot]:
    """The contact points of a box with the balls of a capsule where it begins and ends over the nearest face, and with
    the one that is nearest to the box."""
    box = pose.then(Pose.of(first.pose))
    start, end = other.R @ second.start + other.p, other.R @ second.end + other.p
    x, way = box.R.T @ (start - box.p), box.R.T @ (end - start)
    t = nearest_to_box(first.size / 2, x, way)
    low, high = _over_face(first.size / 2, x, way, t)
    centers = [start + place * (end - start) for place in (low, high, t)]
    return [ball_in_box(first.size / 2, center, second.radius, box) for center in centers]


def _over_face(half: Array, start: Array, way: Array, t: Scalar) -> tuple[Scalar, Scalar]:
    """The t from 0 to 1 between which a segment is over the face of a box that is nearest at a t of it; 0 and 1 where
    it is over none. Sides that it is beyond altogether do not cut it."""
    out = [np.abs(start[k] + t * way[k]) - half[k] for k in range(3)]
    is_x, is_y = (out[0] >= out[1]) & (out[0] >= out[2]), out[1] >= out[2]
    not_face = [1.0 - where(is_x, 1.0, 0.0), where(is_x | (out[1] < out[2]), 1.0, 0.0), where(is_x | is_y, 1.0, 0.0)]
    low, high = 0.0, 1.0
    for k in range(3):
        moves = np.abs(way[k]) > 1e-12
        ends = [_between((side * half[k] - start[k]) / where(moves, way[k], 1.0)) for side in (-1.0, 1.0)]
        first, last = np.minimum(*ends), np.maximum(*ends)
        cuts = moves & (not_face[k] > 0.5) & (first < last)
        low, high = where(cuts, np.maximum(low, first), low), where(cuts, np.minimum(high, last), high)
    is_over = low < high
    return where(is_over, low, 0.0), where(is_over, high, 1.0)


def _between(t: Scalar) -> Scalar:
    return np.minimum(np.maximum(t, 0.0), 1.0)


def nearest_to_box(half: Array, start: Array, way: Array) -> Scalar:
    """The t from 0 to 1 of the point start + t way (3) of a segment that is nearest to a box with half edges (3) about
    the origin; the middle of what is in it, or as near.

    The slope of the squared distance is increasing and piecewise linear in t, with corners where the line crosses the
    planes of the faces: its zero is between the last corner with a slope below zero and the first with one above."""
    def slope(t: Scalar) -> Scalar:
        x = [start[k] + t * way[k] for k in range(3)]
        return sum((x[k] - np.minimum(np.maximum(x[k], -half[k]), half[k])) * way[k] for k in range(3))

    safe = [where(np.abs(way[k]) > 1e-12, way[k], 1.0) for k in range(3)]
    corners = [np.minimum(np.maximum((side * half[k] - start[k]) / safe[k], 0.0), 1.0)
               for k in range(3) for side in (-1.0, 1.0)]
    low, low_slope, high, high_slope = 0.0, slope(0.0), 1.0, slope(1.0)
    at_start, at_end = low_slope, high_slope
    level = _LEVEL * (way @ way)
    for t in corners:
        here = slope(t)
        is_low, is_high = (here <= level) & (t >= low), (here >= -level) & (t <= high)
        low, low_slope = where(is_low, t, low), where(is_low, here, low_slope)
        high, high_slope = where(is_high, t, high), where(is_high, here, high_slope)
    rise = high_slope - low_slope
    share = where(rise > 0.0, -low_slope / where(rise > 0.0, rise, 1.0), 0.5)
    return where(at_start > 0.0, 0.0, where(at_end < 0.0, 1.0, low + share * (high - low)))
