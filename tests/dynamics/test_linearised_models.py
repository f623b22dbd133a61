"""State-space models, tracking, sensitivities of motions, identification and global linearisation, each beside what it
stands for.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve_continuous_are

import cayley as cy
from cayley.control.linearisation.global_linearisation import (
    OutputLinearisation,
    ResolvedAcceleration,
    computed_torque_kernel,
    error_matrix,
)
from cayley.control.stability.motion_sensitivity import trajectory_sensitivity
from cayley.control.tracking import (
    Weights,
    horizon_gains,
    simulate_law,
    tracking_control,
)
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.linearised.identified_discrete_model import RecursiveFit, continuous, fit_state_space
from cayley.dynamics.linearised.state_space import LinearisedMechanism, StateSpace
from cayley.errors import ConventionError, SignatureError, SingularityError
from cayley.kinematics.forward import frame_pose
from cayley.kinematics.frame_kernels import difference_kernel, rate_kernel
from cayley.model.parts import Body
from dynamics.chains import random_chain, random_state
from dynamics.robots import state_here
from dynamics.test_inverse_dynamics import random_tree

STEPS, WEIGHTS = np.array([-2, -1, 1, 2]), np.array([1, -8, 8, -1]) / 12  # the derivative, to fourth order

# State space


@pytest.mark.spec("S1-83")
def test_state_matrices_are_the_derivatives_of_forward_dynamics():
    tree = random_chain("RPRR", 2)
    forward = forward_dynamics_kernel(tree)
    for seed in range(3):
        q, v, a = random_state(tree, seed)
        model = LinearisedMechanism(tree).at(q, v, a)
        n, h = 4, 1e-3
        for k, unit in enumerate(np.eye(3 * n)):
            ends = [forward(q + s * unit[:n], v + s * unit[n:2 * n], model.tau + s * unit[2 * n:]) for s in h * STEPS]
            column = np.concatenate([unit[n:2 * n], WEIGHTS @ ends / h])
            ours = model.A[:, k] if k < 2 * n else model.B[:, k - 2 * n]
            np.testing.assert_allclose(ours, column, rtol=0, atol=1e-8 * np.abs(model.A).max())
        np.testing.assert_allclose(model.forces(np.zeros(n), np.zeros(n), np.zeros(n)), model.tau)
        step = 1e-5 * np.ones(n)
        np.testing.assert_allclose(model.accelerations(step, step, step), forward(q + step, v + step, model.tau + step),
                                   atol=1e-7 * np.abs(model.A).max())


def test_perturbations_of_bodies_turn_with_them():
    """For spherical and floating joints dq' = dqd + N dq: beside two motions that start nearby."""
    tree = random_tree(1, ("floating", "spherical", "revolute"))
    q, v, _ = (x[0] for x in state_here(tree, 1))
    v = 0.3 * v
    tau = np.zeros(tree.nv)
    rng, h = np.random.default_rng(2), 1e-5
    dq, dv = rng.normal(size=(2, tree.nv))
    model = LinearisedMechanism(tree).at_forces(q, v, tau)
    expected = model.A @ np.concatenate([dq, dv])
    forward, rate, difference = forward_dynamics_kernel(tree), rate_kernel(tree), difference_kernel(tree)

    def moved(start, velocity, s):
        return np.concatenate([
            j.motion.step(start[a], s * velocity[b])
            for j, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True) if j.motion.nq])

    def slope(x):
        return np.concatenate([rate(x[:tree.nq], x[tree.nq:]), forward(x[:tree.nq], x[tree.nq:], tau)])

    def perturbation(t):
        """At time t, from the motion to its neighbours on both sides, by one step of fourth order."""
        ends = []
        for s in (0.0, h, -h):
            x = np.concatenate([moved(q, dq, s), v + s * dv])
            k1 = slope(x)
            k2 = slope(x + t / 2 * k1)
            k3 = slope(x + t / 2 * k2)
            ends.append(x + t / 6 * (k1 + 2 * k2 + 2 * k3 + slope(x + t * k3)))
        here = ends[0]
        sides = [
            np.concatenate([difference(here[:tree.nq], x[:tree.nq]), x[tree.nq:] - here[tree.nq:]]) for x in ends[1:]]
        return (sides[0] - sides[1]) / (2 * h)

    t = 1e-3
    measured = (perturbation(t) - perturbation(-t)) / (2 * t)
    np.testing.assert_allclose(measured, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_discrete_model_is_exact():
    model = LinearisedMechanism(cy.load("s1_g1").tree).at([0.3, -0.7], [0.5, 1.2], [-0.4, 0.8])
    dt, u = 0.05, np.array([0.3, -0.2])
    step = model.discretised(dt)
    x = np.array([0.1, -0.2, 0.3, 0.1])
    found = solve_ivp(lambda t, x: model.A @ x + model.B @ u, (0, dt), x, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(step.A @ x + step.B @ u, found.y[:, -1], atol=1e-11)
    np.testing.assert_allclose(np.sort(np.abs(step.poles)), np.sort(np.abs(np.exp(dt * model.poles))), rtol=1e-10)
    back = continuous(step)
    np.testing.assert_allclose(back.A, model.A, atol=1e-10)
    np.testing.assert_allclose(back.B, model.B, atol=1e-10)


def test_controllability():
    mechanism = LinearisedMechanism(cy.load("s1_g1").tree)
    upright = mechanism.at([np.pi / 2, 0.0])
    assert upright.controllable and not upright.stable
    assert upright.driven_by([0]).controllable and upright.driven_by([1]).controllable  # pendubot and acrobot
    floating = mechanism.tree.with_gravity((0.0, 0.0, 0.0))
    assert not LinearisedMechanism(floating).at([0.3, 0.4]).driven_by([1]).controllable  # nothing turns the whole arm
    assert np.linalg.matrix_rank(upright.driven_by([0]).controllability_matrix) == 4
    batch = mechanism.at(np.zeros((3, 5, 2)))
    assert batch.A.shape == (3, 5, 4,
                             4) and batch.controllable.shape == (3, 5) and batch.discretised(0.01).A.shape == (3, 5, 4,
                                                                                                               4)


def test_empty_batches_and_states_that_are_not_numbers():
    floating = random_tree(1, ("floating", "revolute"))
    assert LinearisedMechanism(floating).at(np.zeros((0, 2, floating.nq))).A.shape == (0, 2, 14, 14)
    mechanism = LinearisedMechanism(cy.load("s1_g1").tree)
    states = np.array([[0.1, 0.2], [np.nan, 0.2]])
    found, alone = mechanism.at(states), mechanism.at(states[0])
    np.testing.assert_array_equal(found.A[0], alone.A)
    assert np.isnan(found.A[1, 2:]).any()
    law = OutputLinearisation(cy.load("planar2r").tree, lambda q: frame_pose(cy.load("planar2r").tree, q, "tool").p[:2])
    assert np.isnan(law.forces([np.nan, 1.0], np.zeros(2), np.zeros(2))).all()
    with pytest.raises(SignatureError, match="does not fit"):
        mechanism.at(0.3)


def test_discrete_and_continuous_models_are_not_mixed_up():
    models = LinearisedMechanism(cy.load("s1_g1").tree).at(np.array([[0.1, 0.2], [0.3, 0.4]]))
    discrete = models.discretised(0.02)
    np.testing.assert_allclose(continuous(discrete).A, models.A, atol=1e-10)
    np.testing.assert_allclose(continuous(discrete).B, models.B, atol=1e-10)
    with pytest.raises(ConventionError, match="discrete already"):
        discrete.discretised(0.02)
    for pole in (-0.5, 0.0):
        with pytest.raises(SingularityError, match="at or below zero"):
            continuous(StateSpace(pole * np.eye(2), np.ones((2, 1)), 0.1))


def test_a_joint_that_moves_no_mass_is_named():
    tree = cy.load("s1_g1").tree
    light = replace(tree, bodies=tuple(Body(b.name, 0.0) if b.name == tree.bodies[-1].name else b for b in tree.bodies))
    with pytest.raises(SingularityError, match="joint 'joint2' moves no mass"):
        LinearisedMechanism(light).at([0.1, 0.2])


# Tracking


def reference(t):
    w = np.array([1.0, 1.5])
    return np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)


@pytest.mark.spec("S1-91")
def test_feedback_brings_an_arm_with_a_wrong_mass_back():
    tree = cy.load("s1_g1").tree
    heavy = replace(
        tree, bodies=tuple(
            replace(b, mass=1.3 * b.mass, inertia=1.3 * b.inertia) if b is tree.bodies[-1] else b for b in tree.bodies))
    times = np.linspace(0.0, 2.0, 21)
    law = tracking_control(tree, reference, times, weights=Weights([1000.0, 1000.0, 10.0, 10.0], 1e-3))
    start = reference(0.0)[:2]
    blind = simulate_law(heavy, lambda t, q, qd: law.nominal_forces(t), *start, times, tolerance=1e-7)
    seeing = simulate_law(heavy, law, *start, times, tolerance=1e-7)
    errors = [np.linalg.norm(run.q[-1] - reference(2.0)[0]) for run in (blind, seeing)]
    assert errors[1] < 0.02 < 0.2 < errors[0]
    exact = simulate_law(tree, law, *start, times, tolerance=1e-9)
    np.testing.assert_allclose(exact.q, np.stack([reference(t)[0] for t in times]), atol=1e-6)


def test_tracking_by_poles_and_by_a_regulator():
    tree = random_chain("RPR", 3)
    q, qd, qdd = random_state(tree, 3)
    poles = [-2.0, -3.0, -4.0, -5.0, -6.0, -7.0]
    placed = tracking_control(tree, lambda t: (q, qd, qdd), [0.0, 1.0], poles=poles)
    model = placed.model.at(q, qd, qdd)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(model.A - model.B @ placed.gain(0.5)).real), sorted(poles),
                               atol=1e-5)
    regulated = tracking_control(tree, lambda t: (q, qd, qdd), [0.0], weights=Weights(1.0, np.eye(3)))
    assert (np.linalg.eigvals(model.A - model.B @ regulated.gain(3.0)).real < 0).all()
    np.testing.assert_allclose(regulated(0.0, q, qd), model.tau, atol=1e-9)
    far = horizon_gains(lambda t: model, np.array([0.0, 40.0]), Weights(1.0, 1.0, 1.0))[0]
    X = solve_continuous_are(model.A, model.B, np.eye(6), np.eye(3))  # far from the end: that of no end
    np.testing.assert_allclose(far, model.B.T @ X, atol=1e-7)
    with pytest.raises(SignatureError, match="positive weight"):
        horizon_gains(lambda t: model, np.array([0.0, 1.0]), Weights(1.0, [1.0, 0.0, 1.0], 1.0))
    for options in ({}, {"poles": poles, "weights": Weights(1.0, 1.0)}):
        with pytest.raises(SignatureError, match="weights"):
            tracking_control(tree, lambda t: (q, qd, qdd), [0.0], **options)
    with pytest.raises(SignatureError, match="two points"):
        tracking_control(tree, lambda t: (q, qd, qdd), [0.0], weights=Weights(1.0, 1.0, 1.0))


