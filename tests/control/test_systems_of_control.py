"""Motors, PID controllers and observers beside SciPy's linear systems and the equations in one piece."""

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve_continuous_are

import cayley as cy
from cayley.control import dc_motors, pid
from cayley.control.compensators.observers import luenberger_observer
from cayley.errors import SignatureError
from cayley.model.joint_kinds import Revolute
from cayley.model.parts import Body, Joint
from cayley.systems import Block, System
from systems.plants import linear

J = 0.25  # kg m^2


def link():
    """One link that turns about its centre of mass: a linear plant."""
    return cy.Mechanism.of("link", [Body("base"), Body("rod", 2.0, [0.0, 0.0, 0.0], J * np.eye(3))],
                           [Joint("hinge", "base", "rod", Revolute((0.0, 0.0, 1.0)))])


def test_a_motor_with_current_drives_a_link_as_its_transfer_function_says():
    R, L, k, N = 1.3, 0.02, 0.06, 20.0
    drive = cy.connect(link(), dc_motors(R, L, k, gear=N))
    step = signal.TransferFunction([k * N], np.polyadd(np.polymul([J, 0], [L, R]), [k**2 * N**2]))
    t = np.linspace(0, 1, 51)
    _, expected = signal.step(step, T=t)
    start = {"q": [0.0], "qd": [0.0], "current": [0.0]}
    found = drive.simulate(start, times=t, inputs={"voltage": [1.0]}, rtol=1e-11, atol=1e-12)
    assert np.abs(found["qd"][:, 0] - expected).max() < 1e-9
    rolled = drive.rollout(parameters=["R"])(start, step=1e-3, steps=1000, every=20, inputs={"voltage": [1.0]},
                                             parameters={"R": [[R], [2 * R]]})
    assert np.abs(rolled["qd"][0, :, 0] - expected).max() < 1e-8 and (rolled["qd"][1, -1] != rolled["qd"][0, -1]).all()
    drift = found.energy_drift  # electrical power less heat is what becomes energy of fields and motion
    assert np.abs(drift).max() < 1e-9 and found.work[-1] > 0


def test_pid_control_of_a_link_is_the_closed_loop_of_its_polynomials():
    kp, ki, kd, w = 30.0, 40.0, 5.0, 50.0
    loop = cy.connect(link(), pid(kp, ki, kd, bandwidth=w))
    assert list(loop.inputs) == ["target"]
    law = signal.TransferFunction(np.polyadd(np.polyadd(np.polymul([kp], [1, w, 0]), np.polymul([ki], [1, w])),
                                             [kd * w, 0, 0]), [1, w, 0])
    numerator, denominator = law.num, np.polymul(law.den, [J, 0, 0])
    closed = signal.TransferFunction(numerator, np.polyadd(numerator, denominator))
    t = np.linspace(0, 2, 81)
    _, expected = signal.step(closed, T=t)
    start = {"q": [0.0], "qd": [0.0], "integral": [0.0], "filtered": [0.0]}
    found = loop.simulate(start, times=t, inputs={"target": [1.0]}, rtol=1e-11, atol=1e-12)
    rolled = loop.rollout()(start, step=5e-4, steps=4000, every=50, inputs={"target": [1.0]})
    assert np.abs(found["q"][:, 0] - expected).max() < 1e-8 and np.abs(rolled["q"][:, 0] - expected).max() < 1e-7
    poles = np.linalg.eigvals(loop.linearize(start, {"target": [0.0]}).A)
    assert np.abs(np.sort_complex(poles) - np.sort_complex(closed.poles)).max() < 1e-8


def test_an_observer_finds_the_state_as_fast_as_its_poles():
    A, B, C = np.array([[0.0, 1.0], [-4.0, -0.2]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]])
    gain = signal.place_poles(A.T, C.T, [-3.0, -5.0]).gain_matrix.T
    loop = cy.connect(linear("plant", A, B, C), luenberger_observer(A, B, C, gain))
    assert list(loop.inputs) == ["u"]
    t = np.linspace(0, 2, 41)
    start = {"x": [1.0, -0.5], "estimate": [0.0, 0.0]}
    found = loop.simulate(start, times=t, inputs={"u": lambda t, x, estimate: [np.sin(3 * t)]}, rtol=1e-10)
    error = np.array([expm((A - gain @ C) * s) @ [1.0, -0.5] for s in t])
    assert np.abs(found["x"] - found["estimate"] - error).max() < 1e-8
    _, plant, _ = signal.lsim((A, B, np.eye(2), np.zeros((2, 1))), np.sin(3 * np.linspace(0, 2, 4001)),
                              np.linspace(0, 2, 4001), X0=[1.0, -0.5])
    assert np.abs(found["x"][-1] - plant[-1]).max() < 1e-6


