"""The vector-parameter c = tan(phi/2) e (Gibbs, Rodrigues, Cayley): three numbers, a rational composition law, no trigonometry.

Every finite c is a rotation; half-turns have none (c grows without bound towards them). What would have to return one raises
`SingularityError`; its `unchecked` kernel gives infinities or NaN there. Every finite c is taken, however long: what is squared is scaled
first. A c beyond 1e150 (float32: 1e18) is not given: closer to a half-turn than that, and through it, use the homogeneous form [w : v].

Sources: Mladenova 2.4, 2.5 (64)-(67), (72), corrected as in spec E-17; Ruggiu 1.2.4, 1.2.6 (1.25)-(1.31), (1.38), (1.39); equations
(R-1)-(R-3) of docs/theory/rotations.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.errors import SingularityError
from cayley.geometry.batch import first_failure, place
from cayley.geometry.rotations.axis_angle import AxisAngle, check_unit_axis
from cayley.geometry.rotations.even import arctangent_ratio, tangent_ratio
from cayley.geometry.rotations.homogeneous import check_homogeneous, compose_homogeneous
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_unit_quaternion, quaternion_from_matrix
from cayley.geometry.scaling import direction, largest_component, scaling, shrinking
from cayley.geometry.tensors.checks import check_skew
from cayley.geometry.tensors.cross import hat, vee


def short_form(c):
    """w and v of a homogeneous form [w : v] of c that is short enough to be squared; w = 1 but for the longest c. (To be traced.)"""
    w = shrinking(largest_component(c))
    return w, w * c


@kernel("(4)->()")
def _reach(h):
    """The largest component of v/w."""
    h = scaling(largest_component(h)) * h
    return largest_component(h[1:]) / np.abs(h[0])


def check_not_half_turn(h: Any) -> None:
    """Raise `SingularityError` where [w : v] is a half-turn, or so close to one that the square of v/w is not a number.

    >>> check_not_half_turn([0.0, 1.0, 0.0, 0.0])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the rotation is a half-turn about [1. 0. 0.]: its vector-parameter is infinite. Use ...
    """
    h = np.asarray(h)
    longest = 1e18 if h.dtype == np.float32 else 1e150
    bad = first_failure(~(_reach(h) > longest))
    if bad is not None:
        about = h[bad][1:] / np.linalg.norm(h[bad][1:])
        raise SingularityError(f"the rotation{place(bad)} is a half-turn about {about}: its vector-parameter is infinite. Use the "
                               "homogeneous form [w : v], for which half-turns are ordinary rotations")


# Matrix, Cayley transform


@kernel("(3)->(3,3)")
def matrix_from_vector_parameter(c):
    """((1 - c.c) 1 + 2 c c^T + 2 hat(c))/(1 + c.c). Mladenova (64), Ruggiu (1.31).

    >>> matrix_from_vector_parameter([0.0, 0.0, 1.0])
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    w, v = short_form(c)
    return rotation_of_form(w, v)


def rotation_of_form(w, v):
    """The matrix of [w : v], which can be squared; with w = 1 the formula of the vector-parameter v. (To be traced.)"""
    x, y, z = v
    a, b, d = 2 / (w * w + v @ v) * v
    ax, by, dz, bx, dx, dy, aw, bw, dw = a * x, b * y, d * z, b * x, d * x, d * y, a * w, b * w, d * w
    return np.array([[1 - (by + dz), bx - dw, dx + bw], [bx + dw, 1 - (ax + dz), dy - aw], [dx - bw, dy + aw, 1 - (ax + by)]])


def _check_matrix(R: Any) -> None:
    check_rotation_matrix(R)
    check_not_half_turn(quaternion_from_matrix.unchecked(R))


@kernel("(3,3)->(3)", check=_check_matrix)
def vector_parameter_from_matrix(R):
    """vee(R - R^T)/(1 + tr R), by way of the largest of the four quaternion components, so that digits survive next to a half-turn.

    A half-turn raises `SingularityError`. Mladenova (66), Ruggiu (1.29), (1.35).

    >>> vector_parameter_from_matrix([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([0., 0., 1.])
    """
    q = quaternion_from_matrix.unchecked(R)
    return q[1:] / q[0]


