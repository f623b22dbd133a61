"""Axis and angle, and the rotation vector: Rodrigues' formula, its matrix, and both directions of every relation with
the others.
"""

import numpy as np
import pytest
from hypothesis import given
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import cayley.geometry.rotations as rot
from cayley.errors import GeometryError, SignatureError
from cayley.geometry.rotations import axis_angle, rotation_vector
from compiler.parity import check_parity
from geometry.exact_rotations import AXES, attitude, attitude_error, encoded, half_turns, whole_group
from geometry.rotation_samples import kernels_of, sample_arguments
from geometry.strategies import axes, rotation_vectors, signed_angles, vectors


def close(a, b, atol=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@pytest.mark.spec("S0-01", "S3-06")
@given(axes(), signed_angles(), vectors())
def test_rodrigues_agrees_with_every_other_way_to_turn_a_vector(axis, angle, x):
    found = rot.rotate_by_axis_angle(axis, angle, x)
    close(found, np.cos(angle) * x + (1 - np.cos(angle)) * (axis @ x) * axis + np.sin(angle) * np.cross(axis, x))
    close(found, rot.matrix_from_axis_angle(axis, angle) @ x)
    close(found, rot.rotate_by_quaternion(rot.quaternion_from_axis_angle(axis, angle), x))
    close(found, rot.rotate_by_rotation_vector(rot.rotation_vector_from_axis_angle(axis, angle), x))
    close(found, rot.rotate_by_vector_parameter(rot.vector_parameter_from_axis_angle(axis, angle), x))
    close(found, rot.rotate_by_homogeneous(rot.homogeneous_from_axis_angle(axis, angle), x))
    close(found, Rotation.from_rotvec(angle * axis).apply(x))
    # the spinor matrix U = w - i v.sigma turns X = x.sigma into U X U^+
    w, (a, b, c) = np.cos(angle / 2), np.sin(angle / 2) * axis
    U = np.array([[w - 1j * c, -b - 1j * a], [b - 1j * a, w + 1j * c]])
    X = U @ np.array([[x[2], x[0] - 1j * x[1]], [x[0] + 1j * x[1], -x[2]]]) @ U.conj().T
    close(found, [X[1, 0].real, X[1, 0].imag, X[0, 0].real])
    close(np.linalg.norm(found), np.linalg.norm(x))
    close(found @ axis, x @ axis)


@pytest.mark.spec("S0-01", "S3-06")
@given(axes(), signed_angles(), vectors(), vectors())
def test_lengths_and_angles_between_vectors_stay(axis, angle, x, y):
    close(rot.rotate_by_axis_angle(axis, angle, x) @ rot.rotate_by_axis_angle(axis, angle, y), x @ y, 1e-12)


@pytest.mark.spec("S0-01", "S2-05", "S3-06")
def test_zero_angle_and_half_turn():
    x = np.array([0.3, -1.2, 0.7])
    for exact in half_turns():
        axis = np.array([float(e) for e in exact.axis])
        np.testing.assert_array_equal(rot.rotate_by_axis_angle(axis, 0.0, x), x)
        np.testing.assert_array_equal(rot.matrix_from_axis_angle(axis, 0.0), np.eye(3))
        close(rot.rotate_by_axis_angle(axis, np.pi, x), 2 * (axis @ x) * axis - x, 1e-15)
        close(rot.matrix_from_axis_angle(axis, np.pi), 2 * np.outer(axis, axis) - np.eye(3), 1e-15)


@pytest.mark.spec("S2-05", "S3-06")
@given(axes(), signed_angles())
def test_the_matrix_is_the_exponential_and_has_the_printed_entries(axis, angle):
    Q = rot.matrix_from_axis_angle(axis, angle)
    close(Q, expm(angle * hat(axis)), 1e-14)
    ex, ey, ez = axis
    c, s = np.cos(angle), np.sin(angle)
    close(Q[0], [ex**2 + c * (1 - ex**2), ex * ey * (1 - c) - s * ez, ex * ez * (1 - c) + s * ey], 1e-15)
    # the element that Yamamoto (B.13) prints with a cosine, spec E3-36
    close(Q[2, 1], ey * ez * (1 - c) + ex * s, 1e-15)
    close(Q, np.outer(axis, axis) + c * (np.eye(3) - np.outer(axis, axis)) + s * hat(axis), 1e-15)
    close(rot.matrix_from_axis_angle(-axis, -angle), Q, 0)


@pytest.mark.spec("S2-05")
def test_worked_example_we_01():
    Q = rot.matrix_from_axis_angle(np.array([1, 2, 2]) / 3, np.pi / 3)
    r = np.sqrt(3)
    close(Q, [[5 / 9, 1 / 9 - r / 3, 1 / 9 + r / 3], [1 / 9 + r / 3, 13 / 18, 2 / 9 - r / 6],
              [1 / 9 - r / 3, 2 / 9 + r / 6, 13 / 18]], 1e-15)
    axis, angle = rot.axis_angle_from_matrix(Q)
    close(axis, np.array([1, 2, 2]) / 3, 1e-15)
    close(angle, np.pi / 3, 1e-15)


@pytest.mark.spec("S3-06")
def test_worked_example_w3_03():
    k = np.array([1.0, 2.0, -2.0]) / 3
    close(rot.matrix_from_axis_angle(k, 0.9),
          [[0.6636533051, 0.6063046135, 0.4381312660], [-0.4381312660, 0.7897833157, -0.4292823173],
           [-0.6063046135, 0.0929356224, 0.7897833157]], 6e-11)
    close(rot.rotate_by_axis_angle(k, 0.9, [0.3, -0.4, 0.8]), [0.307079159, -0.7907785599, 0.4127610195], 6e-11)


@pytest.mark.spec("S0-01", "S2-05", "S3-06")
@pytest.mark.parametrize("use", [
    rot.matrix_from_axis_angle, rot.quaternion_from_axis_angle, rot.rotation_vector_from_axis_angle,
    rot.vector_parameter_from_axis_angle, rot.homogeneous_from_axis_angle,
    lambda axis, angle: rot.rotate_by_axis_angle(axis, angle, np.ones(3))])
def test_axes_that_are_not_unit_are_refused_with_their_length(use):
    with pytest.raises(GeometryError,
                       match=r"axis is not a unit vector: its length is 1\.0000002, not 1 \(1e-08 is allowed\)"):
        use(np.array([0.0, 0.0, 1 + 2e-7]), 0.3)
    with pytest.raises(GeometryError, match=r"axis 1 of the batch is not a unit vector: its length is 0"):
        use(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]), 0.3)
    with pytest.raises(GeometryError, match="length is nan"):
        use(np.array([0.0, np.nan, 0.0]), 0.3)
    with pytest.raises(SignatureError, match="has shape"):
        use(np.ones(2), 0.3)
    use(np.array([0.0, 0.0, 1 + 2e-5], dtype=np.float32), np.float32(0.3))


