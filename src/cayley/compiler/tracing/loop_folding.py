"""Numbers among the arguments of a loop become part of its body, as those of every call do.

What a turn hands on as it is becomes an argument that all turns share: an entry of the state that starts at a number
and keeps it is no state, nor is one that no turn changes. Results that need no loop are taken from numbers and
arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count

from cayley.compiler.rules.common import number
from cayley.compiler.tracing.calls import written_out
from cayley.compiler.tracing.graph import Graph, Node, ancestors, is_constant
from cayley.compiler.tracing.implied_values import build_marked
from cayley.compiler.tracing.loop import ARGUMENT, COMPUTED, NUMBER, Nodes, ProgramLoop, Source
from cayley.compiler.tracing.loop_body import loop_body

Numbers = Sequence[float | None]
"""The value of each argument that is a number, and None for the others."""


def folded(loop: ProgramLoop, arguments: Sequence[Node]) -> tuple[ProgramLoop, Nodes]:
    """The loop without the numbers among its arguments, and the arguments that are left."""
    state, scanned, constants = loop.split([a.value if a.op == "constant" else None for a in arguments])
    columns = tuple(_same_in_all_turns(each, len(v.nodes), loop.turns)
                    for v, each in zip(loop.scanned, scanned, strict=True))
    numbers = tuple(state), columns, tuple(constants)
    found, places = loop.variant(numbers, lambda: _Folding(loop, _steady_turn(loop, *numbers)).loop_and_places())
    return found, [arguments[k] for k in places]


def _same_in_all_turns(array: Numbers, size: int, turns: int) -> tuple[float | None, ...]:
    """The number in each column of a scanned array, if it is the same in all rows."""
    return tuple(array[k] if all(array[turn * size + k] == array[k] for turn in range(turns)) else None
                 for k in range(size))


@dataclass(frozen=True)
class _Turn:
    """The inputs and outputs of a turn, as nodes of one graph; inputs that are no numbers are inputs of the graph."""

    state: Nodes
    entries: list[Nodes]
    constants: Nodes
    after: Nodes
    kept: Nodes
    stop: Nodes


def _steady_turn(loop: ProgramLoop, start: Numbers, columns: Sequence[Numbers], constants: Numbers) -> _Turn:
    """The turn on these numbers, of which those of the state are the same after it."""
    while True:
        turn = _turn(loop, start, columns, constants)
        still = [value if value is None or is_constant(after, value) else None
                 for value, after in zip(start, turn.after, strict=True)]
        if still == list(start):
            return turn
        start = still


def _turn(loop: ProgramLoop, start: Numbers, columns: Sequence[Numbers], constants: Numbers) -> _Turn:
    graph = Graph()
    names = (f"#{k}" for k in count())
    state, *entries, fixed = [[graph.input(next(names)) if value is None else graph.constant(value) for value in each]
                              for each in (start, *columns, constants)]
    results = iter(written_out(loop.body, [*state, *chain(*entries), *fixed], graph, build_marked))
    after, kept, *stops = [[number(next(results)) for _ in v.nodes] for v in loop.body.outputs]
    if stops and stops[0][0].op == "constant":
        after, stops = state if stops[0][0].value else after, []
    return _Turn(state, entries, fixed, after, kept, [*chain(*stops)])


class _Folding:
    """The loop that is left when some arguments are numbers, found from one turn on these numbers."""

    def __init__(self, loop: ProgramLoop, turn: _Turn) -> None:
        self.loop = loop
        self.turn = turn
        variables = [k for k, node in enumerate(turn.state) if node.op == "input"]
        self.moving = [k for k in variables if turn.after[k] is not turn.state[k]]
        self.unchanged = [k for k in variables if turn.after[k] is turn.state[k]]
        used = {node.index for node in ancestors([*[turn.after[k] for k in self.moving], *turn.kept, *turn.stop])}
        self.columns = [[k for k, node in enumerate(each) if node.op == "input" and node.index in used]
                        for each in turn.entries]
        self.before_constants = len(turn.state) + loop.turns * sum(map(len, turn.entries))
        results = {value for kind, value in (*loop.end_sources, *loop.kept_sources) if kind == ARGUMENT}
        self.constants = [k for k, node in enumerate(turn.constants) if node.op == "input" and (
            node.index in used or self.before_constants + k in results)]
        self.shared = [*[turn.state[k] for k in self.unchanged], *[turn.constants[k] for k in self.constants]]
        before = len(self.moving) + loop.turns * sum(map(len, self.columns))
        self.places = {node.index: before + k for k, node in enumerate(self.shared)}
        self.computed: dict[int, tuple[int, Node]] = {}

    def loop_and_places(self) -> tuple[ProgramLoop, list[int]]:
        """The loop that is left, and the places of its arguments among those of the loop before."""
        turn = self.turn
        kept = [self._source(node) for node in turn.kept]
        ends = [(COMPUTED, self.moving.index(k)) if k in self.moving else self._source(node)
                for k, node in enumerate(turn.after)]
        body = loop_body([turn.state[k] for k in self.moving],
                         [[each[k] for k in own] for each, own in zip(turn.entries, self.columns, strict=True)],
                         self.shared, [turn.after[k] for k in self.moving],
                         [node for _, node in self.computed.values()], turn.stop)
        made = ProgramLoop(body, self.loop.turns, backwards=self.loop.backwards,
                    end_sources=[self._through(each, ends) for each in self.loop.end_sources],
                    kept_sources=[self._through(each, kept) for each in self.loop.kept_sources])
        places = self._arguments()
        state, *scanned, constants = [(None,) * len(v.nodes) for v in body.inputs]
        made.variant((state, tuple(scanned), constants), lambda: (made, range(len(places))))
        return made, places

    def _arguments(self) -> list[int]:
        places = [*self.moving]
        start = len(self.turn.state)
        for entry, own in zip(self.turn.entries, self.columns, strict=True):
            places += [start + turn * len(entry) + k for turn in range(self.loop.turns) for k in own]
            start += self.loop.turns * len(entry)
        return [*places, *self.unchanged, *[self.before_constants + k for k in self.constants]]

    def _source(self, node: Node) -> Source:
        """From where a value of the turn is taken: what has no other source is computed, and kept in each turn."""
        if node.op == "constant":
            return NUMBER, node.value
        if node.index in self.places:
            return ARGUMENT, self.places[node.index]
        return COMPUTED, self.computed.setdefault(node.index, (len(self.computed), node))[0]

    def _through(self, source: Source, computed: Sequence[Source]) -> Source:
        """From where a result is taken that came from this source of the loop before."""
        kind, value = source
        if kind == ARGUMENT:
            return self._source(self.turn.constants[value - self.before_constants])
        return computed[value] if kind == COMPUTED else source
