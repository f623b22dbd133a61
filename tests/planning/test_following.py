"""Postures along poses, paths of a tool and the joints that lead it: against closed forms of inverse kinematics,
SciPy's rotations, and forward kinematics at places that were not solved."""

import re
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import GeometryError, PlanningError, SignatureError, UnreachableError
from cayley.kinematics import continuous_posture
from cayley.planning import (
    MotionLimits,
    PosePath,
    away_from_limits,
    better_manipulability,
    circular_arc,
    follow,
    pose_spline,
    seam,
    self_motion,
    straight_line,
    time_optimal,
)

START = np.array([0.3, -0.9, 0.8, 0.4, 0.9, -0.3])
PLANE = (True, True, False, False, False, False)


@pytest.fixture(scope="module")
def puma():
    return cy.load("puma560")


@pytest.fixture(scope="module")
def two():
    return cy.Mechanism.from_dh([(0, 0, 1.0, 0), (0, 0, 0.8, 0)], convention="standard", name="two")


def errors(arm, q, poses):
    here = arm.pose(q, "tool")
    turn = Rotation.from_matrix(here[..., :3, :3] @ np.swapaxes(poses[..., :3, :3], -1, -2)).magnitude()
    return np.linalg.norm(here[..., :3, 3] - poses[..., :3, 3], axis=-1) + turn


# A list of poses


@pytest.mark.spec("S2-92")
def test_a_list_of_poses_is_solved_on_the_posture_it_came_from(puma):
    t = np.linspace(0, 1, 150)[:, None]
    q = START + 0.6 * np.sin(np.pi * t * np.array([1, 0.7, 0.5, 1.2, 0.6, 1.0]))
    poses = puma.pose(q, "tool")
    found = continuous_posture(puma.tree, poses, "tool", START)
    assert found.status == "followed" and found.reached == 150 and not found.complaints
    assert errors(puma, found.q, poses).max() < 1e-12 and found.residual.max() < 1e-12
    np.testing.assert_allclose(found.q, q, atol=1e-10)
    for k in range(0, 150, 30):  # one of the solutions in closed form, and no other
        all_of = puma.all_inverse_kinematics(poses[k], "tool").q
        gaps = np.sort(np.abs(np.angle(np.exp(1j * (all_of - found.q[k])))).max(axis=1))
        assert gaps[0] < 1e-9 < 0.1 < gaps[1]


@pytest.mark.spec("S2-92")
@pytest.mark.parametrize("kind", ["wrist", "shoulder", "elbow beside"])
def test_paths_across_singular_postures_do_not_jump(puma, kind):
    n = 201
    if kind == "wrist":  # theta5 passes zero
        arm, q = puma, np.tile(START, (n, 1))
        q[:, 4] = np.linspace(0.4, -0.5, n)
        q[:, 0] += np.linspace(0, 0.2, n)
    elif kind == "shoulder":  # the centre of the wrist passes through the first axis
        rows = [(0, 0.4, 0, np.pi / 2), (0, 0, 0.4, 0), (0, 0, 0, np.pi / 2), (0, 0.4, 0, -np.pi / 2),
                (0, 0, 0, np.pi / 2), (0, 0.1, 0, 0)]
        arm, q = cy.Mechanism.from_dh(rows, convention="standard", name="no offset"), np.zeros((n, 6))
        q += [0.3, 1.2, 0.9, 0.3, 0.8, 0.2]
        q[:, 1] = np.linspace(0.3, 2.2, n)
        centre = arm.pose(q, "frame4")[:, :3, 3]
        radius = centre @ [np.cos(0.3), np.sin(0.3), 0.0]
        assert radius.min() < -0.05 and radius.max() > 0.05
    else:
        arm, q = puma, np.tile(START, (n, 1))
        q[:, 2] = np.linspace(0.8, -1.2, n)
    poses = arm.pose(q, "tool")
    found = continuous_posture(arm.tree, poses, "tool", q[0])
    assert found.status == "followed", found.complaints
    assert errors(arm, found.q, poses).max() < 1e-11
    assert found.largest_step < 0.1
    if kind != "elbow beside":
        assert found.smallest_singular_value.min() < 2e-3


