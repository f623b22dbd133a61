"""Passivity-based and adaptive laws: their energies, closed forms, the same laws written with Pinocchio, and estimates
that become what is there."""

import ctypes

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.control import digital, excitation, motion_target, passivity_based_lyapunov, unknown_names
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.laws.passivity_law import reference_forces, reference_regressor, unknown_parameters
from cayley.dynamics.identification import MOMENTS_FROM_INERTIA, linear_model
from cayley.errors import SignatureError, UnsupportedError
from cayley.planning import FunctionOfTime
from compiler.parity import compiled_c
from model.test_catalogue import pinocchio_model

CENTER = np.array([0.05, 0.02, 0.0])
INERTIA = np.diag([0.01, 0.02, 0.03])
PAYLOAD = 0.8
RATES = [3.0, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3]


@pytest.fixture(scope="module")
def arm():
    return cy.load("planar2r")


@pytest.fixture(scope="module")
def real(arm):
    return arm.with_payload("tool", PAYLOAD, center=CENTER, inertia=INERTIA)


@pytest.fixture(scope="module")
def move():
    return FunctionOfTime(lambda t: np.stack([0.8 * np.sin(1.3 * t), 0.6 * np.sin(2.1 * t + 1.0)]), end=60.0)


def on_target(move):
    return {"q": move(0.0).q, "qd": move(0.0).qd}


def forces_of(arm):
    return reference_forces(DriveDynamics.of(arm.tree, "a test"))


def christoffel_forces(model, q, qd, v, a):
    """M a + C(q, qd) v + g, with Christoffel's symbols of Pinocchio's inertia matrix by differences."""
    data = model.createData()

    def M(q):
        upper = np.triu(pin.crba(model, data, q))
        return upper + np.triu(upper, 1).T

    h = 1e-6
    slopes = np.stack([(M(q + h * k) - M(q - h * k)) / (2 * h) for k in np.eye(len(q))])  # k, i, j
    C = np.einsum("kij,k->ij", slopes, qd) + np.einsum("jik,k->ij", slopes, qd) - np.einsum("ijk,k->ij", slopes, qd)
    return M(q) @ a + C @ v / 2 + pin.computeGeneralizedGravity(model, data, q)


@pytest.mark.parametrize("name", ["planar2r", "s1_f3", "s3_w08", "puma560"])
def test_forces_at_a_reference_velocity(name):
    """Polarised inverse dynamics and regressors are M a + C v + g, of revolute and prismatic joints."""
    arm = cy.load(name)
    q, qd, v, a = np.random.default_rng(1).normal(size=(4, arm.nv))
    known = christoffel_forces(pinocchio_model(arm.tree), q, qd, v, a)
    assert forces_of(arm)(q, qd, v, a) == pytest.approx(known, rel=1e-7, abs=1e-7)
    model = linear_model(arm.tree)
    assert reference_regressor(model)(q, qd, v, a) @ model.values == pytest.approx(known, rel=1e-7, abs=1e-7)


def test_drives_that_are_included_are_part_of_the_reference_forces():
    arm = cy.load("planar2r").with_drive("joint1", inertia=1e-4, gear=50.0)
    arm = arm.with_friction("joint1", viscous=0.3).with_friction("joint2", viscous=0.1)
    arm = arm.including("armature", "friction")
    q, qd, v, a = np.random.default_rng(2).normal(size=(4, 2))
    known = forces_of(cy.load("planar2r"))(q, qd, v, a) + [0.25 * a[0], 0.0] + [0.3, 0.1] * qd
    assert forces_of(arm)(q, qd, v, a) == pytest.approx(known, rel=1e-13)
    unknown = unknown_parameters(arm.tree, "all", None, ["rotor", "viscous"])
    Y = unknown.regressor(DriveDynamics.of(arm.tree, "a test"))(q, qd, v, a)
    assert Y @ unknown.values == pytest.approx(known, rel=1e-12)
    bare = unknown_parameters(cy.load("planar2r").with_friction("joint1", viscous=0.3).tree, "all", None, ["viscous"])
    assert bare.values[bare.names.index("viscous(joint1)")] == 0.0  # which its forces do not have


