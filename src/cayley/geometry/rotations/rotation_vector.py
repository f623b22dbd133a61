"""The rotation vector r = phi e: axis times angle, the logarithm of a rotation. Defined on the whole group.

Logarithms have angles from 0 to pi; at a half-turn both signs are right, and the one of `quaternion_from_matrix` is
given. The exponential takes vectors of any length whose square is a number (1e150; float32: 1e18). Every formula is
smooth at r = 0, derivatives included; at a half-turn the derivatives of the logarithm are those of the sign that is
given, the same from both sides.

Source: Mladenova 2.5 (after (74)), "rotation vector l".

Modified Rodrigues parameters p = tan(phi/4) e: every rotation has two, p and its shadow -p/(p.p), which belongs to -q.
Extractions give the shorter, |p| <= 1, which is 1 at a half-turn.

Interpolation at constant angular velocity, the shortest way or the long way round: attitudes are homogeneous forms [w :
v] (unit quaternions among them) of any size; results have length one. t = 0 is the start, t = 1 the goal; other values
of t continue the motion. Half-turns, on the way or between the ends, are nothing special: exactly a half-turn apart
both ways are equally long, and the sign of the given forms decides which one is "shortest".

>>> rotation_vector_from_matrix(np.diag([-1.0, -1.0, 1.0]))
array([0.        , 0.        , 3.14159265])
>>> modified_rodrigues_from_matrix(np.diag([-1.0, -1.0, 1.0]))
array([0., 0., 1.])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import place, refuse
from cayley.geometry.formula import formula
from cayley.geometry.rotations.axis_angle import vector_length
from cayley.geometry.rotations.even_functions import arctangent_ratio, sine_ratio, versine_ratio
from cayley.geometry.rotations.homogeneous import (
    check_homogeneous,
    compose_homogeneous,
    inverse_homogeneous,
    normalize_homogeneous,
)
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import (
    check_unit_quaternion,
    matrix_from_quaternion,
    quaternion_from_matrix,
    quaternion_product,
)
from cayley.geometry.scaling import direction, unsigned


@kernel("(3)->(3,3)")
def matrix_from_rotation_vector(r: Array) -> Array:
    """The exponential of hat(r): 1 + sin(phi)/phi hat(r) + (1 - cos(phi))/phi^2 hat(r)^2.

    >>> matrix_from_rotation_vector([0.0, 0.0, 0.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    x, y, z = r
    angle2 = r @ r
    a, b, c = sine_ratio(angle2) * r
    u, v, w = versine_ratio(angle2) * r
    ux, vy, wz, uy = u * x, v * y, w * z, u * y
    uz, vz = u * z, v * z
    return np.array([[1.0 - (vy + wz), uy - c, uz + b], [uy + c, 1.0 - (ux + wz), vz - a],
                     [uz - b, vz + a, 1.0 - (ux + vy)]])


@kernel("(3)->(4)")
def quaternion_from_rotation_vector(r: Array) -> Array:
    """(cos(phi/2); sin(phi/2) r/phi). Its scalar part is negative for angles between pi and 3 pi.

    >>> quaternion_from_rotation_vector([0.0, 0.0, 0.0])
    array([1., 0., 0., 0.])
    """
    angle2 = r @ r
    half = 0.25 * angle2
    return np.concatenate([[1.0 - half * versine_ratio(half)], 0.5 * sine_ratio(half) * r])


@kernel("(4)->(3)", check=check_unit_quaternion)
def rotation_vector_from_quaternion(q: Array) -> Array:
    """Axis times angle [rad], 0 to pi; the same for q and -q, except that at a half-turn the sign is that of q.

    >>> rotation_vector_from_quaternion([-1.0, 0.0, 0.0, 0.0])
    array([-0., -0., -0.])
    """
    v = q[1:]
    factor = 2.0 * arctangent_ratio(v @ v, unsigned(q[0]))
    return where(q[0] < 0, -factor, factor) * v


rotation_vector_from_matrix = formula(
    "rotation_vector_from_matrix", "(3,3)->(3)",
    lambda R: rotation_vector_from_quaternion.unchecked(quaternion_from_matrix.unchecked(R)),
    "The logarithm of a rotation: axis times angle [rad], the angle from 0 to pi.", check_rotation_matrix)


@kernel("(3),(3)->(3)")
def rotate_by_rotation_vector(r: Array, x: Array) -> Array:
    """The vector x turned about r by the angle |r|.

    >>> rotate_by_rotation_vector([0.0, 0.0, np.pi / 2], [1.0, 0.0, 0.0]).round(15)
    array([0., 1., 0.])
    """
    angle2 = r @ r
    t = np.cross(r, x)
    return x + sine_ratio(angle2) * t + versine_ratio(angle2) * np.cross(r, t)


@kernel("(3),(3)->(3)")
def compose_rotation_vectors(a: Array, b: Array) -> Array:
    """The rotation vector of exp(a) exp(b), its angle from 0 to pi.

    >>> compose_rotation_vectors([0.0, 0.0, 0.1], [0.0, 0.0, 0.2])
    array([0. , 0. , 0.3])
    """
    q = quaternion_product(quaternion_from_rotation_vector(a), quaternion_from_rotation_vector(b))
    return rotation_vector_from_quaternion.unchecked(q)


@kernel("(3)->(4)")
def quaternion_from_modified_rodrigues(p: Array) -> Array:
    """(1 - p.p; 2 p)/(1 + p.p).

    >>> quaternion_from_modified_rodrigues([0.0, 0.0, 1.0])
    array([0., 0., 0., 1.])
    """
    square = p @ p
    return np.concatenate([[1.0 - square], 2.0 * p]) / (1.0 + square)


modified_rodrigues_from_quaternion = formula(
    "modified_rodrigues_from_quaternion", "(4)->(3)", lambda q: q[1:] / where(q[0] < 0, q[0] - 1.0, q[0] + 1.0),
    "(x, y, z)/(1 + w), for that one of q and -q whose scalar part is not negative.", check_unit_quaternion)
matrix_from_modified_rodrigues = formula(
    "matrix_from_modified_rodrigues", "(3)->(3,3)",
    lambda p: matrix_from_quaternion.unchecked(quaternion_from_modified_rodrigues(p)),
    "The rotation matrix of p = tan(phi/4) e.")
modified_rodrigues_from_matrix = formula(
    "modified_rodrigues_from_matrix", "(3,3)->(3)",
    lambda R: modified_rodrigues_from_quaternion.unchecked(quaternion_from_matrix.unchecked(R)),
    "The shorter p = tan(phi/4) e of a rotation matrix.", check_rotation_matrix)


def _between(a: Array, b: Array) -> Array:
    """The rotation vector from a to b in the frame of a, its angle from 0 to pi."""
    return rotation_vector_from_quaternion.unchecked(compose_homogeneous(inverse_homogeneous(a), b))


def _check_ends(a: Array, b: Array, *_: object) -> None:
    check_homogeneous(a, b)


@kernel("(4),(4),()->(4)", check=_check_ends)
def interpolate_shortest(a: Array, b: Array, t: Scalar) -> Array:
    """The attitude at the fraction t of the shortest way from a to b: a turn by at most pi about one axis.

    >>> interpolate_shortest([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], 0.5)
    array([0.70710678, 0.        , 0.        , 0.70710678])
    """
    a, b = normalize_homogeneous.unchecked(a), normalize_homogeneous.unchecked(b)
    return compose_homogeneous(a, quaternion_from_rotation_vector(t * _between(a, b)))


def _check_long_way(a: Array, b: Array, *_: object) -> None:
    check_homogeneous(a, b)
    turn = _turn(a, b)
    refuse(vector_length(turn) > 8 * np.finfo(turn.dtype).eps, lambda bad: f"the attitudes{place(bad)} are equal: the "
           "long way is a full turn, about an axis they do not determine", SingularityError)


@kernel("(4),(4)->(3)")
def _turn(a: Array, b: Array) -> Array:
    return _between(normalize_homogeneous.unchecked(a), normalize_homogeneous.unchecked(b))


@kernel("(4),(4),()->(4)", check=_check_long_way)
def interpolate_long_way(a: Array, b: Array, t: Scalar) -> Array:
    """The attitude at the fraction t of the long way from a to b: a turn by at least pi, opposite to the shortest.

    Attitudes that are equal, but for rounding, raise `SingularityError`.

    >>> interpolate_long_way([1.0, 0.0, 0.0, 0.0], [0.8, 0.0, 0.0, 0.6], 1.0)
    array([-0.8,  0. ,  0. , -0.6])
    """
    a, b = normalize_homogeneous.unchecked(a), normalize_homogeneous.unchecked(b)
    axis, angle = direction(_between(a, b))
    return compose_homogeneous(a, quaternion_from_rotation_vector(t * (angle - 2.0 * np.pi) * axis))