@pytest.mark.spec("S2-92")
@pytest.mark.parametrize("name", ["ur5", "puma560", "panda", "stanford", "scara"])
def test_ways_of_joints_are_found_again_from_their_poses(name):
    """Straight in joint space, at random, through singular postures as they come: some of these pass them."""
    arm = cy.load(name)
    task = "pose" if arm.nv >= 6 else "position"
    for seed in range(5):
        first, last = arm.random_configuration(seed=seed), arm.random_configuration(seed=100 + seed)
        poses = arm.pose(first + np.linspace(0, 0.3, 60)[:, None] * (last - first), "tool")
        found = continuous_posture(arm.tree, poses, "tool", first, task=task)
        assert found.status == "followed" and found.largest_step < 0.06
        assert np.linalg.norm(arm.pose(found.q, "tool")[:, :3, 3] - poses[:, :3, 3], axis=1).max() < 1e-12
        if task == "pose":
            assert errors(arm, found.q, poses).max() < 1e-12


@pytest.mark.spec("S2-92")
def test_a_line_beside_a_wrist_singularity_swings_but_does_not_jump(puma):
    ends = [puma.pose(START * [1, 1, 1, 1, 0, 1] + [0, 0, 0, turn, bend, 0], "tool")
            for turn, bend in ((0.0, 0.4), (0.05, -0.4))]
    coarse = continuous_posture(puma.tree, straight_line(*ends).sampled(61), "tool", START * [1, 1, 1, 1, 0, 1]
                                + [0, 0, 0, 0, 0.4, 0])
    fine = continuous_posture(puma.tree, straight_line(*ends).sampled(961), "tool", coarse.q[0])
    assert coarse.status == fine.status == "followed"
    np.testing.assert_allclose(coarse.q, fine.q[::16], atol=1e-9)  # the same way, however it is sampled
    assert fine.largest_step < 0.3 * coarse.largest_step and np.ptp(fine.q[:, 3]) > 1.0


@pytest.mark.spec("S2-92")
def test_where_a_posture_is_lost_it_is_said_and_nothing_jumps(puma, two):
    out = np.tile(np.eye(4), (50, 1, 1))
    out[:, 0, 3] = np.linspace(1.0, 2.0, 50)  # reach 1.8
    found = continuous_posture(two.tree, out, "tool", [-0.8, 1.9], task=PLANE)
    assert found.status == "lost" and found.reached == 40 and np.isnan(found.q[40:]).all()
    assert "between poses 40 and 41" in found.reason and "singular" in found.reason
    # the shoulder: at the pose after the last no solution in closed form is near
    q = np.array([0.3, -1.2, 0.6, 0.2, 0.8, 0.1])
    over = np.tile(puma.pose(q, "tool"), (301, 1, 1))
    over[:, :2, 3] *= np.linspace(1, -1, 301)[:, None]
    found = continuous_posture(puma.tree, over, "tool", q)
    assert found.status == "lost" and found.residual[:found.reached].max() < 1e-11
    others = puma.all_inverse_kinematics(over[found.reached + 1], "tool").q
    others = others[np.isfinite(others).all(axis=1)]
    gaps = np.abs(np.angle(np.exp(1j * (others - found.q[found.reached - 1])))).max(axis=1)
    assert gaps.min(initial=np.inf) > 0.3
    assert found.largest_step < 0.2
    far = continuous_posture(two.tree, out[45:], "tool", [0.0, 0.5], task=PLANE)
    assert far.reached == 0 and "first pose is not reached" in far.reason
    with pytest.raises(SignatureError, match=r"from one configuration \(2\)"):
        continuous_posture(two.tree, out, "tool", [[0.0, 0.5]])


def test_joints_beyond_their_limits_are_told():
    arm = cy.load("panda")
    q = np.tile([0.1, 0.2, 0.3, -1.5, 0.2, 1.6, 0.4], (40, 1))
    q[:, 6] = np.linspace(0.4, arm.upper[6] + 0.2, 40)
    found = continuous_posture(arm.tree, arm.pose(q, "tool"), "tool", q[0])
    name, first, most = found.limits_crossed[-1]
    assert name == arm.joint_names[6] and 0 < first < 40 and 0 < most < 0.3
    assert "leaves its limits from pose" in found.complaints[-1]


# Paths


