"""Linear and natural invariants: eigenvalues, 60 digits and SciPy as oracles, from the smallest angles to the
half-turn.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError
from cayley.geometry.rotations.exponential import linear_invariants, natural_invariants
from compiler.parity import check_parity
from geometry.exact_rotations import encoded, half_turns, largest_error, whole_group
from geometry.strategies import axes, rotation_matrices

ALLOWED = 4e-15
E = np.array([1.0, 2.0, 2.0]) / 3
any_matrix = st.lists(st.floats(-10, 10), min_size=9, max_size=9).map(lambda x: np.reshape(x, (3, 3)))


def rotation(axis, angle):
    return Rotation.from_rotvec(angle * np.asarray(axis)).as_matrix()


@pytest.mark.spec("S2-09")
@given(any_matrix, st.tuples(*[st.floats(-10, 10)] * 3), rotation_matrices())
def test_linear_invariants_of_any_matrix(A, v, R):
    found = linear_invariants(A)
    np.testing.assert_allclose(found.symmetric + found.skew, A, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(found.symmetric, found.symmetric.T)
    np.testing.assert_array_equal(found.skew, -found.skew.T)
    np.testing.assert_allclose(np.cross(found.vector, v), found.skew @ v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.trace, np.linalg.eigvalsh(found.symmetric).sum(), rtol=0, atol=1e-13)
    seen = linear_invariants(R @ A @ R.T)      # the same objects, seen from another frame
    np.testing.assert_allclose(seen.vector, R @ found.vector, rtol=0, atol=1e-13)
    np.testing.assert_allclose(seen.trace, found.trace, rtol=0, atol=1e-13)


@pytest.mark.spec("S2-09", "S2-10")
def test_the_orientation_of_ruggiu():
    Q = np.array([[5 / 9, 1 / 9 - 3**0.5 / 3, 1 / 9 + 3**0.5 / 3], [1 / 9 + 3**0.5 / 3, 13 / 18, 2 / 9 - 3**0.5 / 6],
                  [1 / 9 - 3**0.5 / 3, 2 / 9 + 3**0.5 / 6, 13 / 18]])  # WE-01
    linear, natural = linear_invariants(Q), natural_invariants(Q)
    np.testing.assert_allclose(linear.vector, [.2886751346, .5773502692, .5773502692], rtol=0, atol=1e-10)
    np.testing.assert_allclose(linear.trace, 2, rtol=0, atol=1e-15)
    np.testing.assert_allclose(natural.axis, E, rtol=0, atol=1e-15)
    np.testing.assert_allclose(natural.angle, np.pi / 3, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(natural.other_axis, -natural.axis)
    assert natural.other_angle == -natural.angle
    assert not natural.axis_is_free
    assert not natural.sign_is_free


@pytest.mark.spec("S2-10")
def test_the_half_turn_of_ruggiu():
    Q = np.full((3, 3), 2 / 3) - np.eye(3)  # WE-02
    np.testing.assert_array_equal(linear_invariants(Q).vector, 0)
    found = natural_invariants(Q)
    assert found.sign_is_free
    assert found.angle == np.pi
    np.testing.assert_allclose(found.axis, np.full(3, 3**-0.5), rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.outer(found.axis, found.axis), (Q + np.eye(3)) / 2, rtol=0, atol=1e-15)


@pytest.mark.spec("S2-10")
def test_both_pairs_are_exact_over_the_whole_group():
    group = whole_group()
    matrices = np.stack([encoded("matrix", a)[0] for a in group])
    found = natural_invariants(matrices)
    assert largest_error("axis_angle", (found.axis, found.angle), group) <= ALLOWED
    assert largest_error("axis_angle", (found.other_axis, found.other_angle), group) <= ALLOWED
    np.testing.assert_allclose(np.linalg.norm(found.axis, axis=1), 1, rtol=0, atol=4e-16)
    assert ((found.angle >= 0) & (found.angle <= np.pi)).all()


@pytest.mark.spec("S2-10")
@pytest.mark.parametrize("angle", [1e-300, 1e-30, 1e-16, 1e-8, 1e-4, 1e-2, 1.0])
def test_small_angles_keep_their_digits(angle):
    matrix = np.eye(3) + np.sin(angle) * np.cross(np.eye(3), E) + (1 - np.cos(angle)) * (np.outer(E, E) - np.eye(3))
    found = natural_invariants(matrix)
    np.testing.assert_allclose(found.angle, angle, rtol=4e-15)
    np.testing.assert_allclose(found.axis, E, rtol=0, atol=4e-15)


@pytest.mark.spec("S2-10")
@pytest.mark.parametrize("short", [1e-2, 1e-4, 1e-8, 1e-12, 3e-16])
def test_angles_short_of_a_half_turn_keep_their_axis(short):
    matrix = 2 * np.outer(E, E) - np.eye(3) + np.sin(short) * np.cross(np.eye(3), E)
    matrix += 2 * np.sin(short / 2) ** 2 * (np.eye(3) - np.outer(E, E))
    found = natural_invariants(matrix)
    np.testing.assert_allclose(found.axis if found.axis @ E > 0 else found.other_axis, E, rtol=0, atol=ALLOWED)
    np.testing.assert_allclose(found.angle, np.pi - short, rtol=0, atol=ALLOWED)
    assert found.sign_is_free == (short < 1e-15)
    if not found.sign_is_free:
        assert found.axis @ E > 0


@pytest.mark.spec("S2-10")
def test_at_a_half_turn_both_signs_of_the_axis_serve():
    for exact in half_turns():
        found = natural_invariants(encoded("matrix", exact)[0])
        assert found.sign_is_free
        for axis in (found.axis, -found.axis):
            assert largest_error("axis_angle", ([axis], [found.angle]), [exact]) <= ALLOWED


@pytest.mark.spec("S2-10")
def test_the_identity_has_no_axis_of_its_own():
    found = natural_invariants(np.eye(3))
    assert found.axis_is_free
    assert found.angle == 0
    assert np.linalg.norm(found.axis) == 1


@given(axes(), st.floats(-np.pi, np.pi), rotation_matrices())
def test_natural_invariants_turn_with_the_frame(axis, angle, R):
    found = natural_invariants(R @ rotation(axis, angle) @ R.T)
    np.testing.assert_allclose(rotation(found.axis, found.angle), R @ rotation(axis, angle) @ R.T, rtol=0, atol=ALLOWED)
    np.testing.assert_allclose(found.angle, abs(angle), rtol=0, atol=1e-14)


def test_matrices_that_are_not_rotations_are_refused():
    with pytest.raises(GeometryError, match="reflection"):
        natural_invariants(-np.eye(3))
    with pytest.raises(GeometryError, match="matrix 1 of the batch"):
        natural_invariants([np.eye(3), np.full((3, 3), np.nan)])


def test_every_back_end_agrees():
    # no two components equal in size
    matrices = np.stack([rotation([0.48, 0.6, 0.64], 0.7), rotation([0.64, -0.48, 0.6], 2.7)])
    check_parity(linear_invariants, np.random.default_rng(0).normal(size=(2, 3, 3)))
    check_parity(natural_invariants, matrices)
    assert np.isfinite(natural_invariants.jacobian("Q", of="axis")(np.diag([-1.0, -1.0, 1.0]))).all()
