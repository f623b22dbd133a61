"""The body of a loop: the program of one turn.

    state, an entry of each scanned array, constants  ->  next state, what is kept (, whether the loop stops)
"""

from __future__ import annotations

from collections.abc import Sequence

from cayley.compiler.tracing.graph import RULES, Node, ancestors, is_constant
from cayley.compiler.tracing.program import Program, Variable

_SHARE = 0.5
_FEWEST = 60
"""Of a turn: the share of its operations that may decide whether it is idle, and how many it has for that to pay."""


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


def idle(body: Program) -> Program | None:
    """The body with a third output, whether the next state is the present one, if it selects all of it by one
    condition, which takes much less than the rest of a turn; a body that keeps nothing, and does not stop."""
    state, after, kept = body.inputs[0].nodes, body.outputs[0].nodes, body.outputs[1].nodes
    moving = [(old, new) for old, new in zip(state, after, strict=True) if new is not old]
    chosen = [_standing(old, new) for old, new in moving]
    if kept or not chosen or chosen[0] is None:
        return None
    condition, stands = chosen[0]
    if any(each is None or each[0] is not condition or each[1] != stands for each in chosen):
        return None
    if len(ancestors([condition])) > _SHARE * len(body.nodes) or len(body.nodes) < _FEWEST:
        return None
    *entries, constants = [v.nodes for v in body.inputs[1:]]
    number = condition.graph.constant
    return loop_body(state, entries, constants, after, kept,
                     [RULES["where"](condition, number(float(stands)), number(float(not stands)))])


def _standing(old: Node, new: Node) -> tuple[Node, bool] | None:
    """The condition that selects the present value as the next, and whether it does where it holds."""
    is_one = [arg is old for arg in new.args[1:]]
    return (new.args[0], is_one[0]) if new.op == "where" and any(is_one) else None