def test_lines_arcs_and_seams_are_where_they_should_be():
    first, last = np.eye(4), np.eye(4)
    last[:3, :3] = Rotation.from_rotvec([0.3, -0.4, 0.5]).as_matrix()
    last[:3, 3] = [0.3, 0.4, 0.0]
    line = straight_line(first, last)
    assert line.length == pytest.approx(0.5)
    np.testing.assert_allclose(line(0.2)[:3, 3], [0.12, 0.16, 0.0], atol=1e-15)
    np.testing.assert_allclose(line(0.2)[:3, :3], Rotation.from_rotvec([0.12, -0.16, 0.2]).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(line(line.length), last, atol=1e-14)
    turn = last.copy()
    turn[:3, 3] = 0.0
    assert straight_line(first, turn).length == pytest.approx(np.sqrt(0.5))  # it only turns
    rng = np.random.default_rng(0)
    for _ in range(5):
        points = rng.normal(size=(3, 3))
        ends = [np.eye(4), np.eye(4)]
        ends[0][:3, 3], ends[1][:3, 3] = points[0], points[2]
        arc = circular_arc(ends[0], points[1], ends[1])
        s = np.linspace(0, arc.length, 2001)
        way = arc(s)[:, :3, 3]
        assert np.linalg.norm(way - points[1], axis=1).min() < arc.length / 2000
        np.testing.assert_allclose(np.linalg.norm(np.diff(way, axis=0), axis=1), arc.length / 2000, rtol=1e-6)
        assert np.linalg.matrix_rank(way - way[0], tol=1e-9) == 2
        np.testing.assert_allclose(way[-1], points[2], atol=1e-12)
    riding = circular_arc(first, [0.5, 0.5, 0.0], _at([0.0, 1.0, 0.0]), turning=True)
    side = riding(np.linspace(0, riding.length, 9))[:, :3, 1]
    assert np.abs(np.diff(riding(np.linspace(0, riding.length, 9))[:, :3, 3], axis=0)).max() > 0.1
    assert np.ptp(side @ [0, 0, 1]) < 1e-12 and side[-1] @ side[0] == pytest.approx(-1.0)  # half the circle


def _at(place):
    pose = np.eye(4)
    pose[:3, 3] = place
    return pose


def test_a_weld_follows_its_seam_with_the_tool_at_its_angles():
    angle = np.linspace(0, 2 * np.pi, 25)
    ring = np.stack([0.5 + 0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.2 + 0 * angle], axis=1)
    ring[-1] = ring[0]
    path = seam(ring, [0.0, 0.0, 1.0], work_angle=0.3, travel_angle=0.2)
    assert path.length == pytest.approx(0.2 * np.pi, rel=1e-5)
    s = np.linspace(0, path.length, 500)
    poses = path(s)
    assert np.abs(np.hypot(poses[:, 0, 3] - 0.5, poses[:, 1, 3]) - 0.1).max() < 1e-5
    np.testing.assert_allclose(np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1), s[1], rtol=1e-4)
    np.testing.assert_allclose(poses[0], poses[-1], atol=1e-9)  # closed and smooth
    travel = np.gradient(poses[:, :3, 3], s, axis=0)[5:-5]
    travel /= np.linalg.norm(travel, axis=1, keepdims=True)
    across = np.cross([0.0, 0.0, -1.0], travel)
    into = poses[5:-5, :3, 2]
    np.testing.assert_allclose(np.sum(into * travel, axis=1), np.sin(0.2), atol=1e-3)  # it points ahead
    np.testing.assert_allclose(np.abs(np.sum(into * across, axis=1)), np.sin(0.3) * np.cos(0.2), atol=1e-3)
    np.testing.assert_allclose(np.linalg.det(poses[:, :3, :3]), 1.0, atol=1e-12)


