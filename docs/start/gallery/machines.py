"""The pictures of docs/start/gallery/machines.md. Run `python docs/start/gallery/machines.py [folder]`."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import cayley as cy
from cayley.machines import FiveBar, FourBar, Planar3RRR, StewartPlatform, TranslationalDelta

plt.rcParams.update({"figure.dpi": 80, "font.size": 10, "axes.edgecolor": "#333333"})

RED = "#d1495b"
BLUE = "#1b6ca8"
INK = "#333333"


def hexagon(radius: float, degrees: list[float]) -> np.ndarray:
    """Six joints of a Stewart platform on a circle."""
    angles = np.radians(degrees)
    return radius * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)


def workspace_maps() -> plt.Figure:
    """What machines reach, how well, and where they are singular."""
    figure, axes = plt.subplots(2, 3, figsize=(15, 10.4), layout="constrained")
    five = FiveBar([(0.0, 0.0), (0.5, 0.0)], cranks=[0.3, 0.3], rods=[0.4, 0.4])
    three = Planar3RRR([(0.0, 0.0), (2.4, 0.0), (1.2, 2.0785)], cranks=[0.8] * 3, rods=[0.9] * 3, side=0.7)
    delta = TranslationalDelta(crank=0.3, rod=0.6, base=0.25, platform=0.08)
    stewart = StewartPlatform(hexagon(0.8, [0, 60, 120, 180, 240, 300]), hexagon(0.4, [25, 35, 145, 155, 265, 275]))
    turn = np.radians(86.0)
    turned = np.array([[np.cos(turn), -np.sin(turn), 0.0], [np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]])
    lean = np.radians(15.0)
    leaning = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(lean), -np.sin(lean)], [0.0, np.sin(lean), np.cos(lean)]])
    maps = [five.workspace(mode=1), five.workspace(mode=2, crank_limits=np.radians([-30.0, 210.0])),
            three.workspace(phi=0.2, mode=0), three.workspace(phi=0.9, mode=3),
            delta.workspace(height=0.55, mode=7, crank_limits=np.radians([-40.0, 85.0])),
            stewart.workspace(height=0.8, lengths=(0.6, 1.6), rotation=leaning @ turned)]
    for ax, found in zip(axes.flat, maps, strict=True):
        found.plot(ax=ax)
    return figure


def coupler_curves() -> plt.Figure:
    """Points of the coupler of a four-bar over a turn of its crank, in both assembly modes, and its dead centres."""
    linkage = FourBar(crank=0.12, coupler=0.41, rocker=0.29, ground=0.37)
    theta = np.linspace(-np.pi, np.pi, 721)
    figure, ax = plt.subplots(figsize=(9, 6.4), layout="constrained")
    for across, colour in zip(np.linspace(-0.2, 0.4, 7), plt.cm.viridis(np.linspace(0.1, 0.85, 7)), strict=True):
        curves = linkage.coupler_point(theta, [0.25, across])
        ax.plot(*curves[:, 1].T, color=colour, lw=1.6)
        ax.plot(*curves[:, 0].T, color=colour, lw=0.9, ls=(0, (4, 3)))
    for stop in linkage.dead_centres().rocker:
        for mode in range(2):
            psi, _ = linkage.position(stop)[mode]
            bars = np.cumsum([[0, 0], linkage.crank * _along(stop), linkage.coupler * _along(psi)], axis=0)
            if abs(np.sin(psi - stop)) < 1e-6:  # each is of one mode
                ax.plot(*bars.T, color=RED if mode else BLUE, lw=1.2, marker="o", ms=3, zorder=4)
                ax.plot(*np.array([[linkage.ground, 0], bars[-1]]).T, color=RED if mode else BLUE, lw=1.2, zorder=4)
    ax.plot([0, linkage.ground], [0, 0], "^", color=INK, ms=9, zorder=5)
    ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set(xlabel="x [m]", ylabel="y [m]")
    ax.set_title("four-bar: coupler curves in both modes, and the dead centres of the rocker", fontsize=10, loc="left")
    return figure


def catalogue_maps() -> plt.Figure:
    """Machines of the catalogue on the branch of their rest: limits of joints bound what they reach."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    excavator, delta = cy.load("excavator"), cy.load("delta")
    excavator.pictures.workspace_map("tool", start=excavator.neutral, plane="xz", task=(1, 1, 1, 0, 1, 0),
                            box=((1.0, -4.5), (7.0, 6.0)), characteristic_length=1.0, resolution=90).plot(ax=axes[0])
    delta.pictures.workspace_map("tool", start=delta.neutral, plane="xy", box=((-0.65, -0.65), (0.65, 0.65)),
                        resolution=80).plot(ax=axes[1])
    return figure


def _along(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


PICTURES = {"workspace_maps": workspace_maps, "coupler_curves": coupler_curves, "catalogue_maps": catalogue_maps}


def main(folder: Path) -> list[Path]:
    """Draw every picture into `folder`."""
    paths = []
    for name, draw in PICTURES.items():
        figure = draw()
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1])
        plt.close(figure)
    return paths


if __name__ == "__main__":
    for drawn in main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(drawn.name)
