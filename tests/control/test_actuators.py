"""Motors, gears and what else is between a law and an arm: closed forms, SciPy, the equations by hand."""

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp

import cayley as cy
from cayley.control import (
    GearTrain,
    dc_motors,
    dry_friction,
    encoder,
    motors_of,
    sample_and_hold,
    saturation,
    voltage_dynamics,
)
from cayley.errors import ModelError, SignatureError, UnsupportedError
from cayley.model.winding import Winding
from cayley.systems import System
from systems.plants import driven_rod, driven_rods, rods

CLOSE = {"rtol": 1e-11, "atol": 1e-12}


@pytest.mark.spec("S3-38")
def test_the_current_of_a_locked_rotor_rises_as_an_exponential():
    R, L, V = np.array([1.0, 2.5]), np.array([0.02, 0.1]), np.array([12.0, -6.0])
    motors = dc_motors(R, L, [0.05, 0.2], gear=[100.0, -50.0])
    t = np.linspace(0, 0.1, 11)
    run = motors.simulate({}, times=t, inputs={"voltage": V, "qd": [0.0, 0.0]}, **CLOSE)
    known = V / R * (1 - np.exp(-np.outer(t, R / L)))
    assert np.abs(run["current"] - known).max() < 1e-9
    assert np.abs(run["tau"] - known * [5.0, -10.0]).max() < 1e-8


@pytest.mark.spec("S3-38")
def test_without_inductance_the_current_is_no_state():
    """The limit of ever smaller inductances, at first order, and algebra at zero; also where one motor has none."""
    u = {"voltage": [3.0, 2.0], "qd": [0.2, -0.1]}
    plain = dc_motors([1.0, 2.0], 0.0, [0.05, 0.04], gear=[100.0, 80.0], back_emf=[0.06, 0.04])
    assert not plain.state
    tau = plain.output(0.0, None, plain.input_record({k: np.array(v) for k, v in u.items()}),
                       plain.parameter_record({}))
    expected = np.array([5.0 * (3.0 - 6.0 * 0.2) / 1.0, 3.2 * (2.0 + 3.2 * 0.1) / 2.0])
    assert np.abs(np.asarray(tau, dtype=float) - expected).max() < 1e-13
    mixed = dc_motors([1.0, 2.0], [0.0, 0.01], [0.05, 0.04], gear=[100.0, 80.0], back_emf=[0.06, 0.04])
    run = mixed.simulate({}, times=[0.0, 0.005, 1.0], inputs=u, **CLOSE)
    assert mixed.state["current"].shape == (1,) and np.abs(run["tau"][:, 0] - expected[0]).max() < 1e-12
    assert np.abs(run["tau"][:, 1] - expected[1] * (1 - np.exp(-np.array([0.0, 1.0, 200.0])))).max() < 1e-9
    away = []
    quick = cy.connect(driven_rod(), motors_of(driven_rod()))
    end = quick.simulate({"q": [0.0], "qd": [0.0]}, until=0.5, inputs={"voltage": [4.0]}, **CLOSE).end["q"]
    for L in (1e-3, 1e-4):
        arm = driven_rod(inductance=L)
        slow = cy.connect(arm, motors_of(arm)).simulate({"q": [0.0], "qd": [0.0]}, until=0.5,
                                                        inputs={"voltage": [4.0]}, method="Radau")
        away.append(np.abs(slow.end["q"] - end).max())
    assert away[0] < 1e-3 and 8 < away[0] / away[1] < 12


