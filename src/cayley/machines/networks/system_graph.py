"""The graph of a network: its terminals are the nodes, and every pair of an across and a through variable is an edge.

    x_chord = F^T x_tree       fundamental circuits
    y_tree  = - F y_chord      fundamental cut-sets
F = A_T^-1 A_C of the incidence matrix A without the row of the reference, split into the edges of a tree and the
chords. An edge goes from its terminal to the reference, or from a body to one that carries it.
Source: Tokad (8), (9).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise

import networkx as nx
import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.showing import brief

REFERENCE = "O"


class EdgeKind(Enum):
    """What an edge stands for."""

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
        reached = nx.node_connected_component(_undirected(self.edges, [*self.nodes, REFERENCE]), REFERENCE)
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
    graph = _undirected(edges, [start, end])
    try:
        nodes = nx.shortest_path(graph, start, end)
    except nx.NetworkXNoPath:
        return None
    return tuple(min(graph[a][b].items())[1]["edge"] for a, b in pairwise(nodes))


def _undirected(edges: Iterable[Edge], nodes: Iterable[str]) -> nx.MultiGraph:
    graph = nx.MultiGraph()
    graph.add_nodes_from(nodes)
    for edge in edges:
        graph.add_edge(edge.tail, edge.head, edge=edge)
    return graph
