"""A program limb by limb: the stretches that one thread computes in turn.

A stretch is what a part of a program (see `shares`) does in one phase. Between stretches only that is kept which one
part hands to another; what a part needs of its own earlier phases it makes once more from its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cayley.compiler.c.c_expressions import CExpression, CStatements, Dialect
from cayley.compiler.c.c_loops import computing, needed
from cayley.compiler.cuda.thread_shares import FINE, Grain, Shares, shared
from cayley.compiler.iteration import Plan
from cayley.compiler.operations import CALLS
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.program import Program, Variable


@dataclass(frozen=True, eq=False)
class LimbedProgram:
    """The whole program of a stage, what of it is needed, and which part does what of that."""

    whole: Program
    program: Program
    elements: tuple[tuple[int, int], ...]  # of outputs: place, element
    shares: Shares

    @staticmethod
    def of(program: Program, plan: Plan, grain: Grain = FINE) -> LimbedProgram | None:
        """If there are parts, and all trajectories take the same turns."""
        if plan.repeats is not None or any(node.op in CALLS for node in program.nodes):
            return None
        found = needed(program, plan)
        elements = tuple(sorted(found))
        wanted = computing(program, found)
        at = {element: k for k, element in enumerate(elements)}
        states = {node.index: at[after, k] for after, before in plan.feeds
                  for k, node in enumerate(program.inputs[before].nodes) if (after, k) in at}
        shares = shared(wanted.nodes, wanted.results, states, grain)
        return LimbedProgram(program, wanted, elements, shares) if shares.parts > 1 else None


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
    return {n.index for n in stage.program.results} | {
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
        made[node.index] = graph.node(node.op, *[operand(a) for a in node.args])
    results = tuple(made[n.index] for n in kept)
    body = CStatements(Program("part", (), (Variable("kept", (len(results),), results),)), dialect, outside,
                temporary=prefix, helper=helper)
    for node in results:
        body.keep(node)
    return body.lines, {n.index: body.text(made[n.index]) for n in kept}
