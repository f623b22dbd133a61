"""The picture of a workspace map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from cayley.machines.workspace_maps import WorkspaceMap

_INK = "#333333"
_RED = "#d1495b"
_BLUE = "#1b6ca8"
_LINES = (("inverse", _INK, "inverse singularity: a leg straight or folded"),
          ("limits", _BLUE, "limit of a joint"), ("direct", _RED, "direct singularity: a motion is gained"))


def draw_workspace_map(found: WorkspaceMap, ax: Axes | None = None) -> Axes:
    """The inverse condition number in colours, the singular curves over it, and the machine in its best posture."""
    if ax is None:
        ax = plt.figure(figsize=(6.4, 5.8), layout="constrained").add_subplot()
    mesh = ax.pcolormesh(found.horizontal, found.vertical, np.ma.masked_invalid(found.values), cmap="viridis", vmin=0.0,
                         vmax=max(float(np.nanmax(found.values, initial=0.0)), 1e-3), shading="nearest",
                         rasterized=True, zorder=1)
    for kind, colour, label in _LINES:
        for number, curve in enumerate(getattr(found, kind)):
            ax.plot(*curve.T, color=colour, lw=2.0 if kind == "direct" else 1.4, zorder=3,
                    label=label if number == 0 else None, solid_capstyle="round")
    for line in found.sketch:
        ax.plot(*line.T, color="white", lw=4.0, zorder=4, solid_capstyle="round", solid_joinstyle="round", alpha=0.8)
        ax.plot(*line.T, color=_INK, lw=1.8, marker="o", ms=3.5, zorder=5)
    bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.8, pad=0.02)
    bar.set_label("inverse condition number", fontsize=9)
    bar.outline.set_visible(False)
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel=found.names[0], ylabel=found.names[1])
    ax.set_title(found.title, fontsize=10, color=_INK, loc="left", parse_math=False)
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False, fontsize=8, ncols=1)
    return ax
