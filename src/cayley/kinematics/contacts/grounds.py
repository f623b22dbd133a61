"""Shapes on a half-space or a height field: the lowest points of each, against a plane with axes of its own, or against
the bilinear surface and its normals.

On a height field balls touch where the surface is nearest to their centres. Of a box, cylinder or hull the corners
touch: what sticks out of the field within a face is not seen."""

from __future__ import annotations

import numpy as np

from cayley.compiler.solving.lookup import lookup
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.contact_shapes import ConvexKind, HalfSpace, HeightField
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.lowest_points import LOWEST, ball_radius
from cayley.kinematics.contacts.spot import Spot, axes_about, direction_of

_PROJECTIONS = 4


def on_half_space(ground: HalfSpace, shape: ConvexKind, pose: Pose, other: Pose) -> list[Spot]:
    """The contact points of a shape on a half-space."""
    plane = pose.then(Pose.of(ground.pose))
    up = plane.R[:, 2]
    radius = ball_radius(shape)
    points = LOWEST[type(shape)].points(shape, other, up)
    heights = [up @ (point - plane.p) for point in points]
    return [Spot(height - radius, point - 0.5 * (height + radius) * up, plane.R.T)
            for point, height in zip(points, heights, strict=True)]


def on_height_field(ground: HeightField, shape: ConvexKind, pose: Pose, other: Pose) -> list[Spot]:
    """The contact points of a shape on a height field."""
    field = pose.then(Pose.of(ground.pose))
    radius = ball_radius(shape)
    spots = []
    for point in LOWEST[type(shape)].points(shape, other, field.R[:, 2]):
        height, normal = (above_nearest if radius else above)(ground, field.R.T @ (point - field.p))
        n = field.R @ normal
        spots.append(Spot(height - radius, point - 0.5 * (height + radius) * n, axes_about(n)))
    return spots


def above(ground: HeightField, point: Array) -> tuple[Scalar, Array]:
    """The distance of a point (3) of the field's frame from the tangent plane below it, and the normal (3) of that."""
    height, slope = surface(ground, point[0], point[1])
    size = np.sqrt(1.0 + slope @ slope)
    return (point[2] - height) / size, np.stack([-slope[0] / size, -slope[1] / size, 1.0 / size])


def above_nearest(ground: HeightField, center: Array) -> tuple[Scalar, Array]:
    """The distance of the centre (3) of a ball from the nearest point of the field, found by projections on tangent
    planes, and the normal (3) there. On a ridge, where they go to and fro, it is in the middle of the last two."""
    x, y, z = center
    foot = before = np.stack([x, y])
    for _ in range(_PROJECTIONS):
        height, slope = surface(ground, foot[0], foot[1])
        rise = (z - height - slope @ (center[:2] - foot)) / (1.0 + slope @ slope)
        foot, before = center[:2] + rise * slope, foot
    u, v = 0.5 * (foot + before)
    height, _ = surface(ground, u, v)
    side = where(z < height, -1.0, 1.0)
    length, normal = direction_of(side * np.stack([x - u, y - v, z - height]), np.array([0.0, 0.0, 1.0]))
    return side * length, normal


def surface(ground: HeightField, x: Scalar, y: Scalar) -> tuple[Scalar, Array]:
    """Height and slopes (2) of the bilinear surface at a place of the field's frame; level beyond its rim."""
    heights = lookup(ground.heights.ravel())
    columns = ground.heights.shape[1]
    cells, shares, steps = [], [], []
    for place, count, size in zip((x, y), ground.heights.shape, ground.size, strict=True):
        at = (place / size + 0.5) * (count - 1)
        inside = np.minimum(np.maximum(at, 0.0), count - 1.0)
        cell = np.minimum(np.floor(inside), count - 2.0)
        cells.append(cell)
        shares.append(inside - cell)
        steps.append(where((at < 0.0) | (at > count - 1.0), 0.0, (count - 1) / size))
    first = cells[0] * columns + cells[1]
    a, b, c, d = heights(first), heights(first + 1.0), heights(first + columns), heights(first + columns + 1.0)
    s, t = shares
    return (1.0 - s) * ((1.0 - t) * a + t * b) + s * ((1.0 - t) * c + t * d), np.stack(
        [((1.0 - t) * (c - a) + t * (d - b)) * steps[0], ((1.0 - s) * (b - a) + s * (d - c)) * steps[1]])
