"""Connected systems beside the same equations in one piece, and beside SciPy's linear systems."""

import warnings

import numpy as np
import pytest
from scipy import linalg, signal
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import cayley as cy
import cayley.control
from cayley.errors import ConventionError, ModelWarning, SignatureError
from cayley.model.winding import Winding
from cayley.systems import Block, System, feedback, series
from systems.plants import G, linear, motor, pendulum


def gain(name, entry, exit, value):
    return System(name, inputs={entry: ""}, outputs={exit: ""}, output=lambda t, x, u, p: value * u[entry])


def test_a_motor_drives_an_arm_as_in_the_closed_form():
    """Linear: a rotor with inertia and no gravity; voltage to speed and current, by the matrix exponential."""
    rotor = System("rotor", state={"speed": "rad/s"}, inputs={"torque": "N m"}, parameters={"J": 0.01, "b": 0.02},
                   derivative=lambda t, x, u, p: (u.torque - p.b * x.speed) / p.J)
    drive = cy.connect(rotor, motor(), name="drive")
    assert drive.name == "drive" and list(drive.inputs) == ["voltage"] and list(drive.outputs) == ["speed", "torque"]
    A = np.array([[-0.02 / 0.01, 0.3 / 0.01], [-0.3 / 2e-2, -1.2 / 2e-2]])
    B = np.array([0.0, 1 / 2e-2])
    found = drive.linearize({"speed": 1.0, "current": 2.0}, {"voltage": 3.0})
    assert np.abs(found.A - A).max() < 1e-12 and np.abs(found.B[:, 0] - B).max() < 1e-12
    assert np.abs(found.C - [[1, 0], [0, 0.3]]).max() == 0
    t = 0.1
    exact = expm(A * t) @ [1.0, 2.0] + np.linalg.solve(A, (expm(A * t) - np.eye(2)) @ B * 6.0)
    simulated = drive.simulate({"speed": 1.0, "current": 2.0}, until=t, inputs={"voltage": 6.0}, rtol=1e-11).end
    rolled = drive.rollout()({"speed": 1.0, "current": 2.0}, step=1e-4, steps=1000, every=1000,
                             inputs={"voltage": 6.0}).end
    for end in (simulated, rolled):
        assert np.abs([end.speed - exact[0], end.current - exact[1]]).max() < 1e-9


def test_a_motor_with_current_drives_a_mechanism():
    """A link of the catalogue as a system: the same as the equations written out."""
    arm = cy.load("planar2r")
    drives = System("drives", state={"i": (2, "A")}, inputs={"voltage": (2, "V"), "qd": 2}, outputs={"tau": 2},
                    derivative=lambda t, x, u, p: (u.voltage - 0.8 * x.i - 0.5 * u.qd) / 0.05,
                    output=lambda t, x, u, p: 0.5 * x.i)
    loop = cy.connect(arm, drives)
    assert list(loop.inputs) == ["voltage"] and list(loop.state) == ["q", "qd", "i"]
    voltage = np.array([5.0, 1.0])

    def slope(t, y):
        q, qd, i = np.split(y, 3)
        return np.concatenate([qd, arm.forward_dynamics(q, qd, 0.5 * i), (voltage - 0.8 * i - 0.5 * qd) / 0.05])

    exact = solve_ivp(slope, (0, 0.5), np.zeros(6), rtol=1e-11, atol=1e-12).y[:, -1]
    start = {"q": np.zeros(2), "qd": np.zeros(2), "i": np.zeros(2)}
    found = loop.simulate(start, until=0.5, inputs={"voltage": voltage}, rtol=1e-11, atol=1e-12)
    rolled = loop.rollout()(start, step=1e-3, steps=500, every=500, inputs={"voltage": voltage})
    for end in (found.end, rolled.end):
        assert np.abs(np.concatenate([end.q, end.qd, end.i]) - exact).max() < 1e-7
    assert found["tau"].shape == (len(found), 2) and np.abs(found["tau"] - 0.5 * found["i"]).max() < 1e-15
    assert np.abs(found.energy_drift).max() < 1e-7


