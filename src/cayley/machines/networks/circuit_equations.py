"""The elements of a circuit reduced to the equations of its states.

    A t = 0,   laws of all elements                      nodes and edges, A the incidence matrix
    R w = S s + T u,   w = (potentials, t)               with the storages as sources of their states s
    D s' = what is complementary to s                    C s' = t,  L s' = a
Where R is singular, storages depend on each other or on sources (a rotor geared to a joint, capacitors in a ring): what
is left of an equation holds between s and u alone, and its rate, in s' and u', gives what R leaves open. The last such
storage is no state; what it adds to the inertia of a joint is its reflected inertia. The equations that are left are
    s' = A s + B u,     forces on joints and sensors = C s + D u + E qdd"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError, UnsupportedError
from cayley.showing import shown_briefly

if TYPE_CHECKING:
    from cayley.machines.networks.circuit import Circuit


@shown_briefly
class StateEquations(NamedTuple):
    """s' = A s + B u and z = C s + D u + E qdd, with the joints' speeds first in u and their forces first in z; by name
    the `states`, `inputs`, `outputs`, and the `dependent` storages, which are no states: G s + H u."""

    A: Array
    B: Array
    C: Array
    D: Array
    E: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dependent: tuple[str, ...]
    G: Array
    H: Array
    variables: Array  # potentials of nodes and through variables of edges, from (s; u), without what qdd adds


def state_equations(circuit: Circuit) -> StateEquations:
    """The equations of the states of a circuit, in named matrices."""
    columns = _Columns(circuit)
    variables, storages = _solved(circuit, columns)
    dependent = [k for k in columns.states if k in storages.solved]
    free = [k for k in columns.states if k not in storages.solved]

    def expressed(row: Row) -> Row:
        return storages.substituted(variables.substituted(row))

    w = [expressed({k: Fraction(1)}) for k in columns.variables]
    rates = [expressed(columns.rate(k)) for k in free]
    readings = [expressed(columns.reading(number)) for number in range(len(columns.outputs))]
    _check_rates(circuit, columns, w, dict(zip(free, rates, strict=True)))
    accelerations = list(columns.input_rates)[:len(circuit.joints)]
    inputs = list(columns.inputs)
    held = [storages.value(k) for k in dependent]
    return StateEquations(
        A=_array(rates, free), B=_array(rates, inputs), C=_array(readings, free), D=_array(readings, inputs),
        E=_array(readings, accelerations), states=columns.names(free), inputs=circuit.sources, outputs=columns.outputs,
        dependent=columns.names(dependent), G=_array(held, free), H=_array(held, inputs),
        variables=_array(w, [*free, *inputs]))


def _array(rows: Sequence[Row], columns: Sequence[int]) -> Array:
    return np.array([[float(row.get(column, 0)) for column in columns] for row in rows]).reshape(len(rows),
                                                                                                 len(columns))


class _Columns:
    """The meaning of the columns: potentials and through variables, states, inputs and their rates."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        nodes = len(circuit.nodes)
        ends = np.cumsum([0, nodes + len(circuit.edges), len(circuit.storages), len(circuit.sources),
                          len(circuit.sources)]).tolist()
        self.variables, self.states, self.inputs, self.input_rates = map(range, ends[:-1], ends[1:])
        self.node = {node: number for number, node in enumerate(circuit.nodes)}
        self.first = {name: nodes + edge for name, edge in circuit.first_edges.items()}
        self.storage = [(element, storage) for element in circuit.elements for storage in element.storages]
        self.outputs = (*[f"force on {joint}" for joint in circuit.joints],
                        *[element.name for element in circuit.sensors])

    def names(self, states: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.circuit.storages[k - self.states.start].name for k in states)

    def across(self, edge: int) -> Row:
        """The across variable of an edge, by its column."""
        element, k = self.circuit.edges[edge - len(self.node)]
        return {self.node[node]: Fraction(sign) for node, sign in zip(element.ends[k], (1, -1), strict=True)
                if node in self.node}

    def rate(self, state: int) -> Row:
        """The rate of a state: what is complementary to it, over its C or L."""
        element, storage = self.storage[state - self.states.start]
        edge = self.first[element.name] + storage.edge
        own = {edge: Fraction(1)} if storage.is_across else self.across(edge)
        return combined([(1 / exact(storage.coefficient), own)])

    def reading(self, number: int) -> Row:
        """An output: forces on joints, then sensors."""
        driven = [element for element in self.circuit.elements if element.joint]
        element = [*driven, *self.circuit.sensors][number]
        word, k = ("through", 0) if element.joint else element.sensor or ("across", 0)
        edge = self.first[element.name] + k
        return self.across(edge) if word == "across" else {edge: Fraction(1)}

    def equations(self) -> Iterable[Row]:
        """All nodes, and the laws of all elements."""
        for node in self.node:
            own = [(edge, sign) for edge, (element, k) in enumerate(self.circuit.edges, start=len(self.node))
                   for end, sign in zip(element.ends[k], (1, -1), strict=True) if end == node]
            yield combined((Fraction(sign), {edge: Fraction(1)}) for edge, sign in own)
        states = {storage.name: self.states.start + k for k, storage in enumerate(self.circuit.storages)}
        inputs = {name: self.inputs.start + k for k, name in enumerate(self.circuit.sources)}
        for element in self.circuit.elements:
            first = self.first[element.name]
            for law in element.laws:
                terms = [(exact(factor), self.across(first + edge)) for edge, factor in law.across.items()]
                terms += [(exact(factor), {first + edge: Fraction(1)}) for edge, factor in law.through.items()]
                if law.state or law.source:
                    terms.append((Fraction(-1), {states[law.state] if law.state else inputs[law.source]: Fraction(1)}))
                yield combined(terms)


