"""Laws of motion from rest to rest, their least durations, via points, poses; worked examples WE-34 to WE-36."""

from __future__ import annotations

import numpy as np
import pytest

import cayley as cy
from cayley.errors import (
    GeometryError,
    PlanningError,
    SignatureError,
    SingularityError,
    UnreachableError,
    UnsupportedError,
)
from cayley.planning.motion import load_motion
from cayley.planning.profiles.jerk_limits import jerk_limited, least_duration, rest_to_rest
from cayley.planning.profiles.two_points import LAWS, minimum_duration, point_to_point
from cayley.planning.splines.splines import through_two_points
from cayley.planning.timing.efforts import effort_profile
from cayley.planning.timing.limits import MotionLimits
from cayley.planning.timing.path_timing import time_optimal
from cayley.planning.tool_motions.two_poses import between_states, joint_end_state, joint_pair, pick_and_place

SMOOTH = ("3-4-5", "4-5-6-7", "cycloidal")


@pytest.fixture(scope="module")
def puma():
    return cy.load("puma560")


@pytest.fixture(scope="module")
def panda():
    return cy.load("panda")


def peaks(move):
    """The greatest velocity, acceleration and jerk of each joint, both sides of breaks included."""
    inner = np.concatenate([move.breaks, np.nextafter(move.breaks[1:], 0.0)])
    t = np.sort(np.concatenate([np.linspace(move.start, move.end, 20001), inner]))
    _, qd, qdd = move(t)
    return [np.abs(each).max(axis=0) for each in (qd, qdd, move.jerk(t))]


def check_derivatives(move):
    """Velocity, acceleration and jerk are the derivatives of one another, by central differences."""
    t = np.linspace(move.start, move.end, 41)[1:-1] + 1.234e-3 * move.duration
    t = t[(np.abs(t[:, None] - move.breaks) > 1e-3 * move.duration).all(axis=1)]
    h = 1e-5 * move.duration
    for value, rate in zip(move.derivatives(t)[1:],
                           [(b - a) / (2 * h) for a, b in zip(move.derivatives(t - h), move.derivatives(t + h),
                                                              strict=True)], strict=False):
        assert value == pytest.approx(rate, rel=1e-6, abs=1e-6 * (1 + np.abs(value).max()))


@pytest.mark.spec("S2-82", "S2-84")
def test_values_of_normal_laws():
    x = np.array([0.1, 0.25, 0.5])
    for law, values in {
        "3-4-5": [[0.00856, 0.103515625, 0.5], [0.243, 1.0546875, 1.875], [4.32, 5.625, 0.0]],
        "cycloidal": [[0.0064510716, 0.0908450569, 0.5], [0.1909830056, 1.0, 2.0], [3.6931636610, 6.2831853072, 0.0]],
    }.items():
        unit = point_to_point([0.0], [1.0], law=law, duration=1.0)
        assert np.array(unit(x))[..., 0] == pytest.approx(np.array(values), abs=1e-10)
        slow = point_to_point([2.0, 0.0], [-1.0, 4.0], law=law, duration=2.5)  # q = first + (last - first) s(t / T)
        for order, (own, scaled) in enumerate(zip(unit(x), slow(2.5 * x), strict=True)):
            first = np.array([2.0, 0.0]) if order == 0 else 0.0
            assert scaled == pytest.approx(first + own * np.array([-3.0, 4.0]) / 2.5**order, abs=1e-12)
    for wrong in (0.0, -1.0, np.inf, np.nan):
        for law in LAWS:
            with pytest.raises(PlanningError, match="must take a time > 0"):
                point_to_point([0.0], [1.0], law=law, duration=wrong)


