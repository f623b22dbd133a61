"""A traced function: named inputs, named outputs, and the graph between them."""

from __future__ import annotations

import gc
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler import rules  # noqa: F401  (fills the table of rules)
from cayley.compiler.operations import BOOLEAN, CALLS, OPERATIONS
from cayley.compiler.tracing.graph import RULES, Graph, Node, ancestors, rule_of
from cayley.compiler.typing import Array, Scalar

if TYPE_CHECKING:
    from cayley.compiler.tracing.calls import Callee


@dataclass(frozen=True)
class Variable:
    """A named array of nodes, flattened in C order."""

    name: str
    shape: tuple[int, ...]
    nodes: tuple[Node, ...]
    unit: str = ""

    @property
    def array(self) -> Array:
        array = np.empty(len(self.nodes), dtype=object)
        array[:] = self.nodes
        return array.reshape(self.shape)


@dataclass(frozen=True)
class Program:
    """A straight-line function. Its `nodes` are all it computes, operands before results."""

    name: str
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    description: str = ""
    kind: Any = None  # the class of named tuples that the function returns

    @cached_property
    def nodes(self) -> list[Node]:
        """Inputs first, even unused ones, then everything that the outputs need."""
        inputs = [node for variable in self.inputs for node in variable.nodes]
        known = {node.index for node in inputs}
        return inputs + [node for node in ancestors(self.results) if node.index not in known]

    @property
    def results(self) -> list[Node]:
        return [node for variable in self.outputs for node in variable.nodes]

    @property
    def graph(self) -> Graph:
        return next(node.graph for variable in self.inputs + self.outputs for node in variable.nodes)

    @property
    def is_strict(self) -> bool:
        """True if every operation is to be rounded as it was written."""
        return any(node.graph.strict for variable in self.inputs + self.outputs for node in variable.nodes[:1])

    def input(self, name: str) -> Variable:
        return next(variable for variable in self.inputs if variable.name == name)

    def uses(self) -> dict[int, int]:
        """The number of times that each node is an operand or an output, by index."""
        count = dict.fromkeys((node.index for node in self.nodes), 0)
        for node in self.nodes:
            for operand in node.args:
                count[operand.index] += 1
        for node in self.results:
            count[node.index] += 1
        return count

    @cached_property
    def key(self) -> str:
        """A fingerprint of what is computed; names and descriptions do not enter it."""
        from cayley.compiler.tracing.composed import definitions  # which traces, and so builds upon this module
        with without_collection():
            strict, operations, shapes, _ = self._flat()
        own = definitions({node.op for node in self.nodes})
        return hashlib.sha256(json.dumps([strict, operations, shapes, *own]).encode()).hexdigest()

    def _flat(self) -> tuple[bool, list[Any], list[Any], list[Any]]:
        position = {node.index: k for k, node in enumerate(self.nodes)}
        operations = [[node.op, node.value.hex()] if node.op == "constant" else
                      [node.op] if node.op == "input" else
                      [node.op, node.value if node.op == "result" else node.value.key,
                       *[position[a.index] for a in node.args]] if node.op in CALLS else
                      [node.op, *[position[a.index] for a in node.args]] for node in self.nodes]
        shapes = [[[v.shape, [position[n.index] for n in v.nodes]] for v in side]
                  for side in (self.inputs, self.outputs)]
        names = [
            self.name, self.description, *[[[v.name, v.unit] for v in side] for side in (self.inputs, self.outputs)]]
        return self.is_strict, operations, shapes, names

    def __reduce__(self) -> Scalar:
        kind = self.kind and found(self.kind.__module__, self.kind.__qualname__)
        called = {node.value.key: node.value for node in self.nodes if node.op == "call"}
        remade = [OPERATIONS[op].remade for op in sorted({node.op for node in self.nodes}) if OPERATIONS[op].remade]
        return _restore, (*self._flat(), kind if kind is self.kind else None, called, remade)


def found(module: str, qualified_name: str) -> object:
    """The object of this name in a module, if there is one."""
    place: Any = sys.modules.get(module)
    for part in qualified_name.split("."):
        place = getattr(place, part, None)
    return place


