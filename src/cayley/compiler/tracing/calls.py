"""A program as one operation of another: written and compiled once, called wherever it is used.

A `call` node holds a `Callee` and has the arguments as operands; a `result` node is one of the values of a call.
Arguments that are zero are structure: the callee without them is a program of its own, made once for all calls that
have the same zeros. The derivative of a call is a call of the differentiated program. What is small, or called once, is
written out where it is used; so is what must be rounded as it was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from itertools import islice
from typing import Any

from cayley.compiler.tracing.exact_values import visible
from cayley.compiler.tracing.graph import Graph, Node, is_constant
from cayley.compiler.tracing.program import Build, Program, Variable, build_again, built, replaced, without_collection

Nodes = list[Node]
SMALLEST_CALLED = 200
"""Operations of a program below which a call of it is not worth the way through memory."""


class Callee:
    """A program that is called. Equal programs are equal callees. That `is_step` of an iteration is called even where
    its last bit is seen."""

    def __init__(self, program: Program, *, is_step: bool = False) -> None:
        self.program = program
        self.is_step = is_step
        self._variants: dict[Any, Any] = {}

    @property
    def key(self) -> str:
        return self.program.key

    turns = 1
    """How often the program is evaluated in a call."""

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Callee, is_step=self.is_step), (self.program,)

    @property
    def sizes(self) -> list[int]:
        """The lengths of the arrays that are the arguments of a call."""
        return [len(v.nodes) for v in self.program.inputs]

    @property
    def count(self) -> int:
        """The number of results of a call."""
        return len(self.program.results)

    @property
    def stored(self) -> int:
        """The number of results in memory."""
        return self.count

    def row(self, place: int) -> int:
        """The place of a result in memory."""
        return place

    def is_opened(self, often: int, seen: bool) -> bool:
        """True if a program that calls it so often is better with it written out, or must be, as its last bit is seen.
        """
        is_seen = seen and not self.is_step
        return often == 1 or is_seen or len(self.program.nodes) - sum(self.sizes) < SMALLEST_CALLED

    def first(self, place: int) -> int:
        """The first result that is the same as this one."""
        node = self.program.results[place]
        return next(k for k, other in enumerate(self.program.results) if other is node)

    def constant_or_argument(self, place: int, graph: Graph, arguments: Sequence[Node]) -> Node | None:
        """A result that is a constant or one of the arguments, and None for the others."""
        node = self.program.results[place]
        if node.op == "constant":
            return graph.constant(node.value)
        inputs = (n for v in self.program.inputs for n in v.nodes)
        return next(a for a, n in zip(arguments, inputs, strict=True) if n is node) if node.op == "input" else None

    def evaluated(self, arguments: Sequence[Any], program: Callable[[Program, Sequence[Any]], list[Any]]) -> list[Any]:
        """The results for arguments of any kind, where `program` evaluates one."""
        return program(self.program, arguments)

    @cached_property
    def simplified(self) -> Program:
        """The program that is evaluated."""
        from cayley.compiler.tracing.simplify import simplify  # which looks for calls itself
        return simplify(self.program)

    def __call__(self, arguments: Sequence[Node]) -> Nodes:
        """The results of a call, as nodes of the graph of its arguments; the callee is the one for their zeros."""
        zeros = tuple(is_constant(a, 0.0) for a in arguments)
        if all(zeros):
            return self.called_with(arguments)
        own = [a for a, is_zero in zip(arguments, zeros, strict=True) if not is_zero]
        return self.without(zeros).called_with(own)

    def called_with(self, arguments: Sequence[Node]) -> Nodes:
        """The results of a call of this very program."""
        call = self.node(arguments)
        return [result(call, k) for k in range(self.count)]

    def node(self, arguments: Sequence[Node]) -> Node:
        """The node of a call. It has no value itself: its results have."""
        return arguments[0].graph.holding("call", self, self.key, *arguments)

    def without(self, zeros: tuple[bool, ...]) -> Callee:
        """The callee for calls in which these arguments are zero: they are no arguments of it."""
        if not any(zeros):
            return self

        def make() -> Program:
            graph = Graph()
            place = iter(range(len(zeros)))
            inputs = []
            arguments: Nodes = []
            for v in self.program.inputs:
                own = [graph.constant(0.0) if zeros[k] else graph.input(f"{v.name}[{k}]")
                       for _, k in zip(v.nodes, place, strict=False)]
                arguments += own
                left = tuple(node for node in own if node.op == "input")
                if left:
                    inputs.append(Variable(v.name, (len(left),), left, v.unit))
            return _with_results(self.program, tuple(inputs), written_out(self.program, arguments, graph))
        return self.variant(zeros, lambda: Callee(make()))

    def tangents(self, arguments: Sequence[Node], columns: Sequence[Sequence[Node]]) -> list[Nodes]:
        """The tangents of all results, for columns of tangents of the arguments."""
        program = self.forward()
        return [program([*arguments, *column]) for column in columns]

    def adjoints(self, arguments: Sequence[Node], wanted: tuple[bool, ...],
                 rows: Sequence[Sequence[Node]]) -> list[Nodes]:
        """The derivatives of weighted sums of the results by the wanted arguments, for rows of weights."""
        program = self.reverse(wanted)
        return [program([*arguments, *row]) for row in rows]

    def forward(self) -> Callee:
        """From arguments and their tangents to the tangents of the results."""
        def make() -> Program:
            from cayley.compiler.derivatives.derivative import forward
            own, arguments, tangents = self._with_more("tangent", self.program.inputs)
            return _with_results(self.program, own, forward(self._on(arguments), arguments, tangents))
        return self.variant("forward", lambda: Callee(make()))

    def reverse(self, wanted: tuple[bool, ...]) -> Callee:
        """From arguments and weights of the results to the derivatives of the weighted sum by the wanted arguments."""
        def make() -> Program:
            from cayley.compiler.derivatives.derivative import reverse
            own, arguments, weights = self._with_more("weight", self.program.outputs)
            chosen = [a for a, is_wanted in zip(arguments, wanted, strict=True) if is_wanted]
            slopes = tuple(reverse(self._on(arguments), chosen, weights))
            return Program(f"{self.program.name}_slopes", own, (Variable("slopes", (len(slopes),), slopes),))
        return self.variant(("reverse", wanted), lambda: Callee(make()))

    def variant(self, what: Any, make: Callable[[], Any]) -> Any:  # noqa: ANN401 (mostly a callee)
        """A variant of this callee, made once for each name."""
        if what not in self._variants:
            with without_collection():
                self._variants[what] = make()
        return self._variants[what]

    def _on(self, arguments: Nodes) -> Nodes:
        return written_out(self.program, arguments, arguments[0].graph)

    def _with_more(self, word: str, more: Iterable[Variable]) -> tuple[tuple[Variable, ...], Nodes, Nodes]:
        """Inputs of a fresh graph for the arguments, and for a vector beside each of `more`."""
        graph = Graph()

        def fresh(v: Variable, name: str) -> Variable:
            return Variable(name, v.shape, tuple(graph.input(f"{name}[{k}]") for k in range(len(v.nodes))), v.unit)
        own = [fresh(v, v.name) for v in self.program.inputs]
        other = [fresh(v, f"{v.name} {word}") for v in more]
        return (*own, *other), [n for v in own for n in v.nodes], [n for v in other for n in v.nodes]


def result(call: Node, place: int) -> Node:
    """One value of a call; what the callee does not compute is found without it."""
    simple = call.value.constant_or_argument(place, call.graph, call.args)
    first = call.value.first(place)
    return call.graph.holding("result", first, str(first), call) if simple is None else simple


def written_out(program: Program, arguments: Sequence[Node], graph: Graph, build: Build = build_again) -> Nodes:
    """The results of the program on nodes of a graph, without a call of it."""
    inputs = (node.index for v in program.inputs for node in v.nodes)
    return built(program.results, dict(zip(inputs, arguments, strict=True)), graph, build)


def expanded(program: Program) -> Program:
    """The program without calls."""
    while any(node.op == "call" for node in program.nodes):
        program = _opened(program, {node.index for node in program.nodes if node.op == "call"})
    return program


def worth_calling(program: Program) -> Program:
    """The program with calls only of what is large and called more than once, and whose last bit is not seen."""
    while True:
        calls = [node for node in program.nodes if node.op == "call"]
        often = Counter(node.value.key for node in calls)
        seen = visible(program) if calls else set()
        opened = {node.index for node in calls if node.value.is_opened(often[node.value.key], node.index in seen)}
        if not opened:
            return program
        program = _opened(program, opened)


def _opened(program: Program, opened: set[int]) -> Program:
    """The program with these calls written out, those within them as they are."""
    graph = Graph(strict=program.is_strict)
    made: dict[int, Node] = {}
    inner: dict[int, Nodes] = {}
    with without_collection():
        for k, node in enumerate(program.nodes):
            operands = [made[a.index] for a in node.args if a.index in made]
            if node.op == "input":
                made[node.index] = graph.input(f"#{k}")
            elif node.op == "constant":
                made[node.index] = graph.constant(node.value)
            elif node.index in opened:
                inner[node.index] = written_out(node.value.program, operands, graph)
            elif node.op == "result" and node.args[0].index in opened:
                made[node.index] = inner[node.args[0].index][node.value]
            else:
                made[node.index] = build_again(node, operands)
    return replaced(program, lambda node: made[node.index])


def callees(program: Program) -> dict[str, Callee]:
    """All programs that are called, by key, each after those that it calls itself."""
    found: dict[str, Callee] = {}
    for node in program.nodes:
        if node.op == "call" and node.value.key not in found:
            found.update(callees(node.value.simplified))
            found[node.value.key] = node.value
    return found


def groups(call: Node) -> list[tuple[Node, ...]]:
    """The arguments of a call, one group for each array that the callee takes."""
    operands = iter(call.args)
    return [tuple(islice(operands, size)) for size in call.value.sizes]


def _with_results(program: Program, inputs: tuple[Variable, ...], results: Sequence[Node]) -> Program:
    """A program with outputs like those of another."""
    place = iter(results)
    outputs = tuple(Variable(v.name, v.shape, tuple(node for _, node in zip(v.nodes, place, strict=False)), v.unit)
                    for v in program.outputs)
    return Program(program.name, inputs, outputs, program.description)
