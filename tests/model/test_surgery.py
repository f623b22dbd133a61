"""Joints locked and freed, bodies made one, parts taken out and attached: beside Pinocchio, MuJoCo and the whole."""

import warnings
from dataclasses import replace
from importlib.metadata import files

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import cayley as cy
from cayley.errors import CayleyError, ModelError, ModelWarning, UnsupportedError
from cayley.kinematics.forward import body_poses
from cayley.model.constraint_kinds import Coupling, Pfaffian, PrescribedMotion, Rod
from cayley.model.joint_kinds import Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Frame, Joint, Mimic, Rotor
from model.test_attaching import TURNED, at

PATHS = {file.name: str(file.locate()) for file in files("example-robot-data") if file.suffix == ".urdf"}
PANDA = PATHS["panda.urdf"]


def state(arm, seed=0):
    rng = np.random.default_rng(seed)
    return arm.random_configuration(seed=seed), rng.normal(size=arm.nv), rng.normal(size=arm.nv)


def there(model, arm, q, *vectors):
    """A configuration, and vectors of the size of the velocity, in the order of Pinocchio's joints."""
    theirs, found = pin.neutral(model), [np.zeros(model.nv) for _ in vectors]
    for joint, a, b in zip(arm.joints, arm.tree.q_slices, arm.tree.v_slices, strict=True):
        if joint.motion.nv:
            own = model.joints[model.getJointId(joint.name)]
            theirs[own.idx_q:own.idx_q + own.nq] = q[a][[0, 1, 2, 4, 5, 6, 3]] if own.nq == 7 else q[a]
            for vector, values in zip(found, vectors, strict=True):
                vector[own.idx_v:own.idx_v + own.nv] = values[b]
    return theirs, *found


def forces(model, arm, q, qd, qdd):
    data = model.createData()
    tau = pin.rnea(model, data, *there(model, arm, q, qd, qdd))
    return np.concatenate([tau[(own := model.joints[model.getJointId(j.name)]).idx_v:own.idx_v + own.nv]
                           for j in arm.joints if j.motion.nv])


# Locked and freed


@pytest.mark.parametrize(("names", "floating"), [
    (["panda_joint4"], False), (["panda_joint1", "panda_joint5", "panda_joint7"], True)])
def test_a_locked_arm_is_the_reduced_model_of_pinocchio(names, floating):
    arm = cy.load(PANDA, floating_base=floating, missing_mass=0.0, exact_angles=False)
    arm = cy.Mechanism(arm.tree.spanning_tree())
    model = pin.buildModelFromUrdf(PANDA, *([pin.JointModelFreeFlyer()] if floating else []))
    q = arm.random_configuration(seed=3)
    less = pin.buildReducedModel(model, [model.getJointId(name) for name in names], there(model, arm, q)[0])
    held = arm.locked(names, q)
    own = state(held, seed=1)
    data = less.createData()
    pin.framesForwardKinematics(less, data, there(less, held, own[0])[0])
    for made in (held, held.variants.reduced()):
        assert made.nv == less.nv and not set(names) & set(made.joint_names)
        poses = body_poses(made.tree, own[0])
        hand = made.tree.frame("panda_hand")
        np.testing.assert_allclose(poses[made.tree.body_number(hand.body)].matrix @ hand.pose,
                                   data.oMf[less.getFrameId("panda_hand")].homogeneous, atol=1e-12)
    np.testing.assert_allclose(made.inverse_dynamics(*own), forces(less, made, *own), rtol=1e-10, atol=1e-10)
    freed = held.variants.freed(names)
    assert freed.joint_names == arm.joint_names and freed.actuated_joints == arm.actuated_joints
    for one, other in zip(freed.joints, arm.joints, strict=True):
        np.testing.assert_array_equal(one.placement, other.placement)
        assert (one.motion, one.limits, one.mimic) == (other.motion, other.limits, other.mimic)


