"""Distances of a point from an obstacle, a row of the inputs of a scene: functions of each kind, and the direction in
which the distance grows.

    gap(p, row, r)        not positive where a sphere of radius r about p touches: of squares, without a root if it can
    distance(p, row)      signed: negative inside, by how deep the point is below the nearest surface
    direction(p, row)     its gradient (3), of length one; on an edge or axis one of several
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar


class Obstacle(NamedTuple):
    """The functions of a kind of obstacles."""

    gap: Callable[[Array, Array, Scalar], Scalar]
    distance: Callable[[Array, Array], Scalar]
    direction: Callable[[Array, Array], Array]


def _within(p: Array, row: Array) -> Array:
    """A point in the axes of an obstacle."""
    return row[:9].reshape(3, 3) @ p + row[9:12]


def _round(p: Array, row: Array) -> tuple[Scalar, Array]:
    """The distance from the axis z, and the point in the axes of the obstacle."""
    x = _within(p, row)
    return np.sqrt(x[0] * x[0] + x[1] * x[1]), x


def _unit(v: Array, otherwise: Array) -> Array:
    """A vector made of length one; another where it has none."""
    square = v @ v
    there = square > 0.0
    return where(there, v / np.sqrt(where(there, square, 1.0)), otherwise)


def _sign(x: Scalar) -> Scalar:
    return where(x < 0.0, -1.0, 1.0)


# Boxes


def _box_gap(p: Array, row: Array, r: Scalar) -> Scalar:
    v = np.maximum(np.abs(_within(p, row)) - row[12:15], 0.0)
    return v @ v - r * r


def _box_distance(p: Array, row: Array) -> Scalar:
    out = np.abs(_within(p, row)) - row[12:15]
    v = np.maximum(out, 0.0)
    return np.sqrt(v @ v) + np.minimum(np.maximum(np.maximum(out[0], out[1]), out[2]), 0.0)


def _box_direction(p: Array, row: Array) -> Array:
    x = _within(p, row)
    out = np.abs(x) - row[12:15]
    first = (out[0] >= out[1]) & (out[0] >= out[2])
    second = out[1] >= out[2]
    face = np.array([where(first, 1.0, 0.0), where(first, 0.0, where(second, 1.0, 0.0)),
                     where(first, 0.0, where(second, 0.0, 1.0))])
    signs = np.array([_sign(each) for each in x])
    return row[:9].reshape(3, 3).T @ (signs * _unit(np.maximum(out, 0.0), face))


# Cylinders: a rectangle of the distance from the axis and the height


def _cylinder_gap(p: Array, row: Array, r: Scalar) -> Scalar:
    away, x = _round(p, row)
    side = np.maximum(away - row[12], 0.0)
    top = np.maximum(np.abs(x[2]) - row[13], 0.0)
    return side * side + top * top - r * r


def _cylinder_distance(p: Array, row: Array) -> Scalar:
    away, x = _round(p, row)
    side, top = away - row[12], np.abs(x[2]) - row[13]
    a, b = np.maximum(side, 0.0), np.maximum(top, 0.0)
    return np.sqrt(a * a + b * b) + np.minimum(np.maximum(side, top), 0.0)


def _cylinder_direction(p: Array, row: Array) -> Array:
    away, x = _round(p, row)
    side, top = away - row[12], np.abs(x[2]) - row[13]
    on_side = side >= top
    flat = _unit(np.array([np.maximum(side, 0.0), np.maximum(top, 0.0)]),
                 np.array([where(on_side, 1.0, 0.0), where(on_side, 0.0, 1.0)]))
    outwards = _unit(x[:2], np.array([1.0, 0.0]))
    return row[:9].reshape(3, 3).T @ np.array([flat[0] * outwards[0], flat[0] * outwards[1], flat[1] * _sign(x[2])])


# Capsules and spheres


def _from_segment(p: Array, row: Array) -> Array:
    """From the nearest point of the axis of a capsule to a point, in the axes of the capsule."""
    x = _within(p, row)
    return np.array([x[0], x[1], x[2] - np.minimum(np.maximum(x[2], -row[13]), row[13])])


def _capsule_gap(p: Array, row: Array, r: Scalar) -> Scalar:
    v = _from_segment(p, row)
    return v @ v - (r + row[12]) * (r + row[12])


def _capsule_distance(p: Array, row: Array) -> Scalar:
    v = _from_segment(p, row)
    return np.sqrt(v @ v) - row[12]


def _capsule_direction(p: Array, row: Array) -> Array:
    return row[:9].reshape(3, 3).T @ _unit(_from_segment(p, row), np.array([1.0, 0.0, 0.0]))


def sphere_gap(p: Array, row: Array, r: Scalar) -> Scalar:
    v = p - row[:3]
    return v @ v - (r + row[3]) * (r + row[3])


def sphere_distance(p: Array, row: Array) -> Scalar:
    v = p - row[:3]
    return np.sqrt(v @ v) - row[3]


def sphere_direction(p: Array, row: Array) -> Array:
    return _unit(p - row[:3], np.array([1.0, 0.0, 0.0]))


OBSTACLES = {
    "boxes": Obstacle(_box_gap, _box_distance, _box_direction),
    "cylinders": Obstacle(_cylinder_gap, _cylinder_distance, _cylinder_direction),
    "spheres": Obstacle(sphere_gap, sphere_distance, sphere_direction),
    "capsules": Obstacle(_capsule_gap, _capsule_distance, _capsule_direction),
    "half_spaces": Obstacle(lambda p, row, r: row[:3] @ p - row[3] - r, lambda p, row: row[:3] @ p - row[3],
                            lambda p, row: row[:3])}
