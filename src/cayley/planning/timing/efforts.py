"""The forces that a motion asks of the drives, whether they have them, and how much slower it must be if not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.planning.driven import check_keeps_constraints
from cayley.planning.motion import Motion
from cayley.planning.timing.limits import Machine, MotionLimits
from cayley.planning.timing.speed_limits import Worst, allowed_speed
from cayley.showing import Pictured, brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class EffortProfile(Pictured):
    """The forces `tau` (samples, n) [N or N m] of a motion at the times `t`, beside the `limits` of effort."""

    motion: Motion
    limits: MotionLimits
    t: Array
    tau: Array

    __repr__ = brief

    @property
    def margins(self) -> Array:
        """What is left to the nearer limit (samples, n), negative where there is nothing left."""
        return self.limits.effort - np.abs(self.tau)

    @cached_property
    def worst(self) -> Worst:
        """When and by which joint the speed is limited. Raises if forces at rest are beyond a limit already."""
        return allowed_speed(self.motion, self.limits, ["effort"])

    @property
    def feasible(self) -> bool:
        """Whether the limits are kept at all times, between the samples as well."""
        return self.worst.speed >= 1.0

    @property
    def speed(self) -> float:
        """How many times as fast the same motion may be: below 1, it must be slower."""
        return self.worst.speed

    def fastest(self) -> Motion:
        """The same motion in the least time that the limits of effort allow: one of them is touched."""
        return self.motion.scaled(duration=self.motion.duration / self.speed)

    def plot(self) -> Figure:
        """Positions, velocities, accelerations and forces in time, these as parts of their limits, one line a joint."""
        from cayley.planning.timing.limits_used import limit_use
        return limit_use(self.motion, self.limits).plot()


def effort_profile(machine: Machine, motion: Motion, *, effort: ArrayLike | None = None,
                   samples: int = 401) -> EffortProfile:
    """The forces of a motion, with the limits of effort that the machine's description has, or others.

    >>> import cayley as cy
    >>> from cayley.planning.rest_to_rest.two_points import point_to_point
    >>> arm = cy.load("panda")
    >>> move = point_to_point([0, -0.5, 0, -2, 0, 1.6, 0.8], [1.5, 0.5, 0, -1, 0, 1.6, 0.8], duration=0.4)
    >>> found = effort_profile(arm, move)
    >>> found.feasible, found.worst.joint, round(found.speed, 3)
    (False, 'panda_joint2', 0.851)
    """
    limits = MotionLimits.of(machine, effort=effort)
    check_keeps_constraints(machine, motion)
    t = np.linspace(motion.start, motion.end, samples)
    return EffortProfile(motion, limits, t, limits.checked_forces(t, *motion(t)))
