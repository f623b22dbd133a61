"""The vector-parameter and its angles: 60 digits and elementary rotations as oracles, half-turns and singular angles
included.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from cayley.errors import GeometryError, SingularityError
from cayley.geometry.rotations import vector_parameter_angles as module
from cayley.geometry.rotations.vector_parameter import compose_vector_parameters, matrix_from_vector_parameter
from cayley.geometry.rotations.vector_parameter_angles import (
    bryant_from_homogeneous,
    bryant_from_vector_parameter,
    compose_eulerian,
    eulerian_from_homogeneous,
    eulerian_from_vector_parameter,
    homogeneous_from_bryant,
    homogeneous_from_eulerian,
    homogeneous_of_composed_eulerian,
    vector_parameter_from_bryant,
    vector_parameter_from_eulerian,
    vector_parameter_of_composed_eulerian,
)
from compiler.parity import check_parity
from geometry.exact_euler import MP, distance, exact_quaternion
from geometry.exact_rotations import product
from geometry.strategies import homogeneous_forms, signed_angles

ALLOWED = 4e-15
HARD = [0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2, 1e-16, -1e-9, 1e-4, np.pi - 1e-9, np.pi / 2 + 1e-12]
triples = st.tuples(signed_angles(), signed_angles(), signed_angles())


def wrap(angle):
    return np.angle(np.exp(1j * np.asarray(angle)))


def exact_eulerian(angles):
    """The exact quaternion of Rz(-psi) Rx(-theta) Rz(-phi)."""
    return exact_quaternion([-MP.mpf(float(a)) for a in angles], "zxz", "moving")


def exact_bryant(angles):
    return exact_quaternion([float(a) for a in angles], "xyz", "fixed")


def numbers(h):
    return [MP.mpf(x) for x in np.asarray(h).tolist()]


def hard_states(seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.choice(HARD, (60, 3)), rng.uniform(-np.pi, np.pi, (30, 3))])


# Eulerian angles


@pytest.mark.spec("S0-14")
def test_the_homogeneous_form_of_eulerian_angles_is_the_passive_zxz_product():
    for angles, h in zip(states := hard_states(0), homogeneous_from_eulerian(states), strict=True):
        assert distance(numbers(h), exact_eulerian(angles)) <= ALLOWED
        np.testing.assert_allclose(h, np.array(exact_eulerian(angles), dtype=float), rtol=0, atol=1e-15)


@pytest.mark.spec("S0-14")
def test_eulerian_angles_come_back_with_both_branches():
    states = hard_states(1)
    found = eulerian_from_homogeneous(3.7 * homogeneous_from_eulerian(states))
    for angles, first, second in zip(states, found.angles, found.other, strict=True):
        assert distance(exact_eulerian(first), exact_eulerian(angles)) <= ALLOWED
        assert distance(exact_eulerian(second), exact_eulerian(angles)) <= ALLOWED
    assert (found.angles[:, 1] >= 0).all()
    assert (found.other[:, 1] <= 0).all()


@pytest.mark.spec("S0-14")
@pytest.mark.parametrize("theta", [0.0, np.pi])
def test_where_the_axes_coincide_only_a_combination_is_determined(theta):
    found = eulerian_from_homogeneous(homogeneous_from_eulerian([0.4, theta, -0.9]))
    assert found.singular
    assert found.sign == (1 if theta == 0 else -1)
    np.testing.assert_allclose(found.combined, 0.4 - 0.9 * found.sign, atol=1e-15)
    for psi in (0.0, 1.2):
        assert distance(exact_eulerian(found.family(first=psi)), exact_eulerian([0.4, theta, -0.9])) <= ALLOWED


@pytest.mark.spec("S0-14")
def test_the_recipe_without_branch_trouble_finds_the_same_angles():
    c = np.random.default_rng(2).normal(size=(200, 3))
    delta, sigma = np.arctan2(c[:, 1], -c[:, 0]), -np.arctan(c[:, 2])
    theta = 2 * np.arctan(np.hypot(c[:, 0], c[:, 1]) * np.cos(sigma))
    expected = np.stack([sigma + delta, theta, sigma - delta], axis=1)
    np.testing.assert_allclose(wrap(eulerian_from_vector_parameter(c).angles - expected), 0, atol=1e-13)


@pytest.mark.spec("S0-14")
def test_the_printed_arctangents_hold_with_the_sign_against_c1():
    c = np.random.default_rng(3).normal(size=(200, 3))
    ratio, third = np.arctan(c[:, 1] / c[:, 0]), np.arctan(c[:, 2])
    theta = -np.sign(c[:, 0]) * 2 * np.arctan(np.cos(third) * np.hypot(c[:, 0], c[:, 1]))
    expected = np.stack([-ratio - third, theta, ratio - third], axis=1)
    found = eulerian_from_vector_parameter(c)
    nearest = np.minimum(*(np.abs(wrap(t - expected)).max(axis=1) for t in (found.angles, found.other)))
    np.testing.assert_allclose(nearest, 0, atol=1e-13)


@pytest.mark.spec("S0-14")
def test_the_eulerian_example_of_the_catalogue():
    c = vector_parameter_from_eulerian([0.4, 1.1, -0.7])
    # WE-03
    np.testing.assert_allclose(c, [-0.5286230964822666, 0.3241015763177948, 0.15113521805829505], rtol=0, atol=1e-15)
    turns = [Rotation.from_euler(axis, angle) for axis, angle in (("z", -0.4), ("x", -1.1), ("z", 0.7))]
    np.testing.assert_allclose(matrix_from_vector_parameter(c), (turns[0] * turns[1] * turns[2]).as_matrix(), rtol=0,
                               atol=1e-15)
    np.testing.assert_allclose(eulerian_from_vector_parameter(c).angles, [0.4, 1.1, -0.7], rtol=0, atol=1e-15)


@pytest.mark.spec("S0-14")
def test_a_half_turn_has_a_homogeneous_form_and_no_vector_parameter():
    h = homogeneous_from_eulerian([np.pi, 0.5, 0.0])
    assert distance(numbers(h), exact_eulerian([np.pi, 0.5, 0.0])) <= ALLOWED
    np.testing.assert_allclose(eulerian_from_homogeneous(h).angles, [np.pi, 0.5, 0.0], rtol=0, atol=1e-15)
    c = vector_parameter_from_eulerian([np.pi, 0.5, 0.0])  # the double next to pi
    assert np.linalg.norm(c) > 1e15
    assert distance([MP.mpf(1), *numbers(c)], exact_eulerian([np.pi, 0.5, 0.0])) <= ALLOWED


@pytest.mark.spec("S0-14", "S0-16")
def test_an_exact_half_turn_has_no_vector_parameter(monkeypatch):
    exact = module.check_not_half_turn
    monkeypatch.setattr(module, "check_not_half_turn", lambda h: exact(np.array([0.0, *h[1:]])))  # no doubles give one
    for call in (lambda: vector_parameter_from_eulerian([0.1, 0.2, 0.3]),
                 lambda: vector_parameter_from_bryant([0.1, 0.2, 0.3]),
                 lambda: vector_parameter_of_composed_eulerian([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])):
        with pytest.raises(SingularityError, match="half-turn about"):
            call()


@pytest.mark.spec("S0-14")
def test_the_composition_law_is_the_product_of_the_rotations():
    a, b = hard_states(4), hard_states(5)
    forms, found = homogeneous_of_composed_eulerian(a, b), compose_eulerian(a, b)
    for k in range(len(a)):
        exact = product(exact_eulerian(a[k]), exact_eulerian(b[k]))
        assert distance(numbers(forms[k]), exact) <= ALLOWED
        assert distance(exact_eulerian(found.angles[k]), exact) <= ALLOWED
        assert distance(exact_eulerian(found.other[k]), exact) <= ALLOWED


@pytest.mark.spec("S0-14")
def test_the_composition_law_is_that_of_vector_parameters():
    rng = np.random.default_rng(6)
    a, b = rng.uniform(-1, 1, (2, 100, 3))
    expected = compose_vector_parameters(vector_parameter_from_eulerian(a), vector_parameter_from_eulerian(b))
    np.testing.assert_allclose(vector_parameter_of_composed_eulerian(a, b), expected, rtol=1e-13, atol=1e-15)


# Bryant's angles


@pytest.mark.spec("S0-16")
def test_bryant_angles_are_turns_about_x_then_y_then_z():
    states = hard_states(7)
    forms = homogeneous_from_bryant(states)
    found = bryant_from_homogeneous(-0.3 * forms)
    for k, angles in enumerate(states):
        assert distance(numbers(forms[k]), exact_bryant(angles)) <= ALLOWED
        assert distance(exact_bryant(found.angles[k]), exact_bryant(angles)) <= ALLOWED
        assert distance(exact_bryant(found.other[k]), exact_bryant(angles)) <= ALLOWED


@pytest.mark.spec("S0-16")
def test_bryant_by_half_tangents():
    t = np.random.default_rng(8).normal(size=(200, 3))
    t1, t2, t3 = t.T
    expected = np.stack([t1 - t2 * t3, t2 + t1 * t3, t3 - t1 * t2], axis=1) / (1 + t1 * t2 * t3)[:, None]
    found = vector_parameter_from_bryant(2 * np.arctan(t))
    np.testing.assert_allclose(found / np.linalg.norm(expected, axis=1)[:, None],
                               expected / np.linalg.norm(expected, axis=1)[:, None], rtol=0,
                               atol=2e-14 / np.abs(1 + t1 * t2 * t3).min())
    back = bryant_from_vector_parameter(found)
    branch = np.where(np.abs(2 * np.arctan(t2))[:, None] <= np.pi / 2, back.angles, back.other)
    np.testing.assert_allclose(wrap(branch - 2 * np.arctan(t)), 0, atol=1e-14 / back.margin.min())


@pytest.mark.spec("S0-16")
def test_the_bryant_example_of_the_catalogue():
    angles = 2 * np.arctan([1 / 2, 1 / 3, 1 / 4])
    c = vector_parameter_from_bryant(angles)
    np.testing.assert_allclose(c, [2 / 5, 11 / 25, 2 / 25], rtol=0, atol=1e-15)  # WE-03
    np.testing.assert_allclose(bryant_from_vector_parameter(c).angles, angles, rtol=0, atol=1e-15)
    np.testing.assert_allclose(matrix_from_vector_parameter(c),
                               Rotation.from_euler("xyz", angles).as_matrix(), rtol=0, atol=1e-15)


@pytest.mark.spec("S0-16")
@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_each_bryant_angle_may_be_a_half_turn(which, sign):
    angles = np.array([0.3, -0.4, 0.5])
    angles[which] = sign * np.pi
    c = vector_parameter_from_bryant(angles)
    assert distance([MP.mpf(1), *numbers(c)], exact_bryant(angles)) <= ALLOWED


@pytest.mark.spec("S0-16")
def test_where_one_plus_the_product_of_the_tangents_vanishes():
    angles = 2 * np.arctan([1.0, 1.0, -1.0])      # 1 + t1 t2 t3 = 0: a half-turn that no angle alone shows
    h = homogeneous_from_bryant(angles)
    assert abs(h[0]) < 1e-15
    assert distance(numbers(h), exact_bryant(angles)) <= ALLOWED
    assert distance(exact_bryant(bryant_from_homogeneous(h).angles), exact_bryant(angles)) <= ALLOWED
    exact = np.array([0.0, 1.0, 1.0, 0.0]) / np.sqrt(2)
    assert distance(exact_bryant(bryant_from_homogeneous(exact).angles), numbers(exact)) <= ALLOWED


@pytest.mark.spec("S0-16")
@pytest.mark.parametrize("phi2", [np.pi / 2, -np.pi / 2])
def test_bryant_gimbal_lock_is_reported(phi2):
    found = bryant_from_vector_parameter(vector_parameter_from_bryant([0.2, phi2, 0.7]))
    assert found.singular
    assert found.angles[0] == 0
    np.testing.assert_allclose(found.angles[2], 0.7 - np.sign(phi2) * 0.2, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.combined, 0.2 - np.sign(phi2) * 0.7, rtol=0, atol=1e-15)


@given(homogeneous_forms())
def test_any_form_of_any_size_has_angles(h):
    unit = h / np.abs(h).max()
    for found, exact in ((eulerian_from_homogeneous(h), exact_eulerian), (bryant_from_homogeneous(h), exact_bryant)):
        assert distance(exact(found.angles), numbers(unit)) <= ALLOWED
        assert distance(exact(found.other), numbers(unit)) <= ALLOWED


@given(triples, triples)
def test_composition_agrees_with_the_product_of_matrices(a, b):
    first, second = (Rotation.from_euler("ZXZ", -np.array(x)).as_matrix() for x in (a, b))
    found = Rotation.from_euler("ZXZ", -compose_eulerian(a, b).angles).as_matrix()
    np.testing.assert_allclose(found, first @ second, rtol=0, atol=ALLOWED)


def test_zero_and_nan_are_no_rotation():
    for bad in ([0.0, 0.0, 0.0, 0.0], [np.nan, 0.0, 0.0, 1.0]):
        with pytest.raises(GeometryError):
            eulerian_from_homogeneous(bad)
        with pytest.raises(GeometryError):
            bryant_from_homogeneous(bad)


def test_every_back_end_agrees():
    a, b = np.random.default_rng(9).uniform(-1, 1, (2, 3, 3))
    check_parity(vector_parameter_from_eulerian, a)
    check_parity(homogeneous_of_composed_eulerian, a, b, jacobians=False)
    check_parity(vector_parameter_of_composed_eulerian, a, b, jacobians=False)
    check_parity(vector_parameter_from_bryant, a)
