"""Dual vector-parameters c^ = tan(phi^/2) e^: a pose as three dual numbers, a rational composition law, chains of
joints.

c^ = c + mu c*, an array (2, 3) of (real, dual): c is the vector-parameter of the rotation, c* = (1 + c c^T - hat(c)) p
/ 2 carries the translation. The composition law is that of vector-parameters, over dual numbers. Half-turns have no
finite c^; a chain of joints goes through them in the dual homogeneous form, a unit dual quaternion [w^ : v^], c^ = v^ /
w^. A joint is a row (theta, d, alpha, a) of a classical Denavit-Hartenberg table: turn theta about and shift d along z,
then turn alpha about and shift a along the new x. Source: Mladenova (153)-(156), spec R-34.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.motions.dual import Dual, dual_cross, dual_dot
from cayley.geometry.motions.dual_quaternion import (
    dual_quaternion_from_pose,
    dual_quaternion_from_screw,
    dual_quaternion_product,
    pose_from_dual_quaternion,
)
from cayley.geometry.motions.homogeneous import check_pose, pose_from_vector_parameter
from cayley.geometry.rotations.vector_parameter import (
    check_composition,
    check_not_half_turn,
    check_vector_parameter,
    doubled_share,
)

_ALONG_X = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
_ALONG_Z = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def _check_finite_pose(T: Array) -> None:
    check_pose(T)
    check_not_half_turn(dual_quaternion_from_pose.unchecked(T)[..., 0, :])


@kernel("(4,4)->(2,3)", check=_check_finite_pose)
def dual_vector_parameter_from_pose(T: Array) -> Array:
    """c + mu (1 + c c^T - hat(c)) p / 2. `SingularityError` at a half-turn, where it is infinite: see
    `dual_quaternion_from_pose`.

    >>> dual_vector_parameter_from_pose([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0],
    ...                                  [0.0, 0.0, 0.0, 1.0]])
    array([[0., 0., 1.],
           [0., 0., 2.]])
    """
    return dual_ratio(dual_quaternion_from_pose.unchecked(T))


@kernel("(2,3)->(4,4)", check=lambda c: check_vector_parameter(np.asarray(c)[..., 0, :]))
def pose_from_dual_vector_parameter(c: Array) -> Array:
    """The pose of c^: rotation O(c), translation p = 2 (c* + c x c*) / (1 + c.c).

    >>> pose_from_dual_vector_parameter([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])[:3, 3]
    array([0., 0., 2.])
    """
    per, turn = doubled_share(c[0])
    return pose_from_vector_parameter(c[0], per * c[1] + np.cross(turn, c[1]))


def dual_ratio(q: Array) -> Array:
    return (Dual(q[0, 1:], q[1, 1:]) / Dual(q[0, 0], q[1, 0])).stacked()


def _check_composition(a: Array, b: Array) -> None:
    check_composition(*(np.asarray(c)[..., 0, :] for c in (a, b)))


@kernel("(2,3),(2,3)->(2,3)", check=_check_composition)
def compose_dual_vector_parameters(a: Array, b: Array) -> Array:
    """<a^, b^> = (a^ + b^ + a^ x b^) / (1 - a^.b^) over dual numbers: the pose b, then a. Mladenova (154).

    `SingularityError` where the real parts have a.b = 1, a half-turn: compose dual quaternions instead.

    >>> compose_dual_vector_parameters([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    array([[0. , 0. , 0.5],
           [1. , 0.5, 0. ]])
    """
    return _compose(Dual(a[0], a[1]), Dual(b[0], b[1])).stacked()


def _compose(a: Dual, b: Dual) -> Dual:
    return (a + b + dual_cross(a, b)) / (1 - dual_dot(a, b))


# Chains of joints


@kernel("(4)->(2,4)")
def dual_quaternion_from_joint(row: Array) -> Array:
    """The unit dual quaternion of a joint (theta, d, alpha, a) [rad, m]: half-turns included.

    >>> dual_quaternion_from_joint([0.0, 2.0, 0.0, 4.0])[1, 1:]
    array([2., 0., 1.])
    """
    theta, d, alpha, a = row
    along_z = dual_quaternion_from_screw.unchecked(_ALONG_Z, theta, d)
    along_x = dual_quaternion_from_screw.unchecked(_ALONG_X, alpha, a)
    return dual_quaternion_product(along_z, along_x)


@kernel("(n,4)->(2,4)")
def dual_quaternion_of_chain(table: Array) -> Array:
    """The unit dual quaternion of the last frame of a chain of joints (rows theta, d, alpha, a), seen from the first.
    Mladenova (156).

    >>> # out and back: a full turn
    >>> dual_quaternion_of_chain([[np.pi, 0.0, 0.0, 1.0], [np.pi, 0.0, 0.0, 1.0]]).round(12)[0] 
    array([-1.,  0.,  0.,  0.])
    """
    return _through(table)


def _through(table: Array) -> Array:
    total = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    for row in table:
        total = dual_quaternion_product(total, dual_quaternion_from_joint(row))
    return total


@kernel("(n,4)->(4,4)")
def pose_of_chain(table: Array) -> Array:
    """The pose of the last frame of a chain of joints (rows theta, d, alpha, a), seen from the first: half-turns
    anywhere included.

    >>> pose_of_chain([[0.0, 2.0, 0.0, 4.0]])[:3, 3]
    array([4., 0., 2.])
    """
    return pose_from_dual_quaternion.unchecked(_through(table))
