"""Independent-joint, gravity-compensated, computed-torque and workspace laws: worked examples, closed forms of their
error equations, Routh's limit from both sides; wrong models, limits, samples, singular postures, NaN."""

import ctypes

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import cayley as cy
from cayley.control import (
    computed_torque,
    joint_control,
    joint_equilibrium,
    joint_error_model,
    joint_gains,
    motors_of,
    pd_with_gravity,
    pd_with_gravity_lyapunov,
    resolved_acceleration,
    sample_and_hold,
    saturation,
    voltage_commands,
    workspace_pd,
    workspace_pd_lyapunov,
)
from cayley.errors import ConventionError, SignatureError, SingularityError, UnreachableError, UnsupportedError
from cayley.model.joint_kinds import Prismatic
from cayley.model.parts import Body, Joint
from cayley.systems.text_kernels import output_kernel
from compiler.parity import compiled_c
from systems.plants import driven_rod, driven_rods, rods

CLOSE = {"rtol": 1e-11, "atol": 1e-12}
PLANE = [True, True, False, False, False, False]


def still(n, **more):
    return {"q": np.zeros(n), "qd": np.zeros(n), **more}


def servo(arm, law):
    return cy.connect(arm, motors_of(arm), law)


def cubic_decay(kp, kd, ki, e0, t):
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-ki, -kp, -kd]])  # of (integral, e, e')
    return np.array([(expm(A * s) @ [0.0, e0, 0.0])[1] for s in t])


# Independent joints


@pytest.mark.spec("S3-41")
def test_poles_of_the_worked_joint_and_of_the_loop():
    arm = driven_rod()
    model = joint_error_model(arm, 20.0, 1.0)
    assert np.allclose(model.damping / model.inertia, 301.0) and np.allclose(model.stiffness / model.inertia, 1000.0)
    assert np.allclose(model.poles, [-297.6402392278, -3.3597607722], atol=1e-9)
    whole = joint_error_model(arm, 20.0, 1.0, target=[0.5], links=True)  # with the links it is the loop's own
    law = joint_control(1, 20.0, 1.0, output="voltage")
    rest = joint_equilibrium(arm, 20.0, [0.5])
    found = np.linalg.eigvals(servo(arm, law).linearize({"q": rest, "qd": [0.0]}, {"target": [0.5]}).A)
    exact = joint_error_model(arm, 20.0, 1.0, target=rest, links=True)
    assert np.allclose(np.sort(found), exact.poles.real, rtol=1e-9) and np.allclose(exact.poles, whole.poles, rtol=1e-3)


@pytest.mark.spec("S3-41")
def test_gains_for_a_frequency_and_a_damping():
    """Without links and gravity the loop is what was asked for; D is diagonal, gears may be negative."""
    arm = driven_rods().with_friction("joint1", viscous=0.4).including("friction", "armature")
    kp, kd = joint_gains(arm, [200.0, 150.0], [0.8, 1.0])
    model = joint_error_model(arm, kp, kd)
    known = np.concatenate([np.roots([1, 2 * 0.8 * 200, 200.0**2]), [-150.0, -150.0]])
    assert np.allclose(np.sort_complex(np.poly(model.poles)), np.sort_complex(np.poly(known)), rtol=1e-9)
    light = cy.Mechanism(arm.tree.with_parts(
        [type(b)(b.name, 1e-9 * (b.mass or 0.0), b.center, 1e-9 * b.inertia) for b in arm.bodies], arm.joints))
    light = light.with_gravity([0.0, 0.0, 0.0]).including("friction", "armature")
    loop = servo(light, joint_control(2, kp, kd, output="voltage"))
    t = np.linspace(0, 0.05, 11)
    run = loop.simulate(still(2), times=t, inputs={"target": [0.3, -0.2]}, **CLOSE)
    w = 200 * np.sqrt(1 - 0.64)
    first = 1 - np.exp(-160 * t) * (np.cos(w * t) + 160 / w * np.sin(w * t))
    second = 1 - np.exp(-150 * t) * (1 + 150 * t)
    assert np.abs(run["q"] - np.stack([0.3 * first, -0.2 * second], axis=1)).max() < 1e-7
    with pytest.raises(SignatureError, match="by themselves"):
        joint_gains(arm, 10.0, 1.0)


@pytest.mark.spec("S3-41")
@pytest.mark.parametrize("gears", [(-100.0, -100.0), (100.0, -80.0), (-60.0, 120.0)])
def test_gains_behind_negative_gears_are_those_of_the_motor(gears):
    """The poles that were asked for, and the same sizes as behind positive gears, with the signs of the gears."""
    def driven(values):
        arm = driven_rods()
        winding = arm.joints[0].rotor.winding
        for joint, gear in zip(arm.joint_names, values, strict=True):
            arm = arm.with_drive(joint, inertia=1e-5, gear=gear, winding=winding)
        return arm.including("armature")

    arm = driven(gears)
    found, plain = joint_gains(arm, [400.0, 500.0], [1.2, 1.0]), joint_gains(driven(np.abs(gears)), [400.0, 500.0],
                                                                             [1.2, 1.0])
    for ours, other in zip(found, plain, strict=True):
        assert ours == pytest.approx(np.sign(gears) * other)
    known = np.concatenate([np.roots([1, 2 * 1.2 * 400, 400.0**2]), [-500.0, -500.0]])
    assert np.allclose(np.poly(joint_error_model(arm, *found).poles), np.poly(known), rtol=1e-9)
    with pytest.raises(SignatureError, match="by themselves"):
        joint_gains(arm, 10.0, 1.0)


