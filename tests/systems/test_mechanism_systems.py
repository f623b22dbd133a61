"""Mechanisms as systems: the same as their own functions, floating bases and ball joints included."""

import numpy as np
import pytest

import cayley as cy
from cayley.dynamics.linearised.state_space import LinearisedMechanism
from cayley.simulation.fixed_steps import METHODS
from cayley.systems import System
from simulation.mechanisms import floating_arm, random_state

GRAVITY = (0.0, 0.0, -9.81)


@pytest.fixture(scope="module")
def arm():
    return cy.Mechanism(floating_arm(gravity=GRAVITY))


@pytest.mark.parametrize("method", METHODS)
def test_a_rollout_of_the_system_is_that_of_the_mechanism(arm, method):
    q, qd = random_state(arm.tree, 3)
    tau = np.linspace(-1, 1, arm.nv)
    own = arm.rollout(method=method)(q, qd, tau, step=1e-3, steps=40, every=20)
    of_system = arm.system().rollout(method=method)({"q": q, "qd": qd}, step=1e-3, steps=40, every=20,
                                                    inputs={"tau": tau})
    assert (of_system["q"] == own.q).all() and (of_system["qd"] == own.qd).all() and (of_system.work == own.work).all()
    assert np.abs(of_system.energy - own.energy).max() < 1e-12 * np.abs(own.energy).max()


def test_its_linear_model_is_that_of_the_perturbed_equations(arm):
    """Algorithm 7.1 and the turning axes of floating and spherical joints, beside derivatives of the system's text."""
    q, qd = random_state(arm.tree, 4)
    qdd = np.random.default_rng(0).normal(size=arm.nv)
    tau = arm.inverse_dynamics(q, qd, qdd)
    expected = LinearisedMechanism(arm.tree).at(q, qd, qdd)
    model = arm.system().linearize({"q": q, "qd": qd}, {"tau": tau})
    assert np.abs(model.A - expected.A).max() < 1e-9 * np.abs(expected.A).max()
    assert np.abs(model.B - expected.B).max() < 1e-10 * np.abs(expected.B).max()


def test_a_thruster_with_a_lag_drives_a_floating_base(arm):
    """A wrench is a port as any other: a thruster with a state of its own acts at a frame of the mechanism."""
    thruster = System("thruster", state={"force": "N"}, inputs={"command": "N"}, outputs={"wrench_hand": 6},
                      derivative=lambda t, x, u, p: 20.0 * (u.command - x.force),
                      output=lambda t, x, u, p: np.stack([0.0, 0.0, x.force, 0.0, 0.0, 0.0]))
    craft = cy.connect(arm.system(wrenches=["hand"]), thruster)
    q, qd = random_state(arm.tree, 5)
    found = craft.simulate({"q": q, "qd": qd, "force": 0.0}, until=0.3, inputs={"command": 4.0})
    force = 4.0 * (1 - np.exp(-20.0 * found.t))
    assert np.abs(found["force"] - force).max() < 1e-8 and np.abs(found.energy_drift).max() < 1e-6
    own = arm.simulate(q, qd, until=0.3, wrenches={
        "hand": lambda t, q, qd: [0.0, 0.0, 4.0 * (1 - np.exp(-20.0 * t)), 0.0, 0.0, 0.0]})
    assert np.abs(found["q"][-1] - own.q[-1]).max() < 1e-7 and np.abs(found["qd"][-1] - own.qd[-1]).max() < 1e-6
