"""The rotation vector r = phi e: axis times angle, the logarithm of a rotation. Defined on the whole group.

Logarithms have angles from 0 to pi; at a half-turn both signs are right, and the one of `quaternion_from_matrix` is
given. The exponential takes vectors of any length whose square is a number (1e150; float32: 1e18). Every formula is
smooth at r = 0, derivatives included; at a half-turn the derivatives of the logarithm are those of the sign that is
given, the same from both sides.

Source: Mladenova 2.5 (after (74)), "rotation vector l".
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.geometry.rotations.even_functions import arctangent_ratio, sine_ratio, versine_ratio
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_unit_quaternion, quaternion_from_matrix, quaternion_product
from cayley.geometry.scaling import unsigned


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
    ux = u * x
    vy = v * y
    wz = w * z
    uy = u * y
    uz = u * z
    vz = v * z
    return np.array([[1.0 - (vy + wz), uy - c, uz + b], [uy + c, 1.0 - (ux + wz), vz - a],
                     [uz - b, vz + a, 1.0 - (ux + vy)]])


@kernel("(3,3)->(3)", check=check_rotation_matrix)
def rotation_vector_from_matrix(R: Array) -> Array:
    """The logarithm of a rotation: axis times angle [rad], the angle from 0 to pi.

    >>> rotation_vector_from_matrix(np.diag([-1.0, -1.0, 1.0]))
    array([0.        , 0.        , 3.14159265])
    """
    return rotation_vector_from_quaternion.unchecked(quaternion_from_matrix.unchecked(R))


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
    """Axis times angle [rad], the angle from 0 to pi; the same for q and -q, except that at a half-turn (w = 0) the
    sign is that of q.

    >>> rotation_vector_from_quaternion([-1.0, 0.0, 0.0, 0.0])
    array([-0., -0., -0.])
    """
    v = q[1:]
    factor = 2.0 * arctangent_ratio(v @ v, unsigned(q[0]))
    return where(q[0] < 0, -factor, factor) * v


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
