"""Twists (v; w) and wrenches (f; m) seen from other frames and taken at other points, and poses that change with a
twist.

A twist has the velocity v of the body point at the reference point, a wrench the moment m about it; here the reference
point of a quantity "in a" is the origin of frame a. Moving a twist or a wrench from frame b to frame a turns its
components and moves its reference point, so that power f.v + m.w stays the same. The moment of a wrench and the
Jacobian it is used with must have the same reference point (spec E3-11). Sources: Yamamoto (2.3)-(2.7), corrected as in
spec E3-11, E3-12; Mladenova (148), (164).

>>> wrench_transform([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 2], [0, 0, 0, 1]])[3]
array([ 0., -2.,  0.,  1.,  0.,  0.])
>>> joint_forces_that_resist([[0], [2], [0], [0], [0], [1]], [0.0, 3.0, 0.0, 0.0, 0.0, 0.5])
array([-6.5])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.formula import formula
from cayley.geometry.motions.homogeneous import check_pose
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.spatial import force_transform, motion_transform
from cayley.geometry.tensors.cross import vee


class PoseVelocity(NamedTuple):
    world: Array
    body: Array
    defect: Scalar


@kernel("(4,4)->(6,6)", check=check_pose)
def twist_transform(T_ab: Array) -> Array:
    """The 6x6 matrix from twists in b to twists in a: [[R, hat(p) R], [0, R]]. The transpose of its inverse is
    `wrench_transform`.

    >>> twist_transform([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 2], [0, 0, 0, 1]])[0]
    array([ 1.,  0.,  0.,  0., -2.,  0.])
    """
    return motion_transform(T_ab[:3, :3], T_ab[:3, 3])


wrench_transform = formula(
    "wrench_transform", "(4,4)->(6,6)", lambda T_ab: force_transform(T_ab[:3, :3], T_ab[:3, 3]),
    "The 6x6 matrix from wrenches in b to wrenches in a: [[R, 0], [hat(p) R, R]], that of lines. Yamamoto (2.6).",
    check_pose)


@kernel("(4,4),(6)->(6)", check=check_pose)
def transform_twist(T_ab: Array, twist_b: Array) -> Array:
    """The twist (v; w) in the axes and at the origin of a, from that of b: (R v + p x R w; R w). [m/s, rad/s]

    >>> transform_twist([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0, 0, 0, 0, 0, 1])
    array([ 0., -1.,  0.,  0.,  0.,  1.])
    """
    R = T_ab[:3, :3]
    w = R @ twist_b[3:]
    return np.concatenate([R @ twist_b[:3] + np.cross(T_ab[:3, 3], w), w])


@kernel("(4,4),(6)->(6)", check=check_pose)
def transform_wrench(T_ab: Array, wrench_b: Array) -> Array:
    """The wrench (f; m) in the axes and about the origin of a, from that of b: (R f; R m + p x R f). [N, N m]

    Yamamoto (2.5), (2.6).

    >>> transform_wrench([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], [0, 1, 0, 0, 0, 0])
    array([0., 1., 0., 0., 0., 1.])
    """
    R = T_ab[:3, :3]
    f = R @ wrench_b[:3]
    return np.concatenate([f, R @ wrench_b[3:] + np.cross(T_ab[:3, 3], f)])


@kernel("(3,3),(6)->(6)", check=check_rotation_matrix)
def turn_axes(R_ab: Array, vector_b: Array) -> Array:
    """A twist or wrench in the axes of a, from that in the axes of b, at the same point. Yamamoto (2.3), (2.4).

    >>> turn_axes([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    array([-2.,  1.,  3., -5.,  4.,  6.])
    """
    return np.concatenate([R_ab @ vector_b[:3], R_ab @ vector_b[3:]])


wrench_at = formula("wrench_at", "(6),(3)->(6)",
                    lambda wrench, shift: np.concatenate([wrench[:3], wrench[3:] - np.cross(shift, wrench[:3])]),
                    "The same load about a reference point moved by `shift` [m], in the same axes: (f; m - shift x f).")
power = formula(
    "power", "(6),(6)->()", lambda wrench, twist: wrench @ twist,
    "f.v + m.w [W], of a wrench and a twist in the same axes and at the same point; the same in every frame.")


@kernel("(6,n),(6)->(n)")
def joint_forces_that_exert(jacobian: Array, wrench: Array) -> Array:
    """Joint torques and forces with which the arm at rest exerts `wrench`: J^T m. Yamamoto (2.1), (2.2).

    The wrench must be in the axes of the Jacobian's rows (linear; angular) and about its reference point: see
    `wrench_at`, spec E3-11.

    >>> joint_forces_that_exert([[0], [2], [0], [0], [0], [1]], [0.0, 3.0, 0.0, 0.0, 0.0, 0.5])
    array([6.5])
    """
    return jacobian.T @ wrench


joint_forces_that_resist = formula(
    "joint_forces_that_resist", "(6,n),(6)->(n)", lambda jacobian, wrench: -(jacobian.T @ wrench),
    "Joint torques and forces that hold the arm at rest against `wrench` acting on it: -J^T m. Spec E3-12.")


@kernel("(4,4),(4,4)->(6),(6),()", check=check_pose)
def twist_from_pose_rate(T: Array, dT: Array) -> PoseVelocity:
    """The twist of a pose with the rate `dT`: `world`, dT T^-1, and `body`, T^-1 dT, each at its own origin.

    `defect` [1/s] is the largest element of the symmetric part of the rotation rate and of the last row: zero for a
    true motion.

    >>> twist_from_pose_rate(np.eye(4), [[0, -2, 0, 5], [2, 0, 0, 6], [0, 0, 0, 7], [0, 0, 0, 0]]).world
    array([5., 6., 7., 0., 0., 2.])
    """
    R, p = T[:3, :3], T[:3, 3]
    dR, dp = dT[:3, :3], dT[:3, 3]
    spin = dR @ R.T
    w = vee(spin)
    world = np.concatenate([dp - np.cross(w, p), w])
    body = np.concatenate([R.T @ dp, vee(R.T @ dR)])
    return PoseVelocity(world, body, np.maximum(np.max(np.abs(spin + spin.T)) / 2, np.max(np.abs(dT[3]))))