def test_a_law_is_evaluated_before_what_it_drives_whatever_the_order():
    swing = pendulum()
    law = System("law", inputs={"angle": "rad", "speed": "rad/s"}, outputs={"torque": "N m"},
                 output=lambda t, x, u, p: -3.0 * u.angle - 0.5 * u.speed)
    ends = [cy.connect(*parts).simulate({"angle": 0.4, "speed": 0.0}, until=2.0).end
            for parts in ((swing, law), (law, swing))]
    exact = solve_ivp(lambda t, y: [y[1], -3 * y[0] - 0.5 * y[1] - G * np.sin(y[0])], (0, 2), [0.4, 0], rtol=1e-11,
                      atol=1e-12).y[:, -1]
    for end in ends:
        assert np.abs([end.angle - exact[0], end.speed - exact[1]]).max() < 1e-8


def test_only_what_an_output_depends_on_directly_orders_it():
    """Two outputs of one system, one of which needs the other by way of another system: no loop."""
    both = System("both", inputs={"a": "", "b": ""}, outputs={"first": "", "second": ""},
                  output=lambda t, x, u, p: {"first": 2 * u.a, "second": u.b + 1})
    assert both.feedthrough == {"first": ("a",), "second": ("b",)}
    whole = cy.connect(both, gain("between", "first", "b", 5.0))
    assert whole.feedthrough == {"first": ("a",), "second": ("a",), "b": ("a",)}
    model = whole.linearize({}, {"a": 1.0})
    assert model.D[:, 0].tolist() == [2.0, 10.0, 10.0]


def test_an_algebraic_loop_is_refused_with_its_ports_or_solved():
    one = System("one", inputs={"b": "", "r": ""}, outputs={"a": ""}, output=lambda t, x, u, p: np.tanh(u.r - u.b))
    other = gain("other", "a", "b", 3.0)
    with pytest.raises(ConventionError, match=r"one\.a -> other\.b -> one\.a|other\.b -> one\.a -> other\.b"):
        cy.connect(one, other)
    lag = System("lag", state={"y": ""}, inputs={"a": ""}, derivative=lambda t, x, u, p: u.a - x.y)
    solved = cy.connect(one, other, lag, solve_loops=True)
    found = solved.simulate({"y": 0.0}, until=0.2, inputs={"r": 1.5})
    a = found.outputs["a"]
    assert np.abs(a - np.tanh(1.5 - 3 * a)).max() < 1e-12
    assert np.abs(found.y - a[0] * (1 - np.exp(-found.t))).max() < 1e-8
    model = solved.linearize({"y": 0.0}, {"r": 1.5})
    slope = 1 - a[0]**2
    assert abs(model.B[0, 0] - slope / (1 + 3 * slope)) < 1e-12


def loop_of(function, rate):
    """x = function(y, s), y = x: an algebraic loop beside a state s whose rate depends on it."""
    a = System("a", inputs={"y": "", "s": ""}, outputs={"x": ""}, output=lambda t, x, u, p: function(u.y, u.s))
    b = System("b", state={"s": ""}, inputs={"x": ""}, outputs={"y": "", "s": ""},
               derivative=lambda t, x, u, p: rate + 0.1 * u.x, output=lambda t, x, u, p: {"y": u.x, "s": x.s})
    return cy.connect(a, b, solve_loops=True)


@pytest.mark.parametrize("function", [
    lambda y, s: y**2 + s, lambda y, s: np.where(y > 0, -1.0, 1.0), lambda y, s: np.exp(y) + s,
    lambda y, s: 1e6 * y**2 + 1e-6 * s, lambda y, s: 1e-6 * y**2 + 1e6 * s])
