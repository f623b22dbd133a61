"""Quaternions (w, x, y, z), scalar first; the unit ones are rotations, q and -q the same one.

The algebra (product, conjugate, inverse, regular representations) is for quaternions of any norm. What reads a
quaternion as a rotation needs a unit one, and checks it. Extractions give w >= 0.

Sources: Mladenova 2.1, 2.2 (9)-(12), (21)-(26), corrected as in spec E-01; Yamamoto appendix C, corrected as in spec
E3-37 to E3-40.

>>> quaternion_conjugate([1.0, 2.0, 3.0, 4.0])
array([ 1., -2., -3., -4.])
>>> float(quaternion_norm([1.0, 1.0, 1.0, 1.0]))
2.0
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, refuse, shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.scaling import largest_component, length, length_of_any, scaling, unsigned

# The algebra


@kernel("(4),(4)->(4)")
def quaternion_product(p: Array, q: Array) -> Array:
    """The Hamilton product p q, the rotation q, then p. Mladenova (21), Yamamoto (C.3) corrected (spec E3-37).

    >>> quaternion_product([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0])
    array([0., 0., 0., 1.])
    """
    a, b, c, d = p
    w, x, y, z = q
    return np.array([a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y,
                     a * y + c * w + d * x - b * z, a * z + d * w + b * y - c * x])


quaternion_conjugate = formula("quaternion_conjugate", "(4)->(4)", lambda q: np.array([q[0], -q[1], -q[2], -q[3]]),
                               "(w, -x, -y, -z): for a unit quaternion, the inverse rotation.")
quaternion_norm = formula("quaternion_norm", "(4)->()", lambda q: length_of_any(q),
                          "The square root of the sum of squares, for every size; multiplicative: |p q| = |p| |q|.")

_largest = kernel("(4)->()")(largest_component)


def check_nonzero_quaternion(q: ArrayLike, *_: object) -> None:
    """Raise `GeometryError` where a quaternion is zero or has elements that are NaN or infinite."""
    q = _four(q)
    size = _largest(q)
    refuse((size > 0) & (size < np.inf), lambda bad:
           f"quaternion{place(bad)} is {q[bad]}: it has no inverse and no direction")


def _check_invertible(q: ArrayLike) -> None:
    check_nonzero_quaternion(q)
    size = _largest(q)
    with np.errstate(over="ignore"):
        bad = first_failure(1 / size < np.inf)
    if bad is not None:
        raise GeometryError(
            f"quaternion{place(bad)} is {np.asarray(q)[bad]}: its inverse is beyond the largest number; scale it first")


@kernel("(4)->(4)", check=_check_invertible)
def quaternion_inverse(q: Array) -> Array:
    """conj(q)/|q|^2; refused for zero, and where it would be beyond the largest number. Mladenova (22).

    >>> quaternion_product([0.0, 2.0, 0.0, 0.0], quaternion_inverse([0.0, 2.0, 0.0, 0.0]))
    array([1., 0., 0., 0.])
    """
    scale = scaling(largest_component(q))
    scaled = scale * q
    return scale * (quaternion_conjugate(scaled) / (scaled @ scaled))


@kernel("(4)->(4)", check=check_nonzero_quaternion)
def normalize_quaternion(q: Array) -> Array:
    """q/|q|, for every size; refused for zero.

    >>> normalize_quaternion([0.0, 3e-200, 0.0, 4e-200])
    array([0. , 0.6, 0. , 0.8])
    """
    q = scaling(largest_component(q)) * q
    return q / np.sqrt(q @ q)


@kernel("(4)->(4,4)")
def quaternion_left_matrix(q: Array) -> Array:
    """The left regular representation h(q): `h(q) @ p` is the product q p, and h(q) h(p) = h(q p). Mladenova (21).

    >>> quaternion_left_matrix([1.0, 2.0, 3.0, 4.0]) @ [1.0, 0.0, 0.0, 0.0]
    array([1., 2., 3., 4.])
    """
    w, x, y, z = q
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


@kernel("(4)->(4,4)")
def quaternion_right_matrix(q: Array) -> Array:
    """The right regular representation: its product with p is p q. It commutes with every left one.

    >>> quaternion_right_matrix([0.0, 1.0, 0.0, 0.0]) @ [0.0, 0.0, 1.0, 0.0]
    array([ 0.,  0.,  0., -1.])
    """
    w, x, y, z = q
    return np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])


# Unit quaternions as rotations


def check_unit_quaternion(q: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless every quaternion has norm one, within 1e-8 (float32: 1e-4) or `tolerance`.

    >>> check_unit_quaternion([1.0, 1.0, 0.0, 0.0])
    Traceback (most recent call last):
    cayley.errors.GeometryError: quaternion is not a rotation: its norm is 1.414213562, not 1 (1e-08 is allowed). If ...
    """
    q = _four(q)
    allowed = tolerance_of(q, tolerance)
    norm = quaternion_norm(q)
    refuse(np.abs(norm - 1.0) <= allowed, lambda bad:
           f"quaternion{place(bad)} is not a rotation: its norm is {norm[bad]:.10g}, not 1 ({allowed:.0e} is "
           "allowed). If it is meant to be one, normalize_quaternion(q) scales it")


def _four(q: ArrayLike) -> Array:
    q = shaped(q, (4,), "a quaternion", ", scalar first")
    return q


