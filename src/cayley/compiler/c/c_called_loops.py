"""A loop that a program calls, as a function in C, CUDA and JavaScript: the state is in local variables.

A turn first computes whether the loop stops, and then leaves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cayley.compiler.c.c_expressions import WHOLE, CExpression, CStatements, Dialect, function_name
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.tracing.graph import Graph, Node, ancestors
from cayley.compiler.tracing.loop import ProgramLoop
from cayley.compiler.tracing.loop_body import condition
from cayley.compiler.tracing.program import Program, Variable, build_unchanged, built

_NEXT = "entry"


def loop_function(dialect: Dialect, loop: ProgramLoop, prefix: str) -> str:
    """The definition: it takes a pointer for each array, and one for all results."""
    turn = in_precision(loop.simplified, "float" if dialect.real == "float" else "double")
    arrays = [f"in{k}" for k in range(len(loop.sizes))]
    names = iter(arrays)
    texts: dict[int, CExpression] = {}
    x, *scanned, constants = [v.nodes for v in turn.inputs]
    start = next(names) if x else ""
    state = [f"x{k}" for k in range(len(x))]
    texts |= {node.index: CExpression(name, WHOLE, reads=True) for node, name in zip(x, state, strict=True)}
    for nodes in scanned:
        array = next(names)
        texts |= {node.index: CExpression(f"{array}[{_NEXT}*{len(nodes)} + {k}]", WHOLE)
                  for k, node in enumerate(nodes)}
    texts |= {node.index: CExpression(f"{arrays[-1]}[{k}]", WHOLE) for k, node in enumerate(constants)}
    inside = _turn(dialect, turn, loop, state, texts, prefix)
    entry = f"{loop.turns - 1} - turn" if loop.backwards else "turn"
    if any(_NEXT in line for line in inside):
        inside = [dialect.whole(_NEXT, entry), *inside]
    used = {n.index for n in ancestors(turn.results)}
    idle = [array for array, nodes in zip(arrays, [v.nodes for v in turn.inputs if v.nodes], strict=True)
            if array != start and not any(n.index in used for n in nodes)]
    lines = [*dialect.unused(idle), *[dialect.variable(name, f"{start}[{k}]") for k, name in enumerate(state)],
             *dialect.loop("turn", str(loop.turns), inside)]
    stores = [f"out[{k}] = {name};" for k, name in enumerate(state)]
    return dialect.with_results(function_name(prefix, loop.key), arrays, [*lines, *stores], looped=True)


def _turn(dialect: Dialect, turn: Program, loop: ProgramLoop, state: Sequence[str], texts: Mapping[int, CExpression],
          prefix: str) -> list[str]:
    after, kept = (v.nodes for v in turn.outputs[:2])
    lines: list[str] = []
    if loop.stops:
        stop = condition(turn.outputs[2].nodes[0])
        early = {n.index: n for n in ancestors([stop])}
        shared = _shared([*after, *kept], early)
        asked = _Statements(dialect, [stop, *shared], texts, "a", prefix)
        for node in asked.of[1:]:
            asked.body.keep(node)
        texts = {**texts, **{old.index: asked.body.text(new) for old, new in zip(shared, asked.of[1:], strict=True)}}
        lines = [*asked.body.lines, *dialect.stop(asked.body.text(asked.of[0]).code)]
    made = _Statements(dialect, [*after, *kept], texts, "t", prefix)
    for node in made.of:
        made.body.keep(node)
    values = [made.body.text(node).code for node in made.of]
    start = f"{len(after)} + {_NEXT}*{len(kept)}"
    stores = [f"out[{start} + {k}] = {value};" for k, value in enumerate(values[len(after):])]
    changes = [dialect.change(name, value, may_stop=loop.stops) for name, value in zip(state, values, strict=False)]
    return [*lines, *made.body.lines, *stores, *changes]


def _shared(results: Sequence[Node], early: Mapping[int, Node]) -> list[Node]:
    """Values that are computed for the stop and used for results."""
    late = [n for n in ancestors(results) if n.index not in early]
    wanted = {a.index: a for n in late for a in n.args} | {r.index: r for r in results}
    return [n for k, n in sorted(wanted.items()) if k in early and n.args and n.op != "call"]


class _Statements:
    """The statements that compute nodes from those that have texts; `of` are the nodes in a graph of their own."""

    def __init__(self, dialect: Dialect, nodes: Sequence[Node], texts: Mapping[int, CExpression], temporary: str,
                 prefix: str) -> None:
        graph = Graph(strict=True)
        leaves = {n.index: graph.input(str(n.index)) for n in ancestors(nodes) if n.index in texts}
        self.of = built(nodes, leaves, graph, build_unchanged)
        program = Program("part", (), (Variable("results", (len(nodes),), tuple(self.of)),))
        self.body = CStatements(program, dialect, {leaf.index: texts[k] for k, leaf in leaves.items()},
                                temporary=temporary, helper=prefix)
