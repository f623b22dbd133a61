"""Networks of any shape: loops by three routes, springs, circuits that drive joints, and what is refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import cayley as cy
from cayley.control import dc_motors
from cayley.errors import ModelError, SingularityError, UnsupportedError
from cayley.machines.networks import (
    Circuit,
    Connection,
    LineSpring,
    Network,
    RigidBody,
    circuit_system,
    driven,
    network_motion,
    planar_arm,
)
from cayley.machines.networks.elements import (
    Ammeter,
    Capacitor,
    CurrentSource,
    Damper,
    ForceSource,
    Gear,
    Gyrator,
    Inductor,
    Inertia,
    JointShaft,
    JointSlide,
    Mass,
    Motor,
    RackAndPinion,
    Resistor,
    ShaftDamper,
    ShaftSpring,
    SpeedSource,
    Spring,
    Tachometer,
    TorqueSensor,
    TorqueSource,
    Transformer,
    VoltageSource,
    Voltmeter,
)
from cayley.model.joint_kinds import Floating, Prismatic, Revolute, Spherical, Universal
from cayley.model.rotor import Rotor

LENGTHS = (0.3, 0.6, 0.5)
MASSES = (1.0, 2.0, 1.5)
Q = np.array([1.0471975512, -0.6353308965, -1.9823131729])  # W4-07
QD = np.array([2, -2.5458752303, 1.3228756555])


def rod(name, m, l):
    return RigidBody(name, m, m * l * l / 12 * np.diag([0, 1, 1]), {"B": [-l / 2, 0, 0], "A": [l / 2, 0, 0]})


def four_bar(last=("O.right", "rocker.A"), **more):
    rods = [rod(*each) for each in zip(("crank", "coupler", "rocker"), MASSES, LENGTHS, strict=True)]
    ends = [("O.left", "crank.B"), ("crank.A", "coupler.B"), ("coupler.A", "rocker.B"), last]
    pins = [Connection(f"pin{k}", *two, Revolute()) for k, two in enumerate(ends, start=1)]
    return Network("four-bar", rods, pins, reference={"left": [0, 0, 0], "right": [0.7, 0, 0]}, gravity=[0, -9.81, 0],
                   **more)


def closed(network):
    """The state of W4-07 to the last digits."""
    arm = cy.Mechanism(network.tree())
    q = arm.loops.close(Q, fixed=["pin1"]).configuration
    J = arm.loops.jacobian(q)
    rest = np.linalg.lstsq(J[:, 1:], -J[:, 0] * QD[0])[0]
    return arm, q, np.array([QD[0], *rest])


@pytest.mark.spec("S4-31")
def test_four_bar_by_three_routes():
    """W4-07: the tableau of 42 unknowns has the rank 39; the planar arm pinned at its tip; the mechanism with a
    loop."""
    network = four_bar()
    arm, q, qd = closed(network)
    assert np.abs(q - Q).max() < 1e-9 and np.abs(qd - QD).max() < 1e-9
    found = network_motion(network, q, qd, {"pin1": [1.2]})
    assert (found.size, found.rank) == (42, 39)
    rates = np.concatenate([found.accelerations[f"pin{k}"] for k in (1, 2, 3)])
    assert np.abs(rates - [-8.2294988132, 11.9461923154, -4.6795392028]).max() < 1e-8
    assert np.abs(found.wrenches["pin4"][:2] - [0.1149300329, 22.8679414528]).max() < 1e-8
    assert found.determined["pin4"].tolist() == [True, True, False, False, False, True]
    assert np.abs(arm.forward_dynamics(q, qd, [1.2, 0, 0]) - rates).max() < 1e-10
    chain = planar_arm(MASSES, LENGTHS)
    M, h, gravity, jacobian = chain.reduced(q, qd)
    rows = jacobian[[0, 1]]
    step = 1e-6
    drift = (chain.reduced(q + step * qd, qd)[3][:2] - chain.reduced(q - step * qd, qd)[3][:2]) @ qd / (2 * step)
    pinned = np.linalg.solve(np.block([[M, -rows.T], [rows, np.zeros((2, 2))]]),
                             [*(np.array([1.2, 0, 0]) - h - gravity), *-drift])
    assert np.abs(pinned[:3] - rates).max() < 1e-7 and np.abs(pinned[3:] - found.wrenches["pin4"][:2]).max() < 1e-7


@pytest.mark.spec("S4-31")
def test_connections_may_be_named_from_either_end():
    """The same linkage with its last pin the other way round, and described from the other side."""
    one = network_motion(four_bar(), *closed(four_bar())[1:], {"pin1": [1.2]})
    turned = four_bar(last=("rocker.A", "O.right"))
    other = network_motion(turned, *closed(turned)[1:], {"pin1": [1.2]})
    assert np.abs(other.wrenches["pin4"] + one.wrenches["pin4"]).max() < 1e-9  # on the other body
    rods = [rod(*each) for each in zip(("crank", "coupler", "rocker"), MASSES, LENGTHS, strict=True)]
    pins = [Connection("pin3", "rocker.B", "coupler.A", Revolute()),
            Connection("pin2", "coupler.B", "crank.A", Revolute()),
            Connection("pin1", "O.left", "crank.B", Revolute()), Connection("pin4", "O.right", "rocker.A", Revolute())]
    mixed = Network("mixed", rods, pins, reference={"left": [0, 0, 0], "right": [0.7, 0, 0]}, gravity=[0, -9.81, 0])
    assert [joint.name for joint in mixed.layout.joints] == ["pin1", "pin2", "pin3"]  # outwards; two are turned round
    found = network_motion(mixed, Q * [1, -1, -1], QD * [1, -1, -1], {"pin1": [1.2]})
    assert np.abs(found.accelerations["pin1"] - one.accelerations["pin1"]).max() < 1e-7


def imbalance(network, q, qd, forces):
    """By how much Newton's and Euler's equations of the bodies miss, with each wrench on its second terminal, about it,
    and the opposite one on its first."""
    found = network_motion(network, q, qd, forces)
    at = network.spanning_tree.instant(np.asarray(q), np.asarray(qd))
    centres = at.centres()
    left = {}
    for j, name in enumerate(network.order):
        force = at.masses[j] * (found.centres[name][:3] - at.gravity)
        left[name] = np.concatenate([force, at.J(j) @ found.centres[name][3:] + np.cross(
            at.turning[j], at.J(j) @ at.turning[j])])
    for each in network.connections:
        ends = [network.terminal(end, each.name) for end in (each.first, each.second)]
        body = network.number(ends[1].body)
        point = network.arm(ends[1]) if body < 0 else centres[body] + at.axes[body] @ network.arm(ends[1])
        for sign, end in zip((1, -1), ends, strict=True):
            if end.body != "O":
                f, m = np.split(found.wrenches[each.name], 2)
                left[end.body] += sign * np.concatenate([f, m + np.cross(point - centres[network.number(end.body)], f)])
    return max(np.abs(each).max() for each in left.values())


@pytest.mark.spec("S4-31")
@pytest.mark.parametrize("turned", range(8))
def test_wrenches_act_on_the_second_terminal_whichever_way_the_tree_takes_a_connection(turned):
    """A branched chain with a slide that is out and axes of its own, and the four-bar: each connection written from
    either end; a coordinate means the motion of the second terminal, and changes its sign."""
    random = np.random.default_rng(3)
    signs = np.array([1 - 2 * (turned >> k & 1) for k in range(3)])

    def ends(k, first, second):
        return (first, second) if signs[k] > 0 else (second, first)

    bodies = [RigidBody(name, 1.0 + k, np.diag([0.1, 0.2, 0.25]), {"A": [0.3, k, 0], "B": [-0.2, 0.1, 0.4]})
              for k, name in enumerate("abc")]
    motions = [Revolute(), Prismatic((0.0, 0.6, 0.8)), Revolute((1.0, 0.0, 0.0))]
    pairs = [("O.o", "a.A"), ("a.B", "b.B"), ("a.A", "c.B")]
    chain = Network("chain", bodies, [Connection(f"j{k}", *ends(k, *two), motion) for k, (two, motion)
                                      in enumerate(zip(pairs, motions, strict=True))], reference={"o": [0.1, 0, 0.2]})
    q, qd, tau = signs * random.normal(size=(3, 3))
    forces = {f"j{k}": [tau[k]] for k in range(3)}
    assert imbalance(chain, q, qd, forces) < 1e-12
    plain = network_motion(four_bar(), *closed(four_bar())[1:], {"pin1": [1.2]})
    rods = [rod(*each) for each in zip(("crank", "coupler", "rocker"), MASSES, LENGTHS, strict=True)]
    loop = [("O.left", "crank.B"), ("crank.A", "coupler.B"), ("coupler.A", "rocker.B"), ("O.right", "rocker.A")]
    pins = [Connection(f"pin{k + 1}", *(ends(k, *two) if k < 3 else two), Revolute()) for k, two in enumerate(loop)]
    bar = Network("bar", rods, pins, reference={"left": [0, 0, 0], "right": [0.7, 0, 0]}, gravity=[0, -9.81, 0])
    place, rate = (signs * part for part in closed(four_bar())[1:])
    assert imbalance(bar, place, rate, {"pin1": [signs[0] * 1.2]}) < 1e-11
    found = network_motion(bar, place, rate, {"pin1": [signs[0] * 1.2]})
    for k, sign in enumerate([*signs, 1]):
        assert np.abs(found.wrenches[f"pin{k + 1}"] - sign * plain.wrenches[f"pin{k + 1}"]).max() < 1e-9
        assert (found.determined[f"pin{k + 1}"] == plain.determined[f"pin{k + 1}"]).all()


@pytest.mark.spec("S4-31", "S4-32")
@pytest.mark.parametrize("seed", range(4))
def test_random_networks_with_branches_and_axes_of_their_own(seed):
    """Bodies in axes that are not those of the joints, branches; accelerations and reactions beside the mechanism's;
    the power at all connections is the rate of the energy."""
    random = np.random.default_rng(seed)

    def turn():
        Q, R = np.linalg.qr(random.normal(size=(3, 3)))
        Q = Q * np.sign(np.diag(R))
        return Q * np.linalg.det(Q)

    def body(name):
        J = random.normal(size=(3, 3))
        return RigidBody(name, random.uniform(0.5, 2), J @ J.T + 0.2 * np.eye(3),
                         {port: random.normal(size=3) for port in "ABCD"})

    bodies = [body(name) for name in ("trunk", "left", "right", "hand")]
    pairs = [("O.base", "trunk.A", Revolute()), ("trunk.B", "left.C", Prismatic((0.0, 0.6, 0.8))),
             ("trunk.C", "right.B", Spherical()), ("left.A", "hand.D", Revolute((1.0, 0.0, 0.0)))]
    joints = [Connection(f"j{k}", *two, turn(), turn()) for k, two in enumerate(pairs)]
    network = Network("tree", bodies, joints, reference={"base": random.normal(size=3)}, open=["hand.A"])
    arm = cy.Mechanism(network.tree())
    q = arm.random_configuration(seed=seed)
    qd = random.normal(size=arm.nv)
    forces = {"j0": [0.3], "j1": [-2.0], "j2": [0.1, 0.2, -0.4], "j3": [1.0]}
    load = random.normal(size=6)
    found = network_motion(network, q, qd, forces, {"hand.A": load})
    assert found.rank == found.size == 48
    tau = np.concatenate([forces[joint.name] for joint in network.layout.joints])
    J = arm.jacobian(q, "hand.A", axes="world")
    expected = arm.forward_dynamics(q, qd, tau + J.T @ load)
    ours = np.concatenate([found.accelerations[joint.name] for joint in network.layout.joints])
    assert np.abs(ours - expected).max() < 1e-9
    rates = arm.kinetic_energy.jacobian("qd")(q, qd) @ expected  # and along q, by a difference
    h = 1e-6
    ahead, behind = (arm.integrate(q, s * h * qd) for s in (1, -1))
    rates += (arm.kinetic_energy(ahead, qd) - arm.kinetic_energy(behind, qd)) / (2 * h)
    rates += (arm.potential_energy(ahead) - arm.potential_energy(behind)) / (2 * h)
    assert abs((tau + J.T @ load) @ qd - rates) < 1e-6 * max(abs(rates), 1)


def test_springs_between_bodies():
    """A mass on a spring that swings in space, beside its equations; energy; springs without a length may close."""
    bob = RigidBody("bob", 2.0, 1e-9 * np.eye(3), {"P": [0, 0, 0]})
    network = Network("pendulum", [bob], [Connection("free", "O.top", "bob.P", Floating())], reference={"top": [0, 0,
                      0]}, springs=[LineSpring("rope", "O.top", "bob.P", stiffness=50.0, length=1.0, damping=0.3)])
    run = network.system().simulate({"q": [1.3, 0, 0, 1, 0, 0, 0], "qd": [0, 0.5, 0, 0, 0, 0]}, until=2.0, rtol=1e-9,
                                    atol=1e-11)

    def rate(_, s):
        p, v = s[:3], s[3:]
        d = np.linalg.norm(p)
        return [*v, *(-(50 * (d - 1) + 0.3 * (p @ v) / d) * p / d / 2.0 + [0, 0, -9.81])]

    theirs = solve_ivp(rate, (0, 2), [1.3, 0, 0, 0, 0.5, 0], rtol=1e-11, atol=1e-12).y[:3, -1]
    assert np.abs(run["q"][-1][:3] - theirs).max() < 1e-6
    soft = replace(network, springs=[LineSpring("rope", "O.top", "bob.P", stiffness=50.0)])
    still = soft.system().simulate({"q": [0, 0, 0, 1, 0, 0, 0], "qd": np.zeros(6)}, until=0.5)
    assert abs(still["q"][-1][2] + 2 * 9.81 / 50 * (1 - np.cos(5 * 0.5))) < 1e-7  # starts where both ends meet
    assert np.abs(still.energy_drift).max() < 1e-7
    both = network_motion(soft, [0.1, 0, 0, 1, 0, 0, 0], np.zeros(6))
    assert np.abs(both.centres["bob"][:3] - [-50 * 0.1 / 2, 0, -9.81]).max() < 1e-9


def test_springs_in_a_loop_keep_the_energy():
    network = four_bar(springs=[LineSpring("strut", "crank.A", "O.right", stiffness=30.0, length=0.2)])
    arm, q, qd = closed(network)
    rolled = network.system().rollout()({"q": q, "qd": qd}, step=5e-4, steps=4000, every=200)
    assert np.abs(rolled.energy_drift).max() < 1e-8 and np.abs(arm.loops.residual(rolled["q"])).max() < 1e-12
    tau = network_motion(network, q, qd).accelerations["pin1"]
    away = network_motion(four_bar(), q, qd).accelerations["pin1"]
    assert abs(tau - away) > 1


def drive(k, joint, *, gear=100.0):
    return [VoltageSource(f"V{k}", f"a{k}"), Resistor(f"R{k}", f"a{k}", second=f"b{k}", resistance=1.0),
            Inductor(f"i{k}", f"b{k}", second=f"c{k}", inductance=0.01), Motor(f"m{k}", f"c{k}", f"s{k}",
            constant=0.05), Inertia(f"rotor{k}", f"s{k}", inertia=1e-4), Gear(f"g{k}", f"s{k}", f"o{k}", ratio=gear),
            JointShaft(f"shaft{k}", f"o{k}", of=joint), Tachometer(f"w{k}", f"s{k}")]


@pytest.mark.parametrize("gear", [100.0, -80.0])
def test_an_arm_with_its_electric_drives_is_one_network(gear):
    """Beside motors as systems, with the inertia of rotors as armature; in simulations and in rollouts."""
    arm = cy.load("planar2r")
    circuit = Circuit("drives", [*drive(0, "joint1", gear=gear), *drive(1, "joint2", gear=gear)])
    equations = circuit.state_equations
    assert equations.states == ("i0", "i1") and set(equations.dependent) == {"rotor0", "rotor1"}
    assert np.abs(equations.E + np.vstack([1e-4 * gear**2 * np.eye(2), np.zeros((2, 2))])).max() < 1e-12
    whole = driven(circuit, arm.tree)
    start = {"q": [0.1, 0.2], "qd": [0, 0], "i0": 0.0, "i1": 0.0}
    run = whole.simulate(start, until=1.0, inputs={"V0": 5.0, "V1": -3.0}, rtol=1e-10, atol=1e-12)
    joints = [replace(joint, rotor=Rotor(1e-4, gear)) for joint in arm.tree.joints]
    heavy = cy.Mechanism(arm.tree.with_parts(arm.tree.bodies, joints)).including("armature")
    theirs = cy.connect(heavy, dc_motors([1.0, 1.0], 0.01, 0.05, gear=gear)).simulate(
        {"q": [0.1, 0.2], "qd": [0, 0], "current": [0, 0]}, until=1.0, inputs={"voltage": [5.0, -3.0]}, rtol=1e-10,
        atol=1e-12)
    assert np.abs(run["q"][-1] - theirs["q"][-1]).max() < 1e-9
    assert abs(run["i0"][-1] - theirs["current"][-1][0]) < 1e-9
    assert abs(run["w0"][-1] - gear * run["qd"][-1][0]) < 1e-9
    assert np.abs(run.energy_drift).max() < 1e-9
    rolled = whole.rollout()(start, step=1e-3, steps=1000, every=1000, inputs={"V0": 5.0, "V1": -3.0})
    assert np.abs(rolled["q"][-1] - run["q"][-1]).max() < 1e-8


def test_a_driven_loop():
    """The crank of the four-bar behind a motor: at rest of the current's rate, as a torque would turn it."""
    network = four_bar()
    arm, q, qd = closed(network)
    whole = network.system(Circuit("drive", drive(0, "pin1", gear=20.0)))
    rolled = whole.rollout()({"q": q, "qd": 0 * qd, "i0": 0.0}, step=2e-4, steps=2000, every=250, inputs={"V0": 2.0})
    assert np.abs(arm.loops.residual(rolled["q"])).max() < 1e-12 and np.abs(rolled.energy_drift).max() < 1e-9
    assert rolled["i0"].max() > 0.1


