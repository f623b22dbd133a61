"""A loop of many turns as a loop of loops, of which each keeps few states on the way back."""

from __future__ import annotations

from itertools import chain
from math import isqrt

from cayley.compiler.tracing.calls import Callee
from cayley.compiler.tracing.graph import Graph
from cayley.compiler.tracing.loop import Loop, Nodes, part
from cayley.compiler.tracing.loop_body import loop_body
from cayley.compiler.tracing.program import Program, Variable


def nested_loops(loop: Loop) -> Callee:
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


def _loop_of_loops(loop: Loop, length: int) -> Loop:
    """The loop whose turn is a loop of so many turns."""
    graph = Graph()
    often = [1, *[length for _ in loop.scanned], 1]
    state, *entries, constants = [[graph.input(f"{v.name} {k}") for k in range(turns * len(v.nodes))]
                                  for v, turns in zip(loop.body.inputs, often, strict=True)]
    results = _shorter(loop, length)([*state, *chain(*entries), *constants])
    return Loop(loop_body(state, entries, constants, results[:len(state)], results[len(state):]),
                loop.turns // length, backwards=loop.backwards)


def _shorter(loop: Loop, turns: int) -> Loop:
    """The loop of so many turns, with all results of its body."""
    return Loop(loop.body, turns, backwards=loop.backwards)
