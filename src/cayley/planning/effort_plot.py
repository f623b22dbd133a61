"""Forces of a motion in time, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.planning.efforts import EffortProfile


def plot(profile: EffortProfile) -> Figure:
    """The forces as parts of their limits; those without a limit as parts of their own greatest value, dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for joint, forces in enumerate(profile.tau.T):
        limit = profile.limits.effort[joint]
        own = np.abs(forces).max() or 1.0
        style = "-" if np.isfinite(limit) else "--"
        axes.plot(profile.t, forces / (limit if np.isfinite(limit) else own), style, linewidth=1.4,
                  label=profile.limits.name(joint))
    for side in (-1.0, 1.0):
        axes.axhline(side, color="0.3", linewidth=0.8)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("effort / limit")
    axes.margins(x=0.0)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure
