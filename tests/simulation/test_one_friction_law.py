"""One friction law in inverse and forward dynamics, simulation and linearisation, and the sources of error of a
tracking run as switches (S1-116)."""

from dataclasses import replace

import numpy as np
import pytest

import cayley as cy
from cayley.control.tracking import Weights, tracking_control
from cayley.dynamics.forward.methods import METHODS
from cayley.errors import ConventionError, SignatureError, UnsupportedError
from cayley.model.joint_kinds import Revolute, Spherical
from cayley.model.parts import Body, Joint
from cayley.simulation.tracking_run import (
    ActuatorErrors,
    ErrorSources,
    Payload,
    Play,
    SensorErrors,
    plant_with,
    track,
    tracking_run,
)
from dynamics.chains import random_chain, random_state


def close(ours, true, tolerance=1e-12):
    np.testing.assert_allclose(ours, true, rtol=0, atol=tolerance * max(1.0, np.abs(true).max(initial=0.0)))


@pytest.fixture(scope="module", params=["RP", "PRR"])
def arms(request):
    """A mechanism without and with the friction of its joints."""
    smooth = cy.Mechanism(random_chain(request.param, 9, friction=True))
    return smooth, smooth.including("friction")


def coefficients(arm):
    return [np.array([getattr(joint.friction, kind) for joint in arm.joints]) for kind in ("viscous", "coulomb")]


@pytest.mark.spec("S1-116")
def test_the_law_is_the_same_in_every_function(arms):
    smooth, rough = arms
    viscous, coulomb = coefficients(rough)
    q, qd, qdd = random_state(rough.tree, 9)
    law = viscous * qd + coulomb * np.sign(qd)
    tau = rough.inverse_dynamics(q, qd, qdd)
    close(tau - smooth.inverse_dynamics(q, qd, qdd), law)
    close(rough.bias_forces(q, qd) - smooth.bias_forces(q, qd), law)
    for method in ("composite-bodies", "articulated-bodies", "operator-factors", "maximal-coordinates"):
        close(rough.forward_dynamics.using(method)(q, qd, tau), qdd, 1e-10)  # round trip
    found, bare = rough.linearize(q, qd, qdd), smooth.linearize(q, qd, qdd)
    close(found.V - bare.V, np.diag(viscous))  # V gains dtau_f/dqd
    close(found.D, bare.D)
    close(found.P, bare.P)
    h = 1e-6
    steps = [(rough.inverse_dynamics(q, qd + h * e, qdd) - rough.inverse_dynamics(q, qd - h * e, qdd)) / (2 * h)
             for e in np.eye(len(q))]
    close(np.stack(steps, axis=1), found.V, 1e-7)
    short = rough.simulate(q, qd, tau=tau, until=1e-4, progress=False, rtol=1e-11, atol=1e-13)
    close((short.qd[-1] - qd) / 1e-4, qdd, 1e-3)
    assert len(METHODS) > 4


@pytest.mark.spec("S1-116")
def test_coulomb_friction_at_rest(arms):
    """It holds what it can: no force up to it moves a joint. What begins to move has all of it against it, in inverse
    dynamics as in forward dynamics. A joint that stays needs nothing by itself."""
    smooth, rough = arms
    _, coulomb = coefficients(rough)
    q, rest = random_state(rough.tree, 9)[0], np.zeros(rough.nv)
    hold = smooth.gravity_forces(q)
    for share in (-0.999, -0.5, 0.0, 0.999):
        np.testing.assert_array_equal(rough.forward_dynamics(q, rest, hold + share * coulomb), rest)
    qdd = random_state(rough.tree, 9)[2]
    tau = rough.inverse_dynamics(q, rest, qdd)
    close(tau - smooth.inverse_dynamics(q, rest, qdd), coulomb * np.sign(qdd))
    close(rough.forward_dynamics(q, rest, tau), qdd, 1e-10)
    close(rough.inverse_dynamics(q, rest, rest), hold)
    still = rough.simulate(q, rest, tau=hold + 0.9 * coulomb, until=0.5, progress=False)
    np.testing.assert_array_equal(still.q, np.broadcast_to(q, still.q.shape))
    broken = rough.simulate(q, rest, tau=hold + 1.5 * coulomb, until=0.05, progress=False)
    assert np.abs(broken.q[-1] - q).max() > 1e-6