@kernel("(3,3)->(3,3)", check=check_skew)
def cayley_transform(B):
    """Q = (1 - B)^-1 (1 + B) of a skew matrix B = hat(b): the rotation with the vector-parameter b. Ruggiu (1.27).

    >>> cayley_transform([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) @ [1.0, 0.0, 0.0]
    array([0., 1., 0.])
    """
    return matrix_from_vector_parameter(vee(B))


@kernel("(3,3)->(3,3)", check=_check_matrix)
def inverse_cayley_transform(Q):
    """B = (Q - 1)(Q + 1)^-1, which is skew. A half-turn, where Q + 1 is singular, raises `SingularityError`. Ruggiu (1.25).

    >>> inverse_cayley_transform([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([[ 0., -1.,  0.],
           [ 1.,  0., -0.],
           [-0.,  0.,  0.]])
    """
    return hat(vector_parameter_from_matrix.unchecked(Q))


# The group


def _check_composition(a: Any, b: Any) -> None:
    check_not_half_turn(product_form(a, b))


@kernel("(3),(3)->(4)")
def product_form(a, b):
    w1, v1 = short_form(a)
    w2, v2 = short_form(b)
    return compose_homogeneous.unchecked(np.concatenate([np.stack([w1]), v1]), np.concatenate([np.stack([w2]), v2]))


@kernel("(3),(3)->(3)", check=_check_composition)
def compose_vector_parameters(a, b):
    """<a, b> = (a + b + a x b)/(1 - a.b): the rotation b, then a. Mladenova (67).

    a.b > 1 is as good as any other. a.b = 1 is a half-turn and raises `SingularityError`; `compose_homogeneous` gives it.

    >>> compose_vector_parameters([2.0, 0.0, 0.0], [2.0, 1.0, 0.0])
    array([-1.33333333, -0.33333333, -0.66666667])
    """
    w1, v1 = short_form(a)
    w2, v2 = short_form(b)
    return (w2 * v1 + w1 * v2 + np.cross(v1, v2)) / (w1 * w2 - v1 @ v2)


@kernel("(3)->(3)")
def inverse_vector_parameter(c):
    """-c.

    >>> inverse_vector_parameter([1.0, 2.0, 3.0])
    array([-1., -2., -3.])
    """
    return -c


@kernel("(3),(3)->(3)")
def conjugate_vector_parameter(a, c):
    """<a, c, -a> = O(a) c: the rotation c about an axis that a has turned. Never singular. Mladenova, after (67).

    >>> conjugate_vector_parameter([0.0, 0.0, 1.0], [2.0, 0.0, 0.0])
    array([0., 2., 0.])
    """
    return rotate_by_vector_parameter(a, c)


def _chain(cs):
    """The homogeneous form of a product. Only what grows long is scaled: short numbers stay exact, and so does w = 0."""
    total = np.array([1.0, 0.0, 0.0, 0.0])
    for c in cs:
        total = _tamed(compose_homogeneous.unchecked(total, _tamed(homogeneous_from_vector_parameter(c))))
    return total


def _tamed(h):
    return shrinking(largest_component(h)) * h


def _check_chain(cs: Any) -> None:
    check_not_half_turn(_chain_form(cs))


@kernel("(n,3)->(4)")
def _chain_form(cs):
    return _chain(cs)


@kernel("(n,3)->(3)", check=_check_chain)
def compose_all_vector_parameters(cs):
    """<c1, c2, ..., cn>, the last applied first; zero for none. Partial products may be half-turns; a total one raises `SingularityError`.

    >>> compose_all_vector_parameters([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]).round(15)
    array([-1., -0., -0.])
    """
    h = _chain(cs)
    return h[1:] / h[0]


