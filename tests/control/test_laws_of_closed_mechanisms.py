"""Laws for mechanisms with loops: errors of the joints that lead the others."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.control.linearisation.global_linearisation import computed_torque_kernel
from cayley.control.stability.motion_sensitivity import trajectory_sensitivity
from cayley.control.tracking import Weights, tracking_control
from cayley.errors import GeometryError, SignatureError, UnsupportedError
from cayley.model.constraint_kinds import PrescribedMotion
from dynamics.test_closed_mechanisms import closed_state
from dynamics.test_linearised_closed import hanging_parallelogram


def test_errors_of_the_actuated_joint_obey_a_linear_equation_under_computed_torque():
    for name, guess in (("four_bar", [0.5, 0.0, 0.0]), ("slider_crank", [0.9, 0.0, 0.0])):
        arm = cy.load(name)
        q, qd, _ = closed_state(arm, guess)
        wanted, rate, _ = closed_state(arm, np.add(guess, [0.4, 0.0, 0.0]), seed=1)
        acceleration = np.array([0.7, -9.0, 5.0])  # of the crank alone is asked for what it should do
        tau = computed_torque_kernel(arm.tree)(q, qd, wanted, rate, acceleration, np.full(3, 100.0), np.full(3, 20.0))
        np.testing.assert_array_equal(tau[1:], 0.0)
        qdd = arm.forward_dynamics(q, qd, tau)
        assert qdd[0] == pytest.approx(0.7 + 20.0 * (rate[0] - qd[0]) + 100.0 * (wanted[0] - q[0]), rel=1e-10)
    driven = cy.Mechanism.of("driven", arm.bodies, arm.joints, frames=arm.frames, loops=arm.loops,
                             constraints=[PrescribedMotion("motor", "crank", "sin(t)")])
    with pytest.raises(UnsupportedError, match="'motor' of driven depends on time"):
        computed_torque_kernel(driven.tree)


def test_a_parallelogram_is_held_upright_by_its_crank():
    arm = hanging_parallelogram().variants.with_actuated("crank")
    upright = np.array([np.pi / 2, -np.pi / 2, np.pi / 2])
    rest = np.zeros(3)
    law = tracking_control(arm.tree, lambda t: (upright, rest, rest), [0.0], poles=[-3.0, -4.0])
    for poles in ([-3.0], [-3.0, -4.0, -5.0]):
        with pytest.raises(SignatureError, match="has 2 poles"):
            tracking_control(arm.tree, lambda t: (upright, rest, rest), [0.0], poles=poles)
    assert law.gains.shape == (1, 3, 2)
    model = law.model.at(upright)
    np.testing.assert_allclose(sorted(np.linalg.eigvals(model.A - model.B @ law.gains[0]).real), [-4, -3], rtol=1e-9)
    start = arm.loops.close(upright + 0.05 * np.array([1.0, -1.0, 1.0])).configuration
    run = arm.simulate(start, rest, controller=law, until=4.0, progress=False)
    np.testing.assert_allclose(run.q[-1], upright, atol=1e-5)
    regulator = tracking_control(arm.tree, lambda t: (upright, rest, rest), [0.0], weights=Weights(1.0, 0.1))
    assert np.linalg.eigvals(model.A - model.B @ regulator.gains[0]).real.max() < 0
    np.testing.assert_array_equal(regulator.gains[0, 1:], 0.0)
    with pytest.raises(GeometryError, match="take a closed configuration"):
        tracking_control(arm.tree, lambda t: (rest + 0.3, rest, rest), [0.0], poles=[-3.0, -4.0])


def test_how_the_motion_of_a_four_bar_depends_on_its_masses():
    arm = cy.load("four_bar")
    q, qd, _ = closed_state(arm, [0.5, 0.0, 0.0])
    times = [0.0, 0.05, 0.2]

    def tau(t):
        return np.array([0.3 * np.cos(5 * t), 0.0, 0.0])

    found = trajectory_sensitivity(arm.tree, ["coupler.mass", "gravity"], q, qd, tau, times)
    assert found.parameters == ("coupler.mass", "gravity.y")
    heavier = arm.forward_dynamics.with_parameters("coupler.mass", "gravity")

    def end(change):
        def slope(t, x):
            return np.concatenate([x[3:], heavier(x[:3], x[3:], tau(t), heavier.parameters.nominal + change)])

        return solve_ivp(slope, (0.0, 0.2), np.concatenate([q, qd]), rtol=1e-11, atol=1e-12, method="DOP853").y[:, -1]

    for k in range(2):
        step = 1e-4 * np.eye(2)[k]
        slopes = (end(step) - end(-step)) / 2e-4
        both = np.concatenate([found.dq[-1, :, k], found.dqd[-1, :, k]])
        np.testing.assert_allclose(both, slopes, rtol=1e-5, atol=1e-7)
    A = arm.loops.jacobian(found.q[-1])
    np.testing.assert_allclose(A @ found.dq[-1], 0.0, atol=1e-8)  # the loop stays closed whatever the mass
    with pytest.raises(UnsupportedError, match="change its constraints"):
        trajectory_sensitivity(arm.tree, ["length"], q, qd, tau, times)