@pytest.mark.parametrize("weights", [(10.0, 0.1), (1.0, 1.0), ([100.0, 1.0, 1.0, 0.1], [0.01, 2.0])])
@pytest.mark.parametrize("points", [2, 5, 101])
def test_an_end_that_weighs_as_much_as_no_end_changes_nothing(weights, points):
    """With `final` the stationary solution of the Riccati equation, all gains are those of a model for ever."""
    arm = cy.load("planar2r")
    q = np.array([0.3, -0.8])
    times = np.linspace(0.0, 1.0, points)

    def still(t):
        return q, np.zeros(2), np.zeros(2)

    there = arm.control.linear_along(still).at(0.0)
    Q, R = (np.diag(np.broadcast_to(w, size).astype(float)) for w, size in zip(weights, (4, 2), strict=True))
    X = solve_continuous_are(there.A, there.B, Q, R)
    whole = tracking_control(arm.tree, still, times, weights=Weights(*weights, X))
    for_ever = tracking_control(arm.tree, still, times, weights=Weights(*weights))
    np.testing.assert_allclose(whole.gains, for_ever.gains, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("final", [0.0, [200.0, 50.0, 1.0, 1.0]])
def test_gains_of_a_motion_with_an_end_are_optimal(final):
    """Beside the Riccati equation integrated here, by another method; and what the law costs is x^T S x, to second
    order of the interpolation."""
    arm = cy.load("planar2r")
    Q, R, end = 10.0 * np.eye(4), 0.1 * np.eye(2), np.diag(np.broadcast_to(final, 4).astype(float))
    along = arm.control.linear_along(reference)

    def slope(t, s):
        there, S = along.at(t), s.reshape(4, 4)
        return -(Q + there.A.T @ S + S @ there.A - S @ there.B @ np.linalg.inv(R) @ there.B.T @ S).ravel()

    times = np.linspace(0.0, 1.0, 51)
    expected = solve_ivp(slope, (1.0, 0.0), end.ravel(), method="BDF", t_eval=times[::-1], rtol=1e-8, atol=1e-8)
    S = expected.y.T.reshape(-1, 4, 4)[::-1]
    law = tracking_control(arm.tree, reference, times, weights=Weights(10.0, 0.1, final))
    for k, t in enumerate(times):
        np.testing.assert_allclose(law.gains[k], np.linalg.inv(R) @ along.at(t).B.T @ S[k], rtol=1e-5, atol=1e-5)

    def cost(t, x):
        there, u = along.at(t), -law.gain(t) @ x[:4]
        return np.append(there.A @ x[:4] + there.B @ u, x[:4] @ Q @ x[:4] + u @ R @ u)

    for x in np.random.default_rng(2).normal(size=(2, 4)):
        run = solve_ivp(cost, (0.0, 1.0), np.append(x, 0.0), method="LSODA", rtol=1e-8, atol=1e-9).y[:, -1]
        assert run[4] + run[:4] @ end @ run[:4] == pytest.approx(x @ S[0] @ x, rel=6e-3)


def test_poles_that_are_out_of_reach_are_refused():
    """A revolute joint without gravity cannot place its own angle by pushing the rail that it does not touch."""
    tree, still = random_chain("PR", 3).with_gravity((0.0, 0.0, 0.0)), np.zeros(2)
    for design in ({"poles": [-1.0, -2.0, -3.0, -4.0]}, {"weights": Weights(1.0, 1.0)}):
        with pytest.raises(SingularityError, match="out of reach"):
            tracking_control(tree, lambda t: (still, still, still), [0.0], driven=[1], **design)


# Sensitivity of a motion


def forces(t):
    return np.array([3.0 * np.cos(t), 1.0, 0.5 * np.sin(2 * t)])


@pytest.mark.spec("S1-92")
def test_sensitivity_of_a_motion_to_masses_payload_and_geometry():
    tree = random_chain("RPR", 5).with_gravity((0.0, 0.0, -2.0))
    q, qd = 0.3 * random_state(tree, 5)[0], np.zeros(3)
    times = np.linspace(0.0, 0.6, 4)
    parameters = ["link2.moments.m", "link3.moments.uy", "payload1.mass", "joint3.length.x", "joint2.turn.z"]
    found = trajectory_sensitivity(tree.with_payload("tool", 0.0, center=(0.1, 0.2, 0.0)), parameters, q, qd, forces,
                                   times, tolerance=1e-12)
    assert found.parameters == tuple(parameters)
    h = 1e-4  # each end is a mechanism to compile: two of them, so close that the curvature is not seen
    for k, changed in enumerate([lambda e: with_moment(tree, 2, e, 0.0), lambda e: with_moment(tree, 3, 0.0, e),
                                 lambda e: with_payload(tree, e), lambda e: displaced(tree, 2, [e, 0.0, 0.0], 0.0),
                                 lambda e: displaced(tree, 1, [0.0, 0.0, 0.0], e)]):
        runs = [simulate_law(changed(e), lambda t, q, qd: forces(t), q, qd, times, tolerance=1e-12) for e in (-h, h)]
        for ours, ends in ((found.dq, [run.q for run in runs]), (found.dqd, [run.qd for run in runs])):
            true = (ends[1] - ends[0]) / (2 * h)
            np.testing.assert_allclose(ours[:, :, k], true, rtol=0, atol=1e-7 * np.abs(true).max())


def with_moment(tree, number, mass, uy):
    """One moment about the body's origin changed, and no other: the bodies of these chains have their frames on their
    joints.
    """
    body = tree.bodies[number]
    second = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia + body.mass * np.outer(body.center, body.center)
    first = body.mass * body.center + np.array([0.0, uy, 0.0])
    m = body.mass + mass
    central = second - np.outer(first, first) / m
    new = Body(body.name, m, first / m, np.trace(central) * np.eye(3) - central)
    return replace(tree, bodies=tuple(new if b is body else b for b in tree.bodies))


def with_payload(tree, mass):
    """Also of negative mass: for the difference on both sides."""
    at = tree.frame("tool").pose @ np.array([0.1, 0.2, 0.0, 1.0])
    body = tree.bodies[-1]
    r = at[:3]
    second = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia + body.mass * np.outer(
        body.center, body.center) + mass * np.outer(r, r)
    m, first = body.mass + mass, body.mass * body.center + mass * r
    central = second - np.outer(first, first) / m
    new = Body(body.name, m, first / m, np.trace(central) * np.eye(3) - central)
    return replace(tree, bodies=(*tree.bodies[:-1], new))


def displaced(tree, number, shift, angle):
    c, s = np.cos(angle), np.sin(angle)
    change = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], dtype=float)
    joint = tree.joints[number]
    change = joint.placement @ change
    change[:3, 3] = joint.placement[:3, 3] + shift
    return replace(tree,
                   joints=tuple(replace(j, placement=change) if j is joint else j for j in tree.joints))