def test_a_loop_without_a_solution_says_so_and_gives_no_numbers(function):
    system = loop_of(function, 0.0)
    simulated = system.simulate({"s": 1.0}, until=0.1)
    rolled = system.rollout()({"s": [1.0, 1.5]}, step=0.01, steps=10)
    for found in (simulated, rolled):
        assert found.status == "not finite" and "outputs x, y have no value" in found.message
    assert np.isnan(rolled.outputs["y"]).all() and np.isnan(rolled["s"][:, 1:]).all()
    assert np.isnan(simulated.outputs["x"]).all()


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_a_loop_that_loses_its_solution_ends_there(scale):
    """y = y^2 / scale + s has the roots of a quadratic, as long as s < scale / 4."""
    system = loop_of(lambda y, s: y**2 / scale + s, 1.0 * scale)
    start = {"s": -0.5 * scale}
    simulated = system.simulate(start, until=2.0)
    rolled = system.rollout()({"s": np.array([-0.5, -3.0]) * scale}, step=0.01, steps=100)
    assert simulated.status == rolled.status == "not finite" and "outputs x, y" in simulated.message
    assert "outputs x, y" in rolled.message and abs(simulated.end.s / scale - 0.25) < 1e-5
    assert not np.isnan(rolled["s"][1]).any()
    for found in (simulated, rolled):
        s = found["s"] / scale
        y = found.outputs["y"] / scale
        solved = ~np.isnan(y)
        assert (s[solved] < 0.25 + 1e-6).all() and np.abs(y - y**2 - s)[solved].max() < 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_loops_with_solutions_are_solved_in_either_precision(dtype):
    """Random loops of two outputs, solutions at zero and far from it among them, beside their residuals."""
    rng = np.random.default_rng(3)
    M = 0.3 * rng.normal(size=(2, 2))
    a = System("a", inputs={"y": 2, "s": 2}, outputs={"x": 2},
               output=lambda t, x, u, p: M @ np.tanh(u.y) + 1e3 * u.s - 1e3 * u.s + u.s)
    b = System("b", state={"s": 2}, inputs={"x": 2}, outputs={"y": 2, "s": 2},
               derivative=lambda t, x, u, p: 0.0 * u.x, output=lambda t, x, u, p: {"y": u.x, "s": x.s})
    s = np.concatenate([np.zeros((1, 2)), rng.normal(size=(9, 2)) * 10.0 ** np.arange(-8, 1)[:, None]])
    found = cy.connect(a, b, solve_loops=True).rollout()({"s": s.astype(dtype)}, step=dtype(0.01), steps=1)
    assert found.finished
    y = np.asarray(found.outputs["y"], float)[:, 0]
    assert np.abs(y - np.tanh(y) @ M.T - s).max() < (1e-12 if dtype == np.float64 else 1e-4)


def test_series_and_feedback_are_those_of_transfer_functions():
    lag = linear("lag", [[-2.0]], [[3.0]], [[1.0]])
    second = linear("second", [[-0.5]], [[1.0]], [[2.0]], state="z", inputs="v", outputs="w")
    chain = series(lag, second)
    model = chain.linearize({"x": [0.0], "z": [0.0]}, {"u": [0.0]})
    row = list(chain.outputs).index("w")
    b, a = signal.ss2tf(model.A, model.B, model.C[row:row + 1], model.D[row:row + 1])
    assert np.allclose(b, [[0, 0, 6.0]]) and np.allclose(a, np.polymul([1, 2.0], [1, 0.5]))
    closed = feedback(chain_output(chain), gain_vector("sensor", 4.0))
    model = closed.linearize({"x": [0.0], "z": [0.0]}, {"reference": [0.0]})
    row = list(closed.outputs).index("out")
    b, a = signal.ss2tf(model.A, model.B, model.C[row:row + 1], model.D[row:row + 1])
    assert np.allclose(b, [[0, 0, 6.0]], atol=1e-12)
    assert np.allclose(a, np.polyadd(np.polymul([1, 2], [1, 0.5]), [24.0]))


