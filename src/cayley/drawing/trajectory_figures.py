"""A trajectory as a figure: its blocks and outputs, or coordinates, velocities, joint forces and energy of a mechanism,
one above the other on one axis of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.extras import optional_imports
from cayley.showing import plain_words, shown_once

with optional_imports():
    import matplotlib.pyplot as plt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cayley.systems.trajectory import Trajectory

_INK = "#333333"
_GREY = "#8793a1"
_ENERGIES = ("#1b6ca8", "#3a8d5c", "#e08b3e", "#d1495b")
_MOST_LINES = 60  # of a batch: more make no clearer picture
_TALLEST_LEGEND = 9
_MOST_EVENTS = 40


class PlotPanel(NamedTuple):
    """One picture of a figure: values (..., samples, lines) with a label and a colour each, and words of a mode."""

    title: str
    values: Array
    labels: Sequence[str]
    colours: Sequence[object]
    words: Sequence[str] = ()


def plot_trajectory(trajectory: Trajectory, names: Iterable[str] | None, joints: str | Iterable[str] | None,
                    figsize: tuple[float, float] | None) -> Figure:
    """The figure; batches are drawn as many thin lines, one colour an entry."""
    if not len(trajectory):
        raise ConventionError(f"the trajectory of {trajectory.name} has no samples: there is nothing to draw")
    panels = _of_mechanism(trajectory, joints) if trajectory.mechanism is not None and names is None \
        else _of_system(trajectory, names)
    figure, axes = plt.subplots(len(panels), 1, sharex=True, layout="constrained", squeeze=False,
                                figsize=figsize or (8.0, 2.1 * len(panels)))
    for ax, panel in zip(axes[:, 0], panels, strict=True):
        _lines(ax, trajectory, panel)
        happened = () if trajectory.batch or len(trajectory.happened) > _MOST_EVENTS else trajectory.happened
        for what in happened:  # more, as the instants of a sampled controller, would cover the curves
            ax.axvline(what.t, color=_GREY, linewidth=0.8, linestyle=":")
    axes[-1, 0].set_xlabel("t [s]")
    many = f"{'x'.join(map(str, trajectory.batch))} trajectories of " if trajectory.batch else ""
    ending = "" if trajectory.finished else f": stopped, {trajectory.status}"
    figure.suptitle(f"{many}{trajectory.name}{ending}", color=_INK)
    return shown_once(plain_words(figure))


def _of_mechanism(trajectory: Trajectory, joints: str | Iterable[str] | None) -> list[PlotPanel]:
    """Coordinates, velocities, joint forces and energy."""
    names = trajectory.joints("joints").units
    wanted = None if joints is None else {joints} if isinstance(joints, str) else set(joints)
    known = {part for labels in names.values() for name, _ in labels for part in (name, name.split(".")[0])}
    if wanted is not None and wanted - known:
        raise ConventionError(f"{trajectory.name} has no joint {min(wanted - known)!r}; it has "
                              f"{', '.join(name for name, _ in names['q'])}")
    tables = {"coordinates": (trajectory.q, names["q"]), "velocities": (trajectory.qd, names["qd"])}
    if trajectory.tau is not None and trajectory.tau.any():
        tables["joint forces"] = trajectory.tau, names["tau"]
    panels = []
    for title, (values, labels) in tables.items():
        shown = [k for k, (name, _) in enumerate(labels)
                 if wanted is None or name in wanted or name.split(".")[0] in wanted]
        units = ", ".join(dict.fromkeys(unit or "1" for _, unit in labels))
        panels.append(PlotPanel(f"{title} [{units}]", values[..., shown], [labels[k][0] for k in shown],
                            [*plt.get_cmap("turbo")(np.linspace(0.05, 0.95, max(len(shown), 2)))]))
    energies = {"kinetic": trajectory.kinetic, "potential": trajectory.potential, "work": trajectory.work,
                "total less work": trajectory.energy - trajectory.work}
    return [*panels, PlotPanel("energy [J]", np.stack([*energies.values()], axis=-1), [*energies], _ENERGIES)]


def _of_system(trajectory: Trajectory, names: Iterable[str] | None) -> list[PlotPanel]:
    """Blocks, modes and outputs, or those that are named."""
    system = trajectory.system
    units = {n: port.unit for n, port in system.output_ports.items()} | {n: b.unit for n, b in system.blocks.items()}
    known = dict.fromkeys([*system.state, *system.modes, *system.outputs])
    shown = [name for name in known if not _is_internal(name)] or list(known) if names is None else list(names)
    unknown = [name for name in shown if name not in known]
    if unknown:
        raise SignatureError(f"{system.name} has no state or output {unknown[0]!r}; it has {', '.join(known)}")
    joints = _joints(trajectory)
    panels = []
    for name in shown:
        values = trajectory[name].reshape((*trajectory.work.shape, -1))
        lines = range(values.shape[-1])
        own = joints.get("tau" if name.endswith("_tau") else name, ())
        labels = [label for label, _ in own] if len(own) == len(lines) else [f"{name}[{k}]" for k in lines]
        unit = units.get(name) or ", ".join(dict.fromkeys(unit or "1" for _, unit in own))
        panels.append(PlotPanel(f"{name} [{unit}]" if unit else name, values, labels if len(lines) > 1 else [name],
                            [f"C{k % 10}" for k in lines], system.modes.get(name, ())))
    return panels


def _is_internal(name: str) -> bool:
    """True for the memory of a sampled controller, which is drawn if it is named: its clock and held values."""
    return name.split(".")[-1] == "clock" or name.split(".")[-1].split("_")[0] == "held"


def _joints(trajectory: Trajectory) -> dict[str, list[tuple[str, str]]]:
    """Names and units of the entries of q, qd and tau, if a mechanism is a part of the system."""
    try:
        return trajectory.joints("joints").units
    except UnsupportedError:
        return {}


def _lines(ax: Axes, trajectory: Trajectory, panel: PlotPanel) -> None:
    samples = panel.values.reshape(-1, *panel.values.shape[-2:])[:_MOST_LINES]
    t = np.broadcast_to(trajectory.t, trajectory.work.shape).reshape(-1, len(trajectory))[:_MOST_LINES]
    alone = len(samples) == 1
    for k, (label, colour) in enumerate(zip(panel.labels, panel.colours, strict=False)):
        ax.plot(t.T, samples[:, :, k].T, color=colour, linewidth=1.4 if alone else 0.6, alpha=1.0 if alone else 0.5,
                drawstyle="steps-post" if panel.words else "default")[0].set_label(label)
    if panel.words:
        ax.set_yticks(range(len(panel.words)), panel.words)
    ax.set_title(panel.title, fontsize="small", loc="left", color=_INK)
    ax.grid(color="#e3e7ec", linewidth=0.6)
    ax.tick_params(labelsize="x-small")
    ax.margins(x=0.01)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if len(panel.labels) > 1 or (trajectory.mechanism is not None and panel.labels):
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False,
                  ncols=-(-len(panel.labels) // _TALLEST_LEGEND))
