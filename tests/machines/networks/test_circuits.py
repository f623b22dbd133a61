"""Circuits beside a solver of their own, in the frequency domain and to fifty digits; what sensors feel; names."""

from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import cayley as cy
from cayley.errors import ModelError, UnsupportedError
from cayley.machines.networks import Circuit, circuit_system, driven
from cayley.machines.networks.elements import (
    Ammeter,
    Capacitor,
    CurrentSource,
    ForceSensor,
    Gear,
    Inductor,
    Inertia,
    JointShaft,
    Mass,
    Motor,
    Resistor,
    Spring,
    TorqueSensor,
    TorqueSource,
    Transformer,
    VelocitySensor,
    VelocitySource,
    VoltageSource,
    Voltmeter,
)

RC = [VoltageSource("V", "a"), Resistor("R", "a", second="b", resistance=2.0), Capacitor("C", "b", capacitance=0.3)]


def phasors(circuit, s, inputs):
    """The outputs at the complex frequency s, from the laws of the elements with their storages as impedances."""
    nodes = {node: k for k, node in enumerate(circuit.nodes)}
    size = len(nodes) + len(circuit.edges)
    M = mpmath.zeros(size)
    right = mpmath.zeros(size, 1)
    edge = len(nodes)
    places = {}

    def across(row, k, ends, factor):
        for node, sign in zip(ends, (1, -1), strict=True):
            if node in nodes:
                M[row, nodes[node]] += sign * factor

    row = len(nodes)
    for element in circuit.elements:
        for k, ends in enumerate(element.ends):
            for node, sign in zip(ends, (1, -1), strict=True):
                if node in nodes:
                    M[nodes[node], edge + k] += sign
        held = {storage.name: storage for storage in element.storages}
        for law in element.laws:
            if law.state:  # C s a = t, L s t = a
                storage = held[law.state]
                impedance = s * mpmath.mpf(repr(storage.coefficient))
                across(row, 0, element.ends[0], impedance if storage.is_across else 1)
                M[row, edge] -= 1 if storage.is_across else impedance
            else:
                for k, factor in law.across.items():
                    across(row, k, element.ends[k], mpmath.mpf(repr(factor)))
                for k, factor in law.through.items():
                    M[row, edge + k] += mpmath.mpf(repr(factor))
                right[row] = inputs.get(law.source, 0)
            row += 1
        places[element.name] = edge
        edge += len(element.ends)
    w = mpmath.lu_solve(M, right)
    found = []
    for element in circuit.sensors:
        if element.sensor[0] == "through":
            found.append(w[places[element.name]])
        else:
            found.append(sum((sign * w[nodes[node]] for node, sign in zip(element.ends[0], (1, -1), strict=True)
                              if node in nodes), mpmath.mpf(0)))
    return found


def transfer(circuit, s, inputs):
    """The same from the equations of the states."""
    equations = circuit.state_equations
    A, B, C, D = (mpmath.matrix(each.tolist()) if each.size else None for each in equations[:4])
    u = mpmath.matrix([inputs.get(name, 0) for name in equations.inputs])
    direct = D * u
    if A is None:
        return list(direct)
    return list(C * mpmath.lu_solve(s * mpmath.eye(A.rows) - A, B * u) + direct)


def check(circuit, tolerance=1e-12):
    with mpmath.workdps(50):
        inputs = {name: mpmath.mpf(k + 1) for k, name in enumerate(circuit.sources)}
        for s in (mpmath.mpc(0.3, 1.7), mpmath.mpc(-2, 40)):
            for ours, theirs in zip(transfer(circuit, s, inputs), phasors(circuit, s, inputs), strict=True):
                assert abs(ours - theirs) <= tolerance * abs(theirs)


@pytest.mark.parametrize("seed", range(12))
def test_random_circuits_beside_their_impedances(seed):
    """Any topology: rings of capacitors, stars of coils, transformers, values over many orders of size."""
    random = np.random.default_rng(seed)
    nodes = ["ground", *"abcdef"]

    def value():
        return float(10.0**random.uniform(-6, 6))

    elements = [VoltageSource("V", "a")]
    for k, (one, other) in enumerate(pairwise(nodes[1:])):
        elements.append(Resistor(f"R{k}", one, second=other, resistance=value()))
        elements.append(Resistor(f"leak{k}", other, resistance=value()))
    for k in range(5):
        one, other = random.choice(nodes[2:], 2, replace=False)
        kind = [lambda *a, **b: Capacitor(*a, capacitance=value(), **b),
                lambda *a, **b: Inductor(*a, inductance=value(), **b)][random.integers(2)]
        elements.append(kind(f"S{k}", one, second=other))
    elements += [Capacitor("C1", "b", second="c", capacitance=value()), Capacitor("C2", "c", capacitance=value()),
                 Capacitor("C3", "b", capacitance=value()), Transformer("T", "e", "z", ratio=value()),
                 Inductor("L", "z", second="y", inductance=value()), Ammeter("i", "y", second="x"),
                 Resistor("load", "x", resistance=value()), CurrentSource("I", "f"), Voltmeter("v", "f", second="c")]
    circuit = Circuit("random", elements)
    assert circuit.state_equations.dependent  # the ring
    check(circuit, 1e-9)  # the entries of A are rounded to floats, and the times differ by many orders


