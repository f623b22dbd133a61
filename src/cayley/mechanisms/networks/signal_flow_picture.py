"""A block diagram drawn: boxes a stage, forward path above, backward path below, between them what is active."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.mechanisms.networks.signal_flow import Block, BlockDiagram

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
        _, axes = pyplot.subplots(figsize=(2.6 * stages + 1.4, 4.2))
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
    return figure


def _draw_box(axes: Axes, block: Block, place: tuple[float, float]) -> None:
    shape = "circle" if block.kind == "sum" else "round"
    edge = "none" if block.kind == "input" else "#444444"
    style = {"boxstyle": f"{shape},pad=0.35", "facecolor": _COLORS[block.kind], "edgecolor": edge}
    axes.text(*place, block.label, ha="center", va="center", fontsize=8, bbox=style, zorder=3)
    if block.name[0] == "y" and block.name[1:].isdigit():
        axes.annotate(block.name, place, (place[0], place[1] - 1.0), ha="center", va="center", fontsize=8,
                      arrowprops={"arrowstyle": "<|-", "color": "#444444", "shrinkB": 10})


def _draw_arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], source: Block, target: Block,
                sign: int) -> None:
    bent = abs(start[0] - end[0]) > 1e-9 and abs(start[1] - end[1]) > 1e-9
    bend = "angle,angleA=0,angleB=90,rad=3" if source.row == 1.0 else "angle,angleA=90,angleB=0,rad=3"
    arrow = {"arrowstyle": "-|>", "color": "#444444", "linewidth": 0.9, "shrinkA": 10, "shrinkB": 10,
             "connectionstyle": (bend if bent else "arc3")}
    axes.annotate("", end, start, arrowprops=arrow, zorder=2)
    if sign < 0:
        axes.text(end[0] + 0.5, end[1] + 0.12, "−", fontsize=9)