def _solved(circuit: Circuit, columns: _Columns) -> tuple[ExactEquations, ExactEquations]:
    """The potentials and through variables in states, inputs and their rates, and the storages that depend on others,
    in these and inputs."""
    variables = ExactEquations(columns.variables)
    storages = ExactEquations(columns.states)
    left = [rest for rest in map(variables.add, columns.equations()) if rest]
    for rest in left:
        contradiction = storages.add(rest)
        if contradiction:
            names = ", ".join(repr(circuit.sources[k - columns.inputs.start]) for k in sorted(contradiction))
            raise ModelError(f"the sources {names} of {circuit.name} contradict each other, or leave a through "
                             "variable without a way back: put a resistance or a storage between them")
    for row in storages.solved.values():
        rates = [(factor, columns.rate(k) if k in columns.states else {k + len(columns.inputs): Fraction(1)})
                 for k, factor in row.items()]
        if variables.add(combined(rates)):
            tied = ", ".join(map(repr, columns.names(k for k in row if k in columns.states)))
            raise UnsupportedError(f"what ties the storages {tied} of {circuit.name} also ties their rates: put a "
                                   "resistance, a damper or a spring between them")
    if variables.open:
        raise ModelError(f"nothing in {circuit.name} determines {_undetermined(circuit, columns, variables)}")
    return variables, storages


def _undetermined(circuit: Circuit, columns: _Columns, variables: ExactEquations) -> str:
    """The potential that is not determined, or the loop of elements whose through variable is not."""
    loose = {column for column in columns.variables
             if column in variables.open or any(k in variables.open for k in variables.value(column))}
    nodes = [node for node, number in columns.node.items() if number in loose]
    if nodes:
        return f"the potential of node {nodes[0]!r}: join it to the ground, or put an element there"
    names = dict.fromkeys(circuit.edges[column - len(columns.node)][0].name for column in sorted(loose))
    return (f"what goes round the ring of {', '.join(map(repr, names))}, which has no losses: put a resistance or a "
            "damper there")


def _check_rates(circuit: Circuit, columns: _Columns, w: Sequence[Row], rates: dict[int, Row]) -> None:
    """Check that no rate of an input is needed but the accelerations of joints, and these only for forces."""
    joints = len(circuit.joints)
    needed = [name for name, k in zip(circuit.sources[joints:], list(columns.input_rates)[joints:], strict=True)
              if any(k in row for row in w)]
    if needed:
        raise UnsupportedError(f"{circuit.name} needs the rate of its input {needed[0]!r}: a source drives a storage "
                               "directly; put a resistance, a damper or a spring between them")
    moved = [k for k, row in rates.items() if any(each in columns.input_rates for each in row)]
    if moved:
        raise UnsupportedError(f"the state {columns.names(moved)[0]!r} of {circuit.name} depends on the acceleration "
                               "of a joint: put a spring between them")


Row = dict[int, Fraction]  # an equation: the sum of coefficients times what their columns stand for is zero


def exact(value: float) -> Fraction:
    """The plain fraction that a float stands for, 1/3 or 1/10, if there is one, and otherwise its decimals."""
    plain = Fraction(float(value)).limit_denominator(10**6)
    return plain if float(plain) == value else Fraction(repr(float(value)))


def combined(terms: Iterable[tuple[Fraction, Mapping[int, Fraction]]]) -> Row:
    """The sum of factors times rows, without the columns that cancel.

    >>> combined([(Fraction(2), {0: Fraction(1), 1: Fraction(3)}), (Fraction(-6), {1: Fraction(1)})])
    {0: Fraction(2, 1)}
    """
    total: Row = {}
    for factor, row in terms:
        for column, coefficient in row.items():
            total[column] = total.get(column, Fraction(0)) + factor * coefficient
    return {column: coefficient for column, coefficient in total.items() if coefficient}


@dataclass
class ExactEquations:
    """Equations in unknowns, a range of columns, and in what is known, all other columns; each unknown in `solved` is
    minus the sum of what is known in its row."""

    unknowns: range
    solved: dict[int, Row] = field(default_factory=dict)

    def add(self, equation: Row) -> Row:
        """Takes an equation in. What it says of the known columns alone, if it has no new unknown to say something
        of: nothing, where it follows from the others."""
        row = combined([(Fraction(1), equation),
                        *[(-factor, self.solved[column]) for column, factor in equation.items()
                          if column in self.solved]])
        pivot = max((column for column in row if column in self.unknowns), default=None)
        if pivot is None:
            return row
        row = combined([(1 / row[pivot], row)])
        for column, other in self.solved.items():
            if pivot in other:
                self.solved[column] = combined([(Fraction(1), other), (-other[pivot], row)])
        self.solved[pivot] = row
        return {}

    def value(self, column: int) -> Row:
        """The meaning of a column among unsolved and known ones."""
        if column not in self.solved:
            return {column: Fraction(1)}
        return {other: -coefficient for other, coefficient in self.solved[column].items() if other != column}

    def substituted(self, row: Mapping[int, Fraction]) -> Row:
        """A sum with all that is solved put in."""
        return combined((coefficient, self.value(column)) for column, coefficient in row.items())

    @property
    def open(self) -> list[int]:
        """The unknowns that no equation gives."""
        return [column for column in self.unknowns if column not in self.solved]
