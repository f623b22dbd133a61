"""A motion as a figure: position, velocity, acceleration and jerk, one above the other on one axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from cayley.errors import SignatureError
from cayley.planning.motion import Motion
from cayley.showing import shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES = 600
_GREY = "#c3cad3"
_MOST_BREAKS = 40  # more make no clearer picture


def plot(motion: Motion, names: Sequence[str] | None) -> Figure:
    """The figure; dotted lines are the breaks."""
    figure = plt.figure(figsize=(8.0, 8.0), layout="constrained")
    draw(figure, motion, names)
    return shown_once(figure)


def draw(figure: Figure, motion: Motion, names: Sequence[str] | None) -> None:
    """Draw a motion on an empty figure."""
    labels = [f"q{k}" for k in range(motion.nq)] if names is None else list(names)
    if len(labels) != motion.nq:
        raise SignatureError(f"the motion has {motion.nq} coordinates; {len(labels)} names were given")
    t = np.unique([*np.linspace(motion.start, motion.end, _SAMPLES), *motion.breaks,
                   *np.nextafter(motion.breaks[1:], motion.start)])  # so that jumps are upright
    titles = ("position", "velocity", "acceleration", "jerk")
    axes = figure.subplots(4, 1, sharex=True)
    for ax, title, values in zip(axes, titles, motion.derivatives(t), strict=True):
        own = labels if values.shape[-1] == motion.nq else [f"v{k}" for k in range(motion.nv)]
        for k, name in enumerate(own):
            ax.plot(t, values[:, k], color=f"C{k % 10}", linewidth=1.4, label=name)
        if len(motion.breaks) <= _MOST_BREAKS:
            for instant in motion.breaks:
                ax.axvline(instant, color=_GREY, linewidth=0.8, linestyle=":")
        ax.set_title(title, fontsize="small", loc="left")
        ax.grid(color="#e3e7ec", linewidth=0.6)
        ax.margins(x=0.01)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        if len(own) > 1 and (title == "position" or (title == "velocity" and motion.attitudes)):
            ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)
    axes[-1].set_xlabel("t [s]")
