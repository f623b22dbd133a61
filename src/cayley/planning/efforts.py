"""The forces that a motion asks of the drives, whether they have them, and how much slower it must be if not.

Made c times as fast, a motion asks for the forces
    tau(c) = G + c F_v + c^2 D + F_c
with those of gravity G, of viscous friction F_v, of inertia and Coriolis D, and of Coulomb friction F_c, all at the
places where it is: four evaluations of the inverse dynamics say what they are, at any time. Source: spec S1-108.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError
from cayley.planning.limits import Machine, MotionLimits
from cayley.planning.motion import Motion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SAMPLES_A_PIECE = 9
_SAMPLES = 257
_CANDIDATES = 12


class Parts(NamedTuple):
    """The forces at rest and by dry friction, those that grow with the speed, and those with its square (..., n)."""

    resting: Array
    viscous: Array
    inertial: Array


class Worst(NamedTuple):
    """When the limits allow least, which joint that is, and how many times as fast the motion may be."""

    time: float
    joint: str
    speed: float


@dataclass(frozen=True, eq=False)
class EffortProfile:
    """The forces `tau` (samples, n) [N or N m] of a motion at the times `t`, beside the limits `effort` (n)."""

    motion: Motion
    limits: MotionLimits
    t: Array
    tau: Array

    @property
    def margins(self) -> Array:
        """What is left to the nearer limit (samples, n), negative where there is nothing left."""
        return self.limits.effort - np.abs(self.tau)

    @property
    def feasible(self) -> bool:
        """Whether the limits are kept at all times, between the samples as well."""
        return self.worst.speed >= 1.0

    @cached_property
    def worst(self) -> Worst:
        """When and by which joint the speed is limited. Raises if forces at rest are beyond a limit already."""
        return _worst(self.motion, self.limits)

    @property
    def speed(self) -> float:
        """How many times as fast the same motion may be: below 1, it must be slower."""
        return self.worst.speed

    def fastest(self) -> Motion:
        """The same motion in the least time that the limits of effort allow: one of them is touched."""
        return self.motion.scaled(duration=self.motion.duration / self.speed)

    def plot(self) -> Figure:
        """The forces in time as parts of their limits, one line a joint."""
        from cayley.planning.effort_plot import plot
        return plot(self)


def effort_profile(machine: Machine, motion: Motion, *, effort: ArrayLike | None = None,
                   samples: int = 401) -> EffortProfile:
    """The forces of a motion, with the limits of effort that the machine's description has, or others.

    >>> import cayley as cy
    >>> from cayley.planning.two_points import point_to_point
    >>> arm = cy.load("panda")
    >>> move = point_to_point([0, -0.5, 0, -2, 0, 1.6, 0.8], [1.5, 0.5, 0, -1, 0, 1.6, 0.8], duration=0.4)
    >>> found = effort_profile(arm, move)
    >>> found.feasible, found.worst.joint, round(found.speed, 3)
    (False, 'panda_joint2', 0.851)
    """
    limits = MotionLimits.of(machine, effort=effort)
    if motion.nv != len(limits.effort):
        raise PlanningError(f"the motion has {motion.nv} coordinates, {machine.tree.name} has {len(limits.effort)}")
    t = np.linspace(motion.start, motion.end, samples)
    return EffortProfile(motion, limits, t, limits.forces(*motion(t)))


def effort_parts(limits: MotionLimits, q: Array, qd: Array, qdd: Array) -> Parts:
    """What the forces consist of at states (..., n) of a motion."""
    none = np.zeros_like(qd)
    gravity = limits.forces(q, none, none)
    ahead = limits.forces(q, qd, qdd)
    back = limits.forces(q, -qd, qdd)  # friction turns, the square of the velocity does not
    twice = limits.forces(q, 2.0 * qd, 4.0 * qdd)
    inertial = 0.5 * (ahead + back) - gravity
    friction = 0.5 * (ahead - back)
    viscous = (twice - gravity - 4.0 * inertial) - friction
    viscous = np.where(np.abs(viscous) > 1e-12 * (np.abs(ahead) + np.abs(twice)), viscous, 0.0)
    return Parts(gravity + friction - viscous, viscous, inertial)


def allowed_speed(parts: Parts, effort: Array) -> Array:
    """How many times as fast (..., n) before a force leaves its limits for the first time; infinity if never."""
    sides = [_first_beyond(effort - sign * parts.resting, sign * parts.viscous, sign * parts.inertial)
             for sign in (1.0, -1.0)]
    return np.minimum(*sides)


def _first_beyond(room: Array, linear: Array, square: Array) -> Array:
    """The least c > 0 at which linear c + square c^2 = room, infinity if there is none; 0 if there is no room."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(np.maximum(linear**2 + 4.0 * square * room, 0.0))
        first = np.where(linear + root > 0.0, 2.0 * room / (linear + root), np.inf)
        touches = linear**2 + 4.0 * square * room >= 0.0
    return np.where(room < 0.0, 0.0, np.where(touches & np.isfinite(room), first, np.inf))


def sample_times(motion: Motion) -> Array:
    """Times that see each piece between its breaks, and both sides of every break."""
    breaks = motion.breaks
    each = max(_SAMPLES_A_PIECE, _SAMPLES // (len(breaks) - 1))
    inner = np.linspace(0.0, 1.0, each)
    pieces = breaks[:-1, None] + np.diff(breaks)[:, None] * inner
    pieces[:, -1] = np.nextafter(breaks[1:], motion.start)
    return np.append(pieces.reshape(-1), motion.end)


def _worst(motion: Motion, limits: MotionLimits) -> Worst:
    def speeds(t: Array) -> Array:
        return allowed_speed(effort_parts(limits, *motion(t)), limits.effort)

    t = sample_times(motion)
    found = speeds(t)
    least = np.unravel_index(int(np.argmin(found)), found.shape)
    if found[least] == 0.0:
        joint = int(least[1])
        forces = effort_parts(limits, *motion(t[least[0]])).resting
        raise PlanningError(
            f"at t = {t[least[0]]:.6g} s joint {limits.name(joint)!r} needs {forces[joint]:.6g} at rest, and its limit "
            f"of effort is {limits.effort[joint]:g}: no slower motion helps; change the path, the load or the drive")
    if not np.isfinite(found[least]):
        return Worst(float(t[0]), "", np.inf)
    time, joint, speed = refined(speeds, t, found)
    return Worst(time, limits.name(joint), speed)


def refined(values: Callable[[Array], Array], t: Array, found: Array) -> tuple[float, int, float]:
    """The least of values (..., n) of time, between the samples too: around the smallest ones of each column the
    minimum is searched for. Its time, column and value."""
    padded = np.pad(found, ((1, 1), (0, 0)), constant_values=np.inf)
    is_low = (padded[1:-1] <= padded[:-2]) & (padded[1:-1] <= padded[2:]) & np.isfinite(found)
    rows, columns = np.nonzero(is_low)
    order = np.argsort(found[rows, columns])[:_CANDIDATES]
    best = (float(t[rows[order[0]]]), int(columns[order[0]]), float(found[rows[order[0]], columns[order[0]]]))
    for row, column in zip(rows[order], columns[order], strict=True):
        low, high = t[max(row - 1, 0)], t[min(row + 1, len(t) - 1)]
        if not high > low:
            continue
        local = minimize_scalar(lambda x, column=column: float(values(np.asarray(x))[column]), bounds=(low, high),
                                method="bounded", options={"xatol": 1e-9 * (high - low)})
        if local.fun < best[2]:
            best = (float(local.x), int(column), float(local.fun))
    return best
