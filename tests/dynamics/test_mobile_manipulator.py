"""An arm on a robot that rolls, as one mechanism: beside the arm on a fixed base, the robot with the arm as a load, and
the balance of momentum with the reactions of the floor."""

from functools import cache

import numpy as np
import pytest

import cayley as cy
from cayley.model.constraint_kinds import Coupling
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint

Y = (0.0, 1.0, 0.0)
ARM = np.array([0.4, 0.8])


def at(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def links():
    return [Body("upper", 2.0, [0, 0, 0.2], np.diag([0.03, 0.03, 0.002])),
            Body("lower", 1.0, [0, 0, 0.15], np.diag([0.01, 0.01, 0.001]))]


def on(body, place):
    return [Joint("shoulder", body, "upper", Revolute(Y), place),
            Joint("elbow", "upper", "lower", Revolute(Y), at(z=0.4))]


@cache
def carried(*locked):
    """The robot with the arm; joints in `locked` are held by constraints."""
    robot = cy.load("two_wheel_robot")
    held = [Coupling(f"{name} locked", (name,), (1.0,), value) for name, value in locked]
    return cy.Mechanism.of("mobile", [*robot.bodies, *links()], [*robot.joints, *on("chassis", at(0.1, 0, 0.1))],
                           constraints=[*robot.tree.constraints, *held], actuated=["left", "right", "shoulder",
                                                                                   "elbow"])


def state(arm, seed=0):
    random = np.random.default_rng(seed)
    q = np.array([0.3, -0.2, 0.7, 0.1, 0.2, 0.5, 0.3, *ARM])
    return q, arm.loops.consistent_velocity(q, random.normal(size=9)), random.normal(size=9)


@pytest.mark.spec("S0-82")
def test_with_its_wheels_locked_the_arm_is_that_of_a_fixed_base():
    arm = carried(("left", 0.1), ("right", 0.2))
    q = np.array([0.3, -0.2, 0.7, 0.1, 0.2, 0.5, 0.3, *ARM])
    qd = np.array([*[0.0] * 7, 0.6, -1.1])
    tau = np.array([*[0.0] * 7, 1.5, -0.7])
    fixed = cy.Mechanism.of("fixed", [Body("base"), *links()], on("base", at()))
    qdd = arm.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(qdd[:7], 0.0, atol=1e-10)
    np.testing.assert_allclose(qdd[7:], fixed.forward_dynamics(q[7:], qd[7:], tau[7:]), rtol=1e-10)


@pytest.mark.spec("S0-82")
def test_with_its_arm_locked_it_is_a_robot_with_a_load():
    arm = carried(("shoulder", ARM[0]), ("elbow", ARM[1]))
    robot = cy.load("two_wheel_robot")
    fixed = cy.Mechanism.of("load", [Body("base"), *links()], on("base", at(0.1, 0, 0.1)))
    upper, lower = (fixed.pose(ARM, name) for name in ("upper", "lower"))
    loaded = robot
    for body, pose in zip(links(), (upper, lower), strict=True):
        frame = f"place of {body.name}"
        loaded = loaded.with_frame(frame, "chassis", pose).with_payload(frame, body.mass, center=body.center,
                                                                         inertia=body.inertia)
    q, qd, tau = state(arm)
    tau[7:] = 0.0
    np.testing.assert_allclose(qd[7:], 0.0, atol=1e-12)
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau)[:7], loaded.forward_dynamics(q[:7], qd[:7], tau[:7]),
                               rtol=1e-9, atol=1e-9)


@pytest.mark.spec("S0-82")
def test_the_reactions_of_the_floor_change_the_momentum():
    arm = carried()
    assert arm.loops.mobility == 4
    q, qd, tau = state(arm)
    tau[:3] = 0.0  # nothing but the floor acts from outside in the plane
    qdd = arm.forward_dynamics(q, qd, tau)
    step = 1e-6
    sooner, later = (arm.momentum(arm.integrate(q, way * step * qd), qd + way * step * qdd)[:2] for way in (-1, 1))
    pushed = arm.variants.spanning_tree().inverse_dynamics(q, qd, qdd) - tau  # A^T forces
    np.testing.assert_allclose(pushed[:2], (later - sooner) / (2 * step), rtol=1e-6, atol=1e-6)
    drives = arm.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, drives), qdd, rtol=1e-8, atol=1e-8)
    assert not drives[[0, 1, 2, 5, 6]].any()  # the drives alone do it


def test_it_keeps_its_energy_while_the_arm_swings():
    arm = carried()
    q, qd, _ = state(arm)
    run = arm.system().rollout(method="rk4")({"q": q, "qd": qd}, step=1e-3, steps=500)
    assert np.abs(run.energy_drift).max() < 1e-7
    assert np.abs(arm.loops.rates(run.end["q"], run.end["qd"])).max() < 1e-12