def test_locking_is_said_in_three_ways():
    arm = cy.load("panda")
    q = arm.configurations["ready"]
    by_q, by_value = arm.locked("panda_joint4", q), arm.locked({"panda_joint4": q[3]})
    np.testing.assert_array_equal(by_q.joints[3].placement, by_value.joints[3].placement)
    assert by_q.configurations["ready"].tolist() == np.delete(q, 3).tolist()
    np.testing.assert_array_equal(by_q.variants.freed("panda_joint4").configurations["ready"], q)
    with pytest.raises(ModelError, match="'panda_joint4' of panda is at 0 in the configuration: beyond its limits"):
        arm.locked("panda_joint4")
    with pytest.raises(ModelError, match="give one of these"):
        arm.locked({"panda_joint4": -1.0}, q)
    with pytest.raises(ModelError, match="no joint 'panda_joint8'"):
        arm.locked("panda_joint8")
    with pytest.raises(ModelError, match="'panda_joint4' of panda is fixed: there is nothing to lock"):
        by_q.locked("panda_joint4", by_q.neutral)
    for wrong in (q[:6], np.full(7, np.nan)):
        with pytest.raises(CayleyError):
            arm.locked("panda_joint1", wrong)


def test_what_was_not_locked_is_not_freed():
    arm = cy.load("panda_hand")
    with pytest.raises(ModelError, match="'panda_joint1' of panda_hand is not locked: it moves"):
        arm.variants.freed("panda_joint1")
    with pytest.raises(ModelError, match="is not locked: it mimics 'panda_finger_joint1'"):
        arm.variants.freed("panda_finger_joint2")
    fixed = next(joint.name for joint in arm.joints if not joint.motion.nv)
    with pytest.raises(ModelError, match=r"was not locked: choose a kind, `with_joint"):
        arm.variants.freed(fixed)


