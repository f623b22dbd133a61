"""Finite screws, the exponential and the logarithm of poses, fixed points; against 60 digits, Pinocchio and SciPy."""

import numpy as np
import pinocchio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform

from cayley.errors import GeometryError
from cayley.geometry import motions as cm
from geometry import formulas_of_motions as fm
from geometry.exact_rotations import AXES, MP, attitude, half_turns
from geometry.exact_rotations import matrix_of as exact_matrix
from geometry.strategies import (
    TINY,
    axes,
    homogeneous_forms,
    matrix_of,
    rotation_matrices,
    rotation_vectors,
    signed_angles,
    vectors,
)


def close(found, expected, size=1.0, tolerance=1e-14):
    np.testing.assert_allclose(found, expected, rtol=0,
                               atol=tolerance * max(size, np.max(np.abs(expected), initial=0.0)))


def pose(R, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def exact_exponential(twist):
    """The 4x4 matrix exponential of a twist (v; l), in 60 digits, by series after scaling."""
    x, y, z = (MP.mpf(float(a)) for a in twist[3:])
    v = [MP.mpf(float(a)) for a in twist[:3]]
    M = MP.matrix([[0, -z, y, v[0]], [z, 0, -x, v[1]], [-y, x, 0, v[2]], [0, 0, 0, 0]]) / 64
    total = term = MP.eye(4)
    for k in range(1, 45):
        term = term * M / k
        total = total + term
    for _ in range(6):
        total = total * total
    return total


def error_of(twist, T):
    """How far exp(twist), exact, is from the matrix T, exact: attitude and translation."""
    difference = exact_exponential(twist) - T
    return (float(max(abs(difference[i, j]) for i in range(3)
                      for j in range(3))), float(max(abs(difference[i, 3]) for i in range(3))))


ANGLES = [0.0, *TINY, 0.3, 0.999, 1.001, 2.0, 3.0, *[np.pi - t for t in TINY], np.pi, 3.5, 6.0]
SOME_AXES = [(0.0, 0.0, 1.0), (1.0, 1.0, -1.0), (0.3, -0.5, 0.7), (1.0, 1e-9, 0.0)]


@pytest.mark.spec("S1-02", "S0-30")
@pytest.mark.parametrize("axis", SOME_AXES)
def test_exponential_over_the_whole_group(axis):
    for angle in ANGLES:
        l = angle * np.array(axis) / np.linalg.norm(axis)
        twist = np.array([1.3, -0.4, 2.2, *l])
        attitude_error, translation_error = error_of(twist, MP.matrix(cm.pose_from_twist(twist).tolist()))
        assert attitude_error <= 4e-15 and translation_error <= 8e-15, (axis, angle, attitude_error, translation_error)


@pytest.mark.spec("S1-02", "S0-30")
def test_logarithm_over_the_whole_group():
    """Poses rounded from exact ones: exp(log T) returns to them, in attitude and in place, at zero, at half-turns and
    short of both.
    """
    p = np.array([1.3, -0.4, 2.2])
    exact = [*[attitude(axis, angle) for axis in AXES for angle in (0.0, *TINY, 0.5, 1.0, 2.0)],
             *[attitude(axis, short_of_half_turn=short) for axis in AXES for short in (*TINY, 0.1)], *half_turns()]
    for one in exact:
        R = np.array(exact_matrix(one.quaternion), dtype=np.float64)
        twist = cm.twist_from_pose(pose(R, p))
        assert np.linalg.norm(twist[3:]) <= np.pi * (1 + 1e-15)
        T = MP.matrix(pose(R, p).tolist())
        attitude_error, translation_error = error_of(twist, T)
        assert attitude_error <= 4e-15 and translation_error <= 2e-14, (one, attitude_error, translation_error)
        if float(one.angle) > 1e-290:
            screw = cm.screw_from_pose(pose(R, p))
            rebuilt = cm.pose_from_screw(screw.direction, screw.point, screw.angle, screw.distance)
            close(rebuilt, pose(R, p), 10, tolerance=4e-15)


@given(st.tuples(vectors(), rotation_vectors()).map(np.concatenate))
def test_beside_pinocchio_and_scipy(twist):
    T = cm.pose_from_twist(twist)
    close(T, pinocchio.exp6(twist).homogeneous, 30, tolerance=1e-13)
    close(T, RigidTransform.from_exp_coords(np.concatenate([twist[3:], twist[:3]])).as_matrix(), 30, tolerance=1e-13)
    if np.linalg.norm(twist[3:]) < 3:
        found = cm.twist_from_pose(T)
        close(found, pinocchio.log6(pinocchio.SE3(T[:3, :3].copy(), T[:3, 3].copy())).vector, 30, tolerance=1e-13)
        close(found, twist, 30, tolerance=1e-13)


@pytest.mark.spec("S0-30", "S1-02")
@given(homogeneous_forms(), vectors())
def test_finite_screw(h, p):
    """The axis goes into itself, shifted by the distance; its Pluecker coordinates fit; the pose comes back."""
    R = matrix_of(h / np.max(np.abs(h)))
    screw = cm.screw_from_displacement(h, p)
    assert abs(np.linalg.norm(screw.direction) - 1) < 1e-15 and 0 <= screw.angle <= np.pi
    # of the axis, from p's rounding
    reach = 1 + np.max(np.abs(p)) * (1 + 1 / np.tan(screw.angle / 2)) if screw.angle > 1e-300 else np.inf
    if reach < 1e150:
        close(screw.moment, np.cross(screw.point, screw.direction), reach)
        close(screw.point @ screw.direction, 0.0, reach)
        for s in (0.0, 2.5):
            x = screw.point + s * screw.direction
            close(R @ x + p, x + screw.distance * screw.direction, reach)
        close(cm.pose_from_screw(screw.direction, screw.point, screw.angle, screw.distance), pose(R, p), 20)
    if screw.angle > 1e-300:
        close(screw.pitch * screw.angle, screw.distance, 10)


@pytest.mark.spec("S0-30", "S1-02")
@given(vectors())
def test_translations_have_their_axis_at_infinity(p):
    screw = cm.screw_from_pose(pose(np.eye(3), p))
    assert screw.angle == 0
    np.testing.assert_array_equal(screw.point, 0.0)
    np.testing.assert_array_equal(screw.moment, 0.0)
    close(screw.distance * screw.direction, p)
    assert screw.pitch == (np.inf if np.any(p) else 0.0)
    close(cm.pose_from_screw(screw.direction, screw.point, 0.0, screw.distance), pose(np.eye(3), p))
    np.testing.assert_allclose(cm.twist_from_pose(pose(np.eye(3), p)), [*p, 0, 0, 0], atol=0)


@pytest.mark.spec("S0-30")
@given(axes(), vectors())
def test_half_turns_are_ordinary(axis, p):
    """Spec R-30: at a half-turn x0 is half the part of p across the axis."""
    screw = cm.screw_from_displacement([0.0, *axis], p)
    assert screw.angle == np.pi
    close(screw.direction, axis)
    close(screw.point, (p - axis * (axis @ p)) / 2, 10)
    close(screw.distance, axis @ p, 10)


@pytest.mark.spec("S0-30")
@given(st.tuples(*[st.floats(-3, 3)] * 3).map(np.array).filter(lambda c: np.linalg.norm(c) > 1e-2), vectors())
def test_screw_of_a_vector_parameter(c, p):
    """The formulas of spec R-30 in c."""
    screw = fm.screw_from_vector_parameter(c, p)
    nu = (c @ p) / (c @ c)
    x0 = (p - nu * c + np.cross(c, p) / (c @ c)) / 2
    size = 1e3 / np.linalg.norm(c)
    close(screw.point, x0, size)
    length = np.linalg.norm(c)
    close(screw.angle, 2 * np.arctan(length))
    close(screw.distance, (c @ p) / length, 10)
    L, moment = 2 * np.tan(screw.angle / 2) * screw.direction, 2 * np.tan(screw.angle / 2) * screw.moment
    close(L, 2 * c)
    close(moment, p - np.cross(c, p) - nu * c, size)


@pytest.mark.spec("S0-30")
def test_screw_worked_example():
    """Spec WE-06: the last frame of a three-link chain."""
    c, p = np.array([0.5495049568, -0.3720223252, 0.0461216502]), np.array([1.3041883434, -0.0233701160, 0.7512064003])
    screw = fm.screw_from_vector_parameter(c, p)
    np.testing.assert_allclose(screw.angle, 1.1739652202283082, atol=1e-9)
    np.testing.assert_allclose(screw.distance, 1.1425218066251204, atol=1e-9)
    scale = 2 * np.tan(screw.angle / 2)
    np.testing.assert_allclose(scale * screw.direction, [1.0990099136, -0.7440446503, 0.0922433005], atol=1e-9)
    np.testing.assert_allclose(scale * screw.moment, [0.6387595284, 0.9682468046, 0.1996437777], atol=2e-9)
    np.testing.assert_allclose(screw.point, [-0.1343881511, -0.0906752447, 0.8697377395], atol=2e-9)


@pytest.mark.spec("S1-02")
@given(axes(), signed_angles(), vectors())
def test_euler_and_chasles(axis, angle, p):
    """vect(A) = sin(phi) e, tr A = 1 + 2 cos(phi), A e = e; and the kinds of fixed points."""
    T = cm.turn_about_line(p, axis, angle)
    A = T[:3, :3]
    close([A[2, 1] - A[1, 2], A[0, 2] - A[2, 0], A[1, 0] - A[0, 1]], 2 * np.sin(angle) * axis)
    close(np.trace(A), 1 + 2 * np.cos(angle), 3)
    close(A @ axis, axis)
    fixed = cm.fixed_points(T)
    if abs(angle) > 1e-6:
        assert fixed.kind == "line"
        close(cm.transform_point(T, fixed.point), fixed.point, 1 + 10 * np.linalg.norm(fixed.point))
        close(np.abs(fixed.direction @ axis), 1.0, tolerance=1e-9)
        slid = cm.fixed_points(cm.pose_from_screw(axis, p, angle, 1e-3))
        assert slid == cm.FixedPoints("none", None, None)


@pytest.mark.spec("S1-02")
def test_fixed_points_of_the_identity_and_of_translations():
    assert cm.fixed_points(np.eye(4)).kind == "all"
    assert cm.fixed_points(pose(np.eye(3), [0.0, 1e-3, 0.0])).kind == "none"
    half = cm.fixed_points(pose(np.diag([-1.0, -1.0, 1.0]), [2.0, 4.0, 0.0]))
    assert half.kind == "line"
    np.testing.assert_array_equal(half.point, [1.0, 2.0, 0.0])
    with pytest.raises(GeometryError, match="one pose"):
        cm.fixed_points(np.tile(np.eye(4), (2, 1, 1)))


@given(rotation_matrices(), vectors(), st.floats(0, 1))
def test_fractions_of_a_screw(R, p, t):
    """Half of a screw, twice, is the whole; every part has the same axis."""
    T = pose(R, p)
    close(cm.fraction_of_pose(T, 0.0), np.eye(4))
    close(cm.fraction_of_pose(T, 1.0), T, 20)
    part, rest = cm.fraction_of_pose(T, t), cm.fraction_of_pose(T, 1 - t)
    close(part @ rest, T, 40)
    close(rest @ part, T, 40)
    close(cm.twist_from_pose(cm.pose_from_twist(t * cm.twist_from_pose(T))), t * cm.twist_from_pose(T), 40,
          tolerance=1e-13)


def test_a_direction_that_is_none():
    with pytest.raises(GeometryError, match="unit vector"):
        cm.pose_from_screw([0.0, 0.0, 2.0], [0.0, 0.0, 0.0], 1.0, 0.0)
