"""A trajectory as a figure: coordinates, velocities, joint forces, energy, one above the other on one axis of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ConventionError
from cayley.showing import plain_words, shown_once
from cayley.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK = "#333333"
_GREY = "#8793a1"
_MOST_LINES = 60  # of a batch: more make no clearer picture
_TALLEST_LEGEND = 9
_FORCES = {"rad": "N m", "m": "N"}


def plot(trajectory: Trajectory, *, joints: Iterable[str] | None = None,
         figsize: tuple[float, float] | None = None) -> Figure:
    """The figure; batches are drawn as many thin lines, one colour a coordinate."""
    if not len(trajectory):
        raise ConventionError(f"the trajectory of {trajectory.name} has no samples: there is nothing to draw")
    wanted = None if joints is None else {joints} if isinstance(joints, str) else set(joints)
    known = {
        part
        for name, _ in (*trajectory.coordinates, *trajectory.velocities)
        for part in (name, name.split(".")[0])}
    if wanted is not None and wanted - known:
        names = ", ".join(name for name, _ in trajectory.coordinates)
        raise ConventionError(f"{trajectory.name} has no joint {min(wanted - known)!r}; it has {names}")
    panels = [("coordinates", trajectory.q, trajectory.coordinates, ""),
              ("velocities", trajectory.qd, trajectory.velocities, "/s")]
    if trajectory.tau is not None and trajectory.tau.any():
        panels.append(
            ("joint forces", trajectory.tau, tuple((name, _FORCES[unit]) for name, unit in trajectory.velocities), ""))
    figure, axes = plt.subplots(len(panels) + 1, 1, sharex=True, layout="constrained", squeeze=False,
                                figsize=figsize or (8.0, 2.1 * (len(panels) + 1)))
    for ax, (title, values, labels, per) in zip(axes[:, 0], panels, strict=False):
        _lines(ax, trajectory.t, values, labels, wanted, f"{title} [{_units(labels, per)}]")
    _energies(axes[-1, 0], trajectory)
    for ax in axes[:, 0]:
        for event in trajectory.happened[:200]:
            ax.axvline(event.t, color=_GREY, linewidth=0.8, linestyle=":")
    axes[-1, 0].set_xlabel("t [s]")
    many = f"{'x'.join(map(str, trajectory.batch))} trajectories of " if trajectory.batch else ""
    ending = "" if trajectory.finished else f": stopped, {trajectory.status}"
    figure.suptitle(f"{many}{trajectory.name}{ending}", color=_INK)
    return shown_once(plain_words(figure))


def _lines(ax: Axes, t: Array, values: Array, labels: Sequence[tuple[str, str]], wanted: set[str] | None,
           title: str) -> None:
    flat = values.reshape(-1, *values.shape[-2:])[:_MOST_LINES]
    shown = [
        k for k, (name, _) in enumerate(labels) if wanted is None or name in wanted or name.split(".")[0] in wanted]
    colours = plt.get_cmap("turbo")(np.linspace(0.05, 0.95, max(len(shown), 2)))
    for k, colour in zip(shown, colours, strict=False):
        drawn = ax.plot(t, flat[:, :, k].T, color=colour, linewidth=1.4 if len(flat) == 1 else 0.6,
                        alpha=1.0 if len(flat) == 1 else 0.5)
        drawn[0].set_label(labels[k][0])
    _styled(ax, title)
    if shown:
        columns = -(-len(shown) // _TALLEST_LEGEND)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False, ncols=columns)


def _energies(ax: Axes, trajectory: Trajectory) -> None:
    parts = [("kinetic", trajectory.kinetic, "#1b6ca8"), ("potential", trajectory.potential, "#3a8d5c"),
             ("work", trajectory.work, "#e08b3e"), ("total less work", trajectory.energy - trajectory.work, "#d1495b")]
    for name, values, colour in parts:
        flat = values.reshape(-1, values.shape[-1])[:_MOST_LINES]
        ax.plot(trajectory.t, flat.T, color=colour, linewidth=1.4 if len(flat) == 1 else 0.6)[0].set_label(name)
    _styled(ax, "energy [J]")
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)


def _styled(ax: Axes, title: str) -> None:
    ax.set_title(title, fontsize="small", loc="left", color=_INK)
    ax.grid(color="#e3e7ec", linewidth=0.6)
    ax.tick_params(labelsize="x-small")
    ax.margins(x=0.01)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _units(labels: Sequence[tuple[str, str]], per: str) -> str:
    return ", ".join(dict.fromkeys(f"{unit or '1'}{per}" for _, unit in labels))
