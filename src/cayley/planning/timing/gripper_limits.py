"""Limits of a motion for what the gripper holds: limits on the gripper's velocity and acceleration, and on the wrench
between it and its load.

    a motion in c times the speed:   v, w -> c (v, w),   vd, wd -> c^2 (vd, wd)
    f = m (vd + wd x r + w x (w x r) - g)    = f0 + c^2 f1          the force upon the load
    n = I wd + w x I w + r x f               = n0 + c^2 n1          about the origin of the gripper's frame
Where what the load weighs at rest, f0 and n0, is beyond a limit, there is no such motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, ModelError, PlanningError, shown
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.velocity import acceleration, twist
from cayley.model.tree import Tree
from cayley.planning.motion import Motion
from cayley.planning.timing.limits import DrivenMechanism, least_near, tree_of

_SAMPLES = 2001


@dataclass(frozen=True)
class GripperLimits:
    """The limits of a gripper: speed [m/s], angular velocity [rad/s], acceleration [m/s^2], angular acceleration
    [rad/s^2]; and the force [N] and moment [N m], about its frame's origin, with which it may hold its load."""

    velocity: float = np.inf
    angular_velocity: float = np.inf
    acceleration: float = np.inf
    angular_acceleration: float = np.inf
    force: float = np.inf
    moment: float = np.inf

    def __post_init__(self) -> None:
        for entry in fields(self):
            if not getattr(self, entry.name) > 0:
                raise ModelError(f"the {_words(entry.name)} that a gripper may have is positive, not "
                                 f"{shown(getattr(self, entry.name))}")


@dataclass(frozen=True, eq=False)
class Load:
    """The load that a gripper holds: its mass [kg], its centre (3) [m] in the gripper's frame, and its inertia (3, 3)
    [kg m^2] about that, in the frame's axes."""

    mass: float
    center: ArrayLike = (0.0, 0.0, 0.0)
    inertia: ArrayLike = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    def __post_init__(self) -> None:
        if not (np.isfinite(self.mass) and self.mass >= 0) or np.shape(self.center) != (3,) or (
                np.shape(self.inertia) != (3, 3)):
            raise ModelError("a load must have a mass that is not negative, a centre (3) and an inertia (3, 3), not "
                             f"{shown(self)}")


@dataclass(frozen=True, eq=False)
class GripperTiming:
    """The fastest motion along the same path, in uniformly scaled time: `factor` times as fast as the one given;
    `limit` is the limit that it reaches, at the time `when` of this motion [s]."""

    motion: Motion
    factor: float
    limit: str
    when: float

    def __str__(self) -> str:
        return (f"{self.factor:.6g} times as fast, in {self.motion.duration:.6g} s; {self.limit} at t = "
                f"{self.when:.6g} s")