@pytest.mark.spec("S3-41")
def test_a_joint_alone_is_a_good_model_behind_high_gears_at_low_speed_only():
    """The error of the decoupled model shrinks with the gear; the same law, arm and poles."""
    away = []
    for gear in (100.0, 400.0, 1600.0):
        winding = driven_rods().joints[0].rotor.winding
        arm = rods().with_gravity([0.0, 0.0, 0.0])
        for joint in arm.joint_names:
            arm = arm.with_drive(joint, inertia=1e-5, gear=gear, winding=winding)
        arm = arm.including("armature")
        kp, kd = joint_gains(arm, 200.0, 1.0)
        run = servo(arm, joint_control(2, kp, kd, output="voltage")).simulate(
            still(2), times=np.linspace(0, 0.05, 6), inputs={"target": [0.3, 0.3]}, rtol=1e-9, method="Radau")
        known = 0.3 * (1 - np.exp(-200 * run.t) * (1 + 200 * run.t))
        away.append(np.abs(run["q"] - known[:, None]).max())
    assert away[0] > 5 * away[1] > 25 * away[2]


@pytest.mark.spec("S3-42")
def test_the_offset_under_gravity():
    """By the formula, by the exact root, by simulation, and by the final value of the Laplace form."""
    arm = driven_rod()
    model = joint_error_model(arm, 20.0, 1.0, target=[0.5])
    assert model.offset == pytest.approx(0.0217787854, abs=1e-10)
    root = brentq(lambda q: 100 * (0.5 - q) - 2.4525 * np.cos(q), 0.0, 1.0, xtol=1e-14)
    assert 0.5 - joint_equilibrium(arm, 20.0, [0.5])[0] == pytest.approx(0.5 - root, abs=1e-12)
    assert 0.5 - root == pytest.approx(0.0217736025, abs=1e-9)
    loop = servo(arm, joint_control(1, 20.0, 1.0, output="voltage"))
    end = loop.simulate(still(1), until=20.0, inputs={"target": [0.5]}, **CLOSE).end["q"][0]
    assert 0.5 - end == pytest.approx(0.0217736025, abs=1e-9)
    assert (1e-6 * model.laplace(1e-6))[0] == pytest.approx(model.offset[0], rel=1e-5)
    two = joint_error_model(driven_rods(), [20.0, 15.0], 1.0, target=[0.8, -0.5])  # coupled by gravity
    q = np.array([0.8, -0.5])
    C = np.array([[(rods().gravity_forces(q + h)[i] - rods().gravity_forces(q - h)[i]) / 2e-6 for h in 1e-6 * np.eye(2)]
                  for i in range(2)])
    known = np.linalg.solve(np.diag([100.0, 40.0]) + C, rods().gravity_forces(q))
    assert np.allclose(two.offset, known, rtol=1e-8)
    exact = q - joint_equilibrium(driven_rods(), [20.0, 15.0], q)
    assert np.abs(two.offset - exact).max() < 0.1 * np.abs(exact).max()


@pytest.mark.spec("S3-42")
def test_an_arm_that_stands_up_needs_gains_beyond_its_weight():
    """C is negative there: below it the model is unstable and the arm falls, above it stands, without offset."""
    arm = driven_rod()
    up = np.pi / 2
    enough = 2.4525 / 5
    for factor, stays in ((0.9, False), (1.1, True)):
        model = joint_error_model(arm, factor * enough, 0.0, target=[up])
        assert model.is_stable is stays
        loop = servo(arm, joint_control(1, factor * enough, 0.0, output="voltage"))
        end = loop.simulate({"q": [up + 0.01], "qd": [0.0]}, until=150.0, inputs={"target": [up]}).end["q"][0]
        assert bool(abs(end - up) < 0.01) is stays
        if not stays:
            with pytest.raises(SingularityError, match="errors grow"):
                model.offset  # noqa: B018
    winding = arm.joints[0].rotor.winding
    hoist = cy.Mechanism.of("hoist", [Body("base"), Body("load", 2.0)],
                            [Joint("slide", "base", "load", Prismatic((0.0, 0.0, 1.0)))])
    with pytest.raises(UnreachableError, match="no place"):  # a weight that nothing holds
        joint_equilibrium(hoist.with_drive("slide", inertia=1e-5, gear=100.0, winding=winding), 0.0, [0.3])


