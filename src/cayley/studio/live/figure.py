"""Shape of a mechanism as triangles in the frames of its bodies: the shapes of its file, or a stick figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.colors import to_rgb

from cayley.compiler.typing import Array
from cayley.drawing import solids
from cayley.drawing.canvas import GREY
from cayley.drawing.skeleton import Skeleton, largest_mark, stands_on_legs
from cayley.drawing.stick_figures import COLORS, PLATE, SLIDE, joint_solid
from cayley.drawing.views import view_of
from cayley.geometry.pose import Pose
from cayley.model.tree import Tree
from cayley.shapes import Shapes, Surface, shapes_of

MOST_TRIANGLES = 60_000  # of all shapes: more is not seen, and a processor without a graphics card is slow to draw it

Color = tuple[int, int, int]


class Part(NamedTuple):
    """Triangles of one colour on a body."""

    body: int
    surface: Surface
    color: Color


class Figure(NamedTuple):
    """Parts of a figure, the bodies that lack their shapes, and what is missing, in words."""

    parts: list[Part]
    missing: tuple[str, ...] = ()
    bare: frozenset[str] = frozenset()


def shaped(tree: Tree, role: str) -> Figure:
    """The shapes that are seen ("visual"), or those that collide; without parts where there are none."""
    found = shapes_of(tree)
    chosen: Shapes = found.seen if role == "visual" else found.of("collision")
    surfaces = chosen.surfaces(MOST_TRIANGLES)
    parts: dict[tuple[int, Color], list[Surface]] = {}
    for shape, surface in surfaces.parts:
        key = tree.body_number(shape.body), _color(GREY if shape.color is None else shape.color)
        parts.setdefault(key, []).append(surface)
    return Figure([Part(body, _joined(group), color) for (body, color), group in parts.items()], surfaces.missing,
                  surfaces.bare)


def sticks(figure: Skeleton, only: Iterable[str] | None = None) -> list[Part]:
    """The stick figure, or of some bodies only their sticks."""
    tree = figure.tree
    size = largest_mark(tree) * figure.size
    rod = 0.3 * size
    kept = None if only is None else set(only)
    found = [(tree.body_number(line.body), GREY, solids.tube(line.points, rod if line.carries else 0.45 * rod, np.inf))
             for line in figure.lines if kept is None or line.body in kept]
    if kept is None:
        found += _foot(figure, size)
        found += [(body, PLATE, solids.plate(corners, np.inf)) for body, corners in figure.plates.items()]
        found += [(mark.bodies[0 if axis.on_parent else 1], COLORS[mark.mark.color],
                   joint_solid(mark._replace(axes=mark.axes[k:k + 1])))
                  for mark in figure.marks for k, axis in enumerate(mark.mark.axes)]
    groups: dict[tuple[int, Color], solids.Polygons] = {}
    for body, color, polygons in found:
        groups.setdefault((body, _color(color)), []).extend(polygons)
    return [Part(body, _triangles(polygons, figure.poses[body]), color) for (body, color), polygons in groups.items()
            if polygons]


def rod_radius(figure: Skeleton) -> float:
    """Radius [m] of slides and rods."""
    return 0.225 * largest_mark(figure.tree) * figure.size


ROD_COLOR: Color = tuple(round(255 * x) for x in to_rgb(SLIDE))  # type: ignore[assignment]


def corners(parts: Sequence[Part], poses: Array) -> Array:
    """The corners (k, 3) of the boxes around parts, whose bodies have poses (b, 4, 4)."""
    boxes = [np.array([[x, y, z] for x in low_high[:, 0] for y in low_high[:, 1] for z in low_high[:, 2]])
             @ poses[body, :3, :3].T + poses[body, :3, 3]
             for body, low_high in ((part.body, np.stack([part.surface.points.min(0), part.surface.points.max(0)]))
                                    for part in parts if len(part.surface.points))]
    return np.concatenate(boxes) if boxes else np.zeros((0, 3))


def _foot(figure: Skeleton, size: float) -> list[tuple[int, str, solids.Polygons]]:
    """A plate below the root of what stands on it."""
    if stands_on_legs(figure.tree) or figure.plates or view_of(figure.tree).flat:
        return []
    up = np.array([0.0, 0.0, 1.0])
    return [(0, PLATE, solids.cylinder(0.15 * size * up, up, 1.6 * size, 0.15 * size))]


def _color(color: str | tuple[float, float, float]) -> Color:
    r, g, b = (round(255 * x) for x in to_rgb(color))
    return r, g, b


def _triangles(polygons: solids.Polygons, pose: Pose) -> Surface:
    """Quadrangles of the root's frame as triangles of a body's."""
    points = (np.concatenate(polygons) - pose.p) @ pose.R
    first = 4 * np.arange(len(polygons))[:, None]
    return Surface(points, np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])]))


def _joined(surfaces: Sequence[Surface]) -> Surface:
    starts = np.cumsum([0, *[len(surface.points) for surface in surfaces]])
    return Surface(np.concatenate([surface.points for surface in surfaces]),
                   np.concatenate([surface.triangles + start
                                   for surface, start in zip(surfaces, starts[:-1], strict=True)]),
                   all(surface.closed for surface in surfaces))
