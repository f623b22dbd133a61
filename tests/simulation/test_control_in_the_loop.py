"""Closed loops whose errors are known in closed form: computed torque inside the simulation, golden values of the
catalogue (W3-14).
"""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import cayley as cy
from cayley.compiler.kernel import kernel
from cayley.control.signals import digital
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.errors import ConventionError
from cayley.model.catalogue import load_robot
from cayley.model.parts import Friction
from cayley.simulation import rollout, simulate
from cayley.simulation.fixed_steps import METHODS
from simulation.mechanisms import slider

ARM = load_robot("planar2r")
MODEL = inverse_dynamics_kernel(ARM)


@kernel("(),(2),(2)->(2)")
def computed_torque(t, q, qd):
    wanted = np.stack([0.5 * np.sin(t), 0.3 * np.cos(2 * t)])
    rate = np.stack([0.5 * np.cos(t), -0.6 * np.sin(2 * t)])
    acceleration = np.stack([-0.5 * np.sin(t), -1.2 * np.cos(2 * t)])
    return MODEL(q, qd, acceleration + 20 * (rate - qd) + 100 * (wanted - q))


def error(t, q):
    return np.stack([0.5 * np.sin(t), 0.3 * np.cos(2 * t)], axis=-1) - q


def expected(t):
    e0, v0 = np.array([-0.2, 0.2]), np.array([0.5, 0.0])
    return (e0 + np.multiply.outer(t, v0 + 10 * e0)) * np.exp(-10 * t)[:, None]


@pytest.mark.spec("S3-37", "S1-72")
def test_computed_torque_leaves_the_linear_error_equation():
    times = np.linspace(0, 0.5, 11)
    found = simulate(ARM, [0.2, 0.1], [0.0, 0.0], controller=computed_torque, times=times, rtol=1e-11, atol=1e-12)
    assert np.abs(error(times, found.q) - expected(times)).max() < 1e-10
    assert np.abs(error(0.5, found.q[-1]) - [-0.0064010496, 0.0080855364]).max() < 1e-10  # W3-14
    rolled = rollout(ARM, controller=computed_torque, control="continuous")([0.2, 0.1], [0.0, 0.0], step=1e-3,
                                                                            steps=500, every=50)
    assert np.abs(error(rolled.t, rolled.q) - expected(rolled.t)).max() < 1e-9
    assert np.abs(rolled.energy_drift).max() < 1e-9


@pytest.mark.spec("S3-37")
def test_forward_dynamics_in_time_gives_back_the_motion_that_the_forces_were_made_for():
    """The round trip: forces of a given motion by inverse dynamics, the motion from the forces by simulation."""
    def motion(t):
        return np.array([0.3 + 0.5 * t**2, np.sin(t)]), np.array([t, np.cos(t)]), np.array([1.0, -np.sin(t)])

    found = simulate(ARM,
                     *motion(0.0)[:2], controller=lambda t, q, qd: MODEL(*motion(t)), times=[0.0, 0.5, 1.0], rtol=1e-12,
                     atol=1e-13)
    for t, q, qd in zip(found.t, found.q, found.qd, strict=True):
        assert np.abs(q - motion(t)[0]).max() < 1e-9 and np.abs(qd - motion(t)[1]).max() < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_forces_of_time_are_taken_where_the_method_looks(method):
    """2 kg pushed by 2 cos(3 t): v = sin(3 t) / 3.

    Halving the step shows the order of the method, also when time starts elsewhere.
    """
    roll = rollout(slider(mass=2.0).with_gravity((0, 0, 0)), method=method, control="continuous",
                   controller=kernel("(),(1),(1)->(1)")(lambda t, q, qd: 2.0 * np.cos(3.0 * t) + 0.0 * q))
    for start in (0.0, 5.0):
        errors = []
        for steps in (25, 50):
            found = roll([0.0], [np.sin(3 * start) / 3], step=1 / steps, steps=steps, start=start)
            errors.append(np.abs(found.qd[:, 0] - np.sin(3 * found.t) / 3).max())
        assert np.log2(errors[0] / errors[1]) > roll.order - 0.1


@pytest.mark.parametrize("method", METHODS)
def test_a_law_and_a_wrench_act_together(method):
    """A law that gives constant forces is the same as these forces, whatever else acts, with and without friction."""
    push = [1.0, 2.0, 0.0, 0.0, 0.0, 0.5]
    forces = np.array([0.7, -0.2])
    arm = load_robot("planar2r")
    joints = [replace(joint, friction=Friction(0.1, 0.05)) for joint in arm.joints]
    rubbing = replace(arm, joints=tuple(joints)).including("friction")
    for tree in (arm, rubbing):
        shared = {"wrenches": ["tool"], "method": method}
        given = rollout(tree, **shared)([0.1, 0.2], [0.3, 0.0], forces, wrench_tool=push, step=1e-3, steps=50, every=50)
        law = rollout(tree, controller=lambda t, q, qd: forces + 0.0 * q, **shared)(
            [0.1, 0.2], [0.3, 0.0], wrench_tool=push, step=1e-3, steps=50, every=50)
        assert np.abs(law.q - given.q).max() < 1e-14 and np.abs(law.qd - given.qd).max() < 1e-13


@pytest.mark.parametrize("make", [lambda law: law, lambda law: digital(law, 5e-3, late=1)], ids=["analog", "digital"])
def test_a_law_that_is_a_system_drives_rollouts(make):
    """Bit for bit as the mechanism and the law connected, with dry friction and stops, in batches."""
    arm = cy.load("planar2r").with_friction("joint1", coulomb=0.5).including("friction")
    law = make(arm.control.pid(80.0, 20.0, 12.0))
    roll = arm.rollout(controller=law, limits="inelastic")
    q, target = np.array([[0.1, 0.2], [-0.4, 0.3]]), np.array([0.5, -0.3])
    run = {"step": 1e-3, "steps": 300, "every": 50}
    found = roll(q, np.zeros(2), target=target, **run)
    joined = cy.connect(arm.system(limits="inelastic"), law).rollout()({"q": q, "qd": np.zeros(2)},
                                                                       inputs={"target": target}, **run)
    for name in ("q", "qd", "tau", "integral"):
        assert (found[name] == joined[name]).all(), name
    assert found.finished and found.batch == (2,) and found.coordinates[0] == ("joint1", "rad")
    assert (found.tau == joined.outputs["tau"]).all() and found.kinetic.shape == found.work.shape
    wound = roll(q, np.zeros(2), target=target, integral=np.ones(2), **run)
    assert (wound.integral[:, 0] == 1.0).all() and np.abs(wound.q - found.q).max() > 1e-3
    with pytest.raises(ConventionError, match="has a controller"):
        roll(q, np.zeros(2), np.zeros(2), target=target, **run)
    assert (pickle.loads(pickle.dumps(roll))(q, np.zeros(2), target=target, **run).q == found.q).all()