@pytest.mark.parametrize("law", LAWS)
def test_laws_begin_and_end_at_rest_and_have_the_peaks_that_they_say(law):
    move = point_to_point([0.3, -1.0], [1.3, 2.0], law=law, duration=0.8)
    for order, (kind, most) in enumerate(zip(("velocity", "acceleration", "jerk"), peaks(move), strict=True), 1):
        said = getattr(LAWS[law], kind)
        if np.isfinite(said):
            assert most == pytest.approx(said * np.array([1.0, 3.0]) / 0.8**order, rel=1e-6)
    for t, q in ((0.0, [0.3, -1.0]), (0.8, [1.3, 2.0])):
        state = move(t)
        assert state.q == pytest.approx(q, abs=1e-13)
        assert state.qd == pytest.approx(0.0, abs=1e-12)
        if law in (*SMOOTH, "s-curve"):
            assert state.qdd == pytest.approx(0.0, abs=1e-11)
    check_derivatives(move)


def test_peak_of_jerk_of_the_normal_laws():
    assert LAWS["3-4-5"].jerk == 60.0
    assert LAWS["cycloidal"].jerk == pytest.approx(4 * np.pi**2, rel=1e-15)
    x = np.linspace(0.0, 1.0, 100001)
    jerk = 840 * x - 5040 * x**2 + 8400 * x**3 - 4200 * x**4
    assert LAWS["4-5-6-7"].jerk == pytest.approx(np.abs(jerk).max(), rel=1e-9)
    assert LAWS["4-5-6-7"].acceleration == pytest.approx(
        np.abs(420 * x**2 - 1680 * x**3 + 2100 * x**4 - 840 * x**5).max(), rel=1e-8)


@pytest.mark.spec("S2-83")
def test_least_duration():
    way = np.array([np.pi / 2, -1.0, 0.3])
    limits = MotionLimits(velocity=[1.0, 2.0, 0.5], acceleration=[4.0, 1.5, 2.0])
    found = minimum_duration(np.zeros(3), way, limits)
    assert found.seconds == pytest.approx(2.9452431127, abs=1e-10)
    assert found[1:] == ("number 1", "velocity")
    assert minimum_duration(np.zeros(3), way, limits, law="cycloidal").seconds == pytest.approx(np.pi, abs=1e-12)
    each = [minimum_duration([0.0], [d], MotionLimits(**{kind: [bound]})).seconds for kind, bounds in
            (("velocity", limits.velocity), ("acceleration", limits.acceleration)) for d, bound in
            zip(way, bounds, strict=True)]
    assert each == pytest.approx([2.9452431127, 0.9375, 1.125, 1.5057387573, 1.9618873043, 0.9306048591], abs=1e-10)
    assert minimum_duration(way, np.zeros(3), limits) == found  # absolute values
    assert minimum_duration(way, way, limits) == (0.0, "", "")
    stays = point_to_point(way, way, duration=2.0)
    assert stays(1.3).q == pytest.approx(way, abs=0) and not stays(1.3).qd.any()


@pytest.mark.parametrize("law", LAWS)
def test_least_duration_touches_a_limit_and_exceeds_none(law):
    rng = np.random.default_rng(3)
    for _ in range(8):
        n = int(rng.integers(1, 6))
        a, b = rng.normal(size=(2, n))
        limits = MotionLimits(*10 ** rng.uniform(-0.5, 1.0, (2, n)),
                              np.inf if law == "trapezoidal" else 10 ** rng.uniform(0, 2, n))
        move = point_to_point(a, b, law=law, limits=limits)
        reached = [most / getattr(limits, kind) for kind, most in
                   zip(("velocity", "acceleration", "jerk"), peaks(move), strict=True)]
        assert max(each.max() for each in reached) <= 1 + 1e-9
        found = minimum_duration(a, b, limits, law=law)
        order = ("velocity", "acceleration", "jerk").index(found.limit)
        assert reached[order][int(found.joint.split()[-1]) - 1] == pytest.approx(1.0, rel=1e-6)
        assert found.seconds == pytest.approx(move.duration, rel=1e-15)
        with pytest.raises(PlanningError, match=f"too short: joint {found.joint} needs"):
            point_to_point(a, b, law=law, limits=limits, duration=0.99 * found.seconds)
        assert point_to_point(a, b, law=law, limits=limits, duration=2 * found.seconds).duration == 2 * found.seconds


