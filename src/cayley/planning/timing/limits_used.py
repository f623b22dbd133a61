"""What a motion uses of the limits of its joints: the greatest values, and how they go in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.planning.motion import Motion
from cayley.planning.timing.limits import KINDS, MotionLimits
from cayley.planning.timing.speed_limits import sample_times
from cayley.showing import Pictured, brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class LimitUse(Pictured):
    """Velocity, acceleration, jerk and effort, by these words, at the times `t` (samples): `values` (samples, n) and
    the greatest of each joint, `greatest` (n). Without a machine there are no efforts.
    """

    motion: Motion
    limits: MotionLimits
    t: Array
    values: dict[str, Array]

    __repr__ = brief

    @property
    def greatest(self) -> dict[str, Array]:
        """The greatest values (n), without sign."""
        return {kind: np.abs(each).max(axis=0) for kind, each in self.values.items()}

    @property
    def parts(self) -> dict[str, Array]:
        """The greatest values in parts of their limits (n); 0 where there is no limit, or nothing moves."""
        found = {}
        for kind, most in self.greatest.items():
            bounds = getattr(self.limits, kind)
            found[kind] = np.divide(most, bounds, out=np.zeros_like(most), where=(bounds > 0.0) & np.isfinite(bounds))
        return found

    def plot(self) -> Figure:
        """Positions, and below them what is limited, as parts of the limits, one line a joint."""
        from cayley.planning.timing.limit_plot import plot
        return plot(self)


def limit_use(motion: Motion, limits: MotionLimits) -> LimitUse:
    """What a motion uses of the limits, at samples that see both sides of its breaks.

    >>> from cayley.planning.rest_to_rest.two_points import point_to_point
    >>> limits = MotionLimits(velocity=1.0, acceleration=[4.0, 2.0])
    >>> limit_use(point_to_point([0.0, 0.0], [1.0, 0.5], limits=limits), limits).parts["velocity"].round(6)
    array([1. , 0.5])
    """
    limits = limits.resized(motion.nv)
    t = np.unique(np.concatenate([sample_times(motion), np.linspace(motion.start, motion.end, 801)]))
    q, *rates = motion.derivatives(t)
    values = dict(zip(KINDS, rates, strict=False))
    if limits.machine is not None and limits.has_efforts:
        values["effort"] = limits.checked_forces(t, q, rates[0], rates[1])
    return LimitUse(motion, limits, t, values)
