"""Two boxes: the axis along which they are farthest apart, and there a face on a face or an edge across an edge.

Of a face, four points: the face of the other box that looks at it is clipped against it, and those are kept that are
extreme in four directions, and low. Of edges one point; the other three are far away. Faces are preferred to edges, and
those of the first box to those of the second, unless they are worse by more than a millionth or so of the boxes: which
of equals is taken must not depend on rounding. Source: Gottschalk, Lin, Manocha, OBBTree (1996), for the axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.convex_shapes import Box
from cayley.geometry.pose import Pose
from cayley.kinematics.contacts.spot import FAR, Spot, axes_about

_FACE = 1e-5  # of the smallest half edge: by so much a face of the second box must be better than one of the first
_EDGE = 1e-4  # and edges than faces
_PARALLEL = 1e-4  # the square of the sine below which edges are not looked at: faces do
_RIM = 1e-6  # of the edges: so far outside a point counts as inside
_LOW = 0.1  # of a slope up to which extreme points are kept, and not the lowest alone
_ASKEW = np.deg2rad(17.0)


class FourPoints(NamedTuple):
    """Points where two boxes touch: gaps (4), positions (4, 3) and their normal (3)."""

    gaps: Array
    positions: Array
    normal: Array


class Edges(NamedTuple):
    """The best axis across an edge of each box: how far apart they are along it, its direction (3) from the first to
    the second, and the directions (3) of both edges, all in the frame of the first box."""

    apart: Scalar
    normal: Array
    one: Array
    other: Array


def boxes(first: Box, second: Box, pose: Pose, other: Pose) -> list[Spot]:
    """The four contact points of two boxes."""
    a, b = pose.then(Pose.of(first.pose)), other.then(Pose.of(second.pose))
    found = four_points(a.R, a.p, b.R, b.p, first.size / 2, second.size / 2)
    axes = axes_about(found.normal)
    return [Spot(gap, position, axes) for gap, position in zip(found.gaps, found.positions, strict=True)]


@kernel("(3,3),(3),(3,3),(3),(3),(3)->(4),(4,3),(3)", shared=True)
def four_points(R: Array, p: Array, S: Array, o: Array, h: Array, k: Array) -> FourPoints:
    """The contact points of two boxes, at rotations and origins, with half edges: a program that all pairs call."""
    a, b = Pose(R, p), Pose(S, o)
    small = reduce(np.minimum, [*h, *k])
    turn = a.R.T @ b.R
    way = a.R.T @ (b.p - a.p)
    back = turn.T @ way
    size = np.abs(turn)
    ours = [np.abs(way[i]) - h[i] - sum(k[j] * size[i, j] for j in range(3)) for i in range(3)]
    theirs = [np.abs(back[j]) - k[j] - sum(h[i] * size[i, j] for i in range(3)) for j in range(3)]
    edges = _edges(way, turn, size, h, k)
    best = reduce(np.maximum, ours), reduce(np.maximum, theirs)
    is_theirs = best[1] > best[0] + _FACE * small
    is_edge = edges.apart > np.maximum(*best) + _EDGE * small
    on_face = _faces([where(is_theirs, y, x) for x, y in zip(ours, theirs, strict=True)],
                     where(is_theirs, -back, way), where(is_theirs, turn.T, turn), where(is_theirs, k, h),
                     where(is_theirs, h, k), Pose(where(is_theirs, b.R, a.R), where(is_theirs, b.p, a.p)))
    on_edge = _crossing(edges, way, turn, h, k, a)
    on_face = on_face._replace(normal=where(is_theirs, -1.0, 1.0) * on_face.normal)
    return FourPoints(*[where(is_edge, edge, face) for edge, face in zip(on_edge, on_face, strict=True)])


def _faces(apart: list[Scalar], way: Array, turn: Array, h: Array, k: Array, pose: Pose) -> FourPoints:
    """The points of the face of a box, with half edges h at a pose, that is farthest from another box, with half edges
    k, the centre `way` and the axes `turn` in the frame of the first."""
    n, u, v = _in_turn(apart, [(way[i], turn[i], h[i], pose.R[:, i]) for i in range(3)])
    side = where(n[0] < 0.0, -1.0, 1.0)
    rows = np.stack([side * n[1], u[1], v[1]])  # the axes of the other box along normal and sides of the face
    top, x, y = _in_turn([np.abs(rows[0, j]) for j in range(3)], [(k[j], rows[:, j]) for j in range(3)])
    middle = np.stack([side * n[0] - n[2], u[0], v[0]])
    middle = middle - where(top[1][0] > 0.0, top[0], -top[0]) * top[1]
    candidates = _clipped(middle, x[0] * x[1], y[0] * y[1], u[2], v[2])
    lowest = reduce(np.maximum, apart)
    c, s = _LOW * np.cos(_ASKEW), _LOW * np.sin(_ASKEW)
    gaps, positions = [], []
    for number, (along, beside) in enumerate(((c, s), (-s, c), (-c, -s), (s, -c))):
        score, point = -FAR, np.stack([lowest if number == 0 else FAR, 0.5 * u[0], 0.5 * v[0]])
        for is_in, at in candidates:
            here = along * at[1] + beside * at[2] - at[0]
            better = is_in & (here > score)
            score, point = where(better, here, score), where(better, at, point)
        gaps.append(point[0])
        positions.append(pose.p + side * (n[2] + 0.5 * where(score > -FAR, point[0], 0.0)) * n[3] + point[1] * u[3]
                         + point[2] * v[3])
    return FourPoints(np.stack(gaps), np.stack(positions), side * n[3])


def _clipped(middle: Array, x: Array, y: Array, width: Scalar, depth: Scalar) -> list[tuple[Scalar, Array]]:
    """Points (height, along, beside) of the parallelogram middle +- x +- y over a rectangle with these half sides, each
    with whether it is one: its corners, those of the rectangle, and where their sides cross."""
    wide, deep = (1.0 + _RIM) * width, (1.0 + _RIM) * depth
    corners = [middle + p * x + r * y for p in (-1.0, 1.0) for r in (-1.0, 1.0)]
    found = [((np.abs(at[1]) <= wide) & (np.abs(at[2]) <= deep), at) for at in corners]
    area = x[1] * y[2] - x[2] * y[1]
    for p in (-1.0, 1.0):
        for r in (-1.0, 1.0):
            a, b = p * width - middle[1], r * depth - middle[2]
            s, t = (a * y[2] - b * y[1]) / area, (b * x[1] - a * x[2]) / area
            at = np.stack([middle[0] + s * x[0] + t * y[0], p * width, r * depth])
            found.append(((np.abs(s) <= 1.0 + _RIM) & (np.abs(t) <= 1.0 + _RIM), at))
    for edge, across in ((x, y), (y, x)):
        for p in (-1.0, 1.0):
            start = middle + p * across
            for axis, end, other_axis, rim in ((1, width, 2, deep), (2, depth, 1, wide)):
                moves = np.abs(edge[axis]) > 1e-9 * (width + depth)
                for r in (-1.0, 1.0):
                    t = (r * end - start[axis]) / where(moves, edge[axis], 1.0)
                    at = start + t * edge
                    found.append((moves & (np.abs(t) <= 1.0) & (np.abs(at[other_axis]) <= rim), at))
    return found


def _edges(way: Array, turn: Array, size: Array, h: Array, k: Array) -> Edges:
    """The best of the nine axes across an edge of each box."""
    best = Edges(-FAR, np.array([0.0, 0.0, 1.0]), np.eye(3)[0], np.eye(3)[1])
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            square = 1.0 - turn[i, j] * turn[i, j]
            is_there = square > _PARALLEL
            length = np.sqrt(where(is_there, square, 1.0))
            along = way[i2] * turn[i1, j] - way[i1] * turn[i2, j]
            reach = h[i1] * size[i2, j] + h[i2] * size[i1, j] + k[j1] * size[i, j2] + k[j2] * size[i, j1]
            apart = (np.abs(along) - reach) / length
            better = is_there & (apart > best.apart)
            one = np.eye(3)[i]
            normal = np.cross(one, turn[:, j]) * (where(along < 0.0, -1.0, 1.0) / length)
            best = Edges(where(better, apart, best.apart), where(better, normal, best.normal),
                         where(better, one, best.one), where(better, turn[:, j], best.other))
    return best


def _crossing(edges: Edges, way: Array, turn: Array, h: Array, k: Array, pose: Pose) -> FourPoints:
    """The point where two edges cross: the nearest of the lines that they are on."""
    n, d, e = edges.normal, edges.one, edges.other
    ours = np.stack([where(n[i] > 0.0, h[i], -h[i]) for i in range(3)])
    inward = turn.T @ n
    theirs = way - turn @ np.stack([where(inward[j] > 0.0, k[j], -k[j]) for j in range(3)])
    r = theirs - ours
    c = d @ e
    t = (d @ r - c * (e @ r)) / np.maximum(1.0 - c * c, _PARALLEL)
    position = pose.p + pose.R @ (ours + t * d + 0.5 * edges.apart * n)
    return FourPoints(np.stack([edges.apart, FAR, FAR, FAR]), np.stack([position] * 4), pose.R @ n)


def _in_turn(sizes: Sequence[Scalar], parts: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The parts of three axes in turn, beginning with that of the greatest size."""
    is_x = (sizes[0] >= sizes[1]) & (sizes[0] >= sizes[2])
    is_y = sizes[1] >= sizes[2]
    return [[where(is_x, x, where(is_y, y, z)) for x, y, z in zip(*(parts[(k + i) % 3] for k in range(3)), strict=True)]
            for i in range(3)]