def chain_output(chain):
    """The chain with its last output alone."""
    return System("chain", state=chain.state, inputs=chain.inputs, outputs={"out": 1}, derivative=chain.derivative,
                  output=lambda t, x, u, p: chain.values(t, x, u, p)["w"])


def gain_vector(name, value):
    return System(name, inputs={"seen": 1}, outputs={"measured": 1}, output=lambda t, x, u, p: value * u.seen)


def test_a_system_drives_itself_only_by_a_wire():
    """A filter may call its input and its output by one name: it is not a loop, unless it is asked for."""
    smooth = System("smooth", state={"z": ""}, inputs={"y": ""}, outputs={"y": ""},
                    derivative=lambda t, x, u, p: u.y - x.z, output=lambda t, x, u, p: x.z)
    other = gain("other", "a", "b", 2.0)
    assert list(cy.connect(smooth, other).inputs) == ["y", "a"]
    closed = cy.connect(smooth, other, wires={"smooth.y": "smooth.y"})
    assert list(closed.inputs) == ["a"] and closed.linearize({"z": 0.0}, {"a": 0.0}).A.tolist() == [[0.0]]


def test_connections_of_connections_are_the_same_as_all_at_once():
    rotor = System("rotor", state={"speed": "rad/s"}, inputs={"torque": "N m"},
                   derivative=lambda t, x, u, p: 100 * u.torque)
    law = System("law", state={"sum": "rad"}, inputs={"speed": "rad/s", "target": "rad/s"}, outputs={"voltage": "V"},
                 derivative=lambda t, x, u, p: u.target - u.speed,
                 output=lambda t, x, u, p: 2 * (u.target - u.speed) + 10 * x.sum)
    nested = cy.connect(cy.connect(rotor, motor()), law)
    flat = cy.connect(rotor, motor(), law)
    start = {"speed": 0.0, "current": 0.0, "sum": 0.0}
    ends = [system.rollout()(start, step=1e-3, steps=2000, every=2000, inputs={"target": 5.0})
            for system in (nested, flat)]
    assert (ends[0].vectors == ends[1].vectors).all() and abs(ends[0].end.speed - 5.0) < 1e-3
    assert ends[0].parameters == {} and nested.parameters.keys() == {"R", "L", "k"}


def test_renamed_systems_may_stand_beside_each_other():
    swing = pendulum()
    twin = swing.renamed({"angle": "angle2", "speed": "speed2", "torque": "torque2"}, "twin")
    spring = System("spring", inputs={"angle": "rad", "angle2": "rad"}, outputs={"torque": "N m", "torque2": "N m"},
                    output=lambda t, x, u, p: {"torque": 5 * (u.angle2 - u.angle), "torque2": 5 * (u.angle - u.angle2)})
    pair = cy.connect(swing, twin, spring)
    found = pair.simulate({"angle": 0.2, "speed": 0.0, "angle2": -0.2, "speed2": 0.0}, until=1.0)
    assert np.abs(found["angle"] + found["angle2"]).max() < 1e-8
    own = np.linalg.eigvals(pair.linearize({"angle": 0.0, "speed": 0.0, "angle2": 0.0, "speed2": 0.0}).A)
    assert np.allclose(sorted(np.abs(own.imag)), sorted([np.sqrt(G)] * 2 + [np.sqrt(G + 10)] * 2))
    assert np.abs(found.energy - (found["speed"]**2 / 2 - G * np.cos(found["angle"])) * 2).max() < 1e-8