@pytest.mark.parametrize(("elements", "A", "B"), [
    ([VoltageSource("V", "a"), Resistor("R", "a", second="b", resistance=1e6), Capacitor("C", "b", capacitance=1e-9)],
     [[-1000.0]], [[1000.0]]),
    ([VoltageSource("V", "a"), Resistor("R", "a", second="b", resistance=1e12), Capacitor("C", "b", capacitance=1e-12)],
     [[-1.0]], [[1.0]]),
    ([VoltageSource("V", "a"), Resistor("R", "a", second="b", resistance=1.0), Capacitor("C", "b", capacitance=1e-12),
      Resistor("R2", "a", second="c", resistance=1e6), Capacitor("C2", "c", capacitance=1.0)],
     [[-1e12, 0], [0, -1e-6]], [[1e12], [1e-6]])])
def test_stiff_circuits_have_all_their_times(elements, A, B):
    """A picosecond beside a week: the slow one is not lost beside the fast one."""
    equations = Circuit("stiff", elements).state_equations
    assert np.allclose(equations.A, A, rtol=1e-15, atol=0) and np.allclose(equations.B, B, rtol=1e-15, atol=0)


def test_a_differential_gear():
    """A carrier that drives two shafts by their mean: their inertias are one with that of the carrier."""
    circuit = Circuit("differential", [
        TorqueSource("T", "carrier"), Inertia("c", "carrier", inertia=2.0), Inertia("l", "left", inertia=1.0),
        Inertia("r", "right", inertia=3.0), Gear("twice", "carrier", "sum", ratio=0.5),
        Gear("one", "sum", "left", ratio=1.0, first_ground="rest"), Gear("other", "rest", "right", ratio=1.0)])
    equations = circuit.state_equations
    assert equations.states == ("c", "l") and equations.dependent == ("r",)
    assert np.allclose(equations.G, [[2, -1]])  # 2 c = l + r
    # T at the carrier is T/2 at each shaft: (T - t) = 2 c', t/2 = l', t/2 = 3 r', 2 c' = l' + r'
    t = 1 / (1 + 2 / 3)
    assert np.allclose(equations.B[:, 0], [(1 - t) / 2, t / 2])


def test_sensors_behind_a_rotor_feel_its_inertia():
    """The torque between gear and joint is what the arm needs, not what the motor gives."""
    arm = cy.load("planar2r")
    circuit = Circuit("drive", [
        TorqueSource("T", "m"), Inertia("rotor", "m", inertia=1e-3), Gear("gear", "m", "o", ratio=10.0),
        TorqueSensor("torque", "o", second="z"), JointShaft("shaft", "z", of="joint1")])
    start = {"q": [0.1, 0.3], "qd": [0.5, -0.2]}
    whole = driven(circuit, arm.tree)
    run = whole.simulate(start, until=0.4, inputs={"T": 0.3})
    q, qd = run["q"][-1], run["qd"][-1]
    M = arm.inertia_matrix(q)
    rest = arm.inverse_dynamics(q, qd, np.zeros(2))
    qdd = np.linalg.solve(M + np.diag([1e-3 * 10**2, 0]), [10 * 0.3, 0] - rest)
    assert abs(run["torque"][-1] - (M @ qdd + rest)[0]) < 1e-9
    assert abs(run["torque"][-1] - 10 * 0.3) > 0.5
    rolled = whole.rollout()(start, step=1e-3, steps=400, every=400, inputs={"T": 0.3})
    assert abs(rolled["torque"][-1] - run["torque"][-1]) < 1e-7


def test_sources_and_sensors_of_slides():
    circuit = Circuit("slide", [VelocitySource("v", "x"), Spring("k", "x", second="y", stiffness=50.0),
                                ForceSensor("f", "y", second="z"), Mass("m", "z", mass=2.0), VelocitySensor("w", "z")])
    check(circuit)
    assert circuit.units["f"] == "N" and circuit.units["w"] == "m/s" and circuit.units["v"] == "m/s"
    run = circuit_system(circuit).simulate({"k": 0.0, "m": 0.0}, until=1.0, inputs={"v": 0.5}, rtol=1e-10, atol=1e-12)
    assert abs(run["w"][-1] - 0.5 * (1 - np.cos(5.0))) < 1e-8


def shaft_drive(of, inertia=1e-3):
    rotor = [Inertia("rotor", "m", inertia=inertia)] if inertia else []
    return Circuit("drive", [TorqueSource("T", "m"), *rotor, Gear("gear", "m", "o", ratio=10.0),
                             JointShaft("shaft", "o", of=of)])


@pytest.mark.parametrize("model", ["elastic drives", "reduced elastic drives"])
@pytest.mark.parametrize("of, inertia", [
    ("joint2", 1e-3), ("joint1 motor", 1e-3), ("joint1 motor", 0.0), ("joint1", 0.0)])
