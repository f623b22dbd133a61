"""The picture of a region of attraction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from cayley.showing import shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.control.stability.attraction import RegionOfAttraction

_COLOURS = {-1: "#e8a598", 0: "#f2e3b8", 1: "#9fc9a8"}
_WORDS = {1: "converged", 0: "elsewhere", -1: "left"}


def plot(region: RegionOfAttraction) -> Figure:
    """States by what became of them; the level sets of V, as far as it falls, and as far as all has converged."""
    figure, ax = plt.subplots(layout="constrained", figsize=(6.8, 5.4))
    ax.pcolormesh(region.horizontal, region.vertical, region.outcome, cmap=ListedColormap(list(_COLOURS.values())),
                  vmin=-1, vmax=1, shading="nearest", rasterized=True)
    V = region.candidate.value(region.displacements)
    handles: list[Patch | Line2D] = [Patch(color=_COLOURS[k], label=_WORDS[k]) for k in _COLOURS
                                     if (region.outcome == k).any()]
    styles: tuple[tuple[float, Literal["-", "--"], str], ...] = (
        (region.levels.falling, "-", "V falls"), (region.levels.converging, "--", "all converges"))
    for level, style, words in styles:
        if np.isfinite(level) and V.min() < level < V.max():
            ax.contour(region.horizontal, region.vertical, V, levels=[level], colors="#333333", linewidths=1.4,
                       linestyles=style)
            handles.append(Line2D([], [], color="#333333", linestyle=style, label=f"V < {level:.3g}: {words}"))
    ax.plot(0.0, 0.0, "+", color="#333333", markersize=9)
    ax.set(xlabel=f"{region.labels[0]} from the equilibrium", ylabel=f"{region.labels[1]} from the equilibrium")
    ax.set_title(f"{region.about.name}: {region.outcome.size} states, {100 * region.share:.1f} % converge", fontsize=10,
                 loc="left")
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return shown_once(figure)