def test_wrong_connections_are_named():
    swing = pendulum()
    with pytest.raises(SignatureError, match=r"motor.torque is in N m, and drives rotor.torque, which is in mN m"):
        cy.connect(motor(), System("rotor", state={"speed": ""}, inputs={"torque": "mN m"},
                                   derivative=lambda t, x, u, p: u.torque))
    with pytest.raises(SignatureError, match=r"law.torque has the shape \(2,\), and drives pendulum.torque.* has \(\)"):
        cy.connect(swing, System("law", outputs={"torque": 2}, output=lambda t, x, u, p: np.ones(2)))
    with pytest.raises(SignatureError, match="'pendulum' is the name of two systems"):
        cy.connect(swing, swing)
    with pytest.raises(SignatureError, match="'angle' is the name of two states"):
        cy.connect(swing, swing.renamed({}, "twin"))
    with pytest.raises(SignatureError, match=r"'torque' is the name of two outputs.*driven twice"):
        cy.connect(motor(), gain("law", "e", "torque", 1.0))
    with pytest.raises(SignatureError, match=r"the input 'motor\.speeed', which no system has: did you mean"):
        cy.connect(motor(), swing, wires={"motor.speeed": "pendulum.speed"})
    with pytest.raises(SignatureError, match=r"the output 'pendulum\.torque', which no system has"):
        cy.connect(motor(), swing, wires={"motor.speed": "pendulum.torque"})
    with pytest.raises(SignatureError, match="several systems have an input 'torque'"):
        cy.connect(swing, swing.renamed({"angle": "a", "speed": "s"}, "twin"), gain("law", "e", "y", 1.0),
                   wires={"torque": "y"})
    with pytest.raises(SignatureError, match="nothing of the name 'angel'"):
        swing.renamed({"angel": "a"})
    with pytest.raises(SignatureError, match="in a series these are as many"):
        series(pendulum(), gain("law", "e", "torque", 1.0))
    with pytest.raises(SignatureError, match="no systems"):
        cy.connect()


@pytest.mark.parametrize("second", ["renamed", "tied"])
def test_two_mechanisms_with_dry_friction_are_one_system_and_each_moves_as_alone(second):
    """The columns of each are found in the state of the whole: of an arm, and of an arm with other names or a linkage.
    """
    arm = cy.load("planar2r").with_friction(["joint1", "joint2"], coulomb=0.5).including("friction")
    other = cy.load("four_bar").with_friction("crank", coulomb=0.6).including("friction") if second == "tied" else arm
    names = {"q": "angles", "qd": "rates", "tau": "moments"}
    whole = cy.connect(other.system(), arm.system().renamed(names, "second"))
    q = other.loops.close(np.full(other.nq, 0.4)).configuration if second == "tied" else np.array([0.1, -0.7])
    start = {"angles": [0.3, 0.2], "rates": [0.0, 1.0]}
    found = whole.simulate({"q": q, "qd": np.zeros(other.nv), **start}, until=0.5)
    one, two = other.simulate(q, np.zeros(other.nv), until=0.5), arm.simulate(*start.values(), until=0.5)
    assert np.abs(found.end["q"] - one.q[-1]).max() < 1e-7 and np.abs(found.end["angles"] - two.q[-1]).max() < 1e-7
    instants = sorted((o.t, o.action) for o in (*one.happened, *two.happened))
    assert [action for _, action in instants] == [o.action for o in found.happened]
    assert np.abs([t for t, _ in instants] - np.array([o.t for o in found.happened])).max(initial=0.0) < 1e-7


