"""A circuit in time: as a system of its own, and with the mechanism whose joints it drives.

The inertia that a circuit adds to a joint (rotors behind rigid gears) is part of the mass matrix, as its armature;
everything else of it are forces of the joints, states and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.constrained_mechanics import ConstrainedMechanics
from cayley.dynamics.open_tree import tree_system
from cayley.errors import ModelError, UnsupportedError
from cayley.machines.networks.circuit import Circuit
from cayley.machines.networks.circuit_equations import StateEquations
from cayley.machines.networks.hybrid_solve import inverse_matrix
from cayley.machines.networks.instant import Instant, outward
from cayley.machines.networks.line_spring import spring_wrenches, stretched
from cayley.machines.networks.network import Network
from cayley.model.motors import GEARED
from cayley.model.parts import Joint
from cayley.model.rotor import Rotor
from cayley.model.tree import Tree
from cayley.systems.joining.connect import connect
from cayley.systems.layout import Record, State
from cayley.systems.ports import Port
from cayley.systems.system import System


class Forces(Protocol):
    """Forces (nv) of joints that follow from the state, the energy they keep [J], and how fast it grows [W]."""

    def forces(self, q: Array, qd: Array) -> Array: ...
    def energy(self, q: Array, qd: Array) -> Scalar: ...
    def power(self, q: Array, qd: Array) -> Scalar: ...


def circuit_system(circuit: Circuit) -> System:
    """A circuit that drives no joint: its sources are inputs, its storages the state, its sensors outputs.

    >>> from cayley.machines.networks.elements import Ammeter, Inductor, Resistor, VoltageSource
    >>> coil = Circuit("coil", [VoltageSource("supply", "a"), Resistor("R", "a", second="b", resistance=2.0),
    ...                         Ammeter("current", "b", second="c"), Inductor("L", "c", inductance=0.1)])
    >>> run = circuit_system(coil).simulate({"L": 0.0}, until=1.0, inputs={"supply": 12.0})
    >>> run["current"][-1].round(6)
    np.float64(6.0)
    """
    if circuit.joints:
        raise ModelError(f"{circuit.name} drives joint {circuit.joints[0]!r}: `driven` takes it with a mechanism")
    equations = circuit.state_equations
    return System(
        circuit.name, state=_state(circuit), inputs=_sources(circuit),
        outputs={name: Port((), circuit.units[name]) for name in equations.outputs} or _state(circuit),
        derivative=lambda t, x, u, p: _rates(equations, x, _given(equations, u)) if equations.states else {},
        output=(lambda t, x, u, p: _outputs(equations, x, _given(equations, u))) if equations.outputs else None,
        energy=lambda t, x, u, p: _energy(circuit, x),
        power=lambda t, x, u, p: _power(circuit, x, _given(equations, u)))


def driven(circuit: Circuit, tree: Tree, springs: Forces | None = None, open_at: Sequence[str] = ()) -> System:
    """A mechanism and the circuit that drives some of its joints: one system, whose inputs are the sources of the
    circuit, `applied` forces of all joints (nv) and, at frames where it is open, `wrench_<frame>` (6) in inertial axes,
    and whose state are q, qd and the storages of the circuit."""
    _check_own_names(circuit)
    places = [_joint_place(circuit, tree, joint) for joint in circuit.joints]
    equations = circuit.state_equations
    arm = tree_system(ConstrainedMechanics.of(_with_armature(circuit, tree, equations), tuple(open_at), "world"))
    arm = replace(arm, inputs={name: replace(port, default=0.0) for name, port in arm.ports.items()})

    def given(u: Record) -> Array:
        speeds = [u["qd"][place] for place in places]
        values = [*speeds, *[u[name] for name in equations.inputs[len(places):]]]
        return np.stack(values) if values else np.zeros(0)

    def outputs(t: Scalar, x: Record, u: Record, p: Record) -> dict[str, Array]:
        found = _outputs(equations, x, given(u))
        total = u["applied"] if springs is None else u["applied"] + springs.forces(u["q"], u["qd"])
        forces = [total[k] for k in range(tree.nv)]
        for place, joint in zip(places, circuit.joints, strict=True):
            forces[place] = forces[place] + found.pop(f"force on {joint}")
        return {"tau": np.stack(forces), **found}

    def energy(t: Scalar, x: Record, u: Record, p: Record) -> Scalar:
        held = _energy(circuit, x)
        return held if springs is None else held + springs.energy(u["q"], u["qd"])

    def power(t: Scalar, x: Record, u: Record, p: Record) -> Scalar:
        taken = _power(circuit, x, given(u))
        return taken if springs is None else taken + springs.power(u["q"], u["qd"])

    sensors = {name: Port((), circuit.units[name]) for name in equations.outputs[len(places):]}
    drive = System(
        circuit.name, state=_state(circuit), outputs={"tau": Port((tree.nv,)), **sensors},
        inputs={"qd": Port((tree.nv,)), **({} if springs is None else {"q": Port((tree.nq,))}), "applied":
        Port((tree.nv,), default=0.0), **_sources(circuit)}, derivative=(lambda t, x, u, p: _rates(equations, x,
        given(u))) if equations.states else None, output=outputs, energy=energy, power=power)
    return _with_accelerations(connect(arm, drive, name=f"{tree.name} driven by {circuit.name}"), equations, places)


def _with_accelerations(whole: System, equations: StateEquations, places: Sequence[int]) -> System:
    """The system with what accelerations of joints add to its sensors: those behind the inertia of a rotor feel it."""
    added = {name: row for name, row in zip(equations.outputs[len(places):], equations.E[len(places):], strict=True)
             if row.any()}
    if not added:
        return whole

    def output(t: Scalar, x: State, u: Record, p: Record) -> dict[str, Array]:
        found = whole.values(t, x, u, p)
        qdd = whole.tangents(t, x, u, p)["qd"]
        driven_only = np.stack([qdd[place] for place in places])
        return found | {name: found[name] + row @ driven_only for name, row in added.items()}

    return replace(whole, output=output)


def _check_own_names(circuit: Circuit) -> None:
    equations = circuit.state_equations
    taken = {"q", "qd", "tau", "applied"} & {*equations.states, *equations.inputs, *equations.outputs}
    if taken:
        raise ModelError(f"{min(taken)!r} of {circuit.name} has the name of a part of the mechanism that it drives: "
                         "call it something else than q, qd, tau and applied")


def _joint_place(circuit: Circuit, tree: Tree, joint: str) -> int:
    """The place of the velocity of a joint of one coordinate."""
    number = tree.joint_number(joint)
    motion = tree.joints[number].motion
    element = next(each for each in circuit.elements if each.joint == joint)
    unit = {"rotation": "rad", "translation": "m"}[element.domains[0]]
    if motion.nv != 1 or motion.velocity_units[0] != unit:
        raise ModelError(f"{element.name!r} of {circuit.name} is a {element.domains[0]}, but joint {joint!r} of "
                         f"{tree.name} is {motion.word}")
    return tree.v_slices[number].start


def _with_armature(circuit: Circuit, tree: Tree, equations: StateEquations) -> Tree:
    """The mechanism with the inertia that the circuit adds to its joints."""
    added = -equations.E[:len(circuit.joints)]
    across = np.argwhere(np.abs(added - np.diag(np.diag(added))) > 1e-12 * max(np.abs(added).max(initial=0.0), 1e-300))
    if len(across):
        one, other = (circuit.joints[k] for k in across[0])
        raise UnsupportedError(f"an inertia of {circuit.name} is tied rigidly to both {one!r} and {other!r}: put a "
                               "spring between it and one of them, or make it a body of the mechanism")
    inertias = {joint: added[k, k] for k, joint in enumerate(circuit.joints)}
    motors = {tree.joints[joint].name: tree.joints[motor].name for joint, motor in tree.motors.items()}
    kept = bool({"armature", GEARED} & tree.included)

    def with_more(joint: Joint) -> Joint:
        if joint.name in motors.values():
            return joint
        more = inertias.get(motors.get(joint.name, joint.name), 0.0)
        if joint.name not in motors:
            return replace(joint, rotor=Rotor((joint.rotor.reflected if kept else 0.0) + more))
        _check_motor(circuit, joint, motors[joint.name], inertias)
        return replace(joint, rotor=replace(joint.rotor, inertia=joint.rotor.inertia + more)) if more else joint

    joints = [with_more(joint) for joint in tree.joints]
    return tree.with_parts(tree.bodies, joints).including(*(tree.included | {"armature"}))


def _check_motor(circuit: Circuit, joint: Joint, motor: str, inertias: Mapping[str, float]) -> None:
    if inertias.get(joint.name):
        raise UnsupportedError(f"{circuit.name} ties an inertia rigidly to joint {joint.name!r}, which has a drive of "
                               f"its own: let the circuit turn {motor!r}, or make the inertia a body of the mechanism")
    if inertias.get(motor) and joint.rotor.is_body:
        raise UnsupportedError(f"{circuit.name} ties an inertia rigidly to {motor!r}, whose rotor is a body: add it to "
                               f"the rotor, with_drive({joint.name!r}, tensor=...), and leave it out of the circuit")


def _state(circuit: Circuit) -> dict[str, str]:
    return {name: circuit.units[name] for name in circuit.state_equations.states}


def _sources(circuit: Circuit) -> dict[str, Port]:
    return {name: Port((), circuit.units[name], default=0.0) for name in circuit.sources[len(circuit.joints):]}


def _given(equations: StateEquations, u: Record) -> Array:
    return np.stack([u[name] for name in equations.inputs]) if equations.inputs else np.zeros(0)


def _values(equations: StateEquations, x: Record) -> Array:
    return np.stack([x[name] for name in equations.states]) if equations.states else np.zeros(0)


def _rates(equations: StateEquations, x: Record, u: Array) -> dict[str, Scalar]:
    rates = equations.A @ _values(equations, x) + equations.B @ u
    return dict(zip(equations.states, rates, strict=True))


def _outputs(equations: StateEquations, x: Record, u: Array) -> dict[str, Scalar]:
    """The outputs without what accelerations add: to forces, as inertia of the mechanism; to sensors, where these are
    known."""
    values = equations.C @ _values(equations, x) + equations.D @ u
    return dict(zip(equations.outputs, values, strict=True))


def _energy(circuit: Circuit, x: Record) -> Scalar:
    equations = circuit.state_equations
    state = _values(equations, x)
    held = {name: state[k] for k, name in enumerate(equations.states)}
    held |= dict(zip(equations.dependent, equations.G @ state, strict=True))
    return sum((storage.coefficient * held[storage.name] * held[storage.name] / 2 for storage in circuit.storages), 0.0)


def _power(circuit: Circuit, x: Record, u: Array) -> Scalar:
    """The rate of what its storages hold."""
    equations = circuit.state_equations
    state = _values(equations, x)
    rates = equations.A @ state + equations.B @ u
    coefficients = {storage.name: storage.coefficient for storage in circuit.storages}
    own = sum((coefficients[name] * state[k] * rates[k] for k, name in enumerate(equations.states)), 0.0)
    values = equations.G @ state
    changes = equations.G @ rates
    return own + sum((coefficients[name] * values[k] * changes[k] for k, name in enumerate(equations.dependent)), 0.0)


def network_system(network: Network, circuit: Circuit | None = None) -> System:
    """State q, qd and what the circuit stores; inputs `applied` (nv), forces of the connections of the tree, wrenches
    `wrench_<terminal>` (6) at the open terminals, and the sources of the circuit, whose joints are connections of the
    network by their names."""
    springs = NetworkSprings(network) if network.springs else None
    circuit = circuit or Circuit("nothing", ())
    closing = [loop.name for loop in network.layout.loops if loop.name in circuit.joints]
    if closing:
        raise ModelError(f"{circuit.name} cannot drive it: {closing[0]!r} of {network.name} closes a loop; list it "
                         "before the others of its loop, and it is a joint")
    return driven(circuit, network.tree(), springs, network.open)


@dataclass(frozen=True)
class NetworkSprings:
    """The springs of a network as forces of its joints, with their energy."""

    network: Network

    def forces(self, q: Array, qd: Array) -> Array:
        """N^T S^T y_G (nv): what wrenches at mass centres do at the joints."""
        instant, x_G = self._state(q, qd)
        N = self.network.spanning_tree.joint_map(q, qd).N
        return N.T @ (inverse_matrix(instant).T @ np.concatenate(spring_wrenches(self.network, instant, x_G)))

    def energy(self, q: Array, qd: Array) -> Scalar:
        return sum((each.energy for each in stretched(self.network, *self._state(q, qd))), 0.0)

    def power(self, q: Array, qd: Array) -> Scalar:
        """The rate of this energy."""
        return sum((each.power for each in stretched(self.network, *self._state(q, qd))), 0.0)

    def _state(self, q: Array, qd: Array) -> tuple[Instant, Sequence[Array]]:
        instant = self.network.spanning_tree.instant(q, qd)
        x = self.network.spanning_tree.joint_map(q, qd).N @ qd
        return instant, outward(instant, list(np.reshape(x, (-1, 6))), [np.zeros(6)] * instant.size).x