@kernel("(3),(3)->(3)")
def rotate_by_vector_parameter(c, x):
    """O(c) x = x + 2/(1 + c.c) (c x x + c x (c x x)). Mladenova (65).

    >>> rotate_by_vector_parameter([0.0, 0.0, 1.0], [1.0, 0.0, 5.0])
    array([0., 1., 5.])
    """
    w, v = short_form(c)
    t = 2 / (w * w + v @ v) * np.cross(v, x)
    return x + w * t + np.cross(v, t)


# Quaternion, homogeneous form, rotation vector, axis and angle


@kernel("(3)->(4)")
def quaternion_from_vector_parameter(c):
    """(1; c)/sqrt(1 + c.c). Mladenova (72) in the labelling of (11), spec E-17.

    >>> quaternion_from_vector_parameter([0.0, 0.0, 0.75])
    array([0.8, 0. , 0. , 0.6])
    """
    w, v = short_form(c)
    per = 1 / np.sqrt(w * w + v @ v)
    return np.concatenate([np.stack([per * w]), per * v])


def _check_quaternion(q: Any) -> None:
    check_unit_quaternion(q)
    check_not_half_turn(q)


@kernel("(4)->(3)", check=_check_quaternion)
def vector_parameter_from_quaternion(q):
    """(x, y, z)/w, the same for q and -q. w = 0, a half-turn, raises `SingularityError`. Mladenova (72), spec E-17.

    >>> vector_parameter_from_quaternion([0.8, 0.0, 0.0, 0.6])
    array([0.  , 0.  , 0.75])
    """
    return q[1:] / q[0]


@kernel("(3)->(4)")
def homogeneous_from_vector_parameter(c):
    """[1 : c].

    >>> homogeneous_from_vector_parameter([1.0, 2.0, 3.0])
    array([1., 1., 2., 3.])
    """
    return np.concatenate([[1.0], c])


def _check_form(h: Any) -> None:
    check_homogeneous(h)
    check_not_half_turn(h)


@kernel("(4)->(3)", check=_check_form)
def vector_parameter_from_homogeneous(h):
    """v/w. A half-turn, w = 0, is infinite by nature and raises `SingularityError`: stay with the homogeneous form there.

    >>> vector_parameter_from_homogeneous([2.0, 2.0, 4.0, 6.0])
    array([1., 2., 3.])
    """
    h = scaling(largest_component(h)) * h
    return h[1:] / h[0]


@kernel("(3)->(3)")
def vector_parameter_from_rotation_vector(r):
    """tan(|r|/2) r/|r|, smooth at zero. Mladenova, end of 2.5. The double nearest to pi is not a half-turn: its c has length 1.6e16.

    >>> vector_parameter_from_rotation_vector([0.0, 0.0, np.pi / 2])
    array([0., 0., 1.])
    """
    return 0.5 * tangent_ratio(0.25 * (r @ r)) * r


@kernel("(3)->(3)")
def rotation_vector_from_vector_parameter(c):
    """2 atan(|c|) c/|c|, smooth at zero; the angle is below pi or rounds to it. Mladenova, end of 2.5.

    >>> rotation_vector_from_vector_parameter([0.0, 0.0, 1.0])
    array([0.        , 0.        , 1.57079633])
    """
    w, v = short_form(c)
    return 2.0 * arctangent_ratio(v @ v, w) * v


@kernel("(3),()->(3)", check=check_unit_axis)
def vector_parameter_from_axis_angle(axis, angle):
    """tan(phi/2) e. Ruggiu (1.39).

    >>> vector_parameter_from_axis_angle([0.0, 1.0, 0.0], np.pi / 2)
    array([0., 1., 0.])
    """
    return np.tan(0.5 * angle) * axis


@kernel("(3)->(3),()")
def axis_angle_from_vector_parameter(c):
    """The axis c/|c| (z for c = 0) and the angle 2 atan(|c|), from 0 to pi. Ruggiu (1.38).

    >>> float(axis_angle_from_vector_parameter([0.0, 0.0, 1.0]).angle) == np.pi / 2
    True
    """
    axis, length = direction(c)
    return AxisAngle(axis, 2.0 * np.arctan(length))
