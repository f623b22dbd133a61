"""The derivatives of a loop are loops.

Forward, the tangents are more of the state. Backward, a first loop keeps the state before each turn, and a second one
goes back along these states. A loop of many turns is made a loop of loops first, so that few states are kept at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from math import isqrt

from cayley.compiler.derivatives.derivative import forward, reverse
from cayley.compiler.tracing.calls import Callee
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.implied_values import build_marked
from cayley.compiler.tracing.loop import ARGUMENT, COMPUTED, Nodes, ProgramLoop, part
from cayley.compiler.tracing.loop_body import guarded, loop_body
from cayley.compiler.tracing.program import Program, Variable, rebuild

MOST_KEPT = 4096
"""Numbers in all states that are kept, above which a loop is made a loop of loops."""


def tangents(loop: ProgramLoop, arguments: Sequence[Node], columns: Sequence[Sequence[Node]]) -> list[Nodes]:
    """The tangents of the results for each column of tangents of the arguments, all by one loop."""
    count = len(columns)
    state, scanned, constants = loop.split(arguments)
    moved = [loop.split(column) for column in columns]
    found = loop.variant(("forward", count), lambda: _forward(loop, count))([
        *state, *chain(*(each[0] for each in moved)), *chain(*scanned), *chain(*(a for each in moved for a in each[1])),
        *constants, *chain(*(each[2] for each in moved))])
    size = len(state)
    ends, kept = found[size:size + count * size], found[size + count * size:]
    zero = arguments[0].graph.constant(0.0)
    return [loop.results([*part(ends, c, size),
                          *chain(*(part(kept, turn * count + c, loop.kept) for turn in range(loop.turns)))],
                         column, lambda _: zero) for c, column in enumerate(columns)]


def _forward(loop: ProgramLoop, count: int) -> ProgramLoop:
    """The loop that has so many tangents of the state beside it, and keeps the tangents of what was kept."""
    own = rebuild(loop.body, build_marked)
    state, *entries, constants = [v.nodes for v in own.inputs]
    after, kept, *stop = [v.nodes for v in own.outputs]
    variables = [*state, *chain(*entries), *constants]
    moved = [[[own.graph.input(f"d{c} {v.name}[{k}]") for k in range(len(v.nodes))] for v in own.inputs]
             for c in range(count)]
    found = [forward([*after, *kept], variables, [*chain(*each)]) for each in moved]
    body = loop_body([*state, *chain(*(each[0] for each in moved))],
                     [*entries, *chain(*(each[1:-1] for each in moved))],
                     [*constants, *chain(*(each[-1] for each in moved))],
                     [*after, *chain(*(each[:len(state)] for each in found))],
                     [*chain(*(each[len(state):] for each in found))], *stop)
    return ProgramLoop(body, loop.turns, backwards=loop.backwards)


def adjoints(loop: ProgramLoop, arguments: Sequence[Node], wanted: tuple[bool, ...],
             rows: Sequence[Sequence[Node]]) -> list[Nodes]:
    """The derivatives of weighted sums of the results by the wanted arguments, for rows of weights, all by one loop
    that goes back along the states that another has kept."""
    if loop.turns * len(loop.state) > MOST_KEPT and loop.turns > 3:
        return loop.variant("nested", lambda: _nested(loop)).adjoints(arguments, wanted, rows)
    zero = arguments[0].graph.constant(0.0)
    weights = [_weights(loop, row, len(arguments), zero) for row in rows]
    _, scanned, is_wanted = loop.split(wanted)
    columns = tuple(tuple(any(each[k::len(v.nodes)]) for k in range(len(v.nodes)))
                    for v, each in zip(loop.scanned, scanned, strict=True))
    found = iter(_backward(loop, arguments, weights, columns, tuple(is_wanted)))
    by_start = [_next(found, len(loop.state)) for _ in rows]
    by_constants = [_next(found, sum(is_wanted)) for _ in rows]
    by_entries = [[_next(found, sum(map(sum, columns))) for _ in rows] for _ in range(loop.turns)]
    results = []
    for r, (_, _, direct) in enumerate(weights):
        turns = [iter(turn[r]) for turn in by_entries]
        constants = iter(by_constants[r])
        slopes = [*by_start[r],
                  *[next(turn) if asked else zero for column in columns for turn in turns for asked in column],
                  *[next(constants) if asked else zero for asked in is_wanted]]
        results.append([a + b for a, b, asked in zip(slopes, direct, wanted, strict=True) if asked])
    return results


def _next(nodes: Iterator[Node], count: int) -> Nodes:
    return list(islice(nodes, count))


def _weights(loop: ProgramLoop, row: Sequence[Node], count: int, zero: Node) -> tuple[Nodes, Nodes, Nodes]:
    """The weights of the state at the end, of what is kept, and of those arguments that are results themselves."""
    computed, arguments = [zero] * loop.stored, [zero] * count
    for place, weight in enumerate(row):
        kind, value = loop.source(place)
        if kind == COMPUTED:
            computed[value] = computed[value] + weight
        elif kind == ARGUMENT:
            arguments[value] = arguments[value] + weight
    return computed[:len(loop.state)], computed[len(loop.state):], arguments


def _backward(loop: ProgramLoop, arguments: Sequence[Node], weights: Sequence[tuple[Nodes, Nodes, Nodes]],
              columns: tuple[tuple[bool, ...], ...], constants: tuple[bool, ...]) -> Nodes:
    """The results of the loop that goes back: for each row of weights the derivatives by the state at the start, for
    each row those by the constants, and for each turn and row those by the entries."""
    state, scanned, fixed = loop.split(arguments)
    states = loop.variant("keeping", lambda: _keeping(loop))(arguments)[len(state):]
    back = loop.variant(("back", len(weights), columns, constants), lambda: _back(loop, len(weights), columns,
                                                                                 constants))
    zero = arguments[0].graph.constant(0.0)
    return back([*chain(*(ends for ends, _, _ in weights)), *[zero] * (sum(constants) * len(weights)), *states,
                 *chain(*scanned), *chain(*(kept for _, kept, _ in weights)), *fixed])


def _keeping(loop: ProgramLoop) -> ProgramLoop:
    """The loop that keeps the state before each turn."""
    own = guarded(rebuild(loop.body, build_marked))
    state, *entries, constants = [v.nodes for v in own.inputs]
    body = loop_body(state, entries, constants, own.outputs[0].nodes, state)
    return ProgramLoop(body, loop.turns, backwards=loop.backwards)


def _back(loop: ProgramLoop, count: int, columns: Sequence[Sequence[bool]], asked: Sequence[bool]) -> ProgramLoop:
    """The loop that goes back. Its state is, for so many rows, the weights of the state, then the derivatives by
    constants so far; it scans the states, the entries, and the weights of what was kept."""
    own = guarded(rebuild(loop.body, build_marked))
    state, *entries, constants = [v.nodes for v in own.inputs]
    results = [*own.outputs[0].nodes, *own.outputs[1].nodes]
    by_entries = [node for nodes, column in zip(entries, columns, strict=True)
                  for node, is_asked in zip(nodes, column, strict=True) if is_asked]
    by_constants = [node for node, is_asked in zip(constants, asked, strict=True) if is_asked]
    weights, sums = ([[own.graph.input(f"{name}{r}[{k}]") for k in range(size)] for r in range(count)]
                     for name, size in (("weight", len(results)), ("sum", len(by_constants))))
    found = [reverse(results, [*state, *by_entries, *by_constants], each) for each in weights]
    start, end = len(state), len(state) + len(by_entries)
    body = loop_body([*chain(*(each[:start] for each in weights)), *chain(*sums)],
                     [state, *entries, *[each[start:] for each in weights]], constants,
                     [*chain(*(each[:start] for each in found)),
                      *[a + b for a, b in zip(chain(*sums), chain(*(each[end:] for each in found)), strict=True)]],
                     [*chain(*(each[start:end] for each in found))])
    return ProgramLoop(body, loop.turns, backwards=not loop.backwards)


def _nested(loop: ProgramLoop) -> Callee:
    """The same results by a loop of n loops of about n turns, and a loop of the turns that are left over."""
    length = isqrt(loop.turns)
    nested = loop.turns // length * length
    turns = range(nested), range(nested, loop.turns)
    if loop.backwards:
        turns = range(loop.turns - nested, loop.turns), range(loop.turns - nested)
    graph = Graph()
    given = [graph.input(f"argument[{k}]") for k in range(sum(loop.sizes))]
    state, scanned, constants = loop.split(given)
    kept: dict[int, Nodes] = {}
    for made, each in zip((_loop_of_loops(loop, length), _shorter(loop, len(turns[1]))), turns, strict=True):
        if each:
            entries = [array[each.start * len(v.nodes):each.stop * len(v.nodes)]
                       for v, array in zip(loop.scanned, scanned, strict=True)]
            found = made([*state, *chain(*entries), *constants])
            state = found[:len(state)]
            kept |= {turn: part(found[len(state):], k, loop.kept) for k, turn in enumerate(each)}
    results = loop.results([*state, *chain(*(kept[turn] for turn in range(loop.turns)))], given, graph.constant)
    return Callee(Program("loop", (Variable("arguments", (len(given),), tuple(given)),),
                          (Variable("results", (len(results),), tuple(results)),)))


def _loop_of_loops(loop: ProgramLoop, length: int) -> ProgramLoop:
    """The loop whose turn is a loop of so many turns."""
    graph = Graph()
    often = [1, *[length for _ in loop.scanned], 1]
    state, *entries, constants = [[graph.input(f"{v.name} {k}") for k in range(turns * len(v.nodes))]
                                  for v, turns in zip(loop.body.inputs, often, strict=True)]
    results = _shorter(loop, length)([*state, *chain(*entries), *constants])
    return ProgramLoop(loop_body(state, entries, constants, results[:len(state)], results[len(state):]),
                loop.turns // length, backwards=loop.backwards)


def _shorter(loop: ProgramLoop, turns: int) -> ProgramLoop:
    """The loop of so many turns, with all results of its body."""
    return ProgramLoop(loop.body, turns, backwards=loop.backwards)
