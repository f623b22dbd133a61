"""Pictures of a report: Matplotlib figures as embedded PNG, and energies as SVG in the colours of the page."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cayley.compiler.typing import Array, ArrayLike
from cayley.drawing import manipulability_map, payload_map, workspace
from cayley.drawing.payload_maps import PayloadMap
from cayley.drawing.views import view_of
from cayley.drawing.workspaces import Workspace
from cayley.errors import CayleyError
from cayley.model.tree import Tree
from cayley.simulation import Trajectory
from cayley.studio.sliders import keeps_closed

_DPI = 130
_LARGEST = 112  # points of the screen for an inch of a picture: larger it would look coarse
_SAMPLES = 120_000
_NAMED = 4  # joints in the words about a payload
# of the SVG
_WIDTH = 760
_HEIGHT = 250
_LEFT = 66
_RIGHT = 22
_TOP = 14
_BOTTOM = 40


def picture(figure: Figure, alternative: str) -> str:
    """A Matplotlib figure as an <img> that holds its data, in a box that scrolls before it gets too small to read."""
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=_DPI, facecolor="white")
    width, height = figure.get_size_inches()
    return (
        f'<div class="picture" style="flex:{width / height:.3f} 1 {40 * width:.0f}px;'
        f'max-width:min(100%, {_LARGEST * width:.0f}px)"><img '
        f'style="min-width:{57 * width:.0f}px" '
        f'alt="{escape(alternative)}" src="data:image/png;base64,{b64encode(stream.getvalue()).decode()}"></div>')


def reachable(tree: Tree, frame: str) -> Workspace | CayleyError:
    """The workspace of a frame, or why there is none."""
    try:
        return workspace(tree, frame, samples=None if keeps_closed(tree) else _SAMPLES)
    except CayleyError as why:
        return why


def workspace_picture(space: Workspace) -> str:
    flat = view_of(space.tree).flat
    figure = Figure(figsize=(6.6, 5.6) if flat else (10.5, 5.2), layout="constrained")
    space.draw(figure=figure)
    return picture(figure, f"Reach of {space.frame} of {space.tree.name}")


def manipulability_picture(tree: Tree, frame: str) -> str:
    """Manipulability of a frame over a section of the workspace, or a sentence why there is no map."""
    if keeps_closed(tree):
        return ('<p class="note">No manipulability map: the mechanism has loops. '
                "<code>arm.pictures.workspace_map(...)</code> draws one over a rectangle of a plane.</p>")
    try:
        found = manipulability_map(tree, frame, over="section", samples=_SAMPLES)
    except CayleyError as why:
        return f'<p class="note">No manipulability map: {escape(str(why))}.</p>'
    figure = Figure(figsize=(5.4, 5.2), layout="constrained")
    found.draw(ax=figure.add_subplot())
    return picture(figure, f"Manipulability of {frame} of {tree.name}")


def payload_section(space: Workspace, effort: ArrayLike | None) -> str:
    """Chart of the load that the drives can hold at each position, or a sentence why there is none."""
    try:
        found = payload_map(space.tree, space.frame, effort=effort, space=space)
    except CayleyError as why:
        return f'<p class="note">No payload chart: {escape(str(why))}.</p>'
    figure = Figure(figsize=(9.4, 4.6), layout="constrained")
    found.draw(figure=figure)
    shown = picture(figure, f"Payload of {space.frame} of {space.tree.name} over its workspace")
    return f'<p>{escape(_payload_words(found))}</p><div class="pictures">{shown}</div>'


def _payload_words(found: PayloadMap) -> str:
    if found.everywhere > 0.0:
        carried = f"The drives hold {found.everywhere:.3g} kg at {found.frame} in every posture that was tried."
    else:
        carried = "In some postures the drives cannot hold the weight of the mechanism itself."
    first = [f"{name} ({100 * share:.0f} %)" for name, share in found.first.items() if share >= 0.005][:_NAMED]
    return (f"{carried} The first joint to saturate, with its share of postures: {', '.join(first)}. The payload is a "
            "point mass at rest, in addition to what the mechanism already carries. Motion needs larger forces.")


class EnergyPlot:
    """The energies of a motion over time as an SVG, with a cursor that a script can move from `left` to `right`."""

    left = float(_LEFT)
    right = float(_WIDTH - _RIGHT)

    def __init__(self, motion: Trajectory) -> None:
        self.motion = motion
        self.curves = {"kinetic": motion.kinetic, "potential": motion.potential, "total": motion.energy}
        values = np.concatenate(list(self.curves.values()))
        self.ticks = MaxNLocator(5).tick_values(values.min(), max(values.max(), values.min() + 1e-9))

    def svg(self) -> str:
        lines = "".join(f'<polyline class="{name}" points="{self._points(curve)}"/>'
                        for name, curve in self.curves.items())
        levels = "".join(
            f'<line class="level" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{self._y(e):.1f}" y2="{self._y(e):.1f}"/>'
            f'<text x="{_LEFT - 8}" y="{self._y(e) + 4:.1f}" text-anchor="end">{_minus(e)}</text>' for e in self.ticks)
        seconds = "".join(f'<text x="{self._x(t):.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{t:g} s</text>'
                          for t in MaxNLocator(8).tick_values(0.0, self.motion.t[-1]) if 0 <= t <= self.motion.t[-1])
        cursor = f'<line id="cursor" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        return (
            f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Energies of the motion in '
            f'joules">'
            f"{levels}{seconds}{lines}{cursor}</svg>")

    def _points(self, curve: Array) -> str:
        return " ".join(f"{self._x(t):.1f},{self._y(e):.1f}" for t, e in zip(self.motion.t, curve, strict=True))

    def _x(self, t: float) -> float:
        return self.left + (self.right - self.left) * t / max(self.motion.t[-1], 1e-9)

    def _y(self, energy: float) -> float:
        low = self.ticks[0]
        high = self.ticks[-1]
        return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * (energy - low) / (high - low)


def _minus(value: float) -> str:
    return f"{value:g}".replace("-", "−")
