"""A loop traced from a Python function of one turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import Any

from cayley.compiler.operations import BOOLEAN
from cayley.compiler.rules.common import number
from cayley.compiler.tracing.graph import RULES, Graph, Node, ancestors, is_constant
from cayley.compiler.tracing.implied_values import build_marked
from cayley.compiler.tracing.loop import Nodes, ProgramLoop, part
from cayley.compiler.tracing.loop_body import loop_body
from cayley.errors import SingularityError, UnsupportedError

Turn = Callable[[Nodes, list[Nodes]], tuple[Sequence[Any], Sequence[Any], Any]]
"""From a state and an entry of each scanned array to the next state, what is kept, and whether the loop stops, or None.
"""
_TRIALS = 3
"""How often a turn is traced with zeros in its state."""


def traced_loop(start: Sequence[Node], scanned: Sequence[Sequence[Sequence[Node]]], turns: int, turn: Turn, *,
                backwards: bool = False, zeros: bool = True) -> tuple[Nodes, list[Nodes]]:
    """The state at the end of a loop, and what each turn kept. A scanned array is given as a row of nodes for each
    turn.

    What a turn computes of neither the state nor the entries is computed before the loop, unless there is but one turn,
    which may not be taken. With `zeros`, entries of the state that start at zero and stay there are zeros for the turn,
    which may have less to do: a matrix may fall into blocks."""
    before = start[0].graph.size if start else 0
    expected = {k for k, node in enumerate(start) if zeros and is_constant(node, 0.0)}
    for _ in range(_TRIALS):
        try:
            traced = _TracedTurn(start, scanned, turn, expected)
        except (SingularityError, UnsupportedError):
            # A matrix with these zeros may be singular, and `jacobian` does not differentiate by a number. If the turn
            # itself is wrong, it raises the same again without them.
            break
        moved = {k for k in expected if not is_constant(traced.after[k], 0.0)}
        if not moved:
            return traced.called(turns, backwards, before)
        expected -= moved
    return _TracedTurn(start, scanned, turn, ()).called(turns, backwards, before)


class _TracedTurn:
    """One turn, traced in the graph of the start, with zeros in some places of the state."""

    def __init__(self, start: Sequence[Node], scanned: Sequence[Sequence[Sequence[Node]]], turn: Turn,
                 zeros: Collection[int]) -> None:
        graph = next(node.graph for nodes in (start, *chain(*scanned)) for node in nodes)
        self.start, self.scanned = start, scanned
        self.first = graph.size
        self.moving = [k for k in range(len(start)) if k not in zeros]
        state = [start[k] if k in zeros else graph.input(f"state {self.first}.{k}") for k in range(len(start))]
        self.state = [state[k] for k in self.moving]
        self.entries = [[_entry(column, graph, f"entry {self.first}.{place}.{k}")
                         for k, column in enumerate(zip(*rows, strict=True))] for place, rows in enumerate(scanned)]
        after, kept, stop = turn(state, self.entries)
        self.after, self.kept = ([number(graph.lift(value)) for value in each] for each in (after, kept))
        stops = [] if stop is None else [number(graph.lift(stop))]
        self.stop = [] if stops and is_constant(stops[0], 0.0) else stops

    def called(self, turns: int, backwards: bool, before: int) -> tuple[Nodes, list[Nodes]]:
        """The state at the end, and what each turn keeps, as results of a call of the loop; nodes `before` were there
        before the turn was traced."""
        entries = [[node for node in each if self._is_variable(node)] for each in self.entries]
        results = [*[self.after[k] for k in self.moving], *self.kept, *self.stop]
        variables = [*self.state, *chain(*entries)]
        own, inputs, constants = (_cut_out(results, variables, before, whole=True) if turns == 1 and self.stop else
                                  _cut_out(results, variables, self.first))
        size, end = len(self.state), len(self.state) + len(self.kept)
        body = loop_body([inputs[node.index] for node in self.state],
                         [[inputs[node.index] for node in each] for each in entries],
                         [inputs[node.index] for node in constants], own[:size], own[size:end], own[end:])
        given = [row[k] for each, rows in zip(self.entries, self.scanned, strict=True) for row in rows
                 for k, node in enumerate(each) if self._is_variable(node)]
        loop = ProgramLoop(body, turns, backwards=backwards)
        found = loop([*[self.start[k] for k in self.moving], *given, *[number(node) for node in constants]])
        ends = dict(zip(self.moving, found, strict=False))
        return ([ends.get(k, zero) for k, zero in enumerate(self.start)],
                [part(found[size:], k, len(self.kept)) for k in range(turns)])

    def _is_variable(self, entry: Node) -> bool:
        return entry.op == "input" and entry.index >= self.first


def _entry(column: Sequence[Node], graph: Graph, name: str) -> Node:
    """A variable for a column of a scanned array, or the node that is the same in all of its rows."""
    return column[0] if all(node is column[0] for node in column) else graph.input(name)


def _cut_out(results: Sequence[Node], variables: Sequence[Node], first: int, *,
             whole: bool = False) -> tuple[Nodes, dict[int, Node], Nodes]:
    """The results in a graph of their own; its inputs, by the index of the node that each stands for; and the constants
    of the loop: operands that do not depend on the variables; if the turn is cut out as a `whole`, only those that were
    there before. Nodes before `first` were there before the turn."""
    order = ancestors(results, range(first))
    depends = {node.index for node in variables}
    for node in order:
        if any(a.index in depends for a in node.args) or (whole and node.args):
            depends.add(node.index)
    operands = {a.index: a for node in order if node.index in depends for a in node.args}
    operands |= {node.index: node for node in results}
    constants = [node for _, node in sorted(operands.items()) if node.index not in depends and node.op != "constant"]
    graph = Graph()
    inputs = {node.index: graph.input(f"#{k}") for k, node in enumerate((*variables, *constants))}
    made = dict(inputs)
    for node in constants:
        if node.op in BOOLEAN:
            made[node.index] = RULES["not_equal"](made[node.index], graph.constant(0.0))
    for node in [*operands.values(), *order]:
        if node.op == "constant":
            made[node.index] = graph.constant(node.value)
        elif node.index in depends and node.index not in made:
            made[node.index] = build_marked(node, [made[a.index] for a in node.args])
    return [made[node.index] for node in results], inputs, constants