def test_axes_of_extractions():
    """Unit always; z for no rotation at all; at a half-turn with its largest component positive."""
    for exact in whole_group():
        axis, angle = rot.axis_angle_from_matrix(encoded("matrix", exact)[0])
        assert abs(np.linalg.norm(axis) - 1) <= 4e-16 and 0 <= angle <= np.pi
    for rotation in (rot.axis_angle_from_matrix(np.eye(3)), rot.axis_angle_from_quaternion([-1.0, 0.0, 0.0, 0.0]),
                     rot.axis_angle_from_rotation_vector(np.zeros(3)),
                     rot.axis_angle_from_vector_parameter(np.zeros(3))):
        np.testing.assert_array_equal(rotation.axis, [0, 0, 1])
        assert rotation.angle == 0
    for exact in half_turns():
        axis, angle = rot.axis_angle_from_matrix(encoded("matrix", exact)[0])
        assert angle == np.pi and axis[np.argmax(np.abs(axis))] > 0
        assert attitude_error("axis_angle", (axis, angle), exact) <= 4e-15


@pytest.mark.spec("S2-11")
@pytest.mark.parametrize(
    "angle", [0.0, 1e-300, 1e-16, 1e-8, 1e-3, 1.0, 2.0, 3.0, np.pi - 1e-3, np.pi - 1e-8, np.pi - 1e-15, np.pi])
def test_rodrigues_parameters_and_axis_angle(angle):
    """b = tan(phi/2) e both ways; b = 0; and the double next to pi, whose b is long but finite."""
    for direction in AXES:
        exact = attitude(direction, angle)
        axis = np.array([float(e) for e in exact.axis])
        b = rot.vector_parameter_from_axis_angle(axis, angle)
        assert np.isfinite(b).all() and attitude_error("vector_parameter", (b,), exact) <= 4e-15
        back, size = rot.axis_angle_from_vector_parameter(b)
        assert abs(size - angle) <= 1e-15
        if angle > 0:
            close(back, axis, 4e-16)
            D = 1 + b @ b  # Ruggiu (1.38): 1 + 2 cos(phi) = (4 - D)/D and (2/D) b = sin(phi) e
            close((4 - D) / D, 1 + 2 * np.cos(angle), 1e-15)
            close(2 / D * b, np.sin(angle) * axis, 1e-15)


# The rotation vector


@pytest.mark.spec("S0-17")
@given(rotation_vectors())
def test_the_exponential_of_the_rotation_vector(r):
    R = rot.matrix_from_rotation_vector(r)
    close(R, expm(hat(r)), 2e-14)
    c = rot.vector_parameter_from_rotation_vector(r)
    close(rot.matrix_from_vector_parameter(c), R, 4e-15)
    back = rot.rotation_vector_from_vector_parameter(c)
    if np.linalg.norm(r) < 3.1415926:
        close(back, r, 4e-15)
    else:  # next to the half-turn the sign is that of the tangent, which rounding decides
        close(rot.matrix_from_rotation_vector(back), R, 4e-15)


@pytest.mark.spec("S0-17")
@given(rotation_vectors(), rotation_vectors())
def test_naturality_of_the_rotation_vector(a, b):
    """R exp(b) R^T = exp(R b), spec E-18; and composition is that of the matrices."""
    A, B = rot.matrix_from_rotation_vector(a), rot.matrix_from_rotation_vector(b)
    close(rot.matrix_from_rotation_vector(A @ b), A @ B @ A.T, 1e-14)
    close(rot.matrix_from_rotation_vector(rot.compose_rotation_vectors(a, b)), A @ B, 4e-15)


@pytest.mark.spec("S0-17")
def test_series_of_the_source_near_zero():
    c = 1e-4 * np.array([0.3, -0.5, 0.7])
    close(rot.rotation_vector_from_vector_parameter(c) / (2 * c), 1 - (c @ c) / 3, 1e-16)


@pytest.mark.parametrize("kernel", kernels_of(axis_angle, rotation_vector), ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel))
