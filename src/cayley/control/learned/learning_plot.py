"""Iterative learning as a figure: errors by trials, and the first beside the best trial in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

from cayley.showing import shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.control.learned.learned_motion import LearnedMotion

_GRID = "#e3e7ec"
_GREY = "#8793a1"


def plot(learned: LearnedMotion) -> Figure:
    """The figure."""
    learning = learned.learning
    figure, (trials, errors, forces) = plt.subplots(1, 3, figsize=(12.0, 3.4), layout="constrained")
    trials.semilogy(learned.errors, "o-", color="C0", markersize=4)
    trials.set_xlabel("trial")
    trials.set_title("root mean square error [rad, m]", fontsize="small", loc="left")
    trials.xaxis.set_major_locator(MaxNLocator(integer=True))
    t = learning.move.start + learning.period * np.arange(1, len(learned.forces) + 1)
    for k, name in enumerate(learning.tree.joint_names):
        errors.plot(t, learned.trials[0].error[:, k], color=_GREY, linewidth=1.0, linestyle=("-", "--", ":")[k % 3])
        errors.plot(t, learned.best.error[:, k], color=f"C{k % 10}", linewidth=1.4, label=name)
        forces.step(t - learning.period, learned.forces[:, k], color=f"C{k % 10}", linewidth=1.2, where="post",
                    label=name)
    errors.set_title("errors [rad, m]: first trial grey, best coloured", fontsize="small", loc="left")
    forces.set_title("forces that were learned [N m, N]", fontsize="small", loc="left")
    for ax in (errors, forces):
        ax.set_xlabel("t [s]")
        ax.legend(fontsize="small", frameon=False)
    for ax in (trials, errors, forces):
        ax.grid(color=_GRID, linewidth=0.6)
    return shown_once(figure)
