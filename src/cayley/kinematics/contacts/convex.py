"""Any two convex shapes: the nearest points of their cores, by a loop, and one contact point between them.

The core of a sphere is its centre, of a capsule its axis; of a box, cylinder or hull all that is deeper than a margin,
a tenth of its thickness up to 1 mm, or the shape itself where the other one is round. Edges are rounded by the margin,
faces are where they are. Where cores overlap the gap is minus both radii, along the way between the middles.
Source: Gilbert, Johnson, Keerthi (1988), with the nearest point of a tetrahedron by all its edges and faces."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import combinations
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from cayley.compiler.solving.loops import repeat
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.contact_shapes import ConvexHull, ConvexKind, Cylinder
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.ball_and_box import ball_in_box
from cayley.kinematics.contacts.lowest_points import LOWEST, farthest
from cayley.kinematics.contacts.spot import FAR, Spot, axes_about, direction_of

_SHARE, _MOST = 0.1, 1e-3  # of the thickness, and at most [m]: the margin
_TURNS = 40
_EXACT = 1e-13
_SAME = 1e-5  # [m]: so near to the gap of a corner the nearest point is left out

Support: TypeAlias = Callable[[Array], Array]  # the farthest point (3) in a direction (3), in the shape's body


class ShapeCore(NamedTuple):
    """A core: its farthest points, its middle (3), and the radius [m] of what is about it."""

    support: Support
    middle: Array
    radius: float


class Simplex(NamedTuple):
    """Four points (4, 3) of the difference of two cores, those (4, 3) of the first that they are of, and weights (4) of
    the nearest point (3) to the origin; the lower bound of the distance, and 1 where it is reached."""

    points: Array
    ours: Array
    weights: Array
    nearest: Array
    least: Scalar
    done: Scalar


class Nearest(NamedTuple):
    """A squared length, weights (4) and the point (3) of a simplex."""

    square: Scalar
    weights: Array
    point: Array


def convex_shapes(first: ConvexKind, second: ConvexKind, pose: Pose, other: Pose) -> list[Spot]:
    """The contact point of two convex shapes where they are nearest."""
    one, two = core_of(first, second), core_of(second, first)
    found = nearest_points(one, two, pose, other)
    middles = pose.R @ one.middle + pose.p, other.R @ two.middle + other.p
    between = direction_of(middles[1] - middles[0], np.array([0.0, 0.0, 1.0]))[1]
    apart, normal = direction_of(found.nearest, between)
    is_deep = found.least <= 0.0
    gap = where(is_deep, 0.0, apart) - (one.radius + two.radius)
    n = where(is_deep, between, normal)
    position = found.weights @ found.ours + (one.radius + 0.5 * gap) * n
    return [Spot(gap, where(is_deep, 0.5 * (middles[0] + middles[1]), position), axes_about(n))]


def box_and_corners(first: Box, second: Cylinder | ConvexHull, pose: Pose, other: Pose) -> list[Spot]:
    """The contact points of a box with the lowest points of another shape, seen from the box, and where both are
    nearest, unless that is one of them."""
    nearest = convex_shapes(first, second, pose, other)[0]
    box = pose.then(Pose.of(first.pose))
    spots = [ball_in_box(first.size / 2, point, 0.0, box)
             for point in LOWEST[type(second)].points(second, other, nearest.axes[2])]
    is_one = reduce(np.minimum, [spot.gap for spot in spots]) <= nearest.gap + _SAME
    return [*spots, nearest._replace(gap=where(is_one, FAR, nearest.gap))]


def core_of(shape: ConvexKind, other: ConvexKind) -> ShapeCore:
    """The core of a shape that touches another one."""
    margin = 0.0 if isinstance(other, Sphere | Capsule) else _SHARE
    if isinstance(shape, Sphere):
        return ShapeCore(lambda way: shape.center, shape.center, shape.radius)
    if isinstance(shape, Capsule):
        return ShapeCore(_segment(shape.start, shape.end), shape.center, shape.radius)
    if isinstance(shape, Box):
        margin = min(margin * float(shape.size.min()) / 2, _MOST)
        edges = shape.pose[:3, :3] * (shape.size / 2 - margin)
        return ShapeCore(lambda way: sum((where(way @ e > 0.0, e, -e) for e in edges.T), shape.center), shape.center,
                         margin)
    if isinstance(shape, Cylinder):
        axis = shape.end - shape.start
        length = float(np.linalg.norm(axis))
        margin = min(margin * min(shape.radius, length / 2), _MOST)
        a = axis / length
        on_axis = _segment(shape.start + margin * a, shape.end - margin * a)
        r = shape.radius - margin
        return ShapeCore(lambda way: on_axis(way) + r * direction_of(way - (a @ way) * a, np.zeros(3))[1],
                    (shape.start + shape.end) / 2, margin)
    margin = min(margin * shape.depth, _MOST)
    points = shape.shrunk(margin).points if margin else shape.points
    return ShapeCore(lambda way: farthest(points, np.stack([way]))[0], points.mean(axis=0), margin)


def _segment(start: Array, end: Array) -> Support:
    return lambda way: where(way @ (end - start) > 0.0, end, start)


def nearest_points(one: ShapeCore, two: ShapeCore, pose: Pose, other: Pose) -> Simplex:
    """The nearest points of two cores on bodies at poses."""
    def step(state: Simplex, R: Array, p: Array, S: Array, o: Array) -> Simplex:
        way = state.nearest
        ours = R @ one.support(R.T @ way) + p
        point = S @ two.support(-(S.T @ way)) + o - ours
        least = way @ point
        square = way @ way
        place = _place_of_least(state.weights)
        points = np.stack([where(place == k, point, state.points[k]) for k in range(4)])
        found = nearest_of(points)
        better = found.square < square
        own = np.stack([where(place == k, ours, state.ours[k]) for k in range(4)])
        return Simplex(where(better, points, state.points), where(better, own, state.ours),
                       where(better, found.weights, state.weights), where(better, found.point, way), least,
                       where(better & (square - least > _EXACT * square), 0.0, 1.0))

    ours = pose.R @ one.middle + pose.p
    start = other.R @ two.middle + other.p - ours
    state = Simplex(np.stack([start] * 4), np.stack([ours] * 4), np.array([1.0, 0.0, 0.0, 0.0]), start, start @ start,
                    0.0)
    found = repeat(step, state, _TURNS, pose.R, pose.p, other.R, other.p, until=lambda state, *_: state.done > 0.0)
    return cast(Simplex, found)


def nearest_of(points: Array) -> Nearest:
    """The point of the surface of a tetrahedron (4, 3) that is nearest to the origin."""
    best = Nearest(FAR * FAR, np.zeros(4), points[0])
    for i, j in combinations(range(4), 2):
        edge = points[j] - points[i]
        square = edge @ edge
        t = np.minimum(np.maximum(-(points[i] @ edge) / where(square > 0.0, square, 1.0), 0.0), 1.0)
        best = _nearer(best, points, {i: 1.0 - t, j: t}, square >= 0.0)
    for i, j, k in combinations(range(4), 3):
        x, y = points[j] - points[i], points[k] - points[i]
        normal = np.cross(x, y)  # by cross products slivers keep their digits
        area = normal @ normal
        is_there = area > 1e-12 * (x @ x) * (y @ y)
        s, t = (normal @ np.cross(a, b) / where(is_there, area, 1.0) for a, b in ((y, points[i]), (points[i], x)))
        best = _nearer(best, points, {i: 1.0 - s - t, j: s, k: t}, is_there & (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0))
    return best


def _nearer(best: Nearest, points: Array, weights: dict[int, Scalar], is_valid: Scalar) -> Nearest:
    point = sum(weight * points[number] for number, weight in weights.items())
    square = point @ point
    nearer = is_valid & (square < best.square)
    own = np.stack([weights.get(number, 0.0) for number in range(4)])
    return Nearest(where(nearer, square, best.square), where(nearer, own, best.weights),
                   where(nearer, point, best.point))


def _place_of_least(weights: Array) -> Scalar:
    """The number of the least of some weights, the first of equals."""
    place, low = 0.0, weights[0]
    for number, weight in enumerate(weights[1:], start=1):
        place, low = where(weight < low, float(number), place), np.minimum(weight, low)
    return place