@pytest.mark.spec("S3-38")
def test_a_motor_is_the_transfer_function_of_scipy():
    """Shaft speed by voltage, with a back-EMF constant that differs from the torque constant."""
    R, L, k, ke, J, d = 1.2, 0.05, 0.3, 0.25, 0.02, 0.004
    shaft = System("shaft", state={"qd": 1}, inputs={"tau": 1}, derivative=lambda t, x, u, p: (u.tau - d * x.qd) / J)
    drive = cy.connect(shaft, dc_motors(R, L, k, back_emf=ke))
    t = np.linspace(0, 1, 41)
    _, known = signal.step(([k], np.polyadd(np.polymul([J, d], [L, R]), [k * ke])), T=t)
    run = drive.simulate({"qd": [0.0]}, times=t, inputs={"voltage": [1.0]}, **CLOSE)
    assert np.abs(run["qd"][:, 0] - known).max() < 1e-9


@pytest.mark.spec("S3-39")
def test_gears_keep_power_and_ratios_are_inverse_of_each_other():
    rng = np.random.default_rng(0)
    for gears in (GearTrain([100.0, -80.0, 3.0]), GearTrain([[50.0, 0.0, 0.0], [20.0, 60.0, 0.0], [0.0, -15.0, 40.0]])):
        q, qd, qdd = rng.normal(size=(3, 5, 3))
        force = rng.normal(size=(5, 3))
        power = np.sum(force * gears.motor_angles(qd), axis=-1)
        assert np.allclose(np.sum(gears.joint_forces(force) * qd, axis=-1), power, rtol=1e-13)
        assert np.allclose(gears.joint_angles(gears.motor_angles(q)), q, rtol=1e-12)
        assert np.allclose(gears.motor_forces(gears.joint_forces(force)), force, rtol=1e-12)
        rotors = np.array([1e-5, 2e-5, 3e-5])
        torques = gears.joint_forces(rotors * gears.motor_angles(qdd))  # what rotors need, felt at the joints
        assert np.allclose(torques, np.einsum("ij,...j", gears.joint_inertia(rotors), qdd), rtol=1e-12)
    assert np.allclose(GearTrain([100.0, -80.0]).reduction_ratios, [0.01, -0.0125])
    again = GearTrain.from_reduction(GearTrain([100.0, -80.0]).reduction_ratios)
    assert np.allclose(again.matrix, np.diag([100.0, -80.0]), rtol=1e-15)
    assert np.array_equal(GearTrain.of(driven_rods()).matrix, np.diag([100.0, 80.0]))
    for wrong in ([1.0, 0.0], np.ones((2, 2)), np.ones((2, 3)), [np.nan]):
        with pytest.raises(SignatureError, match="gears"):
            GearTrain(wrong)
    with pytest.raises(SignatureError, match="reduction ratios"):
        GearTrain.from_reduction([0.0])
    with pytest.raises(SignatureError, match="several joints"):
        GearTrain([[1.0, 0.5], [0.0, 1.0]]).reduction_ratios  # noqa: B018


@pytest.mark.spec("S3-40")
def test_the_worked_motors():
    one = voltage_dynamics(driven_rod())
    assert np.allclose(one.inertia_matrix([0.3]), 0.1833333333, atol=1e-10)
    assert np.allclose([one.damping[0], one.gain[0]], [25.1, 5.0], rtol=1e-14)
    two = voltage_dynamics(driven_rods())
    assert np.allclose(two.rotor_inertia, [0.1, 0.0512], rtol=1e-14)
    assert np.allclose(two.gain, [5.0, 8 / 3], rtol=1e-14)
    assert np.allclose(two.damping, [25.0, 8.533333333333], rtol=1e-12)
    assert np.allclose(rods().inverse_dynamics([0.3, 0.7], [0.6, -0.8], [1.0, -0.5]),
                       [14.0896019919, 1.7796237694], atol=1e-9)


