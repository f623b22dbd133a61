"""A spherical (ball) joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_conjugate, quaternion_product
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector, rotation_vector_from_quaternion
from cayley.geometry.tensors.cross import hat
from cayley.model.joint_kinds.held import POINT
from cayley.model.joint_kinds.motion import Attitude, Motion, SharedMoments


@dataclass(frozen=True)
class Spherical(Motion):
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