def test_paths_that_are_none_are_refused():
    last = np.eye(4)
    last[:3, :3] = Rotation.from_rotvec([np.pi, 0, 0]).as_matrix()
    last[0, 3] = 0.1
    with pytest.raises(GeometryError, match="half a turn apart"):
        straight_line(np.eye(4), last)
    with pytest.raises(PlanningError, match="no length"):
        straight_line(np.eye(4), np.eye(4))
    with pytest.raises(GeometryError, match="on a line, or coincide"):
        circular_arc(np.eye(4), [0.1, 0.0, 0.0], _at([0.2, 0.0, 0.0]))
    with pytest.raises(PlanningError, match="points 2 and 3 of the seam"):
        seam([[0, 0, 0], [1, 0, 0], [1, 0, 0]], [0, 0, 1])
    with pytest.raises(GeometryError, match="parallel to the seam"):
        seam([[0, 0, 0], [1, 0, 0], [2, 0, 0]], [1, 0, 0])(0.5)
    line = straight_line(np.eye(4), _at([1.0, 0, 0]))
    with pytest.raises(PlanningError, match="from 0 to 1"):
        line(1.2)
    with pytest.raises(PlanningError, match="begins 1 away"):
        line.then(line)
    with pytest.raises(SignatureError, match=r"\(4, 4\)"):
        straight_line(np.eye(3), np.eye(4))
    bent = line.then(straight_line(_at([1.0, 0, 0]), _at([1.0, 2.0, 0])))
    np.testing.assert_allclose(bent([0.5, 1.5, 3.0])[:, :2, 3], [[0.5, 0], [1, 0.5], [1, 2]], atol=1e-12)


# Following


def test_the_tool_is_led_along_a_line_an_arc_and_a_weld(puma):
    first = puma.pose(START, "tool")
    last = first.copy()
    last[:3, 3] += [0.05, 0.25, -0.1]
    last[:3, :3] = Rotation.from_rotvec([0.2, 0.1, -0.3]).as_matrix() @ first[:3, :3]
    beside = first[:3, 3] + [0.1, 0.1, 0.0]
    ring = first[:3, 3] + np.stack([0.08 * np.cos(np.linspace(0, 3, 9)) - 0.08, 0.08 * np.sin(np.linspace(0, 3, 9)),
                                    np.zeros(9)], axis=1)
    weld = seam(ring, -first[:3, 2])
    paths = {"line": straight_line(first, last), "arc": circular_arc(first, beside, last), "weld": weld}
    for name, path in paths.items():
        start = START if name != "weld" else puma.inverse_kinematics(weld(0.0), "tool", start=START).q
        found = follow(puma, path, "tool", start, tolerance=1e-6)
        assert found.status == "followed" and found.deviation < 1e-6, (name, found.complaints)
        s = np.linspace(0, path.length, 137)
        assert errors(puma, found.joints(s).q, path(s)).max() < 3e-6
        move = found.timed(2.0, "cycloidal")
        t = np.linspace(0, 2, 101)
        places = puma.pose(move(t).q, "tool")
        assert errors(puma, move(t).q, path(found_places(t, path.length))).max() < 3e-6
        np.testing.assert_allclose(move(0.0).qd, 0, atol=1e-12)
        twist = puma.twist(move(1.0).q, move(1.0).qd, "tool", axes="world")[:3]
        np.testing.assert_allclose(twist, np.gradient(places[:, :3, 3], t, axis=0)[50], atol=1e-3)
    fast = time_optimal(follow(puma, paths["line"], "tool", START).joints, MotionLimits(velocity=1.0, acceleration=3.0))
    state = fast(np.linspace(0, fast.duration, 400))
    assert np.abs(state.qd).max() <= 1 + 1e-9 and np.abs(state.qdd).max() <= 3 + 1e-6
    off = puma.pose(state.q, "tool")[:, :3, 3] - first[:3, 3]
    assert np.linalg.norm(np.cross(off, last[:3, 3] - first[:3, 3]), axis=1).max() < 1e-6  # still a straight line


def found_places(t, length):
    return length * (t / 2 - np.sin(np.pi * t) / (2 * np.pi))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tolerance", [1e-4, 1e-7])
