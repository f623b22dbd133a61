"""Axis and angle: a unit vector e and the angle phi [rad] of the turn about it.

Extractions give an angle from 0 to pi and its axis; with the angle 0, where every axis serves, the axis is z. (e, phi),
(-e, -phi) and (e, phi + 2 pi) are the same rotation.

Sources: Mladenova (8); Ruggiu (1.16)-(1.19); Yamamoto appendix B, corrected as in spec E3-36.

>>> float(vector_length([3.0, 0.0, 4.0]))
5.0
>>> rotation_vector_from_axis_angle([0.0, 1.0, 0.0], 0.5)
array([0. , 0.5, 0. ])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.geometry.batch import place, refuse, shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_unit_quaternion, quaternion_from_matrix
from cayley.geometry.scaling import direction, nearly_unit, unsigned


class AxisAngle(NamedTuple):
    """A unit axis (..., 3) and an angle [rad]."""

    axis: Array
    angle: Scalar


vector_length = formula("vector_length", "(3)->()", lambda v: np.linalg.norm(v), "|v|.")


def check_unit_axis(axis: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless every axis has length one, within 1e-8 (float32: 1e-4) or `tolerance`.

    >>> check_unit_axis([0.0, 0.0, 2.0])
    Traceback (most recent call last):
    cayley.errors.GeometryError: axis is not a unit vector: its length is 2, not 1 (1e-08 is allowed); divide it by ...
    """
    axis = shaped(axis, (3,), "an axis")
    allowed = tolerance_of(axis, tolerance)
    size = vector_length(axis)
    refuse(np.abs(size - 1.0) <= allowed, lambda bad:
           f"axis{place(bad)} is not a unit vector: its length is {size[bad]:.10g}, not 1 ({allowed:.0e} is allowed); "
           "divide it by its length")


@kernel("(3),()->(3,3)", check=check_unit_axis)
def matrix_from_axis_angle(axis: Array, angle: Scalar) -> Array:
    """cos(phi) 1 + (1 - cos(phi)) e e^T + sin(phi) hat(e). Ruggiu (1.19), Yamamoto (B.13) corrected as in spec E3-36.

    What the check lets pass of an axis (a length off by 1e-9, say) is divided away: the result is a rotation to the
    last digit.

    >>> (matrix_from_axis_angle([0.0, 0.0, 1.0], np.pi / 2) @ [1.0, 0.0, 0.0]).round(15)
    array([0., 1., 0.])
    """
    axis = nearly_unit(axis)
    x, y, z = axis
    half = np.sin(0.5 * angle)
    s = 2.0 * half * np.cos(0.5 * angle)
    versine = 2.0 * half * half
    c = 1.0 - versine
    a, b, d = s * axis
    u, v, w = versine * axis
    return np.array([[c + u * x, u * y - d, u * z + b], [u * y + d, c + v * y, v * z - a],
                     [u * z - b, v * z + a, c + w * z]])


@kernel("(3,3)->(3),()", check=check_rotation_matrix)
def axis_angle_from_matrix(R: Array) -> AxisAngle:
    """The axis and the angle, from 0 to pi, of a rotation. At a half-turn the component of largest size is positive.

    >>> axis_angle_from_matrix(np.diag([-1.0, -1.0, 1.0])).axis
    array([0., 0., 1.])
    """
    return axis_angle_from_quaternion.unchecked(quaternion_from_matrix.unchecked(R))


quaternion_from_axis_angle = formula(
    "quaternion_from_axis_angle", "(3),()->(4)",
    lambda axis, angle: np.concatenate([[np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis]),
    "(cos(phi/2); sin(phi/2) e). Mladenova (11), Yamamoto (C.4).", check_unit_axis)


@kernel("(4)->(3),()", check=check_unit_quaternion)
def axis_angle_from_quaternion(q: Array) -> AxisAngle:
    """The axis and the angle, from 0 to pi, of a unit quaternion; the same for q and -q, except at a half-turn.

    >>> axis, angle = axis_angle_from_quaternion([0.0, 0.6, 0.0, -0.8])
    >>> axis, float(angle)
    (array([ 0.6,  0. , -0.8]), 3.141592653589793)
    """
    axis, length = direction(q[1:])
    return AxisAngle(where((q[0] < 0) & (length > 0), -axis, axis), 2.0 * np.arctan2(length, unsigned(q[0])))


rotation_vector_from_axis_angle = formula("rotation_vector_from_axis_angle", "(3),()->(3)",
                                          lambda axis, angle: angle * axis, "phi e.", check_unit_axis)


@kernel("(3)->(3),()")
def axis_angle_from_rotation_vector(r: Array) -> AxisAngle:
    """The axis and the angle |r| (not brought below pi).

    >>> axis_angle_from_rotation_vector([0.0, 3e-200, 4e-200]).axis
    array([0. , 0.6, 0.8])
    """
    return AxisAngle(*direction(r))


@kernel("(3),(),(3)->(3)", check=check_unit_axis)
def rotate_by_axis_angle(axis: Array, angle: Scalar, x: Array) -> Array:
    """Rodrigues' formula: cos(phi) x + (1 - cos(phi)) (e.x) e + sin(phi) e x x. Mladenova (8), Yamamoto (B.11).

    >>> rotate_by_axis_angle([0.0, 0.0, 1.0], np.pi / 2, [1.0, 0.0, 5.0]).round(15)
    array([0., 1., 5.])
    """
    axis = nearly_unit(axis)
    half = np.sin(0.5 * angle)
    s = 2.0 * half * np.cos(0.5 * angle)
    versine = 2.0 * half * half
    return (1.0 - versine) * x + versine * (axis @ x) * axis + s * np.cross(axis, x)
