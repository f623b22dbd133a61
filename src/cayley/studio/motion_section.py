"""A planned motion on the page of a mechanism: positions to jerks, and the forces that it asks of the drives."""

from __future__ import annotations

from html import escape

import numpy as np
from matplotlib.figure import Figure

from cayley.errors import CayleyError
from cayley.mechanism import Mechanism
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.planning.motion import Motion
from cayley.planning.motion_plot import draw
from cayley.studio.pictures import picture

_SAMPLES = 600
_FORCES = {"rad": "N m", "m": "N"}


def motion_section(arm: Mechanism, motion: Motion) -> str:
    """Words and pictures of a motion of all coordinates of the mechanism."""
    names = [name for name, _ in coordinate_labels(arm.tree)]
    figure = Figure(figsize=(8.0, 8.0), layout="constrained")
    draw(figure, motion, names)
    words = [f"<p>From {motion.start:.4g} to {motion.end:.4g} s; {_ends(motion)}.</p>"]
    pictures = [picture(figure, f"A motion of {arm.name}")]
    try:
        pictures.append(_forces(arm, motion))
    except CayleyError as why:
        words.append(f'<p class="note">No joint forces: {escape(str(why))}.</p>')
    return f'{"".join(words)}<div class="pictures">{"".join(pictures)}</div>'


def _ends(motion: Motion) -> str:
    return {(True, True): "it begins and ends at rest", (True, False): "it begins at rest and ends in motion",
            (False, True): "it begins in motion and ends at rest",
            (False, False): "it begins and ends in motion"}[motion.rests]


def _forces(arm: Mechanism, motion: Motion) -> str:
    t = np.linspace(motion.start, motion.end, _SAMPLES)
    tau = arm.inverse_dynamics(*motion(t))
    figure = Figure(figsize=(8.0, 3.2), layout="constrained")
    ax = figure.add_subplot()
    for k, (name, unit) in enumerate(velocity_labels(arm.tree)):
        ax.plot(t, tau[:, k], color=f"C{k % 10}", linewidth=1.4, label=f"{name} [{_FORCES[unit]}]")
    ax.set_title("joint forces that it asks for", fontsize="small", loc="left")
    ax.set_xlabel("t [s]")
    ax.grid(color="#e3e7ec", linewidth=0.6)
    ax.margins(x=0.01)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)
    return picture(figure, f"Joint forces of a motion of {arm.name}")
