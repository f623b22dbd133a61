"""The picture of a manipulability map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, MultipleLocator

from cayley.drawing.canvas import INK, RED, flat_style

if TYPE_CHECKING:
    from matplotlib.axis import Axis

    from cayley.drawing.canvas import Canvas
    from cayley.drawing.manipulability_maps import ManipulabilityMap

_WORDS = {"manipulability": "manipulability", "inverse_condition_number": "inverse condition number"}


def draw_map(found: ManipulabilityMap, ax: Canvas = None) -> Canvas:
    """The map of an index as a surface of colours with level lines; singular places as red dots that make up curves."""
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.4), layout="constrained").add_subplot()
    values = np.ma.masked_invalid(found.values)
    mesh = ax.pcolormesh(found.horizontal, found.vertical, values, cmap="viridis", vmin=0.0, shading="nearest",
                         rasterized=True, zorder=1)
    if found.space is None:
        levels = np.linspace(0, values.max(), 10)[1:-1]
        ax.contour(found.horizontal, found.vertical, values, levels=levels, colors="white", linewidths=0.5, alpha=0.7,
                   zorder=2)
        ax.set(xlabel=found.names[0], ylabel=found.names[1], xlim=found.horizontal[[0, -1]],
               ylim=found.vertical[[0, -1]])
        _degrees(ax.xaxis, found.names[0])
        _degrees(ax.yaxis, found.names[1])
    else:
        flat_style(ax, *found.names)
        ax.set_aspect("equal", adjustable="box")
        if not found.space.view.flat and found.space.axis is not None:
            ax.set_xlim(left=0.0)
    ax.plot(*found.singular.T, ".", ms=3.2, mew=0, color=RED, zorder=4, label="singular")
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.85, pad=0.02)
    best = "largest " if found.space is not None else ""
    bar.set_label(best + _WORDS[found.index] + (f" [{found.unit}]" if found.unit else ""))
    bar.outline.set_visible(False)
    if len(found.singular):
        ax.plot([], [], color=RED, lw=2, label="singular configurations")
        ax.legend(handles=ax.lines[-1:], loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize=9,
                  borderaxespad=0.2)
    ax.set_title(f"{found.tree.name}, {found.frame}", fontsize=10, color=INK, loc="left", parse_math=False,
                 pad=20 if len(found.singular) else 6)
    return ax


def _degrees(axis: Axis, name: str) -> None:
    """Angles are read in degrees."""
    if name.endswith("[rad]"):
        low, high = np.degrees(axis.get_view_interval())
        step = next(step for step in (1, 2, 5, 10, 15, 30, 45, 90, 180, 360, 1e9) if (high - low) / step <= 9)
        axis.set_major_locator(MultipleLocator(np.radians(step)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{round(np.degrees(value), 6):g}°"))
        axis.set_label_text(name.removesuffix(" [rad]"))
