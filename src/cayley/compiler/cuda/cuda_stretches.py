"""A program limb by limb: the stretches that one thread computes in turn.

A stretch is what a part of a program (see `shares`) does in one phase. Between stretches only that is kept which one
part hands to another; what a part needs of its own earlier phases it makes once more from its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from cayley.compiler.c.c_expressions import CExpression, CStatements, Dialect
from cayley.compiler.c.c_loops import computing, needed
from cayley.compiler.cuda.limb_order import limb_by_limb
from cayley.compiler.cuda.thread_shares import FINE, Grain, Shares, shared
from cayley.compiler.iteration import Plan
from cayley.compiler.operations import CALLS
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.program import Program, Variable, build_unchanged

_KEEPING = 10  # operations that are computed again rather than one value is kept


@dataclass(frozen=True, eq=False)
class LimbedProgram:
    """The whole program of a stage, what of it is needed, and which part does what of that."""

    whole: Program
    program: Program
    elements: tuple[tuple[int, int], ...]  # of outputs: place, element
    shares: Shares
    more: frozenset[int] = frozenset()  # values that are kept though no other part takes them

    @property
    def has_loops(self) -> bool:
        return any(node.op in CALLS for node in self.whole.nodes)

    @staticmethod
    def of(program: Program, plan: Plan, grain: Grain = FINE) -> LimbedProgram | None:
        """If there are parts, and all trajectories take the same turns."""
        if plan.repeats is not None:
            return None
        if has_loops := any(node.op in CALLS for node in program.nodes):
            program = limb_by_limb(program, [n for _, before in plan.feeds for n in program.inputs[before].nodes])
        found = needed(program, plan)
        elements = tuple(sorted(found))
        wanted = computing(program, found)
        if has_loops:
            shares = _around_loops(wanted.nodes)
            return LimbedProgram(program, wanted, elements, shares, _cheapest_kept(wanted, shares))
        at = {element: k for k, element in enumerate(elements)}
        states = {node.index: at[after, k] for after, before in plan.feeds
                  for k, node in enumerate(program.inputs[before].nodes) if (after, k) in at}
        shares = shared(wanted.nodes, wanted.results, states, grain)
        return LimbedProgram(program, wanted, elements, shares) if shares.parts > 1 else None


def _around_loops(nodes: Sequence[Node]) -> Shares:
    """Two parts, loops and all else, and a phase for each loop that waits for others, and for what comes before and
    after it: a loop has the registers for itself."""
    phase: dict[int, int] = {}
    for node in nodes:
        before = max((phase[a.index] for a in node.args), default=0)
        phase[node.index] = before + (before % 2 != (node.op in CALLS))
    return Shares({node.index: int(node.op in CALLS) for node in nodes if node.args}, phase, (), 2,
                  1 + max(phase.values()))


def _cheapest_kept(program: Program, shares: Shares) -> frozenset[int]:
    """The values to keep from phase to phase so that with what is then computed again the cost is least: a minimal cut
    between what is not computed again and what later phases need."""
    found: set[int] = set()
    for phase in range(shares.phases - 1):
        found |= _cut(program, {n.index for n in program.nodes if n.args and shares.phase[n.index] <= phase})
    return frozenset(found)


def _cut(program: Program, early: set[int]) -> set[int]:
    place = {index: k for k, index in enumerate(sorted(early))}
    source, sink = 2 * len(place), 2 * len(place) + 1
    much = 1 << 30
    edges: dict[tuple[int, int], int] = {}
    for node in program.nodes:
        inside = node.index in early
        if inside:
            into, out = 2 * place[node.index], 2 * place[node.index] + 1
            edges[source, into] = much if node.op in CALLS else 1
            edges[into, out] = much if node.op == "call" else _KEEPING
        for a in node.args:
            if a.index in early:
                edges[2 * place[a.index] + 1, into if inside else sink] = much
    rows, columns = zip(*edges, strict=True)
    graph = csr_array((list(edges.values()), (rows, columns)), shape=(sink + 1, sink + 1), dtype=np.int32)
    rest = graph - maximum_flow(graph, source, sink).flow
    rest.data = rest.data * (rest.data > 0)
    rest.eliminate_zeros()
    reached = set(breadth_first_order(rest, source, return_predecessors=False).tolist())
    return {index for index, k in place.items() if 2 * k in reached and 2 * k + 1 not in reached}


@dataclass(frozen=True)
class Stretch:
    """Values that are computed together: new ones, and forgotten ones that are computed again, operands first."""

    nodes: tuple[Node, ...]
    new: frozenset[int]

    @property
    def taken(self) -> list[int]:
        """Values of earlier stretches."""
        return sorted({a.index for n in self.nodes for a in n.args if a.args} - {n.index for n in self.nodes})

    @property
    def inputs(self) -> list[int]:
        return sorted({a.index for n in self.nodes for a in n.args if not a.args and a.op != "constant"})


def stretches(stage: LimbedProgram) -> list[Stretch]:
    """The stretches in an order in which each comes as late as those allow that need it: little is kept for long."""
    shares = stage.shares
    nodes = [n for n in stage.program.nodes if n.args]
    turn = {n.index: (shares.phase[n.index], shares.part[n.index]) for n in nodes}
    needs: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for n in nodes:
        needs.setdefault(turn[n.index], set()).update(turn[a.index] for a in n.args if a.args)
    order: dict[tuple[int, int], int] = {}

    def visit(each: tuple[int, int]) -> None:
        for other in sorted(needs[each] - {each}):
            if other not in order:
                visit(other)
        order.setdefault(each, len(order))

    for each in sorted(needs, reverse=True):
        visit(each)
    kept = handed_over(stage)
    found = []
    for each in order:
        wanted = {n.index for n in nodes if turn[n.index] == each}
        new = frozenset(wanted)
        for n in reversed(nodes):
            if n.index in wanted:
                wanted.update(a.index for a in n.args
                              if a.args and not (a.index in kept and order[turn[a.index]] < order[each]))
        found.append(Stretch(tuple(n for n in nodes if n.index in wanted), new))
    return found


def handed_over(stage: LimbedProgram) -> set[int]:
    """The values that are not forgotten: results, and what another part takes over."""
    part = stage.shares.part
    return {*stage.more} | {n.index for n in stage.program.results} | {
        a.index for n in stage.program.nodes for a in n.args if a.args and part[a.index] != part[n.index]}


def slots(parts: Sequence[Stretch], late: Iterable[int]) -> dict[int, int]:
    """The slot of each value, by index, from the stretch that makes it to the last that takes it, or to the end if it
    is `late`. A place is used again once all have taken what was in it."""
    last = {value: number for number, part in enumerate(parts) for value in part.taken}
    last.update(dict.fromkeys(late, len(parts)))
    made = {value: number for number, part in enumerate(parts) for value in part.new}
    free_from: list[int] = []
    found = {}
    for value in sorted(last, key=lambda value: (made.get(value, -1), value)):
        slot = next((k for k, free in enumerate(free_from) if free <= made.get(value, -1)), len(free_from))
        free_from[slot:slot + 1] = [last[value]]
        found[value] = slot
    return found


def computed(nodes: Sequence[Node], kept: Sequence[Node], texts: Mapping[int, CExpression], dialect: Dialect,
             prefix: str,
             helper: str) -> tuple[list[str], dict[int, CExpression]]:
    """The statements of some nodes, and the names of those that are kept."""
    if not kept:
        return [], {}
    graph = Graph(strict=True)
    made: dict[int, Node] = {}
    outside: dict[int, CExpression] = {}

    def operand(node: Node) -> Node:
        if node.index not in made:
            made[node.index] = (graph.constant(node.value) if node.op == "constant"
                                else graph.input(str(node.index)))
            if node.op != "constant":
                outside[made[node.index].index] = texts[node.index]
        return made[node.index]

    for node in nodes:
        made[node.index] = build_unchanged(node, [operand(a) for a in node.args])
    results = tuple(made[n.index] for n in kept)
    body = CStatements(Program("part", (), (Variable("kept", (len(results),), results),)), dialect, outside,
                temporary=prefix, helper=helper)
    for node in results:
        body.keep(node)
    return body.lines, {n.index: body.text(made[n.index]) for n in kept}
