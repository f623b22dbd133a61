"""The vector-parameter in homogeneous form h = [w : v], c = v/w: the whole group, half-turns included.

A rotation is the line through h = (w, x, y, z); every multiple except zero is the same rotation, and w = 0 is the
half-turn about v. Composition is a product of polynomials, so nothing is ever divided by a small number. A unit h is a
unit quaternion.

Source: Mladenova 2.4 (67)-(70), corrected and made homogeneous as in spec R-13, E-12, E-13.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import (
    check_nonzero_quaternion,
    matrix_from_quaternion,
    normalize_quaternion,
    quaternion_conjugate,
    quaternion_from_matrix,
    quaternion_product,
    rotate_by_quaternion,
)


def check_homogeneous(*forms: Array) -> None:
    """Raise `GeometryError` where a homogeneous form is zero, NaN or infinite: it is no rotation then."""
    for h in forms:
        check_nonzero_quaternion(h)


@kernel("(4)->(4)", check=check_nonzero_quaternion)
def normalize_homogeneous(h: Array) -> Array:
    """The multiple of length one with the same sign, for every size: a unit quaternion.

    >>> normalize_homogeneous([0.0, 3.0, 0.0, 4.0])
    array([0. , 0.6, 0. , 0.8])
    """
    return normalize_quaternion.unchecked(h)


@kernel("(4)->(3,3)", check=check_nonzero_quaternion)
def matrix_from_homogeneous(h: Array) -> Array:
    """The rotation matrix of [w : v], for every multiple of it.

    >>> matrix_from_homogeneous([0.0, 0.0, 0.0, 7.0])
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    return matrix_from_quaternion.unchecked(normalize_homogeneous.unchecked(h))


@kernel("(3,3)->(4)", check=check_rotation_matrix)
def homogeneous_from_matrix(R: Array) -> Array:
    """The homogeneous form of length one, w >= 0; at a half-turn its largest component is positive.

    >>> homogeneous_from_matrix(np.diag([-1.0, 1.0, -1.0]))
    array([0., 0., 1., 0.])
    """
    return quaternion_from_matrix.unchecked(R)


@kernel("(4),(4)->(4)", check=check_homogeneous)
def compose_homogeneous(a: Array, b: Array) -> Array:
    """[w1 w2 - v1.v2 : w2 v1 + w1 v2 + v1 x v2], the rotation b, then a. The lengths multiply; see
    `normalize_homogeneous`.

    >>> # two finite vector-parameters; spec WE-02, a half-turn
    >>> compose_homogeneous([1.0, 1.0, 2.0, 0.0], [1.0, 1.0, 0.0, 3.0])
    array([ 0.,  8., -1.,  1.])
    """
    return quaternion_product(a, b)


@kernel("(4)->(4)", check=check_nonzero_quaternion)
def inverse_homogeneous(h: Array) -> Array:
    """[w : -v].

    >>> inverse_homogeneous([0.0, 1.0, 2.0, 3.0])
    array([ 0., -1., -2., -3.])
    """
    return quaternion_conjugate(h)


@kernel("(n,4)->(4)", check=check_nonzero_quaternion)
def compose_all_homogeneous(forms: Array) -> Array:
    """The product of n forms, the last applied first, of length one; the identity for none. Half-turns may occur
    anywhere on the way.

    >>> compose_all_homogeneous([[0.0, 2.0, 0.0, 0.0]] * 4)
    array([1., 0., 0., 0.])
    """
    total = np.array([1.0, 0.0, 0.0, 0.0])
    for h in forms:
        total = compose_homogeneous.unchecked(total, normalize_homogeneous.unchecked(h))
    return normalize_homogeneous.unchecked(total)


@kernel("(4),(3)->(3)", check=check_nonzero_quaternion)
def rotate_by_homogeneous(h: Array, x: Array) -> Array:
    """The vector x turned by [w : v].

    >>> rotate_by_homogeneous([0.0, 0.0, 2.0, 0.0], [1.0, 2.0, 3.0])
    array([-1.,  2., -3.])
    """
    return rotate_by_quaternion.unchecked(normalize_homogeneous.unchecked(h), x)
