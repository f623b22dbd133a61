"""Elastic drives: arms with rotors and springs against Pinocchio, closed forms and worked examples."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import sympy

import cayley as cy
from cayley.dynamics.identification import (
    Measurements,
    base_parameters,
    least_squares,
    structural_base_parameters,
)
from cayley.dynamics.rigid_links.spatial_operators import links_and_rotors, operators
from cayley.errors import ModelError
from cayley.model.denavit_hartenberg.table import modified_dh_pose
from cayley.model.joint_kinds import Curvilinear, Cylindrical, Floating, Prismatic, Revolute, Spherical
from cayley.model.parts import Body, Joint
from cayley.model.winding import Winding
from dynamics.elastic_arms import pinocchio_arm, planar_arm, spatial_arm, spring_torques


@pytest.fixture(scope="module", params=["RPRR", "PRP"])
def arm(request):
    return spatial_arm(request.param)


@pytest.fixture(scope="module")
def soft(arm):
    return arm.including("elastic drives")


def states(mechanism, size=20, seed=1):
    return np.random.default_rng(seed).normal(size=(3, size, mechanism.nv))


@pytest.mark.spec("S0-49")
def test_inverse_dynamics_is_that_of_a_tree_of_links_and_rotors_with_springs_between(arm, soft):
    model = pinocchio_arm(arm)
    data = model.createData()
    q, qd, qdd = states(soft)
    expected = np.array([pin.rnea(model, data, *state) for state in zip(q, qd, qdd, strict=True)])
    found = soft.inverse_dynamics(q, qd, qdd)
    assert np.abs(found - expected - spring_torques(arm, q, qd)).max() < 1e-11 * np.abs(found).max()


@pytest.mark.spec("S0-50")
def test_forward_dynamics_is_the_inverse_of_inverse_dynamics_by_every_method(soft):
    q, qd, qdd = states(soft)
    tau = soft.inverse_dynamics(q, qd, qdd)
    for method in ("composite-bodies", "articulated-bodies"):
        found = soft.forward_dynamics.using(method)(q, qd, tau)
        assert np.abs(found - qdd).max() < 1e-10


def test_derivatives_are_those_of_differences(soft):
    q, qd, qdd = (state[0] for state in states(soft))
    found = soft.linearize(q, qd, qdd)
    h = 1e-6
    P = [(soft.inverse_dynamics(q + h * e, qd, qdd) - soft.inverse_dynamics(q - h * e, qd, qdd)) / (2 * h)
         for e in np.eye(soft.nv)]
    V = [(soft.inverse_dynamics(q, qd + h * e, qdd) - soft.inverse_dynamics(q, qd - h * e, qdd)) / (2 * h)
         for e in np.eye(soft.nv)]
    np.testing.assert_allclose(found.P, np.transpose(P), atol=1e-6 * np.abs(found.P).max())
    np.testing.assert_allclose(found.V, np.transpose(V), atol=1e-6 * np.abs(found.V).max())
    tau = soft.inverse_dynamics(q, qd, qdd)
    forward = soft.forward_derivatives(q, qd, tau)
    np.testing.assert_allclose(found.D @ forward.by_q, -found.P, atol=1e-8 * np.abs(found.P).max())


def test_the_planar_arm_of_the_worked_example():
    """WE-13: link and rotor torques, without the springs'."""
    soft = planar_arm().including("elastic drives")
    q = np.array([0.3, 0.5, 0.35, 0.6])
    qd = np.array([1.0, -0.5, 2.0, 1.0])
    tau = soft.inverse_dynamics(q, qd, [0.4, 0.7, -1.0, 3.0]) - spring_torques(planar_arm(), q, qd)
    np.testing.assert_allclose(tau, [33.766749268, 4.973090829, -0.01, 0.068], atol=1e-9)


