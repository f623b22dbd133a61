"""The closed machines of the catalogue: closed at q = 0, of the right mobility, and where the closed forms of their
families say.
"""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import UnsupportedError
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.machines import FiveBar, Planar3RRR, StewartPlatform, TranslationalDelta
from cayley.systems import System

MOBILITY = {"four_bar": 1, "slider_crank": 1, "five_bar": 2, "three_rrr": 3, "delta": 3, "stewart": 6, "gripper": 1,
            "excavator": 4}


@pytest.fixture(scope="module")
def machines():
    return {name: cy.load(name) for name in MOBILITY}


def place(arm, joint):
    return arm.tree.q_slices[arm.tree.joint_number(joint)].start


def driven(arm, values, steps=10):
    """The closed configuration that is reached when the driven joints go straight from 0 to `values`: Newton's method
    on the constraints in small steps, so that the machine stays on its branch."""
    q = arm.neutral
    places = [place(arm, name) for name in arm.actuated_joints]
    fixed = np.zeros((len(places), arm.nv))
    fixed[np.arange(len(places)), arm.tree.actuated_velocities] = 1.0
    for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
        for _ in range(6):
            off = np.concatenate([arm.loops.residual(q), q[places] - share * np.asarray(values)])
            step = np.linalg.lstsq(np.concatenate([arm.loops.jacobian(q), fixed]), -off, rcond=None)[0]
            q = arm.integrate(q, step)
    assert abs(off).max() < 1e-12
    return q


def near(found, wanted):
    """Of several answers (k, n) the one that is nearest."""
    return found[np.nanargmin(np.abs(np.asarray(found) - wanted).max(axis=-1))]


@pytest.mark.parametrize("name", MOBILITY)
def test_a_machine_is_closed_and_regular_at_zero_and_its_driven_joints_move_it(machines, name):
    arm = machines[name]
    q = arm.neutral
    assert np.abs(arm.loops.residual(q)).max() < 2e-15
    assert arm.loops.mobility == MOBILITY[name] and str(arm.loops.actuation).startswith("fully actuated")
    assert arm.loops.singularity(q).kind == "regular"
    assert (arm.lower <= q).all() and (q <= arm.upper).all()
    free = [k for k in range(arm.nv) if k not in arm.tree.actuated_velocities]
    A = arm.loops.jacobian(q)[list(arm.loops.structure.leading)]
    assert np.linalg.cond(A[:, free]) < 1e3  # where the motors stand still, so does the machine


@pytest.mark.parametrize("name", ["delta", "stewart", "gripper", "excavator"])
def test_the_driven_joints_reach_their_limits_on_the_branch(machines, name):
    arm = machines[name]
    places = [place(arm, joint) for joint in arm.actuated_joints]
    low = np.where(np.isfinite(arm.lower[places]), arm.lower[places], -1.0)
    high = np.where(np.isfinite(arm.upper[places]), arm.upper[places], 1.0)
    for ends in (low, high):
        q = driven(arm, ends, steps=20)
        assert arm.loops.singularity(q).kind == "regular"


# Closed forms of the families


def test_the_five_bar_is_that_of_the_closed_form(machines):
    arm = machines["five_bar"]
    plain = FiveBar([(-0.06, 0.0), (0.06, 0.0)], cranks=[0.25, 0.25], rods=[0.35, 0.35])
    home = np.array([np.arctan2(0.2, -0.15), np.arctan2(0.2, 0.15)])
    for turn in ([0.0, 0.0], [0.3, -0.2], [-0.4, 0.6]):
        q = driven(arm, turn)
        P = arm.pose(q, "tool")[:2, 3]
        np.testing.assert_allclose(P, plain.direct_position(home + turn)[0], atol=1e-13)
        np.testing.assert_allclose(near(plain.inverse_position(P), home + turn), home + turn, atol=1e-12)


