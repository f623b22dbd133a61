"""The body of a loop: the program of one turn.

    state, an entry of each scanned array, constants  ->  next state, what is kept (, whether the loop stops)
"""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.tracing.graph import RULES, Node, is_constant
from cayley.compiler.tracing.program import Program, Variable


def loop_body(state: Sequence[Node], entries: Sequence[Sequence[Node]], constants: Sequence[Node],
              after: Sequence[Node], kept: Sequence[Node], stop: Sequence[Node] = ()) -> Program:
    """The program of a turn, from its inputs and outputs. Scanned arrays of which nothing is left are left out."""
    used = [each for each in entries if each]
    inputs = [("x", state), *[(f"entry{k}", each) for k, each in enumerate(used)], ("constants", constants)]
    outputs = [("after", after), ("kept", kept), *([("stop", stop)] if stop else [])]
    given, found = (tuple(Variable(name, (len(nodes),), tuple(nodes)) for name, nodes in side)
                    for side in (inputs, outputs))
    return Program("turn", given, found)


def condition(stop: Node) -> Node:
    """The truth value of the last output of a turn, which has it as a number."""
    if stop.op == "where" and is_constant(stop.args[1], 1.0) and is_constant(stop.args[2], 0.0):
        return stop.args[0]
    return RULES["not_equal"](stop, stop.graph.constant(0.0))


def guarded(body: Program) -> Program:
    """The body whose next state is the present one where the loop stops; the same body if it cannot stop."""
    if len(body.outputs) == 2:
        return body
    state, *entries, constants = [v.nodes for v in body.inputs]
    after, kept, stop = [v.nodes for v in body.outputs]
    stops = condition(stop[0])
    return loop_body(state, entries, constants,
                     [RULES["where"](stops, old, new) for old, new in zip(state, after, strict=True)], kept, stop)