def test_elastic_drive_has_the_eigen_frequencies_of_the_closed_form():
    """Two inertias with a spring: sqrt(k (1 / J1 + 1 / J2)), and a free rotation."""
    J1, J2, k = 0.02, 0.3, 40.0
    motor_side = System("rotor", state={"theta": Block((), "rad", velocity="theta_d"), "theta_d": "rad/s"},
                        inputs={"moment": "N m"}, derivative=lambda t, x, u, p: -u.moment / J1)
    link_side = System("link", state={"phi": Block((), "rad", velocity="phi_d"), "phi_d": "rad/s"},
                       inputs={"moment": "N m"}, derivative=lambda t, x, u, p: u.moment / J2)
    spring = System("spring", inputs={"theta": "rad", "phi": "rad"}, outputs={"moment": "N m"},
                    output=lambda t, x, u, p: k * (u.theta - u.phi))
    drive = cy.connect(motor_side, link_side, spring)
    rest = {"theta": 0.0, "theta_d": 0.0, "phi": 0.0, "phi_d": 0.0}
    frequencies = np.sort(np.abs(np.linalg.eigvals(drive.linearize(rest).A).imag))
    w = np.sqrt(k * (1 / J1 + 1 / J2))
    assert np.allclose(frequencies, [0, 0, w, w], atol=1e-6)
    rolled = drive.rollout(method="lie-midpoint")(rest | {"theta": 0.1}, step=1e-4, steps=2000, every=20)
    twist = 0.1 * np.cos(w * rolled.t)
    assert np.abs(rolled["theta"] - rolled["phi"] - twist).max() < 2e-5


@pytest.mark.parametrize("seed", range(6))
def test_random_networks_of_linear_systems_are_those_of_block_matrices(seed):
    """States, feedthrough, algebraic loops: A = A0 + B0 K (I - D0 K)^-1 C0, whatever is joined with what."""
    rng = np.random.default_rng(seed)
    parts, blocks, wires = [], [], {}
    for k in range(4):
        A, B, C = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
        D = rng.normal(size=(2, 2)) * rng.integers(0, 2, size=(2, 2)) * 0.4
        blocks.append((A, B, C, D))
        parts.append(System(f"part{k}", state={f"x{k}": 2}, inputs={f"u{k}a": "", f"u{k}b": ""},
                            outputs={f"y{k}a": "", f"y{k}b": ""}, **texts(k, A, B, C, D)))
    inputs = [f"u{k}{letter}" for k in range(4) for letter in "ab"]
    outputs = [f"y{k}{letter}" for k in range(4) for letter in "ab"]
    K = np.zeros((8, 8))
    for row in rng.permutation(8)[:5]:
        column = int(rng.integers(8))
        wires[inputs[row]] = outputs[column]
        K[row, column] = 1.0
    whole = cy.connect(*parts, wires=wires, solve_loops=True)
    A0, B0, C0, D0 = (linalg.block_diag(*[block[j] for block in blocks]) for j in range(4))
    left = [row for row in range(8) if inputs[row] not in wires]
    inner = np.linalg.inv(np.eye(8) - K @ D0)
    E = np.eye(8)[:, left]
    model = whole.linearize({f"x{k}": np.zeros(2) for k in range(4)}, {inputs[row]: 0.0 for row in left})
    assert list(whole.inputs) == [inputs[row] for row in left]
    for found, expected in ((model.A, A0 + B0 @ inner @ K @ C0), (model.B, B0 @ inner @ E),
                            (model.C, C0 + D0 @ inner @ K @ C0), (model.D, D0 @ inner @ E)):
        assert np.abs(found - expected).max() < 1e-10 * max(1.0, np.abs(expected).max())


def texts(k, A, B, C, D):
    def joined(u):
        return np.stack([u[f"u{k}a"], u[f"u{k}b"]])

    def output(t, x, u, p):
        y = C @ x[f"x{k}"] + D @ joined(u)
        return {f"y{k}a": y[0], f"y{k}b": y[1]}

    return {"derivative": lambda t, x, u, p: A @ x[f"x{k}"] + B @ joined(u), "output": output}


# What drives nothing