@pytest.mark.spec("S3-40")
def test_dynamics_from_voltages_are_those_of_motors_and_arm():
    """M' and D' by substitution, a batch of states, both ways; and the connected system moves as they say."""
    arm = driven_rods().with_friction("joint2", viscous=0.7).including("friction")
    driven = voltage_dynamics(arm)
    bare = rods()
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 20, 2))
    V = driven.voltages(q, qd, qdd)
    k, R, N, Jm = np.array([0.05, 0.04]), np.array([1.0, 1.2]), np.array([100.0, 80.0]), np.array([1e-5, 8e-6])
    motor = (V - k * N * qd) / R * k - Jm * N * qdd  # torque behind each rotor
    needed = bare.inverse_dynamics(q, qd, qdd) + [0.0, 0.7] * qd
    assert np.allclose(N * motor, needed, rtol=1e-11, atol=1e-10)
    assert np.allclose(driven.accelerations(q, qd, V), qdd, rtol=1e-10, atol=1e-10)
    assert np.allclose(driven.inertia_matrix(q), bare.inertia_matrix(q) + np.diag([0.1, 0.0512]), rtol=1e-13)
    loop = cy.connect(arm.including("armature", "friction"), motors_of(arm))
    volts = np.array([3.0, -2.0])

    def slope(t, y):
        return np.concatenate([y[2:], np.linalg.solve(
            bare.inertia_matrix(y[:2]) + np.diag([0.1, 0.0512]),
            driven.gain * volts - bare.bias_forces(y[:2], y[2:]) - driven.damping * y[2:])])

    known = solve_ivp(slope, (0, 0.4), np.zeros(4), method="DOP853", **CLOSE).y[:, -1]
    end = loop.simulate({"q": np.zeros(2), "qd": np.zeros(2)}, until=0.4, inputs={"voltage": volts}, **CLOSE).end
    assert np.abs(np.concatenate([end["q"], end["qd"]]) - known).max() < 1e-8


def test_windings_are_data_of_a_mechanism(tmp_path):
    arm = driven_rods(inductance=1e-3).with_drive("joint2", gear=-80.0, winding=Winding(1.2, 0.04, back_emf=0.05))
    arm.save(tmp_path / "rods.toml")
    again = cy.load(tmp_path / "rods.toml")
    assert [joint.rotor for joint in again.joints] == [joint.rotor for joint in arm.joints]
    with pytest.raises(UnsupportedError, match="winding of the motor of joint 'joint1'"):
        arm.save(tmp_path / "rods.xml")
    with pytest.raises(ModelError, match="resistance of a winding is 0"):
        Winding(0.0, 0.05)
    with pytest.raises(ModelError, match="torque_constant of a winding must be a number"):
        Winding(1.0, "0.05")
    with pytest.raises(SignatureError, match="limits of tau must be numbers"):
        saturation("tau", "small")
    with pytest.raises(ModelError, match="inductance"):
        Winding(1.0, 0.05, inductance=np.nan)
    (tmp_path / "bad.toml").write_text((tmp_path / "rods.toml").read_text().replace("resistance", "resistence"))
    with pytest.raises(ModelError, match="winding: resistance is missing"):
        cy.load(tmp_path / "bad.toml")
    with pytest.raises(ModelError, match="no winding at joint 'joint1'"):
        motors_of(rods())
    with pytest.raises(UnsupportedError, match="spring"):
        soft = arm.with_drive("joint1", stiffness=1e3, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
        voltage_dynamics(soft.including("elastic drives"))


def test_dry_friction_all_but_holds_a_joint_against_a_small_voltage():
    """It creeps as the closed form says; a larger voltage moves it as friction that truly holds would let it."""
    arm = rods([0.5], [1.0]).with_gravity([0.0, 0.0, 0.0]).with_drive(
        "joint1", inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05)).including("armature")
    rubbing = dry_friction("tau", [2.0], creep=1e-4)
    loop = cy.connect(arm, motors_of(arm).renamed({"tau": "wanted_tau"}), rubbing)
    still = {"q": [0.0], "qd": [0.0]}
    held = loop.simulate(still, until=0.2, inputs={"voltage": [0.3]}, method="Radau").end["qd"][0]
    assert held == pytest.approx(1e-4 * np.arctanh((1.5 - 25 * held) / 2.0), rel=1e-6)
    moved = loop.simulate(still, until=0.2, inputs={"voltage": [1.0]}, method="Radau").end["q"][0]
    true = arm.with_friction("joint1", coulomb=2.0).including("armature", "friction").simulate(
        [0.0], [0.0], controller=lambda t, q, qd: 5.0 * (1.0 - 5.0 * qd), until=0.2).q[-1, 0]
    assert moved == pytest.approx(true, rel=1e-3)


