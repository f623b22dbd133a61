"""The figures of the paper: `python paper/figures.py [folder]`. Times are those of benchmarks/README.md."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import cayley as cy

sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))
from measured import in_a_batch

OURS, OTHERS = "#2c5aa0", "#a3adb9"
METHODS = {"hollerbach-3x3": "Hollerbach, 3x3 matrices", "kane": "Kane", "featherstone": "Featherstone",
           "luh-walker-paul": "Luh, Walker, Paul", "vector-parameter-newton-euler": "vector-parameters",
           "tensor-newton-euler": "Balafoutis, Patel", "newton-euler": "Cayley, default"}
LIBRARIES = ("Cayley", "Pinocchio + CppADCodeGen", "CasADi, generated C", "Pinocchio", "Drake", "MuJoCo")


def times() -> Figure:
    figure, places = plt.subplots(1, 2, figsize=(9.5, 2.9), layout="constrained")
    for ax, function in zip(places, ("inverse dynamics", "forward dynamics"), strict=True):
        measured = in_a_batch("Panda", function)
        fastest_first = sorted(measured, key=lambda name: measured[name])
        bars(ax, {name: measured[name] for name in fastest_first if name in LIBRARIES}, {"Cayley"})
        ax.set(title=function, xlabel="ns per state")
    return figure


def counts() -> Figure:
    figure, ax = plt.subplots(figsize=(7.5, 2.9), layout="constrained")
    puma = cy.load("puma560")
    costs = {name: puma.inverse_dynamics.using(method).operations() for method, name in METHODS.items()}
    sums = {name: cost.multiplications + cost.additions for name, cost in costs.items()}
    bars(ax, dict(sorted(sums.items(), key=lambda bar: -bar[1])), {METHODS["newton-euler"]})
    ax.set_xlabel("multiplications and additions")
    return figure


def bars(ax: Axes, values: dict[str, float], ours: set[str]) -> None:
    drawn = ax.barh(list(values), list(values.values()), color=[OURS if name in ours else OTHERS for name in values])
    ax.bar_label(drawn, fmt="%.0f", padding=3)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.15 * max(values.values()))
    ax.spines[["top", "right"]].set_visible(False)


FIGURES = {"times": times, "counts": counts}


def draw(folder: Path) -> list[Path]:
    """Write all figures into a folder."""
    for name, figure in FIGURES.items():
        figure().savefig(folder / f"{name}.png", dpi=200, metadata={"Software": None})
    return [folder / f"{name}.png" for name in FIGURES]


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent)
