"""Sliding mode, disturbance observer, network and rules as compensators, and the linear-quadratic regulator: reaching
conditions, closed forms, SciPy and python-control, MuJoCo as the arm; what is not ideal, and what is refused."""

import mujoco
import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator

import cayley as cy
import control as python_control
from cayley.control import (
    compensated,
    dry_friction,
    fuzzy_rules,
    momentum_observer,
    motion_target,
    radial_basis_network,
    sample_and_hold,
)
from cayley.dynamics.linearised.state_space import LinearisedMechanism
from cayley.errors import CayleyError, ConventionError, SignatureError, SingularityError
from cayley.kinematics.frame_kernels import integrate_kernel
from cayley.model.parts import Body
from cayley.planning import FunctionOfTime
from compiler.parity import compiled_c

BAD = (np.nan, np.inf, -np.inf)


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


@pytest.fixture(scope="module")
def move():
    return FunctionOfTime(lambda t: np.stack([0.8 * np.sin(1.3 * t), 0.6 * np.sin(2.1 * t + 1.0)]), end=60.0)


def on_target(move):
    return {"q": move(0.0).q, "qd": move(0.0).qd}


# Sliding mode


def test_the_reaching_condition_holds_for_every_arm_within_the_uncertainty(arm):
    """d(s^T M s / 2)/dt <= -s^T kd s - reach |s|, of arms with any payload up to the bound, outside the layer."""
    kd, slope, reach = 4.0, 6.0, 0.5
    law = arm.control.sliding_mode(kd, slope, 0.0, 1e-9, reach=reach, payload="tool", parameters=["m", "ux"],
                                   uncertainty=[1.0, 0.1])
    q, qd, target, target_qd, target_qdd = np.random.default_rng(0).normal(size=(5, 200, 2))
    tau = law.step(q, qd, target, target_qd, target_qdd)
    s = target_qd + slope * (target - q) - qd
    a = target_qdd + slope * (target_qd - qd)
    mass, center = 1.0, 0.1
    real = arm.with_payload("tool", mass, center=[center, 0.0, 0.0])
    sd = a - real.forward_dynamics(q, qd, tau)
    M, C = real.inertia_matrix(q), real.coriolis_matrix(q, qd)
    falls = np.einsum("ki,ki->k", s, np.einsum("kij,kj->ki", M, sd) + np.einsum("kij,kj->ki", C, s))
    # a point mass away from the frame has a second moment besides, m c^2, which the bound does not know
    spare = mass * center**2 * np.abs(s).sum(axis=1) * (np.abs(a).sum(axis=1) + np.sum((qd - s)**2, axis=1))
    assert (falls <= -kd * np.sum(s**2, axis=1) - reach * np.abs(s).sum(axis=1) + spare).all()


def test_errors_end_within_the_layer_and_a_layer_takes_the_chattering_away(arm, move):
    """At 1 kHz with forces a period late: without a layer forces jump at each look, with one they do not."""
    real = arm.with_payload("tool", 0.7)
    law = arm.control.sliding_mode(2.0, 8.0, 0.0, 0.1, reach=0.5, payload="tool", parameters=["m"], uncertainty=1.0)
    late = sample_and_hold("tau", 2, 1e-3, late=1)
    loop = cy.connect(real, law.renamed({"tau": "wanted_tau"}), late, motion_target(move))
    layers = np.array([[0.0, 0.0], [0.4, 0.4]])
    run = loop.rollout(parameters=["layer"])(on_target(move), step=1e-3, steps=6000, parameters={"layer": layers})
    error = np.abs(run["target"] - run["q"])[:, 3000:].max(axis=(1, 2))
    assert error[1] < 0.4 / 8.0 and np.isfinite(run["tau"]).all()
    chattering = np.abs(np.diff(run["tau"][:, 3000:], axis=1)).mean(axis=(1, 2))
    assert chattering[0] > 50 * chattering[1]


# Disturbance observer


