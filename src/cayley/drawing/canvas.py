"""Axes to draw on: made if there are none, with equal scales, a floor in space, the colours of all pictures, and names
beside points that do not overlap from whichever side a picture is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from weakref import WeakKeyDictionary

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.views import ViewAxes
from cayley.extras import optional_imports

with optional_imports():
    import matplotlib.artist
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox, IdentityTransform
    from mpl_toolkits.mplot3d import proj3d  # type: ignore[import-untyped]
    from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec
    from matplotlib.transforms import BboxBase

# Axes of a plane or of space: Matplotlib has no stubs for those of space, and no type for both.
Canvas: TypeAlias = Any

INK = "#333333"
GREY = "#8793a1"
PALE = "#e3e7ec"
BLUE = "#1b6ca8"
RED = "#d1495b"
GREEN = "#3a8d5c"
PURPLE = "#8f5db7"
ORANGE = "#e08b3e"
TRIAD = ("#d62f3f", "#2f9e44", "#2563c9")  # x, y, z
DENSITY = "YlGnBu"

_DRAWN: WeakKeyDictionary[Any, np.ndarray] = WeakKeyDictionary()  # the points in space for which axes have made room
_MARGIN = 0.06
_FILLED = 0.95


def new_axes(view: ViewAxes, figsize: tuple[float, float] | None = None) -> Canvas:
    """Axes of a new figure, in space or in a plane."""
    figure = plt.figure(figsize=figsize or ((6.4, 5.2) if view.flat else (6.4, 6.0)), layout="constrained")
    return add_axes(figure, 111, view)


def add_axes(figure: Figure, place: int | SubplotSpec, view: ViewAxes) -> Canvas:
    """Axes at a place of a figure or of its grid."""
    if view.flat:
        ax = figure.add_subplot(place)
        flat_style(ax, *view.names)
    else:
        ax = figure.add_subplot(place, projection="3d", computed_zorder=False)
        ax.view_init(elev=20, azim=-55)
        ax.set_proj_type("persp", focal_length=1.6)
        ax.set_axis_off()
    return ax


def flat_style(ax: Canvas, right: str, up: str) -> None:
    """Equal scales, a faint grid, names at the axes."""
    ax.set_aspect("equal", adjustable="datalim")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=PALE, lw=0.6)
    ax.set_axisbelow(True)
    ax.set(xlabel=right, ylabel=up)


def fit(ax: Canvas, points: Array, *, first: bool) -> None:
    """Make room for points (n, 2 or 3); what was there before keeps its room unless this is the first."""
    if ax.name == "3d":
        ax.auto_scale_xyz(*points.T, had_data=not first)
        limits = np.array([ax.xy_dataLim.intervalx, ax.xy_dataLim.intervaly, ax.zz_dataLim.intervalx])
        extents = np.ptp(limits, axis=1)
        extents = np.maximum(extents, 0.05 * extents.max() or 1.0)
        middle = limits.mean(axis=1)
        low = middle - 0.5 * extents
        high = middle + 0.5 * extents
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        _DRAWN[ax] = np.concatenate([_DRAWN.get(ax, points[:0]), points])
        _fill(ax, extents, _DRAWN[ax])
    else:
        pad = _MARGIN * (np.ptp(points, axis=0).max() or 1.0)
        ax.update_datalim([points.min(axis=0) - pad, points.max(axis=0) + pad])
        ax.autoscale_view()


def _fill(ax: Canvas, extents: Array, points: Array) -> None:
    """Zoom so that the points fill the axes from where they are looked at."""
    zoom = 1.0
    for _ in range(3):  # perspective makes the size not quite proportional to the zoom
        ax.set_box_aspect(extents, zoom=zoom)
        ax.apply_aspect()
        seen = np.stack(proj3d.proj_transform(*points.T, ax.get_proj())[:2])
        frame = np.array([ax.viewLim.intervalx, ax.viewLim.intervaly])
        zoom *= float((_FILLED * np.abs(frame).min(axis=1) / np.abs(seen).max(axis=1)).min())
    ax.set_box_aspect(extents, zoom=zoom)


def add_polygons(ax: Canvas, polygons: list[Array], **style: object) -> None:
    """Quadrangles (4, 3) in space as one collection, sorted by depth."""
    ax.add_collection3d(Poly3DCollection(polygons, **style))


def on_screen(ax: Canvas, points: Array) -> Array:
    """The places of points (n, 2 or 3) on the page, in pixels (n, 2)."""
    flat = np.stack(proj3d.proj_transform(*points.T, ax.get_proj())[:2], axis=1) if ax.name == "3d" else points
    return ax.transData.transform(flat)


def draw_floor(ax: Canvas, points: Array, height: float) -> Array:
    """Draw a floor with a grid, whose width is written, below points (n, 3), and return its corners (4, 3)."""
    low = points[:, :2].min(axis=0)
    high = points[:, :2].max(axis=0)
    size = max(np.ptp(points, axis=0).max(), 1e-9)
    step = round_number(size / 5)
    start = step * np.floor((low - 0.08 * size) / step)
    end = step * np.ceil((high + 0.08 * size) / step)
    x, y = (np.arange(round((b - a) / step) + 1) * step + a for a, b in zip(start, end, strict=True))
    lines = [[(a, start[1], height), (a, end[1], height)] for a in x] + [[(start[0], b, height), (end[0], b, height)]
                                                                         for b in y]
    corners = np.array([(*start, height), (end[0], start[1], height), (*end, height), (start[0], end[1], height)])
    add_polygons(ax, [corners], facecolors="#f7f8fa", edgecolors="none", zorder=0)
    ax.add_collection3d(Line3DCollection(lines, colors=PALE, linewidths=0.8, zorder=0.5, label="_floor"))
    ax.text2D(0.99, 0.01, f"grid {step:g} m", transform=ax.transAxes, ha="right", fontsize=8, color=GREY)
    return corners


def round_number(value: float, digits: tuple[float, ...] = (1, 2, 5)) -> float:
    """The largest of the digits times a power of ten that is not above a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(f"{max(k * power for k in digits if k * power <= value * (1 + 1e-12)):.3g}")