def test_circuits_beside_their_matrix_exponential_and_tellegen():
    """A filter and a two-mass drive with a soft shaft; powers of all elements add up to nothing."""
    circuit = Circuit("ladder", [
        VoltageSource("u", "a"), Resistor("R1", "a", second="b", resistance=2.0), Capacitor("C1", "b", capacitance=0.3),
        Inductor("L1", "b", second="c", inductance=0.4), Ammeter("i", "c", second="d"),
        Capacitor("C2", "d", capacitance=0.2), Resistor("R2", "d", resistance=5.0), Voltmeter("v", "d")])
    A, B, C, D, *_ = circuit.state_equations
    names = circuit.state_equations.states
    assert names == ("C1", "L1", "C2")
    theirs = np.array([[-1 / (2 * 0.3), -1 / 0.3, 0], [1 / 0.4, 0, -1 / 0.4], [0, 1 / 0.2, -1 / (5 * 0.2)]])
    assert np.abs(A - theirs).max() < 1e-12 and np.abs(B - [[1 / (2 * 0.3)], [0], [0]]).max() < 1e-12
    assert np.abs(C - [[0, 1, 0], [0, 0, 1]]).max() < 1e-12 and np.abs(D).max() < 1e-12
    run = circuit_system(circuit).simulate({name: 0.0 for name in names}, until=1.5, inputs={"u": 3.0}, rtol=1e-10,
                                           atol=1e-12)
    step = expm(np.block([[A * 1.5, B * 3.0 * 1.5], [np.zeros((1, 4))]]))
    assert np.abs(np.array([run[name][-1] for name in names]) - step[:3, 3]).max() < 1e-9
    assert np.abs(run.energy_drift).max() < 1e-9
    powers = circuit.powers({"C1": 0.4, "L1": -0.7, "C2": 1.1}, {"u": 3.0})
    assert abs(sum(powers.values())) < 1e-13 and powers["R1"] == pytest.approx((3.0 - 0.4)**2 / 2)
    assert powers["u"] < 0
    shaft = Circuit("shaft", [
        TorqueSource("T", "m"), Inertia("J1", "m", inertia=0.2), ShaftSpring("k", "m", second="l", stiffness=50.0),
        ShaftDamper("d", "m", second="l", damping=0.1), Inertia("J2", "l", inertia=0.5), TorqueSensor("t", "l",
        second="z"), ShaftDamper("load", "z", damping=0.3)])
    A, B, *_ = shaft.state_equations
    J1, J2, k, d, b = 0.2, 0.5, 50.0, 0.1, 0.3
    assert shaft.state_equations.states == ("J1", "k", "J2")
    assert np.abs(A - [[-d / J1, -1 / J1, d / J1], [k, 0, -k], [d / J2, 1 / J2, -(d + b) / J2]]).max() < 1e-11
    assert np.abs(B.T - [[1 / J1, 0, 0]]).max() < 1e-12


