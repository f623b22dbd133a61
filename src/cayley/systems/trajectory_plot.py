"""The trajectory of a system as a figure: its blocks and outputs, one above the other on one axis of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from cayley.errors import SignatureError
from cayley.showing import plain_words, shown_once

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from cayley.systems.trajectory import SystemTrajectory

_MOST_LINES = 60  # of a batch: more make no clearer picture
_GREY = "#8793a1"


def plot(trajectory: SystemTrajectory, names: Iterable[str] | None) -> Figure:
    """The figure; batches are drawn as many thin lines, one colour an entry."""
    system = trajectory.system
    if not len(trajectory):
        raise SignatureError(f"the trajectory of {system.name} has no samples: there is nothing to draw")
    known = dict.fromkeys([*system.state, *system.modes, *system.outputs])
    shown = list(known) if names is None else list(names)
    unknown = [name for name in shown if name not in known]
    if unknown:
        raise SignatureError(f"{system.name} has no state or output {unknown[0]!r}; it has {', '.join(known)}")
    figure, axes = plt.subplots(len(shown), 1, sharex=True, layout="constrained", squeeze=False,
                                figsize=(8.0, 2.0 * len(shown)))
    for ax, name in zip(axes[:, 0], shown, strict=True):
        _lines(ax, trajectory, name)
    if not trajectory.batch:
        for what in trajectory.happened[:200]:
            for ax in axes[:, 0]:
                ax.axvline(what.t, color=_GREY, linewidth=0.8, linestyle=":")
    axes[-1, 0].set_xlabel("t [s]")
    figure.suptitle(system.name if trajectory.finished else f"{system.name}: stopped, {trajectory.status}")
    return shown_once(plain_words(figure))


def _lines(ax: Axes, trajectory: SystemTrajectory, name: str) -> None:
    system = trajectory.system
    units = {n: port.unit for n, port in system.output_ports.items()} | {n: b.unit for n, b in system.blocks.items()}
    unit = units.get(name, "")
    values = trajectory[name]
    samples = values.reshape(-1, len(trajectory), int(np.prod(values.shape[len(trajectory.batch) + 1:])))[:_MOST_LINES]
    t = np.broadcast_to(trajectory.t, (*trajectory.batch, len(trajectory))).reshape(-1, len(trajectory))[:_MOST_LINES]
    for k in range(samples.shape[-1]):
        drawn = ax.plot(t.T, samples[:, :, k].T, color=f"C{k % 10}", linewidth=1.4 if len(samples) == 1 else 0.6,
                        drawstyle="steps-post" if name in system.modes else "default")
        drawn[0].set_label(f"{name}[{k}]" if samples.shape[-1] > 1 else name)
    if name in system.modes:
        ax.set_yticks(range(len(system.modes[name])), system.modes[name])
    ax.set_title(f"{name} [{unit}]" if unit else name, fontsize="small", loc="left")
    ax.grid(color="#e3e7ec", linewidth=0.6)
    if samples.shape[-1] > 1:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)
