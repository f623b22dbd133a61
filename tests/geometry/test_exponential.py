"""The exponential of a skew matrix: SciPy's expm, 60 digits and plain powers as oracles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError
from cayley.geometry.rotations.exponential import (
    exponential_of_skew,
    exponential_series,
    matrix_by_cayley_hamilton,
    skew_power,
)
from cayley.geometry.tensors.cross import hat
from compiler.parity import check_parity
from geometry.exact_rotations import TINY, attitude, encoded, largest_error, whole_group
from geometry.strategies import vectors

ALLOWED = 4e-15
E = np.array([1.0, 2.0, 2.0]) / 3


@pytest.mark.spec("S2-06")
def test_the_closed_forms_are_exact_over_the_whole_group():
    group = whole_group()
    vectors_of_group = np.stack([encoded("rotation_vector", a)[0] for a in group])
    axes, angles = (np.stack(column) for column in zip(*[encoded("axis_angle", a) for a in group], strict=True))
    assert largest_error("matrix", (exponential_of_skew(hat(vectors_of_group)),), group) <= ALLOWED
    assert largest_error("matrix", (matrix_by_cayley_hamilton(axes, angles),), group) <= ALLOWED


@pytest.mark.spec("S2-06")
@given(vectors(3.0))
def test_the_closed_form_is_the_matrix_exponential(a):
    np.testing.assert_allclose(exponential_of_skew(hat(a)), Rotation.from_rotvec(a).as_matrix(), rtol=0, atol=4e-15)
    np.testing.assert_allclose(exponential_of_skew(hat(a)), expm(hat(a)), rtol=0, atol=1e-13)


@pytest.mark.spec("S2-06")
@pytest.mark.parametrize(("order", "error"), [(5, 1.6e-3), (10, 2.8e-8), (15, 8.8e-14)])
def test_the_truncation_errors_of_ruggiu(order, error):
    truncated = exponential_series(np.pi / 3 * hat(E), order=order)
    found = np.abs(truncated - matrix_by_cayley_hamilton(E, np.pi / 3)).max()
    assert abs(found / error - 1) < 0.05  # WE-01


@pytest.mark.spec("S2-06")
def test_the_series_converges_to_rounding():
    for angle in (0.0, 1e-9, 1.0, np.pi / 3, np.pi):
        limit = [attitude(E, angle)]
        assert largest_error("matrix", ([exponential_series(angle * hat(E), order=32)],), limit) <= ALLOWED
    # WE-01
    assert np.abs(exponential_series(np.pi / 3 * hat(E), order=20)
                  - matrix_by_cayley_hamilton(E, np.pi / 3)).max() <= 4e-16


@pytest.mark.spec("S2-06")
@pytest.mark.parametrize("order", [0, 1, 2, 3, 7])
def test_the_series_is_the_sum_of_the_powers(order):
    A = hat([[0.3, -0.4, 1.2], [0.0, 0.0, 0.0]])
    expected, term = np.zeros_like(A), np.broadcast_to(np.eye(3), A.shape)
    for k in range(order + 1):
        expected, term = expected + term, term @ A / (k + 1)
    np.testing.assert_allclose(exponential_series(A, order=order), expected, rtol=0, atol=1e-15)


@pytest.mark.spec("S2-06")
@pytest.mark.parametrize("power", range(8))
def test_every_power_is_a_multiple_of_the_first_two(power):
    for a in (E, np.array([0.3, -0.4, 1.2]), np.zeros(3)):
        np.testing.assert_allclose(skew_power(hat(a), power=power), np.linalg.matrix_power(hat(a), power), rtol=0,
                                   atol=1e-14)
    if power >= 1:
        k, odd = divmod(power, 2)
        rule = (-1) ** k * (hat(E) if odd else np.eye(3) - np.outer(E, E))  # with (-1)^k, k >= 1, for even powers
        np.testing.assert_allclose(skew_power(hat(E), power=power), rule, rtol=0, atol=1e-15)


@pytest.mark.spec("S2-06")
def test_the_derivatives_at_zero_are_the_powers():
    first = matrix_by_cayley_hamilton.jacobian("angle")
    second, third = first.jacobian("angle"), first.jacobian("angle").jacobian("angle")
    for power, derivative in enumerate((matrix_by_cayley_hamilton, first, second, third)):
        np.testing.assert_allclose(derivative(E, 0.0), skew_power(hat(E), power=power), rtol=0, atol=1e-15)


@pytest.mark.spec("S2-06")
@given(st.sampled_from([0.0, *TINY, *[np.pi - t for t in TINY], np.pi, 2 * np.pi]))
def test_the_two_closed_forms_agree_at_hard_angles(angle):
    np.testing.assert_allclose(exponential_of_skew(angle * hat(E)), matrix_by_cayley_hamilton(E, angle), rtol=0,
                               atol=ALLOWED)


def test_what_is_not_skew_not_a_unit_or_not_a_count_is_refused():
    with pytest.raises(GeometryError, match="not skew"):
        exponential_of_skew(np.eye(3))
    with pytest.raises(GeometryError, match="not skew"):
        exponential_series(np.eye(3), order=3)
    with pytest.raises(GeometryError, match="not skew"):
        skew_power(np.eye(3), power=3)
    with pytest.raises(GeometryError, match="unit vector"):
        matrix_by_cayley_hamilton([1.0, 1.0, 0.0], 0.3)
    for number in (-1, 1.5):
        with pytest.raises(ValueError, match="whole number"):
            exponential_series(hat(E), order=number)
        with pytest.raises(ValueError, match="whole number"):
            skew_power(hat(E), power=number)


def test_every_back_end_agrees():
    a = np.array([[0.3, -0.4, 1.2], [0.0, 0.1, 0.0]])
    check_parity(exponential_of_skew, hat(a))
    check_parity(matrix_by_cayley_hamilton, np.stack([E, -E]), np.array([0.4, 2.5]))
    assert np.isfinite(exponential_of_skew.jacobian("A")(np.zeros((3, 3)))).all()
