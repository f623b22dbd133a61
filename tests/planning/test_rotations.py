"""Curves of rotations and poses: worked examples, 50 digits, finite differences, SciPy, and what must not depend on
frames."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation, RotationSpline

import cayley as cy
from cayley.geometry.motions.screws import pose_from_twist, twist_from_pose
from cayley.geometry.rotations import matrix_from_quaternion, quaternion_product
from cayley.model.joint_kinds import Spherical
from cayley.model.parts import Body, Joint
from cayley.planning import (
    At,
    Composed,
    Together,
    load_motion,
    polynomial_through,
    pose_cubic,
    pose_forward,
    pose_spline,
    rotation_cubic,
    rotation_cubics,
    rotation_forward,
    rotation_spline,
    screw_motion,
)
from cayley.planning.splines.polynomials import line

_UNIT = np.array([1.0, 0.0, 0.0, 0.0])


def _quaternion(c) -> np.ndarray:
    c = np.asarray(c, dtype=float)
    return np.concatenate([[1.0], c]) / np.sqrt(1 + c @ c)


def _about_z(angle) -> np.ndarray:
    half = np.asarray(angle) / 2
    return np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)


def _random(knots: int, spread: float = 0.6, seed: int = 0):
    rng = np.random.default_rng(seed)
    turns = Rotation.identity()
    found = []
    for _ in range(knots):
        turns = turns * Rotation.from_rotvec(rng.normal(size=3) * spread)
        found.append(turns.as_quat()[[3, 0, 1, 2]])
    return np.cumsum(rng.uniform(0.3, 1.5, knots)), np.array(found) * rng.choice([-1.0, 1.0], (knots, 1)), rng


def _poses(q, rng) -> np.ndarray:
    poses = np.tile(np.eye(4), (len(q), 1, 1))
    poses[:, :3, :3] = matrix_from_quaternion(q)
    poses[:, :3, 3] = rng.normal(size=(len(q), 3))
    return poses


def _pose(q) -> np.ndarray:
    found = np.zeros((*q.shape[:-1], 4, 4))
    found[..., :3, :3] = matrix_from_quaternion(q[..., 3:])
    found[..., :3, 3] = q[..., :3]
    found[..., 3, 3] = 1.0
    return found


def _curves():
    t, q, rng = _random(6)
    poses = _poses(q, rng)
    w = ([0.3, -0.2, 0.5], [-0.1, 0.4, 0.2])
    twists = ([1.0, 0.2, -0.3, *w[0]], [0.4, -1.0, 0.6, *w[1]])
    return {"cubic": rotation_cubic(t[:2], q[:2], velocities=w), "forward": rotation_forward(t[:4], q[:4]),
            "cubics": rotation_cubics(t, q, velocities=w),
            "spline": rotation_spline(t, q), "clamped": rotation_spline(t, q, "clamped", velocities=w),
            "not-a-knot": rotation_spline(t, q, "not-a-knot"),
            "periodic": rotation_spline(np.append(t, t[-1] + 1), [*q, q[0]], "periodic"),
            "pose cubic": pose_cubic(t[:2], poses[:2], twists=twists),
            "pose forward": pose_forward(t[:4], poses[:4], twist=twists[0]),
            "pose spline": pose_spline(t, poses, "clamped", twists=twists), "screws": screw_motion(t[:2], poses[:2])}


@pytest.fixture(scope="module", params=_curves())
def curve(request: pytest.FixtureRequest):
    return _curves()[request.param]


def _matrix(curve, t):
    q = curve(t).q
    return _pose(q) if curve.nq == 7 else matrix_from_quaternion(q)


def test_rates_are_derivatives_of_the_positions(curve):
    h = 1e-6
    t = np.linspace(curve.start, curve.end, 23)[1:-1]
    t = t[np.abs(t[:, None] - curve.breaks).min(axis=1) > 2 * h]
    back = np.linalg.inv(_matrix(curve, t))
    rate = back @ ((_matrix(curve, t + h) - _matrix(curve, t - h)) / (2 * h))  # in body axes
    found = [rate[:, 2, 1], rate[:, 0, 2], rate[:, 1, 0]]
    found = [*rate[:, :3, 3].T, *found] if curve.nq == 7 else found
    values = curve.derivatives(t)
    np.testing.assert_allclose(np.stack(found, axis=-1), values[1], atol=1e-7 * (1 + np.abs(values[1]).max()))
    for k in (1, 2):
        slope = (curve.derivatives(t + h)[k] - curve.derivatives(t - h)[k]) / (2 * h)
        np.testing.assert_allclose(slope, values[k + 1], atol=1e-7 * (1 + np.abs(values[k + 1]).max()))
    np.testing.assert_allclose(np.linalg.norm(values[0][:, -4:], axis=-1), 1.0, atol=1e-15)


@pytest.mark.spec("S0-64")
def test_angular_velocity_and_acceleration_are_continuous(curve):
    inner = curve.breaks[1:-1]
    left = curve.derivatives(np.nextafter(inner, curve.start))
    right = curve.derivatives(inner)
    for a, b in zip(left[:3], right[:3], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12 * (1 + np.abs(b).max(initial=0.0)))


def test_kernels_files_and_other_times(curve, tmp_path):
    t = np.linspace(curve.start, curve.end, 11)
    n, v = curve.nq, curve.nv
    traced = cy.kernel(f"()->({n}),({v}),({v})", name="traced")(lambda t: curve(t))
    for a, b in zip(traced(t), curve(t), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11 * (1 + np.abs(b).max()))
    loaded = load_motion(curve.save(tmp_path / "curve"))
    np.testing.assert_array_equal(loaded(t).qdd, curve(t).qdd)
    back = curve.reversed()
    np.testing.assert_allclose(back(t).qd, -curve(curve.start + curve.end - t).qd, atol=1e-10)
    around = curve.then(back.shifted(0.0))
    assert around.duration == pytest.approx(2 * curve.duration)
    np.testing.assert_allclose(around(around.end).q[-4:] @ curve(curve.start).q[-4:], 1.0, atol=1e-12)


@pytest.mark.spec("S0-63")
def test_two_points_of_the_worked_example():
    quarter = rotation_cubic([0.0, 1.0], [_UNIT, _about_z(np.pi / 2)])
    t = np.linspace(0.0, 1.0, 7)
    q = quarter(t).q
    np.testing.assert_allclose(q[:, 3] / q[:, 0], 3 * t**2 - 2 * t**3, atol=1e-14)
    known = {30: (1.0014, 15.26), 60: (1.0234, 32.20), 90: (1.1338, 53.13), 120: (1.5478, 81.79), 150: (3.5386, 123.63),
             170: (17.22, 160.15)}
    for degrees, (cost, middle) in known.items():
        angle = np.radians(degrees)
        turn = rotation_cubic([0.0, 1.0], [_UNIT, _about_z(angle)])
        spent = quad(lambda t, turn=turn: turn(t).qdd @ turn(t).qdd, 0.0, 1.0, limit=200)[0] / (12 * angle**2)
        assert spent == pytest.approx(cost, rel=2e-4)
        half = turn(0.5).q
        assert 2 * np.degrees(np.arctan2(half[3], half[0])) == pytest.approx(middle, abs=6e-3)
    for angle in (np.pi, -np.pi):
        with pytest.raises(cy.SingularityError, match="is half a turn, which has no vector-parameter: give a rotation"):
            rotation_cubic([0.0, 1.0], [_UNIT, _about_z(angle)])
    nearly = rotation_cubic([0.0, 1.0], [_UNIT, _about_z(np.pi - 1e-6)])
    np.testing.assert_allclose(nearly([0.0, 1.0]).q, [_UNIT, _about_z(np.pi - 1e-6)], atol=1e-12)


@pytest.mark.spec("S0-63")
@pytest.mark.parametrize("duration", [1.0, 0.2, 7.0])
def test_two_points_in_fifty_digits(duration):
    _, q, rng = _random(2, 0.8, 4)
    w0, w1 = rng.normal(size=(2, 3)) / duration
    turn = rotation_cubic([2.0, 2.0 + duration], q, velocities=(w0, w1))
    np.testing.assert_allclose(turn([2.0, 2.0 + duration]).qd, [w0, w1], atol=1e-13 * (1 + np.abs([w0, w1]).max()))
    with mpmath.workdps(50):
        O0, O1 = (mpmath.matrix(matrix_from_quaternion(p)) for p in q)
        across = O0.T * O1 - O1.T * O0
        f = mpmath.matrix([across[2, 1], across[0, 2], across[1, 0]]) / (1 + sum((O0.T * O1)[i, i] for i in range(3)))

        def hat(c):
            return mpmath.matrix([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])

        h = mpmath.mpf(duration)
        slope = (1 + (f.T * f)[0]) / 2 * mpmath.inverse(mpmath.eye(3) - hat(f)) * (h * mpmath.matrix(w1))
        z = h * mpmath.matrix(w0) / 2
        x, y = slope + z - 2 * f, 3 * f - 2 * z - slope

        def matrix(u):
            c = hat(x * u**3 + y * u**2 + z * u)
            return O0 * (mpmath.eye(3) + c) * mpmath.inverse(mpmath.eye(3) - c)

        def velocity(u):
            e = mpmath.mpf(10)**-15
            return matrix(u).T * (matrix(u + e) - matrix(u - e)) / (2 * e * h)

        for u in (mpmath.mpf("0.3"), mpmath.mpf("0.75")):
            here = turn(2.0 + duration * float(u))
            W = velocity(u)
            e = mpmath.mpf(10)**-12
            dW = (velocity(u + e) - velocity(u - e)) / (2 * e * h)
            known = np.array(matrix(u).tolist(), dtype=float)
            np.testing.assert_allclose(matrix_from_quaternion(here.q), known, atol=1e-14)
            for values, exact in ((here.qd, W), (here.qdd, dW)):
                vector = np.array([exact[2, 1], exact[0, 2], exact[1, 0]], dtype=float)
                np.testing.assert_allclose(values, vector, atol=1e-12 * (1 + np.abs(vector).max()))


@pytest.mark.spec("S0-63", "S0-64")
def test_curves_do_not_depend_on_frames():
    t, q, rng = _random(5, 0.5, 2)
    P, Q = (p / np.linalg.norm(p) for p in rng.normal(size=(2, 4)))
    w = rng.normal(size=(2, 3))
    turned = matrix_from_quaternion(Q).T @ w.T
    other = quaternion_product(quaternion_product(P, q), Q)
    u = np.linspace(t[0], t[-1], 17)
    for plan in (lambda q, w: rotation_spline(t, q, "clamped", velocities=w), lambda q, w: rotation_spline(t, q),
                 lambda q, w: rotation_cubics(t, q, velocities=w),
                 lambda q, w: rotation_cubic([t[0], t[-1]], q[[0, 1]], velocities=w),
                 lambda q, w: rotation_forward(t, q, velocity=w[0], acceleration=w[1])):
        here, there = plan(q, w)(u), plan(other, turned.T)(u)
        expected = quaternion_product(quaternion_product(P, here.q), Q)
        np.testing.assert_allclose(np.abs(np.sum(expected * there.q, axis=-1)), 1.0, atol=1e-12)
        np.testing.assert_allclose(there.qdd, here.qdd @ matrix_from_quaternion(Q), atol=1e-9)


@pytest.mark.spec("S0-64")
def test_many_points_of_the_worked_example():
    q = [_quaternion(c) for c in [(0, 0, 0), (0.2, 0, 0.1), (0.3, 0.3, 0.1), (0.1, 0.5, 0.4)]]
    t = [0.0, 0.5, 1.5, 2.0]
    curve = rotation_forward(t, q, velocity=(0.1, 0.2, -0.1), acceleration=(0.0, 0.0, 0.2))
    # of q0 (1, c): c of the powers of u = (t - t0)/h
    known = [[(0.175, -0.05, 0.1125), (0, 0, 0.0125), (0.025, 0.05, -0.025)],
             [(-2.5683005913, 0.8968216882, -1.9981949478), (1.6612244898, -0.4591269841, 1.2611678005),
              (1.0285714286, -0.1666666667, 0.6809523810)]]
    for k, (x, y, z) in enumerate(known):
        h = t[k + 1] - t[k]
        back = q[k] * [1.0, -1.0, -1.0, -1.0]
        for power, wanted in ((3, x), (2, y), (1, z)):
            found = quaternion_product(back, curve.coefficients[k, power] * h**power)
            np.testing.assert_allclose(found, [0.0, *wanted], atol=1e-9)
    last = quaternion_product(q[2] * [1.0, -1.0, -1.0, -1.0], curve.coefficients[2, 3] * 0.5**3)
    np.testing.assert_allclose(last[1:], [2.0252275088, -0.5000178949, 3.3031910469], atol=1e-9)
    middle = curve(1.0).q
    np.testing.assert_allclose(middle[1:] / middle[0], [0.9754870224, -0.1269631077, 0.5834991853], atol=1e-9)
    np.testing.assert_allclose([curve(0.0).qd, curve(0.0).qdd], [[0.1, 0.2, -0.1], [0.0, 0.0, 0.2]], atol=1e-15)


@pytest.mark.spec("S0-64")
def test_from_knot_to_knot_errors_grow_and_at_once_they_do_not():
    t = np.arange(13.0)
    knots = _about_z(0.2 * t)
    unstable = rotation_forward(t, knots, velocity=(0.0, 0.0, 0.2))
    errors = unstable(t[1:-1]).qd[:, 2] - 0.2
    known = [-5.3e-6, 2.4e-5, -8.5e-5, 3.1e-4, -1.2e-3, 4.2e-3, -1.6e-2, 5.7e-2, -0.21, 0.77, -2.82]
    np.testing.assert_allclose(errors, known, rtol=0.04)
    np.testing.assert_allclose((errors[1:] / errors[:-1])[2:], -(2 + 3**0.5), rtol=0.05)
    steady = ([0.0, 0.0, 0.2], [0.0, 0.0, 0.2])
    u = np.linspace(0.0, 12.0, 200)
    assert abs(rotation_cubics(t, knots, velocities=steady)(t).qd[:, 2] - 0.2).max() < 1e-6
    assert abs(rotation_spline(t, knots, "clamped", velocities=steady)(u).qd[:, 2] - 0.2).max() < 2e-7
    bent = rotation_spline(t, knots, "clamped", velocities=([0.0, 0.0, 0.3], steady[1]))(t).qd[:, 2] - 0.2
    assert (np.abs(bent[1:8]) < 0.28 * np.abs(bent[:7])).all()  # an error of one end decays from knot to knot


@pytest.mark.spec("S0-63", "S0-64")
def test_half_turns():
    rest = rotation_spline([0.0, 2.0], [_UNIT, [0.0, 0.0, 0.0, 1.0]], "clamped")
    u = np.linspace(0.0, 2.0, 9)
    q = rest(u).q
    angle = 2 * np.arctan2(q[:, 3], q[:, 0])
    np.testing.assert_allclose(angle[[0, 4, 8]], [0.0, np.pi / 2, np.pi], atol=1e-14)
    np.testing.assert_allclose(angle + angle[::-1], np.pi, atol=1e-14)  # back as forth
    assert (np.diff(angle) > 0).all() and rest.rests == (True, True)
    other = rotation_spline([0.0, 2.0], [_UNIT, [0.0, 0.0, 0.0, 1.0]], "clamped",
                            velocities=([0.0, 0.0, -0.1], [0.0, 0.0, 0.0]))
    assert other(1.0).qd[2] < 0  # the way that the velocities say
    t = np.array([0.0, 1.0, 2.5, 3.0])
    axes = np.array([_UNIT, [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])  # all half-turns apart
    through = rotation_spline(t, axes)
    np.testing.assert_allclose(np.abs(np.sum(through(t).q * axes, axis=-1)), 1.0, atol=1e-15)
    assert through.continuity == 2
    for plan in (rotation_forward, rotation_cubics):
        with pytest.raises(cy.SingularityError, match="from t = 0 to 1 is half a turn"):
            plan(t, axes)


def test_through_the_knots_and_near_to_scipy():
    t = np.linspace(0.0, 4.0, 81)
    turns = Rotation.from_rotvec(np.stack([np.sin(t), 0.5 * t, np.cos(1.3 * t)], axis=-1))
    q = turns.as_quat()[:, [3, 0, 1, 2]]
    ours = rotation_spline(t, turns.as_matrix(), "not-a-knot")
    theirs = RotationSpline(t, turns)
    np.testing.assert_allclose(np.abs(np.sum(ours(t).q * q, axis=-1)), 1.0, atol=1e-14)
    u = np.linspace(0.5, 3.5, 100)
    exact = Rotation.from_rotvec(np.stack([np.sin(u), 0.5 * u, np.cos(1.3 * u)], axis=-1))
    found = Rotation.from_quat(ours(u).q[:, [1, 2, 3, 0]])
    assert (found.inv() * exact).magnitude().max() < 3e-7
    np.testing.assert_allclose(ours(u).qd, theirs(u, 1), atol=2e-4)
    np.testing.assert_allclose(ours(u).qdd, theirs(u, 2), atol=2e-2)


@pytest.mark.parametrize("knots", [2, 3, 10_000])
def test_few_knots_and_many(knots):
    t, q, _ = _random(knots, 0.4, 7)
    for ends in ("natural", "clamped", "not-a-knot"):
        curve = rotation_spline(t, q, ends)
        np.testing.assert_allclose(np.abs(np.sum(curve(t).q * q, axis=-1)), 1.0, atol=1e-12)
    if knots == 10_000:
        cubics = rotation_cubics(t[:300], q[:300])
        np.testing.assert_allclose(np.abs(np.sum(cubics(t[:300]).q * q[:300], axis=-1)), 1.0, atol=1e-12)


def test_two_poses_are_joined_by_a_turn_about_one_line():
    _, q, rng = _random(2, 0.7, 5)
    first, last = _poses(q, rng)
    screw = twist_from_pose(np.linalg.inv(first) @ last)
    u = np.linspace(0.05, 0.95, 9)
    for move in (pose_spline([0.0, 1.0], [first, last], "clamped"), pose_cubic([0.0, 1.0], [first, last]),
                 pose_spline([0.0, 1.0], [first, last])):
        for twist in move(u).qd:
            np.testing.assert_allclose(_line(twist), _line(screw), atol=1e-12)
        np.testing.assert_allclose(_pose(move([0.0, 1.0]).q), [first, last], atol=1e-14)
    steady = screw_motion([0.0, 2.0], [first, last])
    np.testing.assert_allclose(steady(u).qd, np.tile(screw / 2, (9, 1)), atol=1e-15)
    np.testing.assert_allclose(_pose(steady(2 * u).q), [first @ pose_from_twist(s * screw) for s in u], atol=1e-14)


def _line(twist):
    """Direction and moment of the axis of a twist (v; w)."""
    v, w = twist[:3], twist[3:]
    return np.concatenate([w, v - (v @ w) / (w @ w) * w]) / np.linalg.norm(w)


def test_poses_do_not_depend_on_frames():
    t, q, rng = _random(5, 0.5, 3)
    poses = _poses(q, rng)
    left, right = _poses(_random(2, 1.0, 9)[1], rng)
    u = np.linspace(t[0], t[-1], 17)
    for plan in (pose_spline, pose_forward):
        here = _pose(plan(t[:4], poses[:4])(u[u < t[3]]).q)
        there = _pose(plan(t[:4], left @ poses[:4] @ right)(u[u < t[3]]).q)
        np.testing.assert_allclose(there, left @ here @ right, atol=1e-11)


def test_a_ball_takes_them():
    ball = cy.Mechanism.of("ball", [Body("base"), Body("bob", 2.0, [0.1, 0.0, -0.3], 0.1 * np.eye(3))],
                           [Joint("ball", "base", "bob", Spherical())])
    t, q, _ = _random(4, 0.5, 1)
    move = rotation_spline(t, q, "clamped")
    u = np.linspace(t[0], t[-1], 5)
    tau = ball.inverse_dynamics(*move(u))
    found = ball.forward_dynamics(move(u).q, move(u).qd, tau)
    np.testing.assert_allclose(found, move(u).qdd, atol=1e-9)
    both = Together((move, polynomial_through([At(t[0], 0.0, 0.0), At(t[-1], 1.0, 0.0)])))
    assert both.attitudes == (0,) and both(u).q.shape == (5, 5) and both(u).qd.shape == (5, 4)
    slow = Composed(move, line(0.0, 10.0, t[0], t[-1]))
    np.testing.assert_allclose(slow(5.0).qd, move((t[0] + t[-1]) / 2).qd * (t[-1] - t[0]) / 10, atol=1e-13)


@pytest.mark.parametrize("make, words", [
    (lambda: rotation_spline([0.0, 0.0], [_UNIT, _UNIT]), "the times increase; 0 and 1 are 0 and 0"),
    (lambda: rotation_spline([0.0, 1.0], [_UNIT]), r"2 times take 2 rotations: quaternions \(2, 4\)"),
    (lambda: rotation_spline([0.0, 1.0], [_UNIT, 2 * _UNIT]), "its norm is 2, not 1"),
    (lambda: rotation_spline([0.0, 1.0], [np.eye(3), -np.eye(3)]), "rotation"),
    (lambda: rotation_spline([0.0, 1.0], [_UNIT, _about_z(3.0)], "clamped", velocities=([0, 0, -8.6], [0, 0, -8.6])),
     "give more knots, or slower ends"),
    (lambda: rotation_spline([0.0, 1.0], [_UNIT, _UNIT], "clamped", velocities=([1.0, 2.0], 0.0)), "finite numbers"),
    (lambda: pose_forward([0.0, 1.0], [np.eye(4)] * 2, twist=[1.0, 2.0, 3.0]), r"twists are finite numbers \(6\)"),
    (lambda: pose_spline([0.0, 1.0], [np.eye(3), np.eye(3)]), r"poses \(2, 4, 4\)"),
    (lambda: rotation_spline([0.0, 1.0], [_UNIT, _about_z(1.0)], "periodic"), "comes back to its first point"),
])
def test_what_is_no_curve_is_named(make, words):
    with pytest.raises(cy.CayleyError, match=words):
        make()


@pytest.mark.parametrize("turns", [0.0, 1.0, 2.0])
def test_periodic_curves_of_whole_turns(turns):
    t = np.array([0.0, 0.9, 2.1, 2.8, 4.0])
    lean = 0.3 * np.sin(2 * np.pi * t / 4.0)
    leaning = np.stack([np.cos(lean), np.sin(lean), 0 * t, 0 * t], axis=-1)
    q = quaternion_product(_about_z(2 * np.pi * turns * t / 4.0), leaning)
    curve = rotation_spline(t, q, "periodic")
    begin, end = curve(0.0), curve(4.0)
    np.testing.assert_allclose([end.qd, end.qdd], [begin.qd, begin.qdd], atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sum(curve(t).q * q, axis=-1)), 1.0, atol=1e-12)
    around = curve.then(curve, curve)
    assert around.continuity == 2 and around.duration == 12.0
    poses = _poses(q, np.random.default_rng(0))
    poses[-1] = poses[0]
    assert pose_spline(t, poses, "periodic").then(pose_spline(t, poses, "periodic")).continuity == 2


def test_no_turn_at_all():
    still = rotation_spline([0.0, 1.0, 2.0], [_UNIT, -_UNIT, _UNIT], "clamped")
    assert not still(np.linspace(-1.0, 3.0, 9)).qd.any() and still.rests == (True, True)
    assert not rotation_cubic([0.0, 1.0], [_UNIT, -_UNIT])(0.5).qdd.any()


@pytest.mark.parametrize("degrees", [100.0, 150.0, 165.0, 170.0, 179.9, 190.0])
def test_almost_half_a_turn_is_said_of_cubics_in_vector_parameters(degrees):
    """Where it is said, the cubic is more than twice as fast as the spline."""
    ends = Rotation.from_rotvec([[0.0, 0.0, 0.0], np.radians([0.0, 0.6 * degrees, 0.8 * degrees])]).as_matrix()
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[:, :3, :3] = ends
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cubic = rotation_cubic([0.0, 1.0], ends)
        pose_cubic([0.0, 1.0], poses)
    t = np.linspace(0.0, 1.0, 4001)
    faster = (np.linalg.norm(cubic(t).qd, axis=1).max()
              / np.linalg.norm(rotation_spline([0.0, 1.0], ends, "clamped")(t).qd, axis=1).max())
    assert len(said) == (2 if abs(degrees - 180.0) < 11.4 else 0)
    assert all("degrees" in str(each.message) for each in said)
    assert (faster > 2.0) == bool(said)
