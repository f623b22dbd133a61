"""A platform that carries an arm along segments and arcs and then lets it do its task, as one mechanism: beside the
bicycle integrated by SciPy, cubics in vector-parameters written out, and the balance of energy; and the limits of its
gripper, beside differences of poses."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.control import PathStabiliser, PlatformLaw
from cayley.errors import ConventionError, ModelError, PlanningError, UnreachableError
from cayley.machines import SteeredPath
from cayley.model.carried_wheels import CarriedWheel
from cayley.model.constraint_kinds import SteeredAxle, Wheel
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Frame, Joint, Limits
from cayley.planning import GripperLimits, Load, gripper_timing, platform_task

BASE, RADIUS = 0.8, 0.1
PIECES = [(1.0, 0.0), (0.8, 0.5), (-0.4, -0.3)]
HOME = np.array([0.0, -1.0, 2.5, 0.0, 0.3, 0.0])
GOAL = np.array([0.5, -0.5, 2.2, 0.4, 0.8, -0.3])
TASK = 2.0  # s


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


MOUNT = at(0.4, 0.0, 0.3)


@cache
def carrier(lower=-1.0, upper=1.0):
    """A PUMA 560 on a platform with a driven wheel behind and a steered one in front."""
    arm = cy.load("puma560")
    bodies = [Body("floor"), Body("chassis", 60.0, [0.3, 0, 0], np.diag([2.0, 4.0, 5.0])),
              Body("wheel", 3.0, inertia=np.diag([0.01, 0.02, 0.01])), Body("fork", 2.0, inertia=0.02 * np.eye(3))]
    joints = [Joint("base", "floor", "chassis", Planar(), at(z=RADIUS)),
              Joint("drive", "chassis", "wheel", Revolute((0.0, 1.0, 0.0))),
              Joint("steering", "chassis", "fork", Revolute(), at(BASE), Limits((lower, ), (upper, )))]
    first = replace(arm.joints[0], parent="chassis", placement=MOUNT @ arm.joints[0].placement)
    frames = [Frame("front", "chassis", at(BASE)), *[frame for frame in arm.frames if frame.name == "tool"]]
    return cy.Mechanism.of(
        "carrier", [*bodies, *arm.bodies[1:]], [*joints, first, *arm.joints[1:]], frames=frames,
        constraints=[Wheel("tyre", "floor", "wheel", RADIUS), SteeredAxle("front axle", "floor", "front", "steering")],
        actuated=["drive", "steering", *[joint.name for joint in arm.joints]])


START = np.array([0.0, 0.0, 0.0, 0.0, 0.0, *HOME])


@cache
def program():
    return SteeredPath(BASE, PIECES).program(speed=0.8, steering_rate=1.0)


def goals(*q):
    """Poses of the tool, in the frame of the chassis."""
    return MOUNT @ cy.load("puma560").pose(np.array(q), "tool")


@cache
def task():
    return platform_task(carrier(), program(), start=START, poses=goals(GOAL), times=[TASK], relative_to="chassis")


@cache
def driven(*disturbance):
    """The whole task in one simulation, by the law; x, y, heading and all joints of the arm start off by as much."""
    q = START.copy()
    q[[0, 1, 2, 5, 6, 7, 8, 9, 10]] += disturbance or 0.0
    run = carrier().simulate(q, np.zeros(11), controller=PlatformLaw(task(), rate=4.0), until=task().duration,
                             rtol=1e-7, atol=1e-8, progress=False)
    assert run.status == "finished"
    return run


# The platform


@pytest.mark.spec("S0-65")
def test_an_arc_is_the_one_of_the_specification():
    """WE-19: a wheelbase of 1.2 m, steered by 0.3 rad, 0.8 m/s for 2 s."""
    pose = at(z=0.1)
    cart = cy.Mechanism.of(
        "cart", [Body("floor"), Body("chassis", 20.0, [0.4, 0, 0], np.diag([1.0, 1.0, 2.0]))],
        [Joint("base", "floor", "chassis", Planar(), pose)], actuated=["front pivot", "front"], wheels=[
            CarriedWheel("left", "chassis", (0, 0.3, 0), 0.1, 1.0),
            CarriedWheel("right", "chassis", (0, -0.3, 0), 0.1, 1.0),
            CarriedWheel("front", "chassis", (1.2, 0, 0), 0.1, 1.0, pivot=0.0, bracket=0.5)])
    path = SteeredPath(1.2, [(1.6, 0.3)])
    expected = [1.555020655560, 0.325307570803, 0.412448332813]
    np.testing.assert_allclose(path.end, expected, atol=1e-10)
    assert 1 / path.curvatures[0] == pytest.approx(3.879273772519, abs=1e-10)
    q = np.zeros(7)
    q[5] = 0.3
    found = platform_task(cart, path.program(0.8, 1.0), start=q, steering="front pivot")
    end = found.motion(found.duration).q
    np.testing.assert_allclose(end[:3], expected, atol=1e-10)
    inner, outer = (3.879273772519 - side for side in (0.3, -0.3))
    np.testing.assert_allclose(end[[3, 4]], np.array([inner, outer]) * 0.412448332813 / 0.1, atol=1e-8)
    np.testing.assert_allclose(end[6], 1.6 / np.cos(0.3) / 0.1, atol=1e-8)  # the hub has the longer way
    np.testing.assert_allclose(found.hand_over_pose, expected, atol=1e-10)


@pytest.mark.spec("S0-65")
def test_the_motion_of_all_coordinates_keeps_the_wheels_rolling_and_needs_forces_of_the_drives_alone():
    t = np.linspace(0.0, task().duration, 1501)
    q, qd, _ = task().motion(t)
    np.testing.assert_allclose(q[:, :3], program().pose(t), atol=1e-9)
    assert np.abs(carrier().loops.rates(q, qd)).max() < 1e-8  # between knots; at these:
    knots = task().drive.breaks
    assert np.abs(carrier().loops.rates(*task().drive(knots)[:2])).max() < 1e-14
    step = 1e-5
    inside = t[5:-5] + 1e-3
    slopes = (task().motion(inside + step).q - task().motion(inside - step).q) / (2 * step)
    np.testing.assert_allclose(task().motion(inside).qd, slopes, atol=1e-5)
    forces = carrier().inverse_dynamics(*task().motion(knots))
    assert not forces[:, :3].any() and np.abs(forces[:, 3]).max() > 1.0


@pytest.mark.spec("S0-65")
def test_castors_follow_a_platform_that_steers_with_its_wheels():
    robot = cy.load("two_wheel_robot")
    links = [Body("upper", 2.0, [0, 0, 0.2], np.diag([0.03, 0.03, 0.002])),
             Body("lower", 1.0, [0, 0, 0.15], 0.01 * np.eye(3))]
    joints = [Joint("shoulder", "chassis", "upper", Revolute((0.0, 1.0, 0.0)), at(0.1, 0, 0.1)),
              Joint("elbow", "upper", "lower", Revolute((0.0, 1.0, 0.0)), at(z=0.4))]
    machine = cy.Mechanism.of("mobile", [*robot.bodies, *links], [*robot.joints, *joints],
                              frames=[Frame("hand", "lower", at(z=0.3))], constraints=robot.tree.constraints,
                              actuated=["left", "right", "shoulder", "elbow"])
    path = SteeredPath(1.0, [(0.6, 0.4), (0.5, -0.6)])
    q = np.array([0.0, 0.0, 0.0, 0.2, 0.1, 0.5, 0.0, 0.4, 0.8])
    found = platform_task(machine, path.program(0.5, 1.0), start=q, steering=None, frame="hand")
    program = found.program
    assert found.arm_joints == ("shoulder", "elbow")

    def pivot(t, psi):  # of the castor, 0.25 m behind, with a trail of 0.03 m
        v = program(t).roll_rate
        w = v * np.tan(program(t).steering)
        return -w - (v * np.sin(psi) + 0.25 * w * np.cos(psi)) / 0.03

    expected = solve_ivp(pivot, (0.0, program.duration), [0.5], rtol=1e-10, atol=1e-11, max_step=0.02).y[0, -1]
    end = found.motion(program.duration).q
    np.testing.assert_allclose(end[5], expected, atol=1e-5)
    np.testing.assert_allclose(end[7:], q[7:], atol=1e-12)
    sides = [np.sum([length * (1 - side * np.tan(angle)) for length, angle in path.pieces]) for side in (0.2, -0.2)]
    np.testing.assert_allclose(end[[3, 4]] - q[[3, 4]], np.array(sides) / 0.1, atol=1e-7)
    disturbed = q + np.array([0.01, 0.02, 0.05, *[0.0] * 6])
    run = machine.simulate(disturbed, np.zeros(9), controller=PlatformLaw(found, rate=6.0), until=program.duration,
                           rtol=1e-6, atol=1e-7, progress=False)
    assert run.status == "finished" and np.abs(run.q[-1, :3] - path.end).max() < 3e-3
    np.testing.assert_allclose(run.q[:, 7:], np.broadcast_to(q[7:], run.q[:, 7:].shape), atol=1e-5)  # the arm is held


# The arm


def in_vector_parameters(first, last, share):
    """R-63 from rest to rest: c = x u^3 + y u^2 with c(1) = f, c'(1) = 0, counted from the first rotation."""
    gap = first.T @ last
    f = np.array([gap[2, 1] - gap[1, 2], gap[0, 2] - gap[2, 0], gap[1, 0] - gap[0, 1]]) / (1 + np.trace(gap))
    c = f * (3 * share**2 - 2 * share**3)[:, None]
    size = np.linalg.norm(c, axis=1, keepdims=True)
    axis = f / np.linalg.norm(f)
    return first @ Rotation.from_rotvec(2 * np.arctan(size) * axis).as_matrix()