def test_couplings_take_no_power():
    """Gears, transformers, racks, motors and gyrators, each between a source and a load."""
    slide = Circuit("rack", [SpeedSource("w", "pinion"), RackAndPinion("rack", "pinion", "slide", ratio=20.0),
                             Damper("rail", "slide", damping=3.0)])
    powers = slide.powers({}, {"w": 4.0})
    assert powers["rail"] == pytest.approx(3.0 * (4.0 / 20.0)**2) and abs(powers["rack"]) < 1e-14
    windings = Circuit("windings", [VoltageSource("u", "a"), Transformer("T", "a", "b", ratio=5.0),
                                    Resistor("R", "b", resistance=2.0)])
    assert windings.powers({}, {"u": 10.0})["R"] == pytest.approx((10.0 / 5.0)**2 / 2.0)
    gyro = Circuit("gyro", [SpeedSource("w", "a"), Gyrator("G", "a", "b", ratio=0.5), Inertia("J", "b", inertia=2.0)])
    assert np.abs(gyro.state_equations.A).max() < 1e-12  # an inertia behind a gyrator is a spring: J w2' = w / r
    assert gyro.state_equations.B[0, 0] == pytest.approx(1 / (0.5 * 2.0))
    hammer = Circuit("hammer", [ForceSource("F", "x"), Mass("m", "x", mass=3.0), Spring("k", "x", stiffness=12.0)])
    assert np.sort(np.linalg.eigvals(hammer.state_equations.A).imag).round(9).tolist() == [-2, 2]