def test_mimic_joints_are_locked_and_freed_with_the_joint_that_they_follow():
    hand = cy.load("panda_hand")
    shut = hand.locked({"panda_finger_joint1": 0.02})
    assert shut.nv == 7 and not shut.tree.mimic_joints and shut.actuated_joints == hand.actuated_joints[:-1]
    for finger in ("panda_leftfinger", "panda_rightfinger"):
        q = hand.configurations.with_mimic_joints([*np.zeros(7), 0.02, 0.0])
        np.testing.assert_allclose(shut.pose(np.zeros(7), finger), hand.pose(q, finger), atol=1e-15)
    assert shut.variants.freed("panda_finger_joint1").tree.mimic_joints == hand.tree.mimic_joints
    with pytest.raises(ModelError, match="mimics 'panda_finger_joint1': lock that one"):
        hand.locked({"panda_finger_joint2": 0.02})
    with pytest.raises(ModelError, match=r"locked at 0\.01: it mimics 'panda_finger_joint1', which takes it to 0\.02"):
        hand.locked({"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.01})
    with pytest.raises(ModelError, match="mimics 'panda_finger_joint1', which is locked: free that one"):
        shut.variants.freed("panda_finger_joint2")


def test_loops_stay_closed_when_joints_are_locked():
    bar = cy.load("four_bar")
    q = bar.loops.close([0.4, 0.0, 0.0], fixed=["crank"]).configuration
    still = bar.locked("crank", q)
    assert (still.nv, still.loops.mobility) == (2, 0)
    np.testing.assert_allclose(still.loops.residual(q[1:]), 0.0, atol=1e-9)
    five = cy.load("five_bar")
    held = five.locked(five.actuated_joints[0], five.neutral)
    assert held.loops.mobility == five.loops.mobility - 1 and held.actuated_joints == five.actuated_joints[1:]
    q0, tau = held.neutral, np.array([0.3 if name in held.actuated_joints else 0.0 for name in held.joint_names])
    found = held.forward_dynamics(q0, np.zeros(held.nv), tau)
    whole = five.variants.with_constraints(Coupling("brake", (five.actuated_joints[0],), (1.0,)))
    expected = whole.forward_dynamics(five.neutral, np.zeros(five.nv), np.insert(
        tau, five.joint_names.index(five.actuated_joints[0]), 0.0))
    np.testing.assert_allclose(found, np.delete(expected, five.joint_names.index(five.actuated_joints[0])), atol=1e-9)


def geared():
    gears = Coupling("gears", ("joint1", "joint2"), (1.0, 2.0))
    return cy.load("planar2r").variants.with_constraints(gears)


def test_what_ties_a_locked_joint_is_named():
    with pytest.raises(ModelError, match=r"'joint1' of planar2r cannot be locked: .*without_constraints\('gears'\)"):
        geared().locked("joint1")
    driven = cy.load("planar2r").variants.with_constraints(PrescribedMotion("drive", "joint1", "0.3*t"))
    with pytest.raises(ModelError, match=r"cannot be locked: .*without_constraints\('drive'\)"):
        driven.locked("joint1")
    assert driven.locked("joint2").nv == 1
    soft = cy.load("planar2r").with_drive("joint1", stiffness=1e3, inertia=1e-3)
    with pytest.raises(ModelError, match=r"has a motor that is a part of the mechanism, or is one: lock it before"):
        soft.including("elastic drives").locked("joint1")
    with pytest.raises(ModelError, match="has a motor"):
        soft.including("elastic drives").locked("joint1 motor")
    assert soft.locked("joint1").variants.freed("joint1").including("elastic drives").nv == 3
    assert soft.including("elastic drives").locked("joint2").joint_names == ("joint1", "joint1 motor")
    heavy = cy.load("planar2r").with_drive("joint1", mass=1.0, inertia=1e-3)
    with pytest.raises(ModelError, match="rotor of joint 'joint1' of planar2r is a body, which would be lost"):
        heavy.locked("joint1")


def test_a_floating_base_is_locked_at_a_pose():
    robot = cy.load("planar2r", floating_base=True)
    pose = [0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5]
    held = robot.locked({"root_joint": pose})
    np.testing.assert_allclose(held.pose([0.3, 0.4], "tool"), robot.pose([*pose, 0.3, 0.4], "tool"), atol=1e-15)
    with pytest.raises(CayleyError, match="quaternion"):
        robot.locked({"root_joint": [0.0] * 7})


# Made one


@pytest.mark.parametrize("name", ["panda.urdf", "tiago_no_hand.urdf"])
@pytest.mark.filterwarnings("ignore::cayley.errors.ModelWarning")
def test_bodies_that_move_as_one_are_one_and_nothing_else_changes(name):
    arm = cy.Mechanism(cy.load(PATHS[name], missing_mass=0.0).tree.spanning_tree())
    one = arm.variants.reduced()
    assert len(one.bodies) == len(one.joint_names) + 1 and one.joint_names == arm.joint_names
    own = state(arm)
    np.testing.assert_allclose(one.inverse_dynamics(*own), arm.inverse_dynamics(*own), rtol=1e-9, atol=1e-9)
    for frame in arm.frame_names:
        np.testing.assert_allclose(one.pose(own[0], frame), arm.pose(own[0], frame), atol=1e-12)
        break
    last = arm.frame_names[-1]
    np.testing.assert_allclose(one.pose(own[0], last), arm.pose(own[0], last), atol=1e-12)
    assert len(one.shapes) == len(arm.shapes)


@pytest.mark.parametrize("name", ["four_bar", "two_wheel_robot"])
def test_constraints_are_the_same_after_bodies_are_made_one(name):
    machine = cy.load(name)
    loaded = machine.with_payload("tool" if "tool" in machine.frame_names else machine.tree.body_names[-1], 0.5,
                                  center=[0.01, 0.02, 0.03])
    one = loaded.variants.reduced()
    assert one.loops.mobility == machine.loops.mobility and one.actuated_joints == machine.actuated_joints
    q = machine.random_configuration(seed=4)
    qd = machine.loops.consistent_velocity(q, np.random.default_rng(1).normal(size=machine.nv))
    tau = np.random.default_rng(2).normal(size=machine.nv)
    expected = loaded.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(one.forward_dynamics(q, qd, tau), expected, atol=1e-7 * np.abs(expected).max())


def test_rotors_on_other_bodies_and_motors_come_along():
    arm = cy.load("planar3r").with_payload("tool", 1.0, name="load")
    arm = arm.with_drive("joint3", mass=0.5, inertia=1e-3, gear=20.0, carrier="link1", place=TURNED).with_drive(
        "joint2", stiffness=500.0, inertia=1e-3, gear=10.0)
    locked = arm.locked({"joint2": 0.4})
    one = locked.variants.reduced()
    assert one.joints[-1].rotor.carrier == "link1" and one.tree.body_names == ("base", "link1", "link3")
    whole = locked.including("geared drives")
    small = one.including("geared drives")
    own = state(whole, seed=5)
    np.testing.assert_allclose(small.kinetic_energy(*own[:2]), whole.kinetic_energy(*own[:2]), rtol=1e-12)
    soft = arm.including("elastic drives")
    again = soft.variants.reduced()
    assert again.joint_names == soft.joint_names and again.tree.included == soft.tree.included


# Parts


def test_a_part_moves_as_it_does_in_the_whole():
    arm = cy.load("puma560")
    q, qd, qdd = state(arm, seed=7)
    part = arm.variants.subtree("link3", q)
    assert part.joint_names == ("joint4", "joint5", "joint6")
    np.testing.assert_allclose(arm.pose(q, "tool"), arm.pose(q, "link3") @ part.pose(q[3:], "tool"), atol=1e-13)
    still = np.concatenate([np.zeros(3), qd[3:]])
    expected = arm.inverse_dynamics(q, still, np.concatenate([np.zeros(3), qdd[3:]]))[3:]
    np.testing.assert_allclose(part.inverse_dynamics(q[3:], qd[3:], qdd[3:]), expected, rtol=1e-11, atol=1e-11)


def test_a_leg_of_a_floating_robot_is_a_mechanism():
    robot = cy.load(PATHS["go2.urdf"], floating_base=True)
    leg = robot.variants.subtree("FL_hip")
    assert leg.joint_names == ("FL_thigh_joint", "FL_calf_joint") and leg.name == "FL_hip of go2_description"
    upside = np.array(robot.neutral)
    upside[3:7] = 0.0, 1.0, 0.0, 0.0
    np.testing.assert_allclose(robot.variants.subtree("FL_hip", upside).gravity, [0, 0, 9.81], atol=1e-14)


def test_what_ties_a_part_to_the_rest_is_named():
    with pytest.raises(ModelError, match=r"carries is tied to the rest of four_bar: loop .*without_constraints"):
        cy.load("four_bar").variants.subtree("coupler")
    assert cy.load("four_bar").variants.subtree(cy.load("four_bar").tree.body_names[0]).loops.mobility == 1
    arm = cy.load("planar3r")
    follows = arm.variants.with_joints(replace(arm.joints[2], mimic=Mimic("joint1", 2.0)))
    with pytest.raises(ModelError, match=r"'joint3' mimics 'joint1'; `spanning_tree"):
        follows.variants.subtree("link1")
    assert follows.variants.subtree("link3").nv == 0 and follows.variants.subtree("base").loops.mobility == 2
    with pytest.raises(ModelError, match=r"tied to the rest of planar2r: .*without_constraints\('gears'\)"):
        geared().variants.subtree("link1")
    hand = cy.load("panda_hand").variants.subtree("panda_hand")
    assert hand.tree.mimic_joints and hand.loops.mobility == 1 and hand.actuated_joints == ("panda_finger_joint1",)
    rotor = cy.load("planar3r").with_drive("joint3", mass=0.1, inertia=1e-4, carrier="base", place=np.eye(4))
    with pytest.raises(ModelError, match="rotor of joint 'joint3' of planar3r is on 'base', which is not in the part"):
        rotor.variants.subtree("link2")
    soft = cy.load("planar3r").with_drive("joint3", stiffness=1e3, inertia=1e-3).including("elastic drives", "friction")
    assert soft.variants.subtree("link1").joint_names == ("joint2", "joint3", "joint3 motor")
    assert soft.variants.subtree("link2").tree.included == {"elastic drives", "friction"}
    only = cy.load("planar3r").with_drive("joint1", stiffness=1e3, inertia=1e-3).including("elastic drives")
    assert only.variants.subtree("link1").tree.included == frozenset()
    with pytest.raises(ModelError, match="no body 'arm'"):
        cy.load("panda").variants.subtree("arm")


# Attached


@pytest.mark.filterwarnings("ignore::cayley.errors.ModelWarning")
def test_an_arm_on_a_robot_is_what_pinocchio_appends():
    base = cy.load(PATHS["go2.urdf"], floating_base=True, missing_mass=0.0, exact_angles=False)
    arm = cy.load(PATHS["double_pendulum.urdf"], missing_mass=0.0, exact_angles=False)
    model = pin.buildModelFromUrdf(PATHS["go2.urdf"], pin.JointModelFreeFlyer())
    other = pin.buildModelFromUrdf(PATHS["double_pendulum.urdf"])
    both = pin.appendModel(model, other, model.getFrameId("base"), pin.SE3(TURNED))
    made = base.attached(arm, at="base", pose=TURNED)
    assert made.nv == both.nv == base.nv + arm.nv
    own = state(made, seed=8)
    np.testing.assert_allclose(made.inverse_dynamics(*own), forces(both, made, *own), rtol=1e-9, atol=1e-9)


def test_two_of_the_same_have_prefixes_and_are_what_mujoco_attaches():
    hand = cy.load("panda_hand").variants.subtree("panda_hand")
    torso = cy.Mechanism.of("torso", [Body("world", 0.0), Body("torso", 5.0, inertia=0.1 * np.eye(3))],
                            [Joint("turn", "world", "torso", Revolute())], frames=[
                                Frame("left", "torso", at(0, 0.2, 0.3)), Frame("right", "torso", at(0, -0.2, 0.3))])
    both = torso.attached(hand, at="left", prefix="l_").attached(hand, at="right", prefix="r_", pose=TURNED)
    assert both.joint_names == ("turn", *[f"{side}_panda_finger_joint{k}" for side in "lr" for k in (1, 2)])
    assert both.loops.mobility == 3 and both.configurations["ready"].shape == (5,)
    hand = hand.with_gravity(torso.gravity)
    spec = mujoco.MjSpec.from_string(_mjcf(torso))
    for side, place in (("l_", at(0, 0.2, 0.3)), ("r_", at(0, -0.2, 0.3) @ TURNED)):
        frame = spec.body("torso").add_frame(pos=place[:3, 3])
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, place[:3, :3].ravel())
        frame.quat = quaternion
        frame.attach_body(mujoco.MjSpec.from_string(_mjcf(hand)).worldbody.first_body(), side, "")
    model = spec.compile()
    data = mujoco.MjData(model)
    q = state(cy.Mechanism(both.tree.spanning_tree()), seed=9)[0]
    for joint, own in zip([j for j in both.joints if j.motion.nv], range(5), strict=True):
        data.qpos[model.joint(joint.name).qposadr[0]] = q[own]
    mujoco.mj_forward(model, data)
    for name in ("l_panda_leftfinger", "r_panda_rightfinger"):
        np.testing.assert_allclose(both.pose(q, name)[:3, 3], data.body(name).xpos, atol=1e-12)
        np.testing.assert_allclose(both.pose(q, name)[:3, :3], data.body(name).xmat.reshape(3, 3), atol=1e-12)


def _mjcf(arm):
    from cayley.model.formats.mjcf_text import dump_mjcf
    return dump_mjcf(arm.tree.spanning_tree(), leave_out=True)


def test_a_body_is_attached_by_a_joint():
    plate = Body("plate", 2.0, [0.1, 0, 0], 0.01 * np.eye(3))
    arm = cy.load("planar2r").attached(plate, at="tool", motion=Prismatic((1.0, 0.0, 0.0)))
    assert arm.joint_names == ("joint1", "joint2", "mount of plate") and arm.actuated_joints == ("joint1", "joint2")
    by_hand = cy.Mechanism(cy.load("planar2r").tree.with_parts(
        [*arm.bodies[:3], plate], [*arm.joints[:2], Joint("slide", "link2", "plate", Prismatic((1.0, 0.0, 0.0)),
                                                          arm.tree.frame("tool").pose)]))
    own = state(arm)
    np.testing.assert_allclose(arm.inverse_dynamics(*own), by_hand.inverse_dynamics(*own), atol=1e-13)
    fixed = cy.load("planar2r").attached(plate, at="tool")
    payload = cy.load("planar2r").with_payload("tool", 2.0, center=[0.1, 0, 0], inertia=0.01 * np.eye(3))
    own = state(payload)
    np.testing.assert_allclose(fixed.inverse_dynamics(*own), payload.inverse_dynamics(*own), atol=1e-13)


def test_what_cannot_be_attached_is_named():
    arm = cy.load("planar2r")
    with pytest.raises(ModelError, match=r"both have a 'link1': give .* or what is attached a prefix"):
        arm.attached(arm, at="tool")
    rough = arm.with_friction("joint1", viscous=1.0).including("friction")
    with pytest.raises(ModelError, match="planar2r has 'friction' in its dynamics, and panda has not"):
        cy.load("panda").attached(rough, at="tool")
    assert rough.attached(cy.load("panda"), at="tool").tree.included == {"friction"}
    skate = cy.load("planar2r").variants.with_constraints(Pfaffian("skate", ("joint1", "joint2"), ("sin(joint1)", "1")))
    with pytest.raises(UnsupportedError, match="the pfaffian 'skate' has names of joints in its formulas"):
        cy.load("panda").attached(skate, at="tool", prefix="a ")
    with pytest.raises(ModelError, match="is not a pose"):
        cy.load("panda").attached(arm, at="tool", pose=np.ones((4, 4)))


def test_constraints_and_drives_come_along_with_their_prefix():
    rods = cy.load("five_bar")
    arm = rods.with_drive(rods.actuated_joints[0], stiffness=1e3, inertia=1e-3, gear=5.0)
    both = cy.load("planar2r").attached(arm, at="tool", prefix="x ")
    assert both.loops.mobility == 2 + rods.loops.mobility
    assert both.actuated_joints == ("joint1", "joint2", *[f"x {name}" for name in rods.actuated_joints])
    assert both.including("elastic drives").nv == both.nv + 1
    tied = cy.load("planar3r").variants.with_constraints(Rod("strut", "base", "link3", 0.7), Coupling(
        "gears", ("joint1", "joint2"), (1.0, 2.0)))
    made = cy.load("planar2r").attached(tied, at="tool", prefix="x ")
    assert [each.name for each in made.tree.constraints] == ["x strut", "x gears"]
    assert made.tree.constraints[0].frames == ("x base", "x link3")
    assert made.tree.constraints[1].coordinates == ("x joint1", "x joint2")
    q = made.random_configuration(seed=1)
    np.testing.assert_allclose(tied.loops.residual(q[2:]), 0.0, atol=1e-9)


def test_locked_joints_are_freed_after_they_were_attached():
    arm = cy.load("planar2r").locked({"joint1": 0.5})
    both = cy.load("planar3r").attached(arm, at="tool", prefix="x ", pose=TURNED)
    freed = both.variants.freed("x joint1")
    q = np.array([0.1, 0.2, 0.3, 0.5, 0.7])
    np.testing.assert_allclose(freed.pose(q, "x tool"), both.pose(np.delete(q, 3), "x tool"), atol=1e-14)
    straight = cy.load("planar3r").attached(cy.load("planar2r"), at="tool", prefix="x ", pose=TURNED)
    q = np.random.default_rng(0).normal(size=5)
    np.testing.assert_allclose(freed.pose(q, "x tool"), straight.pose(q, "x tool"), atol=1e-14)


# Numbers


def test_masses_limits_friction_and_armature_in_one_line():
    arm = cy.load("panda")
    heavy = arm.variants.with_body("panda_link7", mass=1.5, center=[0.0, 0.0, 0.1])
    assert (heavy.bodies[7].mass, heavy.bodies[7].center.tolist()) == (1.5, [0.0, 0.0, 0.1])
    np.testing.assert_array_equal(heavy.bodies[7].inertia, arm.bodies[7].inertia)
    assert arm.bodies[7].mass != 1.5
    narrow = arm.with_joint("panda_joint1", lower=-1.0, effort=10.0)
    assert narrow.joints[0].limits == replace(arm.joints[0].limits, lower=(-1.0,), effort=(10.0,))
    slides = arm.with_joint("panda_joint1", motion=Prismatic(), placement=at(1.0))
    assert slides.joints[0].motion.word == "prismatic" and slides.joints[0].placement[0, 3] == 1.0
    for wrong in ({"lower": 5.0}, {"upper": "a"}, {"velocity": [1.0, 2.0]}, {"placement": np.ones((4, 4))}):
        with pytest.raises(ModelError):
            arm.with_joint("panda_joint1", **wrong)
    with pytest.raises(ModelError, match="no body 'panda_link77'"):
        arm.variants.with_body("panda_link77", mass=1.0)
    rough = arm.with_friction(arm.joint_names, viscous=0.5, coulomb=np.arange(7.0))
    assert [joint.friction.coulomb for joint in rough.joints] == list(range(7))
    for wrong in ([1.0, 2.0], "a", np.ones((7, 7))):
        with pytest.raises(ModelError, match="viscous friction must be a number, or one for each of"):
            arm.with_friction(arm.joint_names, viscous=wrong)


def test_armature_is_the_diagonal_of_the_mass_matrix_beside_mujoco():
    arm = cy.load("planar2r").variants.with_joints(replace(cy.load("planar2r").joints[0], rotor=Rotor(1e-4, 50.0)))
    driven = arm.variants.with_armature(("joint1", "joint2"), [0.3, 0.2]).including("armature")
    assert driven.joints[0].rotor.gear == 50.0 and driven.joints[0].rotor.reflected == pytest.approx(0.3)
    model = mujoco.MjModel.from_xml_string(_mjcf(driven))
    data, q = mujoco.MjData(model), np.array([0.3, 0.8])
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    M = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, M) if mujoco.mj_versionString() >= "3.5" else mujoco.mj_fullM(model, M, data.qM)
    np.testing.assert_allclose(driven.inertia_matrix(q), M, rtol=1e-10)
    for wrong in (-1.0, np.nan, np.inf, [1.0, 2.0, 3.0]):
        with pytest.raises(ModelError, match="armature"):
            arm.variants.with_armature(("joint1", "joint2"), wrong)
    fixed = next(joint.name for joint in cy.load("panda_hand").joints if not joint.motion.nv)
    with pytest.raises(ModelError, match="is fixed: it has no drive and no friction"):
        cy.load("panda_hand").variants.with_armature(fixed, 1.0)
    with pytest.raises(ModelError, match="is a body, whose numbers say its inertia"):
        arm.with_drive("joint1", mass=1.0, inertia=1e-3).variants.with_armature("joint1", 1.0)