def test_limits_of_zero_infinity_and_nonsense():
    with pytest.raises(PlanningError, match="joint number 2 moves, but its limit of velocity is 0"):
        point_to_point([0.0, 0.0], [1.0, 1.0], limits=MotionLimits(velocity=[1.0, 0.0]))
    still = point_to_point([0.0, 5.0], [1.0, 5.0], limits=MotionLimits(velocity=[1.0, 0.0]))
    assert (still(np.linspace(0, still.duration, 9)).q[:, 1] == 5.0).all()
    with pytest.raises(PlanningError, match="no joint that moves has a limit"):
        point_to_point([0.0], [1.0], limits=MotionLimits())
    with pytest.raises(PlanningError, match=r"limit of jerk of joint 'b' is -1"):
        MotionLimits(jerk=[1.0, -1.0], names=("a", "b"))
    with pytest.raises(PlanningError, match="not negative"):
        MotionLimits(velocity=np.nan)
    with pytest.raises(SignatureError, match="2, 3 joints"):
        MotionLimits(velocity=[1.0, 1.0], jerk=np.ones(3))
    with pytest.raises(SignatureError, match="not those of 3 joints"):
        point_to_point(np.zeros(3), np.ones(3), limits=MotionLimits(velocity=[1.0, 1.0]))
    with pytest.raises(PlanningError, match="take another law, as s-curve"):
        point_to_point([0.0], [1.0], law="trapezoidal", limits=MotionLimits(1.0, 1.0, 1.0))
    with pytest.raises(PlanningError, match=r"no law '3-4-6': did you mean '3-4-5'"):
        point_to_point([0.0], [1.0], law="3-4-6", duration=1.0)
    with pytest.raises(PlanningError, match=r"\[1\] is not a finite number"):
        point_to_point([0.0, np.nan], [1.0, 0.0], duration=1.0)
    with pytest.raises(SignatureError, match=r"is \(2\)"):
        point_to_point([0.0, 0.0], [1.0], duration=1.0)
    with pytest.raises(PlanningError, match="need the mechanism"):
        MotionLimits(effort=3.0)


def test_mimic_joints_follow_and_need_no_force():
    hand = cy.load("panda_hand")
    first, last = np.zeros(9), np.array([0.3, -0.2, 0.1, -0.5, 0.2, 0.4, 0.1, 0.04, 0.04])
    move = point_to_point(first, last, limits=MotionLimits.of(hand, acceleration=5.0))
    state = move(0.4 * move.duration)
    assert state.q[8] == pytest.approx(state.q[7], abs=1e-14) and state.qd[8] == pytest.approx(state.qd[7], abs=1e-14)
    np.testing.assert_allclose(move.position(move.end), last, atol=1e-12)
    with pytest.raises(GeometryError, match="mimic panda_finger_joint2"):
        point_to_point(first, last - 0.02 * np.eye(9)[8], limits=MotionLimits.of(hand, acceleration=5.0))


@pytest.mark.spec("S2-85")
def test_through_two_points():
    for (t1, s1, t2, s2), expected in {
        (0.1, 0.02, 0.9, 0.98): [21590 / 729, -82435 / 729, 14786 / 81, -100100 / 729, 28600 / 729],
        (0.2, -0.1, 0.8, 1.1): [-6945 / 128, 39205 / 128, -73257 / 128, 57575 / 128, -8225 / 64],
        (0.3, 10 * 0.3**3 - 15 * 0.3**4 + 6 * 0.3**5, 0.6, 10 * 0.6**3 - 15 * 0.6**4 + 6 * 0.6**5): [10, -15, 6, 0, 0],
    }.items():
        found = through_two_points([0.0], [1.0], [[s1], [s2]], [t1, t2], 1.0).coefficients[0, :, 0]
        assert found[:3] == pytest.approx(0.0, abs=1e-12)
        assert found[3:] == pytest.approx(expected, abs=1e-9)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 4))
    b[1] = a[1]  # a joint that comes back, of which s is undefined
    via = rng.normal(size=(2, 4))
    move = through_two_points(a, b, via, [1.4, 0.5], 2.0)
    assert move([0.0, 1.4, 0.5, 2.0]).q == pytest.approx(np.stack([a, *via, b]), abs=1e-12)
    for part in move([0.0, 2.0])[1:]:
        assert part == pytest.approx(0.0, abs=1e-10)
    check_derivatives(move)
    for times, words in (([0.5, 0.5], "both via points are at 0.5"), ([0.0, 0.5], "between the ends"),
                         ([0.5, 2.0], "between the ends"), ([0.5, np.nan], "between the ends")):
        with pytest.raises(PlanningError, match=words):
            through_two_points(a, b, via, times, 2.0)
    with pytest.raises(PlanningError, match="time > 0"):
        through_two_points(a, b, via, [0.1, 0.2], 0.0)
    with pytest.raises(SignatureError, match=r"\(2, 4\)"):
        through_two_points(a, b, via[:1], [0.1, 0.2], 1.0)


