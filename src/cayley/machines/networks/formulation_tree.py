"""Whether a network can be solved, from its graph alone: the formulation tree.

A spanning tree that has every across driver, no through driver, and of every body of k + 1 terminals exactly k: the
terminal that is left out is the form in which its equations are written. Such a tree is a set that is independent in
two matroids, that of the graph and that of the bodies: it is found by augmenting paths (matroid intersection).
This is the rank of bodies that are any transformers. Those of rigid bodies all have E in them: whatever its terminals,
a body turns as one, so that across drivers which close a circuit through bodies give one motion more than once.

With the active part of every body as an edge of its own, in parallel with its mass centre, those in the tree are solved
for the rates of their across variables: six states each (differential); with none the motion is prescribed (algebraic).
Source: Tokad 2, cases (i) to (iii), corrected as in spec E4-08, E4-26.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import networkx as nx

from cayley.errors import ModelError
from cayley.machines.networks.system_graph import REFERENCE, Edge, EdgeKind, SystemGraph, circuit, path
from cayley.showing import brief
from cayley.wording import did_you_mean

Verdict = Literal["algebraic", "differential", "unsolvable"]


@dataclass(frozen=True)
class Formulation:
    """What was found: the `verdict` and why, the names of the edges in the tree, by body the terminal whose equations
    are its form, and the bodies whose motion is a state."""

    verdict: Verdict
    why: str
    tree: tuple[str, ...] = ()
    forms: Mapping[str, str] | None = None
    states: tuple[str, ...] = ()

    __repr__ = brief

    @property
    def solvable(self) -> bool:
        return self.verdict != "unsolvable"


def formulation(graph: SystemGraph) -> Formulation:
    """The formulation tree of a graph, or why there is none."""
    wrong = _obstacle(graph)
    if wrong:
        return Formulation("unsolvable", wrong)
    given = graph.of_kind(EdgeKind.ACROSS)
    terminals = graph.of_kind(EdgeKind.TERMINAL)
    capacity = {body: len(own) - 1 for body, own in _by_body(terminals).items()}
    chosen = _grown((), terminals, given, capacity)
    short = [body for body, own in _by_body(terminals).items() if len(set(own) & set(chosen)) < capacity[body]]
    if short:
        return Formulation("unsolvable", _too_much_motion(short[0], terminals, chosen, given))
    active = graph.of_kind(EdgeKind.ACTIVE)
    chosen = _grown(chosen, (*terminals, *active), given, capacity)
    missing = len(graph.nodes) - len(given) - len(chosen)
    if missing:
        return Formulation("unsolvable", (
            f"the motion of {missing} more {'terminal' if missing == 1 else 'terminals'} must be given: there are "
            f"{len(given)} across drivers" + ("" if active else ", and no body has an active part of its own")))
    closed = _circuit_through_bodies(terminals, given)
    if closed:
        return Formulation("unsolvable", closed)
    forms = {body: next(edge.name for edge in own if edge not in chosen) for body, own in _by_body(terminals).items()}
    states = tuple(edge.body for edge in active if edge in chosen)
    tree = tuple(edge.name for edge in graph.edges if edge in chosen or edge in given)
    words = f"{6 * len(states)} states: the motion of {_listed(states)}" if states else "every motion is given"
    return Formulation("differential" if states else "algebraic", words, tree, forms, states)


def _obstacle(graph: SystemGraph) -> str:
    """What no choice of a tree can mend."""
    if graph.separated:
        return f"nothing joins {_listed(graph.separated)} to the reference"
    closed = circuit(graph.of_kind(EdgeKind.ACROSS))
    if closed:
        names = _listed(edge.name for edge in closed)
        return f"the across drivers {names} make a circuit: one of them is given by the others"
    through = graph.of_kind(EdgeKind.THROUGH)
    cut = SystemGraph(tuple(edge for edge in graph.edges if edge not in through))
    lost = [*cut.separated, *[node for node in graph.nodes if node not in cut.nodes]]
    if lost:
        ends = [edge.name for edge in through if (edge.tail in lost) != (edge.head in lost)]
        return (f"only the through drivers {_listed(ends)} reach {_listed(lost)}: one is given by the others, or by "
                "nothing that could balance it")
    return ""


def _circuit_through_bodies(terminals: Sequence[Edge], given: Sequence[Edge]) -> str:
    """Which across drivers close a circuit where every body is one node, to which its terminals lead: a rigid body.
    With none, bodies and drivers are a forest, and each of its trees can be solved from its root, or its inertia."""
    rigid = [replace(edge, head=f"{edge.body} as a whole") for edge in terminals]
    closed = [edge.name for edge in circuit([*rigid, *given]) if edge in given]
    if not closed:
        return ""
    return (f"the across drivers {_listed(closed)} close a circuit through bodies, which are rigid: one of them is "
            "given by the others; make one a through driver")


def _too_much_motion(body: str, terminals: Sequence[Edge], chosen: Sequence[Edge], given: Sequence[Edge]) -> str:
    """Which across drivers close a circuit with a body that has too few terminals left."""
    closed = [path([*chosen, *given], edge.tail, edge.head) or () for edge in terminals
              if edge.body == body and edge not in chosen]
    drivers = dict.fromkeys(other.name for way in closed for other in way if other in given)
    if drivers:
        return f"the motion of body {body!r} is given more than once, by {_listed(drivers)}: make one a through driver"
    return f"the terminals of body {body!r} make a circuit with those of others"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))


def _by_body(terminals: Iterable[Edge]) -> dict[str, list[Edge]]:
    found: dict[str, list[Edge]] = {}
    for edge in terminals:
        found.setdefault(edge.body, []).append(edge)
    return found


def _grown(chosen: Sequence[Edge], elements: Sequence[Edge], given: Sequence[Edge], capacity: Mapping[str, int]
           ) -> tuple[Edge, ...]:
    """The largest set that has no circuit with what is given, and of each body at most its capacity, that contains the
    same number of each body as `chosen` does: by shortest augmenting paths."""
    found = tuple(chosen)
    while (way := _augmenting_path(found, elements, given, capacity)) is not None:
        found = tuple(edge for edge in elements if (edge in found) != (edge in way))
    return found


def _augmenting_path(chosen: Sequence[Edge], elements: Sequence[Edge], given: Sequence[Edge],
                     capacity: Mapping[str, int]) -> tuple[Edge, ...] | None:
    """Edges to take and to leave in turn, from one that makes no circuit to one whose body has room."""
    exchange = nx.DiGraph()
    exchange.add_nodes_from(["start", "end"])
    for edge in elements:
        if edge not in chosen:
            exchange.add_edges_from(_exchanges(edge, chosen, given, capacity))
    if not nx.has_path(exchange, "start", "end"):
        return None
    return tuple(nx.shortest_path(exchange, "start", "end")[1:-1])


def _exchanges(edge: Edge, chosen: Sequence[Edge], given: Sequence[Edge], capacity: Mapping[str, int]
               ) -> Iterator[tuple[Edge | str, Edge | str]]:
    closed = path([*chosen, *given], edge.tail, edge.head)
    if closed is None:
        yield "start", edge
    else:
        yield from ((other, edge) for other in closed if other in chosen)
    own = [other for other in chosen if other.kind is edge.kind is EdgeKind.TERMINAL and other.body == edge.body]
    if edge.kind is EdgeKind.ACTIVE or len(own) < capacity[edge.body]:
        yield edge, "end"
    else:
        yield from ((edge, other) for other in own)


def check_drivers(given: Iterable[str], names: Sequence[str]) -> None:
    """That there are the drivers that are named."""
    for name in given:
        if name not in names:
            raise ModelError(f"there is no driver {name!r}{did_you_mean(name, names)}; there are {', '.join(names)}")


def chain_graph(bodies: int, across: Iterable[str], *, active_parts: bool = False) -> SystemGraph:
    """The graph of a chain with drivers at its joints "1", "2", ..., at its mass centres "1'", ... and at its tip, the
    last number: those named are across drivers, the others through drivers. (Fig. 2.)"""
    if bodies < 1:
        raise ModelError(f"a chain of {bodies} bodies is none: it has one at least")
    drivers = [(f"{j + 1}", f"B{j + 1}", f"A{j}" if j else REFERENCE) for j in range(bodies)]
    drivers += [(f"{bodies + 1}", f"A{bodies}", REFERENCE)]
    drivers += [(f"{j + 1}'", f"G{j + 1}", REFERENCE) for j in range(bodies)]
    known = set(across)
    check_drivers(known, [name for name, *_ in drivers])
    edges = [Edge(f"{port}{j}", f"{port.upper()}{j}", REFERENCE, EdgeKind.TERMINAL, f"body {j}")
             for j in range(1, bodies + 1) for port in "abg"]
    if active_parts:
        edges += [Edge(f"w{j}", f"G{j}", REFERENCE, EdgeKind.ACTIVE, f"body {j}") for j in range(1, bodies + 1)]
    edges += [Edge(name, tail, head, EdgeKind.ACROSS if name in known else EdgeKind.THROUGH)
              for name, tail, head in drivers]
    return SystemGraph(tuple(edges))