@pytest.mark.spec("S1-116")
def test_derivatives_of_forward_dynamics_at_rest_are_those_of_the_joints_that_are_held_and_of_those_that_go(arms):
    smooth, rough = arms
    viscous, coulomb = coefficients(rough)
    q, rest, n = random_state(rough.tree, 9)[0], np.zeros(rough.nv), rough.nv
    first = np.eye(n)[0]
    tau = smooth.gravity_forces(q) + 4.0 * coulomb * first  # the first goes
    qdd = rough.forward_dynamics(q, rest, tau)
    found = rough.forward_derivatives(q, rest, tau)
    close(found.qdd, qdd, 1e-11)
    assert qdd[0] != 0
    held = qdd == 0
    h = 1e-6
    for by, where in ((found.by_q, 0), (found.by_tau, 2)):
        for k, e in enumerate(np.eye(n)):
            ends = [[q, rest, tau] for _ in range(2)]
            for sign, end in zip((1, -1), ends, strict=True):
                end[where] = end[where] + sign * h * e
            moved = [rough.forward_dynamics(*end) for end in ends]
            if where == 2 and not held[k]:
                assert np.abs(by[:, k]).max() > 0
            close(by[:, k], (moved[0] - moved[1]) / (2 * h), 1e-6)
    assert (found.by_tau[held] == 0).all() and (found.by_qd[held] == 0).all()
    sliding = random_state(rough.tree, 9)[1]
    moving, bare = rough.forward_derivatives(q, sliding, tau), smooth.forward_derivatives(q, sliding, tau)
    close(moving.qdd, rough.forward_dynamics(q, sliding, tau), 1e-11)
    close(moving.by_tau, bare.by_tau, 1e-11)
    close(moving.by_qd, bare.by_qd - bare.by_tau @ np.diag(viscous), 1e-10)


@pytest.mark.spec("S1-116")
def test_energy_decreases_until_all_is_at_rest(arms):
    _, rough = arms
    weightless = rough.with_gravity((0.0, 0.0, 0.0))
    q, qd, _ = random_state(rough.tree, 9)
    run = weightless.simulate(q, qd, times=np.linspace(0, 20, 200), progress=False)
    assert run.finished and (np.diff(run.energy) <= 1e-9).all() and (run.qd[-1] == 0).all()
    assert np.abs(run.energy_drift).max() < 1e-7
    falling = rough.simulate(q, qd, times=np.linspace(0, 1, 50), progress=False)
    assert (np.diff(falling.energy) <= 1e-9).all() and falling.energy[-1] < falling.energy[0] - 1e-3


@pytest.mark.spec("S1-116")
def test_loops_and_the_law_at_rest():
    bar = cy.load("four_bar").with_friction("rocker", viscous=0.1, coulomb=0.4).including("friction")
    q = bar.loops.close([0.5, 0.0, 0.0]).configuration
    qd = bar.loops.consistent_velocity(q, [1.0, 0.0, 0.0], keep=["crank"])
    tau = bar.inverse_dynamics(q, qd, np.zeros(3))
    free = cy.load("four_bar").inverse_dynamics(q, qd, np.zeros(3))
    rate = qd[2] / qd[0]
    close(tau[0] - free[0], rate * (0.1 * qd[2] + 0.4 * np.sign(qd[2])), 1e-9)  # by virtual work at the crank
    rest = np.zeros(3)
    pulled = cy.load("four_bar").inverse_dynamics(q, rest, rest)
    for share in (0.0, 0.5, 3.0):  # held, held, breaking away
        forces = pulled + share * 0.4 * abs(rate) * np.eye(3)[0]
        found = bar.forward_derivatives(q, rest, forces)
        close(found.qdd, bar.forward_dynamics(q, rest, forces), 1e-9)
        h = 1e-6 * np.eye(3)[0]
        step = (bar.forward_dynamics(q, rest, forces + h) - bar.forward_dynamics(q, rest, forces - h)) / 2e-6
        close(found.by_tau[:, 0], step, 1e-6)
        assert np.isnan(found.forces_by_tau[:2]).all() == (share < 1)  # of the rows that are determined
    five = cy.load("five_bar").with_friction("left crank", coulomb=1.0).including("friction")
    with pytest.raises(UnsupportedError, match="dry friction, and its mobility is 2"):
        five.forward_derivatives(five.neutral, np.zeros(five.nv), np.zeros(five.nv))


