"""A floating base (free joint)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.motions.homogeneous import pose_from_quaternion, relative_pose
from cayley.geometry.motions.screws import pose_from_twist, twist_from_pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.geometry.spatial import motion_cross
from cayley.model.joint_kinds.motion import Attitude, Motion
from cayley.model.joint_kinds.spherical import Spherical, attitudes

_BALL = Spherical()
_CROSS = kernel("(6)->(6,6)", name="motion_cross")(motion_cross)


@dataclass(frozen=True)
class Floating(Motion):
    """A floating base (free joint): position and unit quaternion. The velocity is the twist (v; w) in the child's axes.
    """

    nq = 7
    nv = 6
    word = "floating"
    attitude = Attitude(slice(3, 7), slice(3, 6), slice(0, 3))
    coordinate_names = ("x", "y", "z", "qw", "qx", "qy", "qz")
    coordinate_units = ("m", "m", "m", "", "", "", "")
    velocity_names = ("vx", "vy", "vz", "wx", "wy", "wz")
    urdf = "floating"
    mjcf = (("free", None),)

    def pose(self, q: Array) -> tuple[Any, Any]:
        return matrix_from_quaternion.unchecked(q[3:]), q[:3]

    def subspace(self, q: Array) -> Array:
        return np.eye(6)

    def turning(self, qd: Array) -> Array:
        x, y, z = qd[3:]
        across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.concatenate([np.concatenate([across, np.zeros((3, 3))], axis=1), np.zeros((3, 6))])

    def rate(self, q: Array, qd: Array) -> Array:
        return np.concatenate([matrix_from_quaternion.unchecked(q[3:]) @ qd[:3], _BALL.rate(q[3:], qd[3:])])

    def step(self, q: Array, qd: Array) -> Array:
        moved = pose_from_twist(qd)[:3, 3]
        return np.concatenate([q[:3] + matrix_from_quaternion.unchecked(q[3:]) @ moved, _BALL.step(q[3:], qd[3:])])

    def difference(self, start: Array, end: Array) -> Array:
        here = pose_from_quaternion.unchecked(start[3:], start[:3])
        there = pose_from_quaternion.unchecked(end[3:], end[:3])
        return twist_from_pose.unchecked(relative_pose.unchecked(here, there))

    def perturbation_rate(self, qd: Array) -> Array:
        return -_CROSS(qd)

    @property
    def neutral(self) -> Array:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def reach(self, lower: Array, upper: Array) -> float:
        return float(np.maximum(np.abs(lower), np.abs(upper))[:3].sum())

    @property
    def samples(self) -> list[Array]:
        corners = [np.array(p, dtype=float) for p in product((0, 1, -1), repeat=3) if np.abs(p).sum() <= 2]
        return [np.concatenate([p, attitude]) for p in corners for attitude in attitudes()]