_DISTANCES = (9.0, 16.0, 26.0, 38.0, 54.0, 74.0)  # from the point, in points of print
_ANGLES = np.radians([20, -20, 160, -160, 60, -60, 120, -120, 90, -90, 0, 180])
_LEADER = 20.0  # from here on a line leads to the point


class Labels(matplotlib.artist.Artist):
    """Texts at points (n, 2 or 3) of `ax`, away from one another, from `obstacles` (k, 2 or 3) and from the edge."""

    def __init__(self, ax: Canvas, points: Array, names: Sequence[str], obstacles: Array,
                 fontsize: float = 8.5) -> None:
        super().__init__()
        self.points = np.asarray(points, dtype=float)
        self.obstacles = np.asarray(obstacles, dtype=float)
        self.texts = [Text(0, 0, name, fontsize=fontsize, color=INK, ha="center", va="center", parse_math=False,
                           path_effects=[withStroke(linewidth=2.5, foreground="white")]) for name in names]
        self.set_zorder(30)
        self.set_in_layout(False)
        ax.add_artist(self)
        self.set_clip_on(False)

    def draw(self, renderer: RendererBase) -> None:
        """Place every text, the leftmost first, and draw it."""
        if not self.get_visible():
            return
        points = on_screen(self.axes, self.points)
        obstacles = on_screen(self.axes, self.obstacles)
        taken: list[Bbox] = []
        for k in np.argsort(points[:, 0], kind="stable"):
            text = self.texts[k]
            text.set_figure(self._page)
            text.set_transform(IdentityTransform())
            place = self._best_place(renderer, text, points[k], taken, obstacles)
            if np.hypot(*(place - points[k])) > renderer.points_to_pixels(_LEADER):
                self._leader(points[k], place, text.get_window_extent(renderer), renderer)
            text.draw(renderer)
            taken.append(text.get_window_extent(renderer))
        self.stale = False

    @property
    def _page(self) -> Figure:
        return cast("Figure", self.get_figure(root=True))

    def _best_place(self, renderer: RendererBase, text: Text, point: Array, taken: Sequence[Bbox],
                    obstacles: Array) -> Array:
        text.set_position((point[0], point[1]))
        half: Array = 0.5 * np.array(text.get_window_extent(renderer).size, dtype=float)
        page = self._page.bbox
        best = point
        least = np.inf
        for distance in _DISTANCES:
            reach = renderer.points_to_pixels(distance)
            for angle in _ANGLES:
                direction = np.array([np.cos(angle), np.sin(angle)])
                place = point + reach * direction + half * np.clip(1.5 * direction, -1, 1)
                cost = distance / 10 + self._cost(place, half, page, taken, obstacles)
                if cost < least:
                    best = place
                    least = cost
        text.set_position((best[0], best[1]))
        return best

    def _cost(self, place: Array, half: Array, page: BboxBase, taken: Sequence[Bbox], obstacles: Array) -> float:
        low = place - half - 1
        high = place + half + 1
        boxes = np.reshape([box.extents for box in taken], (-1, 4))
        overlaps = np.count_nonzero((boxes[:, :2] < high).all(axis=1) & (low < boxes[:, 2:]).all(axis=1))
        outside = bool((low < [page.x0, page.y0]).any() or (high > [page.x1, page.y1]).any())
        hidden = int(np.count_nonzero(((obstacles > low) & (obstacles < high)).all(axis=1)))
        return 1000.0 * (overlaps + outside) + min(hidden, 20) * 0.7

    def _leader(self, point: Array, place: Array, box: Bbox, renderer: RendererBase) -> None:
        """A thin line from the point to the nearest place on the text's box."""
        end = np.clip(point, [box.x0, box.y0], [box.x1, box.y1])
        line = Line2D(*np.stack([point, end]).T, color=GREY, lw=0.6)
        line.set_figure(self._page)
        line.set_transform(IdentityTransform())
        line.draw(renderer)