def test_one_joint_under_the_law_of_slotine_and_li_decays_as_its_equation_says():
    """M s' + kd s = 0 and e' + slope e = s have a closed form where M is constant."""
    arm = cy.load("s1_f1")
    assert arm.nv == 1
    inertia = arm.inertia_matrix([0.0])[0, 0]
    kd, slope, target = 3.0 * inertia, 5.0, 0.4
    loop = cy.connect(arm, arm.control.passivity_based(0.0, kd, slope))
    t = np.linspace(0.0, 1.0, 11)
    run = loop.simulate({"q": [0.0], "qd": [0.0]}, times=t, inputs={"target": [target]}, rtol=1e-11, atol=1e-12)
    s = slope * target * np.exp(-3.0 * t)
    e = target * np.exp(-5.0 * t) + (s - slope * target * np.exp(-5.0 * t)) / (5.0 - 3.0)
    assert run["q"][:, 0] == pytest.approx(target - e, abs=1e-9)


@pytest.mark.parametrize(("kp", "slope"), [(60.0, 0.0), (30.0, [4.0, 2.0])])
def test_the_energy_of_passivity_based_laws_falls_as_said(arm, move, kp, slope):
    """V by the kernel is that of Pinocchio's inertia matrix, and falls by what V' says, along a moving target."""
    law = arm.control.passivity_based(kp, [5.0, 2.0], slope)
    loop = cy.connect(arm, law, motion_target(move))
    run = loop.rollout()({"q": [0.6, -0.2], "qd": [0.5, 0.0]}, step=2e-4, steps=20_000)
    V, rate = passivity_based_lyapunov(arm, kp, [5.0, 2.0], slope)(run["q"], run["qd"], run["target"], run["target_qd"])
    assert np.diff(V).max() <= 1e-12 and V[-1] < 2e-3 * V[0]
    simpson = (rate[:-1:2] + 4 * rate[1::2][:len(rate[:-1:2])] + rate[2::2]) / 3 * 2e-4
    assert np.cumsum(simpson) == pytest.approx(V[2::2] - V[0], abs=1e-7)
    e = run["target"][7] - run["q"][7]
    s = run["target_qd"][7] - run["qd"][7] + slope * e
    upper = np.triu(pin.crba(pinocchio_model(arm.tree), pinocchio_model(arm.tree).createData(), run["q"][7]))
    M = upper + np.triu(upper, 1).T
    assert V[7] == pytest.approx(s @ M @ s / 2 + kp * e @ e / 2, rel=1e-10)


def test_the_same_adaptive_law_with_pinocchios_regressor(arm, real, move):
    """An independent simulation: Pinocchio's arm with the payload, its regressor, SciPy's integrator."""
    nominal, loaded = pinocchio_model(arm.tree), pinocchio_model(arm.tree)
    place = pin.SE3(np.linalg.inv(arm.pose([0.0, 0.0], "link2")) @ arm.pose([0.0, 0.0], "tool"))
    loaded.appendBodyToJoint(2, pin.Inertia(PAYLOAD, CENTER, INERTIA), place)
    kd, slope, rate = 10.0, 8.0, 2.0

    def regressor(model, q, qd, qdd):
        return pin.computeJointTorqueRegressor(model, model.createData(), q, qd, qdd)

    weightless = nominal.copy()
    weightless.gravity.linear = np.zeros(3)
    own = np.concatenate([nominal.inertias[k].toDynamicParameters() for k in (1, 2)])
    action = np.stack([place.act(pin.Inertia.FromDynamicParameters(unit)).toDynamicParameters()
                       if unit[0] else _moved(place, unit) for unit in np.eye(10)], axis=1)

    def slope_of(t, x):
        q, qd, theta = x[:2], x[2:4], x[4:]
        w, wd, wdd = move(t)
        e = w - q
        v = wd + slope * e
        a = wdd + slope * (wd - qd)
        Y = (regressor(nominal, q, np.zeros(2), a) + regressor(weightless, q, (qd + v) / 2, np.zeros(2))
             - regressor(weightless, q, (qd - v) / 2, np.zeros(2)))
        Yp = Y[:, 10:] @ action @ np.linalg.inv(MOMENTS_FROM_INERTIA)
        tau = Y @ own + Yp @ theta + kd * (v - qd)
        return np.concatenate([qd, pin.aba(loaded, loaded.createData(), q, qd, tau), rate * Yp.T @ (v - qd)])

    start = np.array([0.3, 0.1, 0.0, 0.0])
    known = solve_ivp(slope_of, (0.0, 0.5), np.concatenate([start, np.zeros(10)]), rtol=1e-9, atol=1e-11).y[:, -1]
    law = arm.control.adaptive(0.0, kd, slope, rate, payload="tool")
    run = cy.connect(real, law, motion_target(move)).rollout()(
        {"q": start[:2], "qd": start[2:]}, step=2.5e-4, steps=2000)
    assert run.end["q"] == pytest.approx(known[:2], abs=1e-8)
    assert run["estimate"][-1] == pytest.approx(known[4:], abs=1e-7)


