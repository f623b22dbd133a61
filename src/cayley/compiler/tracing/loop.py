"""A loop as one operation of a program: a call whose program, its body, is computed turn after turn.

    for turn in 0, 1, ... (or from the last one back)
        state, kept[turn], stop = body(state, entries[turn], constants)

The arguments of the call are the state at the start, the scanned arrays with the entries of all turns, and constants.
Its results are the state at the end, and what each turn kept. A loop that `stops` ends when `stop` is not zero in any
lane; a lane in which it is not zero stands still until then.

Arguments that are numbers become part of the loop when it is called (`loop_folding`). The derivatives of a loop are
loops (`loop_derivatives`)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import accumulate, chain, pairwise
from typing import Any

from cayley.compiler.tracing.calls import Callee, written_out
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.loop_body import guarded
from cayley.compiler.tracing.program import Program, Variable, without_collection

Nodes = list[Node]
FEWEST_TURNS = 3
SMALLEST_LOOP = 450
"""Operations of all turns together below which a loop is written out."""
COMPUTED, NUMBER, ARGUMENT = "row", "number", "argument"
Source = tuple[str, Any]
"""From where a result is taken: the results that are computed, by place; a number; or an argument, by place."""


class ProgramLoop(Callee):
    """A body, and how often it is computed. The inputs of the `body` are the state, an entry of each scanned array, and
    constants; its outputs are the next state, what is kept, and, if the loop `stops`, whether it does.

    The loop computes the state at the end, then what the body keeps in each turn. `end_sources` and `kept_sources` say
    from where the results that callers know are taken: by default, all from what is computed."""

    def __init__(self, body: Program, turns: int, *, backwards: bool = False,
                 end_sources: Sequence[Source] | None = None, kept_sources: Sequence[Source] | None = None) -> None:
        self.body = body
        self.turns = turns
        self.stops = len(body.outputs) == 3
        self.backwards = backwards
        self.end_sources, self.kept_sources = (
            tuple((COMPUTED, k) for k in range(len(v.nodes))) if sources is None else tuple(sources)
            for v, sources in zip(body.outputs, (end_sources, kept_sources), strict=False))
        self._variants: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(ProgramLoop, backwards=self.backwards, end_sources=self.end_sources,
                       kept_sources=self.kept_sources), (self.body, self.turns)

    @cached_property
    def key(self) -> str:
        identity = [self.turns, self.stops, self.backwards, self.end_sources, self.kept_sources, self.body.key]
        return hashlib.sha256(repr(identity).encode()).hexdigest()

    @property
    def state(self) -> tuple[Node, ...]:
        return self.body.inputs[0].nodes

    @property
    def scanned(self) -> tuple[Variable, ...]:
        """An entry of each scanned array."""
        return self.body.inputs[1:-1]

    @property
    def kept(self) -> int:
        """The count of numbers that the body keeps in each turn."""
        return len(self.body.outputs[1].nodes)

    @property
    def order(self) -> Iterator[int]:
        """The turns by their place in the arrays, in the order of time."""
        return reversed(range(self.turns)) if self.backwards else iter(range(self.turns))

    @property
    def sizes(self) -> list[int]:
        return [size for size in self._sizes if size]

    @property
    def _sizes(self) -> list[int]:
        state, *scanned, constants = [len(v.nodes) for v in self.body.inputs]
        return [state, *[self.turns * size for size in scanned], constants]

    def split(self, arguments: Sequence[Any]) -> tuple[list[Any], list[list[Any]], list[Any]]:
        """The arguments of a call as the state, the scanned arrays, and the constants."""
        state, *scanned, constants = [list(arguments[a:b]) for a, b in pairwise(accumulate(self._sizes, initial=0))]
        return state, scanned, constants

    @property
    def stored(self) -> int:
        return len(self.state) + self.turns * self.kept

    @property
    def count(self) -> int:
        return len(self.end_sources) + self.turns * len(self.kept_sources)

    def source(self, place: int) -> Source:
        """From where the result at this place is taken."""
        if place < len(self.end_sources):
            return self.end_sources[place]
        turn, column = divmod(place - len(self.end_sources), len(self.kept_sources))
        kind, value = self.kept_sources[column]
        return kind, len(self.state) + turn * self.kept + value if kind == COMPUTED else value

    def results(self, computed: Sequence[Any], arguments: Sequence[Any],
                number: Callable[[float], Any] = lambda number: number) -> list[Any]:
        """All results, each taken from its source."""
        return [computed[value] if kind == COMPUTED else arguments[value] if kind == ARGUMENT else number(value)
                for kind, value in map(self.source, range(self.count))]

    def row(self, place: int) -> int:
        return self.source(place)[1]

    def first(self, place: int) -> int:
        turn, column = divmod(place - len(self.end_sources), len(self.kept_sources) or 1)
        return place if turn < 0 else place - column + self.kept_sources.index(self.kept_sources[column])

    def constant_or_argument(self, place: int, graph: Graph, arguments: Sequence[Node]) -> Node | None:
        kind, value = self.source(place)
        if kind == NUMBER:
            return graph.constant(value)
        return arguments[value] if kind == ARGUMENT else None

    def __call__(self, arguments: Sequence[Node]) -> Nodes:
        return self.called_with(arguments)

    def node(self, arguments: Sequence[Node]) -> Node:
        from cayley.compiler.tracing.loop_folding import folded  # which makes loops
        loop, own = folded(self, arguments)
        return arguments[0].graph.holding("call", loop, loop.key, *own)

    def tangents(self, arguments: Sequence[Node], columns: Sequence[Sequence[Node]]) -> list[Nodes]:
        from cayley.compiler.derivatives.loop_derivatives import tangents
        return tangents(self, arguments, columns)

    def adjoints(self, arguments: Sequence[Node], wanted: tuple[bool, ...],
                 rows: Sequence[Sequence[Node]]) -> list[Nodes]:
        from cayley.compiler.derivatives.loop_derivatives import adjoints
        return adjoints(self, arguments, wanted, rows)

    def is_opened(self, often: int, seen: bool) -> bool:
        return (self.turns < FEWEST_TURNS and not self.stops) or self.turns * len(self.body.nodes) < SMALLEST_LOOP

    @cached_property
    def simplified(self) -> Program:
        """The body as it is evaluated. Where the loop stops, its next state must not be used."""
        from cayley.compiler.tracing.simplify import simplify
        return simplify(self.body)

    @cached_property
    def guarded(self) -> Program:
        """The body whose state stands still once the loop has stopped for it."""
        return guarded(self.simplified)

    def evaluated(self, arguments: Sequence[Any], program: Callable[[Program, Sequence[Any]], list[Any]]) -> list[Any]:
        return self._turn_after_turn(arguments, lambda given: program(self.guarded, given))

    def _turn_after_turn(self, arguments: Sequence[Any], body: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        state, scanned, constants = self.split(arguments)
        kept: dict[int, list[Any]] = {}
        for turn in self.order:
            entries = [part(each, turn, len(v.nodes)) for v, each in zip(self.scanned, scanned, strict=True)]
            found = body([*state, *chain(*entries), *constants])
            state, kept[turn] = found[:len(state)], found[len(state):len(state) + self.kept]
        return self.results([*state, *chain(*(kept[turn] for turn in range(self.turns)))], arguments)

    @cached_property
    def program(self) -> Program:  # type: ignore[override]
        """All turns, written out."""
        with without_collection():
            graph = Graph()
            given = [graph.input(f"argument[{k}]") for k in range(sum(self._sizes))]
            body = guarded(self.body)
            results = [graph.lift(value) for value in self._turn_after_turn(
                given, lambda nodes: written_out(body, nodes, graph))]
        inputs = tuple(Variable(f"array{k}", (end - start,), tuple(given[start:end]))
                       for k, (start, end) in enumerate(pairwise(accumulate(self.sizes, initial=0))))
        return Program("loop", inputs, (Variable("results", (len(results),), tuple(results)),))


def part(values: Sequence[Any], number: int, size: int) -> list[Any]:
    """One of the parts of this size of which a list is made."""
    return list(values[number * size:(number + 1) * size])
