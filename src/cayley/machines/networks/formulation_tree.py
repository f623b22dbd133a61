"""The formulation tree of a network: its graph alone decides if the network can be solved.

A spanning tree that has every across driver, no through driver, and of every body of k + 1 terminals exactly k: the
terminal that is left out is the form in which its equations are written. Such a tree is a set that is independent in
two matroids, that of the graph and that of the bodies: it is found by augmenting paths (matroid intersection).
This is the rank of bodies that are any transformers. Those of rigid bodies all have E in them: whatever its terminals,
a body turns as one, so that across drivers which close a circuit through bodies give one motion more than once.

With the active part of every body as an edge of its own, in parallel with its mass centre, those in the tree are solved
for the rates of their across variables: six states each (differential); with none the motion is prescribed (algebraic).
Source: Tokad 2, cases (i) to (iii), corrected as in spec E4-08, E4-26.

The graph of a network: its terminals are the nodes, and every pair of an across and a through variable is an edge.

    x_chord = F^T x_tree       fundamental circuits
    y_tree  = - F y_chord      fundamental cut-sets
F = A_T^-1 A_C of the incidence matrix A without the row of the reference, split into the edges of a tree and the
chords. An edge goes from its terminal to the reference, or from a body to one that carries it.
Source: Tokad (8), (9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeVar

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError, did_you_mean
from cayley.showing import brief

Verdict = Literal["algebraic", "differential", "unsolvable"]
Node = TypeVar("Node")


@dataclass(frozen=True)
class Formulation:
    """The result: the `verdict` and why, the names of the edges in the tree, by body the terminal whose equations
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
    """The faults that no choice of a tree can mend."""
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
    rigid = [replace(edge, head=f"{edge.body} as a whole") for edge in terminals]
    closed = [edge.name for edge in circuit([*rigid, *given]) if edge in given]
    if not closed:
        return ""
    return (f"the across drivers {_listed(closed)} close a circuit through bodies, which are rigid: one of them is "
            "given by the others; make one a through driver")


def _too_much_motion(body: str, terminals: Sequence[Edge], chosen: Sequence[Edge], given: Sequence[Edge]) -> str:
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
    exchange: dict[Edge | str, list[Edge | str]] = {}
    for edge in elements:
        if edge not in chosen:
            for first, then in _exchanges(edge, chosen, given, capacity):
                exchange.setdefault(first, []).append(then)
    way = _shortest_way(exchange, "start", "end")
    return None if way is None else tuple(each for each in way if isinstance(each, Edge))


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
    """Check that the named drivers exist."""
    for name in given:
        if name not in names:
            raise ModelError(f"there is no driver {name!r}{did_you_mean(name, names)}; there are {', '.join(names)}")


def chain_graph(bodies: int, across: Iterable[str], *, active_parts: bool = False) -> SystemGraph:
    """The graph of a chain with drivers at its joints "1", "2", ..., at its mass centres "1'", ... and at its tip, the
    last number: those named are across drivers, the others through drivers. (Fig. 2.)"""
    if bodies < 1:
        raise ModelError(f"a chain has at least one body, not {bodies}")
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


REFERENCE = "O"


class EdgeKind(Enum):
    """The meaning of an edge."""

    TERMINAL = "terminal of a body"
    ACTIVE = "inertia and weight of a body"
    ACROSS = "across driver"
    THROUGH = "through driver"


@dataclass(frozen=True)
class Edge:
    """An edge with a name, from one node to another; `body` is whose it is, of terminals and active parts."""

    name: str
    tail: str
    head: str
    kind: EdgeKind
    body: str = ""


