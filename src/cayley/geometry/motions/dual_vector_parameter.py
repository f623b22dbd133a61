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
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.geometry.motions.dual import Dual, dual_cross, dual_dot, dual_tan
from cayley.geometry.motions.dual_quaternion import (
    check_unit_dual_quaternion,
    dual_quaternion_from_pose,
    dual_quaternion_from_screw,
    dual_quaternion_product,
    pose_from_dual_quaternion,
)
from cayley.geometry.motions.homogeneous import check_pose, pose_from_vector_parameter
from cayley.geometry.motions.screws import twist_from_pose
from cayley.geometry.rotations.axis_angle import check_unit_axis
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
    return _ratio(dual_quaternion_from_pose.unchecked(T))


@kernel("(2,3)->(4,4)", check=lambda c: check_vector_parameter(np.asarray(c)[..., 0, :]))
def pose_from_dual_vector_parameter(c: Array) -> Array:
    """The pose of c^: rotation O(c), translation p = 2 (c* + c x c*) / (1 + c.c).

    >>> pose_from_dual_vector_parameter([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])[:3, 3]
    array([0., 0., 2.])
    """
    per, turn = doubled_share(c[0])
    return pose_from_vector_parameter(c[0], per * c[1] + np.cross(turn, c[1]))


def _check_finite_quaternion(q: ArrayLike) -> None:
    check_unit_dual_quaternion(q)
    check_not_half_turn(np.asarray(q)[..., 0, :])


@kernel("(2,4)->(2,3)", check=_check_finite_quaternion)
def dual_vector_parameter_from_dual_quaternion(q: Array) -> Array:
    """v^ / w^ over dual numbers. `SingularityError` at a half-turn.

    >>> dual_vector_parameter_from_dual_quaternion([[1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 1.0, 1.5]])[1]
    array([0.5, 1. , 1.5])
    """
    return _ratio(q)


def _ratio(q: Array) -> Array:
    return (Dual(q[0, 1:], q[1, 1:]) / Dual(q[0, 0], q[1, 0])).stacked()


def _check_axis(line: ArrayLike, *_: object) -> None:
    check_unit_axis(np.asarray(line)[..., :3])


@kernel("(6),(),()->(2,3)", check=_check_axis)
def dual_vector_parameter_from_screw(line: Array, angle: Scalar, distance: Scalar) -> Array:
    """tan(phi^/2) e^ for the line (e; m), e a unit vector, and the dual angle phi^ = angle + mu distance [rad, m].
    Mladenova (153).

    >>> dual_vector_parameter_from_screw([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], np.pi / 2, 2.0).round(12)
    array([[0., 0., 1.],
           [0., 0., 2.]])
    """
    return (dual_tan(Dual(0.5 * angle, 0.5 * distance)) * Dual(line[:3], line[3:])).stacked()


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


@kernel("(n,4)->(2,3)", check=lambda table: check_not_half_turn(dual_quaternion_of_chain(table)[..., 0, :]))
def dual_vector_parameter_of_chain(table: Array) -> Array:
    """c^' = <c^_1, ..., c^_n> of a chain of joints (rows theta, d, alpha, a). Mladenova (155)-(156).

    Joints and partial products may be half-turns; `SingularityError` only where the last frame is one, and c^'
    infinite.

    >>> dual_vector_parameter_of_chain([[0.0, 2.0, 0.0, 4.0]])
    array([[0., 0., 0.],
           [2., 0., 1.]])
    """
    return _ratio(dual_quaternion_of_chain(table))


@kernel("(n,4)->(6)")
def chain_closure(table: Array) -> Array:
    """The twist (linear; angular) [m, rad] that would bring the first frame onto the last: zero if and only if the
    chain closes.

    >>> chain_closure([[np.pi / 2, 0.0, 0.0, 1.0]] * 4).round(12) + 0.0   # a square
    array([0., 0., 0., 0., 0., 0.])
    """
    return twist_from_pose.unchecked(pose_of_chain(table))