@pytest.mark.spec("S0-65")
def test_the_platform_drives_to_the_hand_over_pose_and_then_the_tool_goes_to_its_goal():
    run = driven()
    machine = carrier()
    assert machine.loops.mobility == 8
    np.testing.assert_allclose(run.q[:, :3], program().pose(run.t), atol=1e-6)
    assert np.abs(machine.loops.rates(run.q, run.qd)).max() < 1e-12
    before = run.t <= task().hand_over
    np.testing.assert_allclose(run.q[before, 5:], np.broadcast_to(HOME, run.q[before, 5:].shape), atol=1e-6)
    x, y, heading = task().hand_over_pose
    platform = at(x, y, RADIUS)
    platform[:3, :3] = Rotation.from_euler("z", heading).as_matrix()
    ends = platform @ goals(HOME, GOAL)
    share = np.clip((run.t[~before] - task().hand_over) / TASK, 0.0, 1.0)
    tool = machine.pose(run.q[~before], "tool")
    turned = in_vector_parameters(ends[0, :3, :3], ends[1, :3, :3], share)
    np.testing.assert_allclose(tool[:, :3, :3], turned, atol=2e-6)
    done = share**3 * (10 - 15 * share + 6 * share**2)
    np.testing.assert_allclose(tool[:, :3, 3], ends[0, :3, 3] + done[:, None] * (ends[1] - ends[0])[:3, 3], atol=2e-6)
    np.testing.assert_allclose(tool[-1], ends[1], atol=1e-6)