def test_the_3rrr_is_that_of_the_closed_form(machines):
    arm = machines["three_rrr"]
    corners = np.radians([210.0, 330.0, 90.0])
    plain = Planar3RRR(0.5 * np.stack([np.cos(corners), np.sin(corners)], axis=1), [0.25] * 3, [0.3] * 3, 0.3)
    cranks = [arm.tree.joint_number(name) for name in arm.actuated_joints]
    home = np.array([np.arctan2(arm.joints[k].placement[1, 0], arm.joints[k].placement[0, 0]) for k in cranks])
    for turn in ([0.0, 0.0, 0.0], [0.2, -0.1, 0.15], [-0.3, 0.25, 0.1]):
        T = arm.pose(driven(arm, turn), "tool")
        pose = np.array([*T[:2, 3], np.arctan2(T[1, 0], T[0, 0])])
        np.testing.assert_allclose(near(plain.direct_position(home + turn).poses, pose), pose, atol=1e-11)
        angles = (plain.inverse_position(pose) - home - turn + np.pi) % (2 * np.pi) - np.pi
        np.testing.assert_allclose(near(angles, np.zeros(3)), 0.0, atol=1e-12)


def test_the_delta_is_that_of_the_closed_form_and_never_turns(machines):
    arm = machines["delta"]
    plain = TranslationalDelta(crank=0.25, rod=0.85, base=0.2, platform=0.05)
    for theta in ([0.0, 0.0, 0.0], [0.3, -0.2, -0.5], [-0.9, -0.3, 0.2]):
        T = arm.pose(driven(arm, theta), "tool")
        np.testing.assert_allclose(T[:3, 3], near(plain.direct_position(theta), T[:3, 3]), atol=1e-12)
        np.testing.assert_allclose(T[:3, :3], np.eye(3), atol=1e-12)
        np.testing.assert_allclose(near(plain.inverse_position(T[:3, 3]), theta), theta, atol=1e-12)


def test_the_stewart_platform_is_that_of_the_closed_form(machines):
    arm = machines["stewart"]
    base = np.radians([-12, 12, 108, 132, 228, 252])
    top = np.radians([-48, 48, 72, 168, 192, 288])
    plain = StewartPlatform(0.6 * np.stack([np.cos(base), np.sin(base), 0 * base], axis=1),
                            0.4 * np.stack([np.cos(top), np.sin(top), 0 * top], axis=1))
    home = np.eye(4)
    home[2, 3] = 0.8
    rest = plain.leg_lengths(home)
    for longer in (np.zeros(6), np.array([0.05, -0.02, 0.1, 0.03, -0.06, 0.08])):
        T = arm.pose(driven(arm, longer), "tool")
        np.testing.assert_allclose(plain.leg_lengths(T), rest + longer, atol=1e-12)
        np.testing.assert_allclose(plain.direct_position(rest + longer, guess=T).pose, T, atol=1e-12)


# Plain geometry


def test_the_fingers_of_the_gripper_stay_parallel_and_the_gap_is_that_of_the_knuckles(machines):
    arm = machines["gripper"]
    open_angle = np.arctan2(0.052, 0.039)
    for angle in (0.0, 0.3, 0.78):
        q = driven(arm, [angle])
        left = arm.pose(q, "tool")
        right = arm.pose(q, "right pad")
        np.testing.assert_allclose(left[:3, :3], np.eye(3), atol=1e-12)
        np.testing.assert_allclose(right[:3, :3], np.eye(3), atol=1e-12)
        gap = 0.085 - 2 * 0.065 * (np.sin(open_angle) - np.sin(open_angle - angle))
        np.testing.assert_allclose(left[1, 3] - right[1, 3], gap, atol=1e-12)
    assert 0.0 < gap < 0.001


def opposite(a, b, c):
    """The angle of a triangle between its sides a and b."""
    return np.arccos((a * a + b * b - c * c) / (2 * a * b))