@pytest.mark.spec("S2-81")
def test_pick_and_place_on_one_posture(puma):
    ends = np.array([[0.1, -0.6, 0.4, 0.2, 0.5, -0.3], [0.9, -0.4, 0.1, 0.5, 0.8, 0.0]])
    poses = puma.pose(ends, "tool")
    for posture in ("shoulder back, elbow up, wrist flip", "elbow down", "wrist no flip"):
        found = joint_pair(puma, *poses, "tool", posture=posture)
        assert all(word in found.posture for word in posture.split(", "))
        move = pick_and_place(puma, *poses, "tool", posture=posture, duration=1.5)
        for t, pose in zip((0.0, 1.5), poses, strict=True):
            assert puma.pose(move(t).q, "tool") == pytest.approx(pose, abs=1e-12)
            assert puma.twist(move(t).q, move(t).qd, "tool", axes="world") == pytest.approx(0.0, abs=1e-12)
            assert puma.acceleration(*move(t), "tool", axes="world") == pytest.approx(0.0, abs=1e-11)
        q = move(np.linspace(0.0, 1.5, 101)).q
        assert (np.sign(q[:, 4]) == np.sign(q[0, 4])).all()  # the wrist never passes its singular posture
        assert np.linalg.svd(puma.jacobian(q, "tool", axes="world"))[1][:, -1].min() > 1e-3
    nearest = joint_pair(puma, *poses, "tool")
    assert np.abs(nearest.last - nearest.first).max() <= np.abs(ends[1] - ends[0]).max() + 1e-9
    own = joint_pair(puma, *poses, "tool", posture="shoulder back, elbow up, wrist flip")
    assert np.stack(own[:2]) == pytest.approx(ends, abs=1e-9)
    with pytest.raises(PlanningError, match="these do: shoulder"):
        joint_pair(puma, *poses, "tool", posture="elbow left")
    far = poses[1].copy()
    far[0, 3] = 9.0
    with pytest.raises(UnreachableError, match="reaches both poses"):
        joint_pair(puma, poses[0], far, "tool")


def test_pick_and_place_through_a_singular_posture(puma):
    """With the wrist turned over between the ends no posture is kept: another one is taken."""
    ends = np.array([[0.1, -0.6, 0.4, 0.2, 0.5, -0.3], [0.1, -0.6, 0.4, 0.2, -0.5, -0.3]])
    found = joint_pair(puma, *puma.pose(ends, "tool"), "tool")
    assert np.sign(found.first[4]) == np.sign(found.last[4])
    direct = point_to_point(*ends, duration=1.0)
    smallest = np.linalg.svd(puma.jacobian(direct(0.5).q, "tool", axes="world"))[1][-1]
    assert smallest == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(np.concatenate(direct(0.5))).all()


