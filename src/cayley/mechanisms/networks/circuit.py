"""Circuits of linear elements, electrical and mechanical, reduced to the equations of their states.

    A t = 0,   laws of all elements                      nodes and edges, A the incidence matrix
    R w = S s + T u,   w = (potentials, t)               with the storages as sources of their states s
    D s' = what is complementary to s                    C s' = t,  L s' = a
Where R is singular, storages depend on each other or on sources (a rotor geared to a joint, capacitors in a ring): with
n in the left null space n^T (S s + T u) = 0, and what keeps this so, n^T (S s' + T u') = 0, gives what R leaves open.
Such states are left out; what they add to the inertia of a joint is its reflected inertia. The equations that are left
    are s' = A s + B u,     forces on joints and sensors = C s + D u + E qdd
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from cayley.compiler.typing import Array
from cayley.errors import ModelError, UnsupportedError
from cayley.mechanisms.networks.elements.element import GROUND, UNITS, Element, Storage

_ZERO = 1e-10


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


class _Solution(NamedTuple):
    """w = particular (s; u) + kernel lam, and the constraints (rows, s + u) that make it solvable."""

    particular: Array
    kernel: Array
    constraints: Array


@dataclass(frozen=True, eq=False)
class Circuit:
    """Elements between nodes; all domains have one `ground`.

    >>> from cayley.mechanisms.networks.elements import Inductor, Resistor, VoltageSource
    >>> coil = Circuit("coil", [VoltageSource("supply", "a"), Resistor("R", "a", second="b", resistance=2.0),
    ...                         Inductor("L", "b", inductance=0.1)])
    >>> coil.state_equations.A, coil.state_equations.B
    (array([[-20.]]), array([[10.]]))
    """

    name: str
    elements: Sequence[Element]

    def __post_init__(self) -> None:
        names = [element.name for element in self.elements]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ModelError(f"the circuit {self.name} has two elements named {twice[0]!r}")
        domains: dict[str, tuple[str, str]] = {}
        for element in self.elements:
            for ends, domain in zip(element.ends, element.domains, strict=True):
                if ends[0] == ends[1]:
                    raise ModelError(f"both ends of {element.name!r} in {self.name} are {ends[0]!r}")
                for node in ends:
                    before = domains.setdefault(node, (domain, element.name))
                    if node != GROUND and before[0] != domain:
                        raise ModelError(f"node {node!r} of {self.name} is {before[0]} for {before[1]!r}, and {domain} "
                                         f"for {element.name!r}: a motor, a gear or a rack joins domains")
        _ = self.state_equations

    # Names

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        ends = dict.fromkeys(node for element in self.elements for pair in element.ends for node in pair)
        return tuple(node for node in ends if node != GROUND)

    @cached_property
    def edges(self) -> tuple[tuple[Element, int], ...]:
        """Every edge as its element and its number there."""
        return tuple((element, k) for element in self.elements for k in range(len(element.ends)))

    @cached_property
    def storages(self) -> tuple[Storage, ...]:
        return tuple(storage for element in self.elements for storage in element.storages)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The joints of a mechanism that it drives."""
        return tuple(element.joint for element in self.elements if element.joint)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Its inputs: the speeds of joints first."""
        laws = [law.source for element in self.elements for law in element.laws if law.source and not element.joint]
        return (*[f"speed of {joint}" for joint in self.joints], *laws)

    @cached_property
    def sensors(self) -> tuple[Element, ...]:
        return tuple(element for element in self.elements if element.sensor)

    # Matrices

    @cached_property
    def incidence(self) -> Array:
        """(nodes, edges): 1 where an edge begins, -1 where it ends."""
        row = {node: number for number, node in enumerate(self.nodes)}
        A = np.zeros((len(row), len(self.edges)))
        for column, (element, k) in enumerate(self.edges):
            for node, sign in zip(element.ends[k], (1.0, -1.0), strict=True):
                if node in row:
                    A[row[node], column] += sign
        return A

    @cached_property
    def _solution(self) -> _Solution:
        """The network with storages as sources, solved as far as it can be."""
        nodes = len(self.nodes)
        size = nodes + len(self.edges)
        R = np.zeros((size, size))
        given = np.zeros((size, len(self.storages) + len(self.sources)))
        R[:nodes, nodes:] = self.incidence
        states = {storage.name: k for k, storage in enumerate(self.storages)}
        inputs = {name: len(states) + k for k, name in enumerate(self.sources)}
        row = nodes
        first = 0
        for element in self.elements:
            for law in element.laws:
                for edge, factor in law.across.items():
                    R[row, :nodes] += factor * self.incidence[:, first + edge]
                for edge, factor in law.through.items():
                    R[row, nodes + first + edge] += factor
                if law.state or law.source:
                    given[row, states[law.state] if law.state else inputs[law.source]] = 1.0
                row += 1
            first += len(element.ends)
        scale = 1.0 / np.abs(R).max(axis=1, initial=1e-300)
        U, s, Vt = np.linalg.svd(R * scale[:, None])
        rank = int((s > _ZERO * s.max(initial=0.0)).sum())
        particular = Vt[:rank].T @ ((U[:, :rank].T @ (given * scale[:, None])) / s[:rank, None])
        return _Solution(particular, Vt[rank:].T, U[:, rank:].T @ (given * scale[:, None]))

    def _across(self, edge: int) -> Array:
        """The row of w that is the across variable of an edge."""
        return np.concatenate([self.incidence[:, edge], np.zeros(len(self.edges))])

    def _through(self, edge: int) -> Array:
        row = np.zeros(len(self.nodes) + len(self.edges))
        row[len(self.nodes) + edge] = 1.0
        return row

    @cached_property
    def _first_edges(self) -> dict[str, int]:
        """The number of the first edge of each element."""
        starts = np.cumsum([0, *[len(element.ends) for element in self.elements]])
        return {element.name: int(start) for element, start in zip(self.elements, starts, strict=False)}

    @cached_property
    def _complements(self) -> Array:
        """(storages, w): the rate of each state from w, with its C or L divided out."""
        rows = []
        for element in self.elements:
            for storage in element.storages:
                edge = self._first_edges[element.name] + storage.edge
                row = self._through(edge) if storage.is_across else self._across(edge)
                rows.append(row / storage.coefficient)
        return np.array(rows).reshape(len(rows), len(self.nodes) + len(self.edges))

    @cached_property
    def _readings(self) -> Array:
        """(outputs, w): forces on joints, then sensors."""
        rows = [self._through(self._first_edges[element.name]) for element in self.elements if element.joint]
        for element in self.sensors:
            word, edge = element.sensor or ("across", 0)
            own = self._first_edges[element.name] + edge
            rows.append(self._across(own) if word == "across" else self._through(own))
        return np.array(rows).reshape(len(rows), len(self.nodes) + len(self.edges))

    @cached_property
    def state_equations(self) -> StateEquations:
        """The equations of the states, in named matrices."""
        n = len(self.storages)
        particular, kernel, constraints = self._solution
        dependent, expressed = self._dependent(constraints)
        free = [k for k in range(n) if k not in dependent]
        multiplier = self._multipliers(constraints, kernel, particular)
        full = np.concatenate([_embedding(n, free, dependent, expressed[:, :len(free)]),
                               _embedding(n, free, dependent, expressed[:, len(free):], inputs=True)], axis=1)
        known = np.concatenate([full, np.concatenate([np.zeros((len(self.sources), len(free))),
                                                      np.eye(len(self.sources))], axis=1)])
        w = (particular + kernel @ multiplier[:, :particular.shape[1]]) @ known
        w_rate = kernel @ multiplier[:, particular.shape[1]:]  # what u' adds
        rates = self._complements @ w
        self._check_rates(w_rate, free)
        k = len(free)
        z = self._readings @ w
        names = [storage.name for storage in self.storages]
        outputs = [*[f"force on {joint}" for joint in self.joints], *[element.name for element in self.sensors]]
        return StateEquations(
            A=_rounded(rates[free, :k]), B=_rounded(rates[free, k:]), C=_rounded(z[:, :k]), D=_rounded(z[:, k:]),
            E=_rounded((self._readings @ w_rate)[:, :len(self.joints)]), states=tuple(names[j] for j in free),
            inputs=self.sources, outputs=tuple(outputs), dependent=tuple(names[j] for j in dependent),
            G=expressed[:, :k], H=expressed[:, k:], variables=w)

    def _dependent(self, constraints: Array) -> tuple[list[int], Array]:
        """The storages that follow from the others and from inputs, and how: (dependent, free + inputs)."""
        n = len(self.storages)
        among = constraints[:, :n]
        if not len(constraints):
            return [], np.zeros((0, n + len(self.sources)))
        if np.linalg.matrix_rank(among, tol=1e-9) < len(constraints):
            self._refuse(constraints)
        _, _, order = qr(among, mode="economic", pivoting=True)
        dependent = sorted(order[:len(constraints)].tolist())
        free = [k for k in range(n) if k not in dependent]
        rest = np.concatenate([constraints[:, free], constraints[:, n:]], axis=1)
        expressed = -np.linalg.solve(constraints[:, dependent], rest)
        return dependent, np.where(np.abs(expressed) < 1e-13, 0.0, expressed)

    def _refuse(self, constraints: Array) -> None:
        """Why there is no answer: sources that contradict each other, or variables that nothing determines."""
        n = len(self.storages)
        left = np.linalg.svd(constraints[:, :n].T)[2][np.linalg.matrix_rank(constraints[:, :n], tol=1e-9):]
        blamed = [name for name, entry in zip(self.sources, np.abs(left @ constraints[:, n:]).max(axis=0), strict=True)
                  if entry > 1e-9]
        if blamed:
            raise ModelError(f"the sources {', '.join(map(repr, blamed))} of {self.name} contradict each other, or "
                             "leave a through variable without a way back: put a resistance or a storage between them")
        kernel = self._solution.kernel
        loose = [node for node, row in zip(self.nodes, kernel, strict=False) if np.abs(row).max() > 1e-9]
        what = f"the potential of node {loose[0]!r}" if loose else "what goes round a ring of elements without losses"
        raise ModelError(f"nothing in {self.name} determines {what}: join it to the ground, or put an element there")

    def _multipliers(self, constraints: Array, kernel: Array, particular: Array) -> Array:
        """lam (of the kernel) from (s; u; u'): what keeps the constraints, n^T (S s' + T u') = 0."""
        n = len(self.storages)
        if not len(constraints):
            return np.zeros((0, particular.shape[1] + len(self.sources)))
        onto = constraints[:, :n] @ self._complements
        return -np.linalg.solve(onto @ kernel, np.concatenate([onto @ particular, constraints[:, n:]], axis=1))

    def _check_rates(self, w_rate: Array, free: list[int]) -> None:
        """That no rate of an input is needed but the accelerations of joints, and these only for forces."""
        joints = len(self.joints)
        needed = [name for name, column in zip(self.sources[joints:], w_rate[:, joints:].T, strict=True)
                  if np.abs(column).max(initial=0.0) > 1e-9]
        if needed:
            raise UnsupportedError(f"{self.name} needs the rate of its input {needed[0]!r}: a source drives a storage "
                                   "directly; put a resistance, a damper or a spring between them")
        moved = [self.storages[k].name for k in free if np.abs(self._complements[k] @ w_rate).max(initial=0.0) > 1e-9]
        if moved:
            raise UnsupportedError(f"the state {moved[0]!r} of {self.name} depends on the acceleration of a joint: put "
                                   "a spring between them")

    def powers(self, states: Mapping[str, float], inputs: Mapping[str, float]) -> dict[str, float]:
        """The power [W] that every element takes, by name: those of sources are negative where they give some; all
        together are zero (Tellegen). Joints do not accelerate."""
        equations = self.state_equations
        known = [*[states[name] for name in equations.states], *[inputs.get(name, 0.0) for name in equations.inputs]]
        w = equations.variables @ np.array(known, dtype=float)
        across = self.incidence.T @ w[:len(self.nodes)]
        each = across * w[len(self.nodes):]
        return {element.name: float(each[first:first + len(element.ends)].sum())
                for element, first in zip(self.elements, self._first_edges.values(), strict=True)}

    @property
    def units(self) -> dict[str, str]:
        """The units of states, inputs and outputs."""
        found = {storage.name: storage.unit for storage in self.storages}
        for element in self.elements:
            across, through = UNITS[element.domains[0]]
            for law in element.laws:
                if law.source:
                    found[law.source] = across if law.across else through
            if element.joint:
                found[f"force on {element.joint}"] = through
            if element.sensor:
                found[element.name] = across if element.sensor[0] == "across" else through
        return found


def _rounded(matrix: Array) -> Array:
    """Without what is only rounding."""
    return np.where(np.abs(matrix) < 1e-12 * np.abs(matrix).max(initial=0.0), 0.0, matrix)


def _embedding(n: int, free: list[int], dependent: list[int], expressed: Array, *, inputs: bool = False) -> Array:
    """All states from the free ones, or from inputs: (n, columns)."""
    full = np.zeros((n, expressed.shape[1]))
    if not inputs:
        full[free, range(len(free))] = 1.0
    full[dependent] = expressed
    return full