def test_drives_of_either_model_are_taken_out_again():
    arm = planar_arm()
    soft = arm.including("elastic drives")
    assert soft.joint_names == ("joint1", "joint2", "joint1 motor", "joint2 motor")
    assert soft.actuated_joints == ("joint1 motor", "joint2 motor")
    assert arm.including("reduced elastic drives").including("armature").joint_names == arm.joint_names
    assert soft.including().actuated_joints == arm.actuated_joints
    stiffer = soft.with_drive("joint1", stiffness=300.0, inertia=0.1, gear=2.0)
    assert stiffer.joints[0].spring.stiffness == 300.0
    assert stiffer.inertia_matrix(np.zeros(4))[2, 2] == 0.1


def test_what_has_no_spring_is_refused_by_name():
    with pytest.raises(ModelError, match="panda has no elastic drives"):
        cy.load("panda").including("elastic drives")
    with pytest.raises(ModelError, match="gear of joint 'joint1' is 0"):
        planar_arm().with_drive("joint1", stiffness=1.0, gear=0.0)
    with pytest.raises(ModelError, match="gear of joint 'joint1' is 0"):
        planar_arm().with_drive("joint1", inertia=1.0, gear=0)


@pytest.mark.spec("S0-50")
def test_operators_of_links_and_rotors_give_the_same_by_every_method(soft):
    q, qd, qdd = states(soft)
    tau = soft.inverse_dynamics(q, qd, qdd)
    size = np.abs(tau).max()
    assert np.abs(soft.inverse_dynamics.using("links-and-rotors")(q, qd, qdd) - tau).max() < 1e-12 * size
    M = soft.inertia_matrix(q)
    assert np.abs(soft.inertia_matrix.using("links-and-rotors")(q) - M).max() < 1e-13 * np.abs(M).max()
    for method in ("links-and-rotors", "composite-links-and-rotors"):
        assert np.abs(soft.forward_dynamics.using(method)(q, qd, tau) - qdd).max() < 1e-10


def test_operators_take_joints_of_every_kind_and_a_floating_base():
    bodies = [Body("base", 3.0, (0.1, 0.0, 0.0), np.eye(3)), Body("ball", 1.0, (0.0, 0.2, 0.0), 0.1 * np.eye(3)),
              Body("arm", 1.0, (0.3, 0.0, 0.0), 0.1 * np.eye(3)), Body("tip", 0.5, (0.0, 0.1, 0.0), 0.1 * np.eye(3)),
              Body("world")]
    joints = [Joint("free", "world", "base", Floating()), Joint("ball", "base", "ball", Spherical()),
              Joint("slide", "ball", "arm", Cylindrical()),
              Joint("bend", "arm", "tip", Curvilinear((0.0, 0.5), (0.0, 0.0, 0.3), (0.0, 0.1)))]
    arm = cy.Mechanism.of("kinds", bodies, joints)
    q = arm.configurations.normalized(np.random.default_rng(1).normal(size=arm.nq))
    qd, qdd = np.random.default_rng(2).normal(size=(2, arm.nv))
    tau = arm.inverse_dynamics.using("newton-euler-in-model-frames").reference(q, qd, qdd)
    np.testing.assert_allclose(arm.inverse_dynamics.using("links-and-rotors").reference(q, qd, qdd), tau, atol=1e-11)
    for method in ("links-and-rotors", "composite-links-and-rotors"):
        np.testing.assert_allclose(arm.forward_dynamics.using(method).reference(q, qd, tau), qdd, atol=1e-10)


@pytest.mark.spec("S0-48")
def test_power_of_forces_and_motions_is_the_same_on_both_sides_of_an_operator(soft):
    """S0-48: t.V does not change from a body to its carrier, for links and for rotors beside their joints."""
    rng = np.random.default_rng(3)
    arm = links_and_rotors(soft.tree)
    q = rng.normal(size=soft.nq)
    assert len(arm.rotors) == len(arm.bars)
    for link in arm.links.links:
        of = operators(link, q)
        V, t = rng.normal(size=(2, 6))
        pose = np.eye(4)
        pose[:3, :3] = link.rotation(q)
        pose[:3, 3] = link.offset(q)
        there = pin.SE3(pose)
        twist = there.actInv(pin.Motion(V[3:], V[:3]))
        np.testing.assert_allclose(of.Phi @ V, [*twist.angular, *twist.linear], atol=1e-13)
        assert abs((of.Phi @ V) @ t - V @ (of.Phi.T @ t)) < 1e-13
        own = pin.Inertia(link.moments.mass, link.moments.first / link.moments.mass, np.zeros((3, 3)))
        momentum = own * pin.Motion(V[3:], V[:3])
        np.testing.assert_allclose((of.M @ V)[3:], momentum.linear, atol=1e-13)


