"""Kinematic equations over dual numbers and poses integrated in them: 60 digits, matrix exponentials and motions that
are known as oracles.
"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ConventionError, GeometryError, SingularityError
from cayley.geometry.motions import (
    dual_vector_parameter_from_pose,
    dual_vector_parameter_rate_from_body_velocity,
    dual_vector_parameter_rate_from_world_velocity,
    dual_velocity_from_dual_vector_parameter_rate,
)
from cayley.machines import integrate_pose
from compiler.parity import check_parity
from geometry.exact_motions import curve, floats, rates
from geometry.exact_rotations import MP, Attitude, product
from geometry.formulas_of_rates import instantaneous_screw_from_vector_parameter

PLACE = [[MP.mpf(x) for x in row] for row in (("0.3", "-1.2", "0.7"), ("0.5", "0.9", "-0.4"), ("-0.2", "0.1", "0.8"))]


def moving(seed):
    """c^ and its rate, w^ in the axes of the world, and the place with its rate, of a motion in 60 digits."""
    u = [MP.mpf(x) for x in np.random.default_rng(seed).normal(size=4)]
    sine = MP.sqrt(sum(x * x for x in u[1:]))
    length = MP.sqrt(u[0] ** 2 + sine**2)
    moved = curve(Attitude(u[0] / length, sine / length, tuple(x / sine for x in u[1:])))

    def position(t):
        return [a + b * t + c * t * t / 2 for a, b, c in zip(*PLACE, strict=True)]

    def parameters(t):
        q = moved.at(t)
        d = [x / 2 for x in product([MP.mpf(0), *position(t)], q)]
        c = [x / q[0] for x in q[1:]]
        return [*c, *[(x - y * d[0]) / q[0] for x, y in zip(d[1:], c, strict=True)]]

    now, rate, _ = rates(parameters)
    w, _ = moved.world
    p, dp = (floats(row) for row in PLACE[:2])
    return now.reshape(2, 3), rate.reshape(2, 3), np.array([w, dp - np.cross(w, p)]), p, dp


@pytest.mark.spec("S0-73")
@pytest.mark.parametrize("seed", range(6))
def test_dual_velocity_of_an_exact_motion(seed):
    """The real part is the angular velocity, the dual part p' - w x p; the inverse gives the rate of c^ back; axis and
    pitch of the instantaneous screw are those of w^."""
    c, dc, w, p, dp = moving(seed)
    found = dual_velocity_from_dual_vector_parameter_rate(c, dc)
    scale = 1 + np.abs(c).max() ** 2
    np.testing.assert_allclose(found.world, w, rtol=0, atol=1e-14 * scale)
    R, turned = Rotation.from_quat([*c[0], 1.0]).as_matrix(), found.body
    np.testing.assert_allclose(turned[0], R.T @ w[0], rtol=0, atol=1e-14 * scale)
    np.testing.assert_allclose(turned[1], R.T @ dp, rtol=0, atol=1e-13 * scale)  # of the body's own origin
    np.testing.assert_allclose(dual_vector_parameter_rate_from_world_velocity(c, w), dc, rtol=1e-13, atol=1e-13 * scale)
    np.testing.assert_allclose(dual_vector_parameter_rate_from_body_velocity(c, turned), dc, rtol=1e-13,
                               atol=1e-12 * scale)
    screw = instantaneous_screw_from_vector_parameter(c[0], dc[0], p, dp)
    speed = np.linalg.norm(w[0])
    np.testing.assert_allclose(screw.pitch, w[0] @ w[1] / speed**2, rtol=1e-11)
    np.testing.assert_allclose(screw.moment, (w[1] - screw.pitch * w[0]) / speed, atol=1e-12 * scale)


@pytest.mark.spec("S0-73")
def test_a_half_turn_has_no_finite_rate():
    with pytest.raises(SingularityError, match="half-turn"):
        dual_velocity_from_dual_vector_parameter_rate([[np.inf, 0, 0], [0, 0, 0]], np.zeros((2, 3)))
    slide = dual_velocity_from_dual_vector_parameter_rate(np.zeros((2, 3)), [[0, 0, 0], [0.5, 1.0, 1.5]])
    np.testing.assert_array_equal(slide.world, [[0, 0, 0], [1.0, 2.0, 3.0]])  # a pure slide


def matrix_of(twist):
    v, w = twist[:3], twist[3:]
    return np.array([[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]], [0, 0, 0, 0]])


@pytest.mark.spec("S0-73")
@pytest.mark.parametrize("axes", ["world", "body"])
@pytest.mark.parametrize("begin", ["here", "half-turn"])
def test_a_constant_twist_is_an_exponential(axes, begin):
    """Through some half-turns, forwards and backwards, from the identity and from a half-turn."""
    twist, times = np.array([0.4, -0.7, 0.3, 0.6, -0.8, 1.4]), np.linspace(0.0, 9.0, 13)
    start = np.eye(4)
    if begin == "half-turn":
        start[:3, :3] = np.diag([-1.0, 1.0, -1.0])
        start[:3, 3] = [0.5, 2.0, -1.0]
    path = integrate_pose(lambda t: twist, start, times, axes=axes)
    for t, pose in zip(times, path.poses, strict=True):
        moved = expm(t * matrix_of(twist))
        np.testing.assert_allclose(pose, moved @ start if axes == "world" else start @ moved, atol=2e-10)
    assert len(path.recentrings) >= 5
    if begin == "here":
        np.testing.assert_allclose(path.half_turns, np.pi / np.linalg.norm(twist[3:]) * np.array([1, 3]), atol=1e-9)
        np.testing.assert_allclose(path.at(path.half_turns[0])[:3, :3].trace(), -1.0, atol=1e-12)
    else:
        assert abs(path.half_turns[0]) < 1e-9
    back = integrate_pose(lambda t: twist, path.poses[-1], times[::-1], axes=axes)
    np.testing.assert_allclose(back.poses[-1], start, atol=1e-9)
    between = path.at([0.1, 4.4])
    np.testing.assert_allclose(between[1], expm(4.4 * matrix_of(twist)) @ start if axes == "world" else
                               start @ expm(4.4 * matrix_of(twist)), atol=2e-10)
    steps = np.abs(np.diff(integrate_pose(lambda t: twist, start, np.linspace(0, 9, 400), axes=axes).dual_quaternions,
                           axis=0))
    assert steps[:, 0].max() < 0.05  # the sign never jumps


@pytest.mark.spec("S0-73")
def test_the_tool_of_an_arm_comes_where_its_kinematics_say():
    """Six joints that turn by more than a turn: the twist of the tool, integrated in c^, is its pose."""
    arm = cy.load("puma560")
    speeds = np.array([0.9, -1.3, 1.1, 2.0, -1.7, 1.4])

    def q(t):
        return 2.5 * np.sin(speeds * t)

    def twist(t):
        return arm.twist(q(t), 2.5 * speeds * np.cos(speeds * t), "tool", axes="world", at="world")

    times = np.linspace(0.0, 3.0, 7)
    path = integrate_pose(twist, arm.pose(q(0.0), "tool"), times, axes="world")
    np.testing.assert_allclose(path.poses, arm.pose(np.array([q(t) for t in times]), "tool"), atol=3e-10)
    assert len(path.half_turns) > 0

    def own(t):
        return arm.twist(q(t), 2.5 * speeds * np.cos(speeds * t), "tool", axes="body")

    same = integrate_pose(own, arm.pose(q(0.0), "tool"), times, axes="body")
    np.testing.assert_allclose(same.poses, path.poses, atol=3e-10)
    ends = dual_vector_parameter_from_pose(path.poses[-1])
    assert np.isfinite(ends).all()


@pytest.mark.spec("S0-73")
def test_a_slide_needs_one_chart():
    path = integrate_pose(lambda t: [1.0, 2.0 * t, 0.0, 0.0, 0.0, 0.0], np.eye(4), [0.0, 100.0], axes="body")
    np.testing.assert_allclose(path.poses[-1, :3, 3], [100.0, 1e4, 0.0], rtol=1e-9)
    assert len(path.spans) == 1 and len(path.half_turns) == 0


def test_wrong_words_and_numbers():
    with pytest.raises(ConventionError, match="axes='tool'"):
        integrate_pose(lambda t: np.zeros(6), np.eye(4), [0.0, 1.0], axes="tool")
    with pytest.raises(GeometryError, match="six finite numbers"):
        integrate_pose(lambda t: [1.0, 2.0, 3.0], np.eye(4), [0.0, 1.0], axes="body")
    with pytest.raises(GeometryError, match=r"integrated from 0\.0 to 1\.0"):
        integrate_pose(lambda t: np.ones(6), np.eye(4), [0.0, 1.0], axes="body").at(1.5)


def test_the_texts_compile():
    c, w = np.random.default_rng(0).normal(size=(2, 5, 2, 3))
    check_parity(dual_vector_parameter_rate_from_world_velocity, c, w, jacobians=False)
