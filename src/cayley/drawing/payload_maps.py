"""Payload charts: the load that each position of a workspace can carry at rest, by the limits of the drives, as
manufacturers print them.

Each place of the section shows two figures, of the configurations that were found to reach it: the load that the best
of them carries, and the load that all of them carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.sampling import JointLimits
from cayley.drawing.workspaces import Workspace, gridded, workspace
from cayley.dynamics.payload_capacity import check_felt, effort_limits, payload_capacity
from cayley.extras import optional_imports
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.showing import Pictured, shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.drawing.canvas import Canvas

_A_CELL = 14  # configurations, about
_FINEST = 80  # cells
_COLOURS = "viridis"
_STEPS = 9
_USUAL = 80.0  # percent of the places that the steps tell apart: few carry far more


@dataclass(frozen=True, eq=False, repr=False)
class PayloadMap(Pictured):
    """Greatest masses (k, l) [kg] at places `horizontal` (l) and `vertical` (k): `best`, in the best posture that
    reaches there, and `always`, in every one; not a number where nothing is reached."""

    tree: Tree
    frame: str
    effort: Array  # (nv)
    names: tuple[str, str]  # of the two coordinates
    horizontal: Array
    vertical: Array
    best: Array
    always: Array
    first: dict[str, float]  # the joints that give way first, in what share of the configurations
    everywhere: float  # what every configuration carries [kg]
    space: Workspace

    def plot(self, *, figure: Figure | None = None) -> Figure:
        """The two charts, with their levels in steps. A Matplotlib figure."""
        with optional_imports():
            import matplotlib.pyplot as plt

        from cayley.drawing.canvas import INK
        figure = plt.figure(figsize=(10.5, 5.0), layout="constrained") if figure is None else figure
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        for ax, values, title in zip(axes, (self.best, self.always), ("in the best posture", "in every posture"),
                                     strict=True):
            self._chart(ax, values)
            ax.set_title(title, fontsize=10, color=INK, loc="left")
        axes[1].set_ylabel("")
        figure.suptitle(f"{self.tree.name}: payload at {self.frame}, at rest", fontsize=10, color=INK, parse_math=False)
        return shown_once(figure)

    def _chart(self, ax: Canvas, values: Array) -> None:
        with optional_imports():
            import matplotlib.pyplot as plt
            from matplotlib.colors import BoundaryNorm
            from matplotlib.ticker import MaxNLocator

        from cayley.drawing.canvas import flat_style
        flat_style(ax, *self.names)
        ax.set_aspect("equal", adjustable="box")
        finite = values[np.isfinite(values)]
        low, high = np.percentile(finite, [0.0, _USUAL]) if finite.size else (0.0, 1.0)
        levels = np.asarray(MaxNLocator(_STEPS, steps=[1, 2, 2.5, 5, 10]).tick_values(low, max(high, low + 1e-9)))
        norm = BoundaryNorm(levels[levels >= 0.0], plt.get_cmap(_COLOURS).N, extend="max")
        mesh = ax.pcolormesh(self.horizontal, self.vertical, np.ma.masked_where(np.isnan(values), values), norm=norm,
                             cmap=_COLOURS, shading="nearest", rasterized=True, zorder=1)
        if not self.space.view.flat and self.space.axis is not None:
            ax.set_xlim(left=0.0)
        bar = ax.figure.colorbar(mesh, ax=ax, shrink=0.85, pad=0.02)
        bar.set_label("greatest payload [kg]")
        bar.outline.set_visible(False)

    def __repr__(self) -> str:
        return (f"<payloads of {self.frame!r} of {self.tree.name}: {self.everywhere:.4g} kg everywhere, "
                f"{np.nanmax(self.best):.4g} kg at best>")


def payload_map(tree: Tree, frame: str, *, effort: ArrayLike | None = None, samples: int | None = None, seed: int = 0,
                limits: JointLimits | None = None, resolution: int | None = None,
                space: Workspace | None = None) -> PayloadMap:
    """The payload chart of a frame over a section of its workspace (`Workspace.section`).

    effort                  greatest forces of the drives, one number or (nv); by default those of the model
    samples, seed, limits   as in `workspace`
    space                   the workspace, if it is already known
    resolution              cells along the longer side of the section; by default few cells are empty

    With loops, on the branch of rest, with the forces of the drives. See `cayley.dynamics.payload_capacity`.

    >>> from cayley.model.catalogue import load_robot
    >>> found = payload_map(load_robot("planar2r"), "tool", effort=[40.0, 15.0], samples=2000)
    >>> found
    <payloads of 'tool' of planar2r: 2.8... kg everywhere, ... kg at best>
    """
    reached = workspace(tree, frame, samples=samples, seed=seed, limits=limits) if space is None else space
    places, chosen, names = reached.section
    found = payload_capacity(tree, reached.configurations[chosen], frame, effort)
    check_felt(tree, found, frame)
    cells, across, up = gridded(places, resolution or int(np.clip(np.sqrt(len(places) / _A_CELL), 8, _FINEST)))
    best = np.full((len(up), len(across)), -np.inf)
    always = np.full((len(up), len(across)), np.inf)
    np.maximum.at(best, (cells[:, 1], cells[:, 0]), found.mass)
    np.minimum.at(always, (cells[:, 1], cells[:, 0]), found.mass)
    empty = np.isneginf(best)
    labels = [name for name, _ in velocity_labels(tree)]
    share = {labels[k]: float(np.mean(found.first == k)) for k in np.unique(found.first) if k >= 0}
    return PayloadMap(tree, frame, effort_limits(tree, effort), names, across, up, np.where(empty, np.nan, best),
                      np.where(empty, np.nan, always), dict(sorted(share.items(), key=lambda item: -item[1])),
                      float(found.mass.min()), reached)