@pytest.mark.spec("S3-43")
def test_integral_action_leaves_no_offset_and_has_a_limit():
    arm = driven_rod()
    model = joint_error_model(arm, 20.0, 1.0, 40.0, target=[0.5])
    I = model.inertia[0, 0]
    assert np.allclose([1, model.damping[0, 0] / I, model.stiffness[0, 0] / I, model.integral[0, 0] / I],
                       [1, 301, 988.2420886657, 2000], atol=1e-9)
    assert np.allclose(model.poles, [-297.7030095, -1.6484952 - 2.0001420j, -1.6484952 + 2.0001420j], atol=1e-7)
    assert model.largest_ki == pytest.approx([5949.217], abs=1e-3) and model.offset == 0.0
    loop = servo(arm, joint_control(1, 20.0, 1.0, 40.0, output="voltage"))
    end = loop.simulate(still(1), until=20.0, inputs={"target": [0.5]}, rtol=1e-11, atol=1e-13).end
    assert abs(0.5 - end["q"][0]) < 1e-11 and 40.0 * end["integral"][0] == pytest.approx(0.4304542466, abs=1e-9)
    with pytest.raises(SignatureError, match="coupled"):
        joint_error_model(driven_rods(), 20.0, 1.0, target=[0.1, 0.2]).largest_ki  # noqa: B018


@pytest.mark.spec("S3-43")
def test_rouths_limit_is_crossed_in_simulation():
    """Of the loop with the link's inertia: an error of 1e-3 dies out below the limit and grows above it."""
    arm = driven_rod()
    exact = joint_error_model(arm, 20.0, 1.0, target=[0.5], links=True)
    limit = exact.largest_ki[0]
    for factor, dies in ((0.97, True), (1.03, False)):
        ki = factor * limit
        assert joint_error_model(arm, 20.0, 1.0, ki, target=[0.5], links=True).is_stable is dies
        loop = servo(arm, joint_control(1, 20.0, 1.0, ki, output="voltage"))
        held = 2.4525 * np.cos(0.5) / 5 / ki
        rolled = loop.rollout()({"q": [0.499], "qd": [0.0], "integral": [held]}, step=5e-4, steps=12000, every=10,
                                inputs={"target": [0.5]})
        error = np.abs(rolled["q"][:, 0] - 0.5)
        assert bool(error[-100:].max() < error[:100].max()) is dies


@pytest.mark.spec("S3-51")
def test_a_limit_to_integral_action_keeps_saturated_drives_from_winding_up():
    """A voltage that is limited: with a limited integral the joint overshoots less and comes to the target."""
    arm = driven_rod()
    peaks = []
    for wind_up in (None, 1.0):
        law = joint_control(1, 20.0, 0.0, 40.0, wind_up=wind_up, output="wanted_voltage")
        loop = cy.connect(arm, motors_of(arm), law, saturation("voltage", [3.0]))
        run = loop.simulate(still(1), until=12.0, inputs={"target": [2.0]}, max_step=0.02)
        assert np.abs(run["voltage"]).max() <= 3.0
        if wind_up is not None:
            assert abs(run.end["q"][0] - 2.0) < 1e-4 and np.abs(40.0 * run["integral"]).max() < 1.0 + 0.05
        peaks.append(run["q"].max() - 2.0)
    assert peaks[1] < 0.3 * peaks[0]


# Gravity compensation


@pytest.mark.spec("S3-44")
def test_the_worked_arm_with_gravity_compensation():
    arm = driven_rods().including("armature")
    kp, kd, target = np.array([20.0, 15.0]), np.array([1.0, 0.8]), np.array([0.8, -0.5])
    loop = servo(arm, pd_with_gravity(arm, kp, kd, output="voltage"))
    t = np.linspace(0, 1, 101)
    run = loop.simulate(still(2), times=t, inputs={"target": target}, **CLOSE)
    V = pd_with_gravity_lyapunov(driven_rods(), kp, kd, output="voltage")(run["q"], run["qd"], target)
    assert V.value[[0, 30, 100]] == pytest.approx([37.0, 5.483052919, 0.0301108356], abs=1e-8)
    assert run["q"][30] == pytest.approx([0.5018642333, -0.3388181980], abs=1e-9)
    assert run["qd"][30] == pytest.approx([1.1226707695, -0.5329829425], abs=1e-8)
    assert (np.diff(V.value) < 0).all() and V.rate[30] == pytest.approx(-40.84178, rel=1e-6)
    qd = run["qd"][30]
    assert V.rate[30] == pytest.approx(-qd @ (np.array([30.0, 10.6666666667]) * qd), rel=1e-10)
    nearby = loop.simulate({"q": run["q"][30], "qd": qd}, times=[0.0, 1e-5], inputs={"target": target}, **CLOSE)
    after = pd_with_gravity_lyapunov(driven_rods(), kp, kd, output="voltage")(nearby["q"][1], nearby["qd"][1], target)
    assert (after.value - V.value[30]) / 1e-5 == pytest.approx(V.rate[30], rel=1e-3)
    assert V.rate[0] == 0.0 and V.value[0] > 0  # at rest away from the target: LaSalle, not V' < 0