@pytest.mark.parametrize(("mass", "inertia", "words"), [
    (2.0, np.diag([1.0, 1.0, 3.0]), "triangle inequality fails"), (2.0, -np.eye(3), "negative"),
    (0.0, np.eye(3), "there is no mass, but an inertia"), (2.0, [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], "not symmetric")])
@pytest.mark.spec("S1-05")
def test_impossible_inertias_are_refused_by_all_who_take_bodies(mass, inertia, words):
    """One answer: an error where the numbers of a body are given, a warning where a mechanism is made of bodies, which
    may be those of a maker's file.
    """
    arm = cy.load("planar2r")
    inertia = np.array(inertia, dtype=float)
    for convention in ("standard", "modified"):
        for about in ("center", "origin"):
            with pytest.raises(ModelError, match=words):
                cy.Mechanism.from_dh([(0, 0, 1, 0.3)], convention=convention, masses=[mass], inertias=[inertia],
                                     inertia_about=about)
    if words == "not symmetric":
        return
    stone = Body("stone", mass, inertia=inertia)
    with pytest.raises(ModelError, match=f"'stone'.*{words}"):
        arm.attached(stone, at="tool")
    with pytest.warns(ModelWarning, match=f"one: no rigid body has the mass properties of 'stone'.*{words}"):
        cy.Mechanism.of("one", [Body("base"), stone], [Joint("j", "base", "stone", Revolute())])
    with pytest.raises(ModelError, match=f"no rigid body has the mass properties of 'payload1': .*{words}"):
        arm.with_payload("tool", mass, inertia=inertia)
    with pytest.raises(ModelError, match=f"no rigid body has the mass properties of 'link2': .*{words}"):
        arm.variants.with_body("link2", mass=mass, inertia=inertia)
    with pytest.raises(ModelError, match="mass"):
        arm.with_payload("tool", -1.0)
    for possible in ([1.0, 1.0, 2.0], [0.0, 0.0, 3.0]):  # a plate, and what a planar model says
        assert arm.with_payload("tool", 2.0, inertia=np.diag(possible)).nv == 2


