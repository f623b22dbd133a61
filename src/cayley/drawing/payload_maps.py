"""Which payload each position of a workspace can carry at rest, beside the limits of the drives: a chart as
manufacturers print.

Each place of the section shows two figures, of the configurations that were found to reach it: the load that the best
of them carries, and the load that all of them carry.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing.cells import gridded
from cayley.drawing.sampling import JointLimits
from cayley.drawing.workspaces import Workspace, workspace
from cayley.dynamics.payload_capacity import check_felt, effort_limits, payload_capacity
from cayley.model.coordinate_labels import velocity_labels
from cayley.model.tree import Tree
from cayley.showing import Pictured

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_A_CELL = 14  # configurations, about
_FINEST = 80  # cells


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

    def draw(self, *, figure: Figure | None = None) -> Figure:
        """Both charts, with their levels in steps. A Matplotlib figure."""
        from cayley.drawing.payload_pictures import draw_payloads
        return draw_payloads(self, figure)

    def __repr__(self) -> str:
        return (f"<payloads of {self.frame!r} of {self.tree.name}: {self.everywhere:.4g} kg everywhere, "
                f"{np.nanmax(self.best):.4g} kg at best>")


def payload_map(tree: Tree, frame: str, *, effort: ArrayLike | None = None, samples: int | None = None, seed: int = 0,
                limits: JointLimits | None = None, resolution: int | None = None,
                space: Workspace | None = None) -> PayloadMap:
    """The payload chart of a frame over a section of its workspace (`Workspace.section`).

    effort          the greatest forces of the drives, one number or (nv); those of the model unless given
    samples, seed, limits     of the `workspace`, which may be given as `space` if it is known
    resolution      how many cells the section is long; by default so many that few are missed

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