def test_the_drives_do_all_the_work():
    run = driven()
    power = np.sum(run.tau * run.qd, axis=-1)
    energy = carrier().kinetic_energy(run.q, run.qd) + carrier().potential_energy(run.q)
    gained = energy[-1] - energy[0]
    assert np.trapezoid(power, run.t) == pytest.approx(gained, rel=0.05) and not run.tau[:, :3].any()
    np.testing.assert_allclose(run.energy_drift, 0.0, atol=1e-6 * np.abs(energy).max())


@pytest.mark.spec("S0-65")
def test_a_task_of_several_poses_passes_them_with_continuous_rates():
    middle = 0.5 * (HOME + GOAL) + [0.1, 0.0, -0.1, 0.2, 0.0, 0.1]
    platform = carrier().pose(task().drive(task().hand_over).q, "chassis")
    found = platform_task(carrier(), program(), start=START, poses=platform @ goals(middle, GOAL), times=[0.8, 2.0])
    for time, q in ((0.8, middle), (2.0, GOAL)):
        there = found.motion(found.hand_over + time)
        expected = carrier().pose(np.array([*there.q[:5], *q]), "tool")
        np.testing.assert_allclose(carrier().pose(there.q, "tool"), expected, atol=1e-10)
    t = found.hand_over + 0.8
    sooner, later = found.arm(t - 1e-7), found.arm(t + 1e-7)
    np.testing.assert_allclose(sooner.qd, later.qd, atol=1e-5)
    np.testing.assert_allclose(sooner.qdd, later.qdd, atol=1e-4)