def _moved(place, unit):
    """The dynamic parameters, in which all is linear, of what has no mass of its own: by a difference."""
    heavy = np.array([1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1.0])
    one = place.act(pin.Inertia.FromDynamicParameters(heavy + 0.1 * unit)).toDynamicParameters()
    return (one - place.act(pin.Inertia.FromDynamicParameters(heavy)).toDynamicParameters()) / 0.1


def true_payload():
    """The ten numbers of the payload about the frame that holds it."""
    second = np.trace(INERTIA) / 2 * np.eye(3) - INERTIA + PAYLOAD * np.outer(CENTER, CENTER)
    return np.concatenate([[PAYLOAD], PAYLOAD * CENTER, second[np.triu_indices(3)]])


@pytest.fixture(scope="module")
def learned(arm, real, move):
    """A minute of tracking with an unknown payload."""
    law = arm.control.adaptive(0.0, 10.0, 8.0, RATES, payload="tool")
    return cy.connect(real, law, motion_target(move)).rollout()(on_target(move), step=1e-3, steps=60_000, every=20)


@pytest.mark.spec("S3-53")
def test_the_energy_of_the_adaptive_law_never_grows(real, learned):
    """V = s^T M s / 2 + the error of the estimate in the metric of the rates, of the arm as it is."""
    e = learned["target"] - learned["q"]
    s = learned["target_qd"] - learned["qd"] + 8.0 * e
    away = learned["estimate"] - true_payload()
    V = real.kinetic_energy(learned["q"], s) + np.sum(away**2 / RATES, axis=1) / 2
    assert np.diff(V).max() <= 1e-10 * V[0] and V[-1] < 0.25 * V[0]
    spent = np.sum(10.0 * s**2, axis=1)  # trapezes of V' = -s^T kd s
    assert V[0] - V[-1] == pytest.approx(np.sum((spent[1:] + spent[:-1]) / 2) * 0.02, rel=0.05)


@pytest.mark.spec("S3-53")
def test_the_payload_is_found_by_a_motion_that_excites_it(arm, move, learned):
    """What the motion tells apart becomes what is there; the others stay zero; the tracking error dies."""
    told = excitation(arm, move, payload="tool")
    assert (told > 1e-9).sum() == 4  # m, ux, uy and Jxx + Jyy
    found, true = learned["estimate"][-1], true_payload()
    assert found[:3] == pytest.approx(true[:3], abs=2e-3)
    assert found[4] + found[7] == pytest.approx(true[4] + true[7], abs=2e-3)
    assert np.abs(found[[3, 5, 6, 8, 9]]).max() < 1e-9
    error = np.abs(learned["target"] - learned["q"]).max(axis=1)
    assert error[-500:].max() < 2e-4 < 0.05 * error[:200].max()
    blind = arm.control.passivity_based(0.0, 10.0, 8.0)  # the same without learning
    run = cy.connect(arm.with_payload("tool", PAYLOAD, center=CENTER), blind, motion_target(move)).rollout()(
        on_target(move), step=1e-3, steps=8000, every=20)
    assert np.abs(run["target"] - run["q"])[-250:].max() > 100 * error[-250:].max()


def test_without_excitation_the_error_dies_and_the_estimate_need_not_be_right(arm, real):
    """At rest two combinations alone are felt, those that carry the weight: V falls, the target is reached."""
    law = arm.control.adaptive(0.0, 10.0, 5.0, 1.0, payload="tool", parameters=["m", "ux", "uy"])
    run = cy.connect(real, law).rollout()({"q": [0.0, 0.0], "qd": [0.0, 0.0]}, step=1e-3, steps=30_000, every=100,
                                          inputs={"target": [0.5, -0.3]})
    assert run.end["q"] == pytest.approx([0.5, -0.3], abs=1e-4)
    m, ux, uy = run["estimate"][-1] - true_payload()[:3]
    assert abs(m) < 1e-6 and max(abs(ux), abs(uy)) > 5e-3
    assert ux * np.cos(0.2) - uy * np.sin(0.2) == pytest.approx(0.0, abs=1e-6)  # the second link's angle is 0.2


