"""Systems of all kinds beside closed forms, SciPy's linear systems, and other integrators."""

import pickle

import numpy as np
import pytest
from scipy import signal
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import cayley as cy
from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.systems import UNIT_QUATERNION, Block, Port, System
from cayley.systems.adaptive.events import Event
from systems.plants import G, free_body, linear, motor, pendulum

METHODS = {"rk4": 4, "semi-implicit-euler": 1, "lie-midpoint": 2, "implicit-midpoint": 2, "gauss": 4}


@pytest.mark.parametrize("method", [*METHODS, "gauss-energy"])
def test_fixed_steps_have_their_order_for_systems_with_any_blocks(method):
    """A pendulum with a motor whose current is a state of its own, and a drag that depends on time."""
    loop = cy.connect(pendulum(), motor(), wires={"motor.speed": "pendulum.speed", "pendulum.torque": "motor.torque"})
    start = {"angle": 0.7, "speed": 0.0, "current": 0.0}

    def slope(t, y):
        return [y[1], 0.3 * y[2] - G * np.sin(y[0]), (2.0 - 1.2 * y[2] - 0.3 * y[1]) / 2e-2]

    exact = solve_ivp(slope, (0, 0.5), [0.7, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    roll = loop.rollout(method=method)
    errors = []
    for steps in (100, 200, 400):
        end = roll(start, step=0.5 / steps, steps=steps, every=steps, inputs={"voltage": 2.0}).end
        errors.append(np.abs(np.array([end.angle, end.speed, end.current]) - exact).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.abs(orders - METHODS.get(method, 4)).max() < 0.25


def test_simulate_and_rollout_agree_and_balance_the_energy():
    swing = pendulum()
    exact = swing.simulate({"angle": 0.5, "speed": 0.0}, times=np.linspace(0, 1, 11), inputs={"torque": 0.3})
    rolled = swing.rollout()({"angle": [0.5, 0.1], "speed": 0.0}, step=1e-3, steps=1000, every=100,
                             inputs={"torque": 0.3})
    assert rolled.batch == (2,) and rolled.finished and exact.finished
    assert np.abs(rolled["angle"][0] - exact["angle"]).max() < 1e-9 and np.abs(rolled.energy_drift).max() < 1e-10
    assert np.abs(exact.energy_drift).max() < 1e-8 and np.abs(exact.work - 0.3 * (exact.angle - 0.5)).max() < 1e-9
    assert (rolled[0]["angle"] == rolled["angle"][0]).all() and exact.at(0.55).angle == exact.at([0.55]).angle[0]


def test_inputs_may_be_functions_and_change_with_the_steps():
    lag = System("lag", state={"y": "V"}, inputs={"u": "V"}, derivative=lambda t, x, u, p: u.u - x.y)
    t = np.linspace(0, 3, 31)
    found = lag.simulate({"y": 0.0}, times=t, inputs={"u": lambda t, y: np.sin(t)})
    assert np.abs(found.y - (np.exp(-t) + np.sin(t) - np.cos(t)) / 2).max() < 1e-8
    held = np.sin(np.arange(0, 3, 0.1))
    rolled = lag.rollout(changing=["u"])({"y": 0.0}, step=0.1, steps=30, inputs={"u": held})
    expected = [0.0]
    for u in held:
        expected.append(u + (expected[-1] - u) * np.exp(-0.1))  # what is held leads to an exact exponential
    assert np.abs(rolled.y - expected).max() < 1e-6 and rolled.inputs["u"][5] == held[5]


def test_parameters_are_constants_or_differ_in_a_batch():
    spring = System("spring", state={"x": Block((), "m", velocity="v"), "v": "m/s"},
                    parameters={"k": 4.0, "c": [0.1, 0.2]},
                    derivative=lambda t, x, u, p: -p.k * x.x - p.c.sum() * x.v)
    rates = np.array([1.0, 9.0, 25.0])
    rolled = spring.rollout(parameters=["k"])({"x": 1.0, "v": 0.0}, step=1e-3, steps=1000, every=1000,
                                              parameters={"k": rates})
    w = np.sqrt(rates - 0.15**2)
    assert np.abs(rolled.end.x - np.exp(-0.15) * (np.cos(w) + 0.15 / w * np.sin(w))).max() < 1e-9
    stiffer = spring.with_parameters({"k": 9.0}).rollout()({"x": 1.0, "v": 0.0}, step=1e-3, steps=1000, every=1000)
    assert abs(stiffer.end.x - rolled.end.x[1]) < 1e-14
    with pytest.raises(SignatureError, match="no parameter 'kk': did you mean 'k'"):
        spring.rollout(parameters=["kk"])
    with pytest.raises(SignatureError, match=r"shape \(2,\)"):
        spring.with_parameters({"c": [1.0, 2.0, 3.0]})
    assert spring.with_parameters({"c": 1.0}).parameters["c"].tolist() == [1.0, 1.0]  # a number is that of all


def test_the_time_counts_where_a_text_asks_for_it():
    ramp = System("ramp", state={"x": "m"}, derivative=lambda t, x, u, p: 3 * t**2)
    assert ramp.is_timed and not pendulum().is_timed
    rolled = ramp.rollout()({"x": 1.0}, step=0.1, steps=10, start=1.0)
    assert np.abs(rolled.x - (1 + (1 + 0.1 * np.arange(11))**3 - 1)).max() < 1e-12
    assert abs(ramp.simulate({"x": 1.0}, start=1.0, until=2.0).end.x - 8.0) < 1e-9


def test_a_free_body_keeps_its_momentum_and_its_quaternion():
    """The orientation is on its manifold; the momentum in space is constant; a turn about one axis is exact."""
    body = free_body([1.0, 2.0, 3.5])
    start = {"R": [1.0, 0.0, 0.0, 0.0], "w": [0.3, 2.0, 0.2]}
    for method, tolerance in (("rk4", 1e-9), ("lie-midpoint", 2e-5)):
        rolled = body.rollout(method=method)(start, step=2e-3, steps=2000, every=500, inputs={"moment": np.zeros(3)})
        turn = Rotation.from_quat(rolled["R"][:, [1, 2, 3, 0]])
        momentum = turn.apply(rolled["w"] * [1.0, 2.0, 3.5])
        assert np.abs(np.linalg.norm(rolled["R"], axis=-1) - 1).max() < 1e-13
        assert np.abs(momentum - momentum[0]).max() < tolerance and np.abs(rolled.energy_drift).max() < tolerance
    exact = body.simulate(start, until=4.0, inputs={"moment": np.zeros(3)})
    assert np.abs(exact.end.R @ rolled.end.R) > 1 - 1e-9
    spin = body.simulate({"R": [1.0, 0, 0, 0], "w": [0, 0, 1.5]}, until=2.0, inputs={"moment": np.zeros(3)})
    assert np.abs(spin.end.R - [np.cos(1.5), 0, 0, np.sin(1.5)]).max() < 1e-9


def test_a_quaternion_without_a_velocity_block_follows_its_input():
    camera = System("camera", state={"R": Block((4,), manifold=UNIT_QUATERNION)}, inputs={"rate": (3, "rad/s")},
                    derivative=lambda t, x, u, p: u.rate)
    w = np.array([0.4, -0.3, 0.8])
    exact = Rotation.from_rotvec(2 * w).as_quat()[[3, 0, 1, 2]]
    for method in METHODS:
        rolled = camera.rollout(method=method)({"R": [1.0, 0, 0, 0]}, step=0.01, steps=200, every=200,
                                               inputs={"rate": w})
        assert np.abs(rolled.end.R - exact).max() < 1e-9, method


def test_linear_models_are_those_of_finite_differences_and_of_the_matrices():
    A, B, C = np.array([[0.0, 1.0], [-4.0, -0.5]]), np.array([[0.0], [1.0]]), np.array([[1.0, 0.2]])
    found = linear("plant", A, B, C).linearize({"x": [0.1, 0.2]}, {"u": [0.0]})
    assert (found.A == A).all() and (found.B == B).all() and (found.C == C).all() and (found.D == 0).all()
    swing = pendulum().linearize({"angle": [0.3, 1.0], "speed": 0.2}, {"torque": 0.0})
    assert np.abs(swing.A[:, 1, 0] + G * np.cos([0.3, 1.0])).max() < 1e-14 and swing.B.shape == (2, 2, 1)


def test_a_linear_model_of_a_turning_body_predicts_its_neighbours():
    """Away from rest the difference of two orientations is turned along: the rate of small displacements."""
    body = free_body([1.0, 2.0, 3.5])
    state = {"R": np.array([0.5, 0.5, -0.5, 0.5]), "w": np.array([0.7, -0.4, 0.9])}
    A = body.linearize(state, {"moment": np.zeros(3)}).A
    rng = np.random.default_rng(0)
    d = rng.normal(size=6) * 1e-5
    moved = {"R": UNIT_QUATERNION.step(state["R"], d[:3]), "w": state["w"] + d[3:]}
    ends = [body.simulate(x, until=0.1, inputs={"moment": np.zeros(3)}, rtol=1e-12, atol=1e-13).end
            for x in (state, moved)]
    after = np.concatenate([UNIT_QUATERNION.difference(ends[0].R, ends[1].R), ends[1].w - ends[0].w])
    middle = body.simulate(state, until=0.05, inputs={"moment": np.zeros(3)}, rtol=1e-12, atol=1e-13).end
    half = body.linearize({"R": middle.R, "w": middle.w}, {"moment": np.zeros(3)}).A
    assert np.abs(after - expm(0.1 * half) @ d).max() < 2e-4 * np.abs(d).max()
    assert np.abs(A[:3, :3] @ [1.0, 2.0, 3.0] + np.cross(state["w"], [1.0, 2.0, 3.0])).max() < 1e-14


def test_outputs_are_those_of_scipy():
    A, B, C = [[-1.0, 2.0], [-3.0, -1.5]], [[1.0], [0.5]], [[1.0, 0.0], [1.0, 1.0]]
    t = np.linspace(0, 4, 41)
    u = np.sin(3 * t)
    _, expected, _ = signal.lsim((A, B, C, np.zeros((2, 1))), u, t, X0=[1.0, -1.0])
    found = linear("plant", A, B, C).simulate({"x": [1.0, -1.0]}, times=t, inputs={
        "u": lambda now, x: [np.interp(now, t, u)]}, max_step=0.1)
    assert np.abs(found.outputs["y"] - expected).max() < 1e-6 and found["y"].shape == (41, 2)


def test_constraints_take_the_drift_out():
    """A pendulum in x and y, its length a constraint of positions and velocities: without projection it drifts."""
    def accelerations(t, x, u, p):
        tension = (x.v @ x.v - G * x.r[1]) / (x.r @ x.r)
        return np.stack([-tension * x.r[0], -G - tension * x.r[1]])

    parts = {"state": {"r": Block((2,), "m", velocity="v"), "v": (2, "m/s")}, "derivative": accelerations}
    loose = System("loose", **parts)
    tied = System("tied", **parts, constraints={"length": lambda t, x, u, p: x.r @ x.r - 1.0,
                                                "rate": lambda t, x, u, p: x.r @ x.v})
    start = {"r": [1.0, 0.0], "v": [0.0, 0.0]}
    drift = {}
    for system in (loose, tied):
        for method in METHODS:
            end = system.rollout(method=method)(start, step=0.01, steps=200, every=200).end
            drift[system.name, method] = max(abs(end.r @ end.r - 1), abs(end.r @ end.v))
    assert drift["loose", "rk4"] > 1e-7 and drift["loose", "semi-implicit-euler"] > 1e-3
    assert max(drift["tied", method] for method in METHODS) < 1e-12
    exact = pendulum().simulate({"angle": np.pi / 2, "speed": 0.0}, until=3.0, inputs={"torque": 0.0}).end.angle
    found = tied.simulate(start, until=3.0).end.r
    assert np.abs(found - [np.sin(exact), -np.cos(exact)]).max() < 1e-7


def test_what_is_wrong_is_named():
    swing = pendulum()
    with pytest.raises(SignatureError, match="no state 'angel': did you mean 'angle'"):
        swing.simulate({"angel": 0.0, "speed": 0.0}, until=1.0, inputs={"torque": 0.0})
    with pytest.raises(SignatureError, match="'speed' is missing"):
        swing.simulate({"angle": 0.0}, until=1.0, inputs={"torque": 0.0})
    with pytest.raises(SignatureError, match="input 'torque' of pendulum is not given"):
        swing.simulate({"angle": 0.0, "speed": 0.0}, until=1.0)
    with pytest.raises(SignatureError, match="no input 'torqe': did you mean 'torque'"):
        swing.rollout()({"angle": 0.0, "speed": 0.0}, step=0.1, steps=1, inputs={"torqe": 0.0})
    with pytest.raises(SignatureError, match="dictionary with these names"):
        swing.simulate([0.0, 0.0], until=1.0, inputs={"torque": 0.0})
    with pytest.raises(SignatureError, match=r"'x' .* shape \(\.\.\., 2\)"):
        linear("plant", np.eye(2), np.eye(2), np.eye(2)).rollout()({"x": [1.0, 2.0, 3.0]}, step=0.1, steps=1,
                                                                  inputs={"u": [0.0, 0.0]})
    with pytest.raises(SignatureError, match="`rollout` is for batches"):
        swing.simulate({"angle": [0.0, 1.0], "speed": 0.0}, until=1.0, inputs={"torque": 0.0})
    with pytest.raises(GeometryError, match="unit quaternion"):
        free_body(np.ones(3)).rollout()({"R": [1.0, 1, 0, 0], "w": np.zeros(3)}, step=0.1, steps=1,
                                        inputs={"moment": np.zeros(3)})
    with pytest.raises(ConventionError, match="there is no method 'rk5': did you mean 'rk4'"):
        swing.rollout(method="rk5")
    with pytest.raises(SignatureError, match="needs a `derivative`"):
        System("still", state={"x": "m"})
    with pytest.raises(SignatureError, match="velocity of 'x' is 'v', a block that"):
        System("odd", state={"x": Block((), velocity="v")})
    with pytest.raises(SignatureError, match="need an `output`"):
        System("mute", inputs={"u": ""}, outputs={"y": ""})
    with pytest.raises(SignatureError, match=r"derivative of wrong returned has 'x' of the shape \(2,\), not \(3,\)"):
        System("wrong", state={"x": 3}, derivative=lambda t, x, u, p: x.x[:2]).simulate({"x": np.zeros(3)}, until=1.0)
    with pytest.raises(SignatureError, match="the states of wrong have no 'y'"):
        System("wrong", state={"x": 3}, derivative=lambda t, x, u, p: x.y).simulate({"x": np.zeros(3)}, until=1.0)
    state = System("right", state={"x": 3}, derivative=lambda t, x, u, p: x.x).layout.state(np.zeros(3))
    assert hasattr(state, "x") and not hasattr(state, "keys") and getattr(state, "y", None) is None
    with pytest.raises(SignatureError, match="is described by a unit"):
        System("odd", inputs={"u": -1})


def test_what_leaves_the_numbers_is_said_and_kept():
    burst = System("burst", state={"x": ""}, derivative=lambda t, x, u, p: x.x**2)
    found = burst.simulate({"x": 1.0}, until=2.0)
    assert not found.finished and abs(found.t[-1] - 1.0) < 1e-3
    rolled = burst.rollout()({"x": [1.0, -1.0]}, step=0.1, steps=40)
    assert rolled.status == "not finite" and "1 of 2 trajectories" in rolled.message
    assert rolled.good[1] == 41 and 10 < rolled.good[0] < 41


def test_float32_stays_float32_and_pieces_of_a_batch_are_alike():
    swing = pendulum()
    roll = swing.rollout()
    angles = np.linspace(0.1, 1.0, 11)
    rolled = roll({"angle": angles, "speed": 0.0}, step=1e-2, steps=50, inputs={"torque": 0.0})
    alone = roll({"angle": angles[3], "speed": 0.0}, step=1e-2, steps=50, inputs={"torque": 0.0})
    assert (alone.vectors == rolled.vectors[3]).all()
    single = roll({"angle": angles.astype(np.float32), "speed": np.float32(0)}, step=1e-2, steps=50,
                  inputs={"torque": np.float32(0)})
    assert single.vectors.dtype == np.float32 and np.abs(single.vectors - rolled.vectors).max() < 1e-5


def test_an_input_with_a_default_may_be_left_out():
    pushed = System("pushed", state={"x": "m"}, inputs={"force": Port((), "N", default=2.0)},
                    derivative=lambda t, x, u, p: u.force)
    assert abs(pushed.simulate({"x": 0.0}, until=1.0).end.x - 2.0) < 1e-12
    assert abs(pushed.rollout()(0.0, step=0.5, steps=2).end.x - 2.0) < 1e-12


def test_events_of_a_system_are_functions_of_its_blocks():
    swing = pendulum()
    start = {"angle": 0.4, "speed": 0.0}
    crossed = Event("middle", lambda t, angle, speed: angle, "falling", "record")
    kicked = Event("kick", lambda t, angle, speed: angle, "rising", "record",
                   lambda t, angle, speed: (angle, 2 * speed))
    high = Event("high", lambda t, angle, speed: angle - 0.6)
    found = swing.simulate(start, until=20.0, inputs={"torque": 0.0}, events=[crossed, kicked, high], rtol=1e-11)
    assert [what.name for what in found.happened] == ["middle", "kick", "high"] and found.status == "event"
    quarter = (found.happened[1].t - found.happened[0].t) / 2
    assert abs(found.happened[0].t - quarter) < 1e-8 and abs(found.end.angle - 0.6) < 1e-10
    assert np.abs(found.energy_drift).max() < 1e-8  # the kick is booked as work
    with pytest.raises(SignatureError, match=r"must return \(angle, speed\)"):
        swing.simulate(start, until=5.0, inputs={"torque": 0.0},
                       events=Event("odd", lambda t, a, w: a, "falling", "record", lambda t, a, w: (a,)))


def decaying(t, x, u, p):
    return -p.k * x.x


def test_systems_and_rollouts_travel_between_processes():
    system = System("decay", state={"x": ""}, parameters={"k": 2.0}, derivative=decaying)
    roll = system.rollout(parameters=["k"])
    here = roll({"x": 1.0}, step=0.1, steps=10, parameters={"k": [1.0, 2.0]})
    again = pickle.loads(pickle.dumps(system))
    assert abs(again.simulate({"x": 1.0}, until=1.0).end.x - np.exp(-2.0)) < 1e-9
    there = pickle.loads(pickle.dumps(roll))({"x": 1.0}, step=0.1, steps=10, parameters={"k": [1.0, 2.0]})
    assert (there.vectors == here.vectors).all()
    assert system.rollout(parameters=["k"]) is roll and system.rollout() is not roll


def test_rollouts_of_mechanisms_and_of_systems_are_of_one_class():
    """The rollout of an arm and that of its system: the same numbers, and the same derivatives."""
    arm = cy.load("planar2r")
    of_arm, of_system = arm.rollout(changing=["tau"]), arm.system().rollout(changing=["tau"])
    assert type(of_arm) is type(of_system)
    rng = np.random.default_rng(0)
    q, qd, tau = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=(20, 2))
    run = {"step": 1e-2, "steps": 20, "every": 5}
    ways = [of_arm(q, qd, tau, **run), of_arm(tau=tau, q=q, qd=qd, **run), of_arm(q, qd, inputs={"tau": tau}, **run),
            of_system({"q": q, "qd": qd}, inputs={"tau": tau}, **run), of_system(q=q, qd=qd, tau=tau, **run)]
    for found in ways:
        assert (found.q == ways[0].q).all() and (found.qd == ways[0].qd).all() and (found.tau == ways[0].tau).all()
    weights = {"q": rng.normal(size=(3, 5, 2))}
    one = of_arm.vjp(q, qd, tau, weights=weights, **run)
    for other in (of_system.vjp({"q": q, "qd": qd}, weights, inputs={"tau": tau}, **run),
                  of_system.vjp(q=q, qd=qd, tau=tau, weights=weights, **run)):
        assert all((one[name] == other[name]).all() for name in one)
    with pytest.raises(SignatureError, match="qd is missing"):
        of_arm(q, **run)
    with pytest.raises(SignatureError, match="q is given twice"):
        of_arm(q, qd, q=q, **run)
    with pytest.raises(SignatureError, match="one state"):
        of_system(q, qd, **run)
    with pytest.raises(SignatureError, match="no input 'force'"):
        of_system({"q": q, "qd": qd}, force=tau, **run)
    with pytest.raises(SignatureError, match="`weights` are arrays by name"):
        of_arm.vjp(q, qd, tau, **run)