# The sources of error of section 7.1


def swing(t):
    w = np.array([1.0, 1.5])
    return 0.5 * np.sin(w * t), 0.5 * w * np.cos(w * t), -0.5 * w * w * np.sin(w * t)


TIMES = np.linspace(0.0, 1.0, 11)
SOURCES = {
    "friction": ErrorSources(friction=True),
    "backlash": ErrorSources(backlash={"joint1": Play(0.02, 2e4, 20.0, inertia=0.05)}),
    "sensors": ErrorSources(sensors=SensorErrors(offset=0.01, rate_offset=[0.0, 0.02])),
    "actuators": ErrorSources(actuators=ActuatorErrors(gain=0.9, offset=[0.2, 0.0], limit=100.0)),
    "payload": ErrorSources(payload=Payload("tool", 0.5, center=(0.05, 0.0, 0.0)))}


@pytest.fixture(scope="module")
def law():
    arm = cy.load("planar2r").with_friction("joint1", viscous=0.3, coulomb=0.8)
    return tracking_control(arm.with_friction("joint2", viscous=0.2, coulomb=0.4).tree, swing, TIMES,
                            weights=Weights([1000.0, 1000.0, 10.0, 10.0], 1.0))


@pytest.mark.spec("S1-116")
def test_without_errors_the_nominal_motion_is_kept(law):
    for feedback in (True, False):
        run = tracking_run(law, TIMES, feedback=feedback)
        assert run.trajectory.finished and run.largest < 1e-5 and run.error.shape == run.rate_error.shape == (11, 2)


@pytest.mark.spec("S1-116")
@pytest.mark.parametrize("source", SOURCES)
def test_each_switch_makes_an_error_that_feedback_makes_smaller(law, source):
    blind = tracking_run(law, TIMES, errors=SOURCES[source], feedback=False)
    seeing = tracking_run(law, TIMES, errors=SOURCES[source])
    assert blind.trajectory.finished and seeing.trajectory.finished
    if source == "sensors":  # which forces alone do not look at; feedback follows what it sees
        assert blind.largest < 1e-5 < 0.005 < seeing.largest < 0.03
    else:
        assert blind.largest > 0.01 and seeing.largest < 0.5 * blind.largest
    joints = seeing.trajectory.q.shape[1]
    assert joints == (3 if source == "backlash" else 2)


@pytest.mark.spec("S1-116")
def test_what_the_switches_mean(law):
    """A payload is a body of the plant, friction that of its joints, an offset of the sensors shifts where it stands; a
    motor within its play moves nothing."""
    tree = law.model.tree
    heavy, rough = plant_with(tree, SOURCES["payload"]), plant_with(tree, SOURCES["friction"])
    by_hand = cy.Mechanism(tree).with_payload("tool", 0.5, center=(0.05, 0.0, 0.0))
    state = np.random.default_rng(1).normal(size=(3, 2))
    close(cy.Mechanism(heavy).inverse_dynamics(*state), by_hand.inverse_dynamics(*state))
    rubbing = cy.Mechanism(tree).including("friction")
    close(cy.Mechanism(rough).inverse_dynamics(*state), rubbing.inverse_dynamics(*state))
    assert plant_with(tree, ErrorSources()) is tree
    still = np.array([0.3, 0.4])
    poles = [-8.0, -9.0, -10.0, -11.0]
    arm = cy.Mechanism(tree).with_gravity((0.0, 0.0, 0.0))
    offset = ErrorSources(sensors=SensorErrors(offset=[0.02, -0.01]))
    shifted = arm.track(lambda t: (still, 0 * still, 0 * still), [0.0, 3.0], poles=poles, errors=offset)
    close(shifted.trajectory.q[-1], still - [0.02, -0.01], 1e-6)
    limited = arm.track(swing, TIMES, poles=poles, errors=ErrorSources(actuators=ActuatorErrors(limit=0.01)))
    assert np.abs(limited.trajectory.tau).max() <= 0.01
    loose = ErrorSources(backlash={"joint1": Play(0.2, 2e4, 20.0, inertia=0.05)}, measured="motors")
    played = arm.track(swing, np.linspace(0, 0.02, 5), poles=poles, errors=loose)
    gap = played.trajectory.q[:, 2] - played.trajectory.q[:, 0]
    assert np.abs(gap).max() < 0.1  # teeth have not met yet: the joint coasts
    close(played.trajectory.tau[:, 0], np.zeros(5))


