"""A motion in one picture: the mechanism at several instants, the last in full colour, those before it the paler the
earlier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.drawing.canvas import INK
from cayley.drawing.played import MotionLike, chosen, moving_part
from cayley.drawing.skeleton import skeleton
from cayley.drawing.stick_figures import draw_trails, shown_frames, stick_figure
from cayley.drawing.views import view_for
from cayley.model.tree import Tree
from cayley.systems.trajectory import Trajectory

if TYPE_CHECKING:
    from cayley.drawing.canvas import Canvas

_MOST_WRITTEN = 8  # times in the title
_ON_THE_WAY = 200  # points of a trail


def draw_instants(tree: Tree, motion: MotionLike, times: int | ArrayLike = 5, *, frames: str | Sequence[str] = "ends",
                  labels: bool = True, ground: bool = True, trail: bool = True, ax: Canvas = None) -> Canvas:
    """Draw a mechanism at `times` of a motion [s], or at so many evenly spaced ones, as `stick_figure` does.

    >>> from cayley.model.catalogue import load_robot
    >>> draw_instants(load_robot("planar2r"), ([0.0, 1.0], [[0.0, 0.0], [1.0, 2.0]]), [0.0, 0.5, 0.8]).get_title()
    't = 0, 0.5, 0.8 s'
    """
    at, q = chosen(tree, motion, times)
    drawn = stick_figure(tree, q, frames=frames, labels=labels, ground=ground, trail=False, ax=ax)
    if trail and len(at) > 1:
        _, way = chosen(tree, motion, np.linspace(at.min(), at.max(), _ON_THE_WAY))
        figures = [skeleton(tree, one) for one in way]
        draw_trails(drawn, view_for(tree, drawn), figures,
                    [frame for frame in shown_frames(tree, frames) if frame.body != tree.bodies[0].name])
    written = [f"{time:.3g}" for time in at]
    if len(written) > _MOST_WRITTEN:
        written = [written[0], written[1], "...", written[-1]]
    words = f"t = {', '.join(written)} s"
    if drawn.name == "3d":  # a title would take room from what is fitted to the axes
        drawn.text2D(0.02, 0.02, words, transform=drawn.transAxes, fontsize=9, color=INK)
    else:
        drawn.set_title(words, fontsize=9, color=INK)
    return drawn


def draw_states(trajectory: Trajectory, times: int | ArrayLike = 5, *, frames: str | Sequence[str] = "ends",
                labels: bool = True, ground: bool = True, trail: bool = True, ax: Canvas = None) -> Canvas:
    """The same for the mechanism of a system."""
    return draw_instants(*moving_part(trajectory), times, frames=frames, labels=labels, ground=ground, trail=trail,
                         ax=ax)