@pytest.mark.spec("S3-44")
def test_the_arm_gets_to_its_target_from_everywhere():
    """A batch of starts in a compiled rollout: V falls all the way, with friction too, and the arm arrives."""
    arm = rods().with_friction("joint1", viscous=0.3).including("friction")
    target = np.array([1.2, -0.7])
    loop = cy.connect(arm, pd_with_gravity(arm, [60.0, 40.0], [12.0, 6.0]))
    rng = np.random.default_rng(0)
    start = {"q": rng.uniform(-3, 3, size=(64, 2)), "qd": rng.uniform(-3, 3, size=(64, 2))}
    run = loop.rollout()(start, step=1e-3, steps=12000, every=100, inputs={"target": target})
    V = pd_with_gravity_lyapunov(arm, [60.0, 40.0], [12.0, 6.0])(run["q"], run["qd"], target)
    assert (np.diff(V.value, axis=-1) <= 1e-12 * V.value[..., :1]).all() and (V.rate <= 0).all()
    assert np.abs(run.end["q"] - target).max() < 1e-4


@pytest.mark.spec("S3-51")
def test_integral_action_takes_the_offset_of_a_wrong_model_away():
    """A payload that no law knows: an offset with PD, none with PID, of all three laws."""
    model = rods()
    plant = model.with_payload("tool", 0.5)
    target = np.array([0.4, 1.2])
    point = model.pose(target, "tool")[:3, 3]
    laws = {"gravity": (60.0, lambda ki: pd_with_gravity(model, 80.0, 20.0, ki)),
            "computed torque": (100.0, lambda ki: computed_torque(model, 100.0, 20.0, ki)),
            "workspace": (200.0, lambda ki: workspace_pd(model, "tool", 300.0, 5.0, ki, task=PLANE))}
    for name, (integral, law) in laws.items():
        wanted = point if name == "workspace" else target
        left = []
        for ki in (None, integral):
            roll = cy.connect(plant, law(ki)).rollout()
            end = roll({"q": [0.3, 0.5], "qd": [0.0, 0.0]}, step=2e-3, steps=20000, every=20000,
                       inputs={"target": wanted}).end["q"]
            left.append(np.abs(end - target).max())
        assert left[0] > 5e-3 and left[1] < 1e-6, name


@pytest.mark.spec("S3-51")
def test_computed_torque_with_integral_action_obeys_a_cubic():
    arm = rods()
    t = np.linspace(0, 1.5, 16)
    loop = cy.connect(arm, computed_torque(arm, 100.0, 20.0, 150.0))
    run = loop.simulate(still(2), times=t, inputs={"target": [0.3, -0.2]}, **CLOSE)
    known = cubic_decay(100.0, 20.0, 150.0, 1.0, t)
    assert np.abs([0.3, -0.2] - run["q"] - known[:, None] * [0.3, -0.2]).max() < 1e-9
    for ki, dies in ((1900.0, True), (2100.0, False)):  # Routh: ki < kp kd = 2000
        loop = cy.connect(arm, computed_torque(arm, 100.0, 20.0, ki))
        rolled = loop.rollout()(still(2), step=1e-3, steps=6000, every=10, inputs={"target": [0.1, 0.1]})
        error = np.abs(rolled["q"] - 0.1).max(axis=-1)
        assert bool(error[-100:].max() < error[:100].max()) is dies
    at = workspace_pd(arm, "tool", 100.0, 10.0, 5.0, task=PLANE)
    assert at.state["integral"].shape == (2,)


# Computed torque


@pytest.mark.spec("S3-45")
def test_the_worked_tracking_by_computed_torque():
    arm = rods()
    along = {"target": lambda t, *x: [0.5 * np.sin(t), 0.3 * np.cos(2 * t)],
             "target_qd": lambda t, *x: [0.5 * np.cos(t), -0.6 * np.sin(2 * t)],
             "target_qdd": lambda t, *x: [-0.5 * np.sin(t), -1.2 * np.cos(2 * t)]}
    t = np.linspace(0, 0.5, 6)
    run = cy.connect(arm, computed_torque(arm, 100.0, 20.0)).simulate(
        {"q": [0.2, 0.1], "qd": [0.0, 0.0]}, times=t, inputs=along, **CLOSE)
    error = np.stack([0.5 * np.sin(t), 0.3 * np.cos(2 * t)], axis=1) - run["q"]
    e0, rate = np.array([-0.2, 0.2]), np.array([0.5, 0.0])
    assert np.abs(error - (e0 + np.outer(t, rate + 10 * e0)) * np.exp(-10 * t)[:, None]).max() < 1e-9
    assert error[-1] == pytest.approx([-0.0064010496, 0.0080855364], abs=1e-9)


