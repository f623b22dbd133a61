"""Motions of all links and of points: beside complex steps of forward kinematics, 60 digits, Pinocchio and sums."""

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.kernel_family import GIVEN
from cayley.dynamics.inverse import luh_walker_paul
from cayley.dynamics.inverse.passes import forward
from cayley.dynamics.rigid_links.links import serial_chain
from cayley.errors import ConventionError, ModelError
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.jacobians import velocity
from cayley.mechanism import Mechanism
from dynamics.chains import random_chain, random_state
from dynamics.mechanisms import random_mechanism
from dynamics.particles import along, body_poses, derivatives, exact

CHAINS = [("R", {}), ("P", {}), ("PRPR", {}), ("RPRR", {"frames": "any"}), ("RRPRRR", {})]
STEP = 1e-200


def near(found, wanted, tolerance=1e-13):
    np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance * max(1.0, np.abs(wanted).max()))


def vee(T):
    return np.array([T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]]) / 2


def skew(v):
    return np.cross(np.eye(3), v)


@pytest.mark.spec("S1-104")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_complex_steps_of_forward_kinematics(pattern, made):
    """Of poses for the velocities, and of the velocities for the accelerations."""
    tree = random_chain(pattern, 1, **made)
    q, qd, qdd = random_state(tree, 2)
    found = Mechanism(tree).formulations.link_motion.of().reference(q, qd, qdd)
    at = np.array([0.3, -0.2, 0.5])
    point = Mechanism(tree).formulations.point_motion.of("tool", axes="world", at=GIVEN).reference(q, qd, qdd, at)
    for body, *motion in zip([*tree.bodies, tree.frame("tool")], *[(*a, b) for a, b in zip(found, point, strict=True)],
                             strict=True):
        w, dw, Omega, u, du = motion
        arm = at if body.name == "tool" else np.zeros(3)
        pose = frame_pose(tree, q + 1j * STEP * qd, body.name)
        near(u, (pose.p + pose.R @ arm).imag / STEP)
        near(skew(w), pose.R.imag @ pose.R.real.T / STEP)
        if body.name != tree.bodies[0].name:
            rate = velocity.twist(tree, q + 1j * STEP * qd, qd + 1j * STEP * qdd, body.name, axes="world",
                                  at=arm).imag / STEP
            # the point is fixed to the body: the rate of its velocity is its acceleration
            near(du, rate[:3])
            near(dw, rate[3:])
        near(Omega, skew(dw) + skew(w) @ skew(w))


@pytest.mark.spec("S1-104")
@pytest.mark.parametrize(("pattern", "made"), CHAINS)
def test_second_derivatives_of_poses_in_space_and_of_relative_poses(pattern, made):
    """Against own forward kinematics in 60 digits: absolute, seen from the parent, and seen from a named frame."""
    tree = random_chain(pattern, 3, **made)
    arm, state = Mechanism(tree), random_state(tree, 4)

    def poses(t):
        return np.array(body_poses(tree, along(*state, t), exact(np.eye(4))))

    def inverse(T):
        R = T[:3, :3].T
        return np.vstack([np.hstack([R, -(R @ T[:3, 3:])]), exact([[0.0, 0.0, 0.0, 1.0]])])

    def relative(t):
        found = poses(t)
        return np.array([inverse(found[k]) @ found[k + 1] for k in range(len(found) - 1)])

    for name, function in (("world", poses), ("parent", relative)):
        T, Td, Tdd = derivatives(function)
        T0 = derivatives(poses)[0]
        found = arm.formulations.link_motion.of(relative_to=name).reference(*state)
        own = arm.formulations.link_motion.of(relative_to=name, axes="body").reference(*state)
        for k in range(1, len(tree.bodies)):
            number = k if name == "world" else k - 1
            A = np.eye(3) if name == "world" else T0[k - 1][:3, :3]  # axes of the observer
            R, Rd, Rdd = (x[number][:3, :3] for x in (T, Td, Tdd))
            near(found.velocity[k], A @ Td[number][:3, 3])
            near(found.acceleration[k], A @ Tdd[number][:3, 3])
            near(found.angular_velocity[k], A @ vee(Rd @ R.T))
            near(found.tensor[k], A @ Rdd @ R.T @ A.T)
            near(found.angular_acceleration[k], A @ vee(Rdd @ R.T))
            near(own.acceleration[k], T0[k][:3, :3].T @ found.acceleration[k])
            near(own.tensor[k], T0[k][:3, :3].T @ found.tensor[k] @ T0[k][:3, :3])
    _, Td, Tdd = derivatives(lambda t: inverse(poses(t)[1]) @ poses(t)[-1] @ exact(tree.frame("tool").pose))
    tool = arm.formulations.point_motion.of("tool", axes="link1", relative_to="link1").reference(*state)
    near(tool.velocity, Td[:3, 3])
    near(tool.acceleration, Tdd[:3, 3])