def test_the_cylinders_of_the_excavator_turn_boom_and_stick_as_triangles_say(machines):
    arm = machines["excavator"]
    foot, below, bracket = np.array([0.2, 0.9]), np.array([0.7, 0.4]), np.array([2.2, 2.5])
    knee, rear, back = np.array([5.0, 2.9]), np.array([2.4, 3.0]), np.array([4.55, 3.5])
    values = np.array([0.4, 0.3, 0.7, -0.2])
    q = driven(arm, values)
    for (pivot, first, second), longer, joint, sign in (((foot, below, bracket), values[1], "boom", 1.0),
                                                        ((knee, rear, back), values[2], "stick", -1.0)):
        a, b, c = (np.linalg.norm(end - start) for start, end in ((pivot, first), (pivot, second), (first, second)))
        turn = opposite(a, b, c + longer) - opposite(a, b, c)
        np.testing.assert_allclose(q[place(arm, joint)], sign * turn, atol=1e-12)
    ear, pin, rocker_end = np.array([0.45, 0.1]), np.array([-0.126, 0.432]), np.array([0.45, 0.6])
    stick = arm.pose(q, "stick")
    link_end = np.linalg.inv(stick) @ arm.pose(q, "end of link")
    joint = np.linalg.inv(stick) @ arm.pose(q, "link")
    bucket = np.array([0.7, -2.4])
    np.testing.assert_allclose(np.linalg.norm(link_end[[0, 2], 3] - bucket), np.linalg.norm(ear), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(link_end[[0, 2], 3] - joint[[0, 2], 3]), 0.5, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(joint[[0, 2], 3] - bucket - pin), np.linalg.norm(rocker_end - pin),
                               atol=1e-12)


# Dynamics


@pytest.mark.parametrize("name", ["five_bar", "delta", "gripper", "excavator"])
def test_a_machine_falls_with_its_energy_and_its_loops_kept(machines, name):
    arm = machines[name]
    system = arm.system()
    assert isinstance(system, System)
    run = system.rollout(method="rk4")({"q": arm.neutral, "qd": np.zeros(arm.nv)}, step=2e-4, steps=100, every=100)
    q, qd = run.end["q"], run.end["qd"]
    energy = arm.kinetic_energy(q, qd) + arm.potential_energy(q) - arm.potential_energy(arm.neutral)
    moved = arm.kinetic_energy(q, qd)
    assert np.abs(arm.loops.residual(q)).max() < 1e-12
    assert np.abs(arm.loops.jacobian(q) @ qd).max() < 1e-10 * (1 + np.abs(qd).max())
    if name == "five_bar":
        assert moved < 1e-20  # it lies in a horizontal plane
    else:
        assert moved > 0 and abs(energy) < 1e-9 * moved


def test_a_closed_platform_says_its_pose_in_its_coordinates(machines):
    arm = machines["stewart"]
    q = driven(arm, [0.02, 0.0, 0.03, 0.0, 0.01, 0.0])
    T = arm.pose(q, "tool")
    np.testing.assert_allclose(T[:3, 3], np.add(q[18:21], (0, 0, 0.8)), atol=1e-15)
    np.testing.assert_allclose(T[:3, :3], matrix_from_quaternion(q[21:]), atol=1e-15)


# Files


def test_urdf_keeps_mimic_joints_and_refuses_loops_by_name(machines, tmp_path):
    arm = machines["gripper"]
    with pytest.raises(UnsupportedError, match="the loop 'left pin'; the loop 'right pin'"):
        arm.save(tmp_path / "gripper.urdf")
    arm.save(tmp_path / "gripper.urdf", leave_out=True)
    text = (tmp_path / "gripper.urdf").read_text()
    assert "<!-- not in URDF: the loop 'left pin' -->" in text
    again = cy.load(tmp_path / "gripper.urdf")
    assert again.loops == () and len(again.tree.mimic_joints) == 1
    assert [joint.mimic for joint in again.joints if joint.motion.nv] == [joint.mimic for joint in arm.joints]


@pytest.mark.parametrize("name", MOBILITY)
def test_a_machine_is_saved_and_loaded_again(machines, name, tmp_path):
    arm = machines[name]
    arm.save(tmp_path / "machine.toml")
    again = cy.load(tmp_path / "machine.toml")
    assert again.loops == arm.loops and again.tree.constraints == arm.tree.constraints
    assert again.actuated_joints == arm.actuated_joints