@pytest.mark.spec("S3-45")
def test_a_wrong_model_forces_and_couples_the_error_as_its_equation_says():
    """e'' + kd e' + kp e = M^^-1 ((M - M^) qdd + h - h^ + (D - D^) qd), integrated by SciPy."""
    plant = rods(masses=(2.6, 1.1)).with_friction("joint1", viscous=0.8).including("friction")
    model = rods()
    target = np.array([0.6, -0.4])
    loop = cy.connect(plant, computed_torque(model, 100.0, 20.0))
    run = loop.simulate(still(2), times=np.linspace(0, 0.6, 7), inputs={"target": target}, **CLOSE)

    def slope(t, y):
        e, ed = y[:2], y[2:]
        q, qd = target - e, -ed
        M, N = plant.inertia_matrix(q), model.inertia_matrix(q)
        h = plant.bias_forces(q, qd) - model.bias_forces(q, qd)
        own = -20 * ed - 100 * e  # e'' = own + N^-1 ((M - N) qdd + h), qdd = -e''
        edd = np.linalg.solve(np.eye(2) + np.linalg.solve(N, M - N), own + np.linalg.solve(N, h))
        return np.concatenate([ed, edd])

    known = solve_ivp(slope, (0, 0.6), [*target, 0.0, 0.0], t_eval=run.t, method="DOP853", **CLOSE).y[:2].T
    assert np.abs(target - run["q"] - known).max() < 1e-8
    assert np.abs(known[-1]).max() > 1e-3


def test_a_sampled_and_late_loop_at_1_khz_is_all_but_the_continuous_one():
    """One period to compute: the closed-form decay to a few per mil, in a compiled rollout; at 20 Hz it is unstable."""
    arm = rods()
    law = computed_torque(arm, 100.0, 20.0).renamed({"tau": "wanted_tau"})
    ends = {}
    for period in (1e-3, 0.05):
        loop = cy.connect(arm, law, sample_and_hold("tau", 2, period, late=1))
        run = loop.rollout(remembered=0, method="rk4")(still(2), step=period / 2, steps=round(2.0 / period), every=2,
                                                       inputs={"target": [0.3, -0.2]})
        known = (1 - np.exp(-10 * run.t) * (1 + 10 * run.t))[:, None] * [0.3, -0.2]
        ends[period] = np.abs(run["q"] - known).max()
    assert ends[1e-3] < 0.02 and ends[0.05] > 0.1


# Laws of the workspace


@pytest.mark.spec("S3-46")
def test_the_worked_arm_under_workspace_control():
    arm = rods()
    target = np.array([0.5, 0.35, 0.0])
    loop = cy.connect(arm, workspace_pd(arm, "tool", 200.0, 5.0, task=PLANE))
    run = loop.simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, times=np.linspace(0, 25, 501), inputs={"target": target},
                        **CLOSE)
    assert run.end["q"] == pytest.approx([-0.1001516482, 1.6646842019], abs=1e-9)
    V = workspace_pd_lyapunov(arm, "tool", 200.0, 5.0, task=PLANE)(run["q"], run["qd"], target)
    assert (np.diff(V.value) <= 1e-12).all() and np.allclose(V.rate, -5 * np.sum(run["qd"] ** 2, axis=-1))


@pytest.mark.spec("S3-46")
def test_the_rate_of_its_energy_holds_for_poses_with_any_gains():
    """V' of the law beside differences of V along the motion, gains of turns all different (an Euler-angle error with
    the geometric Jacobian has V' > 0 here)."""
    arm = cy.load("puma560")
    kp, kd = np.array([100.0, 120.0, 90.0, 10.0, 25.0, 4.0]), 0.5
    rng = np.random.default_rng(0)
    law = workspace_pd(arm, "tool", kp, kd)
    energy = workspace_pd_lyapunov(arm, "tool", kp, kd)
    loop = cy.connect(arm, law)
    q = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4])
    target = arm.pose(q + np.array([0.3, -0.2, 0.25, 0.5, -0.4, 0.3]), "tool")
    h = 1e-7  # the wrist is light
    for qd in rng.normal(size=(6, 6)):
        rates = arm.forward_dynamics(q, qd, _tau(law, q=q, qd=qd, target=target))
        sides = [energy(q + s * h * qd + h**2 / 2 * rates, qd + s * h * rates, target).value for s in (-1, 1)]
        assert (sides[1] - sides[0]) / (2 * h) == pytest.approx(energy(q, qd, target).rate, rel=1e-5, abs=1e-4)
    assert loop.inputs["target"].shape == (4, 4)


