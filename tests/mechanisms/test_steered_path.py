"""A cart that holds its steering fixed piece by piece: its path beside the integrated motion of a bicycle, its program
in time, and a platform that carries an arm along it and then lets the arm do its task."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

import cayley as cy
import cayley.geometry.rotations as rot
from cayley.errors import ModelError, SingularityError
from cayley.mechanisms import SteeredPath
from cayley.model.constraint_kinds import SteeredAxle, Wheel
from cayley.model.joint_kinds import Planar, Revolute
from cayley.model.parts import Body, Frame, Joint

BASE, RADIUS = 0.8, 0.1
PIECES = [(1.0, 0.0), (0.8, 0.5), (-0.4, -0.3)]


def rolled(pieces, start=(0.0, 0.0, 0.0)):
    """The end of a path by integration of the motion of a bicycle."""
    pose = np.array(start)
    for length, steering in pieces:
        turn = np.tan(steering) / BASE
        pose = solve_ivp(lambda s, x, turn=turn: [np.cos(x[2]), np.sin(x[2]), turn], (0.0, length), pose, rtol=1e-11,
                         atol=1e-12).y[:, -1]
    return pose


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.3, -1.2, 2.5)])
def test_a_path_is_that_of_a_bicycle(start):
    path = SteeredPath(BASE, PIECES, start)
    assert path.length == pytest.approx(2.2)
    np.testing.assert_allclose(path.end, rolled(PIECES, start), atol=1e-9)
    np.testing.assert_allclose(path.pose(1.5), rolled([PIECES[0], (0.5, 0.5)], start), atol=1e-9)
    np.testing.assert_allclose(path.pose([[0.0, 2.0]]),
                               [[rolled([(1e-9, 0.0)], start), rolled([*PIECES[:2], (-0.2, -0.3)], start)]], atol=1e-8)
    np.testing.assert_array_equal(path.steering([0.5, 1.2, 2.2]), [0.0, 0.5, -0.3])
    assert path.pose(np.zeros((0,))).shape == (0, 3)


def test_an_arc_has_the_radius_of_its_steering():
    path = SteeredPath(BASE, [(3.0, -0.4)])
    x, y, _ = path.pose(np.linspace(0.0, 3.0, 50)).T
    radius = BASE / np.tan(-0.4)
    np.testing.assert_allclose(np.hypot(x, y - radius), abs(radius), rtol=1e-14)
    almost = SteeredPath(BASE, [(3.0, 1e-12)])
    np.testing.assert_allclose(almost.end, [3.0, 0.0, 0.0], atol=1e-11)


def test_the_heading_as_a_vector_parameter():
    path = SteeredPath(BASE, PIECES, (0.0, 0.0, 0.4))
    s = np.linspace(0.0, path.length, 7)
    R = rot.matrix_from_vector_parameter(path.vector_parameter(s))
    np.testing.assert_allclose(R, Rotation.from_euler("z", path.pose(s)[:, 2:]).as_matrix(), atol=1e-14)
    with pytest.raises(SingularityError, match="half-turn"):
        SteeredPath(BASE, PIECES, (0.0, 0.0, np.pi)).vector_parameter(0.5)


def test_a_program_keeps_its_limits_and_goes_where_the_path_goes():
    path = SteeredPath(BASE, PIECES)
    program = path.program(speed=0.7, steering_rate=0.9)
    t, step = np.linspace(0.0, program.duration, 20_001, retstep=True)
    told = program(t)
    assert np.abs(told.roll_rate).max() == pytest.approx(0.7, rel=1e-5)
    assert np.abs(told.steering_rate).max() == pytest.approx(0.9, rel=1e-5)
    assert not (told.roll_rate * told.steering_rate).any()  # steers where it stands
    for value, rate in ((told.roll, told.roll_rate), (told.roll_rate, told.roll_acceleration),
                        (told.steering, told.steering_rate), (told.steering_rate, told.steering_acceleration)):
        np.testing.assert_allclose(np.gradient(value, step)[1:-1], rate[1:-1], atol=2e-3)
    np.testing.assert_allclose(program.pose([-1.0, 0.0, program.duration, 99.0]),
                               [[0.0] * 3, [0.0] * 3, path.end, path.end], atol=1e-14)
    heading = np.gradient(program.pose(t)[:, 2], step)
    np.testing.assert_allclose(heading[1:-1], (told.roll_rate * np.tan(told.steering) / BASE)[1:-1], atol=1e-3)
    assert program(99.0).roll == pytest.approx(1.4) and program(99.0).steering == -0.3


@pytest.mark.parametrize(("path", "said"), [
    (lambda: SteeredPath(0.0, PIECES), "wheelbase"),
    (lambda: SteeredPath(np.nan, PIECES), "wheelbase"),
    (lambda: SteeredPath(BASE, []), r"pieces \(length, steering\)"),
    (lambda: SteeredPath(BASE, [1.0, 0.2]), r"pieces \(length, steering\)"),
    (lambda: SteeredPath(BASE, [(1.0, 0.0), (0.0, 0.1)]), "piece 1 .* length"),
    (lambda: SteeredPath(BASE, [(1.0, np.pi / 2)]), "piece 0 .* right angle"),
    (lambda: SteeredPath(BASE, [(1.0, np.nan)]), "piece 0 .* right angle"),
    (lambda: SteeredPath(BASE, PIECES, (0.0, 0.0)), "starts at three"),
    (lambda: SteeredPath(BASE, PIECES).pose(2.3), "from 0 to"),
    (lambda: SteeredPath(BASE, PIECES).pose(np.nan), "from 0 to"),
    (lambda: SteeredPath(BASE, PIECES).program(0.0, 1.0), "speed"),
    (lambda: SteeredPath(BASE, PIECES).program(1.0, -1.0), "steering_rate"),
    (lambda: SteeredPath(BASE, PIECES).program(1.0, 1.0)(np.nan), "NaN")])
def test_what_is_no_path_is_named(path, said):
    with pytest.raises(ModelError, match=said):
        path()


# A platform with an arm

HOME = np.array([0.0, -1.0, 2.5, 0.0, 0.3, 0.0])
GOAL = np.array([0.5, -0.5, 2.2, 0.4, 0.8, -0.3])
TASK = 2.0  # s


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


MOUNT = at(0.4, 0.0, 0.3)


@cache
def carrier():
    """A PUMA 560 on a platform with a driven wheel behind and a steered one in front."""
    arm = cy.load("puma560")
    bodies = [Body("floor"), Body("chassis", 60.0, [0.3, 0, 0], np.diag([2.0, 4.0, 5.0])),
              Body("wheel", 3.0, inertia=np.diag([0.01, 0.02, 0.01])), Body("fork", 2.0, inertia=0.02 * np.eye(3))]
    joints = [Joint("base", "floor", "chassis", Planar(), at(z=RADIUS)),
              Joint("drive", "chassis", "wheel", Revolute((0.0, 1.0, 0.0))),
              Joint("steering", "chassis", "fork", Revolute(), at(BASE))]
    first = replace(arm.joints[0], parent="chassis", placement=MOUNT @ arm.joints[0].placement)
    frames = [Frame("front", "chassis", at(BASE)), *[frame for frame in arm.frames if frame.name == "tool"]]
    return cy.Mechanism.of(
        "carrier", [*bodies, *arm.bodies[1:]], [*joints, first, *arm.joints[1:]], frames=frames,
        constraints=[Wheel("tyre", "floor", "wheel", RADIUS), SteeredAxle("front axle", "floor", "front", "steering")],
        actuated=["drive", "steering", *[joint.name for joint in arm.joints]])


def arm_program(start):
    """The arm's joints while its tool goes straight and turns about one axis, by vector-parameters in homogeneous form.
    """
    arm = cy.load("puma560")
    ends = arm.pose(np.array([HOME, GOAL]), "tool")
    x = np.linspace(0.0, 1.0, 41)
    done = x**3 * (10 - 15 * x + 6 * x**2)
    poses = np.tile(np.eye(4), (len(x), 1, 1))
    turned = rot.interpolate_shortest(*rot.homogeneous_from_matrix(ends[:, :3, :3]), done)
    poses[:, :3, :3] = rot.matrix_from_homogeneous(turned)
    poses[:, :3, 3] = ends[0, :3, 3] + done[:, None] * (ends[1] - ends[0])[:3, 3]
    q = [HOME]
    for pose in poses[1:]:
        q.append(arm.inverse_kinematics(pose, "tool", start=q[-1], limits=False).q)
    return CubicSpline(start + x * TASK, q, bc_type="clamped")


@cache
def driven(*disturbance):
    """The whole task in one simulation, with drives that follow their program."""
    machine = carrier()
    program = SteeredPath(BASE, PIECES).program(0.8, 1.0)
    hand_over = program.duration
    task = arm_program(hand_over)

    def told(t):
        drive = program(t)
        within = np.clip(t, hand_over, hand_over + TASK)
        moves = float(hand_over <= t <= hand_over + TASK)
        return (np.array([drive.roll / RADIUS, drive.steering, *task(within)]),
                np.array([drive.roll_rate / RADIUS, drive.steering_rate, *moves * task(within, 1)]),
                np.array([drive.roll_acceleration / RADIUS, drive.steering_acceleration, *moves * task(within, 2)]))

    def control(t, q, qd):
        u, ud, udd = told(t)
        wanted = udd + 20.0 * (ud - qd[3:]) + 100.0 * (u - q[3:])
        return machine.inverse_dynamics(q, qd, machine.actuated_acceleration(q, qd[3:], wanted))

    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, *HOME])
    q[5:] += disturbance or 0.0
    run = machine.simulate(q, np.zeros(11), controller=control, until=hand_over + TASK, rtol=1e-7, atol=1e-8,
                           progress=False)
    assert run.status == "finished"
    return program, run


def test_the_platform_drives_to_the_hand_over_pose():
    machine = carrier()
    assert machine.mobility == 8
    program, run = driven()
    there = np.searchsorted(run.t, program.duration)
    np.testing.assert_allclose(run.q[there:, :3], np.broadcast_to(rolled(PIECES), run.q[there:, :3].shape), atol=1e-6)
    np.testing.assert_allclose(run.q[:, :3], program.pose(run.t), atol=1e-6)
    assert np.abs(machine.constraint_rates(run.q, run.qd)).max() < 1e-12
    np.testing.assert_allclose(run.q[:there, 5:], np.broadcast_to(HOME, run.q[:there, 5:].shape), atol=1e-6)


def test_then_the_tool_turns_about_one_axis_to_its_goal():
    machine = carrier()
    program, run = driven()
    x, y, heading = rolled(PIECES)
    platform = at(x, y, RADIUS)
    platform[:3, :3] = Rotation.from_euler("z", heading).as_matrix()
    ends = platform @ MOUNT @ cy.load("puma560").pose(np.array([HOME, GOAL]), "tool")
    there = run.t >= program.duration
    part = (run.t[there] - program.duration) / TASK
    done = np.clip(part**3 * (10 - 15 * part + 6 * part**2), 0.0, 1.0)
    tool = machine.pose(run.q[there], "tool")
    slerp = Slerp([0.0, 1.0], Rotation.from_matrix(ends[:, :3, :3]))
    np.testing.assert_allclose(tool[:, :3, :3], slerp(done).as_matrix(), atol=2e-5)  # between 41 points, a spline
    np.testing.assert_allclose(tool[:, :3, 3], ends[0, :3, 3] + done[:, None] * (ends[1] - ends[0])[:3, 3], atol=2e-5)
    np.testing.assert_allclose(tool[-1], ends[1], atol=1e-6)


def test_a_disturbed_arm_returns_to_its_program_while_the_platform_keeps_its_path():
    program, run = driven(0.1, -0.1, 0.05, 0.0, 0.1, -0.1)
    np.testing.assert_allclose(run.q[:, :3], program.pose(run.t), atol=1e-5)
    np.testing.assert_allclose(run.q[-1, 5:], GOAL, atol=1e-6)
    assert np.abs(run.q[0, 5:] - HOME).max() > 0.09


def test_the_drives_do_all_the_work():
    """The floor does none: what the drives give is the gain of energy."""
    machine = carrier()
    _, run = driven()
    power = np.sum(run.tau * run.qd, axis=-1)
    work = CubicSpline(run.t, power).integrate(run.t[0], run.t[-1])
    energy = machine.kinetic_energy(run.q, run.qd) + machine.potential_energy(run.q)
    assert work == pytest.approx(energy[-1] - energy[0], rel=1e-3)
    assert not run.tau[:, :3].any()
