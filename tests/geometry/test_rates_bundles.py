"""Rotations with their rates as one group, and pairs of unit vectors as rotations."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cayley.errors import GeometryError, SingularityError
from cayley.geometry import rates as cr
from geometry import exact_motions as em
from geometry import formulas_of_rates as fr
from geometry.exact_rotations import attitude, half_turns, product
from geometry.strategies import matrix_of, unit_quaternions, vector_parameters, vectors


def close(found, expected, size=1.0, tolerance=1e-13):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(size, np.max(np.abs(expected))))


def rotation(c):
    return matrix_of(np.array([1.0, *c]))


@pytest.mark.spec("S0-21")
@given(vectors(2), vectors(), vectors(2), vectors(), vectors(2), vectors())
def test_group_laws_of_attitude_and_velocity(c1, w1, c2, w2, c3, w3):
    """Associative, with identity and inverse; the velocity is that of the product of the rotations."""
    assume(min(abs(1 - c1 @ c2), abs(1 - c2 @ c3)) > 0.1)
    first = fr.compose_moving_vector_parameters(c1, w1, c2, w2)
    second = fr.compose_moving_vector_parameters(c2, w2, c3, w3)
    assume(min(abs(1 - first.attitude @ c3), abs(1 - c1 @ second.attitude)) > 0.1)
    left = fr.compose_moving_vector_parameters(*first, c3, w3)
    right = fr.compose_moving_vector_parameters(c1, w1, *second)
    close(left.attitude, right.attitude, 1e3)
    close(left.velocity, right.velocity)
    close(first.velocity, w1 + rotation(c1) @ w2)
    close(rotation(first.attitude), rotation(c1) @ rotation(c2), tolerance=1e-12)
    for unit in (fr.compose_moving_vector_parameters(np.zeros(3), np.zeros(3), c1, w1),
                 fr.compose_moving_vector_parameters(c1, w1, np.zeros(3), np.zeros(3))):
        close(unit.attitude, c1)
        close(unit.velocity, w1)
    back = fr.inverse_of_moving_vector_parameter(c1, w1)
    nothing = fr.compose_moving_vector_parameters(c1, w1, *back)
    close(nothing.attitude, 0.0)
    close(nothing.velocity, 0.0, 10)


@pytest.mark.spec("S0-21")
@given(unit_quaternions(), vectors(), unit_quaternions(), vectors())
def test_group_laws_in_homogeneous_form(h1, w1, h2, w2):
    """The same, with half-turns, and forms of other lengths."""
    h1, h2 = 1e40 * h1, -3e-30 * h2
    found = fr.compose_moving_homogeneous(h1, w1, h2, w2)
    close(matrix_of(found.attitude), matrix_of(h1) @ matrix_of(h2))
    close(found.velocity, w1 + matrix_of(h1) @ w2)
    nothing = fr.compose_moving_homogeneous(h1, w1, *fr.inverse_of_moving_homogeneous(h1, w1))
    close(matrix_of(nothing.attitude), np.eye(3))
    close(nothing.velocity, 0.0, 10)
    dh1, dh2 = cr.chart("homogeneous").rates_from_world(h1, w1), cr.chart("homogeneous").rates_from_world(h2, w2)
    changing = fr.compose_changing_homogeneous(h1, dh1, h2, dh2)
    close(cr.chart("homogeneous").velocity(*changing).world, found.velocity)


@pytest.mark.spec("S0-21")
@given(vectors(2), vectors(), vectors(2), vectors())
def test_the_two_laws_agree(c1, dc1, c2, dc2):
    """(c, dc) and (c, w) are the same group, through w = 2 (dc + c x dc)/(1 + c.c)."""
    assume(abs(1 - c1 @ c2) > 0.05)
    changing = fr.compose_changing_vector_parameters(c1, dc1, c2, dc2)
    w1, w2 = (cr.chart("vector_parameter").velocity(c, dc).world for c, dc in ((c1, dc1), (c2, dc2)))
    moving = fr.compose_moving_vector_parameters(c1, w1, c2, w2)
    close(changing.attitude, moving.attitude)
    size = 1 + np.linalg.norm(changing.attitude)
    close(cr.chart("vector_parameter").velocity(*changing).world, moving.velocity, 10 * size**2)


@pytest.mark.spec("S0-21")
def test_rate_of_a_product_in_60_digits():
    one, two = em.curve(attitude((1, 2, -1), 0.8)), em.curve(attitude((0, 1, 1), 1.7))
    c1, dc1, _ = em.rates(lambda t: em.vector_parameter(one.at(t)))
    c2, dc2, _ = em.rates(lambda t: em.vector_parameter(two.at(-3 * t)))
    c3, dc3, _ = em.rates(lambda t: em.vector_parameter(product(one.at(t), two.at(-3 * t))))
    found = fr.compose_changing_vector_parameters(c1, dc1, c2, dc2)
    close(found.attitude, c3)
    close(found.rate, dc3)


@pytest.mark.spec("S0-21")
def test_half_turns_of_products():
    """Spec WE-02: c1.c2 = 1. The finite laws refuse, the homogeneous ones go through."""
    c1, c2, w = np.array([1.0, 2.0, 0.0]), np.array([1.0, 0.0, 3.0]), np.array([0.3, 0.1, -0.2])
    for law in (fr.compose_moving_vector_parameters, fr.compose_changing_vector_parameters):
        with pytest.raises(SingularityError, match="half-turn"):
            law(c1, w, c2, w)
        with pytest.raises(SingularityError, match="rotation 1 of the batch"):
            law([0 * c1, c1], w, c2, w)
    found = fr.compose_moving_homogeneous([1, *c1], w, [1, *c2], w)
    np.testing.assert_array_equal(found.attitude, [0.0, 8.0, -1.0, 1.0])
    close(found.velocity, w + rotation(c1) @ w)
    with pytest.raises(GeometryError):
        fr.compose_moving_homogeneous(np.zeros(4), w, [1, *c2], w)


# Pairs of unit vectors


@pytest.mark.spec("S0-22")
@given(unit_quaternions(), unit_quaternions())
def test_tangent_pairs_are_rotations(p, q):
    A, B = matrix_of(p), matrix_of(q)
    pair, other = fr.tangent_pair_from_matrix(A), fr.tangent_pair_from_matrix(B)
    close(fr.matrix_from_tangent_pair(*pair), A)
    close(matrix_of(fr.homogeneous_from_tangent_pair(*pair)), A, tolerance=4e-15)
    product_pair = fr.compose_tangent_pairs(*pair, *other)
    close(fr.matrix_from_tangent_pair(*product_pair), A @ B)
    assert abs(np.linalg.norm(product_pair.point) - 1) < 1e-14 and abs(
        product_pair.point @ product_pair.tangent) < 1e-14


@pytest.mark.spec("S0-22")
@given(vector_parameters(longest=1e6))
def test_vector_parameter_of_a_pair(c):
    R = matrix_of(np.array([1.0, *c]))
    found = fr.vector_parameter_from_tangent_pair(R[:, 0], R[:, 1])
    np.testing.assert_allclose(found, c, rtol=0, atol=1e-15 * (1 + c @ c))


@pytest.mark.spec("S0-22")
@pytest.mark.parametrize("angle", [0.0, 1e-8, 0.3, 1.0, np.pi / 2, 1.7, 3.0, np.pi - 1e-4])
def test_vector_parameter_from_the_skew_vector(angle):
    """Spec E-20: the sign of the root is that of the cosine, on both sides of a quarter turn."""
    axis = np.array([2.0, -1.0, 2.0]) / 3
    c = np.tan(angle / 2) * axis
    R = rotation(c)
    a = fr.skew_vector_from_matrix(R)
    close(a, 2 * np.sin(angle) * axis)
    h = fr.homogeneous_from_skew_vector(2 * np.sin(angle) * axis, 1.0 if np.cos(angle) >= 0 else -1.0)
    # a quarter turn is where the root vanishes: half of the digits go there
    np.testing.assert_allclose(h[1:] / h[0], c, rtol=1e-12 if angle != np.pi / 2 else 1e-7, atol=1e-15)
    assert abs(h[0] - (1 + np.trace(R))) < (1e-14 if angle != np.pi / 2 else 1e-7)


@pytest.mark.spec("S0-22")
@given(vectors(), vectors())
def test_product_of_skew_vectors(c1, c2):
    """Spec R-22: the composition on the level of a and tr O."""
    A, B = rotation(c1), rotation(c2)
    h = fr.compose_skew_vectors(fr.skew_vector_from_matrix(A), np.trace(A), fr.skew_vector_from_matrix(B), np.trace(B))
    size = (1 + np.trace(A)) * (1 + np.trace(B))
    close(matrix_of(h), A @ B, tolerance=1e-14 / min(size, 1.0))


@pytest.mark.spec("S0-22")
def test_half_turns_of_pairs():
    for R in (np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, -1.0,
                                                   1.0]), np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0,
                                                                                                       -1.0]])):
        with pytest.raises(SingularityError, match="half-turn"):
            fr.vector_parameter_from_tangent_pair(R[:, 0], R[:, 1])
    for exact in half_turns():
        R = matrix_of(em.floats(exact.quaternion))
        close(matrix_of(fr.homogeneous_from_tangent_pair(R[:, 0], R[:, 1])), R)


@pytest.mark.spec("S0-22")
@given(st.floats(0.01, 1.0))
def test_pairs_that_are_none_are_refused(defect):
    x, y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    for bad in ((x *
                 (1 + defect), y, r"\|x\| - 1"), (x, y *
                                                  (1 - defect), r"\|y\| - 1"), (x, y + defect * x, r"\|y\| - 1|x\.y")):
        with pytest.raises(GeometryError, match=bad[2]):
            fr.matrix_from_tangent_pair(*bad[:2])
        with pytest.raises(GeometryError, match=bad[2]):
            fr.compose_tangent_pairs(x, y, *bad[:2])
    with pytest.raises(GeometryError, match="more than 2"):
        fr.homogeneous_from_skew_vector([0.0, 0.0, 2 + defect], 1.0)
    with pytest.raises(GeometryError, match="1 or -1"):
        fr.homogeneous_from_skew_vector([0.0, 0.0, 1.0], defect / 2)


def test_pi_is_not_needed():
    """A rational case, exact: a third of a turn about (1, 1, 1)."""
    np.testing.assert_array_equal(fr.vector_parameter_from_tangent_pair([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
                                  [1.0, 1.0, 1.0])