def _restore(strict: bool, operations: list[Any], shapes: list[Any], names: list[Any], kind: type[Any] | None = None,
             called: Mapping[str, Callee | Program] | None = None,
             remade: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]] = ()) -> Program:
    from cayley.compiler.tracing.calls import Callee
    for make, arguments in remade:
        make(*arguments)
    callees = {key: Callee(each) if isinstance(each, Program) else each for key, each in (called or {}).items()}
    graph = Graph(strict=strict)
    nodes = []
    for k, (op, *operands) in enumerate(operations):
        if op == "constant":
            nodes.append(graph.constant(float.fromhex(operands[0])))
        elif op == "input":
            nodes.append(graph.input(f"#{k}"))
        elif op in CALLS:
            held, *places = operands
            value = callees[held] if op == "call" else held
            nodes.append(graph.holding(op, value, str(held), *[nodes[i] for i in places]))
        else:
            nodes.append(graph.node(op, *[nodes[i] for i in operands]))
    name, description, *sides = names
    inputs, outputs = (tuple(Variable(n, tuple(shape), tuple(nodes[i] for i in places), unit)
                             for (shape, places), (n, unit) in zip(places_of, names_of, strict=True))
                       for places_of, names_of in zip(shapes, sides, strict=True))
    return Program(name, inputs, outputs, description, kind)


Build = Callable[[Node, list[Node]], Node]


def build_again(node: Node, operands: Sequence[Node]) -> Node:
    """`node` on new operands, in simplest form."""
    if node.op in CALLS:
        return called_again(node, operands)
    return rule_of(node.op)(*operands)


def called_again(node: Node, operands: Sequence[Node]) -> Node:
    """A call with other arguments, or the same result of another call."""
    from cayley.compiler.tracing.calls import result  # which builds programs
    return node.value.node(operands) if node.op == "call" else result(operands[0], node.value)


def rebuild(program: Program, build: Build = build_again, *, graph: Graph | None = None) -> Program:
    """The program made anew in a fresh graph, each operation by `build`."""
    with without_collection():
        return _rebuilt(program, build, graph or Graph(strict=program.is_strict))


@contextmanager
def without_collection() -> Iterator[None]:
    """Building a large graph makes no garbage, but Python's collector would look through all of it again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _rebuilt(program: Program, build: Build, graph: Graph) -> Program:
    names = iter([f"{v.name}{list(i) if v.shape else ''}" for v in program.inputs for i in np.ndindex(v.shape)])
    made = {node.index: graph.input(next(names)) for v in program.inputs for node in v.nodes}
    made |= zip((node.index for node in program.results), built(program.results, made, graph, build), strict=True)
    return replaced(program, lambda node: made[node.index])


def replaced(program: Program, new: Callable[[Node], Node]) -> Program:
    inputs, outputs = (tuple(replace(v, nodes=tuple(new(n) for n in v.nodes)) for v in side)
                       for side in (program.inputs, program.outputs))
    return replace(program, inputs=inputs, outputs=outputs)


def built(results: Sequence[Node], made: Mapping[int, Node], graph: Graph, build: Build = build_again) -> list[Node]:
    """The results in another graph. `made` has the nodes that are there, by the indices of those that they stand for.
    """
    found = dict(made)
    for node in ancestors(results, found):
        found[node.index] = graph.constant(node.value) if node.op == "constant" else build(
            node, [found[a.index] for a in node.args])
    return [found[node.index] for node in results]


def build_unchanged(node: Node, operands: Sequence[Node]) -> Node:
    """`node` on new operands, as it is."""
    if node.op not in CALLS:
        return operands[0].graph.node(node.op, *operands)
    word = node.value.key if node.op == "call" else str(node.value)
    return operands[0].graph.holding(node.op, node.value, word, *operands)


def variable(name: str, value: Scalar, graph: Graph, unit: str = "") -> Variable:
    """An array of nodes and numbers as a variable of `graph`; truth values become 1 and 0."""
    array = np.asarray(value, dtype=object)
    nodes = [graph.lift(x) for x in array.ravel()]
    one = graph.constant(1.0)
    zero = graph.constant(0.0)
    return Variable(name, array.shape, tuple(RULES["where"](n, one, zero) if n.op in BOOLEAN else n for n in nodes),
                    unit)
