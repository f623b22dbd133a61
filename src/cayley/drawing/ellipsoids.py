"""Ellipsoids of velocities and of forces at a frame, on the stick figure.

    velocities that joint velocities of length one give    axes U, semi-axes s        flat where J is singular
    forces that joint torques of length one exert          axes U, semi-axes 1/s      without end where J is singular
The two have the same axes: fast along a direction is weak along it. Source: Ruggiu (2.76), (3.62)-(3.65); see
`cayley.kinematics.singular.indices`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing import solids
from cayley.drawing.canvas import BLUE, RED, Canvas, add_polygons, fit, round_number
from cayley.drawing.skeleton import configurations, skeleton
from cayley.drawing.stick_figures import stick_figure
from cayley.drawing.views import ViewAxes, drive_units, task_jacobian, view_for, view_of
from cayley.errors import ConventionError, UnsupportedError
from cayley.extras import optional_imports
from cayley.kinematics.singular.indices import force_ellipsoid, velocity_ellipsoid
from cayley.model.tree import Tree

with optional_imports():
    from matplotlib.colors import to_rgba
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon

COLORS = {"velocity": BLUE, "force": RED}
_LONGEST = 0.28  # semi-axis, as a part of the figure's size
_ENDLESS = 0.42  # where what has no end is cut off
_UNITS = {("position", "velocity"): "m/s", ("position", "force"): "N",
          ("orientation", "velocity"): "rad/s", ("orientation", "force"): "N m"}


class DrawnEllipsoid(NamedTuple):
    """An ellipsoid: unit axes (3, k), semi-axes (k) as drawn [m], infinite where it has no end, and their scale."""

    kind: str
    axes: Array
    lengths: Array
    scale: float  # metres of the picture for a unit of velocity or force


def draw_ellipsoids(tree: Tree, q: ArrayLike, frame: str, *, kinds: Sequence[str] = ("velocity", "force"),
                    task: str = "position", characteristic_length: float | None = None,
                    velocity_scale: float | None = None, force_scale: float | None = None, ax: Canvas = None) -> Canvas:
    """Draw the ellipsoids of velocities (blue) and forces (red) of a frame at a configuration (nq); with new axes, the
    robot as well.

    task             "position": velocities and forces; "orientation": angular velocities and moments. Of a planar
                     mechanism in its plane
    velocity_scale   metres of the picture for a unit of velocity; by default a round number that makes the longest
                     finite semi-axis about a quarter of the robot's size. The legend states it
    force_scale      the same for a unit of force

    A semi-axis of zero makes a flat ellipsoid; one without end is cut off and drawn with dashed axes. Metres and
    radians that mix are a `ConventionError` unless `characteristic_length` is given; then the units are those of
    numbers. Returns the Matplotlib axes.

    >>> from cayley.model.catalogue import load_robot
    >>> ax = draw_ellipsoids(load_robot("planar2r"), [0.4, 0.9], "tool")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['velocity for |q̇| = 1 rad/s: 1 m/s is 0.15 m', 'force for |τ| = 1 N m: 1 N is 0.02 m']
    """
    wrong = [kind for kind in kinds if kind not in COLORS]
    if wrong or not kinds:
        raise ConventionError(f'ellipsoids are of "velocity" or of "force", not of {wrong[0]!r}'
                              if wrong else "name an ellipsoid to draw")
    if task not in ("position", "orientation"):
        raise UnsupportedError(
            f'an ellipsoid of the task {task!r} has more than three dimensions: draw "position" and "orientation" apart'
        )
    view = view_for(tree, ax)
    one = configurations(tree, q)[-1]
    figure = skeleton(tree, one)
    center = figure.frame_pose(tree.frame(frame)).p
    if ax is None:
        ax = stick_figure(tree, one, frames=(frame,), labels=False, shapes=None)
    scales = {"velocity": velocity_scale, "force": force_scale}
    shapes = [_shape(tree, one, frame, task, kind, characteristic_length, scales[kind], figure.size) for kind in kinds]
    for shape in shapes:
        if view.flat:
            _draw_flat(ax, view, center, shape, _ENDLESS * figure.size)
        _draw_axes(ax, view, center, shape, _ENDLESS * figure.size)
    if not view.flat:
        _draw_solid(ax, center, shapes, _ENDLESS * figure.size)
    reach = [center + sign * axis * min(length, _ENDLESS * figure.size)
             for shape in shapes for axis, length in zip(shape.axes.T, shape.lengths, strict=True) for sign in (1, -1)]
    fit(ax, view(np.concatenate([figure.points, reach])), first=False)
    _draw_legend(ax, tree, frame, task, shapes, characteristic_length)
    return ax


def _shape(tree: Tree, q: Array, frame: str, task: str, kind: str, characteristic_length: float | None,
           scale: float | None, size: float) -> DrawnEllipsoid:
    J = np.asarray(task_jacobian(tree, q, frame, task, characteristic_length), dtype=float)
    found = (velocity_ellipsoid if kind == "velocity" else force_ellipsoid)(J)
    seen = view_of(tree)
    axes = (seen.normal[None] if seen.flat and task == "orientation" else seen.rows).T @ found.axes
    finite = found.lengths[np.isfinite(found.lengths)]
    longest = float(finite.max()) if len(finite) and finite.max() > 0 else 1.0
    scale = round_number(_LONGEST * size / longest, (1, 1.5, 2, 3, 4, 5, 6, 8)) if scale is None else float(scale)
    if not 0 < scale < np.inf:
        raise ConventionError(f"the scale of the {kind} ellipsoid must be positive and finite, not {scale}")
    return DrawnEllipsoid(kind, axes, scale * found.lengths, scale)


def outline(first: Array, second: Array, lengths: Array, endless: float) -> list[Array]:
    """The section of an ellipsoid by two of its axes, as lines (k, 3) about its center: an ellipse, two lines if it is
    infinite in one direction, or nothing if in both."""
    angle = np.linspace(0, 2 * np.pi, 121)
    if np.isfinite(lengths).all():
        return [np.outer(lengths[0] * np.cos(angle), first) + np.outer(lengths[1] * np.sin(angle), second)]
    if np.isinf(lengths).all():
        return []
    along, across, width = (first, second, lengths[1]) if np.isinf(lengths[0]) else (second, first, lengths[0])
    return [
        np.stack([side * width * across - endless * along, side * width * across + endless * along])
        for side in (1, -1)]


def surface(shape: DrawnEllipsoid, endless: float) -> solids.Polygons:
    """The polygons of a surface in space about its center: an ellipsoid, a cylinder cut off, two plates, or nothing."""
    open_ended = np.isinf(shape.lengths)
    columns = shape.axes * np.where(open_ended, endless, shape.lengths)
    if shape.axes.shape[1] < 3 or open_ended.all():
        return []
    if not open_ended.any():
        return solids.ellipsoid(np.zeros(3), columns, 36)
    order = np.argsort(open_ended, kind="stable")
    columns = columns[:, order]
    steps = np.linspace(-1, 1, 13)
    if open_ended.sum() == 1:
        angle = np.linspace(0, 2 * np.pi, 37)
        ring = np.outer(np.cos(angle), columns[:, 0]) + np.outer(np.sin(angle), columns[:, 1])
        return solids.quads(ring[None] + steps[:, None, None] * columns[:, 2])
    plate = steps[:, None, None] * columns[:, 1] + steps[None, :, None] * columns[:, 2]
    return [polygon for side in (1, -1) for polygon in solids.quads(side * columns[:, 0] + plate)]


def _draw_solid(ax: Canvas, center: Array, shapes: Sequence[DrawnEllipsoid], endless: float) -> None:
    """The surfaces, seen through, as one collection; and the ellipses in their principal planes."""
    polygons: solids.Polygons = []
    colors = []
    for shape in shapes:
        part = surface(shape, endless)
        polygons += [center + polygon for polygon in part]
        colors += [to_rgba(COLORS[shape.kind], 0.10)] * len(part)
        for first, second in combinations(range(shape.axes.shape[1]), 2):
            for line in outline(shape.axes[:, first], shape.axes[:, second], shape.lengths[[first, second]], endless):
                ax.plot(*(center + line).T, color=COLORS[shape.kind], lw=1.0, alpha=0.8, zorder=8,
                        label=f"_{shape.kind} ellipse")
    if polygons:
        add_polygons(ax, polygons, facecolors=colors, edgecolors="none", zorder=7, label="_ellipsoids")


def _draw_flat(ax: Canvas, view: ViewAxes, center: Array, shape: DrawnEllipsoid, endless: float) -> None:
    color = COLORS[shape.kind]
    if shape.axes.shape[1] != 2:
        return
    lines = [view(center + line) for line in outline(shape.axes[:, 0], shape.axes[:, 1], shape.lengths, endless)]
    if lines:
        ax.add_patch(
            Polygon(np.concatenate([lines[0], *[line[::-1] for line in lines[1:]]]), closed=True,
                    facecolor=to_rgba(color, 0.15), edgecolor="none", zorder=7))
    for line in lines:
        ax.plot(*line.T, color=color, lw=1.4, zorder=8, label=f"_{shape.kind} ellipse")


def _draw_axes(ax: Canvas, view: ViewAxes, center: Array, shape: DrawnEllipsoid, endless: float) -> None:
    """The principal axes; dashed where they have no end."""
    for axis, length in zip(shape.axes.T, shape.lengths, strict=True):
        ends = view(np.stack([center - min(length, endless) * axis, center + min(length, endless) * axis]))
        wide = shape.kind == "velocity"  # below the other, so that both are seen where one covers the other
        ax.plot(*ends.T, color=COLORS[shape.kind], lw=2.8 if wide else 1.3, ls="-" if np.isfinite(length) else
                (0, (3, 2)), zorder=9.0 if wide else 9.5, label=f"_{shape.kind} axis")


def _draw_legend(ax: Canvas, tree: Tree, frame: str, task: str, shapes: Sequence[DrawnEllipsoid],
                 characteristic_length: float | None) -> None:
    columns = set(drive_units(tree, frame))
    rates, torques = ("rad/s", "N m") if columns == {"rad"} else ("m/s", "N")
    handles = []
    for shape in shapes:
        unit = _UNITS[task, shape.kind]
        joints = rates if shape.kind == "velocity" else torques
        if characteristic_length is not None:
            unit = ""
            joints = ""
        words = f"{shape.kind} for |{'q̇' if shape.kind == 'velocity' else 'τ'}| = 1 {joints}".rstrip()
        ends = ", no end along dashes" if np.isinf(
            shape.lengths).any() else ", flat" if (shape.lengths == 0).any() else ""
        handles.append(
            Line2D([], [], color=COLORS[shape.kind], lw=2,
                   label=f"{words}: 1 {unit}".rstrip() + f" is {shape.scale:g} m{ends}"))
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, fontsize=8.5,
              frameon=False)