@pytest.mark.spec("S0-65")
@pytest.mark.parametrize(("asked", "error", "said"), [
    (lambda: platform_task(carrier(-0.4, 0.4), program(), start=START), UnreachableError, "piece 1 .* 0.5 rad"),
    (lambda: platform_task(carrier(), program(), start=START + 0.1), PlanningError, "begin the path there"),
    (lambda: platform_task(carrier(), SteeredPath(BASE, [(1.0, 0.2)]).program(1, 1), start=START), PlanningError,
     "'steering' at 0.2 rad"),
    (lambda: platform_task(carrier(), SteeredPath(0.7, PIECES).program(1, 1), start=START).drive, PlanningError,
     "'front axle' of carrier does not allow"),
    (lambda: platform_task(carrier(), program(), start=START, poses=at(9.0)[None], times=[1.0]), UnreachableError,
     r"hand-over at \[1.43.*is not reached"),
    (lambda: platform_task(carrier(), program(), start=START, poses=goals(GOAL), times=[-1.0]), PlanningError, "after"),
    (lambda: platform_task(carrier(), program(), start=START, poses=goals(GOAL)), ConventionError, "as many times"),
    (lambda: platform_task(carrier(), program(), start=np.zeros(3)), ConventionError, "11 finite"),
    (lambda: platform_task(carrier(), program(), start=START, base="drive"), ConventionError, "planar joint"),
    (lambda: platform_task(carrier(), program(), start=START, poses=goals(GOAL), times=[1.0], frame="front"),
     ModelError, "no joints of carrier are between"),
    (lambda: platform_task(carrier(), program(), start=START, arm=["base"]), ModelError, "more than one coordinate")])
def test_what_cannot_be_done_is_named(asked, error, said):
    with pytest.raises(error, match=said):
        asked()


# Back to the path


@pytest.mark.spec("S0-83")
@pytest.mark.parametrize("piece", [(4.0, 0.0), (4.0, 0.35), (-4.0, -0.3), (-4.0, 0.0)])
def test_a_cart_beside_its_path_comes_back_as_the_closed_form_says(piece):
    """By the distance along the path, e'' + 2 a e' + a^2 e = 0."""
    a, e, psi = 2.5, 0.12, -0.2
    path = SteeredPath(BASE, [piece])
    law = PathStabiliser(path.program(0.5, 1.0), rate=a, along=1.0)
    k, way = path.curvatures[0], np.sign(piece[0])

    def moves(t, x):
        told = law(t, x)
        return told.speed * np.array([np.cos(x[2]), np.sin(x[2]), np.tan(told.steering) / BASE])

    t = np.linspace(0.0, law.program.duration, 60)
    run = solve_ivp(moves, (0.0, t[-1]), [0.0, e, psi], t_eval=t, rtol=1e-10, atol=1e-12).y.T
    found = law(t, run)
    s = law.program.piece_at(t)[2] - found.behind
    slope = way * (1 - k * e) * np.tan(psi)
    np.testing.assert_allclose(found.aside, (e + (slope + a * e) * s) * np.exp(-a * s), atol=1e-8)
    np.testing.assert_allclose(run[-1], path.end, atol=0.02)
    assert abs(found.aside[-1]) < 1e-3 and abs(found.turned[-1]) < 1e-2


@pytest.mark.spec("S0-83")
def test_a_disturbed_start_comes_back_to_the_path_and_the_arm_to_its_task():
    off = (0.03, 0.05, -0.1, 0.1, -0.1, 0.05, 0.0, 0.1, -0.1)
    run = driven(*off)
    assert np.abs(run.q[0] - START).max() > 0.09
    np.testing.assert_allclose(run.q[-1, 5:], GOAL, atol=1e-6)
    np.testing.assert_allclose(run.q[-1, :2], task().hand_over_pose[:2], atol=1.5e-3)
    np.testing.assert_allclose(run.q[-1, 2], task().hand_over_pose[2], atol=5e-3)
    assert np.abs(carrier().loops.rates(run.q, run.qd)).max() < 1e-12