def test_sensitivity_to_the_start_and_to_the_forces():
    """dq0/dp = 1 and dtau/dp given: beside two motions."""
    tree = cy.load("s1_g1").tree
    times, push = np.array([0.0, 0.4]), np.array([[0.5], [1.0]])
    loaded = tree.with_payload("link2", 0.0)
    found = trajectory_sensitivity(loaded, ["payload1.mass"], [0.1, 0.2], [0.0, 0.0], lambda t: np.zeros(2), times,
                                   force_changes=lambda t: push, dq=np.array([[1.0], [0.0]]))
    assert found.dq[0, 0, 0] == 1.0
    h = 1e-3
    runs = [
        simulate_law(payload_at_origin(tree, e), lambda t, q, qd, e=e: e * push[:, 0], [0.1 + e, 0.2], [0.0, 0.0],
                     times, tolerance=1e-12) for e in h * STEPS]
    np.testing.assert_allclose(found.dq[-1, :, 0], WEIGHTS @ [run.q[-1] for run in runs] / h, rtol=1e-7)
    assert trajectory_sensitivity(loaded, ["payload1.mass"], [0.1, 0.2], [0.0, 0.0], lambda t: np.zeros(2),
                                  [0.0]).dq.shape == (1, 2, 1)
    with pytest.raises(ConventionError, match="say which parameters"):
        trajectory_sensitivity(tree, [], [0.1, 0.2], [0.0, 0.0], lambda t: np.zeros(2), times)