def test_saturation_and_counting():
    limit = saturation("tau", [2.0, 3.0])
    out = limit.output(0.0, None, limit.input_record({"wanted_tau": np.array([5.0, np.nan])}),
                       limit.parameter_record({}))
    assert np.array_equal(np.asarray(out, dtype=float), [2.0, 0.0])
    count = encoder("q", [4, 4])
    angles = np.array([[0.1, 0.8], [-0.7, -0.8], [np.pi / 4, 20.0]])
    found = [np.asarray(count.output(0.0, None, count.input_record({"q": q}), count.parameter_record({})), dtype=float)
             for q in angles]
    assert np.allclose(found, np.array([[0, 1], [0, -1], [1, 13]]) * np.pi / 2)
    for wrong in (lambda: saturation("tau", [0.0]), lambda: encoder("q", [-1]), lambda: sample_and_hold("u", 1, 0.0),
                  lambda: sample_and_hold("u", 1, 1e-3, late=0.5)):
        with pytest.raises(SignatureError):
            wrong()


@pytest.mark.parametrize("late", [0, 1, 2])
def test_a_digital_loop_is_that_of_its_difference_equation(late):
    """A double integrator under a law that looks each 10 ms and acts late, by matrices; simulated and in rollouts."""
    h, kp, kd = 0.01, 40.0, 9.0
    plant = System("plant", state={"q": 1, "qd": 1}, inputs={"tau": 1},
                   derivative=lambda t, x, u, p: {"q": x.qd, "qd": u.tau})
    law = System("law", inputs={"q": 1, "qd": 1}, outputs={"wanted_tau": 1},
                 output=lambda t, x, u, p: -kp * u.q - kd * u.qd)
    loop = cy.connect(plant, law, sample_and_hold("tau", 1, h, late=late))
    y, held, known = np.array([1.0, 0.0]), [0.0] * (late + 1), []
    for _ in range(40):
        y = np.array([y[0] + h * y[1] + h**2 / 2 * held[-1], y[1] + h * held[-1]])
        held = [-kp * y[0] - kd * y[1], *held[:-1]]
        known.append(y[0])
    start = {"q": [1.0], "qd": [0.0]}
    run = loop.simulate(start, times=[0.0, *(h * np.arange(1, 41) - 1e-9)], rtol=1e-10, atol=1e-12)
    assert np.abs(run["q"][1:, 0] - known).max() < 1e-7
    for step in (h, h / 4, 0.0037):
        rolled = loop.rollout(remembered=0)(start, step=step, steps=int(0.4 / step))
        at = np.interp(np.asarray(rolled.t), h * np.arange(1, 41), known) if step == 0.0037 else None
        if at is None:
            assert np.abs(rolled["q"][round(h / step)::round(h / step), 0] - known).max() < 1e-7
        else:
            assert np.abs(rolled["q"][10:, 0] - at[10:]).max() < 5e-3


def test_what_is_not_a_number_is_not_taken():
    """A sensor that fails between two times: the last force stays."""
    wanted = {"wanted_tau": lambda t, *x: [np.nan if 0.05 < t < 0.15 else 1.0 + t]}
    hold = sample_and_hold("tau", 1, 0.02)
    run = hold.simulate({}, times=[0.0, 0.045, 0.1, 0.149, 0.165], inputs=wanted)
    assert np.allclose(run["tau"][1:, 0], [1.04, 1.04, 1.04, 1.16])