@pytest.mark.spec("S0-83")
def test_a_turn_of_more_than_a_circle_and_what_steering_cannot_mend():
    path = SteeredPath(BASE, [(8.0, 0.7)])  # a turn and a fifth
    law = PathStabiliser(path.program(1.0, 1.0), rate=2.0)
    t = np.linspace(0.0, law.program.duration, 40)
    on = law(t, law.program.pose(t))
    np.testing.assert_allclose([on.aside, on.turned, on.behind], 0.0, atol=1e-12)
    with pytest.raises(UnreachableError, match="across its path"):
        law(0.0, [0.0, 0.0, 1.7])
    with pytest.raises(UnreachableError, match="centre of its arc"):
        law(0.0, [0.0, 1.0, 0.0])
    held = PathStabiliser(path.program(1.0, 1.0), rate=9.0, steering_limit=0.8)
    assert held(1.0, law.program.pose(1.0) + np.array([0.0, 0.3, 0.0])).steering in (0.8, -0.8)
    for wrong in ({"rate": 0.0}, {"along": np.nan}, {"steering_limit": -1.0}):
        with pytest.raises(ModelError, match="positive"):
            PathStabiliser(path.program(1.0, 1.0), **wrong)


@pytest.mark.spec("S0-83")
@pytest.mark.parametrize("limit", [1.4, 0.6, 1.57])
@pytest.mark.parametrize("piece", [(4.0, 0.0), (4.0, 0.35), (-4.0, -0.3)])
def test_the_speed_of_a_cart_that_heads_across_its_path_is_bounded_or_refused(piece, limit):
    """Just before the heading limit, at most 1 / cos of it times the speed along; beyond it, to a right angle and on,
    refused by name; in batches too."""
    path = SteeredPath(BASE, [piece])
    law = PathStabiliser(path.program(0.6, 1.0), heading_limit=limit)
    on = law.program.pose(1.0)
    for side in (1.0, -1.0):
        told = law(1.0, on + np.array([0.0, 0.0, side * limit * (1 - 1e-9)]))
        assert abs(told.speed) <= abs(law(1.0, on).speed) / np.cos(limit) * (1 + 1e-9)
        for psi in (limit * (1 + 1e-9), np.pi / 2 - 1e-12, np.pi / 2, np.pi / 2 + 1e-12, 1.7, 3.0):
            poses = on + np.array([[0.0, 0.0, 0.1], [0.0, 0.0, side * psi]])
            for pose in (poses[1], poses):
                with pytest.raises(UnreachableError, match=r"heads across its path, turned .* heading limit of"):
                    law(1.0, pose)
    for wrong in (0.0, np.pi / 2, np.nan, -1.0):
        with pytest.raises(ModelError, match="heading limit"):
            PathStabiliser(path.program(0.6, 1.0), heading_limit=wrong)


# The limits of the gripper

LOAD = Load(2.0, (0.02, 0.0, 0.05), np.diag([0.01, 0.02, 0.015]))


def measured(arm, motion):
    """What a gripper does along a motion, by differences of poses of the frame and of the load's centre."""
    t = np.linspace(motion.start + 0.02, motion.end - 0.02, 3001)
    h = 1e-4

    def tool(time):
        return arm.pose(motion(time).q, "tool")

    sooner, now, later = (tool(t + way * h) for way in (-1, 0, 1))
    v = (later - sooner)[:, :3, 3] / (2 * h)
    a = (later - 2 * now + sooner)[:, :3, 3] / h**2
    center = np.append(LOAD.center, 1.0)
    ac = ((later - 2 * now + sooner) @ center)[:, :3] / h**2
    turn = Rotation.from_matrix(later[:, :3, :3] @ np.swapaxes(sooner[:, :3, :3], 1, 2)).as_rotvec() / (2 * h)
    R = now[:, :3, :3]
    spin = R @ LOAD.inertia @ np.swapaxes(R, 1, 2) @ turn[:, :, None]
    wd = np.gradient(turn, t, axis=0)
    f = LOAD.mass * (ac + np.array([0.0, 0.0, 9.81]))
    n = np.gradient(spin[:, :, 0], t, axis=0) + np.cross((R @ LOAD.center), f)
    return {name: np.linalg.norm(value, axis=1).max() for name, value in {
        "velocity": v, "angular_velocity": turn, "acceleration": a, "angular_acceleration": wd, "force": f,
        "moment": n}.items()}


