"""Solids as polygons in space: tubes, cylinders, boxes, spheres, and the shapes of bodies in place of their sticks,
each a list of quadrangles (4, 3), and how light falls on them.

Everything that is opaque goes into one Matplotlib collection, which sorts polygons by depth: so they must be small and
of like size. (Of polygons with different numbers of corners, some versions of Matplotlib take the padding for points
when they scale the axes.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing import solids
from cayley.drawing.canvas import GREY
from cayley.errors import UnsupportedError, did_you_mean, warn_user
from cayley.extras import optional_imports
from cayley.model.joint_kinds import plane_across
from cayley.shapes import Surfaces, shapes_of
from cayley.shapes.seen import seen_shapes

with optional_imports():
    from matplotlib.colors import to_rgb

if TYPE_CHECKING:
    from cayley.drawing.skeleton import Skeleton
    from cayley.model.tree import Tree

Polygons = list[np.ndarray]

_LIGHT = np.array([0.35, -0.5, 0.8]) / np.linalg.norm([0.35, -0.5, 0.8])
_SIDES = 14


def cylinder(center: Array, axis: Array, radius: float, half_length: float) -> Polygons:
    """A closed cylinder about an axis."""
    ring = _ring(axis, radius, _SIDES)
    low = center - half_length * axis + ring
    high = center + half_length * axis + ring
    return [*_wall(low, high), *_lid(low[::-1]), *_lid(high)]


def tube(points: Array, radius: float, piece: float) -> Polygons:
    """A thin tube along a polyline, in pieces no longer than `piece`, with round corners."""
    found: Polygons = []
    for start, end in pairwise(points):
        length = np.linalg.norm(end - start)
        if length == 0:
            continue
        ring = _ring((end - start) / length, radius, 8)
        stations = np.linspace(start, end, max(2, int(np.ceil(length / piece)) + 1))
        for a, b in pairwise(stations):
            found += _wall(a + ring, b + ring)
    for corner in points[1:]:
        found += sphere(corner, 1.02 * radius, 8)
    return found


def box(center: Array, axis: Array, half_width: float, half_length: float) -> Polygons:
    """A box with a square section, long along an axis."""
    across = plane_across(axis)
    corners = half_width * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) @ across
    low = center - half_length * axis + corners
    high = center + half_length * axis + corners
    return [*_wall(low, high), low[::-1], high]


def plate(corners: Array, piece: float) -> Polygons:
    """A flat surface within an outline (k, 3), in meshes no longer than `piece`, about."""
    around = np.roll(corners, -1, axis=0)
    counts = np.maximum(1, np.ceil(np.linalg.norm(around - corners, axis=1) / piece).astype(int))
    edge = np.concatenate([a + np.linspace(0, 1, count, endpoint=False)[:, None] * (b - a)
                           for a, b, count in zip(corners, around, counts, strict=True)])
    edge = np.concatenate([edge, edge[:1]])
    middle = corners.mean(axis=0)
    rings = max(2, int(np.ceil(np.linalg.norm(corners - middle, axis=1).max() / piece)) + 1)
    return quads(middle + np.linspace(0, 1, rings)[:, None, None] * (edge - middle))


def sphere(center: Array, radius: float, sides: int = _SIDES) -> Polygons:
    return ellipsoid(center, np.eye(3) * radius, sides)


def ellipsoid(center: Array, semi_axes: Array, sides: int) -> Polygons:
    """The surface center + semi_axes @ (unit sphere); the semi-axes are columns (3, 3), and may be zero."""
    around = np.linspace(0, 2 * np.pi, sides + 1)
    down = np.linspace(0, np.pi, sides // 2 + 1)
    ball = np.stack([np.outer(np.sin(down), np.cos(around)), np.outer(np.sin(down), np.sin(around)),
                     np.outer(np.cos(down), np.ones_like(around))], axis=-1)
    return quads(center + ball @ semi_axes.T)


def quads(net: Array) -> Polygons:
    """The meshes (4, 3) of a net (m, n, 3)."""
    cells = np.stack([net[:-1, :-1], net[1:, :-1], net[1:, 1:], net[:-1, 1:]], axis=2)
    return list(cells.reshape(-1, 4, 3))


def shaded(polygons: Polygons, color: str, fade: float = 0.0) -> Array:
    """Colours (n, 3) of the polygons in the light, mixed with white by `fade` from 0 to 1."""
    base = np.array(to_rgb(color))
    light = np.array([0.72 + 0.28 * _brightness(polygon) for polygon in polygons])
    return (1 - fade) * np.clip(light[:, None] * base, 0, 1) + fade


def brightness(corners: Array, closed: bool) -> Array:
    """The brightness of triangles (n, 3, 3) in the light, between 0.44 and 1; of those that enclose nothing both sides
    are alike."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    towards = (normals @ _LIGHT) / np.where(lengths > 0, lengths, 1.0)
    return 0.72 + 0.28 * towards if closed else 0.6 + 0.4 * np.abs(towards)