def payload_at_origin(tree, mass):
    body = tree.bodies[-1]
    second = np.trace(body.inertia) / 2 * np.eye(3) - body.inertia + body.mass * np.outer(body.center, body.center)
    m, first = body.mass + mass, body.mass * body.center
    central = second - np.outer(first, first) / m
    return replace(tree,
                   bodies=(*tree.bodies[:-1], Body(body.name, m, first / m,
                                                   np.trace(central) * np.eye(3) - central)))


# Identification


def samples(model, count, rng):
    x, u = rng.normal(size=(count, model.A.shape[0])), rng.normal(size=(count, model.B.shape[1]))
    return x, u, x @ model.A.T + u @ model.B.T


@pytest.mark.spec("S1-85")
def test_identification_from_perturbed_motions():
    """Least squares on samples of the nonlinear arm itself, to both sides, beside the discretised analytic model."""
    tree, dt, size = cy.load("s1_g1").tree, 0.01, 1e-5
    mechanism = LinearisedMechanism(tree)
    nominal = mechanism.at([0.3, -0.7], [0.0, 0.0], [0.0, 0.0])
    exact, rng = nominal.discretised(dt), np.random.default_rng(0)
    x, u, y = [], [], []
    drawn = size * rng.normal(size=(12, 6))
    for dx, du in [(s * one[:4], s * one[4:]) for one in drawn for s in (1, -1)]:
        run = simulate_law(tree, lambda t, q, qd, du=du: nominal.tau + du, nominal.q + dx[:2], dx[2:], [0.0, dt],
                           tolerance=1e-13)
        x.append(dx), u.append(du), y.append(np.concatenate([run.q[-1] - nominal.q, run.qd[-1]]))
    found = fit_state_space(x, u, y, dt)
    np.testing.assert_allclose(found.model.A, exact.A, rtol=0, atol=2e-9)
    np.testing.assert_allclose(found.model.B, exact.B, rtol=0, atol=2e-9)
    assert found.excited and found.residual < 1e-10
    recursive = RecursiveFit(4, 2, dt)
    with pytest.raises(SignatureError, match="there are none yet"):
        recursive.model  # noqa: B018 (asked for its refusal)
    for sample in zip(x, u, y, strict=True):
        recursive.update(*sample)
    np.testing.assert_allclose(recursive.model.A, exact.A, rtol=0, atol=2e-8)
    np.testing.assert_allclose(recursive.model.B, exact.B, rtol=0, atol=2e-8)
    back = continuous(found.model)
    np.testing.assert_allclose(back.A, nominal.A, rtol=0, atol=1e-5)