@pytest.mark.spec("S1-104")
@pytest.mark.parametrize("pattern", ["R", "P", "PRPR", "RRPRRR"])
def test_recursions_are_sums_and_know_no_gravity(pattern):
    """(6.3.38), (6.3.39) joint by joint; and the accelerations of Algorithm 5.3, which carry -g, are these only when
    it is taken away."""
    tree = random_chain(pattern, 5)
    state = random_state(tree, 6)
    found = Mechanism(tree).formulations.link_motion.of(axes="body").reference(*state)
    chain = serial_chain(tree)
    start = luh_walker_paul.LinkState(np.zeros(3), np.zeros(3), -chain.gravity)
    for k, (body, own) in enumerate(zip(tree.bodies[1:], forward(chain, start, luh_walker_paul.forward_cycle, *state),
                                        strict=True), 1):
        R = frame_pose(tree, state[0], body.name).R
        near(own.w, found.angular_velocity[k])
        near(own.wd, found.angular_acceleration[k])
        near(own.sdd + R.T @ chain.gravity, found.acceleration[k])
        assert np.abs(own.sdd - found.acceleration[k]).max() > 1.0
        for method in ("sum", "running", "link"):
            near(velocity.twist(tree, *state[:2], body.name, axes="body", method=method),
                 np.concatenate([found.velocity[k], found.angular_velocity[k]]))
            near(velocity.acceleration(tree, *state, body.name, axes="body", method=method),
                 np.concatenate([found.acceleration[k], found.angular_acceleration[k]]))
    afloat = Mechanism(tree.with_gravity((0, 0, 0))).formulations.link_motion.of(axes="body").reference(*state)
    np.testing.assert_array_equal(afloat.acceleration, found.acceleration)


@pytest.mark.spec("S1-104")
@pytest.mark.parametrize("seed", [0, 1])
def test_trees_with_every_kind_of_joint_as_in_pinocchio(seed):
    arm, _, state, there = random_mechanism(seed)
    found = arm.formulations.link_motion.of().reference(*state)
    for k, body in enumerate(arm.bodies[1:], 1):
        near(np.concatenate([found.velocity[k], found.angular_velocity[k]]),
             there.twist(*state[:2], body.name, "world"), 1e-11)
        near(np.concatenate([found.acceleration[k], found.angular_acceleration[k]]),
             there.acceleration(*state, body.name, "world"), 1e-11)
    between = arm.formulations.link_motion.of(relative_to="frame2").reference(*state)
    k = arm.tree.body_number("body5")
    point = arm.formulations.point_motion.of("body5", axes="world", relative_to="frame2").reference(*state)
    for of_all, of_one in zip(between, point, strict=True):
        near(of_all[k], of_one)
    at_rest = arm.tree.body_number(arm.tree.frame("frame2").body)
    assert np.abs(between.angular_velocity[at_rest]).max() < 1e-14
    assert np.abs(between.velocity[at_rest]).max() < 1e-13 and np.abs(between.acceleration[at_rest]).max() < 1e-12


def test_calls_batches_loops_and_refusals():
    arm = cy.load("s1_f6")
    state = np.random.default_rng(7).normal(size=(3, 5, 4))
    found = arm.formulations.link_motion(*state, axes="body", relative_to="parent")
    assert found.tensor.shape == (5, 5, 3, 3) and not found.velocity[:, 0].any()
    assert arm.formulations.link_motion(*state[:, :0]).velocity.shape == (0, 5, 3)
    assert arm.formulations.link_motion(*state.astype(np.float32)).velocity.dtype == np.float32
    here = arm.formulations.point_motion(*state, "tool", axes="world", at=[0.1, 0.0, 0.2])
    near(here.acceleration, arm.acceleration(*state, "tool", axes="world", at=[0.1, 0.0, 0.2])[..., :3], 1e-12)
    bar = cy.load("four_bar")  # of the state, whatever ties the joints
    state = np.random.default_rng(8).normal(size=(3, 3))
    np.testing.assert_array_equal(bar.formulations.link_motion(*state).velocity,
                                  bar.variants.spanning_tree().formulations.link_motion(*state).velocity)
    with pytest.raises(ModelError, match="no frame or body 'elbow'"):
        arm.formulations.link_motion(*np.zeros((3, 4)), relative_to="elbow")
    with pytest.raises(ConventionError, match="parent"):
        arm.formulations.link_motion(*np.zeros((3, 4)), axes="parent")