def test_a_kalman_gain_makes_it_a_kalman_filter_that_closes_the_loop():
    """Linear quadratic control by the estimate: the poles of the whole are those of the regulator and of the filter."""
    A, B, C = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]])
    P = solve_continuous_are(A.T, C.T, np.eye(2), 0.1 * np.eye(1))
    X = solve_continuous_are(A, B, np.eye(2), np.eye(1))
    K = B.T @ X
    law = System("law", inputs={"estimate": 2}, outputs={"u": 1}, output=lambda t, x, u, p: -K @ u.estimate)
    filtered = luenberger_observer(A, B, C, P @ C.T / 0.1)
    loop = cy.connect(linear("plant", A, B, C), filtered, law)
    assert not loop.inputs
    whole = loop.linearize({"x": np.zeros(2), "estimate": np.zeros(2)}).A
    poles = np.linalg.eigvals(whole)
    expected = np.concatenate([np.linalg.eigvals(A - B @ K), np.linalg.eigvals(A - P @ C.T @ C / 0.1)])
    assert np.abs(np.sort(poles.real) - np.sort(expected.real)).max() < 1e-9
    end = loop.rollout()({"x": [0.5, 0.0], "estimate": [0.0, 0.0]}, step=1e-3, steps=2000, every=2000).end
    exact = expm(2.0 * whole) @ [0.5, 0.0, 0.0, 0.0]
    assert np.abs(np.concatenate([end.x, end.estimate]) - exact).max() < 1e-10


def test_an_arm_with_motors_and_a_controller_is_one_loop():
    """Ten states, three systems, a batch of gains: the same as the equations written by hand."""
    arm = cy.load("planar2r")
    loop = cy.connect(arm, dc_motors([1.0, 1.5], 0.01, 0.05, gear=100.0),
                      pid([20.0, 10.0], 15.0, [4.0, 1.0], bandwidth=100.0).renamed({"tau": "voltage"}))
    target = np.array([0.6, -0.4])
    start = {"q": np.zeros(2), "qd": np.zeros(2), "current": np.zeros(2), "integral": np.zeros(2),
             "filtered": np.zeros(2)}

    def slope(t, y):
        q, qd, i, z, f = y.reshape(5, 2)
        e = target - q
        voltage = np.array([20.0, 10.0]) * e + 15 * z + np.array([4.0, 1.0]) * 100 * (e - f)
        rates = (voltage - np.array([1.0, 1.5]) * i - 5 * qd) / 0.01
        return np.concatenate([qd, arm.forward_dynamics(q, qd, 5 * i), rates, e, 100 * (e - f)])

    exact = solve_ivp(slope, (0, 0.3), np.zeros(10), method="DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
    found = loop.rollout()(start, step=2e-4, steps=1500, every=1500, inputs={"target": target})
    assert found.finished and np.abs(found.vectors[-1] - exact).max() < 1e-8 * np.abs(exact).max()
    later = loop.rollout(parameters=["kp"])(start, step=5e-4, steps=20000, every=20000, inputs={"target": target},
                                            parameters={"kp": [[20.0, 10.0], [30.0, 15.0]]})
    assert later.finished and np.abs(later.end.q - target).max() < 1e-2


def test_an_elastic_drive_between_a_motor_and_a_link():
    """A spring between rotor and joint is a system; its frequency is that of the closed form."""
    Jm, k = 0.02, 60.0
    rotor = System("rotor", state={"theta": Block((1,), "rad", velocity="theta_d"), "theta_d": (1, "rad/s")},
                   inputs={"tau": 1}, derivative=lambda t, x, u, p: -u.tau / Jm)
    spring = System("spring", inputs={"theta": 1, "q": 1}, outputs={"tau": 1},
                    output=lambda t, x, u, p: k * (u.theta - u.q))
    drive = cy.connect(link(), rotor, spring)
    rest = {"q": [0.0], "qd": [0.0], "theta": [0.0], "theta_d": [0.0]}
    found = np.sort(np.abs(np.linalg.eigvals(drive.linearize(rest).A).imag))
    w = np.sqrt(k * (1 / J + 1 / Jm))
    assert np.abs(found - [0, 0, w, w]).max() < 1e-5


def test_wrong_motors_controllers_and_observers_are_named():
    with pytest.raises(SignatureError, match="inductance of motors is positive"):
        dc_motors(1.0, -0.01, 0.05)
    with pytest.raises(SignatureError, match="resistance of motors is positive"):
        dc_motors(0.0, 0.01, 0.05)
    with pytest.raises(SignatureError, match="bandwidth"):
        pid(1.0, bandwidth=-1.0)
    with pytest.raises(SignatureError, match="do not go together"):
        luenberger_observer(np.eye(2), np.ones((2, 1)), np.ones((1, 2)), np.ones((1, 2)))