def test_the_observer_answers_a_constant_disturbance_as_a_filter_of_first_order(arm):
    """d (1 - exp(-gain t)), while the arm moves under its own law."""
    push = np.array([3.0, -1.5])
    shove = cy.System("shove", inputs={"wanted_tau": 2}, outputs={"pushed_tau": 2},
                      output=lambda t, x, u, p: u.wanted_tau + push)
    plant = arm.system().renamed({"tau": "pushed_tau"})
    law = arm.control.pd_with_gravity(30.0, 6.0)
    loop = cy.connect(plant, shove, law, momentum_observer(arm, [12.0, 30.0]), wires={"shove.wanted_tau": "tau"})
    t = np.linspace(0.0, 0.4, 9)
    run = loop.simulate({"q": [0.0, 0.3], "qd": [0.0, 0.0]}, times=t, inputs={"target": [0.6, -0.4]},
                        rtol=1e-10, atol=1e-11)
    assert np.abs(run["qd"]).max() > 0.5
    assert run["disturbance"] == pytest.approx(push * (1 - np.exp(-np.outer(t, [12.0, 30.0]))), abs=1e-7)


def test_the_observer_is_right_for_joints_of_every_kind():
    """The rate of its state is what changes the momentum besides the disturbance, of a floating arm with friction and
    rotors: differences of M qd along the motion."""
    arm = cy.load("s1_f1", floating_base=True)
    arm = cy.Mechanism(arm.tree.with_parts([
        arm.bodies[0], Body("base", 2.0, [0.1, 0.0, 0.2], np.diag([0.1, 0.2, 0.15])), *arm.bodies[2:]], arm.joints))
    name = arm.joint_names[-1]
    arm = arm.with_drive(name, inertia=1e-4, gear=60.0).with_friction(name, viscous=0.4)
    arm = arm.including("armature", "friction")
    rng = np.random.default_rng(4)
    q = arm.random_configuration(seed=2)
    qd, tau, d = rng.normal(size=(3, arm.nv))
    observer = momentum_observer(arm, 5.0)
    momentum = arm.inertia_matrix(q) @ qd
    now = observer.step(momentum, q, qd, tau, 1.0)
    assert np.abs(now.disturbance).max() < 1e-12
    h = 1e-5
    move = integrate_kernel(arm.tree)
    qdd = arm.forward_dynamics(q, qd, tau + d)
    after, before = (arm.inertia_matrix(move(q, s * qd + s**2 / 2 * qdd)) @ (qd + s * qdd) for s in (h, -h))
    assert now.x - momentum + d == pytest.approx((after - before) / (2 * h), rel=1e-6, abs=1e-6)


def test_a_push_is_rejected_and_known_with_mujoco_as_the_arm(arm, tmp_path):
    """The law at 1 kHz, MuJoCo between: no offset is left, and the force at the tool is found."""
    arm.save(tmp_path / "arm.xml", leave_out=True)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    model.opt.timestep = 1e-3
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    law = arm.control.disturbance_rejection(100.0, 20.0, 40.0)
    target, push, x = np.array([0.4, -0.3]), np.array([2.0, 0.8]), np.zeros(2)
    for _ in range(3000):
        now = law.step(x, data.qpos, data.qvel, target, np.zeros(2), np.zeros(2), 1e-3)
        x = now.x
        data.qfrc_applied[:] = now.tau + push
        mujoco.mj_step(model, data)
    assert data.qpos == pytest.approx(target, abs=1e-5)
    assert now.disturbance == pytest.approx(push, abs=1e-4)
    offset = push / (100.0 * np.diag(arm.inertia_matrix(target)))  # what is left without, in size
    assert np.abs(offset).min() > 1e-2