def test_a_slide_behind_a_spindle():
    cart = cy.Mechanism.of("cart", [cy.model.parts.Body("rail"), cy.model.parts.Body("cart", 2.0)],
                           [cy.model.parts.Joint("slide", "rail", "cart", Prismatic((1.0, 0.0, 0.0)))])
    circuit = Circuit("spindle", [CurrentSource("i", "a"), Resistor("leak", "a", resistance=1e3),
                                  Motor("m", "a", "s", constant=0.1), Inertia("rotor", "s", inertia=1e-4),
                                  RackAndPinion("nut", "s", "x", ratio=500.0), JointSlide("cart", "x", of="slide")])
    whole = driven(circuit, cart.tree)
    run = whole.simulate({"q": [0.0], "qd": [0.0]}, until=0.1, inputs={"i": 2.0})
    mass = 2.0 + 1e-4 * 500**2
    friction = (0.1 * 500)**2 / 1e3
    force = 0.1 * 500 * 2.0
    expected = force / friction * (1 - np.exp(-friction / mass * 0.1))
    assert abs(run["qd"][-1][0] - expected) < 1e-7


def test_dependent_storages_share_one_state():
    circuit = Circuit("pair", [CurrentSource("I", "a"), Capacitor("C1", "a", capacitance=2.0),
                               Capacitor("C2", "a", capacitance=3.0), Voltmeter("v", "a")])
    equations = circuit.state_equations
    assert len(equations.states) == len(equations.dependent) == 1
    assert equations.B[0, 0] == pytest.approx(0.2) and equations.G[0, 0] == pytest.approx(1.0)
    series = Circuit("coils", [VoltageSource("u", "a"), Inductor("L1", "a", second="b", inductance=0.2),
                               Inductor("L2", "b", inductance=0.3)])
    assert series.state_equations.B[0, 0] == pytest.approx(2.0)