@pytest.mark.spec("S3-46")
def test_where_the_transposed_jacobian_comes_to_rest_besides_its_target():
    """Stretched out towards a target that is nearer: J^T kp e = 0, an equilibrium with an error, left by a touch. Out
    of reach: it stretches towards it and stays finite."""
    arm = rods().with_gravity([0.0, 0.0, 0.0])
    law = workspace_pd(arm, "tool", 200.0, 8.0, task=PLANE)
    loop = cy.connect(arm, law)
    near = {"target": [0.6, 0.0, 0.0]}
    assert np.abs(_tau(law, q=np.zeros(2), qd=np.zeros(2), target=np.array([0.6, 0.0, 0.0]))).max() < 1e-12
    left = loop.simulate({"q": [0.0, 1e-3], "qd": [0.0, 0.0]}, until=30.0, inputs=near).end["q"]
    assert arm.pose(left, "tool")[:2, 3] == pytest.approx([0.6, 0.0], abs=1e-6)
    far = loop.simulate({"q": [0.5, 1.0], "qd": [0.0, 0.0]}, until=30.0, inputs={"target": [0.0, 2.0, 0.0]}).end["q"]
    assert arm.pose(far, "tool")[:2, 3] == pytest.approx([0.0, 0.9], abs=1e-5)


@pytest.mark.spec("S3-47")
def test_the_worked_circle_by_resolved_acceleration():
    arm = rods()
    circle = {"target": lambda t, *x: [0.5 + 0.1 * np.cos(t), 0.3 + 0.1 * np.sin(t), 0.0],
              "target_rate": lambda t, *x: [-0.1 * np.sin(t), 0.1 * np.cos(t)],
              "target_acceleration": lambda t, *x: [-0.1 * np.cos(t), -0.1 * np.sin(t)]}
    loop = cy.connect(arm, resolved_acceleration(arm, "tool", 100.0, 20.0, task=PLANE))
    t = np.linspace(0, 0.5, 6)
    run = loop.simulate({"q": [-0.2, 1.4], "qd": [0.0, 0.0]}, times=t, inputs=circle, **CLOSE)
    at = np.stack([0.5 + 0.1 * np.cos(t), 0.3 + 0.1 * np.sin(t)], axis=1)
    error = at - arm.pose(run["q"], "tool")[:, :2, 3]
    e0, rate = error[0], np.array([0.0, 0.1])
    assert e0 == pytest.approx([-0.0349763907, 0.0265190310], abs=1e-9)
    assert np.abs(error - (e0 + np.outer(t, rate + 10 * e0)) * np.exp(-10 * t)[:, None]).max() < 1e-8
    assert error[-1] == pytest.approx([-0.0014140144, 0.0014090003], abs=1e-8)


@pytest.mark.spec("S3-47")
def test_turns_have_no_wrap_around():
    """A pose three radians away about one axis: the angle that is left decays as the closed form, through pi."""
    arm = cy.load("puma560")
    q = np.array([0.2, -0.5, 0.3, 0.6, 0.9, -0.4])
    here = arm.pose(q, "tool")
    turn = 3.0
    spin = np.eye(4)
    spin[:3, :3] = [[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]]
    target = here @ spin  # about the tool's own axis, that of the last joint
    loop = cy.connect(arm, resolved_acceleration(arm, "tool", 100.0, 20.0, near=1e-12))
    t = np.linspace(0, 0.6, 7)
    run = loop.simulate({"q": q, "qd": np.zeros(6)}, times=t, inputs={"target": target}, rtol=1e-10, atol=1e-11)
    left = turn * np.exp(-10 * t) * (1 + 10 * t)
    R = np.swapaxes(here[:3, :3], 0, 1) @ arm.pose(run["q"], "tool")[:, :3, :3]
    angle = np.arctan2(R[:, 1, 0], R[:, 0, 0])
    assert np.abs(turn - angle - left).max() < 1e-6
    assert np.abs(arm.pose(run["q"], "tool")[:, :3, 3] - here[:3, 3]).max() < 1e-7


@pytest.mark.spec("S3-47")
def test_singular_postures_and_targets_out_of_reach_have_bounded_forces():
    arm = rods()
    law = resolved_acceleration(arm, "tool", 100.0, 20.0, task=PLANE)
    for q2 in (0.0, 1e-12, 1e-6, np.pi):
        tau = _tau(law, q=np.array([0.3, q2]), qd=np.array([0.5, -1.0]), target=np.array([0.4, 0.3, 0.0]))
        assert np.isfinite(tau).all() and np.abs(tau).max() < 1e5
    loop = cy.connect(arm, law.renamed({"tau": "wanted_tau"}), saturation("tau", [200.0, 100.0]))
    run = loop.rollout()({"q": [0.5, 1.0], "qd": [0.0, 0.0]}, step=5e-4, steps=8000, every=10,
                         inputs={"target": [0.0, 1.5, 0.0]})
    assert np.isfinite(run["q"]).all() and np.abs(run["tau"]).max() <= 200.0
    assert arm.pose(run.end["q"], "tool")[1, 3] > 0.8  # stretched towards it
    with pytest.raises(SignatureError, match="more than the 2 velocities"):
        resolved_acceleration(arm, "tool", 100.0, 20.0)
    with pytest.raises(UnsupportedError, match="all of an orientation"):
        resolved_acceleration(arm, "tool", 1.0, 1.0, task=[True, False, False, False, False, True])


