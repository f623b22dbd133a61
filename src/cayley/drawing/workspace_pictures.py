"""Pictures of a workspace, a cloud with the robot in it and the density of configurations in a section, and of a
singular locus in the plane of a planar arm or in the section through the first axis of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.drawing.canvas import BLUE, DENSITY, GREY, INK, PALE, RED, Canvas, Labels, add_axes, fit, flat_style
from cayley.drawing.stick_figures import stick_figure
from cayley.drawing.views import ViewAxes
from cayley.drawing.workspaces import filled_cells
from cayley.extras import optional_imports
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.inverse.bounds import bounds_of
from cayley.showing import shown_once

with optional_imports():
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cayley.drawing.workspaces import Workspace
    from cayley.kinematics.singular.singular_loci import Kind, SingularLocus

_DOTS = 12_000
_CELLS_ACROSS = 110
_STILL = 1e-9  # [m]


def draw_workspace(space: Workspace, figure: Figure | None = None) -> Figure:
    """The figure of a workspace."""
    flat = space.view.flat
    figure = plt.figure(figsize=(6.6, 5.6) if flat else (10.5, 5.2), layout="constrained") if figure is None else figure
    if flat:
        ax = figure.add_subplot()
        draw_section(ax, space)
        stick_figure(space.tree, _posture(space), frames=(), shapes=None, ax=ax)
    else:
        grid = figure.add_gridspec(1, 2, width_ratios=(1.15, 1))
        _draw_cloud(add_axes(figure, grid[0], space.view), space)
        draw_section(figure.add_subplot(grid[1]), space)
    figure.suptitle(_caption(space), fontsize=10, color=INK, parse_math=False)
    return shown_once(figure)


def draw_section(ax: Canvas, space: Workspace) -> Axes:
    """A picture of the section: the density with which configurations lead to each cell, per area or volume, and the
    outline."""
    points, chosen, names = space.section
    flat_style(ax, *names)
    ax.set_aspect("equal", adjustable="box")
    extent = float(np.ptp(points, axis=0).max())
    if extent <= _STILL * max(1.0, float(np.abs(points).max())):
        # all configurations lead to one point: there is no density
        ax.plot(*points[0], "o", ms=5, color=RED, label="_point")
        return ax
    if space.dimension == 1:  # a density on a curve says little
        ax.plot(*points.T, ".", ms=2, color=BLUE, zorder=1, rasterized=True, label="_curve")
        return ax
    width = extent / _CELLS_ACROSS
    edges = [np.arange(low - 2.5 * width, high + 3 * width, width)
             for low, high in zip(points.min(axis=0), points.max(axis=0), strict=True)]
    round_about = not space.view.flat and space.axis is not None
    if round_about:
        edges[0] = np.arange(
            max(0.0, np.floor(points[:, 0].min() / width - 2)) * width, points[:, 0].max() + 3 * width, width)
    density, *_ = np.histogramdd(points, bins=edges)
    density /= len(chosen) * width**2
    if round_about:
        density /= np.pi * (edges[0][1:] + edges[0][:-1])[:, None]
    shown = np.ma.masked_equal(density.T, 0)
    typical = np.percentile(shown.compressed(), [1, 99.5])
    norm = LogNorm(vmin=typical[0], vmax=max(typical[1], 1.01 * typical[0]))
    mesh = ax.pcolormesh(*edges, shown, cmap=DENSITY, norm=norm, zorder=1, rasterized=True, label="_density")
    _draw_outline(ax, np.concatenate([points, points * [-1, 1]]) if round_about else points, width)
    if round_about:
        ax.set_xlim(left=-width)
        ax.axvline(0, color=GREY, lw=0.8, ls=(0, (8, 3, 2, 3)), zorder=2)
    unit = "m$^{-2}$" if space.view.flat or not round_about else "m$^{-3}$"
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.75, pad=0.02)
    bar.set_label(f"share of configurations [{unit}]", fontsize=9)
    bar.outline.set_visible(False)
    for formatted in (bar.ax.yaxis.set_major_formatter, bar.ax.yaxis.set_minor_formatter):
        formatted(FuncFormatter(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "125" else ""))
    return ax


def _draw_outline(ax: Canvas, points: Array, width: float) -> None:
    """The boundary of the cells that are reached."""
    filled, corner = filled_cells(points, width)
    filled = ndimage.binary_closing(np.pad(filled, 3), iterations=3)
    corner = corner - 3 * width
    middles = [corner[k] + (np.arange(filled.shape[k]) + 0.5) * width for k in range(2)]
    ax.contour(*middles, filled.T.astype(float), levels=[0.5], colors=INK, linewidths=0.9, zorder=3)


def _draw_cloud(ax: Canvas, space: Workspace) -> None:
    """A part of the points, the deeper the colour the farther from the center, with the robot."""
    dots = space.points[:: max(1, len(space.points) // _DOTS)]
    if space.relative_to is None:
        stick_figure(space.tree, _posture(space), frames=(), shapes=None, ax=ax)
        fit(ax, dots, first=False)
    else:
        fit(ax, np.concatenate([dots, [space.center]]), first=True)
        ax.plot(*space.center[:, None], "o", ms=5, color=RED, zorder=6)
        Labels(ax, space.center[None], [space.relative_to], dots)
    distance = np.linalg.norm(dots - space.center, axis=1)
    ax.scatter(*dots.T, s=2.4, c=distance, cmap=DENSITY, vmin=-0.5 * distance.max(), linewidths=0, alpha=0.5,
               depthshade=False, zorder=3, label="_cloud")


def _posture(space: Workspace) -> Array:
    """The sample that reaches nearest to the middle of the distances: neither stretched nor folded."""
    distance = np.linalg.norm(space.points - space.center, axis=1)
    return space.configurations[np.argmin(np.abs(distance - 0.5 * (space.nearest + space.farthest)))]


def _caption(space: Workspace) -> str:
    size = f"area {space.area:.3g} m²" if space.area is not None else f"volume {space.volume:.3g} m³"
    size = "along a curve" if space.dimension == 1 else size
    about = f" ± {space.uncertainty:.1g}" if space.uncertainty and space.dimension > 1 else ""
    size = size.replace(" m", about + " m", 1) if about else size
    seen = f", seen from {space.relative_to}" if space.relative_to else ""
    return (f"{space.tree.name}: reach of {space.frame}{seen}, {_length(space.nearest)} to {_length(space.farthest)} "
            f"m, {size}")


def _length(value: float) -> str:
    return f"{round(value, 6):.3g}"


_CLOUD = 20_000
_KINDS: tuple[Kind, ...] = ("interior", "boundary")


def draw_singular_locus(locus: SingularLocus, ax: Axes | None = None) -> Axes:
    """The singular curves of a point: boundaries drawn out, interior ones dashed, over the places that random postures
    reach. In the plane of a planar arm; of another in the section through its first axis.

    >>> import cayley as cy
    >>> draw_singular_locus(cy.load("planar2r").dexterity.singular_locus("tool")).name
    'rectilinear'
    """
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.6), layout="constrained").add_subplot()
    flat_style(ax, *_names(locus))
    ax.set_aspect("equal", adjustable="datalim")
    tree = locus.tree
    place = kernel(f"({tree.nq})->(3)", name="position")(lambda q: frame_pose(tree, q, locus.frame).p)
    reached = place(bounds_of(tree, locus.frame, limits=True).scattered(_CLOUD, 0, tree.neutral))
    ax.plot(*locus.section(reached).T, ".", ms=1.5, mew=0, color=PALE, zorder=1, rasterized=True, label="_reached")
    for kind in _KINDS:
        inside = kind == "interior"
        color = RED if inside else BLUE
        for number, piece in enumerate(locus.pieces(kind)):
            line = locus.section(piece)
            label = f"singular, {kind}" if number == 0 else "_more"
            if np.ptp(line, axis=0).max() < 1e-9:  # folded onto the first axis
                ax.plot(*line[0], "o", ms=4, color=color, zorder=5, label=label)
            else:
                ax.plot(*line.T, "--" if inside else "-", color=color, lw=1.2 if inside else 2.2,
                        zorder=4 if inside else 5, label=label)
    if not locus.planar and _turns(locus):
        ax.axvline(0.0, color=GREY, lw=0.8, ls="-.", zorder=2)
    ax.set_title(f"{locus.tree.name}: singular postures of {locus.frame}", fontsize=10, color=INK, loc="left", pad=22)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False,
              fontsize=9, borderaxespad=0.1)
    return ax


def _turns(locus: SingularLocus) -> bool:
    screw = locus.tree.joints[locus.first].motion.screw
    return screw is not None and bool(screw.turn)


def _names(locus: SingularLocus) -> tuple[str, str]:
    if not locus.planar and _turns(locus):
        return "distance from the first axis [m]", "height along it [m]"
    right, up = ViewAxes(locus.section(np.eye(3)).T).names
    return right, up