@pytest.mark.spec("S1-116")
def test_backlash_beside_springs_and_balls():
    """Motors that the law knows stay what they are when others stand before them in the plant, and joints with play are
    found behind those that have more coordinates than velocities."""
    errors = ErrorSources(backlash={"joint1": Play(0.01, 1e4, 10.0, inertia=0.05)})
    soft = cy.load("planar2r").with_drive("joint2", stiffness=1e3, inertia=0.1).including("elastic drives")
    hung = np.array([-np.pi / 2, 0.0, 0.0])  # in equilibrium, with its motor
    ball = cy.Mechanism.of("ball", [Body("base"), Body("a", 1.0, (0, 0, -0.5), 0.1 * np.eye(3)),
                                    Body("b", 1.0, (0, 0, -0.5), 0.1 * np.eye(3))],
                           [Joint("ball", "base", "a", Spherical()), Joint("joint1", "a", "b", Revolute((0, 1, 0)))])
    for arm, still, names in ((soft, hung, ("joint1", "joint2", "joint1 motor", "joint2 motor")),
                              (ball, np.array([1.0, 0, 0, 0, 0.3]), ("ball", "joint1", "joint1 motor"))):
        plant = plant_with(arm.tree, errors)
        assert plant.joint_names == names
        law = tracking_control(arm.tree, lambda t, q=still, n=arm.nv: (q, np.zeros(n), np.zeros(n)), [0.0],
                               weights=Weights(1.0, 100.0))
        run = tracking_run(law, [0.0, 0.005], errors=errors, tolerance=1e-6)
        start = dict(zip(names, (run.trajectory.q[0][plant.q_slices[plant.joint_number(name)]] for name in names),
                         strict=True))
        for joint in arm.joint_names:
            np.testing.assert_array_equal(start[joint], still[arm.tree.q_slices[arm.tree.joint_number(joint)]])
        assert start["joint1 motor"] == start["joint1"]
        assert run.error.shape == (2, arm.nv) and run.largest < 1e-3


@pytest.mark.spec("S1-116")
def test_a_mechanism_with_a_loop_is_tracked():
    bar = cy.load("four_bar").with_friction("rocker", viscous=0.02, coulomb=0.05)
    start = bar.loops.close([0.5, 0.0, 0.0]).configuration

    def turning(t):
        q = bar.loops.close([0.5 + 0.6 * t, *start[1:]], fixed=["crank"]).configuration
        qd = bar.loops.consistent_velocity(q, [0.6, 0.0, 0.0], keep=["crank"])
        A, drift = bar.loops.jacobian(q), bar.loops.drift(q, qd)
        return q, qd, np.concatenate([[0.0], np.linalg.lstsq(A[:, 1:], -drift, rcond=None)[0]])

    law = tracking_control(bar.tree, turning, [0.0], poles=[-15.0, -16.0])
    exact, blind, seeing = (
        tracking_run(law, [0.0, 0.1, 0.2], tolerance=1e-6, feedback=feedback, errors=ErrorSources(friction=rubs))
        for rubs, feedback in ((False, True), (True, False), (True, True)))
    assert exact.error.shape == (3, 1) and exact.largest < 1e-4 < seeing.largest < 0.5 * blind.largest