def test_a_redundant_arm_keeps_its_pose_equation_and_comes_to_rest():
    arm = cy.load("panda")
    q = np.array([0.1, -0.4, 0.2, -2.0, 0.3, 1.8, 0.5])
    target = arm.pose(q, "panda_link8")
    target[:3, 3] += [0.05, -0.04, 0.03]
    loop = cy.connect(arm, resolved_acceleration(arm, "panda_link8", 100.0, 20.0))
    run = loop.rollout()({"q": q, "qd": np.zeros(7)}, step=1e-3, steps=1500, every=150, inputs={"target": target})
    left = target[:3, 3] - arm.pose(run["q"], "panda_link8")[:, :3, 3]
    known = np.outer(np.exp(-10 * run.t) * (1 + 10 * run.t), [0.05, -0.04, 0.03])
    assert np.abs(left - known).max() < 1e-7 and np.abs(run["qd"][-1]).max() < 1e-3


# Voltages, measurements that fail, wrong input


@pytest.mark.spec("S3-52")
def test_model_based_laws_at_the_level_of_voltages():
    """The decay of computed torque and of resolved acceleration, through motors; with a current loop as well, and
    within limits of voltage."""
    arm = driven_rods().with_friction("joint2", viscous=0.2).including("armature", "friction")
    t = np.linspace(0, 0.5, 6)
    law = computed_torque(arm, 100.0, 20.0).renamed({"tau": "wanted_tau"})
    known = (1 - np.exp(-10 * t) * (1 + 10 * t))[:, None] * [0.3, -0.2]
    run = cy.connect(arm, law, voltage_commands(arm), motors_of(arm)).simulate(
        still(2), times=t, inputs={"target": [0.3, -0.2]}, **CLOSE)
    assert np.abs(run["q"] - known).max() < 1e-9
    M = np.asarray(rods().inertia_matrix([0.0, 0.0])) + np.diag([0.1, 0.0512])
    first = (M @ [30.0, -20.0] + rods().gravity_forces([0.0, 0.0])) / [5.0, 8 / 3]
    assert run["voltage"][0] == pytest.approx(first, rel=1e-10)
    there = resolved_acceleration(arm, "tool", 100.0, 20.0, task=PLANE).renamed({"tau": "wanted_tau"})
    run = cy.connect(arm, there, voltage_commands(arm), motors_of(arm)).simulate(
        {"q": [-0.2, 1.4], "qd": [0.0, 0.0]}, times=t, inputs={"target": [0.6, 0.3, 0.0]}, **CLOSE)
    e = np.array([0.6, 0.3]) - arm.pose(run["q"], "tool")[:, :2, 3]
    assert np.abs(e - np.outer(np.exp(-10 * t) * (1 + 10 * t), e[0])).max() < 1e-8
    spring = workspace_pd(arm, "tool", 200.0, 5.0, task=PLANE)
    through = cy.connect(arm, spring.renamed({"tau": "wanted_tau"}), voltage_commands(arm), motors_of(arm))
    ends = [each.simulate({"q": [0.1, 1.2], "qd": [0.0, 0.0]}, until=0.5, inputs={"target": [0.5, 0.35, 0.0]},
                          **CLOSE).end["q"] for each in (through, cy.connect(arm, spring))]
    assert np.abs(ends[0] - ends[1]).max() < 1e-9  # as if nothing were between
    away = []
    for bandwidth in (1000.0, 10000.0):
        slow = driven_rods(inductance=2e-3).with_friction("joint2", viscous=0.2).including("armature", "friction")
        loop = cy.connect(slow, law, voltage_commands(slow, bandwidth=bandwidth), motors_of(slow))
        run = loop.simulate(still(2), times=t, inputs={"target": [0.3, -0.2]}, method="Radau", rtol=1e-8)
        away.append(np.abs(run["q"] - known).max())
    assert away[0] < 0.02 and away[1] < 0.2 * away[0]
    limited = cy.connect(arm, law, voltage_commands(arm).renamed({"voltage": "wanted_voltage"}),
                         saturation("voltage", [8.0, 2.0]), motors_of(arm))
    run = limited.simulate(still(2), until=4.0, inputs={"target": [0.3, -0.2]}, max_step=0.01)
    assert np.abs(run["voltage"]).max(axis=0) == pytest.approx([8.0, 2.0])
    assert run.end["q"] == pytest.approx([0.3, -0.2], abs=1e-6)
    with pytest.raises(SignatureError, match="with an inductance each"):
        voltage_commands(arm, bandwidth=100.0)


