"""A program in two: what depends on some of the inputs alone, to be computed once for each of their values, and the
rest.
"""

from __future__ import annotations

from collections.abc import Container

from cayley.compiler.operations import BOOLEAN
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.implied_values import plain
from cayley.compiler.tracing.program import Program, Variable, build_again

PREPARED = "prepared"


def hoisted(program: Program, names: Container[str]) -> tuple[Program, Program]:
    """The program that prepares values (k) from the inputs of these names, and the one that takes these values, first,
    and the other inputs. Loops keep what comes first and is the same for all states.
    """
    program = plain(program)
    early = _early(program, names)
    crossing = _crossing(program, early)
    first = Program(f"{program.name}_preparation", tuple(v for v in program.inputs if v.name in names),
                    (Variable(PREPARED, (len(crossing),), tuple(crossing)),),
                    f"What {program.name} needs of its parameters.")
    return first, _rest(program, names, crossing)


def _early(program: Program, names: Container[str]) -> set[int]:
    """The nodes that depend on the named inputs, and on no other. A truth value is no number, and is not handed on."""
    early = {node.index for v in program.inputs if v.name in names for node in v.nodes}
    for node in program.nodes:
        inside = [a.index in early for a in node.args]
        if any(inside) and node.op not in BOOLEAN and all(
                own or a.op == "constant" for a, own in zip(node.args, inside, strict=True)):
            early.add(node.index)
    return early


def _crossing(program: Program, early: set[int]) -> list[Node]:
    """What the rest uses of them."""
    late = [node for node in program.nodes if node.index not in early]
    used = [a for node in late for a in node.args] + program.results
    return list({a.index: a for a in used if a.index in early}.values())


def _rest(program: Program, names: Container[str], crossing: list[Node]) -> Program:
    graph = Graph(strict=program.is_strict)
    inputs = [v for v in program.inputs if v.name not in names]
    made: dict[int, Node] = {
        node.index: graph.input(f"{v.name}[{k}]") for v in inputs for k, node in enumerate(v.nodes)}
    prepared = tuple(graph.input(f"{PREPARED}[{k}]") for k in range(len(crossing)))
    made.update((node.index, new) for node, new in zip(crossing, prepared, strict=True))
    reached = _reached(program, made)
    for node in program.nodes:
        if node.index in reached and node.index not in made:
            made[node.index] = graph.constant(node.value) if node.op == "constant" else build_again(
                node, [made[a.index] for a in node.args])
    taken = tuple(Variable(v.name, v.shape, tuple(made[n.index] for n in v.nodes), v.unit) for v in inputs)
    given = tuple(Variable(v.name, v.shape, tuple(made[n.index] for n in v.nodes), v.unit) for v in program.outputs)
    return Program(program.name, (Variable(PREPARED, (len(crossing),), prepared), *taken), given, program.description,
                   program.kind)


def _reached(program: Program, known: Container[int]) -> set[int]:
    """What is still to be computed, and its constants."""
    pending = list(program.results)
    reached: set[int] = set()
    while pending:
        node = pending.pop()
        if node.index not in reached and node.index not in known:
            reached.add(node.index)
            pending.extend(node.args)
    return reached
