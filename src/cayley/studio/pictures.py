"""Pictures and tables of a report: Matplotlib figures as embedded PNG, forces as SVG in the colours of the page, and
tables of words as HTML, each in a box of its own that scrolls when it is wider than the page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from io import BytesIO

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.law_trial import FORCE_UNITS
from cayley.drawing import manipulability_map, payload_map, workspace
from cayley.drawing.payload_maps import PayloadMap
from cayley.drawing.views import view_of
from cayley.drawing.workspaces import Workspace
from cayley.errors import CayleyError
from cayley.extras import optional_imports
from cayley.model.denavit_hartenberg.table import DHTable, length_in_words, moving_number
from cayley.model.report import TextTable
from cayley.model.tree import Tree
from cayley.studio.opening_motion import OpeningMotion
from cayley.studio.sliders import keeps_closed

with optional_imports():
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

_DPI = 130
_NARROW = 7.0  # inches: such a picture fits a phone
_LARGEST = 112  # points of the screen for an inch of a picture: larger it would look coarse
_SAMPLES = 120_000
_NAMED = 4  # joints in the words about a payload
# of the SVG
_CURVES = 8
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
        f'style="min-width:{min(57 * width, 320 if width < _NARROW else np.inf):.0f}px" '
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
    space.plot(figure=figure)
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
    found.plot(ax=figure.add_subplot())
    return picture(figure, f"Manipulability of {frame} of {tree.name}")


def payload_section(space: Workspace, effort: ArrayLike | None) -> str:
    """Chart of the load that the drives can hold at each position, or a sentence why there is none."""
    try:
        found = payload_map(space.tree, space.frame, effort=effort, space=space)
    except CayleyError as why:
        return f'<p class="note">No payload chart: {escape(str(why))}.</p>'
    figure = Figure(figsize=(9.4, 4.6), layout="constrained")
    found.plot(figure=figure)
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


class ForcePlot:
    """The forces of drives over time as an SVG, with a cursor that a script can move from `left` to `right`; of many
    drives the ones with the largest forces."""

    left = float(_LEFT)
    right = float(_WIDTH - _RIGHT)

    def __init__(self, motion: OpeningMotion) -> None:
        self.t = motion.t
        largest = np.argsort(-np.abs(motion.tau).max(axis=0), kind="stable")[:_CURVES]
        self.curves = {motion.drives[k]: motion.tau[:, k] for k in sorted(largest)}
        self.few = len(self.curves) < len(motion.drives)
        values = np.concatenate([*self.curves.values(), np.zeros(1)])
        self.ticks = MaxNLocator(5).tick_values(values.min(), max(values.max(), values.min() + 1e-9))

    def svg(self) -> str:
        lines = "".join(f'<polyline class="c{k}" points="{self._points(curve)}"/>'
                        for k, curve in enumerate(self.curves.values()))
        levels = "".join(
            f'<line class="level" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{self._y(e):.1f}" y2="{self._y(e):.1f}"/>'
            f'<text x="{_LEFT - 8}" y="{self._y(e) + 4:.1f}" text-anchor="end">{_minus(e)}</text>' for e in self.ticks)
        seconds = "".join(f'<text x="{self._x(t):.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{t:g} s</text>'
                          for t in MaxNLocator(4).tick_values(0.0, self.t[-1]) if 0 <= t <= self.t[-1])
        cursor = f'<line id="cursor" x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
        return (f'<svg class="plot" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Forces of the drives">'
                f"{levels}{seconds}{lines}{cursor}</svg>")

    def key(self) -> str:
        """The names of the curves with their units."""
        return " ".join(f'<span class="key c{k}">{escape(name)} [{FORCE_UNITS[unit]}]</span>'
                        for k, (name, unit) in enumerate(self.curves))

    def _points(self, curve: Array) -> str:
        return " ".join(f"{self._x(t):.1f},{self._y(e):.1f}" for t, e in zip(self.t, curve, strict=True))

    def _x(self, t: float) -> float:
        return self.left + (self.right - self.left) * t / max(self.t[-1], 1e-9)

    def _y(self, force: float) -> float:
        low = self.ticks[0]
        high = self.ticks[-1]
        return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * (force - low) / (high - low)


def _minus(value: float) -> str:
    return f"{value:g}".replace("-", "−")


_NOTHING = {"", "0", "inf", "-inf"}
_FIRST = 1  # columns that are always kept: numbers or names
_NUMBER = set("0123456789+-.e()n^/∞°− ")
_LONG = 30  # rows that are shown at once
_MANY = 8  # columns that are set closely
_WIDE = 32  # characters of a column that may be broken into lines


def html_table(table: TextTable, *, bars: int | None = None, title: str | None = None) -> str:
    """The table with its title; `bars`: a column of numbers that is drawn as bars as well.

    >>> html_table(TextTable("Sizes", ("part", "mm"), (("rod", "12"),)))
    '<figure class="table"><figcaption>Sizes</figcaption>...<td>rod</td><td
    class="number">12</td></tr></tbody></table></div></figure>'
    """
    longest = max([_value(row[bars]) for row in table.rows], default=0.0) if bars is not None else 0.0
    numeric = [all(_is_number(row[k]) for row in table.rows) for k in range(len(table.columns))]
    wide = [
        not numeric[k] and max([len(row[k]) for row in table.rows], default=0) > _WIDE
        for k in range(len(table.columns))]
    head = "".join(f"<th{_class(numeric[k])}>{_words(column)}</th>" for k, column in enumerate(table.columns))
    body = "".join(
        "<tr>" + "".join(_cell(row[k], numeric[k], wide[k], longest if k == bars else 0.0) for k in range(len(row)))
        + "</tr>" for row in table.rows)
    box = "scroll long" if len(table.rows) > _LONG else "scroll"
    if len(table.columns) > _MANY:
        box += " dense"
    caption = escape(table.title if title is None else title)
    return (
        f'<figure class="table"><figcaption>{caption}</figcaption><div '
        f'class="{box}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></figure>")


def informative(table: TextTable) -> TextTable:
    """The table without columns that say nothing in any row: no limit, no friction, nothing that mimics.

    >>> informative(TextTable("Joints", ("name", "upper [rad]", "mimics"), (("a", "inf", ""),))).columns
    ('name',)
    """
    kept = [k for k, cells in enumerate(zip(*table.rows, strict=True)) if k < _FIRST or not set(cells) <= _NOTHING]
    kept = kept or list(range(len(table.columns)))
    return TextTable(table.title, tuple(table.columns[k] for k in kept),
                     tuple(tuple(row[k] for k in kept) for row in table.rows))


def dh_words(table: DHTable, end: str) -> TextTable:
    """A Denavit-Hartenberg table of the joints up to a frame in words, angles in degrees."""
    rows: list[tuple[str, ...]] = []
    for i, row in enumerate(table.rows, 1):
        theta = _degrees(row.theta)
        d = length_in_words(row.d)
        a = length_in_words(row.a)
        alpha = _degrees(row.alpha)
        if row.kind == "revolute":
            theta = moving_number(i, row.theta, _degrees)
        else:
            d = moving_number(i, row.d, length_in_words)
        rows.append((str(i), row.kind, theta, d, a, alpha))
    ends = "".join(f"; {name} at {words}" for name, words in table.ends.items())
    title = f"Denavit-Hartenberg, {table.convention} convention, the joints from the root to {end}{ends}"
    return TextTable(title, ("i", "joint", "θ", "d [m]", "a [m]", "α"), tuple(rows))


def _degrees(angle: float) -> str:
    return f"{angle * 57.29577951308232 + 0.0:.6g}°"


def _cell(word: str, numeric: bool, wide: bool, longest: float) -> str:
    bar = f'<i style="width:{100 * _value(word) / longest:.1f}%"></i>' if longest else ""
    return f"<td{_class(numeric, wide)}>{bar}{_words(word)}</td>"


def _words(text: str) -> str:
    return escape({"inf": "∞", "-inf": "−∞"}.get(text, text).replace("->", "→"))


def _class(numeric: bool, wide: bool = False) -> str:
    return ' class="number"' if numeric else ' class="wide"' if wide else ""


def _value(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return 0.0


def _is_number(word: str) -> bool:
    """One number, or a formula with its value, or nothing."""
    return set(word.replace("inf", "")) <= _NUMBER and (" " not in word or "(" in word)


def listed(sentences: Sequence[str]) -> str:
    """Sentences as a list."""
    return f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in sentences)}</ul>" if sentences else ""
