"""The picture of a payload chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import BoundaryNorm
from matplotlib.ticker import MaxNLocator

from cayley.compiler.typing import Array
from cayley.drawing.canvas import INK, flat_style
from cayley.showing import shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.drawing.canvas import Canvas
    from cayley.drawing.payload_maps import PayloadMap

_COLOURS = "viridis"
_STEPS = 9
_USUAL = 80.0  # percent of the places that the steps tell apart: few carry far more


def draw_payloads(found: PayloadMap, figure: Figure | None = None) -> Figure:
    """The load that the best posture carries at each place, and the one that every posture carries."""
    figure = plt.figure(figsize=(10.5, 5.0), layout="constrained") if figure is None else figure
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for ax, values, title in zip(axes, (found.best, found.always), ("in the best posture", "in every posture"),
                                 strict=True):
        _chart(ax, found, values)
        ax.set_title(title, fontsize=10, color=INK, loc="left")
    axes[1].set_ylabel("")
    figure.suptitle(f"{found.tree.name}: payload at {found.frame}, at rest", fontsize=10, color=INK, parse_math=False)
    return shown_once(figure)


def _chart(ax: Canvas, found: PayloadMap, values: Array) -> None:
    flat_style(ax, *found.names)
    ax.set_aspect("equal", adjustable="box")
    finite = values[np.isfinite(values)]
    low, high = np.percentile(finite, [0.0, _USUAL]) if finite.size else (0.0, 1.0)
    levels = np.asarray(MaxNLocator(_STEPS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, max(high, low + 1e-9)))
    norm = BoundaryNorm(levels[levels >= 0.0], plt.get_cmap(_COLOURS).N, extend="max")
    mesh = ax.pcolormesh(found.horizontal, found.vertical, np.ma.masked_where(np.isnan(values), values), norm=norm,
                         cmap=_COLOURS, shading="nearest", rasterized=True, zorder=1)
    if not found.space.view.flat and found.space.axis is not None:
        ax.set_xlim(left=0.0)
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.85, pad=0.02)
    bar.set_label("greatest payload [kg]")
    bar.outline.set_visible(False)
