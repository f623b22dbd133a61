"""The rolling robot in closed form: the numbers of the specification, the same robot as a mechanism with wheels, and
its motion in time."""

import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, SingularityError
from cayley.machines import RobotMasses, RollingRobot

ROBOT = RollingRobot(radius=0.1, track=0.5, axle=0.12, pivot=0.3, trail=0.08,
                     masses=RobotMasses(1.5, 0.8, 0.4, 20.0, 0.003, 1.1))
PSI, U = 0.7, np.array([8.0, 5.0])


@pytest.fixture(scope="module")
def arm():
    return cy.Mechanism(ROBOT.tree())


def state(arm, psi, u, heading=0.9):
    q = np.array([0.2, -0.4, heading, 0.3, 0.1, psi, 0.2])
    return q, arm.loops.actuated_motion(q, u)


@pytest.mark.spec("S2-73")
def test_direct_and_inverse_rates(arm):
    np.testing.assert_allclose(ROBOT.motion(U), [0.6, 0.072, 0.65], rtol=1e-12)
    np.testing.assert_allclose(ROBOT.wheel_rates(0.6, 0.65), U, rtol=1e-12)
    np.testing.assert_allclose(ROBOT.wheel_rates_of_point([0.072, 0.65]), U, rtol=1e-12)
    many = np.random.default_rng(0).normal(size=(7, 2))
    omega, across, ahead = ROBOT.motion(many).T
    np.testing.assert_allclose(across, 0.12 * omega, rtol=1e-12)
    np.testing.assert_allclose(ROBOT.wheel_rates(omega, ahead), many, rtol=1e-12)
    _, qd = state(arm, PSI, U, heading=0.0)
    np.testing.assert_allclose(qd[[2, 0, 1]], ROBOT.motion(U), rtol=1e-12)
    with pytest.raises(SingularityError, match="cannot be moved sideways"):
        RollingRobot(0.1, 0.5, 0.0, 0.3, 0.08).wheel_rates_of_point([0.1, 0.2])


@pytest.mark.spec("S2-74")
def test_the_castor_follows(arm):
    np.testing.assert_allclose(ROBOT.castor_matrix(PSI), [[0.9645762809, -0.3203585937], [-0.3984022045, 1.3544549387]],
                               rtol=1e-9)
    np.testing.assert_allclose(ROBOT.castor_rates(PSI, U), [6.114817279, 3.5850570569], rtol=1e-9)
    for psi, u in zip([0.3, -1.2, 2.8], np.random.default_rng(1).normal(size=(3, 2)), strict=True):
        q, qd = state(arm, psi, u)
        np.testing.assert_allclose(ROBOT.castor_rates(psi, u), qd[[6, 5]], rtol=1e-10, atol=1e-12)
        found = ROBOT.angular_velocities(psi, u)
        frames = {"right wheel": "chassis", "left wheel": "chassis", "castor wheel": "bracket", "bracket": "bracket",
                  "chassis": "chassis"}
        for k, (body, axes) in enumerate(frames.items()):
            own = arm.twist(q, qd, body, axes="world")[3:]
            R = arm.pose(q, axes)[:3, :3]
            if axes == "bracket":  # e3, f3, k
                R = np.stack([R[:, 1], -R[:, 0], R[:, 2]], axis=1)
            np.testing.assert_allclose(found[k], R.T @ own, atol=1e-12)
    with pytest.raises(SingularityError, match="without trail"):
        RollingRobot(0.1, 0.5, 0.12, 0.3, 0.0).castor_rates(PSI, U)


def test_the_castor_trails_where_the_robot_goes_straight():
    rate = lambda psi: ROBOT.castor_rates(psi, [5.0, 5.0])[1]  # noqa: E731
    assert abs(rate(np.pi / 2)) < 1e-14 and rate(np.pi / 2 + 0.1) < 0 < rate(np.pi / 2 - 0.1)
    assert abs(rate(-np.pi / 2)) < 1e-14 and rate(-np.pi / 2 + 0.1) > 0


