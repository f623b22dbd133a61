"""Contacts in a picture: the cone of friction at each point that touches, and the force there as an arrow.

Cones open along the normal, by the angle whose tangent is the friction, towards the second shape of the pair, on which
the force acts. The largest force of a picture has the length of the cones' sides; others are in proportion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing import canvas, solids
from cayley.drawing.canvas import Canvas
from cayley.drawing.views import ViewAxes
from cayley.extras import optional_imports
from cayley.kinematics.contacts.contact_points import contact_layout, contact_points
from cayley.model.joint_kinds import plane_across
from cayley.model.tree import Tree

with optional_imports():
    from matplotlib.patches import Polygon

FORCE = "#c2255c"
CONE = "#f2b8c6"
TOUCHING = 1e-4  # [m]
_LENGTH = 0.2  # of cones and of the largest arrow, beside the size of the figure
_SIDES = 16
_WIDEST = 0.6  # of a cone, beside its height


class TouchingSpot(NamedTuple):
    """A point (3) that touches, its normal (3), its friction, and the force (3) on the second shape [N]."""

    point: Array
    normal: Array
    friction: float
    force: Array


def touching_spots(tree: Tree, q: Array, forces: Array | None) -> list[TouchingSpot]:
    """The points of a configuration that touch: those with forces (c, 3) along two tangents and the normal, or where
    none are given those without a gap."""
    found = contact_points(tree, np.asarray(q, dtype=float))
    spots = []
    for k, place in enumerate(contact_layout(tree)):
        axes = np.asarray(found.axes[k], dtype=float)
        force = np.zeros(3) if forces is None else np.asarray(forces[k]) @ axes
        touches = float(found.gap[k]) <= TOUCHING if forces is None else bool(np.any(force))
        if touches:
            friction = float(tree.contacts[place.pair].friction)
            spots.append(TouchingSpot(np.asarray(found.position[k], dtype=float), axes[2], friction, force))
    return spots


def arrow_ends(spots: list[TouchingSpot], size: float, largest: float | None = None) -> Array:
    """The ends (k, 3) of the arrows of some spots in a figure of a size; `largest` is the force of the longest [N],
    by default the largest of these."""
    if largest is None:
        largest = max((float(np.linalg.norm(spot.force)) for spot in spots), default=0.0) or 1.0
    return np.array([spot.point + _LENGTH * size / largest * spot.force for spot in spots]).reshape(-1, 3)


def rims(spots: list[TouchingSpot], size: float) -> Array:
    """The rims (k, 16, 3) of the cones of friction; those of much friction are cut off where they are wide."""
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    made = []
    for spot in spots:
        height = 0.6 * _LENGTH * size * min(1.0, _WIDEST / max(spot.friction, 1e-9))
        made.append(spot.point + height * (spot.normal + spot.friction * ring @ plane_across(spot.normal)))
    return np.array(made).reshape(-1, _SIDES, 3)


def draw_contacts(ax: Canvas, view: ViewAxes, spots: list[TouchingSpot], size: float,
                  largest: float | None = None) -> None:
    """Draw cones and forces over a figure; `largest` as in `arrow_ends`."""
    ends = arrow_ends(spots, size, largest)
    for spot, rim, end in zip(spots, rims(spots, size), ends, strict=True):
        if view.flat:
            corners = view(np.concatenate([rim, spot.point[None]]))
            across = view(spot.normal) @ np.array([[0.0, 1.0], [-1.0, 0.0]])
            order = np.argsort(corners @ across)
            sides = corners[[order[0], -1, order[-1]]]
            ax.add_patch(Polygon(sides, closed=True, facecolor=CONE, edgecolor="none", alpha=0.7, zorder=9))
        else:
            wall = [np.stack([spot.point, a, b, b]) for a, b in zip(rim, np.roll(rim, -1, axis=0), strict=True)]
            canvas.add_polygons(ax, wall, facecolors=CONE, edgecolors="none", alpha=0.35, zorder=14)
        if np.any(spot.force):
            _draw_arrow(ax, view, spot.point, end, 0.012 * size)


def _draw_arrow(ax: Canvas, view: ViewAxes, start: Array, end: Array, wide: float) -> None:
    if view.flat:
        ax.annotate("", view(end), view(start), zorder=15,
                    arrowprops={"arrowstyle": "-|>", "color": FORCE, "lw": 1.8, "shrinkA": 0, "shrinkB": 0})
        return
    way = end - start
    length = float(np.linalg.norm(way))
    axis = way / length
    head = min(0.5 * length, 4.0 * wide)
    around = plane_across(axis)
    angles = 2 * np.pi * np.arange(9) / 8
    ring = np.stack([np.cos(angles), -np.sin(angles)], axis=1) @ around
    neck = end - head * axis
    polygons = solids.quads(np.stack([start + 0.5 * wide * ring, neck + 0.5 * wide * ring, neck + 1.6 * wide * ring,
                                      np.broadcast_to(end, ring.shape)]))
    colors = solids.shaded(polygons, FORCE)
    canvas.add_polygons(ax, polygons, facecolors=colors, edgecolors=colors, linewidths=0.2, zorder=15)