def test_stiffness_and_damping_are_identified_with_the_inertias(soft):
    model = soft.identification.linear_model()
    q, qd, qdd = states(soft, 400)
    np.testing.assert_allclose(np.einsum("kij,j->ki", model.regressor(q, qd, qdd), model.values),
                               soft.inverse_dynamics(q, qd, qdd), atol=1e-10)
    base = base_parameters(model)
    assert base.names == structural_base_parameters(model).names
    found = least_squares(base, Measurements(model, q, qd, qdd, soft.inverse_dynamics(q, qd, qdd)))
    estimates = dict(zip(base.names, found.base_values, strict=True))
    for joint in soft.joints:
        if joint.spring:
            assert estimates[f"stiffness({joint.name})"] == pytest.approx(joint.spring.stiffness, rel=1e-9)
            assert estimates[f"damping({joint.name})"] == pytest.approx(joint.spring.damping, abs=1e-7)


def test_springs_and_gears_are_parameters(soft):
    q, qd, qdd = states(soft)
    forces = soft.inverse_dynamics.with_parameters("spring", "gear")
    stiffer = soft.variants.with_joints(replace(soft.joints[0], spring=replace(soft.joints[0].spring, stiffness=5e3)))
    values = forces.parameters.with_values({"joint1.spring.stiffness": 5e3})
    np.testing.assert_allclose(forces(q, qd, qdd, values), stiffer.inverse_dynamics(q, qd, qdd), rtol=1e-12)


def test_equations_have_springs_and_gears_as_letters():
    soft = planar_arm().with_drive("joint2", stiffness=100.0, damping=2.0, gear=-10.0, inertia=0.1).including(
        "elastic drives")
    found = soft.equations(parameters="symbols")
    assert str(found.F[1]) == "d_2*(qd_2 - qd_4/N_2) + k_2*(q_2 - q_4/N_2)"
    numbers = soft.equations().substituted()
    q, qd, qdd = (state[0] for state in states(soft))
    total = numbers.M * sympy.Matrix(qdd) + numbers.V + numbers.G + numbers.F
    at = dict(zip((*numbers.q, *numbers.qd), (*q, *qd), strict=True))
    np.testing.assert_allclose(np.array(total.subs(at), dtype=float)[:, 0], soft.inverse_dynamics(q, qd, qdd),
                               atol=1e-10)


