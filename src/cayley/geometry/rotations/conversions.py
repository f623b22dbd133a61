"""The pairs of parameterisations that have no formula of their own: each goes by way of the unit quaternion, and loses
nothing there.

With those in the modules of the parameterisations, every pair of matrix, quaternion, axis-angle, rotation vector,
vector-parameter, homogeneous form and half-sine parameter has its conversion. Angles are from 0 to pi; at a half-turn
the sign is that of the given form.

>>> homogeneous_from_axis_angle([1.0, 0.0, 0.0], np.pi).round(15)
array([0., 1., 0., 0.])
>>> axis_angle_from_homogeneous([0.0, 0.0, 5.0, 0.0]).axis
array([0., 1., 0.])
>>> quaternion_from_half_sine([0.0, 0.0, 0.6]), half_sine_from_quaternion([-0.8, 0.0, 0.0, 0.6])
(array([0.8, 0. , 0. , 0.6]), array([-0. , -0. , -0.6]))
"""

from __future__ import annotations

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.geometry.formula import formula
from cayley.geometry.rotations.axis_angle import (
    AxisAngle,
    axis_angle_from_quaternion,
    check_unit_axis,
    quaternion_from_axis_angle,
)
from cayley.geometry.rotations.half_sine import check_half_sine, half_sine_from_homogeneous, homogeneous_from_half_sine
from cayley.geometry.rotations.homogeneous import normalize_homogeneous
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion, check_unit_quaternion, quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector, rotation_vector_from_quaternion
from cayley.geometry.scaling import nearly_unit

homogeneous_from_quaternion = formula("homogeneous_from_quaternion", "(4)->(4)", lambda q: q,
                                      "q itself: a unit quaternion is a form of length one.", check_unit_quaternion)
quaternion_from_homogeneous = formula(
    "quaternion_from_homogeneous", "(4)->(4)", lambda h: normalize_homogeneous.unchecked(h),
    "The unit quaternion on the line of [w : v], with the sign of h.", check_nonzero_quaternion)
homogeneous_from_axis_angle = formula(
    "homogeneous_from_axis_angle", "(3),()->(4)", lambda axis, angle: quaternion_from_axis_angle.unchecked(axis, angle),
    "[cos(phi/2) : sin(phi/2) e].", check_unit_axis)
homogeneous_from_rotation_vector = formula(
    "homogeneous_from_rotation_vector", "(3)->(4)", lambda r: quaternion_from_rotation_vector(r),
    "[cos(phi/2) : sin(phi/2) r/phi].")
rotation_vector_from_homogeneous = formula(
    "rotation_vector_from_homogeneous", "(4)->(3)",
    lambda h: rotation_vector_from_quaternion.unchecked(normalize_homogeneous.unchecked(h)),
    "Axis times angle of [w : v].", check_nonzero_quaternion)
half_sine_from_quaternion = formula(
    "half_sine_from_quaternion", "(4)->(3)", lambda q: where(q[0] < 0, -1.0, 1.0) * nearly_unit(q)[1:],
    "The vector part of that one of q and -q whose scalar part is not negative.", check_unit_quaternion)
quaternion_from_half_sine = formula(
    "quaternion_from_half_sine", "(3)->(4)", lambda d: homogeneous_from_half_sine.unchecked(d),
    "(s; d) with s = sqrt(1 - d.d).", check_half_sine)
half_sine_from_matrix = formula(
    "half_sine_from_matrix", "(3,3)->(3)", lambda R: quaternion_from_matrix.unchecked(R)[1:],
    "sin(phi/2) e of a rotation matrix.", check_rotation_matrix)
half_sine_from_axis_angle = formula(
    "half_sine_from_axis_angle", "(3),()->(3)",
    lambda axis, angle: half_sine_from_homogeneous.unchecked(quaternion_from_axis_angle.unchecked(axis, angle)),
    "sin(phi/2) e, with the sign that makes the hidden cosine positive.", check_unit_axis)
half_sine_from_rotation_vector = formula(
    "half_sine_from_rotation_vector", "(3)->(3)",
    lambda r: half_sine_from_homogeneous.unchecked(quaternion_from_rotation_vector(r)),
    "sin(phi/2) r/phi, with the sign that makes the hidden cosine positive.")
rotation_vector_from_half_sine = formula(
    "rotation_vector_from_half_sine", "(3)->(3)",
    lambda d: rotation_vector_from_quaternion.unchecked(homogeneous_from_half_sine.unchecked(d)),
    "2 asin(|d|) d/|d|.", check_half_sine)


@kernel("(4)->(3),()", check=check_nonzero_quaternion)
def axis_angle_from_homogeneous(h: Array) -> AxisAngle:
    """The axis and the angle of [w : v]."""
    return axis_angle_from_quaternion.unchecked(normalize_homogeneous.unchecked(h))


@kernel("(3)->(3),()", check=check_half_sine)
def axis_angle_from_half_sine(d: Array) -> AxisAngle:
    """The axis d/|d| (z for d = 0) and the angle 2 asin(|d|)."""
    return axis_angle_from_quaternion.unchecked(homogeneous_from_half_sine.unchecked(d))
