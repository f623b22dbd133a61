"""What a motion uses of its limits, drawn: one row a kind, the limits as lines at 1 and -1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from cayley.showing import shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayley.planning.timing.limits_used import LimitUse

_GREY = "#8a94a0"


def plot(use: LimitUse) -> Figure:
    """The figure. Joints without a limit of a kind are drawn dashed, as parts of their own greatest value; kinds that
    have no limit at all are left out, but for velocity and acceleration."""
    kinds = [kind for kind in use.values
             if kind in ("velocity", "acceleration") or np.isfinite(getattr(use.limits, kind)).any()]
    figure, axes = plt.subplots(1 + len(kinds), 1, sharex=True, layout="constrained",
                                figsize=(8.0, 1.9 * (1 + len(kinds))))
    q = use.motion.position(use.t)
    named = use.motion.nq == use.motion.nv
    for place in range(use.motion.nq):
        axes[0].plot(use.t, q[:, place], color=f"C{place % 10}", linewidth=1.4,
                     label=use.limits.name(place) if named else f"q{place}")
    axes[0].set_title("position", fontsize="small", loc="left")
    axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small", frameon=False)
    for ax, kind in zip(axes[1:], kinds, strict=True):
        bounds = getattr(use.limits, kind)
        for joint, values in enumerate(use.values[kind].T):
            limited = np.isfinite(bounds[joint]) and bounds[joint] > 0.0
            unit = bounds[joint] if limited else np.abs(values).max() or 1.0
            ax.plot(use.t, values / unit, "-" if limited else "--", color=f"C{joint % 10}", linewidth=1.2)
        for limit in (-1.0, 1.0):
            ax.axhline(limit, color=_GREY, linewidth=0.8)
        ax.set_ylim(-1.15, 1.15)
        ax.set_title(f"{kind} / limit", fontsize="small", loc="left")
    for ax in axes:
        ax.grid(color="#e3e7ec", linewidth=0.6)
        ax.margins(x=0.0)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    axes[-1].set_xlabel("t [s]")
    return shown_once(figure)
