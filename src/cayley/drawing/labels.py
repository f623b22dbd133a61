"""Names beside points, placed anew whenever the picture is drawn, so that they do not overlap from whichever side it is
looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import matplotlib.artist
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox, IdentityTransform

from cayley.compiler.typing import Array
from cayley.drawing.canvas import GREY, INK, Canvas, on_screen

if TYPE_CHECKING:
    from matplotlib.backend_bases import RendererBase
    from matplotlib.figure import Figure
    from matplotlib.transforms import BboxBase


_DISTANCES = (9.0, 16.0, 26.0, 38.0, 54.0, 74.0)  # from the point, in points of print
_ANGLES = np.radians([20, -20, 160, -160, 60, -60, 120, -120, 90, -90, 0, 180])
_LEADER = 20.0  # from here on a line leads to the point


class Labels(matplotlib.artist.Artist):
    """Texts at points (n, 2 or 3) of `ax`, away from one another, from the `obstacles` (k, 2 or 3) and from the edge.
    """

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
