"""A block diagram drawn: boxes a stage, forward path above, backward path below, between them what is active."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.machines.networks.signal_flow import Block, BlockDiagram
from cayley.showing import shown_once

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH = 4.4  # of a stage, in the heights of a row
_COLORS = {"matrix": "#dbe9f6", "derivative": "#fde5c8", "sum": "white", "constant": "#e3f1dc", "input": "none"}


def draw_block_diagram(diagram: BlockDiagram, axes: Axes | None = None) -> Figure:
    """The figure of a diagram, one column a body; `figure.savefig("diagram.svg")` keeps it."""
    from matplotlib import pyplot

    if axes is None:
        stages = max(block.stage for block in diagram.blocks)
        axes = pyplot.figure(figsize=(1.9 * stages + 1.0, 3.6)).add_axes((0.0, 0.0, 1.0, 0.92))
    places = {block.name: (_WIDTH * block.stage, -block.row) for block in diagram.blocks}
    by_name = {block.name: block for block in diagram.blocks}
    for block in diagram.blocks:
        _draw_box(axes, block, places[block.name])
        for name, sign in zip(block.inputs, block.signs or (1,) * len(block.inputs), strict=True):
            _draw_arrow(axes, places[name], places[block.name], by_name[name], block, sign)
    axes.set_title(f"{diagram.name}: motion outwards above, wrenches inwards below")
    axes.set_aspect("equal")
    xs, ys = zip(*places.values(), strict=True)
    axes.set_xlim(min(xs) - 1.0, max(xs) + 1.0)
    axes.set_ylim(min(ys) - 1.4, max(ys) + 0.6)
    axes.axis("off")
    figure = axes.get_figure(root=True)
    assert figure is not None
    return shown_once(figure)


def _draw_box(axes: Axes, block: Block, place: tuple[float, float]) -> None:
    shape = "circle" if block.kind == "sum" else "round"
    edge = "none" if block.kind == "input" else "#444444"
    style = {"boxstyle": f"{shape},pad=0.35", "facecolor": _COLORS[block.kind], "edgecolor": edge}
    axes.text(*place, block.label, ha="center", va="center", fontsize=8, bbox=style, zorder=3)
    if block.is_output:
        away = (1.5, 0.0) if block.name.startswith("x") else (0.0, -1.0)
        axes.annotate(block.name, place, (place[0] + away[0], place[1] + away[1]), ha="center", va="center", fontsize=8,
                      arrowprops={"arrowstyle": "<|-", "color": "#444444", "shrinkA": 4, "shrinkB": 12})


def _draw_arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], source: Block, target: Block,
                sign: int) -> None:
    bent = abs(start[0] - end[0]) > 1e-9 and abs(start[1] - end[1]) > 1e-9
    bend = "angle,angleA=0,angleB=90,rad=3" if source.row == 1.0 else "angle,angleA=90,angleB=0,rad=3"
    level = source.row == target.row
    arrow = {"arrowstyle": "-|>", "color": "#444444", "linewidth": 0.9, "shrinkA": _half_width(source) if level else 10,
             "shrinkB": _half_width(target) if level else 10,
             "connectionstyle": (bend if bent else "arc3")}
    axes.annotate("", end, start, arrowprops=arrow, zorder=2)
    if sign < 0:
        axes.text(end[0] + 0.5, end[1] + 0.12, "−", fontsize=9)


def _half_width(block: Block) -> float:
    """Of the box of a block, in points."""
    return 8.0 + 2.2 * len(block.label)