def test_corners_are_kept_and_stopped_at(puma, seed, tolerance):
    """Three lines in random directions, and an arc that goes on as the last of them: two corners, of three joints."""
    rng = np.random.default_rng(seed)
    points = puma.pose(START, "tool")[:3, 3] + np.concatenate([np.zeros((1, 3)), rng.uniform(-0.05, 0.05, (3, 3))])
    poses = [np.block([[puma.pose(START, "tool")[:3, :3], p[:, None]], [np.zeros(3), 1.0]]) for p in points]
    way = (points[3] - points[2]) / np.linalg.norm(points[3] - points[2])
    across = np.cross(way, [0.3, 0.5, 1.0])
    across *= 0.02 / np.linalg.norm(across)
    end = poses[3].copy()
    end[:3, 3] += 0.02 * way + across  # a quarter of a circle
    arc = circular_arc(poses[3], points[3] + across + 0.02 * way * np.sqrt(0.5) - across * np.sqrt(0.5), end)
    lines = [straight_line(a, b) for a, b in pairwise(poses)]
    path = lines[0].then(lines[1]).then(lines[2]).then(arc)
    assert path.corners == pytest.approx([lines[0].length, lines[0].length + lines[1].length])
    led = follow(puma, path, "tool", START, tolerance=tolerance)
    assert (led.status, led.complaints) == ("followed", ()) and led.deviation <= led.tolerance == tolerance
    s = np.sort(np.concatenate([np.linspace(0, path.length, 999), *[c + np.linspace(-1e-3, 1e-3, 99)
                                                                  for c in path.corners]]))
    assert errors(puma, led.joints(s).q, path(s)).max() < 3 * tolerance + 1e-9
    move = led.timed(2.0)
    t = np.linspace(0, 2, 20001)
    state = move(t)
    assert np.abs(state.qdd).max() < 200.0
    assert np.abs(np.diff(state.qd, axis=0)).max() < 1.3 * t[1] * np.abs(state.qdd).max()
    for corner in path.corners:
        assert np.abs(move(2.0 * corner / path.length).qd).max() < 1e-9


@pytest.mark.parametrize("jump", [0.0, 0.003])
def test_a_corner_or_a_step_that_a_path_does_not_know_of_is_said(puma, jump):
    first = puma.pose(START, "tool")

    def poses(s):
        found = np.tile(first, (*s.shape, 1, 1))
        found[..., 1, 3] += np.abs(s - 0.0512) + np.where(s > 0.0512, jump, 0.0)
        return found

    led = follow(puma, PosePath(poses, 0.1), "tool", START, tolerance=1e-7)
    assert re.search(r"at s = 0\.0512\d* the joints turn sharply", " ".join(led.complaints))
    assert (led.status == "followed") == (led.deviation <= 1e-7) == (not jump)
    if jump:
        assert led.status == "coarse" and "more than the tolerance of 1e-07" in led.complaints[0]
    else:
        s = np.linspace(0.0, 0.1, 999)
        assert errors(puma, led.joints(s).q, poses(s)).max() < 3e-7


def test_a_curve_of_poses_in_time_is_followed_as_it_is(puma):
    q = START + np.array([[0.0] * 6, [0.1, 0.1, -0.1, 0.2, 0.1, 0.0], [0.2, 0.0, -0.2, 0.1, 0.2, 0.3]])
    curve = pose_spline([1.0, 2.0, 2.5], puma.pose(q, "tool"), "clamped")
    found = follow(puma, curve, "tool", START)
    move = found.joints.shifted(1.0)
    t = np.linspace(1.0, 2.5, 77)
    poses = np.tile(np.eye(4), (77, 1, 1))
    poses[:, :3, 3] = curve(t).q[:, :3]
    poses[:, :3, :3] = Rotation.from_quat(curve(t).q[:, [4, 5, 6, 3]]).as_matrix()
    assert errors(puma, move(t).q, poses).max() < 3e-6
    twist = puma.twist(move(t).q, move(t).qd, "tool", axes="body")
    np.testing.assert_allclose(twist, curve(t).qd, atol=2e-3)
    with pytest.raises(SignatureError, match="a position and a quaternion, not of 6"):
        follow(puma, move, "tool", START)


def test_what_stands_against_a_path_is_said_in_advance(two, puma):
    out = straight_line(_at([1.0, 0.0, 0.0]), _at([2.0, 0.0, 0.0]))
    found = follow(two, out, "tool", [-0.8, 1.9], task=PLANE)
    assert found.status == "lost" and "from s = 0.78125 on the posture is lost" in found.complaints[0]
    with pytest.raises(UnreachableError, match="not followed to its end: from s"):
        found.timed(1.0)
    near = follow(two, straight_line(_at([1.0, 0.0, 0.0]), _at([1.7999, 0.0, 0.0])), "tool", [-0.8, 1.9], task=PLANE)
    assert near.status == "followed" and "almost singular" in near.complaints[0]
    limited = two.variants.with_joints(*[
        joint.__class__(**{**vars(joint), "limits": type(joint.limits)((-3.0,), (1.2,))}) for joint in two.joints])
    inwards = straight_line(_at([1.5, 0.0, 0.0]), _at([0.9, 0.0, 0.0]))
    told = follow(limited, inwards, "tool", [-0.5, 1.1], task=PLANE)
    assert any("leaves its limits from s = " in line for line in told.complaints)
    with pytest.raises(SignatureError, match="tolerance of a path must be positive"):
        follow(two, out, "tool", [0.0, 0.5], tolerance=0.0)