def _tau(law, **u):
    given = {name: np.broadcast_to(u.get(name, port.default), port.shape) for name, port in law.ports.items()}
    state = np.zeros(law.layout.size)
    return np.asarray(output_kernel(law)(0.0, state, *given.values(), *law.parameters.values()))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_no_law_ever_gives_a_force_that_is_not_a_number(bad):
    arm = driven_rods()
    point = np.array([0.5, 0.35, 0.0])
    laws = [(joint_control(2, 5.0, 1.0, 2.0), np.ones(2)), (pd_with_gravity(arm, 5.0, 1.0, 2.0), np.ones(2)),
            (pd_with_gravity(arm, 5.0, 1.0, output="voltage"), np.ones(2)),
            (computed_torque(arm, 5.0, 1.0, 2.0), np.ones(2)),
            (workspace_pd(arm, "tool", 5.0, 1.0, 2.0, task=PLANE), point),
            (resolved_acceleration(arm, "tool", 5.0, 1.0, 2.0, task=PLANE), point)]
    for law, target in laws:
        good = {"q": np.array([0.1, 1.2]), "qd": np.array([0.3, -0.2]), "target": target}
        assert np.isfinite(_tau(law, **good)).all() and _tau(law, **good).any()
        for name, value in good.items():
            for k in range(2):
                spoiled = np.array(value)
                spoiled[k] = bad
                found = _tau(law, **{**good, name: spoiled})
                assert np.isfinite(found).all(), (law.name, name, k)
                if law.derivative is not None:
                    u = law.input_record({n: np.broadcast_to({**good, name: spoiled}.get(n, port.default), port.shape)
                                          for n, port in law.ports.items()})
                    x = law.layout.state(np.zeros(law.layout.size))
                    with np.errstate(all="ignore"):
                        rate = law.derivative(0.0, x, u, law.parameter_record({}))
                    assert np.isfinite(np.asarray(rate, dtype=float)).all()
    alone = _tau(joint_control(2, 5.0, 1.0), q=np.array([bad, 0.2]), qd=np.zeros(2), target=np.ones(2))
    assert np.allclose(alone, [0.0, 4.0])  # the other joint does not feel it


@pytest.mark.parametrize(("dtype", "number", "tolerance"), [("float64", ctypes.c_double, 1e-12),
                                                            ("float32", ctypes.c_float, 2e-5)])
def test_laws_run_in_c_with_their_memory(dtype, number, tolerance):
    """A law with integral action in a C function that keeps nothing: the loop of ten looks beside the formula."""
    arm = rods()
    law = computed_torque(arm, 100.0, 20.0, 50.0, wind_up=30.0)
    function = compiled_c(law.c_source("law", dtype=dtype))
    vectors = [np.zeros(2, dtype=dtype) for _ in range(6)]
    x, q, qd, target, rate, acceleration = vectors
    tau, after = np.zeros(2, dtype=dtype), np.zeros(2, dtype=dtype)
    pointers = [v.ctypes.data_as(ctypes.POINTER(number)) for v in (*vectors, tau, after)]
    target[:] = [0.4, -0.3]
    z = np.zeros(2)
    for k in range(10):
        q[:], qd[:] = [0.01 * k, -0.02 * k], [0.1, 0.05 * k]
        function(*pointers[:6], number(1e-3), *pointers[6:])
        e = target.astype(float) - q
        known = arm.inverse_dynamics(q.astype(float), qd.astype(float), 100 * e - 20 * qd.astype(float) + 50 * z)
        assert np.allclose(tau, known, rtol=tolerance, atol=tolerance * 30)
        z = z + 1e-3 * e
        assert np.allclose(after, z, rtol=tolerance)
        x[:] = after
    step = law.step(x, q, qd, target, rate, acceleration, 1e-3)
    assert np.allclose(step.tau, arm.inverse_dynamics(q, qd, 100 * (target - q) - 20 * qd + 50 * x), rtol=1e-5)
    with pytest.raises(UnsupportedError, match="transitions"):
        sample_and_hold("tau", 2, 1e-3).c_source("hold")


def test_wrong_gains_and_words_are_named():
    arm = rods()
    with pytest.raises(SignatureError, match="gains ki"):
        joint_control(2, 1.0, 1.0, [1.0, 2.0, 3.0])
    with pytest.raises(SignatureError, match="gains kp must be numbers, not 'stiff'"):
        joint_control(2, "stiff", 1.0)
    with pytest.raises(SignatureError, match="wind_up must be positive"):
        joint_control(2, 1.0, 1.0, 1.0, wind_up=[1.0, 2.0, 3.0])
    with pytest.raises(SignatureError, match="wind_up limits integral action"):
        computed_torque(arm, 1.0, 1.0, wind_up=3.0)
    with pytest.raises(SignatureError, match="wind_up must be positive"):
        pd_with_gravity(arm, 1.0, 1.0, 1.0, wind_up=-3.0)
    with pytest.raises(ConventionError, match="gives out"):
        pd_with_gravity(arm, 1.0, 1.0, output="volts")
    with pytest.raises(SignatureError, match="at a target"):
        joint_error_model(driven_rods(), 1.0, 1.0, links=True)
    for law in (lambda m: pd_with_gravity(m, 1.0, 1.0), lambda m: workspace_pd(m, "tool", 1.0, 1.0)):
        with pytest.raises(UnsupportedError, match=r"no drive leads 'crank'|more than the 1 velocities"):
            law(cy.load("four_bar").variants.with_actuated())