def test_forgetting_follows_a_change():
    rng, dt = np.random.default_rng(1), 0.1
    before, after = (StateSpace(rng.normal(size=(2, 2)), rng.normal(size=(2, 1)), dt) for _ in range(2))
    kept, forgetting = RecursiveFit(2, 1, dt), RecursiveFit(2, 1, dt, forgetting=0.8)
    for model in (before, after):
        for sample in zip(*samples(model, 100, rng), strict=True):
            kept.update(*sample), forgetting.update(*sample)
    np.testing.assert_allclose(forgetting.model.A, after.A, atol=1e-6)
    assert np.abs(kept.model.A - after.A).max() > 1e-2
    with pytest.raises(SignatureError, match="forgetting"):
        RecursiveFit(2, 1, dt, forgetting=0.0)


def test_samples_without_excitation_are_refused():
    x = np.outer(np.linspace(0, 1, 30), [1.0, 2.0])
    with pytest.raises(SingularityError, match="do not determine"):
        fit_state_space(x, np.ones((30, 1)), x, 0.1)
    with pytest.raises(SingularityError, match="do not determine"):
        fit_state_space(np.eye(2), np.ones((2, 1)), np.eye(2), 0.1)
    with pytest.raises(SignatureError, match="finite"):
        fit_state_space(np.full((30, 2), np.nan), np.ones((30, 1)), x, 0.1)
    with pytest.raises(SignatureError, match="shapes"):
        fit_state_space(x, np.ones((29, 1)), x, 0.1)