IMPOSSIBLE = {
    "urdf": """<robot name="r"><link name="base"/><link name="stone"><inertial><mass value="2"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="{ixy}" ixz="0" iyz="0"/></inertial></link>
        <joint name="j" type="continuous"><parent link="base"/><child link="stone"/><axis xyz="0 0 1"/></joint>
        </robot>""",
    "sdf": """<sdf version="1.9"><model name="r"><link name="stone"><inertial><mass>2</mass><inertia><ixx>1</ixx>
        <iyy>1</iyy><izz>1</izz><ixy>{ixy}</ixy></inertia></inertial></link><joint name="j" type="continuous">
        <parent>world</parent><child>stone</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>""",
    "xml": """<mujoco><compiler balanceinertia="false"/><worldbody><body name="stone"><joint name="j" axis="0 0 1"/>
        <inertial mass="2" pos="0 0 0" fullinertia="1 1 1 {ixy} 0 0"/></body></worldbody></mujoco>""",
    "toml": """name = "r"
        [[bodies]]
        name = "base"
        [[bodies]]
        name = "stone"
        mass = 2.0
        inertia = [[1.0, {ixy}, 0.0], [{ixy}, 1.0, 0.0], [0.0, 0.0, 1.0]]
        [[joints]]
        name = "j"
        kind = "revolute"
        parent = "base"
        child = "stone" """}


