"""Circuits of linear elements, electrical and mechanical: data, of which the equations of its states are made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError, did_you_mean
from cayley.machines.networks.circuit_equations import StateEquations, state_equations
from cayley.machines.networks.elements import GROUND, UNITS, Element, Storage


@dataclass(frozen=True, eq=False)
class Circuit:
    """Elements between nodes; all domains have one `ground`.

    >>> from cayley.machines.networks.elements import Inductor, Resistor, VoltageSource
    >>> coil = Circuit("coil", [VoltageSource("supply", "a"), Resistor("R", "a", second="b", resistance=2.0),
    ...                         Inductor("L", "b", inductance=0.1)])
    >>> coil.state_equations.A, coil.state_equations.B
    (array([[-20.]]), array([[10.]]))
    """

    name: str
    elements: Sequence[Element]

    def __post_init__(self) -> None:
        for element in self.elements:
            if not isinstance(element, Element):
                raise ModelError(f"{element!r} is no element of a circuit, as {self.name} needs them")
            if not (element.name and isinstance(element.name, str)):
                raise ModelError(f"an element of {self.name} is called {element.name!r}: it needs a name")
        self._check_twice([(element.name, element.name) for element in self.elements], "has two elements named")
        self._check_twice([(element.joint, element.name) for element in self.elements if element.joint],
                          "has two shafts or slides, which could meet at one node, of the joint")
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

    def _check_twice(self, named: Sequence[tuple[str, str]], words: str) -> None:
        before: dict[str, str] = {}
        for name, element in named:
            if name in before:
                both = f" ({before[name]!r} and {element!r})" if name != element else ""
                raise ModelError(f"the circuit {self.name} {words} {name!r}{both}")
            before[name] = element

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
        """The inputs of the circuit: the speeds of joints first."""
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
    def first_edges(self) -> dict[str, int]:
        """The number of the first edge of each element."""
        starts = np.cumsum([0, *[len(element.ends) for element in self.elements]])
        return {element.name: int(start) for element, start in zip(self.elements, starts, strict=False)}

    @cached_property
    def state_equations(self) -> StateEquations:
        """The equations of the states, in named matrices."""
        return state_equations(self)

    def powers(self, states: Mapping[str, float], inputs: Mapping[str, float]) -> dict[str, float]:
        """The power [W] that every element takes, by name: those of sources are negative where they give some; all
        together are zero (Tellegen). Joints do not accelerate."""
        equations = self.state_equations
        _check_names(self.name, "state", states, equations.states)
        _check_names(self.name, "input", inputs, equations.inputs)
        missing = [name for name in equations.states if name not in states]
        if missing:
            raise ModelError(f"the state {missing[0]!r} of {self.name} is missing")
        known = [*[states[name] for name in equations.states], *[inputs.get(name, 0.0) for name in equations.inputs]]
        w = equations.variables @ np.array(known, dtype=float)
        across = self.incidence.T @ w[:len(self.nodes)]
        each = across * w[len(self.nodes):]
        return {element.name: float(each[first:first + len(element.ends)].sum())
                for element, first in zip(self.elements, self.first_edges.values(), strict=True)}

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


def _check_names(circuit: str, word: str, given: Mapping[str, float], names: Sequence[str]) -> None:
    for name in given:
        if name not in names:
            raise ModelError(f"{circuit} has no {word} {name!r}{did_you_mean(name, names)}; it has "
                             f"{', '.join(names) or 'none'}")
