"""The vector-parameter in homogeneous form h = [w : v], c = v/w: the whole group, half-turns included.

A rotation is the line through h = (w, x, y, z); every multiple except zero is the same rotation, and w = 0 is the
half-turn about v. Composition is a product of polynomials, so nothing is ever divided by a small number. A unit h is a
unit quaternion.

Source: Mladenova 2.4 (67)-(70), corrected and made homogeneous as in spec R-13, E-12, E-13.

>>> normalize_homogeneous([0.0, 3.0, 0.0, 4.0])
array([0. , 0.6, 0. , 0.8])
>>> rotate_by_homogeneous([0.0, 0.0, 2.0, 0.0], [1.0, 2.0, 3.0])
array([-1.,  2., -3.])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.formula import formula
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


normalize_homogeneous = formula("normalize_homogeneous", "(4)->(4)", lambda h: normalize_quaternion.unchecked(h),
                                "The multiple of length one with the same sign, for every size: a unit quaternion.",
                                check_nonzero_quaternion)
matrix_from_homogeneous = formula("matrix_from_homogeneous", "(4)->(3,3)",
                                  lambda h: matrix_from_quaternion.unchecked(normalize_homogeneous.unchecked(h)),
                                  "The rotation matrix of [w : v], for every multiple of it.", check_nonzero_quaternion)
homogeneous_from_matrix = formula(
    "homogeneous_from_matrix", "(3,3)->(4)", lambda R: quaternion_from_matrix.unchecked(R),
    "The homogeneous form of length one, w >= 0; at a half-turn its largest component is positive.",
    check_rotation_matrix)


compose_homogeneous = formula(
    "compose_homogeneous", "(4),(4)->(4)", lambda a, b: quaternion_product(a, b),
    "[w1 w2 - v1.v2 : w2 v1 + w1 v2 + v1 x v2], the rotation b, then a. The lengths multiply.", check_homogeneous)

inverse_homogeneous = formula("inverse_homogeneous", "(4)->(4)", lambda h: quaternion_conjugate(h), "[w : -v].",
                              check_nonzero_quaternion)


@kernel("(n,4)->(4)", check=check_nonzero_quaternion)
def compose_all_homogeneous(forms: Array) -> Array:
    """The product of n forms, the last applied first, of length one; the identity for none. Half-turns may occur.

    >>> compose_all_homogeneous([[0.0, 2.0, 0.0, 0.0]] * 4)
    array([1., 0., 0., 0.])
    """
    total = np.array([1.0, 0.0, 0.0, 0.0])
    for h in forms:
        total = compose_homogeneous.unchecked(total, normalize_homogeneous.unchecked(h))
    return normalize_homogeneous.unchecked(total)


rotate_by_homogeneous = formula("rotate_by_homogeneous", "(4),(3)->(3)",
                                lambda h, x: rotate_by_quaternion.unchecked(normalize_homogeneous.unchecked(h), x),
                                "The vector x turned by [w : v].", check_nonzero_quaternion)