# Global linearisation


@pytest.mark.spec("S1-80")
def test_computed_torque_makes_errors_linear():
    tree = random_chain("RPR", 7)
    law, Kp, Kv = computed_torque_kernel(tree), np.array([9.0, 16.0, 4.0]), np.array([6.0, 8.0, 4.0])
    w = np.array([1.0, 0.7, 1.3])

    def target(t):
        return 0.4 * np.sin(w * t), 0.4 * w * np.cos(w * t), -0.4 * w * w * np.sin(w * t)

    q, qd = np.array([0.3, -0.2, 0.4]), np.array([0.5, 0.1, -0.3])
    run = simulate_law(tree, lambda t, q, qd: law(q, qd, *target(t), Kp, Kv), q, qd, [0.0, 0.5, 1.0], tolerance=1e-13)
    start = np.concatenate([target(0.0)[0] - q, target(0.0)[1] - qd])
    for t, here, velocity in zip(run.t, run.q, run.qd, strict=True):
        error = np.concatenate([target(t)[0] - here, target(t)[1] - velocity])
        np.testing.assert_allclose(error, expm(t * error_matrix(Kp, Kv)) @ start, rtol=0, atol=1e-12)
    wrong = simulate_law(with_moment(tree, 3, 0.5, 0.0), lambda t, q, qd: law(q, qd, *target(t), Kp, Kv), q, qd,
                         [0.0, 1.0])
    left = np.linalg.norm(target(1.0)[0] - wrong.q[-1]) - np.linalg.norm((expm(error_matrix(Kp, Kv)) @ start)[:3])
    assert abs(left) > 1e-3  # what the model does not know is not cancelled

    arm = cy.load("puma560")
    resolved = ResolvedAcceleration(arm.tree, "tool", 16.0, 8.0)
    q = np.array([0.2, -0.9, 0.4, 0.3, 0.8, -0.2])
    pose = arm.pose(q + 0.15, "tool")
    start = pose[:3, 3] - arm.pose(q, "tool")[:3, 3]
    run = simulate_law(arm.tree, lambda t, q, qd: resolved.forces(q, qd, pose, np.zeros(6), np.zeros(6)), q,
                       np.zeros(6),
                       [0.0, 0.5, 3.0], tolerance=1e-10)
    expected = expm(0.5 * error_matrix([16.0], [8.0]))[0, 0] * start
    np.testing.assert_allclose(pose[:3, 3] - arm.pose(run.q[1], "tool")[:3, 3], expected, atol=1e-8)
    np.testing.assert_allclose(arm.pose(run.q[2], "tool"), pose, atol=1e-3)
    with pytest.raises(SingularityError, match="singular"):
        resolved.forces(np.zeros(6), np.zeros(6), pose, np.zeros(6), np.zeros(6))


@pytest.mark.spec("S1-81")
def test_an_output_becomes_a_double_integrator():
    arm = cy.load("planar2r").tree
    law = OutputLinearisation(arm, lambda q: frame_pose(arm, q, "tool").p[:2])
    q, qd = np.array([0.3, 1.1]), np.array([0.2, -0.4])
    v = np.array([0.5, -0.3])
    run = simulate_law(arm, lambda t, q, qd: law.forces(q, qd, v), q, qd, [0.0, 0.25, 0.5], tolerance=1e-11)
    start = law.state(q, qd)
    for t, here, velocity in zip(run.t, run.q, run.qd, strict=True):
        expected = np.concatenate([start[:2] + t * start[2:] + t * t / 2 * v, start[2:] + t * v])
        np.testing.assert_allclose(law.state(here, velocity), expected, atol=1e-9)
    with pytest.raises(SingularityError, match="singular"):
        law.forces([0.3, 0.0], [0.0, 0.0], v)
    with pytest.raises(SignatureError, match="2 entries"):
        OutputLinearisation(arm, lambda q: frame_pose(arm, q, "tool").p).state(q, qd)