@pytest.mark.parametrize(("elements", "error", "words"), [
    ([VoltageSource("V", "a"), VoltageSource("W", "a")], ModelError, "sources 'V', 'W' of bad contradict"),
    ([VoltageSource("V", "a"), Capacitor("C", "a", capacitance=1.0)], UnsupportedError, "rate of its input 'V'"),
    ([Resistor("R", "a", second="b", resistance=1.0)], ModelError, "potential of node 'a'"),
    ([CurrentSource("I", "a", second="b"), Resistor("R", "a", resistance=1.0)], ModelError, "sources 'I'"),
    ([Resistor("R", "a", resistance=1.0), Inertia("J", "a", inertia=1.0)], ModelError,
     "node 'a' of bad is electric for 'R'"),
    ([Resistor("R", "a", resistance=1.0), Resistor("R", "a", resistance=1.0)], ModelError, "two elements named 'R'"),
    ([Resistor("R", "a", second="a", resistance=1.0)], ModelError, "both ends of 'R'"),
    ([JointShaft("s", "o", of="j"), Inertia("a", "p", inertia=1.0), Inertia("b", "r", inertia=1.0),
      Gear("g1", "p", "x", ratio=1.0, second_ground="y"), Gear("g2", "r", "y", ratio=1.0),
      Gear("g3", "o", "x", ratio=2.0)], UnsupportedError, "depends on the acceleration of a joint")])