@kernel("(4)->(3,3)", check=check_unit_quaternion)
def matrix_from_quaternion(q: Array) -> Array:
    """The rotation matrix of a unit quaternion. Mladenova (12), Yamamoto (C.6) corrected as in spec E3-38, E3-39.

    It is the matrix of the line through q, so that what the check lets pass (a norm off by 1e-9, say) still gives a
    rotation to the last digit.

    >>> matrix_from_quaternion([0.0, 1.0, 0.0, 0.0])
    array([[ 1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0., -1.]])
    """
    w, x, y, z = q
    a, b, c = 2.0 / (q @ q) * q[1:]
    ax, by, cz, bx = a * x, b * y, c * z, b * x
    cx, cy, aw, bw = c * x, c * y, a * w, b * w
    cw = c * w
    return np.array([[1.0 - (by + cz), bx - cw, cx + bw], [bx + cw, 1.0 - (ax + cz), cy - aw],
                     [cx - bw, cy + aw, 1.0 - (ax + by)]])


@kernel("(3,3)->(4)", check=check_rotation_matrix)
def quaternion_from_matrix(R: Array) -> Array:
    """The unit quaternion of a rotation, w >= 0; at a half-turn its largest component is positive.

    Four formulas, one for each component that may be the largest; that of the largest is selected, so nothing is
    divided by a small number anywhere in the group. Mladenova (12) with the four-case extraction of spec R-02; Yamamoto
    (C.7)-(C.10) corrected as in E3-40.

    >>> quaternion_from_matrix([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([0.70710678, 0.        , 0.        , 0.70710678])
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R
    trace = xx + yy + zz
    by_w = np.array([1.0 + trace, zy - yz, xz - zx, yx - xy])
    by_x = np.array([zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx])
    by_y = np.array([xz - zx, xy + yx, 1.0 + yy - xx - zz, yz + zy])
    by_z = np.array([yx - xy, xz + zx, yz + zy, 1.0 + zz - xx - yy])
    largest = np.maximum(np.maximum(xx, yy), zz)
    q = where(trace >= largest, by_w, where(xx >= largest, by_x, where(yy >= largest, by_y, by_z)))
    return q * (where(q[0] < 0, -1.0, 1.0) / np.sqrt(q @ q))


@kernel("(4)->(4)")
def canonical_quaternion(q: Array) -> Array:
    """The one of q and -q whose scalar part is positive; if that is zero, whose largest component is positive.

    >>> canonical_quaternion([-0.6, 0.0, 0.8, 0.0])
    array([ 0.6, -0. , -0.8, -0. ])
    """
    w, x, y, z = q
    y_or_z = where(np.abs(y) >= np.abs(z), y, z)
    largest = where(np.abs(x) >= np.abs(y_or_z), x, y_or_z)
    return q * where(where(w == 0, largest, w) < 0, -1.0, 1.0)


@kernel("(4),(3)->(3)", check=check_unit_quaternion)
def rotate_by_quaternion(q: Array, x: Array) -> Array:
    """The vector part of q (0; x) q^-1: x turned by q. Mladenova (23)-(26), Yamamoto (C.11)-(C.16).

    >>> rotate_by_quaternion([0.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0])
    array([-1., -2.,  3.])
    """
    w, v = q[0], q[1:]
    t = 2.0 / (q @ q) * np.cross(v, x)
    return x + w * t + np.cross(v, t)


@kernel("(4)->()", check=check_unit_quaternion)
def quaternion_angle(q: Array) -> Scalar:
    """The angle [rad], from 0 to pi, accurate at both ends (to 1e-154, float32: 1e-19); the same for q and -q.

    >>> float(quaternion_angle([0.0, 0.0, 1.0, 0.0])) == np.pi
    True
    """
    return 2.0 * np.arctan2(length(q[1:]), unsigned(q[0]))


def check_unit_quaternions(*quaternions: Array) -> None:
    """`check_unit_quaternion` for several."""
    for q in quaternions:
        check_unit_quaternion(q)


@kernel("(4),(4)->()", check=check_unit_quaternions)
def angle_between_quaternions(p: Array, q: Array) -> Scalar:
    """The angle [rad] from one attitude to the other, from 0 to pi, accurate at both ends.

    >>> round(float(angle_between_quaternions([1.0, 0.0, 0.0, 0.0], [0.8, 0.6, 0.0, 0.0])), 6)
    1.287002
    """
    r = quaternion_product(quaternion_conjugate(p), q)
    return 2.0 * np.arctan2(length(r[1:]), unsigned(r[0]))


# The other order of the components


@kernel("(4)->(4)")
def quaternion_from_scalar_last(xyzw: Array) -> Array:
    """From the order (x, y, z, w) of SciPy, ROS and Pinocchio.

    >>> quaternion_from_scalar_last([0.1, 0.2, 0.3, 0.9])
    array([0.9, 0.1, 0.2, 0.3])
    """
    x, y, z, w = xyzw
    return np.array([w, x, y, z])


@kernel("(4)->(4)")
def scalar_last_from_quaternion(q: Array) -> Array:
    """The quaternion in the order (x, y, z, w) of SciPy, ROS and Pinocchio.

    >>> scalar_last_from_quaternion([0.9, 0.1, 0.2, 0.3])
    array([0.1, 0.2, 0.3, 0.9])
    """
    w, x, y, z = q
    return np.array([x, y, z, w])
