"""The pairs of parameterisations that have no formula of their own: each goes by way of the unit quaternion, and loses
nothing there.

With those in the modules of the parameterisations, every pair of matrix, quaternion, axis-angle, rotation vector,
vector-parameter, homogeneous form and half-sine parameter has its conversion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations.axis_angle import axis_angle_from_quaternion, check_unit_axis, quaternion_from_axis_angle
from cayley.geometry.rotations.half_sine import check_half_sine, half_sine_from_homogeneous, homogeneous_from_half_sine
from cayley.geometry.rotations.homogeneous import normalize_homogeneous
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion, check_unit_quaternion, quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector, rotation_vector_from_quaternion
from cayley.geometry.scaling import nearly_unit

if TYPE_CHECKING:
    from cayley.geometry.rotations.axis_angle import AxisAngle

# Homogeneous form


@kernel("(4)->(4)", check=check_unit_quaternion)
def homogeneous_from_quaternion(q: Array) -> Array:
    """q itself: a unit quaternion is a homogeneous form of length one.

    >>> homogeneous_from_quaternion([0.0, 1.0, 0.0, 0.0])
    array([0., 1., 0., 0.])
    """
    return q


@kernel("(4)->(4)", check=check_nonzero_quaternion)
def quaternion_from_homogeneous(h: Array) -> Array:
    """The unit quaternion on the line of [w : v], with the sign of h.

    >>> quaternion_from_homogeneous([0.0, 3.0, 0.0, 4.0])
    array([0. , 0.6, 0. , 0.8])
    """
    return normalize_homogeneous.unchecked(h)


@kernel("(3),()->(4)", check=check_unit_axis)
def homogeneous_from_axis_angle(axis: Array, angle: Scalar) -> Array:
    """[cos(phi/2) : sin(phi/2) e].

    >>> homogeneous_from_axis_angle([1.0, 0.0, 0.0], np.pi).round(15)
    array([0., 1., 0., 0.])
    """
    return quaternion_from_axis_angle.unchecked(axis, angle)


@kernel("(4)->(3),()", check=check_nonzero_quaternion)
def axis_angle_from_homogeneous(h: Array) -> AxisAngle:
    """The axis and the angle, from 0 to pi, of [w : v].

    >>> axis_angle_from_homogeneous([0.0, 0.0, 5.0, 0.0]).axis
    array([0., 1., 0.])
    """
    return axis_angle_from_quaternion.unchecked(normalize_homogeneous.unchecked(h))


@kernel("(3)->(4)")
def homogeneous_from_rotation_vector(r: Array) -> Array:
    """[cos(phi/2) : sin(phi/2) r/phi].

    >>> homogeneous_from_rotation_vector([0.0, 0.0, 0.0])
    array([1., 0., 0., 0.])
    """
    return quaternion_from_rotation_vector(r)


@kernel("(4)->(3)", check=check_nonzero_quaternion)
def rotation_vector_from_homogeneous(h: Array) -> Array:
    """Axis times angle, the angle from 0 to pi, of [w : v].

    >>> rotation_vector_from_homogeneous([0.0, 0.0, 5.0, 0.0])
    array([0.        , 3.14159265, 0.        ])
    """
    return rotation_vector_from_quaternion.unchecked(normalize_homogeneous.unchecked(h))


# Half-sine parameter


@kernel("(4)->(3)", check=check_unit_quaternion)
def half_sine_from_quaternion(q: Array) -> Array:
    """The vector part of that one of q and -q whose scalar part is not negative.

    >>> half_sine_from_quaternion([-0.8, 0.0, 0.0, 0.6])
    array([-0. , -0. , -0.6])
    """
    return where(q[0] < 0, -1.0, 1.0) * nearly_unit(q)[1:]


@kernel("(3)->(4)", check=check_half_sine)
def quaternion_from_half_sine(d: Array) -> Array:
    """(s; d) with s = sqrt(1 - d.d).

    >>> quaternion_from_half_sine([0.0, 0.0, 0.6])
    array([0.8, 0. , 0. , 0.6])
    """
    return homogeneous_from_half_sine.unchecked(d)


@kernel("(3,3)->(3)", check=check_rotation_matrix)
def half_sine_from_matrix(R: Array) -> Array:
    """sin(phi/2) e of a rotation matrix, phi from 0 to pi.

    >>> half_sine_from_matrix(np.diag([-1.0, -1.0, 1.0]))
    array([0., 0., 1.])
    """
    return quaternion_from_matrix.unchecked(R)[1:]


@kernel("(3),()->(3)", check=check_unit_axis)
def half_sine_from_axis_angle(axis: Array, angle: Scalar) -> Array:
    """sin(phi/2) e, with the sign that makes the hidden cosine positive.

    >>> half_sine_from_axis_angle([0.0, 0.0, 1.0], np.pi)
    array([0., 0., 1.])
    """
    return half_sine_from_homogeneous.unchecked(quaternion_from_axis_angle.unchecked(axis, angle))


@kernel("(3)->(3),()", check=check_half_sine)
def axis_angle_from_half_sine(d: Array) -> AxisAngle:
    """The axis d/|d| (z for d = 0) and the angle 2 asin(|d|), from 0 to pi.

    >>> axis_angle_from_half_sine([0.0, 1.0, 0.0]).axis
    array([0., 1., 0.])
    """
    return axis_angle_from_quaternion.unchecked(homogeneous_from_half_sine.unchecked(d))


@kernel("(3)->(3)")
def half_sine_from_rotation_vector(r: Array) -> Array:
    """sin(phi/2) r/phi, with the sign that makes the hidden cosine positive.

    >>> half_sine_from_rotation_vector([0.0, 0.0, np.pi])
    array([0., 0., 1.])
    """
    return half_sine_from_homogeneous.unchecked(quaternion_from_rotation_vector(r))


@kernel("(3)->(3)", check=check_half_sine)
def rotation_vector_from_half_sine(d: Array) -> Array:
    """2 asin(|d|) d/|d|.

    >>> rotation_vector_from_half_sine([0.0, 0.0, 1.0]) / np.pi
    array([0., 0., 1.])
    """
    return rotation_vector_from_quaternion.unchecked(homogeneous_from_half_sine.unchecked(d))