def test_the_observer_neither_winds_up_nor_is_poisoned(arm):
    law = arm.control.disturbance_rejection(100.0, 20.0, 40.0, limits=[5.0, 2.0])
    x = np.zeros(2)
    for _ in range(500):  # an arm that is held fast: what holds it is seen, and no more
        now = law.step(x, [0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        x = now.x
    assert (np.abs(now.tau) <= [5.0, 2.0]).all()
    held = arm.gravity_forces([0.0, 0.0]) - now.tau
    assert now.disturbance == pytest.approx(held, abs=1e-6)
    for bad in BAD:
        wrong = law.step(x, [bad, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], 1e-3)
        assert np.isfinite(wrong.x).all() and np.isfinite(wrong.tau).all() and np.isfinite(wrong.disturbance).all()
        assert np.abs(wrong.x - x).max() < 0.1


# Compensators


def rubbed(arm, law, move, steps=15_000):
    """The largest errors in the second and the last quarter of a run with dry friction that the law does not know."""
    friction = dry_friction("tau", [3.0, 1.5], creep=0.02)
    loop = cy.connect(arm, law.renamed({"tau": "wanted_tau"}), friction, motion_target(move))
    run = loop.rollout()(on_target(move), step=1e-3, steps=steps, every=10)
    error = np.abs(run["target"] - run["q"]).max(axis=1)
    return error[:len(error) // 4].max(), error[-len(error) // 4:].max(), run


@pytest.mark.spec("S3-53")
def test_a_network_learns_friction_and_rules_hold_against_it(arm, move):
    gains = {"kp": 0.0, "kd": 8.0, "slope": 5.0}
    _, blind, _ = rubbed(arm, arm.control.passivity_based(**gains), move, 8000)
    network = radial_basis_network(arm, np.linspace(-1.5, 1.5, 21), 0.12, 20.0, 5.0)
    first, learned, run = rubbed(arm, arm.control.passivity_based(**gains, compensator=network), move)
    assert learned < 0.5 * first and learned < 0.25 * blind
    assert np.abs(run["weights"][-1]).max() < 10.0
    fast = np.abs(run["qd"][-500:, 0]) > 0.5  # where friction is what it is
    known = (3.0 * np.tanh(run["qd"][-500:, 0] / 0.02))[fast]
    assert np.abs(run["compensation"][-500:, 0][fast] - known).mean() < 0.6
    rules = fuzzy_rules(arm, [5.0, 2.5], 0.02, 0.1)
    _, held, _ = rubbed(arm, arm.control.passivity_based(**gains, compensator=rules), move, 8000)
    assert held < 0.25 * blind


def test_the_network_is_its_formula(arm):
    """Outputs and rates beside NumPy, by velocities and by states; limits of what is learned; NaN."""
    rng = np.random.default_rng(5)
    q, qd, target, target_qd = rng.normal(size=(4, 2))
    s = target_qd - qd + [5.0, 4.0] * (target - q)
    for centers in (rng.normal(size=6), rng.normal(size=(6, 4))):
        network = radial_basis_network(arm, centers, 0.7, [3.0, 2.0], [5.0, 4.0], leakage=0.1)
        W = rng.normal(size=(2, 6))
        away = (qd[:, None] - centers)**2 if centers.ndim == 1 else np.sum(
            (np.concatenate([q, qd]) - centers)**2, axis=1)[None]
        phi = np.broadcast_to(np.exp(-away / (2 * 0.7**2)), (2, 6))
        now = network.step(W.ravel(), q, qd, target, target_qd, 1e-3)
        assert now.compensation == pytest.approx(np.sum(W * phi, axis=1), rel=1e-12)
        rate = np.array([[3.0], [2.0]]) * (s[:, None] * phi - 0.1 * W)
        assert (now.x - W.ravel()) / 1e-3 == pytest.approx(rate.ravel(), rel=1e-9)
        wrong = network.step(W.ravel(), [np.nan, 0.0], qd, target, target_qd, 1e-3)
        assert np.isfinite(wrong.x).all() and np.isfinite(wrong.compensation).all()
    bounded = radial_basis_network(arm, [0.0], 1.0, 10.0, 5.0, most=2.0)
    assert bounded.step([2.5, -2.5], *[[0.0, 0.0]] * 2, [1.0, 1.0], [0.0, 0.0], 1e-3).x.tolist() == pytest.approx(
        [2.5, -2.5 + 10.0 * 5.0 * 1e-3])


def test_rules_interpolate_their_table(arm):
    """By products bilinear, as SciPy has it; by the lesser membership as a loop over rules has it; both bounded."""
    table = np.random.default_rng(6).uniform(-1, 1, size=(5, 3))
    points = np.random.default_rng(7).normal(size=(300, 2)) * [0.15, 1.5]
    given = np.clip(points / [0.1, 1.0], -1, 1)
    known = RegularGridInterpolator((np.linspace(-1, 1, 5), np.linspace(-1, 1, 3)), table)(given)
    still = np.zeros((300, 2))
    e, ed = (np.stack([x, x], axis=1) for x in points.T)
    found = fuzzy_rules(arm, [4.0, 2.0], 0.1, 1.0, rules=table).step(still, -ed, e, still)
    assert found == pytest.approx(np.stack([4.0 * known, 2.0 * known], axis=1), abs=1e-12)
    found = fuzzy_rules(arm, 4.0, 0.1, 1.0, rules=table, inference="minimum").step(still, -ed, e, still)
    for (x, y), there in zip(given[:50], found[:50, 0], strict=True):
        weights = [[min(max(0.0, 1 - abs(x - a) * 2), max(0.0, 1 - abs(y - b))) for b in (-1, 0, 1)]
                   for a in (-1, -0.5, 0, 0.5, 1)]
        assert there == pytest.approx(4.0 * np.sum(np.array(weights) * table) / np.sum(weights), abs=1e-12)
    for bad in BAD:
        assert np.isfinite(fuzzy_rules(arm, 4.0, 0.1, 1.0).step([bad, 0.0], [0.0, bad], [0.0, 0.0], [0.0, 0.0])).all()


def test_a_function_is_a_compensator(arm):
    """Friction that is known, as a kernel of one's own, is cancelled; what is wrong with one is named."""
    @cy.kernel("(n)->(n)")
    def friction(qd):
        return 0.4 * qd

    law = arm.control.computed_torque(100.0, 20.0, compensator=friction)
    plain = arm.control.computed_torque(100.0, 20.0)
    given = np.random.default_rng(8).normal(size=(5, 2))
    assert law.step(*given).tau == pytest.approx(plain.step(*given) + 0.4 * given[1], rel=1e-12)
    assert law.step([np.nan, 0.0], *given[1:]).tau == pytest.approx(
        plain.step([np.nan, 0.0], *given[1:]) + 0.4 * given[1])
    for compensator, what in [(lambda speed: speed, "'speed'"), (3.0, "a function"),
                              (momentum_observer(arm, 1.0), "output `compensation`")]:
        with pytest.raises(SignatureError, match=what):
            arm.control.pd_with_gravity(10.0, 1.0, compensator=compensator)
    with pytest.raises(SignatureError, match="does not have"):
        compensated(momentum_observer(arm, 1.0), lambda q: q)


# The linear-quadratic regulator


def test_gains_are_those_of_python_control(arm):
    """Continuous, discrete, with integrals; the poles of the compiled loop are those of the regulator."""
    q = np.array([0.5, -0.3])
    M = arm.inertia_matrix(q)
    h = 1e-6
    P = np.stack([(arm.gravity_forces(q + h * k) - arm.gravity_forces(q - h * k)) / (2 * h) for k in np.eye(2)], axis=1)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, P), np.zeros((2, 2))]])
    B = np.concatenate([np.zeros((2, 2)), np.linalg.inv(M)])
    Q, R = np.diag([80.0, 60.0, 2.0, 1.0]), np.diag([0.1, 0.2])
    law = arm.control.lqr(q, np.diag(Q), [0.1, 0.2])
    K, _, poles = python_control.lqr(A, B, Q, R)
    assert law.parameters["gain"] == pytest.approx(K, rel=1e-6)
    found = np.linalg.eigvals(cy.connect(arm, law).linearize({"q": q, "qd": [0.0, 0.0]}, {"target": q}).A)
    assert np.poly(found) == pytest.approx(np.poly(poles), rel=1e-6)
    sampled = python_control.c2d(python_control.ss(A, B, np.eye(4), 0), 0.01)
    K, _, _ = python_control.dlqr(sampled.A, sampled.B, Q, R)
    assert arm.control.lqr(q, Q, R, period=0.01).parameters["gain"] == pytest.approx(K, rel=1e-6)
    integral = arm.control.lqr(q, Q, R, integral=[300.0, 200.0])
    K, _, _ = python_control.lqr(
        np.block([[A, np.zeros((4, 2))], [np.eye(2, 6)]]), np.concatenate([B, np.zeros((2, 2))]),
        np.diag([80.0, 60.0, 2.0, 1.0, 300.0, 200.0]), R)
    assert np.hstack([integral.parameters["gain"], integral.parameters["ki"]]) == pytest.approx(K, rel=1e-6)


