"""Points of a shape that can touch a plane below it: balls whose lowest point is the shape's, one text a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.lookup import lookup
from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.contact_shapes import ConvexHull, ConvexKind, Cylinder
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.spot import axes_about

_UPRIGHT = 1e-5  # sine of the tilt below which a cylinder stands on points of its own
_ASKEW = np.deg2rad(17.0)
_FIRST = 1e-4  # so much the direction in which the lowest vertex of a hull is looked for is inclined
_SIDE = 0.1  # and those for the other four


class Lowest(NamedTuple):
    """The `size` of a kind of shapes, how many points it has, and the text `points(shape, pose, up)` of their places
    (3) in the root's frame."""

    size: int
    points: Callable[[Any, Pose, Array], list[Array]]


def ball_radius(shape: ConvexKind) -> float:
    """The radius [m] of the balls about the points of a shape, zero where they are corners."""
    return shape.radius if isinstance(shape, Sphere | Capsule) else 0.0


def of_sphere(shape: Sphere, pose: Pose, up: Array) -> list[Array]:
    """The centre of a sphere."""
    return [pose.R @ shape.center + pose.p]


def of_capsule(shape: Capsule, pose: Pose, up: Array) -> list[Array]:
    """The centres of both ends of a capsule."""
    return [pose.R @ shape.start + pose.p, pose.R @ shape.end + pose.p]


def of_box(shape: Box, pose: Pose, up: Array) -> list[Array]:
    """The corners of the face of a box that is lowest: the edges across it fall more than those along it, so that the
    three lowest corners are among these four."""
    edges = [pose.R @ edge for edge in shape.generators.T]
    falls = [up @ edge for edge in edges]
    sizes = [np.abs(fall) for fall in falls]
    is_x = (sizes[0] >= sizes[1]) & (sizes[0] >= sizes[2])
    is_y = sizes[1] >= sizes[2]

    def chosen(x: Array, y: Array, z: Array) -> Array:
        return where(is_x, x, where(is_y, y, z))

    across = chosen(*edges) * where(chosen(*falls) > 0.0, -1.0, 1.0)
    along, beside = chosen(edges[1], edges[2], edges[0]), chosen(edges[2], edges[0], edges[1])
    middle = pose.R @ shape.center + pose.p + across
    return [middle + along + beside, middle + along - beside, middle - along + beside, middle - along - beside]


def of_cylinder(shape: Cylinder, pose: Pose, up: Array) -> list[Array]:
    """The lowest points of both rims of a cylinder, and two more of the lower rim, a third of a turn apart: it stands
    on three and lies on two. Upright it keeps to points of its own rather than to those that rounding makes lowest."""
    start, end = pose.R @ shape.start + pose.p, pose.R @ shape.end + pose.p
    axis = (shape.end - shape.start) / np.linalg.norm(shape.end - shape.start)
    own = axes_about(axis)[0]
    a = pose.R @ axis
    tilt = up @ a
    down = tilt * a - up + _UPRIGHT * (pose.R @ own)
    down = shape.radius * down / np.sqrt(np.maximum(down @ down, 1e-30))
    aside = (0.5 * np.sqrt(3.0)) * np.cross(a, down)
    lower = where(tilt > 0.0, start, end)
    return [start + down, end + down, lower - 0.5 * down + aside, lower - 0.5 * down - aside]


def of_hull(shape: ConvexHull, pose: Pose, up: Array) -> list[Array]:
    """The lowest vertex of a hull, and four more that are lowest as seen along directions inclined to four sides: of a
    face that lies flat those farthest out. The lowest may be missed by 1e-4 of the size, so that rounding does not
    choose among equals."""
    below = -(pose.R.T @ up)
    x, y, _ = axes_about(below)
    c, s = np.cos(_ASKEW), np.sin(_ASKEW)
    sides = [c * x + s * y, c * y - s * x]
    ways = np.stack([below + _FIRST * sides[0], *[below + share * side for side in sides for share in (_SIDE, -_SIDE)]])
    return [pose.R @ point + pose.p for point in farthest(shape.points, ways)]


def farthest(points: Array, ways: Array) -> list[Array]:
    """For each of the directions (m, 3) the one of the points (n, 3), constants, that is farthest in it: a loop."""
    tables = [lookup(column) for column in points.T]

    def step(state: tuple[Scalar, Array, Array], ways: Array) -> tuple[Scalar, Array, Array]:
        place, greatest, best = state
        heights = ways @ np.stack([table(place) for table in tables])
        return place + 1.0, np.maximum(heights, greatest), where(heights > greatest, place, best)

    _, _, best = repeat(step, (1.0, ways @ points[0], np.zeros(len(ways))), len(points) - 1, ways)
    return [np.stack([table(place) for table in tables]) for place in best]


LOWEST: dict[type, Lowest] = {
    Sphere: Lowest(1, of_sphere), Capsule: Lowest(2, of_capsule), Box: Lowest(4, of_box),
    Cylinder: Lowest(4, of_cylinder), ConvexHull: Lowest(5, of_hull)}