@pytest.fixture(scope="module")
def arms():
    """An arm, and the same with motors, without and with their rotors."""
    arm = driven = cy.load("planar2r")
    for joint in arm.joint_names:
        driven = driven.with_drive(joint, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
    return arm, driven, driven.including("armature")


def test_a_law_that_drives_nothing_is_said(arms):
    arm, *_ = arms
    floor = arm.control.wall("tool", [0.0, -0.2, 0.0], [0.0, 1.0, 0.0], 1e4)
    volts = arm.control.pd(100.0, 10.0, output="voltage")
    with pytest.warns(ModelWarning, match=r"nothing takes pd\.voltage, while nothing drives planar2r\.tau.*motors"):
        cy.connect(arm, volts)
    for parts in ((arm, floor), (arm, arm.control.pd(100.0, 10.0), floor)):
        with pytest.warns(ModelWarning, match=r"nothing takes wall\.wrench_tool or wall\.depth.*system\(wrenches"):
            cy.connect(*parts)
    with pytest.warns(ModelWarning, match=r"nothing takes pid, digital\.voltage"):
        cy.connect(arm, cayley.control.digital(arm.control.pid(9.0, 1.0, 1.0, output="voltage"), 1e-3))
    with pytest.warns(ModelWarning, match=r"nothing takes pd\.force"):
        cy.connect(arm, arm.control.pd(100.0, 10.0).renamed({"tau": "force"}))


def test_rotors_that_are_left_out_are_said(arms):
    _, light, _ = arms
    with pytest.warns(ModelWarning, match=r"rotors of planar2r, that of 'joint1' first, are left out.*armature"):
        light.control.motors()


def test_what_drives_something_or_only_measures_is_not_warned_of(arms):
    arm, _, heavy = arms
    target = System("hand", outputs={"target": 2}, output=lambda t, x, u, p: np.zeros(2))
    meter = System("meter", inputs={"qd": 2}, outputs={"speed": ""}, output=lambda t, x, u, p: u.qd @ u.qd)
    floor = arm.control.wall("tool", [0.0, -0.2, 0.0], [0.0, 1.0, 0.0], 1e4)
    volts = arm.control.pd(100.0, 10.0, output="voltage")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cy.connect(arm, meter)
        cy.connect(target, arm.control.pd(100.0, 10.0))  # to be connected with an arm later
        cy.connect(arm, arm.control.adaptive(1.0, 2.0, 3.0, 1.0, payload="tool"))
        cy.connect(heavy, heavy.control.motors(), volts)
        cy.connect(arm.system(wrenches=["tool"]), arm.control.pd(100.0, 10.0), floor)


# What is wrong is named


def test_dictionaries_batches_and_parameters():
    for word in ("constraints", "inputs", "parameters", "state"):
        with pytest.raises(SignatureError, match=f"the {word} of a are a dictionary by names"):
            System("a", **{word: [1]})
    two = System("two", state={"x": "", "v": ""}, derivative=lambda t, x, u, p: {"x": x.v, "v": -x.x})
    for run in (lambda x: two.rollout()(x, step=0.1, steps=2), two.linearize,
                lambda x: two.rollout().vjp(x, {"x": np.ones(3)}, step=0.1, steps=2)):
        with pytest.raises(SignatureError, match=r"do not broadcast: x \(3,\), v \(4,\)"):
            run({"x": np.zeros(3), "v": np.zeros(4)})
    law = cy.load("planar2r").control.pd(1.0, 2.0)
    assert law.with_parameters({"kp": 3.0}).parameters["kp"].tolist() == [3.0, 3.0]
    with pytest.raises(SignatureError, match=r"shape \(2,\), or is one number for all, not \(3,\)"):
        law.with_parameters({"kp": [1.0, 2.0, 3.0]})


def test_a_period_that_is_no_number_does_not_spoil_the_memory():
    law = cy.load("planar2r").control.pid(10.0, 5.0, 1.0)
    seen = np.zeros(2), np.zeros(2), np.ones(2), np.zeros(2)
    x = np.array([0.1, -0.2])
    for h in (np.nan, np.inf):
        assert law.step(x, *seen, h).x.tolist() == x.tolist()
    assert law.step(x, *seen, 0.5).x.tolist() == [0.6, 0.3]