def test_circuits_that_cannot_be_are_named(elements, error, words):
    with pytest.raises(error, match=words):
        Circuit("bad", elements)


def test_wrong_elements_and_joints_are_named():
    for wrong in (lambda: Resistor("R", "a", resistance=0.0), lambda: Inertia("J", "a", inertia=-1.0),
                  lambda: Gear("g", "a", "b", ratio=0.0), lambda: Motor("m", "a", "b", constant=np.nan)):
        with pytest.raises(ModelError, match="must be"):
            wrong()
    arm = cy.load("planar2r").tree
    with pytest.raises(ModelError, match="'joint3'"):
        driven(Circuit("c", [JointShaft("s", "o", of="joint3"), TorqueSource("T", "o")]), arm)
    with pytest.raises(ModelError, match="is a translation, but joint 'joint1' of planar2r is revolute"):
        driven(Circuit("c", [JointSlide("s", "o", of="joint1"), ForceSource("F", "o")]), arm)
    with pytest.raises(ModelError, match="drives joint 'joint1'"):
        circuit_system(Circuit("c", [JointShaft("s", "o", of="joint1"), TorqueSource("T", "o")]))
    tied = Circuit("c", [JointShaft("s", "o", of="joint1"), JointShaft("t", "p", of="joint2"),
                         Inertia("J", "d", inertia=1.0), Gear("g", "d", "o", ratio=2.0, second_ground="p")])
    with pytest.raises(UnsupportedError, match="tied rigidly to both 'joint1' and 'joint2'"):
        driven(tied, arm)


