"""Quaternions: the algebra, its regular representations, and the two-to-one cover of the rotations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import cayley.geometry.rotations as rot
from cayley.errors import GeometryError, SignatureError
from cayley.geometry.rotations import quaternion
from compiler.parity import check_parity
from geometry.exact_rotations import MP, attitude_error, encoded, half_turns, product, whole_group
from geometry.rotation_samples import kernels_of, sample_arguments
from geometry.strategies import axes, components, signed_angles, unit_quaternions, vectors

ONE, I, J, K = np.eye(4)
multiply = rot.quaternion_product


def quaternions():
    return st.tuples(*[components(3.0)] * 4).map(np.array)


def exactly(q):
    return [MP.mpf(float(e)) for e in q]


def close(a, b, atol=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def exact_angle(h):
    return float(2 * MP.atan2(MP.sqrt(sum(x * x for x in h[1:])), abs(h[0])))


@pytest.mark.parametrize("axis", [I[1:], J[1:], K[1:], [0.6, 0.0, -0.8], [1.0, 2.0, 3.0]], ids=str)
def test_angles_in_sixty_digits(axis):
    """The angle of a rotation about every axis, from next to nothing to a half-turn, and of the rotation from another
    attitude to it.
    """
    axis, other = np.array(axis) / np.linalg.norm(axis), rot.normalize_quaternion([0.5, -0.1, 0.7, 0.3])
    for half in (1e-140, 1e-9, 0.1, 0.8, 1.5, np.pi / 2 - 1e-9, np.pi / 2, 2.0, 3.1):
        q = np.array([np.cos(half), *np.sin(half) * axis])
        expected = exact_angle(exactly(q))
        np.testing.assert_allclose([rot.quaternion_angle(q), rot.quaternion_angle(-q)], expected, rtol=1e-15)
        close(rot.rotation_angle(rot.matrix_from_quaternion(q)), expected, 2e-15)
        expected = exact_angle(product(exactly(other * [1, -1, -1, -1]), exactly(q)))
        close(rot.angle_between_quaternions(other, q), expected, 2e-15)
        close(rot.angle_between_rotations(rot.matrix_from_quaternion(other), rot.matrix_from_quaternion(q)), expected,
              4e-15)


# The algebra


@pytest.mark.spec("S0-04", "S3-07")
def test_hamilton_relations():
    for unit in (I, J, K):
        np.testing.assert_array_equal(multiply(unit, unit), -ONE)
    np.testing.assert_array_equal(multiply(multiply(I, J), K), -ONE)
    for a, b, c in ((I, J, K), (J, K, I), (K, I, J)):
        np.testing.assert_array_equal(multiply(a, b), c)
        np.testing.assert_array_equal(multiply(b, a), -c)


@pytest.mark.spec("S0-04", "S3-07")
@given(quaternions(), quaternions(), quaternions())
def test_the_algebra(p, q, r):
    close(multiply(p, q), np.array(product(exactly(p), exactly(q)), dtype=float))
    close(multiply(multiply(p, q), r), multiply(p, multiply(q, r)), 1e-12)
    close(multiply(p, q + r), multiply(p, q) + multiply(p, r), 1e-12)
    close(multiply(ONE, q), q)
    close(rot.quaternion_conjugate(multiply(p, q)), multiply(rot.quaternion_conjugate(q), rot.quaternion_conjugate(p)))
    close(rot.quaternion_norm(multiply(p, q)), rot.quaternion_norm(p) * rot.quaternion_norm(q), 1e-12)
    close(multiply(q, rot.quaternion_conjugate(q)), [q @ q, 0, 0, 0])
    close(multiply(p, rot.quaternion_conjugate(q))[0], p @ q)  # the scalar part of p conj(q) is the inner product


@pytest.mark.spec("S0-04")
@given(quaternions(), quaternions())
def test_regular_representations(p, q):
    left, right = rot.quaternion_left_matrix, rot.quaternion_right_matrix
    close(left(q) @ p, multiply(q, p))
    close(right(q) @ p, multiply(p, q))
    close(left(q) @ left(p), left(multiply(q, p)), 1e-12)
    close(right(q) @ right(p), right(multiply(p, q)), 1e-12)
    close(left(q) @ right(p), right(p) @ left(q), 1e-12)
    close(left(rot.quaternion_conjugate(q)), left(q).T)
    close(right(rot.quaternion_conjugate(q)), right(q).T)
    close(left(q) @ left(q).T, (q @ q) * np.eye(4), 1e-12)
    w, x, y, z = q
    np.testing.assert_array_equal(left(q), [[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


@pytest.mark.spec("S0-04")
@given(quaternions().filter(lambda q: np.linalg.norm(q) > 1e-3))
def test_inverse_and_unit_group(q):
    inverse = rot.quaternion_inverse(q)
    close(multiply(q, inverse), ONE)
    close(multiply(inverse, q), ONE)
    unit = rot.normalize_quaternion(q)
    close(rot.quaternion_norm(unit), 1.0, 4e-16)
    close(rot.quaternion_inverse(unit), rot.quaternion_conjugate(unit), 1e-15)
    close(unit * np.linalg.norm(q), q)


@pytest.mark.spec("S0-04")
@pytest.mark.parametrize("function", [rot.quaternion_inverse, rot.normalize_quaternion])
def test_zero_has_no_inverse(function):
    with pytest.raises(GeometryError, match="no inverse and no direction"):
        function(np.zeros(4))
    with pytest.raises(GeometryError, match="quaternion 1 of the batch"):
        function([ONE, [np.nan, 0, 0, 0]])


@pytest.mark.parametrize("size", [2.0**-1070, 1e-300, 1e-170, 1e170, 4e307])
def test_every_size_can_be_normalized_and_inverted(size):
    q = size * np.array([1.0, -2.0, 2.0, 4.0])
    close(rot.normalize_quaternion(q), np.array([0.2, -0.4, 0.4, 0.8]), 3e-16)
    close(rot.vector_parameter_from_homogeneous(q), [-2.0, 2.0, 4.0], 1e-15)
    if 1e-301 < size < 1e301:
        close(multiply(rot.quaternion_inverse(q), q), ONE, 4e-16)


# Rotations


@pytest.mark.spec("S0-05", "S3-07")
@given(unit_quaternions(), vectors())
def test_action_on_vectors_is_the_sandwich(q, x):
    """b (0; x) b^-1 by three routes: the product itself, the factor form of the source, and the closed kernel; and in
    60 digits.
    """
    inverse = rot.quaternion_inverse(q)
    sandwich = multiply(multiply(q, np.array([0.0, *x])), inverse)
    found = rot.rotate_by_quaternion(q, x)
    assert abs(sandwich[0]) <= 1e-14
    close(found, sandwich[1:])
    by_matrices = rot.quaternion_left_matrix(q) @ rot.quaternion_left_matrix(np.array([0.0, *x])) @ inverse
    close(found, by_matrices[1:])
    factors = np.array([-(q[1:] @ x), *(q[0] * x + np.cross(q[1:], x))])
    close(found, multiply(factors, inverse)[1:])
    close(found, rot.matrix_from_quaternion(q) @ x)
    close(found, rot.rotate_by_quaternion(-q, x), 0)
    exact = product(product(exactly(q), exactly([0.0, *x])),
                    [e * s for e, s in zip(exactly(q), (1, -1, -1, -1), strict=True)])
    close(found, [float(e / sum(c * c for c in exactly(q))) for e in exact[1:]], 2e-14)
    close(np.linalg.norm(found), np.linalg.norm(x))


@pytest.mark.spec("S0-02", "S0-05", "S3-07")
@given(unit_quaternions(), unit_quaternions())
def test_the_cover_is_a_homomorphism_with_kernel_plus_minus_one(p, q):
    close(rot.matrix_from_quaternion(multiply(p, q)),
          rot.matrix_from_quaternion(p) @ rot.matrix_from_quaternion(q), 4e-15)
    np.testing.assert_array_equal(rot.matrix_from_quaternion(q), rot.matrix_from_quaternion(-q))
    back = rot.quaternion_from_matrix(rot.matrix_from_quaternion(q))
    assert min(np.abs(back - q).max(), np.abs(back + q).max()) <= 4e-15
    assert back[0] >= 0


@pytest.mark.spec("S0-05")
def test_only_plus_and_minus_one_are_the_identity():
    np.testing.assert_array_equal(rot.matrix_from_quaternion([ONE, -ONE]), [np.eye(3)] * 2)
    for exact in whole_group():
        q, = encoded("quaternion", exact)
        if np.abs(q[1:]).max() > 1e-15:
            assert np.abs(rot.matrix_from_quaternion(q) - np.eye(3)).max() > 1e-15


@pytest.mark.spec("S0-02")
def test_the_matrix_of_euler_parameters():
    """Orthogonal, determinant one, the printed entries, and the vector form of the source (with its missing factor
    restored).
    """
    for exact in whole_group()[::5]:
        q, = encoded("quaternion", exact)
        B = rot.matrix_from_quaternion(q)
        assert rot.rotation_defect(B) <= 2e-15
        b0, b1, b2, b3 = q
        close(B, [[b0**2 + b1**2 - b2**2 - b3**2, 2 * (b1 * b2 - b0 * b3), 2 * (b1 * b3 + b0 * b2)],
                  [2 * (b1 * b2 + b0 * b3), b0**2 - b1**2 + b2**2 - b3**2, 2 * (b2 * b3 - b0 * b1)],
                  [2 * (b1 * b3 - b0 * b2), 2 * (b2 * b3 + b0 * b1), b0**2 - b1**2 - b2**2 + b3**2]], 2e-15)
        x = np.array([0.3, -1.2, 0.7])
        close(B @ x, (2 * b0**2 - 1) * x + 2 * (q[1:] @ x) * q[1:] + 2 * b0 * np.cross(q[1:], x), 4e-15)


@pytest.mark.spec("S0-02", "S3-07")
def test_extraction_at_half_turns_where_the_trace_formula_fails():
    for exact in half_turns():
        R, = encoded("matrix", exact)
        q = rot.quaternion_from_matrix(R)
        assert q[0] == 0 and attitude_error("quaternion", (q,), exact) <= 4e-15
        largest = np.argmax(np.abs(q))
        assert q[largest] > 0
        np.testing.assert_array_equal(rot.canonical_quaternion(-q), q)


@pytest.mark.spec("S0-02")
@pytest.mark.parametrize("drift", [-9e-9, 1e-12, 9e-9])
def test_norm_drift_within_the_tolerance_does_not_reach_the_matrix(drift):
    q = rot.normalize_quaternion([0.3, -0.5, 0.1, 0.8])
    close(rot.matrix_from_quaternion((1 + drift) * q), rot.matrix_from_quaternion(q), 4e-16)
    close(rot.rotate_by_quaternion((1 + drift) * q, [1.0, 2.0, 3.0]), rot.rotate_by_quaternion(q, [1.0, 2.0, 3.0]),
          1e-15)


@pytest.mark.spec("S0-02", "S3-07")
@pytest.mark.parametrize("use", [
    rot.matrix_from_quaternion, rot.rotation_vector_from_quaternion, rot.axis_angle_from_quaternion,
    rot.vector_parameter_from_quaternion, rot.quaternion_angle, rot.homogeneous_from_quaternion,
    lambda q: rot.rotate_by_quaternion(q, np.ones(3))])
def test_quaternions_that_are_not_unit_are_refused_with_their_norm(use):
    with pytest.raises(GeometryError, match=r"its norm is 1\.0000002, not 1 \(1e-08 is allowed\)"):
        use((1 + 2e-7) * ONE)
    with pytest.raises(GeometryError, match=r"quaternion \(0, 1\) of the batch is not a rotation: its norm is 2"):
        use(np.array([[ONE, 2 * ONE]]))
    with pytest.raises(GeometryError, match="norm is nan"):
        use(np.full(4, np.nan))
    use(((1 + 2e-5) * ONE).astype(np.float32))
    with pytest.raises(SignatureError, match="has shape"):
        use(np.ones(3))


def test_the_tolerance_of_the_check_can_be_chosen():
    rot.check_unit_quaternion(1.01 * ONE, tolerance=0.1)
    with pytest.raises(GeometryError, match="1e-12 is allowed"):
        rot.check_unit_quaternion((1 + 1e-10) * ONE, tolerance=1e-12)


@given(unit_quaternions())
def test_canonical_sign(q):
    one, other = rot.canonical_quaternion(q), rot.canonical_quaternion(-q)
    np.testing.assert_array_equal(one, other)
    assert one[0] > 0 or (one[0] == 0 and one[np.argmax(np.abs(one))] > 0)


@given(unit_quaternions())
def test_the_other_order_of_components_is_that_of_scipy(q):
    xyzw = rot.scalar_last_from_quaternion(q)
    np.testing.assert_array_equal(rot.quaternion_from_scalar_last(xyzw), q)
    close(Rotation.from_quat(xyzw).as_matrix(), rot.matrix_from_quaternion(q), 2e-15)


# Golden values


@pytest.mark.spec("S3-07")
def test_worked_example_w3_03():
    k, angle = np.array([1.0, 2.0, -2.0]) / 3, 0.9
    Q = rot.quaternion_from_axis_angle(k, angle)
    close(Q, [0.9004471024, 0.1449885114, 0.2899770227, -0.2899770227], 6e-11)
    R = [[0.6636533051, 0.6063046135, 0.4381312660], [-0.4381312660, 0.7897833157, -0.4292823173],
         [-0.6063046135, 0.0929356224, 0.7897833157]]
    close(rot.matrix_from_quaternion(Q), R, 6e-11)
    A, B = Q, rot.quaternion_conjugate(Q)
    turned = multiply(multiply(A, [0.0, 0.3, -0.4, 0.8]), B)
    close(turned, [0.0, 0.307079159, -0.7907785599, 0.4127610195], 6e-11)


@pytest.mark.spec("S3-07")
@given(axes(), signed_angles(), vectors())
def test_quaternions_agree_with_rodrigues(axis, angle, x):
    close(rot.rotate_by_quaternion(rot.quaternion_from_axis_angle(axis, angle), x),
          rot.rotate_by_axis_angle(axis, angle, x))


@pytest.mark.parametrize("kernel", kernels_of(quaternion), ids=lambda k: k.__name__)
def test_every_back_end_agrees(kernel):
    check_parity(kernel.unchecked, *sample_arguments(kernel))
