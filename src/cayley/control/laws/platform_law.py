"""The law of a rolling platform with an arm: the platform returns to its path by steering, the arm to the motion of its
joints, and inverse dynamics of the whole mechanism gives the forces.

    vd, phidd, qdd of the arm      those of the task, and corrections of the errors
    A qdd = - drift                all other accelerations: wheels that roll
    tau                            inverse dynamics of platform, wheels and arm together, at the driven joints
The platform is steered by its distance e to the left of a segment or arc and its heading psi against it:

    z = (1 - k e) tan(psi),   de/ds = z,   dz/ds = u           by the distance s along the piece, k its curvature
    u = - a^2 e - 2 a sign z                                   e decays as (1 + ...) exp(- a s), ahead and backwards
    tan(phi) = L cos(psi) / (1 - k e) (k + cos(psi)^2 (u / (1 - k e) + k tan(psi)^2))       the steering angle
exact for any e with k e < 1 and any psi below a right angle. The speed is that of the program times (1 - k e) /
cos(psi), so psi has a limit, which bounds the speed. Source: Samson's chained form of a cart; spec S0-83."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike, is_finite_number
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import ModelError, SignatureError, UnreachableError, shown
from cayley.kinematics.constraints.rows import drift_kernel, jacobian_kernel
from cayley.machines.rolling.steered_path import SteeredProgram
from cayley.model.tree import Tree
from cayley.planning.tool_motions.mobile_tasks import PlatformTask


@dataclass(frozen=True, eq=False)
class PlatformLaw:
    """A controller for `arm.simulate(..., controller=PlatformLaw(task))`: the platform returns to its path at `rate`
    [1/m] and catches up along it at `along` [1/s], and errors of the drives and of the arm decay at `drives` [1/s]."""

    task: PlatformTask
    rate: float = 2.0
    along: float = 1.0
    drives: float = 10.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.drives) and self.drives > 0):
            raise ModelError(f"the rate of the drives of a platform must be positive, not {shown(self.drives)}")
        _ = self.path

    @cached_property
    def path(self) -> PathStabiliser:
        limits = None if self.task.steering is None else self._tree.joints[
            self._tree.joint_number(self.task.steering)].limits
        limit = np.pi / 2 if limits is None else min(np.pi / 2, -limits.lower[0], limits.upper[0])
        return PathStabiliser(self.task.program, self.rate, self.along, limit)

    def __call__(self, t: float, q: Array, qd: Array) -> Array:
        """The joint forces (nv)."""
        return np.asarray(self._inverse_dynamics(q, qd, self.acceleration(t, q, qd)))

    def acceleration(self, t: float, q: Array, qd: Array) -> Array:
        """The accelerations (nv) that the law asks for, which the wheels allow."""
        rows, wanted = self._asked(t, q, qd)
        A = np.asarray(kept(self._tree, "constraint Jacobian", lambda: jacobian_kernel(self._tree))(q))
        drift = np.asarray(kept(self._tree, "constraint drift", lambda: drift_kernel(self._tree))(q, qd))
        return np.linalg.lstsq(np.concatenate([A, rows]), np.concatenate([-drift, wanted]),
                               rcond=least_singular(len(qd)))[0]

    def _asked(self, t: float, q: Array, qd: Array) -> tuple[Array, Array]:
        """Rows (k, nv) of accelerations that are asked for, and their values (k)."""
        task = self.task
        tree = self._tree
        base = tree.v_slices[tree.joint_number(task.base)]
        pose = q[tree.q_slices[tree.joint_number(task.base)]]
        ahead = np.array([np.cos(pose[2]), np.sin(pose[2]), 0.0])
        told = task.program(t)
        back = self.path(t, pose)
        unit = np.eye(tree.nv)
        v = float(ahead @ qd[base])
        vd = told.roll_acceleration + self.drives * (back.speed - v)
        rows, wanted = [unit[base].T @ ahead], [vd]
        if task.steering is None:
            bend = np.tan(back.steering) / task.program.path.wheelbase
            rows.append(unit[base][2])
            wanted.append(bend * vd + self.drives * (bend * v - qd[base][2]))
        else:
            at = tree.v_slices[tree.joint_number(task.steering)].start
            angle = q[tree.q_slices[tree.joint_number(task.steering)].start]
            rows.append(unit[at])
            wanted.append(told.steering_acceleration + 2 * self.drives * (told.steering_rate - qd[at])
                          + self.drives**2 * (back.steering - angle))
        goal = self._arm(t)
        for k, place in enumerate(task.arm_places):
            rows.append(unit[place])
            wanted.append(goal[2][k] + 2 * self.drives * (goal[1][k] - qd[place])
                          + self.drives**2 * (goal[0][k] - q[place]))
        return np.stack(rows), np.array(wanted, dtype=float)

    def _arm(self, t: float) -> tuple[Array, Array, Array]:
        """The wanted coordinates of the arm's joints, before, during and after its own task."""
        if self.task.arm is None or t < self.task.hand_over:
            still = np.zeros(len(self.task.arm_places))
            return self.task.start[self.task.arm_places], still, still
        found = self.task.arm(min(t, self.task.arm.end))
        return found if t <= self.task.arm.end else (found.q, 0 * found.qd, 0 * found.qdd)

    @property
    def _tree(self) -> Tree:
        return self.task.tree

    @cached_property
    def _inverse_dynamics(self) -> Callable[..., Array]:
        return inverse_dynamics_kernel(self._tree)