def test_the_arm_with_a_prismatic_joint_of_the_worked_example():
    """WE-16: B, C and G of three links and three actuators, each actuator on the axis of its joint; without springs."""
    alpha, a, theta = (0.3, -1.1, 0.8), (0.1, 0.5, -0.3), (0.0, 0.4, 0.0)
    lengths, offsets = (0.2, 0.0, 0.3), (-0.1, 0.15, 0.05)
    masses = ((0.5, 2.0), (0.4, 1.5), (0.3, 1.0))
    centers = (((0, 0, .02), (.1, .05, -.02)), ((0, 0, .03), (-.04, .02, .1)), ((0, 0, .01), (.06, -.03, .05)))
    tensors = ((np.diag([.02, .02, .03]), [[.2, .02, -.01], [.02, .25, .03], [-.01, .03, .15]]),
               (np.diag([.01, .01, .02]), [[.12, -.01, .02], [-.01, .1, .01], [.02, .01, .08]]),
               (np.diag([.008, .008, .012]), [[.05, .004, 0], [.004, .06, -.006], [0, -.006, .04]]))
    bodies, joints, drives = [Body("base")], [], []
    for i in range(3):
        bodies.append(Body(f"link{i + 1}", masses[i][1], centers[i][1], np.array(tensors[i][1])))
        home = modified_dh_pose(theta[i], lengths[i], a[i], alpha[i])
        motion = Prismatic() if i == 1 else Revolute()
        joints.append(Joint(f"joint{i + 1}", bodies[i].name, bodies[i + 1].name, motion, home))
        drives.append({"stiffness": 1.0, "mass": masses[i][0], "center": centers[i][0], "tensor": tensors[i][0],
                       "place": modified_dh_pose(0.0, offsets[i], a[i], alpha[i])})
    arm = cy.Mechanism.of("WE-16", bodies, joints)
    for joint, drive in zip(joints, drives, strict=True):
        arm = arm.with_drive(joint.name, **drive)
    soft = arm.including("elastic drives")
    own = [3, 0, 4, 1, 5, 2]  # actuator and link, one after the other
    q, qd, qdd = np.zeros((3, 6))
    q[own], qd[own] = (.7, .2, -.4, .35, 1.1, -.6), (1, -.5, .8, .3, -1.2, .9)
    qdd[own] = .2, .4, -.3, .5, .1, -.7
    B = soft.inertia_matrix.reference(q)[np.ix_(own, own)]
    expected = np.zeros((6, 6))
    for place, value in {(1, 1): 0.03, (2, 2): 1.26910909, (2, 3): 0.00907192, (2, 4): 1.00043340, (2, 5): 0.01085844,
                         (2, 6): 0.03896287, (3, 3): 0.02, (4, 4): 2.8, (4, 6): 0.02337208, (5, 5): 0.012,
                         (6, 6): 0.0445}.items():
        expected[place[0] - 1, place[1] - 1] = expected[place[1] - 1, place[0] - 1] = value
    np.testing.assert_allclose(B, expected, atol=1e-7)
    np.testing.assert_allclose((soft.coriolis_matrix.reference(q, qd) @ qd)[own],
                               [0, -0.27009114, 0, -0.22707926, 0, 0.00485767], atol=1e-7)
    np.testing.assert_allclose(soft.gravity_forces.reference(q)[own],
                               [0, 3.65001135, 0, 18.99293671, 0, -0.12442014], atol=1e-7)
    np.testing.assert_allclose((soft.inverse_dynamics.reference(q, qd, qdd) - spring_torques(arm, q, qd))[own],
                               [0.006, 4.3588708, -0.00237123, 20.54967035, 0.00554337, -0.12344128], atol=1e-7)


@pytest.mark.parametrize("model", ["elastic drives", "reduced elastic drives"])
def test_numbers_that_motors_were_given_are_kept_in_files(model, tmp_path):
    """Of parameters that were identified, all that the motors have goes back into the drives of the joints."""
    soft = spatial_arm("RPR").including(model)
    linear = soft.identification.linear_model()
    values = linear.values * np.random.default_rng(8).uniform(1.0, 1.2, linear.size)
    if model != "elastic drives":
        values = linear.values.copy()
        values[[name.startswith("rotor(") for name in linear.names]] *= 1.3
    changed = cy.Mechanism(linear.tree_with(values))
    changed.save(tmp_path / "arm.toml")
    again = cy.load(tmp_path / "arm.toml").including(model)
    q, qd, qdd = (state[0] for state in states(soft))
    expected = changed.inverse_dynamics.reference(q, qd, qdd)
    assert np.abs(expected - soft.inverse_dynamics.reference(q, qd, qdd)).max() > 1e-3
    np.testing.assert_allclose(again.inverse_dynamics.reference(q, qd, qdd), expected,
                               atol=1e-10 * np.abs(expected).max())


def test_a_winding_stays_when_the_numbers_of_its_motor_change():
    winding = Winding(resistance=1.0, torque_constant=0.05)
    arm = cy.load("planar2r").with_drive("joint1", stiffness=100.0, inertia=1e-3, gear=20.0, winding=winding)
    linear = arm.including("elastic drives").identification.linear_model()
    drive = linear.tree_with(1.1 * linear.values).without_motors().joints[0].rotor
    assert drive.winding == winding
    assert drive.inertia == pytest.approx(1.1e-3)