def test_circuits_drive_arms_with_elastic_drives(of, inertia, model):
    """A rigid joint, a motor, or a joint beside its motor: the arm's own equations with what the circuit adds."""
    arm = cy.load("planar2r").with_drive("joint1", stiffness=100.0, damping=0.3, inertia=0.02, gear=20.0)
    arm = arm.including(model)
    q, qd = np.array([0.1, 0.3, 2.5]), np.array([0.5, -0.2, 1.0])
    found = driven(shaft_drive(of, inertia), arm.tree).tangents(
        0.0, {"q": q, "qd": qd}, {"T": 0.3, "applied": np.array([0.1, 0.2, 0.3])}, {})["qd"]
    place = [joint.name for joint in arm.joints].index(of)
    own = np.eye(3)[place]
    forces = np.array([0.1, 0.2, 0.3]) + 10 * 0.3 * own - arm.bias_forces(q, qd)
    expected = np.linalg.solve(arm.inertia_matrix(q) + inertia * 10**2 * np.diag(own), forces)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_inertia_of_a_circuit_behind_an_elastic_drive_is_refused_by_the_name_of_its_joint():
    arm = cy.load("planar2r").with_drive("joint1", stiffness=100.0, inertia=0.02).including("elastic drives")
    with pytest.raises(UnsupportedError, match=r"to joint 'joint1', which has a drive .* 'joint1 motor'"):
        driven(shaft_drive("joint1"), arm.tree)
    heavy = cy.load("planar2r").with_drive("joint1", stiffness=100.0, mass=0.4, tensor=np.diag([1e-4, 1e-4, 2e-4]))
    with pytest.raises(UnsupportedError, match="'joint1 motor', whose rotor is a body"):
        driven(shaft_drive("joint1 motor"), heavy.including("elastic drives").tree)
    driven(shaft_drive("joint2"), heavy.including("elastic drives").tree)


@pytest.mark.parametrize(("wrong", "words"), [
    (lambda: Resistor("R", "a", resistance="10k"), "resistance of 'R' is '10k': it must be a number"),
    (lambda: Resistor("R", "a", resistance=1j), "resistance of 'R' is 1j"),
    (lambda: Capacitor("C", "a", capacitance=np.array([1.0, 2.0])), "capacitance of 'C'"),
    (lambda: Gear("g", "a", "b", ratio=None), "ratio of 'g' is None"),
    (lambda: Circuit("c", ["R"]), "'R' is no element"),
    (lambda: Circuit("c", [VoltageSource("", "a"), Resistor("R", "a", resistance=1.0)]), "it needs a name"),
    (lambda: Circuit("c", [VoltageSource("V", "a"), Ammeter("i", "a", second="b"), Ammeter("j", "a", second="b"),
                           Resistor("R", "b", resistance=1.0)]), "the ring of 'i', 'j', which has no losses"),
    (lambda: Circuit("c", [JointShaft("s", "o", of="joint1"), JointShaft("t", "p", of="joint1")]),
     r"of the joint 'joint1' \('s' and 't'\)"),
    (lambda: Circuit("c", RC).powers({"C": 1.0}, {"W": 1.0}), "c has no input 'W'"),
    (lambda: Circuit("c", RC).powers({"c": 1.0}, {}), "c has no state 'c'"),
    (lambda: Circuit("c", RC).powers({}, {"V": 1.0}), "the state 'C' of c is missing"),
    (lambda: driven(Circuit("c", [VoltageSource("applied", "a"), Resistor("R", "a", second="b", resistance=1.0),
                                  Motor("m", "b", "s", constant=1.0), JointShaft("s", "s", of="joint1")]),
                    cy.load("planar2r").tree), "'applied' of c has the name of a part of the mechanism"),
    (lambda: driven(Circuit("c", [TorqueSource("T", "s"), TorqueSensor("tau", "s", second="o"),
                                  JointShaft("s", "o", of="joint1")]), cy.load("planar2r").tree), "'tau' of c has")])
def test_what_is_wrong_in_a_circuit_is_named(wrong, words):
    with pytest.raises(ModelError, match=words):
        wrong()


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, int, Fraction])
def test_numbers_of_every_kind_are_those_of_double_precision(kind):
    """One step of R L C, beside the same with floats: the charge of a capacitor behind a coil."""
    def made(number):
        return circuit_system(Circuit("rlc", [
            VoltageSource("V", "a"), Resistor("R", "a", second="b", resistance=number(3)),
            Inductor("L", "b", second="c", inductance=number(2)), Capacitor("C", "c", capacitance=number(5)),
            Transformer("T", "c", "d", ratio=number(3)), Resistor("load", "d", resistance=number(7))]))
    one, other = (made(number).linearize({name: 0.1 for name in made(float).state}, {"V": 1.0})
                  for number in (kind, float))
    for name in "ABCD":
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert Capacitor("C", "b", capacitance=np.float32(1e-6)).capacitance == float(np.float32(1e-6))
