"""The second chart d = sin(phi/2) e: its hidden cosine, its sign rule, and what it loses next to half-turns."""

import numpy as np
import pytest
from hypothesis import assume, given

import cayley.geometry.rotations as rot
from cayley.errors import GeometryError, SingularityError
from geometry.exact_rotations import attitude_error, encoded, half_turns, whole_group
from geometry.strategies import vector_parameters

O = rot.matrix_from_vector_parameter


def close(a, b, atol=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@pytest.mark.spec("S0-13")
def test_precision_next_to_half_turns():
    """2000 pairs with c1.c2 = 1: the carried cosine keeps every digit, the one recomputed from d loses half of them."""
    random = np.random.default_rng(5)
    a, b = random.normal(size=(2, 2000, 3))
    b += ((1 - np.sum(a * b, axis=1)) / np.sum(a * a, axis=1))[:, None] * a
    forms = rot.compose_homogeneous(rot.homogeneous_from_vector_parameter(a), rot.homogeneous_from_vector_parameter(b))
    wanted = O(a) @ O(b)
    assert np.abs(rot.matrix_from_homogeneous(forms) - wanted).max() <= 1e-14
    d = rot.compose_half_sines(rot.half_sine_from_vector_parameter(a), rot.half_sine_from_vector_parameter(b))
    lost = np.abs(rot.matrix_from_half_sine(d) - wanted).max()
    assert 1e-9 < lost < 1e-7
    assert np.abs(rot.matrix_from_half_sine(rot.half_sine_from_homogeneous(forms)) - wanted).max() < 1e-7
    carried = rot.compose_homogeneous(rot.quaternion_from_vector_parameter(a), rot.quaternion_from_vector_parameter(b))
    assert np.abs(rot.matrix_from_quaternion(carried) - wanted).max() <= 1e-14


@pytest.mark.spec("S0-13")
def test_half_sine_chart_over_the_whole_group():
    """d = sin(phi/2) e of every attitude; and back, as far as d can hold it: to 1e-8 next to a half-turn, else to the
    last digit.
    """
    for exact in whole_group():
        d, = encoded("half_sine", exact)
        q, = encoded("quaternion", exact)
        close(rot.half_sine_from_quaternion(q), d, 2e-16)
        close(rot.half_sine_from_quaternion(-q), np.where(q[0] == 0, -d, d), 2e-16)
        for name in ("matrix", "axis_angle", "rotation_vector"):
            found = getattr(rot, f"half_sine_from_{name}")(*encoded(name, exact))
            # rounding may have put the value on the half-turn, with its two axes, or beyond
            either = exact.cosine < 1e-15
            assert min(np.abs(found - d).max(), np.abs(found + d).max() if either else 1) <= 4e-16
        bound = 4e-15 if exact.cosine > 0.1 else 6e-8
        for name, use in (("matrix", rot.matrix_from_half_sine), ("quaternion", rot.quaternion_from_half_sine),
                          ("homogeneous", rot.homogeneous_from_half_sine), ("rotation_vector",
                                                                            rot.rotation_vector_from_half_sine)):
            assert attitude_error(name, (use(d),), exact) <= bound
        assert attitude_error("axis_angle", rot.axis_angle_from_half_sine(d), exact) <= bound


@pytest.mark.spec("S0-13")
@given(vector_parameters(1e3), vector_parameters(1e3))
def test_second_chart_and_its_composition(a, b):
    d, e = rot.half_sine_from_vector_parameter(a), rot.half_sine_from_vector_parameter(b)
    close(np.linalg.norm(d), np.sin(np.arctan(np.linalg.norm(a))), 4e-16)
    close(d, a / np.sqrt(1 + a @ a), 4e-16)
    s = np.sqrt(max(0.0, 1 - d @ d))
    close(rot.matrix_from_half_sine(d), np.eye(3) + 2 * (s * np.eye(3) + hat(d)) @ hat(d), 1e-15 / max(s, 1e-4))
    close(rot.vector_parameter_from_half_sine(d), a, 1e-9 * (1 + a @ a))
    together = rot.compose_half_sines(d, e)
    cosine = np.sqrt(1 - d @ d) * np.sqrt(1 - e @ e) - d @ e
    close(rot.matrix_from_half_sine(together),
          O(a) @ O(b), 1e-14 if abs(cosine) > 0.1 and s > 0.1 and 1 - e @ e > 0.01 else 2e-7)
    product_form = rot.compose_homogeneous([1.0, *a], [1.0, *b])
    assume(abs(product_form[0]) > 1e-6 * np.abs(product_form).max())
    close(together, rot.half_sine_from_homogeneous(product_form), 1e-9)  # with the sign of a positive hidden cosine


@pytest.mark.spec("S0-13")
def test_the_sign_rule_is_needed_exactly_beyond_the_half_turn():
    """c1.c2 = 3, spec E-13: without the rule the matrix is off by 0.49 and more."""
    a, b = np.array([1.0, 1.0, 1.0]), np.array([1.0, 1.5, 0.5])
    d, e = rot.half_sine_from_vector_parameter(a), rot.half_sine_from_vector_parameter(b)
    s, t = np.sqrt(1 - d @ d), np.sqrt(1 - e @ e)
    raw = t * d + s * e + np.cross(d, e)
    assert s * t - d @ e < 0
    close(rot.compose_half_sines(d, e), -raw, 1e-15)
    close(rot.matrix_from_half_sine(rot.compose_half_sines(d, e)), O(a) @ O(b), 1e-14)
    assert np.abs(rot.matrix_from_half_sine(raw) - O(a) @ O(b)).max() > 0.4


@pytest.mark.spec("S0-13")
def test_at_a_half_turn_both_axes_are_right():
    for exact in half_turns():
        d = encoded("half_sine", exact)[0] * (1 + 4e-16)  # rounding may make |d| larger than one
        close(rot.matrix_from_half_sine(d), rot.matrix_from_half_sine(-d), 3e-8)
        close(rot.matrix_from_half_sine(d), encoded("matrix", exact)[0], 3e-8)
        with pytest.raises(SingularityError, match="half-turn"):
            rot.vector_parameter_from_half_sine(d)
        back = rot.half_sine_from_matrix(encoded("matrix", exact)[0])
        assert min(np.abs(back - d).max(), np.abs(back + d).max()) <= 1e-15


@pytest.mark.spec("S0-13")
def test_half_sines_longer_than_one_are_refused():
    for use in (rot.matrix_from_half_sine, rot.quaternion_from_half_sine, rot.vector_parameter_from_half_sine,
                lambda d: rot.compose_half_sines(np.zeros(3), d)):
        with pytest.raises(GeometryError, match=r"half-sine parameter has length 1\.001"):
            use(np.array([0.0, 1.001, 0.0]))
