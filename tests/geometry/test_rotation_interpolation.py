"""From one attitude to another: constant rate about one axis, the shortest way and the long one, through half-turns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

import cayley.geometry.rotations as rot
from cayley.errors import SingularityError
from geometry.strategies import homogeneous_forms


def close(a, b, atol=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@given(homogeneous_forms(), homogeneous_forms(), st.floats(0.0, 1.0))
def test_interpolation_runs_at_constant_rate_about_one_axis(a, b, t):
    A, B = rot.matrix_from_homogeneous(a), rot.matrix_from_homogeneous(b)
    close(rot.matrix_from_homogeneous(rot.interpolate_shortest(a, b, 0.0)), A, 4e-15)
    close(rot.matrix_from_homogeneous(rot.interpolate_shortest(a, b, 1.0)), B, 4e-15)
    whole = rot.angle_between_rotations(A, B)
    there = rot.matrix_from_homogeneous(rot.interpolate_shortest(a, b, t))
    close(rot.angle_between_rotations(A, there), t * whole, 1e-14)
    close(rot.angle_between_rotations(there, B), (1 - t) * whole, 1e-14)
    if whole > 1e-6:
        close(rot.matrix_from_homogeneous(rot.interpolate_long_way(a, b, 1.0)), B, 1e-14)
        part = min(t, np.pi / (2 * np.pi - whole))
        there = rot.matrix_from_homogeneous(rot.interpolate_long_way(a, b, part))
        close(rot.angle_between_rotations(A, there), part * (2 * np.pi - whole), 1e-14)


def test_interpolation_against_scipy():
    random = np.random.default_rng(8)
    ends = random.normal(size=(2, 4))
    slerp = Slerp([0, 1], Rotation.from_quat(ends, scalar_first=True))
    times = np.linspace(0, 1, 11)
    close(rot.matrix_from_homogeneous(rot.interpolate_shortest(ends[0], ends[1], times)),
          slerp(times).as_matrix(), 4e-15)


def test_the_two_ways_between_attitudes_a_half_turn_apart():
    """Equally long; the sign of the given forms says which is which, and both pass opposite attitudes."""
    a, b = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])
    close(rot.matrix_from_homogeneous(rot.interpolate_shortest(a, b, 0.5)), rot.rotation_z(np.pi / 2), 1e-15)
    close(rot.matrix_from_homogeneous(rot.interpolate_shortest(a, -b, 0.5)), rot.rotation_z(-np.pi / 2), 1e-15)
    close(rot.matrix_from_homogeneous(rot.interpolate_long_way(a, b, 0.5)), rot.rotation_z(-np.pi / 2), 1e-15)


def test_interpolation_passes_through_half_turns_without_noticing():
    """From one side of a half-turn about x to the other: c runs through infinity, the attitude does not notice."""
    times = np.linspace(0, 1, 101)
    forms = rot.interpolate_shortest([1.0, np.tan(1.5), 0.0, 0.0], [1.0, -np.tan(1.5), 0.0, 0.0], times)
    wanted = rot.rotation_x(3.0 + times * (2 * np.pi - 6.0))
    close(rot.matrix_from_homogeneous(forms), wanted, 2e-15)
    assert abs(forms[50, 0]) <= 1e-15


def test_the_long_way_between_equal_attitudes_is_refused():
    with pytest.raises(SingularityError, match="the attitudes 1 of the batch are equal"):
        rot.interpolate_long_way([[1.0, 0, 0, 0], [1.0, 2, 0, 0]], [[0.0, 1, 0, 0], [-2.0, -4, 0, 0]], 0.5)
    close(rot.interpolate_shortest([1.0, 2, 0, 0], [-2.0, -4, 0, 0], 0.5), np.array([1, 2, 0, 0]) / np.sqrt(5), 1e-15)