@pytest.mark.parametrize("ending", ["urdf", "sdf", "toml"])
@pytest.mark.parametrize(("ixy", "words"), [(5.0, "I1 is negative: -4"), (0.8, "I3 = 1.8 exceeds I1 .* by 0.6")])
def test_files_with_impossible_inertias_are_read_with_a_warning(tmp_path, ending, ixy, words):
    """Makers' files have such bodies: they are read, named with their numbers, and stay as they are afterwards."""
    file = tmp_path / f"robot.{ending}"
    file.write_text(IMPOSSIBLE[ending].format(ixy=ixy))
    said = rf"(?s)robot.{ending}: no rigid body has the mass properties of 'stone': .*{words}.*with_body"
    with pytest.warns(ModelWarning, match=said):
        arm = cy.load(file)
    assert arm.bodies[1].inertia[0, 1] == ixy
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file.write_text(IMPOSSIBLE[ending].format(ixy=0.3))
        assert cy.load(file).nv == arm.with_payload("stone", 1.0).nv == 1
        assert cy.load("puma560").nv == 6  # a catalogue's numbers are the published ones: its report says what is odd


def test_an_mjcf_file_with_impossible_inertias_is_refused_or_told(tmp_path):
    """MuJoCo itself refuses what no body can have."""
    file = tmp_path / "robot.xml"
    for ixy in (5.0, 0.8):
        file.write_text(IMPOSSIBLE["xml"].format(ixy=ixy))
        with pytest.raises(ModelError, match="inertia"):
            cy.load(file)


def test_limits_of_a_joint_of_another_kind_are_not_kept():
    arm = cy.load("panda").with_joint("panda_joint4", lower=-2.0, upper=-1.0)
    ball = arm.with_joint("panda_joint4", motion=Spherical())
    assert ball.nq == 10 and ball.joints[3].limits.upper == (np.inf,) * 4


@pytest.mark.parametrize("change", [
    lambda arm: arm.locked(5), lambda arm: arm.variants.freed(5), lambda arm: arm.attached("hand", at="tool"),
    lambda arm: arm.attached(arm, at="tool", prefix=3), lambda arm: arm.with_joint("joint1", motion="prismatic"),
    lambda arm: arm.variants.with_body("link1", mass="heavy"), lambda arm: arm.variants.subtree(3),
    lambda arm: arm.with_friction("joint1", viscous=np.nan), lambda arm: arm.variants.with_armature("elbow", 1.0)])
def test_what_is_no_part_and_no_number_is_refused(change):
    with pytest.raises(ModelError, match=r"\w"):
        change(cy.load("planar2r"))