def test_pick_and_place_of_an_arm_without_closed_form(panda):
    ends = np.array([[0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], [0.4, -0.3, 0.1, -1.8, 0.2, 1.7, 0.6]])
    poses = panda.pose(ends, "panda_link8")
    move = pick_and_place(panda, *poses, "panda_link8", start=ends[0], limits=MotionLimits.of(panda, acceleration=10.0))
    assert panda.pose(move([0.0, move.end]).q, "panda_link8") == pytest.approx(poses, abs=1e-9)
    with pytest.raises(UnsupportedError):
        pick_and_place(panda, *poses, "panda_link8", posture="elbow up", duration=1.0)


@pytest.mark.spec("S1-108")
def test_effort_profile_and_smallest_time_scaling(panda):
    ends = np.array([[0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], [1.5, 0.5, 0.3, -1.0, 0.4, 2.0, 0.2]])
    for law in LAWS:
        move = point_to_point(*ends, law=law, duration=0.35)
        found = effort_profile(panda, move)
        assert (found.tau == panda.inverse_dynamics(*move(found.t))).all()
        assert (found.margins == found.limits.effort - np.abs(found.tau)).all()
        assert not found.feasible and found.speed < 1.0
        for made, c in ((move, 1.0), (found.fastest(), found.speed)):
            sides = made.breaks, np.nextafter(made.breaks[1:], 0.0)
            t = np.concatenate([np.linspace(0.0, made.duration, 50001), *sides])
            reached = np.abs(panda.inverse_dynamics(*made(t))) / found.limits.effort
            q, qd, qdd = made(t)
            gravity = panda.gravity_forces(q)  # tau(q, c qd, c^2 qdd) = G + c^2 (tau - G)
            again = move(t * c)
            scaled = gravity + c**2 * (panda.inverse_dynamics(*again) - gravity)
            assert np.abs(panda.inverse_dynamics(q, qd, qdd) - scaled).max() < 1e-9
        assert reached.max() <= 1.0 + 1e-12
        assert reached.max() > 1.0 - 1e-6
        worst = found.worst
        at = np.abs(panda.inverse_dynamics(*found.fastest()(worst.time / worst.speed))) / found.limits.effort
        assert at[list(panda.joint_names).index(worst.joint)] == pytest.approx(1.0, abs=1e-12)
        assert effort_profile(panda, found.fastest()).speed == pytest.approx(1.0, abs=1e-12)
    weak = effort_profile(panda, move, effort=[87.0, 10.0, 87.0, 87.0, 12.0, 12.0, 12.0])
    with pytest.raises(PlanningError, match=r"joint 'panda_joint2' needs .* at rest, and its limit of effort is 10"):
        _ = weak.feasible
    free = effort_profile(panda, move, effort=np.inf)
    assert free.feasible and free.speed == np.inf


def test_time_scaling_with_friction():
    arm = cy.load("planar2r").with_friction("joint1", viscous=0.8, coulomb=0.5).with_friction(
        "joint2", viscous=0.4, coulomb=0.2).including("friction")
    move = point_to_point([0.0, 0.0], [2.0, -1.0], law="cycloidal", duration=0.5)
    found = effort_profile(arm, move, effort=[16.0, 6.0])
    fastest = found.fastest()
    reached = np.abs(arm.inverse_dynamics(*fastest(np.linspace(0, fastest.duration, 200001)))) / [16.0, 6.0]
    assert reached.max() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.spec("S2-109")