def test_integral_action_leaves_no_offset_and_does_not_wind_up(arm):
    q = np.array([0.5, -0.3])
    weights = [100.0, 100.0, 1.0, 1.0]
    plain = arm.control.lqr(q, weights, 0.01)
    law = arm.control.lqr(q, weights, 0.01, integral=500.0, wind_up=[15.0, 15.0])
    heavy = arm.with_payload("tool", 0.3)
    ends = [cy.connect(heavy, made).rollout()({"q": q, "qd": [0.0, 0.0]}, step=2e-3, steps=4000, every=4000,
                                              inputs={"target": q}).end["q"] - q for made in (plain, law)]
    assert np.abs(ends[0]).min() > 5e-3 and np.abs(ends[1]).max() < 1e-6
    x = np.zeros(2)
    for _ in range(3000):  # held fast
        now = law.step(x, q, [0.0, 0.0], q + 0.3, [0.0, 0.0], 1e-2)
        x = now.x
    assert np.abs(np.abs(law.parameters["ki"]).max(axis=0) * x).max() < 15.0 * 1.1
    for bad in BAD:
        now = law.step(x, [bad, 0.1], [0.0, 0.0], q, [0.0, 0.0], 1e-2)
        assert np.isfinite(now.tau).all() and np.isfinite(now.x).all()


