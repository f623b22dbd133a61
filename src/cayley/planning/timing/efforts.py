"""The efforts of a motion beside the limits of the drives, and how much of all limits of its joints a motion uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.extras import optional_imports
from cayley.model.coordinate_labels import velocity_labels
from cayley.planning.driven import check_keeps_constraints
from cayley.planning.motion import Motion, panel
from cayley.planning.timing.limits import KINDS, DrivenMechanism, MotionLimits, Worst, allowed_speed, sample_times
from cayley.showing import Pictured, brief, shown_once

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_GREY = "#8a94a0"


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
        """The distance to the nearer limit (samples, n), negative beyond it."""
        return self.limits.effort - np.abs(self.tau)

    @cached_property
    def worst(self) -> Worst:
        """The time at which the speed is limited, and the joint that limits it. Raises if forces at rest are beyond a
        limit already."""
        return allowed_speed(self.motion, self.limits, ["effort"])

    @property
    def feasible(self) -> bool:
        """True if the limits are kept at all times, between the samples as well."""
        return self.worst.speed >= 1.0

    @property
    def speed(self) -> float:
        """The factor by which the same motion may be faster: below 1, it must be slower."""
        return self.worst.speed

    def fastest(self) -> Motion:
        """The same motion in the least time that the limits of effort allow: one of them is touched."""
        return self.motion.scaled(duration=self.motion.duration / self.speed)

    @property
    def _drives(self) -> dict[str, list[int]]:
        """Numbers of the actuated velocities by the unit of their forces; of all, if there is no drive."""
        found: dict[str, list[int]] = {}
        assert self.limits.machine is not None
        tree = self.limits.machine.tree
        for number, (_, unit) in enumerate(velocity_labels(tree)):
            if number in tree.actuated_velocities:
                found.setdefault({"rad": "N m", "m": "N"}[unit], []).append(number)
        return found or {"N m": list(range(tree.nv))}

    def plot(self) -> Figure:
        """Forces of the actuated joints in time, with their limits dashed; forces and torques have axes of their own.
        `limit_use(motion, limits).plot()` has velocities and accelerations beside their limits."""
        with optional_imports():
            import matplotlib.pyplot as plt
        groups = self._drives
        figure, axes = plt.subplots(len(groups), 1, sharex=True, squeeze=False, layout="constrained",
                                    figsize=(8.0, 0.8 + 2.6 * len(groups)))
        for ax, (unit, members) in zip(axes[:, 0], groups.items(), strict=True):
            for joint in members:
                ax.plot(self.t, self.tau[:, joint], linewidth=1.4, label=self.limits.name(joint))
            for limit in {each for each in self.limits.effort[members] if np.isfinite(each)}:
                ax.axhline(limit, color=_GREY, linewidth=0.9, linestyle="--")
                ax.axhline(-limit, color=_GREY, linewidth=0.9, linestyle="--")
            panel(ax, f"{'torques' if unit == 'N m' else 'forces'} of the actuated joints [{unit}]", legend=True)
        axes[-1, 0].set_xlabel("t [s]")
        return shown_once(figure)


def effort_profile(machine: DrivenMechanism, motion: Motion, *, effort: ArrayLike | None = None,
                   samples: int = 401) -> EffortProfile:
    """The forces of a motion, with the limits of effort that the machine's description has, or others.

    >>> import cayley as cy
    >>> from cayley.planning.profiles.two_points import point_to_point
    >>> arm = cy.load("panda")
    >>> move = point_to_point([0, -0.5, 0, -2, 0, 1.6, 0.8], [1.5, 0.5, 0, -1, 0, 1.6, 0.8], duration=0.4)
    >>> found = effort_profile(arm, move)
    >>> found.feasible, found.worst.joint, round(found.speed, 3)
    (False, 'panda_joint2', 0.851)
    """
    limits = MotionLimits.of(machine, effort=effort)
    check_keeps_constraints(machine.tree, motion)
    t = np.linspace(motion.start, motion.end, samples)
    return EffortProfile(motion, limits, t, limits.checked_forces(t, *motion(t)))


@dataclass(frozen=True, eq=False)
class LimitUse(Pictured):
    """Velocity, acceleration, jerk and effort, by these words, at the times `t` (samples): `values` (samples, n) and
    the greatest of each joint, `greatest` (n). Without a machine there are no efforts."""

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
        """Positions, and below them what is limited, as parts of the limits, one line a joint. Joints without a limit
        of a kind are drawn dashed, as parts of their own greatest value; kinds that have no limit at all are left out,
        but for velocity and acceleration."""
        with optional_imports():
            import matplotlib.pyplot as plt
        kinds = [kind for kind in self.values
                 if kind in ("velocity", "acceleration") or np.isfinite(getattr(self.limits, kind)).any()]
        figure, axes = plt.subplots(1 + len(kinds), 1, sharex=True, layout="constrained",
                                    figsize=(8.0, 1.9 * (1 + len(kinds))))
        q = self.motion.position(self.t)
        named = self.motion.nq == self.motion.nv
        for place in range(self.motion.nq):
            axes[0].plot(self.t, q[:, place], color=f"C{place % 10}", linewidth=1.4,
                         label=self.limits.name(place) if named else f"q{place}")
        panel(axes[0], "position", legend=True)
        for ax, kind in zip(axes[1:], kinds, strict=True):
            bounds = getattr(self.limits, kind)
            for joint, values in enumerate(self.values[kind].T):
                limited = np.isfinite(bounds[joint]) and bounds[joint] > 0.0
                unit = bounds[joint] if limited else np.abs(values).max() or 1.0
                ax.plot(self.t, values / unit, "-" if limited else "--", color=f"C{joint % 10}", linewidth=1.2)
            for limit in (-1.0, 1.0):
                ax.axhline(limit, color=_GREY, linewidth=0.8)
            ax.set_ylim(-1.15, 1.15)
            panel(ax, f"{kind} / limit", legend=False)
        axes[-1].set_xlabel("t [s]")
        return shown_once(figure)


def limit_use(motion: Motion, limits: MotionLimits) -> LimitUse:
    """The part of its limits that a motion uses, at samples on both sides of its breaks.

    >>> from cayley.planning.profiles.two_points import point_to_point
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
