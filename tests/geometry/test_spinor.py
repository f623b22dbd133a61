"""Spinors, SU(2) and the sphere as the complex plane: NumPy's complex arithmetic and SciPy's rotations as oracles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import GeometryError, SignatureError
from cayley.geometry.rotations.spinor import (
    PAULI,
    as_complex,
    as_real,
    check_unit_spinor,
    inverse_spinor,
    matrix_from_spinor,
    pauli_expectations,
    quaternion_from_spinor,
    spinor_from_matrix,
    spinor_from_quaternion,
    spinor_matrix,
    spinor_product,
)
from cayley.geometry.rotations.unitary import (
    cayley_klein_from_quaternion,
    check_traceless_hermitian,
    check_unitary,
    compose_unitaries,
    fractional_linear,
    hermitian_from_vector,
    point_from_ratio,
    quaternion_from_cayley_klein,
    quaternion_from_unitary,
    ratio_from_point,
    ratio_from_xi,
    unitary_from_quaternion,
    vector_from_hermitian,
    xi_from_ratio,
)
from compiler.parity import check_parity
from geometry.exact_rotations import encoded, largest_error, whole_group
from geometry.formulas_of_rotations import spinor_with_phase, turn_hermitian, turn_spinor
from geometry.strategies import axes, unit_quaternions, vectors

SIGMA = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
quaternions = st.tuples(*[st.floats(-5, 5, allow_subnormal=False)] * 4).map(np.array)


def matrix_of(q):
    return Rotation.from_quat(q, scalar_first=True).as_matrix()


def determinant(A):
    return A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]


def hamilton(p, q):
    (a, u), (b, v) = (p[0], p[1:]), (q[0], q[1:])
    return np.array([a * b - u @ v, *(a * v + b * u + np.cross(u, v))])


def test_complex_arrays_go_to_real_ones_and_back():
    z = np.random.default_rng(0).normal(size=(3, 2, 2)) + 1j * np.random.default_rng(1).normal(size=(3, 2, 2))
    assert as_real(z).shape == (3, 2, 2, 2)
    np.testing.assert_array_equal(as_complex(as_real(z)), z)
    np.testing.assert_array_equal(as_complex(PAULI), SIGMA)


# The spinor of a rotation


@pytest.mark.spec("S0-07")
@given(unit_quaternions())
def test_the_spinor_holds_the_three_turned_axes(q):
    psi = spinor_from_quaternion(q)
    psi1, psi2 = as_complex(psi)
    assert (psi1, psi2) == (q[3] + 1j * q[0], q[1] + 1j * q[2])
    assert abs(abs(psi1) ** 2 + abs(psi2) ** 2 - 1) < 1e-15
    B = matrix_of(q)
    np.testing.assert_allclose(matrix_from_spinor(psi), B, rtol=0, atol=1e-15)
    # the recipe, in complex numbers
    first = [(psi2**2 - psi1**2).real, (psi1**2 + psi2**2).imag, 2 * (psi1 * psi2).real]
    second = [(psi2**2 - psi1**2).imag, -(psi1**2 + psi2**2).real, 2 * (psi1 * psi2).imag]
    third = [(2 * np.conj(psi1) * psi2).real, (2 * np.conj(psi1) * psi2).imag, abs(psi1) ** 2 - abs(psi2) ** 2]
    np.testing.assert_allclose(np.column_stack([first, second, third]), B, rtol=0, atol=1e-15)


@pytest.mark.spec("S0-07")
@given(unit_quaternions())
def test_pauli_expectations_are_the_third_axis(q):
    psi = spinor_from_quaternion(q)
    z = as_complex(psi)
    expected = [np.vdot(z, sigma @ z) for sigma in SIGMA]
    np.testing.assert_allclose(np.imag(expected), 0, atol=1e-16)
    np.testing.assert_allclose(pauli_expectations(psi), np.real(expected), rtol=0, atol=1e-15)
    np.testing.assert_allclose(pauli_expectations(psi), matrix_of(q)[:, 2], rtol=0, atol=1e-15)


@pytest.mark.spec("S0-07")
@given(unit_quaternions(), st.floats(-7, 7))
def test_the_phase_carries_the_rotation_about_the_third_axis(q, phase):
    psi = spinor_from_quaternion(q)
    turned = spinor_with_phase(psi, phase)
    np.testing.assert_allclose(as_complex(turned), np.exp(1j * phase) * as_complex(psi), rtol=0, atol=1e-15)
    expected = matrix_of(q) @ Rotation.from_rotvec([0.0, 0.0, -2 * phase]).as_matrix()
    np.testing.assert_allclose(matrix_from_spinor(turned), expected, rtol=0, atol=4e-15)
    np.testing.assert_array_equal(matrix_from_spinor(-psi), matrix_from_spinor(psi))


@pytest.mark.spec("S0-07")
def test_the_spinor_of_a_matrix_is_exact_over_the_whole_group():
    group = whole_group()[::3]
    spinors = spinor_from_matrix(np.stack([encoded("matrix", a)[0] for a in group]))
    assert largest_error("quaternion", (quaternion_from_spinor(spinors),), group) <= 4e-15
    assert largest_error("matrix", (matrix_from_spinor(spinors),), group) <= 4e-15


def test_a_spinor_that_is_not_a_unit_is_refused():
    with pytest.raises(GeometryError, match="spinor 1 of the batch is not a rotation"):
        matrix_from_spinor([[[1.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [1.0, 0.0]]])
    with pytest.raises(GeometryError, match="not a rotation"):
        matrix_from_spinor(np.full((2, 2), np.nan))
    with pytest.raises(GeometryError, match="as_real"):
        check_unit_spinor(np.ones(2))


# The isomorphism with quaternions, and SU(2)


@pytest.mark.spec("S0-09")
@given(quaternions, quaternions)
def test_the_product_of_spinors_is_that_of_quaternions(q, p):
    size = np.linalg.norm(q) * np.linalg.norm(p)
    expected = spinor_from_quaternion(hamilton(q, p))
    np.testing.assert_allclose(spinor_product(spinor_from_quaternion(q), spinor_from_quaternion(p)), expected, rtol=0,
                               atol=1e-15 * size)
    Q = as_complex(spinor_matrix(q))
    np.testing.assert_allclose(-1j * Q @ as_complex(spinor_from_quaternion(p)), as_complex(expected), rtol=0,
                               atol=1e-15 * size)
    np.testing.assert_array_equal(quaternion_from_spinor(spinor_from_quaternion(q)), q)


@pytest.mark.spec("S0-09")
@given(quaternions)
def test_the_spinor_matrix_is_i_times_the_unitary_one(q):
    Q, U = as_complex(spinor_matrix(q)), as_complex(unitary_from_quaternion(q))
    np.testing.assert_array_equal(Q, 1j * q[0] * np.eye(2) + np.tensordot(q[1:], SIGMA, 1))
    np.testing.assert_array_equal(Q, 1j * U)
    np.testing.assert_array_equal(U, q[0] * np.eye(2) - 1j * np.tensordot(q[1:], SIGMA, 1))
    np.testing.assert_array_equal(Q[:, 0], as_complex(spinor_from_quaternion(q)))
    assert abs(determinant(Q) + q @ q) <= 1e-15 * (q @ q)
    assert abs(determinant(U) - q @ q) <= 1e-15 * (q @ q)


@pytest.mark.spec("S0-09")
@given(quaternions, quaternions, st.floats(-3, 3))
def test_the_isomorphism_is_linear_over_the_real_numbers_only(q, p, factor):
    np.testing.assert_allclose(spinor_from_quaternion(q + factor * p),
                               spinor_from_quaternion(q) + factor * spinor_from_quaternion(p), rtol=0, atol=1e-14)
    i = np.array([0.0, 1.0, 0.0, 0.0])  # the quaternion i is not the number i
    np.testing.assert_allclose(as_complex(spinor_from_quaternion(hamilton(i, i))),
                               -as_complex(spinor_from_quaternion([1.0, 0, 0, 0])))
    assert np.abs(as_complex(spinor_from_quaternion(i))
                  - 1j * as_complex(spinor_from_quaternion([1.0, 0, 0, 0]))).max() == 1


@pytest.mark.spec("S0-09")
@given(unit_quaternions(), unit_quaternions())
def test_unit_quaternions_are_unitary_matrices_of_determinant_one(q, p):
    U, V = unitary_from_quaternion(q), unitary_from_quaternion(p)
    np.testing.assert_allclose(as_complex(U) @ as_complex(U).conj().T, np.eye(2), rtol=0, atol=1e-15)
    assert abs(determinant(as_complex(U)) - 1) < 1e-15
    np.testing.assert_allclose(as_complex(compose_unitaries(U, V)), as_complex(U) @ as_complex(V), rtol=0, atol=1e-15)
    np.testing.assert_allclose(quaternion_from_unitary(compose_unitaries(U, V)), hamilton(q, p), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(quaternion_from_unitary(U), q)
    psi = spinor_from_quaternion(p)
    np.testing.assert_allclose(turn_spinor(U, psi), spinor_from_quaternion(hamilton(q, p)), rtol=0, atol=1e-15)
    identity = spinor_product(spinor_from_quaternion(q), inverse_spinor(spinor_from_quaternion(q)))
    np.testing.assert_allclose(identity, [[0.0, 1.0], [0.0, 0.0]], rtol=0, atol=1e-15)


@pytest.mark.spec("S0-09")
@given(unit_quaternions(), vectors())
def test_the_hermitian_action_is_the_rotation(q, x):
    U, X = unitary_from_quaternion(q), hermitian_from_vector(x)
    np.testing.assert_array_equal(as_complex(X), np.tensordot(x, SIGMA, 1))
    turned = turn_hermitian(U, X)
    np.testing.assert_allclose(as_complex(turned),
                               as_complex(U) @ as_complex(X) @ as_complex(U).conj().T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(vector_from_hermitian.unchecked(turned), matrix_of(q) @ x, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(vector_from_hermitian(X), x)
    assert abs(determinant(as_complex(X)) + x @ x) <= 1e-15 * (x @ x)


@pytest.mark.spec("S0-09")
def test_the_unitary_matrix_is_an_exponential():
    axis, angle = np.array([1.0, 2.0, 2.0]) / 3, 2.2
    q = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    expected = expm(-0.5j * angle * np.tensordot(axis, SIGMA, 1))
    np.testing.assert_allclose(as_complex(unitary_from_quaternion(q)), expected, rtol=0, atol=1e-15)


def test_matrices_outside_su2_are_refused():
    for U, reason in ((SIGMA[2], "det U"), (2 * np.eye(2), "det U"), (np.diag([2, 0.5]), "U U"),
                      (np.array([[1, 1], [0, 1]]), "U U"), (np.full((2, 2), np.nan), "det U")):
        with pytest.raises(GeometryError, match=f"not in SU.*{reason}"):
            quaternion_from_unitary(as_real(U))
    with pytest.raises(GeometryError, match="matrix 1 of the batch"):
        quaternion_from_unitary(as_real([np.eye(2), SIGMA[0]]))
    with pytest.raises(GeometryError, match="shape"):
        check_unitary(np.eye(2))
    for X in (np.eye(2), np.array([[0, 1], [2, 0]]), 1j * SIGMA[0]):
        with pytest.raises(GeometryError, match="not traceless and Hermitian"):
            vector_from_hermitian(as_real(X))
    with pytest.raises(GeometryError, match="shape"):
        check_traceless_hermitian(np.eye(2))


# The sphere as the complex plane


points = st.one_of(axes(), st.tuples(axes(), st.sampled_from([1e-160, 1e-12, 1e-8, 1e-4])).map(
    lambda t: (t[1] * t[0] - [0, 0, 1]) / np.linalg.norm(t[1] * t[0] - [0, 0, 1])))


@pytest.mark.spec("S0-08")
@given(points)
def test_a_point_of_the_sphere_and_its_ratio(a):
    z = ratio_from_point(a)
    np.testing.assert_allclose(np.sum(z * z), 1, rtol=1e-15)
    np.testing.assert_allclose(point_from_ratio(z), a, rtol=0, atol=1e-15)
    # a common factor means nothing
    np.testing.assert_allclose(point_from_ratio(as_real((2 - 3j) * as_complex(z))), a, rtol=0, atol=1e-15)
    xi = complex(xi_from_ratio(z))
    if a[2] > -0.5:
        np.testing.assert_allclose(xi, (a[0] + 1j * a[1]) / (1 + a[2]), rtol=1e-14, atol=1e-300)
        a3 = (1 - abs(xi) ** 2) / (1 + abs(xi) ** 2)
        np.testing.assert_allclose([(xi * (1 + a3)).real, (xi * (1 + a3)).imag, a3], a, rtol=0, atol=1e-15)
    np.testing.assert_allclose(point_from_ratio(ratio_from_xi(xi)), a, rtol=0, atol=1e-15)


@pytest.mark.spec("S0-08")
def test_infinity_is_a_value_like_every_other():
    south = [0.0, 0.0, -1.0]
    np.testing.assert_array_equal(np.abs(ratio_from_point(south)), [[0, 0], [1, 0]])
    assert np.isinf(xi_from_ratio(ratio_from_point(south)))
    np.testing.assert_array_equal(point_from_ratio(ratio_from_xi(np.inf)), south)
    np.testing.assert_array_equal(point_from_ratio(ratio_from_xi(complex(np.inf, np.inf))), south)
    np.testing.assert_array_equal(point_from_ratio([[0.0, 0.0], [3e300, -3e300]]), south)
    half_turn = cayley_klein_from_quaternion([0.0, 0.0, 1.0, 0.0])  # north and south change places
    np.testing.assert_array_equal(xi_from_ratio(fractional_linear(half_turn, ratio_from_xi([np.inf, 0.0]))),
                                  [0.0, np.inf])


@pytest.mark.spec("S0-08")
@given(unit_quaternions(), points)
def test_the_projection_of_a_turned_point_is_the_fractional_linear_map_of_its_projection(q, a):
    M = cayley_klein_from_quaternion(q)
    turned = fractional_linear(M, ratio_from_point(a))
    np.testing.assert_allclose(point_from_ratio(turned), matrix_of(q) @ a, rtol=0, atol=2e-15)
    (alpha, beta), (gamma, delta) = as_complex(M)
    assert (alpha, beta, gamma, delta) == (q[0] + 1j * q[3], q[2] - 1j * q[1], -(q[2] + 1j * q[1]), q[0] - 1j * q[3])
    assert abs(alpha * delta - beta * gamma - 1) < 1e-15
    xi = complex(xi_from_ratio(ratio_from_point(a)))
    if abs(xi) < 1e3 and abs(gamma * xi + delta) > 1e-2:
        np.testing.assert_allclose(complex(xi_from_ratio(turned)), (alpha * xi + beta) / (gamma * xi + delta),
                                   rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(quaternion_from_cayley_klein(M), q)


@pytest.mark.spec("S0-08")
@given(unit_quaternions(), unit_quaternions())
def test_maps_compose_as_rotations_do(q, p):
    expected = as_complex(cayley_klein_from_quaternion(q)) @ as_complex(cayley_klein_from_quaternion(p))
    product = hamilton(q, p)
    np.testing.assert_allclose(as_complex(cayley_klein_from_quaternion(product)), expected, rtol=0, atol=1e-15)


@pytest.mark.spec("S0-08")
@given(unit_quaternions())
def test_a_spinor_is_the_ratio_of_the_third_axis(q):
    np.testing.assert_allclose(point_from_ratio(spinor_from_quaternion(q)), matrix_of(q)[:, 2], rtol=0, atol=1e-15)


@pytest.mark.spec("S0-08")
def test_the_spinor_with_psi1_zero_is_the_south_pole():
    psi = spinor_from_quaternion([0.0, 0.6, 0.8, 0.0])
    np.testing.assert_array_equal(psi[0], [0, 0])
    assert np.isinf(xi_from_ratio(psi))
    np.testing.assert_allclose(point_from_ratio(psi), [0, 0, -1], rtol=0, atol=0)


def test_what_is_no_point_and_no_rotation_is_refused():
    with pytest.raises(GeometryError, match="unit vector"):
        ratio_from_point([0.0, 0.0, 2.0])
    for z in (np.zeros((2, 2)), np.full((2, 2), np.nan), np.full((2, 2), np.inf)):
        with pytest.raises(GeometryError, match="no point of the sphere"):
            point_from_ratio(z)
        with pytest.raises(GeometryError, match="no point of the sphere"):
            xi_from_ratio(z)
    with pytest.raises(SignatureError, match="has shape"):
        point_from_ratio([1.0, 2.0])
    with pytest.raises(GeometryError, match="norm"):
        cayley_klein_from_quaternion([1.0, 1.0, 0.0, 0.0])


# Kernels


def test_every_back_end_agrees():
    q, p = (Rotation.random(2, rng=k).as_quat(scalar_first=True) for k in (1, 2))
    psi, chi, U, x = spinor_from_quaternion(q), spinor_from_quaternion(p), unitary_from_quaternion(q), p[:, 1:]
    check_parity(matrix_from_spinor, psi)
    check_parity(point_from_ratio, psi)
    for kernel, *arguments in ((spinor_from_quaternion, q), (spinor_from_matrix, matrix_of(q)),
                               (pauli_expectations, psi), (spinor_with_phase, psi, np.array([0.3, 0.4])),
                               (spinor_product, psi, chi), (inverse_spinor, psi), (turn_hermitian, U,
                                                                                   hermitian_from_vector(x)),
                               (turn_spinor, U, psi), (quaternion_from_unitary, U), (ratio_from_point, matrix_of(q)[:,
                                                                                                                    0]),
                               (fractional_linear, cayley_klein_from_quaternion(q), chi)):
        check_parity(kernel, *arguments, jacobians=False)


def test_spinors_serve_inside_other_kernels():
    @cy.kernel("(4)->(3,3)")
    def by_spinor(q):
        return matrix_from_spinor(spinor_from_quaternion(q))

    q = Rotation.random(5, rng=3).as_quat(scalar_first=True)
    np.testing.assert_allclose(by_spinor(q), matrix_of(q), rtol=0, atol=1e-15)