@dataclass(frozen=True)
class SystemGraph:
    """Edges between terminals; parallel ones are allowed.

    >>> bar = [Edge("a", "A", "O", EdgeKind.TERMINAL, "bar"), Edge("g", "G", "O", EdgeKind.TERMINAL, "bar"),
    ...        Edge("pull", "A", "G", EdgeKind.THROUGH)]
    >>> graph = SystemGraph(tuple(bar))
    >>> graph.nodes, graph.circuit_matrix(["a", "g"]).T
    (('A', 'G'), array([[ 1, -1]]))
    """

    edges: tuple[Edge, ...]

    __repr__ = brief

    def __post_init__(self) -> None:
        names = [edge.name for edge in self.edges]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ModelError(f"two edges are named {twice[0]!r}")
        shorted = [edge.name for edge in self.edges if edge.tail == edge.head]
        if shorted:
            raise ModelError(f"edge {shorted[0]!r} joins a terminal to itself")

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The terminals, without the reference."""
        ends = dict.fromkeys(end for edge in self.edges for end in (edge.tail, edge.head))
        return tuple(end for end in ends if end != REFERENCE)

    @cached_property
    def incidence(self) -> Array:
        """(nodes, edges): 1 where an edge begins, -1 where it ends; the reference has no row."""
        row = {node: number for number, node in enumerate(self.nodes)}
        A = np.zeros((len(row), len(self.edges)), dtype=int)
        for column, edge in enumerate(self.edges):
            for end, sign in ((edge.tail, 1), (edge.head, -1)):
                if end in row:
                    A[row[end], column] = sign
        return A

    def edge(self, name: str) -> Edge:
        found = [edge for edge in self.edges if edge.name == name]
        if not found:
            raise ModelError(f"there is no edge {name!r}; there are {', '.join(edge.name for edge in self.edges)}")
        return found[0]

    def of_kind(self, kind: EdgeKind) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.edges if edge.kind is kind)

    @cached_property
    def separated(self) -> tuple[str, ...]:
        """The nodes that nothing joins to the reference."""
        reached = _reached(_neighbours(self.edges), REFERENCE)
        return tuple(node for node in self.nodes if node not in reached)

    def chords(self, tree: Iterable[str]) -> tuple[str, ...]:
        """The edges that are not in a tree."""
        inside = set(tree)
        return tuple(edge.name for edge in self.edges if edge.name not in inside)

    def circuit_matrix(self, tree: Sequence[str]) -> Array:
        """F (tree, chords) of a spanning tree, in the order of its names and of the `chords`."""
        columns = {edge.name: column for column, edge in enumerate(self.edges)}
        inside = self.incidence[:, [columns[self.edge(name).name] for name in tree]]
        if len(tree) != len(self.nodes) or round(abs(np.linalg.det(inside))) != 1:
            raise ModelError(f"{', '.join(tree)} is no spanning tree of the graph")
        outside = self.incidence[:, [columns[name] for name in self.chords(tree)]]
        return np.rint(np.linalg.solve(inside, outside)).astype(int)


def circuit(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """Edges among these that make a circuit; none if there is no circuit."""
    forest: list[Edge] = []
    for edge in edges:
        way = path(forest, edge.tail, edge.head)
        if way is not None:
            return (*way, edge)
        forest.append(edge)
    return ()


def path(edges: Sequence[Edge], start: str, end: str) -> tuple[Edge, ...] | None:
    """The edges on the way from one node to another, if these lead there."""
    way = _shortest_way(_neighbours(edges), start, end)
    if way is None:
        return None
    between = {ends: edge for edge in reversed(edges) for ends in ((edge.tail, edge.head), (edge.head, edge.tail))}
    return tuple(between[two] for two in pairwise(way))


def _neighbours(edges: Iterable[Edge]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for edge in edges:
        found.setdefault(edge.tail, []).append(edge.head)
        found.setdefault(edge.head, []).append(edge.tail)
    return found


def _reached(links: Mapping[Node, Iterable[Node]], start: Node) -> dict[Node, Node]:
    """Every node that links lead to, the nearest first, with the node before it on a shortest way."""
    before = {start: start}
    waiting = [start]
    for node in waiting:  # which grows
        for other in links.get(node, ()):
            if other not in before:
                before[other] = node
                waiting.append(other)
    return before


def _shortest_way(links: Mapping[Node, Iterable[Node]], start: Node, end: Node) -> list[Node] | None:
    before = _reached(links, start)
    if end not in before:
        return None
    way = [end]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]
