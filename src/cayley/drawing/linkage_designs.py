"""Pictures of linkages that synthesis found: the linkage at its pairs or poses, beside what it does in between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.canvas import BLUE, GREY, INK, ORANGE, PALE, RED, TRIAD
from cayley.drawing.stick_figures import stick_figure
from cayley.extras import optional_imports
from cayley.planning.synthesis.design import FourBarDesign
from cayley.planning.synthesis.guidance import GuidingLinkage
from cayley.showing import shown_once

with optional_imports():
    import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SAMPLES = 721
_SHOWN = 5


def draw_design(design: FourBarDesign) -> Figure:
    """A four-bar at its pairs, and its output over its input in both assembly modes with the pairs in it.

    >>> from cayley.planning import function_generator
    >>> figure = draw_design(function_generator([0.7, 1.0, 1.4], [1.2, 1.4, 1.7]))
    >>> len(figure.axes)
    2
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.4), layout="constrained")
    _draw_linkage(left, design)
    _draw_function(right, design)
    return shown_once(figure)


def _draw_linkage(ax: Axes, design: FourBarDesign) -> None:
    error = design.structural_error()
    stands = [k for k in range(len(design.inputs)) if error.modes[k] >= 0]
    chosen = [stands[round(k)] for k in np.linspace(0, len(stands) - 1, min(_SHOWN, len(stands)))] if stands else []
    q = np.array([design.configuration(design.inputs[k], int(error.modes[k])) for k in chosen]).reshape(-1, 3)
    if len(q):
        stick_figure(design.tree(), q, frames=(), ax=ax)
    title = f"{design.linkage_class}" + ("" if len(stands) == len(design.inputs) else ", not assembled at every pair")
    ax.set_title(title, fontsize=10, color=INK)


def _draw_function(ax: Axes, design: FourBarDesign) -> None:
    reach = np.ptp(design.inputs) or 1.0
    psi = np.linspace(design.inputs.min() - 0.25 * reach, design.inputs.max() + 0.25 * reach, _SAMPLES)
    both = np.degrees(design.output_angles(psi))
    wanted = np.degrees(design.outputs)
    error = design.structural_error()
    own = int(error.modes.max(initial=0))
    for mode, style, word in ((1 - own, "--", "other assembly mode"), (own, "-", "its mode")):
        ax.plot(np.degrees(psi), _nearest_turn(both[:, mode], wanted.mean()), color=BLUE, ls=style, lw=1.6, label=word)
    stands = error.modes >= 0
    ax.plot(np.degrees(design.inputs)[stands], wanted[stands], "o", color=ORANGE, ms=6, label="pairs")
    if not stands.all():
        ax.plot(np.degrees(design.inputs)[~stands], wanted[~stands], "x", color=RED, ms=8, mew=2,
                label="cannot be assembled")
    room = max(float(np.ptp(wanted)), 20.0)
    ax.set_ylim(wanted.min() - 0.5 * room, wanted.max() + 0.5 * room)
    ax.set(xlabel="input psi [degrees]", ylabel="output phi [degrees]")
    ax.set_title(f"design error {design.design_error:.2g}; structural error "
                 + (f"{np.degrees(error.largest):.2g} degrees" if stands.all() else "not everywhere"), fontsize=10,
                 color=INK)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color=PALE, lw=0.6)
    ax.legend(frameon=False, fontsize=9)


def _nearest_turn(angles: Array, middle: float) -> Array:
    """Angles [degrees] within half a turn of a middle, broken where they jump."""
    near = middle + np.mod(angles - middle + 180.0, 360.0) - 180.0
    return np.where(np.abs(np.diff(near, prepend=near[:1])) > 180.0, np.nan, near)


def draw_guidance(made: GuidingLinkage) -> Figure:
    """A guiding linkage at its first and last pose, the poses as small triads, and the way of the body's point over the
    range of the crank.

    >>> from cayley.planning import body_guidance
    >>> poses = [[0.2, 0.35, 0.2], [0.1, 0.4, 0.35], [0.0, 0.4, 0.5], [-0.1, 0.35, 0.6], [-0.15, 0.3, 0.65]]
    >>> len(draw_guidance(body_guidance(poses)[0]).axes)
    1
    """
    figure, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    stick_figure(made.tree(), made.configurations[[-1, 0]], frames=(), ax=ax)
    theta = np.linspace(-np.pi, np.pi, _SAMPLES)
    mode = int(made.modes[0])
    both = made.linkage.position.unchecked(theta)[:, mode]
    way = made.body_poses(made.linkage.configuration(theta, both))
    ax.plot(way[:, 0], way[:, 1], color=GREY, lw=1.2, zorder=1)
    size = 0.2 * float(np.ptp(made.poses[:, :2], axis=0).max() or 1.0)
    for x, y, angle in made.poses:
        for color, turn in zip(TRIAD, (0.0, np.pi / 2), strict=False):
            ax.plot([x, x + size * np.cos(angle + turn)], [y, y + size * np.sin(angle + turn)], color=color, lw=1.8,
                    zorder=5)
    ax.set_title(f"defects: {made.defects}", fontsize=9, color=INK)
    return shown_once(figure)