@pytest.mark.spec("S2-93")
def test_a_self_motion_is_a_motion_with_the_tool_held():
    arm = cy.Mechanism.from_dh([(0, 0, 1.0, 0), (0, 0, 0.8, 0), (0, 0, 0.5, 0)], convention="standard")
    q = np.radians([20.0, 40.0, 30.0])  # WE-15
    better = better_manipulability(arm, "tool", task=PLANE)
    np.testing.assert_allclose(better(q), [0, 0.7339171547, 0.4839359062], atol=1e-9)
    move = self_motion(arm, q, "tool", better, duration=8.0, task=PLANE)
    t = np.linspace(0, 8, 200)
    J = arm.jacobian(move(t).q, "tool", axes="world")[:, :2]
    values = np.sqrt(np.linalg.det(J @ np.swapaxes(J, 1, 2)))
    assert values[0] == pytest.approx(1.2071041533, abs=1e-9) and (np.diff(values) > -1e-9).all()
    assert values[-1] > values[0] + 1e-4
    assert np.abs(arm.pose(move(t).q, "tool")[:, :3, 3] - arm.pose(q, "tool")[:3, 3]).max() < 1e-8
    panda = cy.load("panda")
    start = panda.random_configuration(seed=2)
    kept = self_motion(panda, start, "tool", away_from_limits(panda, "tool", 20.0), duration=4.0)
    spread = [np.sum(((x - (panda.upper + panda.lower) / 2) / (panda.upper - panda.lower)) ** 2)
              for x in (start, kept(4.0).q)]
    assert spread[1] < 0.85 * spread[0]
    assert errors(panda, kept(4.0).q, panda.pose(start, "tool")) < 1e-6


@pytest.mark.spec("S2-93")
def test_limits_are_avoided_along_a_path_by_what_is_free():
    arm = cy.load("panda")
    start = arm.random_configuration(seed=2)
    first = arm.pose(start, "tool")
    last = first.copy()
    last[:3, 3] += [0.0, 0.03, -0.05]
    line = straight_line(first, last)
    plain = follow(arm, line, "tool", start)
    away = follow(arm, line, "tool", start, secondary=away_from_limits(arm, "tool", 100.0))
    assert max(plain.deviation, away.deviation) < 1e-6
    middle, width = (arm.upper + arm.lower) / 2, arm.upper - arm.lower
    cost = [np.sum(((found.posture.q - middle) / width) ** 2, axis=1) for found in (plain, away)]
    assert cost[1][-1] < cost[0][-1] - 0.005
    s = np.linspace(0, line.length, 50)
    assert errors(arm, away.joints(s).q, line(s)).max() < 3e-6


@pytest.mark.parametrize("normals", [np.ones((2, 3)), np.ones((4, 3)), np.ones(2), np.ones((1, 3, 3))])
def test_normals_of_another_count_than_the_points_are_refused(normals):
    with pytest.raises(SignatureError, match=r"normals of a seam must be one for all points \(3\) or one for each"):
        seam([[0.4, -0.1, 0.0], [0.45, 0.0, 0.0], [0.4, 0.1, 0.0]], normals)


def test_what_cannot_be_followed_is_named():
    arm = cy.load("puma560")
    q = np.array([0.3, -0.9, 0.8, 0.4, 0.9, -0.3])
    here = arm.pose(q, "tool")
    there = here.copy()
    there[1, 3] += 0.1
    line = straight_line(here, there)
    with pytest.raises(PlanningError, match=r"the configuration to begin near \[2\] is not a finite number"):
        follow(arm, line, "tool", np.where(np.arange(6) == 2, np.nan, q))
    with pytest.raises(SignatureError, match="the configuration to begin near is"):
        follow(arm, line, "tool", q[:3])
    with pytest.raises(SignatureError, match="a path of poses, such as straight_line returns"):
        follow(arm, [here, there], "tool", q)
    with pytest.raises(SignatureError, match="poses must be real numbers, not 'there'"):
        straight_line(here, "there")
