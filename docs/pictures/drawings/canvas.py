"""What the pictures are drawn with: arrows, frames and dimensions in space and in a plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import FancyArrowPatch

from cayley.geometry.rotations import matrix_from_vector_parameter

RED, GREEN, BLUE, GREY, ORANGE = "#c0392b", "#2e8b57", "#2c5aa0", "#777777", "#d9822b"


def in_space(figure: Any, *place: int, elev: float = 22, azim: float = -58) -> Any:
    ax = figure.add_subplot(*place, projection="3d")
    ax.view_init(elev=elev, azim=azim)
    ax.set_axis_off()
    return ax


def arrow(ax: Any, start: Any, along: Any, color: str, text: str = "", *, width: float = 2.0, push: float = 1.12,
          style: str = "-") -> None:
    start, along = np.asarray(start, dtype=float), np.asarray(along, dtype=float)
    ax.quiver(*start, *along, color=color, linewidth=width, arrow_length_ratio=0.16, linestyle=style)
    if text:
        ax.text(*(start + push * along), text, color=color, ha="center", va="center")


def triad(ax: Any, pose: np.ndarray, name: str = "", length: float = 0.28) -> None:
    for k, (color, letter) in enumerate(zip((RED, GREEN, BLUE), "xyz", strict=True)):
        arrow(ax, pose[:3, 3], length * pose[:3, k], color, f"${letter}_{{{name}}}$" if name else f"${letter}$",
              push=1.3)


def line(ax: Any, points: Any, color: str = GREY, style: str = "-", width: float = 1.2) -> None:
    ax.plot(*np.asarray(points, dtype=float).T, color=color, linestyle=style, linewidth=width)


def dimension(ax: Any, start: Any, end: Any, text: str, away: Any = (0.0, 0.0, 0.0)) -> None:
    """A length with its name beside the middle."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    line(ax, [start, end], ORANGE, width=3.0)
    ax.text(*((start + end) / 2 + np.asarray(away)), text, color=ORANGE, ha="center", va="center", fontsize=12)


def axis_line(ax: Any, point: Any, direction: Any, name: str, reach: float = 0.75) -> None:
    point, direction = np.asarray(point, dtype=float), np.asarray(direction, dtype=float)
    line(ax, [point - 0.45 * reach * direction, point + reach * direction], GREY, (0, (8, 3, 2, 3)))
    ax.text(*(point + 1.12 * reach * direction), name, color="#444444", ha="center")


def around(center: Any, axis: Any, start: Any, angle: float, size: float) -> np.ndarray:
    """Points of an arc."""
    turns = [
        matrix_from_vector_parameter(np.tan(a / 2) * np.asarray(axis)) @ np.asarray(start)
        for a in np.linspace(0.0, angle, 40)]
    return np.asarray(center) + size * np.array(turns)


def equal(ax: Any, low: Any, high: Any) -> None:
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_zlim(low[2], high[2])
    ax.set_box_aspect(np.subtract(high, low), zoom=1.25)


def flat(ax: Any, x: tuple[float, float], y: tuple[float, float]) -> None:
    ax.set(xlim=x, ylim=y, aspect="equal")
    ax.set_axis_off()


def flat_arrow(ax: Any, start: Any, along: Any, color: str, text: str = "", *, above: float = 0.0) -> None:
    end = np.add(start, along)
    ax.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=color, linewidth=2, shrinkA=0, shrinkB=0,
                        zorder=9))
    if text:
        out = np.asarray(along) / np.linalg.norm(along)
        ax.annotate(text, end, xytext=(9 * out[0], 9 * out[1] + 100 * above), textcoords="offset points", color=color,
                    zorder=9, ha="left" if out[0] > 0.3 else "right" if out[0] < -0.3 else "center",
                    va="bottom" if out[1] > 0.3 else "top" if out[1] < -0.3 else "center")


def flat_triad(ax: Any, origin: Any, angle: float, name: str, first: str, second: str, length: float = 1.0) -> None:
    for turn, color, letter in ((0.0, first, "x"), (np.pi / 2, second, "y")):
        a = angle + turn
        flat_arrow(ax, origin, (length * np.cos(a), length * np.sin(a)), color,
                   f"${letter}_{{{name}}}$" if name else f"${letter}$")


def flat_turn(ax: Any, center: Any, size: float, color: str, text: str, away: Any = (0.0, 0.0)) -> None:
    center = np.asarray(center)
    start, end = center + size * np.array([1.0, 0.0]), center + size * np.array([-0.75, 0.66])
    ax.add_patch(
        FancyArrowPatch(start, end, connectionstyle="arc3,rad=0.75", arrowstyle="-|>", mutation_scale=14, color=color,
                        linewidth=2, zorder=9))
    ax.text(*(center + np.asarray(away)), text, color=color, ha="center", va="center", zorder=9)


def quiet(figure: Any, *axes: Any) -> Any:
    for ax in axes:
        ax.grid(color="#e3e7ec", linewidth=0.6)
        ax.margins(x=0.01)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return figure