class Steered(NamedTuple):
    """Commands to drives at times (...): the speed ahead [m/s] and the steering [rad]; and how far the cart is from
    its path: to the left [m], in heading [rad], and behind the program along it [m]."""

    speed: Array
    steering: Array
    aside: Array
    turned: Array
    behind: Array


@dataclass(frozen=True)
class PathStabiliser:
    """The law that keeps a cart on its program: it returns to the path at `rate` [1/m] and catches up along it at
    `along` [1/s]. `steering_limit` [rad] bounds the steering angle. A cart that is turned from its path by more than
    the `heading_limit` [rad] is refused: at 1.4 rad (80 degrees) it goes six times as fast as along the path, and
    without bound towards a right angle.

    >>> from cayley.machines import SteeredPath
    >>> law = PathStabiliser(SteeredPath(0.8, [(2.0, 0.0)]).program(0.5, 1.0), rate=2.0)
    >>> [round(float(x), 4) for x in law(1.0, [0.1, 0.05, 0.0])[1:4]]  # 5 cm to the left: steer to the right
    [-0.1587, 0.05, 0.0]
    """

    program: SteeredProgram
    rate: float = 2.0
    along: float = 1.0
    steering_limit: float = np.pi / 2
    heading_limit: float = 1.4

    def __post_init__(self) -> None:
        for word in ("rate", "along", "steering_limit"):
            value = getattr(self, word)
            if not (is_finite_number(value) and value > 0):
                raise ModelError(f"the {word.replace('_', ' ')} of a path stabiliser is positive, not {shown(value)}")
        if not (is_finite_number(self.heading_limit) and 0 < self.heading_limit < np.pi / 2):
            raise ModelError("the heading limit of a path stabiliser must be positive and less than a right angle "
                             f"[rad], not {shown(self.heading_limit)}")

    def __call__(self, t: ArrayLike, pose: ArrayLike) -> Steered:
        """At times, of the pose x, y, heading (..., 3) of the middle of the fixed axle. `UnreachableError` for a cart
        that heads across its path, turned from it beyond the `heading_limit`, or is beyond the centre of an arc."""
        here = np.asarray(pose, dtype=float)
        if here.shape[-1:] != (3,) or not np.isfinite(here).all():
            raise SignatureError(f"the pose of a cart must be finite numbers x, y, heading (..., 3), not {shown(pose)}")
        told = self.program(t)
        piece, sign, wanted = self.program.piece_at(t)
        path = self.program.path
        k = path.curvatures[piece]
        s, e, psi = _beside(here, path.corners[piece], k, sign * wanted)
        room = 1 - k * e
        widest = float(np.abs(psi).max(initial=0.0))
        if widest > self.heading_limit or not (room > 0).all():
            raise UnreachableError(f"the cart heads across its path, turned from it by {widest:.4g} rad, more than the "
                                   f"heading limit of {self.heading_limit:.4g}, or is beyond the centre of its arc: it "
                                   "does not come back by steering alone")
        z = room * np.tan(psi)
        u = -self.rate**2 * e - 2 * self.rate * sign * z
        bend = np.cos(psi) / room * (k + np.cos(psi)**2 * (u / room + k * np.tan(psi)**2))
        correction = np.arctan(path.wheelbase * bend) - np.arctan(path.wheelbase * k)
        behind = wanted - sign * s
        speed = (told.roll_rate + self.along * sign * behind) * room / np.cos(psi)
        steering = np.clip(told.steering + correction, -self.steering_limit, self.steering_limit)
        return Steered(speed, steering, e, psi, behind)


def _beside(pose: Array, corner: Array, k: Array, near: Array) -> tuple[Array, Array, Array]:
    """The distances of a pose along a piece from its corner, signed, and to its left, and its turn from the piece; of
    places on a circle, which come back after a turn, the one next to `near` along it."""
    c, sn = np.cos(corner[..., 2]), np.sin(corner[..., 2])
    d = pose[..., :2] - corner[..., :2]
    x = c * d[..., 0] + sn * d[..., 1]
    y = c * d[..., 1] - sn * d[..., 0]
    bent = np.where(k == 0, 1.0, k)
    turn = np.where(k == 0, 0.0, np.arctan2(k * x, 1 - k * y))
    turn = turn + 2 * np.pi * np.round((k * near - turn) / (2 * np.pi))
    s = np.where(k == 0, x, turn / bent)
    radius = np.hypot(k * x, 1 - k * y)
    e = np.where(k == 0, y, (1 - radius) / bent)
    psi = pose[..., 2] - corner[..., 2] - turn
    return s, e, psi - 2 * np.pi * np.round(psi / (2 * np.pi))