@pytest.mark.spec("S1-116")
def test_digital_sensors(law):
    errors = ErrorSources(sensors=SensorErrors(resolution=0.002, noise=1e-4, rate_noise=1e-3, seed=3))
    runs = [tracking_run(law, TIMES[:4], errors=errors, control_period=0.005) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].trajectory.q, runs[1].trajectory.q)  # the same noise for the same seed
    other = replace(errors, sensors=replace(errors.sensors, seed=4))
    third = tracking_run(law, TIMES[:4], errors=other, control_period=0.005)
    assert 0 < np.abs(third.error - runs[0].error).max() < 0.01
    with pytest.raises(SignatureError, match="noise and resolution are those of looks"):
        tracking_run(law, TIMES, errors=errors)


@pytest.mark.spec("S1-116")
def test_errors_are_systems_between_any_law_and_its_arm():
    """Without gravity an arm rests where its sensors see the target; half the gain is half the stiffness."""
    arm = cy.load("planar2r").with_gravity((0.0, 0.0, 0.0))
    offset, target = np.array([0.02, -0.01]), np.array([0.5, -0.3])
    pd = arm.control.pd(80.0, 20.0).renamed({"q": "measured_q", "qd": "measured_qd", "tau": "wanted_tau"})
    start = {"q": np.zeros(2), "qd": np.zeros(2)}
    ends = []
    for gain, law in ((1.0, pd), (0.5, pd), (1.0, pd.with_parameters({"kp": 40.0, "kd": 10.0}))):
        loop = cy.connect(arm, SensorErrors(offset=offset).system(arm), law, ActuatorErrors(gain=gain).system(arm))
        found = loop.simulate(start, until=0.2, inputs={"target": target}, progress=False)
        ends.append(np.concatenate([found.end["q"], found.end["qd"]]))
    close(ends[1], ends[2], 1e-9)
    assert np.abs(ends[0] - ends[1]).max() > 1e-2
    rest = cy.connect(arm, SensorErrors(offset=offset).system(arm), pd, ActuatorErrors().system(arm)).simulate(
        start, until=30.0, inputs={"target": target}, progress=False).end["q"]
    close(rest, target - offset, 1e-8)


@pytest.mark.spec("S1-116")
def test_switches_that_are_wrong_are_named(law):
    wrong = {
        "measured at the": ErrorSources(measured="tool"),
        "offset is a number, or one for each of the 2 velocities": ErrorSources(sensors=SensorErrors(offset=[1.0] * 3)),
        "limit is not negative": ErrorSources(actuators=ActuatorErrors(limit=-1.0)),
        "has no inertia: give it one": ErrorSources(backlash={"joint1": Play(0.1, 1e4)})}
    for words, errors in wrong.items():
        with pytest.raises((ConventionError, SignatureError), match=words):
            tracking_run(law, TIMES, errors=errors)
    with pytest.raises(cy.CayleyError, match="joint9"):
        tracking_run(law, TIMES, errors=ErrorSources(backlash={"joint9": Play(0.1, 1e4, inertia=0.1)}))
    soft = cy.load("planar2r").with_drive("joint1", stiffness=1e3, inertia=0.1).tree
    with pytest.raises(ConventionError, match="driven through a spring already"):
        plant_with(soft, SOURCES["backlash"])
    with pytest.raises(SignatureError, match="weights of a regulator, or the poles"):
        track(soft, swing, TIMES)
    for times in ([], [0.0, np.nan], [0.1, 0.0]):
        with pytest.raises(SignatureError, match="times of gains are finite numbers that increase"):
            track(soft, swing, times, poles=[-8.0, -9.0, -10.0, -11.0])
    with pytest.raises(SignatureError, match="nominal motion of planar2r is not finite at t = 0"):
        track(soft, lambda t: np.full((3, 2), np.nan), [0.0], poles=[-8.0, -9.0, -10.0, -11.0])


def test_a_nominal_motion_is_a_function():
    with pytest.raises(cy.SignatureError, match="a nominal motion is a function of the time"):
        cy.load("planar2r").track(3, [0.0, 1.0], poles=[-8, -9, -10, -11])