def _brightness(polygon: Array) -> float:
    """Between -1 and 1: faces are seen from outside, so the sign of the normal counts."""
    normal = np.cross(polygon[2] - polygon[0], polygon[3] - polygon[1])
    length = np.linalg.norm(normal)
    return float(normal @ _LIGHT / length) if length > 0 else 0.0


def _ring(axis: Array, radius: float, sides: int) -> Array:
    angle = np.arange(sides) * 2 * np.pi / sides
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) @ plane_across(axis)


def _lid(ring: Array) -> Polygons:
    """A ring of an even number of points, filled from its center."""
    center = ring.mean(axis=0)
    return [np.stack([center, ring[k], ring[k + 1], ring[(k + 2) % len(ring)]]) for k in range(0, len(ring), 2)]


def _wall(low: Array, high: Array) -> Polygons:
    """The faces between two rings, counter-clockwise from outside."""
    return list(np.stack([low, np.roll(low, -1, axis=0), np.roll(high, -1, axis=0), high], axis=1))


MOST_TRIANGLES = 12_000  # of a picture; of several configurations together
_NAMED = 5


@dataclass(frozen=True, eq=False)
class Skins:
    """The surfaces of a mechanism, and where its bodies are in each of several configurations."""

    figures: Sequence[Skeleton]
    surfaces: Surfaces

    @cached_property
    def corners(self) -> list[list[Array]]:
        """The triangles (n, 3, 3) of each surface, in the root's frame, for each configuration."""
        return [[self._placed(figure, shape.body, surface.points)[surface.triangles]
                 for shape, surface in self.surfaces.parts] for figure in self.figures]

    @property
    def points(self) -> Array:
        """The corners (8, 3) of the box around all of them."""
        every = [extreme for one in self.corners for part in one for extreme in (part.min((0, 1)), part.max((0, 1)))]
        ends = np.min(every, axis=0), np.max(every, axis=0)
        return np.array([[ends[i][0], ends[j][1], ends[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])

    def polygons(self, k: int, fade: float) -> tuple[solids.Polygons, Array]:
        """The surfaces at one configuration, as quadrangles two of whose corners are one, and their colours (n, 3)."""
        parts = list(zip(self.surfaces.parts, self.corners[k], strict=True))
        lit = np.concatenate([solids.brightness(corners, surface.closed)[:, None]
                              * to_rgb(GREY if shape.color is None else shape.color)
                              for (shape, surface), corners in parts])
        return list(np.concatenate(self.corners[k])[:, [0, 1, 2, 2]]), (1 - fade) * np.clip(lit, 0, 1) + fade

    @staticmethod
    def _placed(figure: Skeleton, body: str, points: Array) -> Array:
        pose = figure.poses[figure.tree.body_number(body)]
        return points @ pose.R.T + pose.p


def skins(tree: Tree, figures: Sequence[Skeleton], wanted: str | None, most: int = MOST_TRIANGLES) -> Skins | None:
    """The shapes in some configurations, of no more triangles in all, about, or None where there are none, or none are
    wanted. A `ModelWarning` names the files that are missing."""
    if wanted is None:
        return None
    if wanted not in ("visual", "collision"):
        raise UnsupportedError(f"shapes must be 'visual' or 'collision', or None for sticks, not {wanted!r}"
                               f"{did_you_mean(str(wanted), ('visual', 'collision'))}")
    shapes = seen_shapes(tree) if wanted == "visual" else shapes_of(tree).of("collision")
    chosen = shapes.surfaces(most // len(figures))
    if chosen.missing:
        more = len(chosen.missing) - _NAMED
        named = [*chosen.missing[:_NAMED], *([f"and {more} more"] if more > 0 else [])]
        warn_user(f"{tree.name} is drawn without some of its shapes: {'; '.join(named)}")
    return Skins(figures, chosen) if chosen.parts else None