def test_parameters_of_the_arm_itself(arm, move):
    """Base parameters that are wrong are corrected until the arm tracks; named ones, friction among them, are found."""
    law = arm.control.adaptive(0.0, 10.0, 8.0, 1.0)
    assert law.output_ports["estimate"].size == 6 == len(unknown_names(arm))
    assert law.step(np.zeros(6), *np.zeros((5, 2)), 1e-3).estimate == pytest.approx(
        [1.25, 0.0, 0.55, 0.3, 0.0, 0.09], abs=1e-12)  # those of the model
    heavy = arm.with_payload("tool", 0.5)
    run = cy.connect(heavy, law, motion_target(move)).rollout()(on_target(move), step=1e-3, steps=60_000, every=50)
    error = np.abs(run["target"] - run["q"]).max(axis=1)
    assert error[-100:].max() < 0.05 * error.max()
    rubbing = arm.with_friction("joint1", viscous=1.5).with_friction("joint2", viscous=0.8).including("friction")
    named = ["viscous(joint1)", "viscous(joint2)", "m(link2)"]
    law = arm.control.adaptive(0.0, 3.0, 8.0, [5.0, 5.0, 0.5], parameters=named, joint_terms=["viscous"])
    run = cy.connect(rubbing, law, motion_target(move)).rollout()(on_target(move), step=1e-3, steps=60_000, every=50)
    assert run["estimate"][-1] == pytest.approx([1.5, 0.8, arm.bodies[2].mass], abs=1e-3)


def test_measurements_that_are_no_numbers_do_not_poison_the_estimate(arm):
    law = arm.control.adaptive(20.0, 10.0, 5.0, 1.0, payload="tool", parameters=["m", "ux", "uy"])
    before = [0.3, 0.02, 0.01]
    for bad in (np.nan, np.inf, -np.inf):
        for q, qd, target in [([bad, 0.1], [0.0, 0.2], [0.5, 0.5]), ([0.2, 0.1], [0.0, bad], [0.5, 0.5]),
                              ([0.2, 0.1], [0.0, 0.3], [0.5, bad])]:
            now = law.step(before, q, qd, target, [0.0, 0.0], [0.0, 0.0], 1e-3)
            assert np.isfinite(now.tau).all() and np.isfinite(now.x).all()
            if not np.isfinite(q[0] + qd[1]):
                assert now.x.tolist() == before
    moved = law.step(before, [0.2, 0.1], [0.0, 0.3], [0.5, 0.5], [0.0, 0.0], [0.0, 0.0], 1e-3)
    assert (moved.x != before).all()


def test_drives_that_saturate_do_not_wind_the_estimate_up(arm):
    """Against a stop, or with drives that are too weak, the estimate stands still; without limits it runs away."""
    ends = []
    for limits in (None, [12.0, 4.0]):
        law = arm.control.adaptive(0.0, 10.0, 5.0, 5.0, payload="tool", parameters=["m"], limits=limits)
        x = np.zeros(1)
        for _ in range(300):  # the arm is held fast
            now = law.step(x, [0.0, 0.0], [0.0, 0.0], [0.8, 0.5], [0.0, 0.0], [0.0, 0.0], 1e-3)
            x = now.x
        ends.append(x[0])
        assert limits is None or (np.abs(now.tau) <= limits).all()
    assert ends[1] == 0.0 and ends[0] > 20.0


def test_estimates_stay_within_bounds_and_leak_back(arm):
    choice = {"payload": "tool", "parameters": ["m"]}
    given = [[0.0, 0.0], [0.0, 0.0], [0.8, 0.5], [0.0, 0.0], [0.0, 0.0], 1e-3]
    bounded = arm.control.adaptive(0.0, 10.0, 5.0, 5.0, bounds=(0.0, 2.0), **choice)
    assert bounded.step([1.0], *given).x > 1.0 and bounded.step([2.0], *given).x == 2.0
    down = [given[0], given[1], [-0.8, -0.5], *given[3:]]
    assert bounded.step([1.0], *down).x < 1.0 and bounded.step([0.0], *down).x == 0.0
    assert bounded.step([2.0], *down).x < 2.0  # it may come back
    still = [[0.5, 0.2], [0.0, 0.0], [0.5, 0.2], *given[3:]]
    leaking = arm.control.adaptive(0.0, 10.0, 5.0, 5.0, leakage=0.4, **choice)
    assert leaking.step([1.0], *still).x == pytest.approx([1.0 - 1e-3 * 5.0 * 0.4])
    with pytest.raises(SignatureError, match="m is 0, not within"):
        arm.control.adaptive(0.0, 10.0, 5.0, 5.0, bounds=(0.5, 2.0), **choice)