def broken(**changes):
    plain = {"name": "net", "bodies": [rod("one", 1.0, 1.0)], "reference": {"base": [0, 0, 0]},
             "connections": [Connection("pin", "O.base", "one.B", Revolute())]}
    return Network(**(plain | changes))


@pytest.mark.parametrize(("changes", "words"), [
    ({"bodies": []}, "has no bodies"),
    ({"bodies": [rod("one", 1.0, 1.0), rod("one", 2.0, 1.0)]}, "two bodies named 'one'"),
    ({"bodies": [rod("one", 1.0, 1.0), rod("two", 2.0, 1.0)]}, "nothing connects body 'two'"),
    ({"connections": [Connection("pin", "O.bose", "one.B", Revolute())]}, "no port 'bose': did you mean 'base'"),
    ({"connections": [Connection("pin", "O.base", "one.C", Revolute())]}, "has no port 'C'"),
    ({"connections": [Connection("pin", "O.base", "ona.B", Revolute())]}, "no body 'ona': did you mean 'one'"),
    ({"connections": [Connection("pin", "O", "one.B", Revolute())]}, "write it as body.port"),
    ({"connections": [Connection("pin", "one.A", "one.B", Revolute())]}, "of the same body"),
    ({"connections": [Connection("pin", "one.B", "O.base", Universal())]}, "exchange the two"),
    ({"open": ["O.base"]}, "on the reference itself"),
    ({"springs": [LineSpring("s", "O.base", "one.D")]}, "has no port 'D'")])
def test_wrong_networks_are_named(changes, words):
    with pytest.raises(ModelError, match=words):
        broken(**changes)


def test_wrong_states_of_networks_are_named():
    network = four_bar()
    _, q, qd = closed(network)
    with pytest.raises(ModelError, match="connection 'pin4' of four-bar is open by"):
        network_motion(network, q + np.array([0.1, 0, 0]), qd)
    with pytest.raises(ModelError, match="velocities open connection 'pin4'"):
        network_motion(network, q, qd + np.array([0.1, 0, 0]))
    with pytest.raises(ModelError, match="no connection 'pin5'"):
        network_motion(network, q, qd, {"pin5": [1.0]})
    with pytest.raises(ModelError, match=r"'crank\.A' is no open terminal"):
        network_motion(network, q, qd, {}, {"crank.A": np.zeros(6)})
    massless = broken(bodies=[RigidBody("one", 0.0, np.zeros((3, 3)), {"B": [0, 0, 0]})])
    with pytest.raises(SingularityError, match="body 'one' of net does not follow: it has no inertia"):
        network_motion(massless, [0.0], [0.0])
    with pytest.raises(ModelError, match="stiffness of spring 's' is -1"):
        LineSpring("s", "O.base", "one.A", stiffness=-1.0)


@pytest.mark.spec("S4-31")
@pytest.mark.parametrize("name", ["delta", "excavator", "five_bar", "gripper", "panda_hand", "slider_crank", "stewart",
                                  "three_rrr", "two_wheel_robot"])
def test_machines_of_the_catalogue_are_networks_and_back(name):
    """Loops, rods, a mimic joint and wheels: accelerations by the tableau beside those of the mechanism."""
    arm = cy.load(name)
    network = Network.of(arm.tree)
    random = np.random.default_rng(0)
    q = arm.random_configuration(seed=1)
    qd = arm.loops.consistent_velocity(q, random.normal(size=arm.nv))
    tau = random.normal(size=arm.nv)
    ends = np.cumsum([0, *[joint.motion.nv for joint in arm.tree.joints]])
    forces = {joint.name: tau[a:b] for joint, a, b in zip(arm.tree.joints, ends, ends[1:], strict=False)}
    found = network_motion(network, q, qd, forces)
    ours = np.concatenate([found.accelerations[joint.name] for joint in arm.tree.joints])
    theirs = arm.forward_dynamics(q, qd, tau)
    assert np.abs(ours - theirs).max() < 1e-9 * max(np.abs(theirs).max(), 1)
    again = cy.Mechanism(network.tree())
    assert again.tree.joint_names == arm.tree.joint_names
    assert np.abs(again.forward_dynamics(q, qd, tau) - theirs).max() < 1e-12 * max(np.abs(theirs).max(), 1)