def test_least_duration_under_efforts_and_ends_said_of_the_tool(puma, panda):
    ends = np.array([[0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8], [1.5, 0.5, 0.3, -1.0, 0.4, 2.0, 0.2]])
    for limits, by in ((MotionLimits.of(panda, velocity=np.inf), "effort"),
                       (MotionLimits.of(panda, acceleration=5.0), "acceleration"),
                       (MotionLimits.of(panda, acceleration=500.0, velocity=50.0), "effort")):
        found = minimum_duration(*ends, limits)
        assert found.limit == by
        move = point_to_point(*ends, limits=limits)
        t = np.linspace(0.0, move.duration, 50001)
        reached = np.abs(panda.inverse_dynamics(*move(t))) / limits.effort
        assert reached.max() <= 1.0 + 1e-12
        if by == "effort":
            joint = list(panda.joint_names).index(found.joint)
            assert reached[:, joint].max() == pytest.approx(1.0, abs=1e-7)
            with pytest.raises(PlanningError, match=f"{found.joint} needs .* limit of effort"):
                point_to_point(*ends, limits=limits, duration=0.99 * found.seconds)
    V, A = [0.3, -0.1, 0.2, 0.1, 0.4, -0.2], [1.0, 0.5, -0.3, 0.2, 0.0, 0.6]
    first = joint_end_state(puma, [0.1, -0.6, 0.4, 0.2, 0.5, -0.3], "tool", velocity=V, acceleration=A)
    last = joint_end_state(puma, [0.9, -0.4, 0.1, 0.5, 0.8, 0.0], "tool", velocity=-np.array(V))
    move = between_states(first, last, 1.3)
    h = 1e-4  # the frame itself, by differences of its positions
    points = puma.pose(move(np.array([0.0, h, 2 * h, 3 * h, 4 * h])).q, "tool")[:, :3, 3]
    assert (np.array([-25, 48, -36, 16, -3]) @ points) / (12 * h) == pytest.approx(V[:3], abs=1e-7)
    assert (np.array([35, -104, 114, -56, 11]) @ points) / (12 * h**2) == pytest.approx(A[:3], abs=1e-4)
    for t, twist, rate in ((0.0, V, A), (1.3, -np.array(V), np.zeros(6))):
        assert puma.twist(move(t).q, move(t).qd, "tool", axes="world") == pytest.approx(twist, abs=1e-12)
        assert puma.acceleration(*move(t), "tool", axes="world") == pytest.approx(rate, abs=1e-10)
    with pytest.raises(SingularityError, match="singular"):
        joint_end_state(puma, [0.1, -0.6, 0.4, 0.2, 0.0, -0.3], "tool", velocity=V)
    with pytest.raises(SingularityError, match="too few joints"):
        joint_end_state(cy.load("planar2r"), [0.1, 0.6], "tool", velocity=V)


def test_motions_are_saved_and_read(tmp_path):
    for law in LAWS:
        move = point_to_point([0.0, 1.0], [1.0, -1.0], law=law, duration=1.5)
        again = load_motion(move.save(tmp_path / law))
        t = np.linspace(0.0, 1.5, 11)
        assert (again(t).q == move(t).q).all()


@pytest.mark.parametrize("n", [1, 3])
def test_a_way_without_a_length_takes_no_time(n, tmp_path):
    """By every planner, and it is no part of a sequence; batches of `rest_to_rest` say the same."""
    here = np.linspace(0.3, 1.0, n)
    there = here + 1.0
    limits = MotionLimits(1.0, 2.0, 20.0)
    go, back = jerk_limited(here, there, limits), jerk_limited(there, here, limits)
    assert rest_to_rest(here, here, *np.ones((3, n))).duration == 0.0
    for still in (point_to_point(here, here, limits=limits), point_to_point(here, here),
                  jerk_limited(here, here, limits), time_optimal([here, here], limits),
                  time_optimal([here] * 3, MotionLimits(1.0, 2.0)), time_optimal(point_to_point(here, here), limits)):
        assert (still.start, still.end, still.rests, still.continuity) == (0.0, 0.0, (True, True), 3)
        state = still([0.0, 5.0])
        assert (state.q == here).all() and not state.qd.any() and not state.qdd.any()
        for whole, duration in ((still.then(go), go.duration), (back.then(still, go), 2.0 * go.duration),
                                (still.then(still), 0.0), (go.then(back, still), 2.0 * go.duration)):
            assert whole.duration == pytest.approx(duration) and np.isfinite(whole(whole.end).q).all()
        assert still.scaled(duration=2.0)(1.0).q.tolist() == here.tolist() and still.shifted(3.0).end == 3.0
        assert load_motion(still.save(tmp_path / "still.npz"))(0.0).q.tolist() == here.tolist()
    assert minimum_duration(here, here, limits).seconds == least_duration(here, here, limits).seconds == 0.0