@pytest.mark.parametrize("step", [1e-3, 4e-3])
def test_estimates_never_leave_their_bounds_whatever_the_step(arm, step):
    """Not even by what the last step before the bound goes too far, in simulations and in rollouts."""
    law = arm.control.adaptive(0.0, 10.0, 5.0, 5.0, bounds=(0.0, 0.05), payload="tool", parameters=["m"])
    loop = cy.connect(arm.with_gravity([0.0, -30.0, 0.0]), law)
    start = {"q": [0.0, 0.0], "qd": [0.0, 0.0]}
    inputs = {"target": [0.8, 0.5]}
    for run in (loop.rollout()(start, step=step, steps=round(1.0 / step), inputs=inputs),
                loop.simulate(start, until=1.0, inputs=inputs)):
        assert run.finished and run.outputs["estimate"].max() == 0.05 and run.outputs["estimate"].min() >= 0.0


def test_a_loop_at_a_kilohertz_that_is_one_period_late(arm, real, move):
    """As firmware runs it, estimates by Euler's steps and forces a period late: the payload is found all the same."""
    law = arm.control.adaptive(0.0, 6.0, 5.0, [3.0, 0.5, 0.5], payload="tool", parameters=["m", "ux", "uy"])
    loop = cy.connect(real, digital(law, 1e-3, late=1), motion_target(move))
    run = loop.rollout()(on_target(move), step=1e-3, steps=12_000, every=100)
    assert run["estimate"][-50:, 0] == pytest.approx(np.full(50, PAYLOAD), abs=0.03)
    assert np.abs(run["q"] - run["target"])[-50:].max() < 1e-3


def test_the_adaptive_law_in_c(arm):
    dtype, number, tolerance = "float32", ctypes.c_float, 1e-4
    law = arm.control.adaptive(1.0, 10.0, 5.0, RATES[:3], payload="tool", parameters=["m", "ux", "uy"])
    function = compiled_c(law.c_source("adaptive", dtype=dtype))
    rng = np.random.default_rng(3)
    given = [rng.normal(size=size).astype(dtype) for size in (3, 2, 2, 2, 2, 2)]
    out = [np.zeros(size, dtype=dtype) for size in (2, 3, 3)]
    pointers = [v.ctypes.data_as(ctypes.POINTER(number)) for v in (*given, *out)]
    function(*pointers[:6], number(1e-3), *pointers[6:])
    known = law.step(*[v.astype(float) for v in given], 1e-3)
    for one, other in zip(out, known, strict=True):
        assert np.allclose(one, other, rtol=tolerance, atol=tolerance * 10)


def test_what_the_laws_are_not_for_is_named(arm):
    for make in (lambda arm: arm.control.passivity_based(1.0, 1.0),
                 lambda arm: arm.control.adaptive(0.0, 1.0, 1.0, 1.0)):
        with pytest.raises(UnsupportedError, match="floating"):
            make(cy.load("panda", floating_base=True))
        with pytest.raises(UnsupportedError, match="four_bar"):
            make(cy.load("four_bar").variants.with_actuated())
    with pytest.raises(SignatureError, match="gains kd must be positive"):
        arm.control.passivity_based(1.0, [1.0, 0.0])
    with pytest.raises(SignatureError, match="nothing brings joint 'joint2' back"):
        arm.control.passivity_based([1.0, 0.0], 1.0)
    with pytest.raises(SignatureError, match="gains rate"):
        arm.control.adaptive(0.0, 1.0, 1.0, [1.0, 2.0])
    with pytest.raises(SignatureError, match="no parameter 'mass'"):
        arm.control.adaptive(0.0, 1.0, 1.0, 1.0, payload="tool", parameters=["mass"])
    with pytest.raises(SignatureError, match="does not move"):
        arm.control.adaptive(0.0, 1.0, 1.0, 1.0, payload="base")
    for bounds, what in [(3.0, "a pair"), (([0.0, 1.0], 2.0), r"be \(10\) or one"), (("low", 2.0), "numbers")]:
        with pytest.raises(SignatureError, match=what):
            arm.control.adaptive(0.0, 1.0, 1.0, 1.0, payload="tool", bounds=bounds)
    with pytest.raises(SignatureError, match="limits of forces"):
        arm.control.adaptive(0.0, 1.0, 1.0, 1.0, limits=-1.0)