@pytest.mark.spec("S2-75")
def test_the_dynamics_are_those_of_the_specification_and_of_the_mechanism(arm):
    inertia = [[0.1434285282, -0.0120559865], [-0.0120559865, 0.1374788755]]
    np.testing.assert_allclose(ROBOT.inertia_matrix(PSI), inertia, rtol=1e-8)
    np.testing.assert_allclose(ROBOT.velocity_matrix(PSI, U) @ U, [0.036752495, 0.0467024019], rtol=1e-8)
    np.testing.assert_allclose(ROBOT.forward_dynamics(PSI, U, [2.0, -1.0]), [13.1449151947, -6.4608288248], rtol=1e-9)
    np.testing.assert_allclose(ROBOT.inverse_dynamics(PSI, U, [1.0, -2.0]), [0.2042929963, -0.2403113355], rtol=1e-8)
    random = np.random.default_rng(2)
    for psi in (0.3, -1.9, 2.5):
        u, tau = random.normal(size=2), random.normal(size=2)
        q, qd = state(arm, psi, u)
        forces = np.zeros(7)
        forces[[3, 4]] = tau
        qdd = arm.forward_dynamics(q, qd, forces)
        np.testing.assert_allclose(ROBOT.forward_dynamics(psi, u, tau), qdd[[3, 4]], rtol=1e-10)
        np.testing.assert_allclose(ROBOT.inverse_dynamics(psi, u, qdd[[3, 4]]), tau, rtol=1e-10)
        np.testing.assert_allclose(u @ ROBOT.inertia_matrix(psi) @ u / 2, arm.kinetic_energy(q, qd), rtol=1e-12)


def test_without_a_castor_the_point_that_is_not_on_the_axle_turns_the_robot():
    bare = RollingRobot(0.1, 0.5, 0.12, 0.3, 0.08, RobotMasses(1.5, 0.0, 0.0, 20.0, 0.0, 1.1))
    np.testing.assert_allclose(bare.velocity_matrix(PSI, U) @ U, [-0.144, 0.2304], rtol=1e-9)


def test_the_velocity_matrix_is_that_of_a_power_balance():
    random = np.random.default_rng(3)
    step = 1e-6
    for psi, u in zip(random.normal(size=4), random.normal(size=(4, 2)), strict=True):
        rate = ROBOT.castor_rates(psi, u)[1] * (ROBOT.inertia_matrix(psi + step) - ROBOT.inertia_matrix(psi - step)) / (
            2 * step)
        np.testing.assert_allclose(u @ rate @ u / 2, u @ ROBOT.velocity_matrix(psi, u) @ u, rtol=1e-6, atol=1e-10)
        uneven = rate - 2 * ROBOT.velocity_matrix(psi, u)
        np.testing.assert_allclose(uneven, -uneven.T, atol=1e-8)


START = {"c": [0.3, -0.2], "heading": 0.4, "psi": PSI, "theta3": 0.0}


