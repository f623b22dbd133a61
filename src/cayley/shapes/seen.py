"""Shapes that a picture of a mechanism shows: those of its file, and where a body has none those that touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.contact_shapes import ConvexHull, Cylinder, HeightField
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.model.contacts import Collider
from cayley.model.joint_kinds import plane_across
from cayley.model.tree import Tree
from cayley.shapes.kinds import BoxShape, CapsuleShape, CylinderShape, Kind, SphereShape, Triangles
from cayley.shapes.reading import shapes_of
from cayley.shapes.shape import Shape, Shapes

_FIXED = (0.80, 0.77, 0.72)  # the colour of obstacles
_MOVING = (0.56, 0.64, 0.74)


def seen_shapes(tree: Tree) -> Shapes:
    """The shapes that a picture shows. Of a mechanism without shapes of a file all bodies are `bare`: they have sticks
    besides the shapes that touch."""
    found = shapes_of(tree).seen
    worn = {shape.body for shape in found}
    sides = {side.name: side for pair in tree.contacts for side in (pair.first, pair.second)}
    added = [_shape(tree, side) for side in sides.values() if side.body not in worn and type(side.shape) in _KINDS]
    if not added:
        return found
    bare = found.bare if worn else frozenset(tree.body_names)
    return Shapes((*found.shapes, *added), found.missing, bare, found.apart)


def _shape(tree: Tree, side: Collider) -> Shape:
    kind, pose = _KINDS[type(side.shape)](side.shape)
    color = _FIXED if side.body == tree.bodies[0].name else _MOVING
    return Shape(side.body, kind, pose, ("visual", "collision"), color)


def _at(point: Array) -> Array:
    pose = np.eye(4)
    pose[:3, 3] = point
    return pose


def _along(kind: type[CylinderShape]) -> Callable[[Cylinder | Capsule], tuple[Kind, Array]]:
    """The shape about a line from one point to another."""
    def made(shape: Cylinder | Capsule) -> tuple[Kind, Array]:
        way = shape.end - shape.start
        length = float(np.linalg.norm(way))
        axis = way / length if length > 0 else np.array([0.0, 0.0, 1.0])
        pose = _at((shape.start + shape.end) / 2)
        pose[:3, 2] = axis
        pose[:3, 0] = plane_across(axis)[0]
        pose[:3, 1] = np.cross(axis, pose[:3, 0])
        return kind(shape.radius, length), pose
    return made


def _hull(shape: ConvexHull) -> tuple[Kind, Array]:
    from scipy.spatial import ConvexHull as QuickHull  # which takes long to import
    hull = QuickHull(shape.points)
    outwards = np.einsum("ij,ij->i", np.cross(*np.moveaxis(np.diff(shape.points[hull.simplices], axis=1), 1, 0)),
                         hull.equations[:, :3]) > 0
    return Triangles(shape.points, np.where(outwards[:, None], hull.simplices, hull.simplices[:, ::-1])), np.eye(4)


def _field(shape: HeightField) -> tuple[Kind, Array]:
    n, m = shape.heights.shape
    x, y = (np.linspace(-0.5, 0.5, count) * size for count, size in zip((n, m), shape.size, strict=True))
    points = np.stack([*np.meshgrid(x, y, indexing="ij"), shape.heights], axis=-1).reshape(-1, 3)
    first = (np.arange(n - 1)[:, None] * m + np.arange(m - 1)).ravel()
    corners = np.stack([first, first + m, first + m + 1, first + 1], axis=1)
    return Triangles(points, np.concatenate([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])), np.asarray(shape.pose)


_KINDS: dict[type, Callable[[Any], tuple[Kind, Array]]] = {
    Box: lambda box: (BoxShape((box.size[0], box.size[1], box.size[2])), np.asarray(box.pose)),
    Sphere: lambda ball: (SphereShape(ball.radius), _at(ball.center)),
    Capsule: _along(CapsuleShape), Cylinder: _along(CylinderShape), ConvexHull: _hull, HeightField: _field}