def test_what_no_drive_reaches_is_named(arm):
    with pytest.raises(SingularityError, match="a motion of 'joint1', 'joint2' with the pole"):
        arm.with_gravity([0.0, 0.0, 0.0]).control.lqr([0.5, -0.3], driven=["joint1"])
    with pytest.raises(SingularityError, match="a step does not decay"):
        arm.with_gravity([0.0, 0.0, 0.0]).control.lqr([0.5, -0.3], driven=["joint1"], period=0.01)
    with pytest.raises(SignatureError, match="'joint2' has no drive there"):
        arm.control.lqr([0.5, -0.3], driven=["joint1"])
    with pytest.raises(SingularityError, match="no weight"):
        arm.with_gravity([0.0, 0.0, 0.0]).control.lqr([0.5, -0.3], [0.0, 0.0, 1.0, 1.0])
    with pytest.raises(SignatureError, match="weights of state"):
        arm.control.lqr([0.5, -0.3], [1.0, 2.0, 3.0])
    with pytest.raises(SignatureError, match="positive definite"):
        arm.control.lqr([0.5, -0.3], 1.0, 0.0)
    with pytest.raises(SignatureError, match="equilibrium"):
        arm.control.lqr([0.5])
    with pytest.raises(CayleyError, match="quaternion"):
        cy.load("s1_f1", floating_base=True).variants.with_missing_masses(1.0).control.lqr(np.zeros(8))


def test_a_closed_mechanism_is_regulated_in_its_independent_joints():
    """One coordinate and its rate: the gains of python-control on the linear model, at the driven joint alone."""
    bar = cy.load("four_bar")
    q = bar.loops.close(np.zeros(bar.nq)).configuration
    law = bar.control.lqr(q, [50.0, 2.0], 0.1)
    linear = LinearisedMechanism(bar.tree).at(q)
    driven = list(bar.tree.actuated_velocities)
    K, _, _ = python_control.lqr(linear.A, linear.B[:, driven], np.diag([50.0, 2.0]), 0.1 * np.eye(1))
    assert law.parameters["gain"][driven] == pytest.approx(K, rel=1e-6)
    assert np.count_nonzero(law.parameters["gain"]) == 2


def test_wrong_gains_of_robust_laws_are_named(arm):
    for make, what in [
            (lambda: arm.control.sliding_mode(1.0, 1.0, -1.0, 0.1), "gains bound must not be negative"),
            (lambda: arm.control.sliding_mode(1.0, 1.0, 1.0, 0.1, payload="tool"), "take an `uncertainty`"),
            (lambda: momentum_observer(arm, 0.0), "gains gain must be positive"),
            (lambda: radial_basis_network(arm, [[0.0]], 1.0, 1.0, 1.0), "centers"),
            (lambda: radial_basis_network(arm, [0.0], 0.0, 1.0, 1.0), "width"),
            (lambda: fuzzy_rules(arm, 1.0, 1.0, 1.0, rules=[["NB", "PX"]] * 2), "not 'PX'"),
            (lambda: fuzzy_rules(arm, 1.0, 1.0, 1.0, rules=[["NB", "ZE"], ["PB"]]), "of one length"),
            (lambda: fuzzy_rules(arm, 1.0, 1.0, 1.0, rules=[[0.0, 2.0]] * 2), "from -1 to 1")]:
        with pytest.raises(SignatureError, match=what):
            make()
    with pytest.raises(ConventionError, match="product"):
        fuzzy_rules(arm, 1.0, 1.0, 1.0, inference="max")


def test_every_law_is_c(arm):
    """State and all: each compiles without a warning, and remembers as it does here."""
    network = radial_basis_network(arm, np.linspace(-1.0, 1.0, 3), 0.5, 20.0, 5.0)
    for law in (arm.control.sliding_mode(1.0, 5.0, 1.0, 0.1), arm.control.disturbance_rejection(100.0, 20.0, 40.0),
                arm.control.lqr([0.5, -0.3], 100.0, 0.01, integral=500.0),
                arm.control.passivity_based(0.0, 8.0, 5.0, compensator=network)):
        assert compiled_c(law.c_source("law", dtype="float32"))