def gripper_timing(mechanism: DrivenMechanism | Tree, motion: Motion, frame: str, limits: GripperLimits, *,
                   load: Load | None = None) -> GripperTiming:
    """A motion as fast as the limits of its gripper, at `frame`, allow. `PlanningError` names the limit that no speed
    keeps.

    >>> import cayley as cy
    >>> arm = cy.load("planar2r")
    >>> move = cy.planning.quintic_spline([0.0, 1.0], [[0.0, 0.0], [1.0, 0.5]])
    >>> timed = gripper_timing(arm, move, "tool", GripperLimits(velocity=0.5))
    >>> bool(abs(np.linalg.norm(arm.twist(*timed.motion(timed.when)[:2], "tool", axes="world")[:3]) - 0.5) < 1e-9)
    True
    """
    tree = tree_of(mechanism)
    asked = [entry.name for entry in fields(limits) if np.isfinite(getattr(limits, entry.name))]
    if not asked:
        raise ConventionError("a motion is as fast as limits allow: give one at least")
    if load is None and {"force", "moment"} & set(asked):
        raise ConventionError("limits of force and moment need the load that the gripper holds, load=Load(mass, ...)")
    if motion.nq != tree.nq:
        raise ConventionError(f"a motion of {tree.name} must have {tree.nq} coordinates, not {motion.nq}")
    parts = _parts(tree, frame, load or Load(0.0))
    found = [(*_least(motion, parts, name, getattr(limits, name)), name) for name in asked]
    factor, when, name = min(found, key=lambda entry: entry[0])
    if not np.isfinite(factor):
        raise PlanningError(f"nothing of {frame!r} moves along the motion: no limit determines its speed")
    slower = motion.scaled(duration=motion.duration / factor)
    return GripperTiming(slower, factor, f"the {_words(name)} reaches {getattr(limits, name):g}",
                         motion.start + (when - motion.start) / factor)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _parts(tree: Tree, frame: str, load: Load) -> Kernel[tuple[Array, ...]]:
    """(q, qd, qdd) -> v, w, vd, wd, f0, f1, n0, n1 of the gripper and its load, in the root's axes."""
    def text(q: Array, qd: Array, qdd: Array) -> tuple[Array, ...]:
        R = frame_pose(tree, q, frame).R
        both = twist(tree, q, qd, frame, axes="world")
        second = acceleration(tree, q, qd, qdd, frame, axes="world")
        v, w, vd, wd = both[:3], both[3:], second[:3], second[3:]
        r = R @ np.asarray(load.center)
        I = R @ np.asarray(load.inertia) @ R.T
        f0 = -load.mass * np.asarray(tree.gravity) + 0.0 * v
        f1 = load.mass * (vd + np.cross(wd, r) + np.cross(w, np.cross(w, r)))
        return v, w, vd, wd, f0, f1, np.cross(r, f0), I @ wd + np.cross(w, I @ w) + np.cross(r, f1)

    return kernel(sized(tree, "(q),(v),(v)->(3),(3),(3),(3),(3),(3),(3),(3)"), name="gripper",
                  inputs=("q", "qd", "qdd"))(text)


def _least(motion: Motion, parts: Kernel[tuple[Array, ...]], name: str, limit: float) -> tuple[float, float]:
    """The greatest factor that a limit allows anywhere, and when it is reached."""
    allowed: Callable[[Array], Array] = lambda t: _allowed(parts(*motion(t)), name, limit)  # noqa: E731
    t = np.unique(np.concatenate([np.linspace(motion.start, motion.end, _SAMPLES), motion.breaks]))
    values = allowed(t)
    k = int(np.argmin(values))
    if values[k] < 0:
        rest = np.linalg.norm(parts(*motion(t[k]))[4 if name == "force" else 6])
        raise PlanningError(f"the load takes a {name} of {rest:.6g} at rest, at t = {t[k]:.6g} s, more than the "
                            f"{limit:g} that the gripper may have: no motion along this path keeps it")
    if not np.isfinite(values[k]):
        return np.inf, float(t[k])
    return least_near(allowed, t, k)


def _allowed(parts: tuple[Array, ...], name: str, limit: float) -> Array:
    """The greatest factors (...) that keep a limit; -1 where none does."""
    v, w, vd, wd, f0, f1, n0, n1 = parts
    with np.errstate(divide="ignore", invalid="ignore"):
        if name in ("velocity", "angular_velocity"):
            return limit / np.linalg.norm(v if name == "velocity" else w, axis=-1)
        if name in ("acceleration", "angular_acceleration"):
            return np.sqrt(limit / np.linalg.norm(vd if name == "acceleration" else wd, axis=-1))
        at_rest, moved = (f0, f1) if name == "force" else (n0, n1)
        a, b = np.sum(moved * moved, axis=-1), np.sum(at_rest * moved, axis=-1)
        c = np.sum(at_rest * at_rest, axis=-1) - limit**2
        square = np.where(a > 0, (-b + np.sqrt(np.maximum(b * b - a * c, 0.0))) / np.where(a > 0, a, 1.0), np.inf)
        return np.where(c > 0, -1.0, np.sqrt(square))
