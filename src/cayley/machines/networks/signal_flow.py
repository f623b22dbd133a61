"""The recursion of an open network as a block diagram: signals, and the blocks that make one of others.

A stage a body: forward through it goes x_G, backward y; between them its active part, d/dt and P_G beside Q_G and the
driver u_G of its weight. A signal is a vector (6) with its rate, so that d/dt is a block as any other, and a matrix
that changes with time takes its own rate along. Source: Tokad 2.4, Fig. 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError
from cayley.extras import optional_imports
from cayley.machines.networks.instant import Instant
from cayley.machines.networks.rigid_body import port_matrix, port_matrix_rate
from cayley.showing import shown_once

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Signal(NamedTuple):
    """A vector (6), and its rate where that is known."""

    value: Array
    rate: Array | None = None


@dataclass(frozen=True)
class SignalBlock:
    """A block that makes the signal `name` of its `inputs`: their sum with signs, taken through a matrix, whose rate is
    known too, if there is one; `kind` is "input", "constant", "sum", "matrix" or "derivative". `label` is written into
    it, `stage` and `row` say where it is drawn."""

    name: str
    kind: str
    inputs: tuple[str, ...] = ()
    signs: tuple[int, ...] = ()
    matrix: Array | None = None
    matrix_rate: Array | None = None
    label: str = ""
    stage: float = 0.0
    row: float = 0.0

    @property
    def is_output(self) -> bool:
        """True if its signal is one of the network: the wrench of a joint, or the motion of an open terminal."""
        return (self.name[0] == "y" and self.name[1:].isdigit()) or self.name.startswith("x tip")

    def output(self, signals: Sequence[Signal]) -> Signal:
        if self.kind == "derivative":
            rate = signals[0].rate
            if rate is None:
                raise ModelError(f"the block {self.name!r} needs the rate of {self.inputs[0]!r}, which is not known")
            return Signal(rate)
        if self.matrix is not None:
            return _through(self.matrix, self.matrix_rate, signals[0])
        total = sum((sign * signal.value for sign, signal in zip(self.signs, signals, strict=True)), np.zeros(6))
        rates = [signal.rate for signal in signals]
        known = [sign * rate for sign, rate in zip(self.signs, rates, strict=True) if rate is not None]
        return Signal(total, sum(known, np.zeros(6)) if len(known) == len(rates) else None)


@dataclass(frozen=True)
class BlockDiagram:
    """Blocks in an order in which each comes after its inputs."""

    name: str
    blocks: tuple[SignalBlock, ...]

    def evaluate(self, inputs: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """All signals (6) by name, of the inputs "x1", ... with their rates, and of the loads "y tip 1", ..."""
        signals: dict[str, Signal] = {}
        for block in self.blocks:
            if block.kind == "input":
                if block.name not in inputs:
                    raise ModelError(f"the input {block.name!r} of the diagram of {self.name} is missing")
                rate = rates.get(block.name)
                signals[block.name] = Signal(np.asarray(inputs[block.name]), None if rate is None else np.asarray(rate))
            elif block.kind == "constant":
                signals[block.name] = Signal(np.asarray(block.matrix))
            else:
                signals[block.name] = block.output([signals[name] for name in block.inputs])
        return {name: signal.value for name, signal in signals.items()}


def block_diagram(network: Instant, name: str = "network") -> BlockDiagram:
    """The diagram of a network at an instant, whose signals "y1", "y2", ... are the wrenches at its joints."""
    forward = [block for j in range(network.size) for block in _outward_stage(network, j)]
    tips = [block for e in range(len(network.open)) for block in _tip(network, e)]
    backward = [block for j in reversed(range(network.size)) for block in _inward_stage(network, j)]
    return BlockDiagram(name, (*forward, *tips, *backward))


def _outward_stage(network: Instant, j: int) -> list[SignalBlock]:
    k = j + 1
    parent = network.parents[j]
    inner = network.inner[j]
    found = [SignalBlock(f"x{k}", "input", label=f"x{k}", stage=k - 0.52, row=0.0)]
    terms = [f"x{k}"]
    if parent >= 0:
        carrying = network.carrying[j]
        found.append(SignalBlock(f"xa{k}", "matrix", (f"xG{parent + 1}",), matrix=port_matrix(carrying.r).T,
                           matrix_rate=port_matrix_rate(carrying.rate).T, label=f"Ka{k}ᵀ", stage=k - 0.78, row=1.0))
        terms.append(f"xa{k}")
    found.append(SignalBlock(f"xb{k}", "sum", tuple(terms), (1,) * len(terms), label="+", stage=k - 0.52, row=1.0))
    found.append(SignalBlock(f"xG{k}", "matrix", (f"xb{k}",), matrix=port_matrix(-inner.r).T,
                       matrix_rate=port_matrix_rate(-inner.rate).T, label=f"Kb{k}⁻ᵀ", stage=k - 0.2, row=1.0))
    return found


def _tip(network: Instant, e: int) -> list[SignalBlock]:
    terminal = network.open[e]
    matrix = port_matrix(terminal.arm.r)
    last = network.size + 0.75
    return [SignalBlock(f"x tip {e + 1}", "matrix", (f"xG{terminal.body + 1}",), matrix=matrix.T,
                  matrix_rate=port_matrix_rate(terminal.arm.rate).T, label="K′", stage=last, row=1.0 + 0.8 * e),
            SignalBlock(f"y tip {e + 1}", "input", label=f"y tip {e + 1}", stage=last + 0.35, row=4.0 + 0.8 * e),
            SignalBlock(f"yt{e + 1}", "matrix", (f"y tip {e + 1}",), matrix=matrix, label="K′ᵀ", stage=last,
                  row=4.0 + 0.8 * e)]


def _inward_stage(network: Instant, j: int) -> list[SignalBlock]:
    k = j + 1
    W = network.W(j)
    found = [SignalBlock(f"dxG{k}", "derivative", (f"xG{k}",), label="d/dt", stage=k - 0.2, row=2.0),
             SignalBlock(f"P{k}", "matrix", (f"dxG{k}",), matrix=W.P, label=f"P{k}", stage=k - 0.2, row=3.0),
             SignalBlock(f"Q{k}", "matrix", (f"xG{k}",), matrix=W.Q, label=f"Q{k}", stage=k + 0.02, row=2.5),
             SignalBlock(f"u{k}", "constant", matrix=network.u(j), label=f"u{k}", stage=k - 0.2, row=5.0)]
    terms = [(f"P{k}", 1), (f"Q{k}", 1), (f"u{k}", 1)]
    for child, parent in enumerate(network.parents):
        if parent == j:
            found.append(SignalBlock(f"ya{child + 1}", "matrix", (f"y{child + 1}",),
                               matrix=port_matrix(network.carrying[child].r), label=f"Ka{child + 1}",
                               stage=child + 1 - 0.78, row=4.0))
            terms.append((f"ya{child + 1}", 1))
    terms += [(f"yt{e + 1}", -1) for e, terminal in enumerate(network.open) if terminal.body == j]
    found.append(SignalBlock(f"yG{k}", "sum", tuple(name for name, _ in terms), tuple(sign for _, sign in terms),
                             label="+",
                       stage=k - 0.2, row=4.0))
    found.append(SignalBlock(f"y{k}", "matrix", (f"yG{k}",), matrix=port_matrix(-network.inner[j].r), label=f"Kb{k}⁻¹",
                       stage=k - 0.52, row=4.0))
    return found


def _through(matrix: Array, matrix_rate: Array | None, signal: Signal) -> Signal:
    value = matrix @ signal.value
    if signal.rate is None or matrix_rate is None:
        return Signal(value)
    return Signal(value, matrix @ signal.rate + matrix_rate @ signal.value)


_WIDTH = 4.4  # of a stage, in the heights of a row
_COLORS = {"matrix": "#dbe9f6", "derivative": "#fde5c8", "sum": "white", "constant": "#e3f1dc", "input": "none"}


def draw_block_diagram(diagram: BlockDiagram, axes: Axes | None = None) -> Figure:
    """The figure of a diagram, one column a body; `figure.savefig("diagram.svg")` keeps it."""
    with optional_imports():
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


def _draw_box(axes: Axes, block: SignalBlock, place: tuple[float, float]) -> None:
    shape = "circle" if block.kind == "sum" else "round"
    edge = "none" if block.kind == "input" else "#444444"
    style = {"boxstyle": f"{shape},pad=0.35", "facecolor": _COLORS[block.kind], "edgecolor": edge}
    axes.text(*place, block.label, ha="center", va="center", fontsize=8, bbox=style, zorder=3)
    if block.is_output:
        away = (1.5, 0.0) if block.name.startswith("x") else (0.0, -1.0)
        axes.annotate(block.name, place, (place[0] + away[0], place[1] + away[1]), ha="center", va="center", fontsize=8,
                      arrowprops={"arrowstyle": "<|-", "color": "#444444", "shrinkA": 4, "shrinkB": 12})


def _draw_arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], source: SignalBlock,
                target: SignalBlock,
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


def _half_width(block: SignalBlock) -> float:
    """Half the width of the box of a block, in points."""
    return 8.0 + 2.2 * len(block.label)