def three_cranks(order=range(6), **more):
    """A bar on three parallel cranks: two loops that share links, the second one redundant by its lengths alone."""
    rods = [rod("c1", 1.0, 0.3), rod("c2", 1.2, 0.3), rod("c3", 0.7, 0.3),
            RigidBody("bar", 2.0, 2 / 12 * np.diag([0, 1, 1]), {"B": [-0.5, 0, 0], "A": [0.5, 0, 0], "M": [0, 0, 0]})]
    ends = [("O.l", "c1.B"), ("c1.A", "bar.B"), ("O.m", "c2.B"), ("c2.A", "bar.M"), ("O.r", "c3.B"), ("c3.A", "bar.A")]
    pins = [Connection(f"p{k}", *two, Revolute()) for k, two in enumerate(ends, start=1)]
    return Network("cranks", rods, [pins[k] for k in order], reference={"l": [0, 0, 0], "m": [0.5, 0, 0], "r":
                   [1.0, 0, 0]}, gravity=[0, -9.81, 0], open=["bar.A"], **more)


@pytest.mark.spec("S4-31")
def test_loops_that_share_links_and_hold_one_thing_twice():
    """Beside the one equation of a parallelogram: in the tableau, whatever the order of the connections, and in time,
    where a mechanism of redundant rows, some of which are zero, keeps its energy."""
    angle, speed = 0.7, 1.3
    inertia = 2.9 * 0.3**2 / 3 + 2.0 * 0.3**2
    weight = 9.81 * 0.3 * (2.9 / 2 + 2.0)
    signs = {"p1": 1, "p2": -1, "p3": 1, "p4": -1, "p5": 1, "p6": -1}
    torque = 2.0 + 0.3 * (-0.5 * np.sin(angle) + 0.3 * np.cos(angle)) - weight * np.cos(angle)
    for order in (range(6), range(5, -1, -1), (3, 0, 5, 2, 4, 1)):
        network = three_cranks(order)
        q = angle * np.array([signs[joint.name] for joint in network.layout.joints])
        crank = {"p1": [2.0]}
        found = network_motion(network, q, q * speed / angle, crank, {"bar.A": [0.5, 0.3, 0, 0, 0, 0]})
        for name, rate in found.accelerations.items():
            assert abs(rate[0] - signs[name] * torque / inertia) < 1e-10
    network = three_cranks()
    q = angle * np.array([1, -1, 1, 1])
    run = network.system().simulate({"q": q, "qd": q * speed / angle}, until=0.12, rtol=1e-10, atol=1e-12)
    alone = solve_ivp(lambda _, s: [s[1], -weight * np.cos(s[0]) / inertia], (0, 0.12), [angle, speed], rtol=1e-11,
                      atol=1e-12).y[0, -1]
    assert np.abs(run["q"][-1] - alone * np.array([1, -1, 1, 1])).max() < 1e-9
    assert np.abs(run.energy_drift).max() < 1e-9
    with pytest.raises(ModelError, match="'p4' of cranks closes a loop"):
        network.system(Circuit("drive", [TorqueSource("T", "s"), JointShaft("shaft", "s", of="p4")]))


@pytest.mark.spec("S4-31")
def test_a_singular_position_has_a_motion_and_a_lower_rank():
    """A parallelogram with all its links in a row: it may leave either way; at rest its accelerations follow."""
    rods = [rod("crank", 1.0, 0.3), rod("coupler", 2.0, 0.7), rod("rocker", 1.5, 0.3)]
    pins = [Connection(f"pin{k}", *two, Revolute()) for k, two in enumerate(
        [("O.left", "crank.B"), ("crank.A", "coupler.B"), ("coupler.A", "rocker.B"), ("O.right", "rocker.A")], start=1)]
    flat = Network("flat", rods, pins, reference={"left": [0, 0, 0], "right": [0.7, 0, 0]}, gravity=[0, -9.81, 0])
    found = network_motion(flat, [0.0, 0.0, np.pi], np.zeros(3), {"pin1": [2.0]})
    usual = network_motion(flat, *_parallel(flat, 0.4), {"pin1": [2.0]})
    assert found.rank == usual.rank - 1 and np.isfinite(found.accelerations["pin1"]).all()
    for angle in (1e-8, 1e-7, -3e-7):
        with pytest.raises(SingularityError, match="of flat does not follow: next to a singular position"):
            network_motion(flat, [angle, -angle, np.pi + angle], np.zeros(3), {"pin1": [2.0]})
    with pytest.raises(SingularityError, match="contradict each other"):
        network_motion(flat, [0.0, 0.0, np.pi], [1.0, -10 / 7, 3 / 7])  # it would have to leave both ways


def _parallel(network, angle):
    q = cy.Mechanism(network.tree()).loops.close([angle, -angle, np.pi + angle], fixed=["pin1"]).configuration
    return q, np.zeros(3)
