"""Joints with a unit quaternion among their coordinates: spherical (ball) joints and floating bases (free joints)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.motions.homogeneous import pose_from_quaternion, relative_pose
from cayley.geometry.motions.screws import pose_from_twist, twist_from_pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_conjugate, quaternion_product
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector, rotation_vector_from_quaternion
from cayley.geometry.spatial import motion_cross
from cayley.geometry.tensors.cross import hat
from cayley.model.joint_kinds.held import POINT
from cayley.model.joint_kinds.motion import Attitude, JointKind, SharedMoments


@dataclass(frozen=True)
class Spherical(JointKind):
    """A spherical (ball) joint, any rotation: a unit quaternion; the velocity is the angular velocity in the child's
    axes."""

    nq = 4
    nv = 3
    word = "spherical"
    held = POINT
    attitude = Attitude(slice(0, 4), slice(0, 3))
    coordinate_names = ("qw", "qx", "qy", "qz")
    coordinate_units = ("", "", "", "")
    velocity_names = ("wx", "wy", "wz")
    shared_moments = SharedMoments(1.0, np.zeros(3), np.zeros((3, 3)))
    mjcf = (("ball", None),)
    mjcf_loop = ((0.0, 0.0, 0.0),)

    def pose(self, q: Array) -> tuple[Any, Any]:
        return matrix_from_quaternion.unchecked(q), np.zeros(3)

    def subspace(self, q: Array) -> Array:
        return np.concatenate([np.zeros((3, 3)), np.eye(3)])

    def rate(self, q: Array, qd: Array) -> Array:
        return 0.5 * quaternion_product.unchecked(q, np.concatenate([[0.0], qd]))

    def step(self, q: Array, qd: Array) -> Array:
        return quaternion_product.unchecked(q, quaternion_from_rotation_vector.unchecked(qd))

    def difference(self, start: Array, end: Array) -> Array:
        between = quaternion_product.unchecked(quaternion_conjugate.unchecked(start), end)
        return rotation_vector_from_quaternion.unchecked(between)

    def perturbation_rate(self, qd: Array) -> Array:
        return -hat(qd)

    @property
    def neutral(self) -> Array:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def reach(self, lower: Array, upper: Array) -> float:
        return 0.0

    @property
    def samples(self) -> list[Array]:
        return list(attitudes())


@cache
def attitudes() -> tuple[Array, ...]:
    """The rotations of an icosahedron, which span all polynomials of degree two in the entries of a rotation, the unit
    first."""
    from scipy.spatial.transform import Rotation
    group = Rotation.create_group("I").as_quat()[:, [3, 0, 1, 2]]
    return tuple(group[np.argsort(-np.abs(group[:, 0]), kind="stable")])


_BALL = Spherical()
_CROSS = kernel("(6)->(6,6)", name="motion_cross")(motion_cross)


@dataclass(frozen=True)
class Floating(JointKind):
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

    def straight(self, q: Array, qd: Array, h: Scalar) -> tuple[Array, Array]:
        turn = quaternion_from_rotation_vector.unchecked(h * qd[3:])
        moved = q[:3] + matrix_from_quaternion.unchecked(q[3:]) @ (h * qd[:3])
        seen = matrix_from_quaternion.unchecked(turn).T @ qd[:3]
        return (np.concatenate([moved, quaternion_product.unchecked(q[3:], turn)]), np.concatenate([seen, qd[3:]]))

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