@cache
def swing():
    return cy.planning.quintic_spline([0.0, 0.7, 1.5], [HOME, 0.5 * (HOME + GOAL) + 0.2, GOAL])


@pytest.mark.spec("S0-83")
@pytest.mark.parametrize(("name", "part"), [
    *[(name, part) for name in ("velocity", "angular_velocity", "acceleration", "angular_acceleration", "force")
      for part in (0.7, 1.3)], ("moment", 1.3), ("moment", 1.8)])
def test_each_limit_is_reached_and_not_exceeded(name, part):
    arm = cy.load("puma560")
    most = measured(arm, swing())[name]
    limit = 2.0 * 9.81 + part * (most - 2.0 * 9.81) if name == "force" else part * most
    found = gripper_timing(arm, swing(), "tool", GripperLimits(**{name: limit}), load=LOAD)
    assert found.limit == f"the {name.replace('_', ' ')} reaches {limit:g}"
    assert (found.factor > 1) == (part > 1)
    assert measured(arm, found.motion)[name] == pytest.approx(limit, rel=2e-4)
    assert found.motion.duration == pytest.approx(1.5 / found.factor) and "times as fast" in str(found)


@pytest.mark.spec("S0-83")
def test_all_limits_together_and_those_that_no_motion_keeps():
    arm = cy.load("puma560")
    limits = GripperLimits(velocity=0.8, angular_velocity=1.5, acceleration=4.0, angular_acceleration=9.0, force=24.0,
                           moment=2.0)
    found = gripper_timing(arm, swing(), "tool", limits, load=LOAD)
    seen = measured(arm, found.motion)
    ratios = {name: seen[name] / getattr(limits, name) for name in seen}
    assert max(ratios.values()) == pytest.approx(1.0, rel=2e-4)
    assert found.limit.startswith(f"the {max(ratios, key=ratios.get).replace('_', ' ')}")
    with pytest.raises(PlanningError, match=r"a force of 19.62 at rest, at t = .* more than the 15"):
        gripper_timing(arm, swing(), "tool", replace(limits, force=15.0), load=LOAD)
    with pytest.raises(PlanningError, match=r"a moment of .* at rest"):
        gripper_timing(arm, swing(), "tool", replace(limits, moment=0.1), load=LOAD)
    still = cy.planning.quintic_spline([0.0, 1.0], [HOME, HOME])
    with pytest.raises(PlanningError, match="no limit determines"):
        gripper_timing(arm, still, "tool", limits, load=LOAD)
    for wrong in (lambda: GripperLimits(force=-1.0), lambda: GripperLimits(velocity=np.nan), lambda: Load(-1.0),
                  lambda: Load(1.0, (0.0, ))):
        with pytest.raises(ModelError):
            wrong()
    for asked in (lambda: gripper_timing(arm, swing(), "tool", GripperLimits()),
                  lambda: gripper_timing(arm, swing(), "tool", GripperLimits(force=9.0)),
                  lambda: gripper_timing(cy.load("planar2r"), swing(), "tool", limits)):
        with pytest.raises(ConventionError):
            asked()


@pytest.mark.spec("S0-83")
def test_a_platforms_task_within_limits():
    slow = task().within(GripperLimits(velocity=0.2))
    assert slow.timing.factor < 1 and slow.duration == pytest.approx(slow.hand_over + TASK / slow.timing.factor)
    t = np.linspace(slow.hand_over, slow.duration, 4001)
    speeds = np.linalg.norm(carrier().twist(*slow.motion(t)[:2], "tool", axes="world")[:, :3], axis=1)
    assert speeds.max() == pytest.approx(0.2, rel=1e-5)
    with pytest.raises(ConventionError, match="no task"):
        platform_task(carrier(), program(), start=START).within(GripperLimits(velocity=0.2))