@pytest.mark.spec("S2-104")
def test_the_posture_in_time(arm):
    circling = ROBOT.system("u").rollout(method="rk4")(START, step=1e-2, steps=1500, inputs={"u": U})
    center = np.array(START["c"]) + _turned(START["heading"]) @ [-0.65 / 0.6, 0.072 / 0.6]
    np.testing.assert_allclose(np.linalg.norm(circling["c"] - center, axis=-1), 1.0899592245, rtol=1e-9)
    straight = ROBOT.system("u").rollout(method="rk4")(START, step=1e-2, steps=300, inputs={"u": [6.0, 6.0]})
    np.testing.assert_allclose(straight.end["c"], START["c"] + 1.8 * _turned(START["heading"])[:, 1], rtol=1e-12)
    np.testing.assert_allclose(straight.end["psi"], np.pi / 2, atol=1e-6)  # the castor has swung round
    tau = np.array([0.15, -0.1])
    driven = ROBOT.system().rollout(method="rk4")({**START, "u": U}, step=1e-3, steps=1000, inputs={"tau": tau})
    forces = np.zeros(7)
    forces[[3, 4]] = tau
    q = np.array([0.3, -0.2, 0.4, 0.0, 0.0, PSI, 0.0])
    as_mechanism = arm.system().rollout(method="rk4")({"q": q, "qd": arm.loops.actuated_motion(q, U)}, step=1e-3,
                                                      steps=1000,
                                                      inputs={"tau": forces})
    end = driven.end
    np.testing.assert_allclose([*end["c"], end["heading"], end["psi"], end["theta3"]],
                               as_mechanism.end["q"][[0, 1, 2, 5, 6]], rtol=1e-8)
    free = ROBOT.system().rollout(method="rk4")({**START, "u": U}, step=1e-3, steps=2000)
    np.testing.assert_allclose(free.energy[[0, -1]], 5.8259593841, rtol=1e-9)


@pytest.mark.spec("S2-104")
def test_the_order_of_two_loops_matters():
    """A turn on the spot and a way straight ahead, and back again: each alone brings it home, both in turn do not."""
    def driven(*rates):
        state = START
        for u in rates:
            state = ROBOT.system("u").rollout(method="rk4")(state, step=1e-2, steps=100, inputs={"u": u}).end
        return np.array([*state["c"], state["heading"]])

    home = np.array([*START["c"], START["heading"]])
    turn, ahead = np.array([2.0, -2.0]), np.array([3.0, 3.0])
    np.testing.assert_allclose(driven(turn, -turn), home, atol=1e-9)
    np.testing.assert_allclose(driven(ahead, -ahead), home, atol=1e-12)
    bracket, other = driven(turn, ahead, -turn, -ahead), driven(ahead, turn, -ahead, -turn)
    assert np.linalg.norm(bracket[:2] - home[:2]) > 0.1 and np.linalg.norm(other[:2] - bracket[:2]) > 0.1
    np.testing.assert_allclose(bracket[2], home[2], atol=1e-9)  # it stands aside, and heads as before
    angle, way = 2 * 2.0 * 0.1 / 0.5, 3.0 * 0.1
    start = START["heading"] + np.pi / 2
    moved = way * np.array([np.cos(start + angle) - np.cos(start), np.sin(start + angle) - np.sin(start)])
    np.testing.assert_allclose(bracket[:2] - home[:2], moved, atol=1e-9)


def _turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@pytest.mark.spec("S2-106")
def test_one_motor_and_a_steered_wheel(arm):
    random = np.random.default_rng(4)
    for speed, psi, psid in random.normal(size=(5, 3)):
        u = ROBOT.steered(speed, psi, psid)
        np.testing.assert_allclose(ROBOT.motion(u)[2], speed, rtol=1e-12)
        np.testing.assert_allclose(ROBOT.castor_rates(psi, u)[1], psid, rtol=1e-10, atol=1e-10)
        q, qd = state(arm, psi, u)
        np.testing.assert_allclose(arm.loops.rates(q, qd), 0.0, atol=1e-12)
        np.testing.assert_allclose(qd[5], psid, rtol=1e-9, atol=1e-10)
    assert np.abs(ROBOT.steered(1.0, np.arcsin(-0.08 / 0.42), 0.0)).max() > 1e12  # it would have to stand still


@pytest.mark.parametrize("made", [lambda: RollingRobot(0.0, 0.5, 0.1, 0.3, 0.1),
                                  lambda: RollingRobot(0.1, np.nan, 0.1, 0.3, 0.1),
                                  lambda: RobotMasses(1.0, 1.0, 1.0, -1.0, 0.1, 0.1), lambda: ROBOT.system("torque")])
def test_robots_that_cannot_be_are_refused(made):
    with pytest.raises(ModelError):
        made()
