"""A loop as one operation of a program: a call whose program is computed again and again.

A turn takes the state, an entry of each array that is walked along, and constants; it gives the next state, and what is
kept of each turn. Arguments that are constants are structure, as those of every call: entries of the state that start
at a constant and stay there are no part of the loop, and what a turn hands on as it is is a constant. A loop that
`stops` ends when the last result of its turn is not zero in any lane; a lane where it is not stands still until then.

Derivatives are loops. Forward, the tangents are more of the state. Backward, a loop keeps its states, and another walks
back along them; one of many turns is first made a loop of loops, so that it keeps those of few turns at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from math import isqrt
from typing import Any

from cayley.compiler.operations import BOOLEAN
from cayley.compiler.rules.common import number
from cayley.compiler.tracing.calls import Callee, written_out
from cayley.compiler.tracing.graph import RULES, Graph, Node, ancestors, is_constant
from cayley.compiler.tracing.implied_values import build_marked
from cayley.compiler.tracing.program import Program, Variable, rebuild, without_collection

Nodes = list[Node]
MOST_KEPT = 4096
"""Numbers of states that are kept on the way back; of more, a part of the loop is made again."""
FEWEST_TURNS = 3
SMALLEST_LOOP = 450
"""Operations of all turns together below which a loop is written out."""
_ROW, _NUMBER, _ARGUMENT = "row", "number", "argument"
Known = tuple[str, Any]
"""Where a result is: in a row of the results in memory, or a number, or an argument."""


class Loop(Callee):
    """A program of one turn, and how often it is made.

    The inputs of the `body` are the state, an entry of each walked array, and constants; its outputs are the next
    state, what is kept, and, if the loop `stops`, whether it does. `ends` and `kept` say where the results are that its
    callers know."""

    def __init__(self, body: Program, turns: int, *, stops: bool = False, backwards: bool = False,
                 ends: Sequence[Known] | None = None, kept: Sequence[Known] | None = None) -> None:
        self.body = body
        self.turns = turns
        self.stops = stops
        self.backwards = backwards
        self.ends = tuple((_ROW, k) for k in range(len(body.outputs[0].nodes))) if ends is None else tuple(ends)
        self.kept = tuple((_ROW, k) for k in range(len(body.outputs[1].nodes))) if kept is None else tuple(kept)
        self._others: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.body, self.turns, self.stops, self.backwards, self.ends, self.kept)

    @cached_property
    def key(self) -> str:
        said = [self.turns, self.stops, self.backwards, self.ends, self.kept, self.body.key]
        return hashlib.sha256(repr(said).encode()).hexdigest()

    @property
    def state(self) -> tuple[Node, ...]:
        return self.body.inputs[0].nodes

    @property
    def walked(self) -> tuple[Variable, ...]:
        return self.body.inputs[1:-1]

    @property
    def constants(self) -> tuple[Node, ...]:
        return self.body.inputs[-1].nodes

    @property
    def sizes(self) -> list[int]:
        return [size for size in self._sizes if size]

    @property
    def _sizes(self) -> list[int]:
        return [len(self.state), *[self.turns * len(v.nodes) for v in self.walked], len(self.constants)]

    @property
    def stored(self) -> int:
        return len(self.state) + self.turns * len(self.body.outputs[1].nodes)

    @property
    def count(self) -> int:
        return len(self.ends) + self.turns * len(self.kept)

    def row(self, place: int) -> int:
        return self._found(place)[1]

    def is_opened(self, often: int, seen: bool) -> bool:
        return self.turns < FEWEST_TURNS or self.turns * len(self.body.nodes) < SMALLEST_LOOP

    def first(self, place: int) -> int:
        turn, column = divmod(place - len(self.ends), len(self.kept) or 1)
        return place if turn < 0 else place - column + self.kept.index(self.kept[column])

    def known(self, place: int, graph: Graph, arguments: Sequence[Node]) -> Node | None:
        kind, value = self._found(place)
        if kind == _NUMBER:
            return graph.constant(value)
        return arguments[value] if kind == _ARGUMENT else None

    def _found(self, place: int) -> Known:
        if place < len(self.ends):
            return self.ends[place]
        turn, column = divmod(place - len(self.ends), len(self.kept))
        kind, value = self.kept[column]
        return (kind, len(self.state) + turn * len(self.body.outputs[1].nodes) + value) if kind == _ROW else (
            kind, value)

    def __call__(self, arguments: Sequence[Node]) -> Nodes:
        return self.called_with(arguments)

    def node(self, arguments: Sequence[Node]) -> Node:
        loop, own = self._for(arguments)
        return arguments[0].graph.holding("call", loop, loop.key, *own)

    # What is computed

    @cached_property
    def simplified(self) -> Program:
        """A turn, as it is evaluated. One that stops has a state that is not looked at."""
        from cayley.compiler.tracing.simplify import simplify
        return simplify(self.body)

    @cached_property
    def guarded(self) -> Program:
        """A turn in which the state stands still once the loop has stopped for it."""
        return _guarded(self.simplified) if self.stops else self.simplified

    def evaluated(self, arguments: Sequence[Any], program: Callable[[Program, Sequence[Any]], list[Any]]) -> list[Any]:
        return self._in_turn(arguments, lambda given: program(self.guarded, given))

    def _in_turn(self, arguments: Sequence[Any], once: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        x, walked, constants = self._parts(arguments)
        rows: dict[int, list[Any]] = {}
        for turn in self.order:
            entries = [n for v, each in zip(self.walked, walked, strict=True) for n in _part(each, turn, len(v.nodes))]
            found = once([*x, *entries, *constants])
            x, rows[turn] = found[:len(x)], found[len(x):len(x) + len(self.body.outputs[1].nodes)]
        row = [*x, *[value for turn in range(self.turns) for value in rows[turn]]]
        return [row[value] if kind == _ROW else arguments[value] if kind == _ARGUMENT else value
                for kind, value in map(self._found, range(self.count))]

    @cached_property
    def program(self) -> Program:  # type: ignore[override]
        """All turns, written out."""
        with without_collection():
            graph = Graph()
            given = [graph.input(f"argument[{k}]") for k in range(sum(self._sizes))]
            turn = _guarded(self.body) if self.stops else self.body
            results = [graph.lift(n) for n in self._in_turn(given, lambda nodes: written_out(turn, nodes, graph))]
        starts = list(accumulate(self.sizes, initial=0))
        inputs = tuple(Variable(f"array{k}", (size,), tuple(given[start:start + size]))
                       for k, (start, size) in enumerate(zip(starts, self.sizes, strict=False)))
        return Program("loop", inputs, (Variable("results", (len(results),), tuple(results)),))

    @property
    def order(self) -> Iterator[int]:
        """The entries of walked arrays, as they come."""
        return reversed(range(self.turns)) if self.backwards else iter(range(self.turns))

    def _parts(self, arguments: Sequence[Any]) -> tuple[list[Any], list[list[Any]], list[Any]]:
        """The arguments as the state, the walked arrays, and constants."""
        starts = list(accumulate(self._sizes, initial=0))
        parts = [list(arguments[a:b]) for a, b in pairwise(starts)]
        return parts[0], parts[1:-1], parts[-1]

    # Constants among the arguments

    def _for(self, arguments: Sequence[Node]) -> tuple[Loop, list[Node]]:
        """The loop for the constants among these arguments, and those that it takes."""
        x, walked, constants = self._parts([a.value if a.op == "constant" else None for a in arguments])
        columns = [_alike(whole, len(v.nodes), self.turns) for v, whole in zip(self.walked, walked, strict=True)]
        pattern = tuple(x), tuple(columns), tuple(constants)
        loop, places = self._other(pattern, lambda: self._folded(*pattern))
        return loop, [arguments[k] for k in places]

    def _folded(self, x: Sequence[float | None], columns: Sequence[Sequence[float | None]],
                constants: Sequence[float | None]) -> tuple[Loop, list[int]]:
        """The loop for these constants, and the places of the arguments that are left."""
        stays = {k: value for k, value in enumerate(x) if value is not None}
        wrong: list[int] = [-1]
        while wrong:
            graph = Graph()
            given = [*[stays.get(k) for k in range(len(x))], *[value for column in columns for value in column],
                     *constants]
            inputs = [graph.input(f"#{k}") if value is None else graph.constant(value)
                      for k, value in enumerate(given)]
            after, kept, stop = self._again(inputs, graph)
            wrong = [k for k, value in stays.items() if not is_constant(after[k], value)]
            for k in wrong:
                del stays[k]
        same = [k for k in range(len(x)) if k not in stays and after[k] is inputs[k]]
        moving = [k for k in range(len(x)) if k not in stays and k not in same]
        known = {value for kind, value in (*self.ends, *self.kept) if kind == _ARGUMENT}
        used = {node.index for node in ancestors([*[after[k] for k in moving], *kept, *stop])}
        taken, walked, place, start = [*moving], [], len(x), len(x)
        for column in columns:
            own = [j for j in range(len(column)) if column[j] is None and inputs[place + j].index in used]
            walked += [[inputs[place + j] for j in own]] if own else []
            taken += [start + turn * len(column) + j for turn in range(self.turns) for j in own]
            place += len(column)
            start += self.turns * len(column)
        fixed = [k for k, value in enumerate(constants)
                 if value is None and (inputs[place + k].index in used or start + k in known)]
        at = {inputs[k].index: len(taken) + number for number, k in enumerate(same)}
        taken += same
        at |= {inputs[place + k].index: len(taken) + number for number, k in enumerate(fixed)}
        taken += [start + k for k in fixed]
        rows: dict[int, Node] = {}

        def told(node: Node) -> Known:
            if node.op == "constant":
                return _NUMBER, node.value
            if node.index in at:
                return _ARGUMENT, at[node.index]
            rows.setdefault(node.index, node)
            return _ROW, list(rows).index(node.index)

        marks = [told(node) for node in kept]
        ends = [(_ROW, moving.index(k)) if k in moving else told(after[k]) for k in range(len(x))]

        def through(known: Known, of_rows: Sequence[Known]) -> Known:
            kind, value = known
            if kind == _ARGUMENT:
                return told(inputs[place + value - start])
            return of_rows[value] if kind == _ROW else known

        loop = Loop(turn_of([inputs[k] for k in moving], walked, [inputs[k] for k in same] +
                            [inputs[place + k] for k in fixed], [after[k] for k in moving], list(rows.values()), stop),
                    self.turns, stops=bool(stop), backwards=self.backwards,
                    ends=[through(each, ends) for each in self.ends], kept=[through(each, marks) for each in self.kept])
        nothing = [tuple([None] * len(v.nodes)) for v in loop.body.inputs]
        loop._others[nothing[0], tuple(nothing[1:-1]), nothing[-1]] = loop, range(len(taken))
        return loop, taken

    def _again(self, inputs: Sequence[Node], graph: Graph) -> tuple[Nodes, Nodes, Nodes]:
        """The next state, what is kept, and the stop, of a turn on other inputs, with their marks."""
        made = dict(zip((node.index for v in self.body.inputs for node in v.nodes), inputs, strict=True))
        for node in self.body.nodes:
            if node.op == "constant":
                made[node.index] = graph.constant(node.value)
            elif node.op != "input":
                made[node.index] = build_marked(node, [made[a.index] for a in node.args])
        after, kept, *stop = [[number(made[node.index]) for node in v.nodes] for v in self.body.outputs]
        if self.stops and stop[0][0].op == "constant":
            return list(inputs[:len(after)]) if stop[0][0].value else after, kept, []
        return after, kept, stop[0] if self.stops else []

    # Derivatives

    def tangents(self, arguments: Sequence[Node], columns: Sequence[Sequence[Node]]) -> list[Nodes]:
        """One loop for all columns."""
        count = len(columns)
        loop = self._other(("forward", count), lambda: self._forward(count))
        x, walked, constants = self._parts(arguments)
        moved = [self._parts(column) for column in columns]
        found = loop([*x, *[n for dx, _, _ in moved for n in dx], *[n for whole in walked for n in whole],
                      *[n for _, whole, _ in moved for each in whole for n in each],
                      *constants, *[n for _, _, dc in moved for n in dc]])
        n, kept = len(x), len(self.body.outputs[1].nodes)
        rows = found[n:n + count * n], found[n + count * n:]
        results = []
        for c, column in enumerate(columns):
            own = [*rows[0][c * n:(c + 1) * n],
                   *[node for turn in range(self.turns) for node in _part(rows[1], turn * count + c, kept)]]
            results.append([self._told(place, own, column) for place in range(self.count)])
        return results

    def _told(self, place: int, rows: Sequence[Node], arguments: Sequence[Node]) -> Node:
        """The tangent of a result, from those of rows and arguments."""
        kind, value = self._found(place)
        if kind == _NUMBER:
            return arguments[0].graph.constant(0.0)
        return rows[value] if kind == _ROW else arguments[value]

    def _forward(self, count: int) -> Loop:
        from cayley.compiler.derivatives.derivative import forward
        own = rebuild(self.body, build_marked)
        graph = own.graph
        x, walked, constants = own.inputs[0].nodes, own.inputs[1:-1], own.inputs[-1].nodes
        variables = [node for v in own.inputs for node in v.nodes]
        moved = [{v.name: [graph.input(f"d{c} {v.name}[{k}]") for k in range(len(v.nodes))] for v in own.inputs}
                 for c in range(count)]
        results = [*own.outputs[0].nodes, *own.outputs[1].nodes]
        found = [forward(results, variables, [n for v in own.inputs for n in each[v.name]]) for each in moved]
        names = [v.name for v in own.inputs]
        body = turn_of([*x, *[n for each in moved for n in each[names[0]]]],
                       [*[v.nodes for v in walked], *[each[v.name] for each in moved for v in walked]],
                       [*constants, *[n for each in moved for n in each[names[-1]]]],
                       [*own.outputs[0].nodes, *[n for each in found for n in each[:len(x)]]],
                       [n for each in found for n in each[len(x):]], own.outputs[2].nodes if self.stops else ())
        return Loop(body, self.turns, stops=self.stops, backwards=self.backwards)

    def adjoints(self, arguments: Sequence[Node], wanted: tuple[bool, ...],
                 rows: Sequence[Sequence[Node]]) -> list[Nodes]:
        """One walk back for all rows, along the states that a loop has kept."""
        if self.turns * len(self.state) > MOST_KEPT and self.turns > 3:
            return self._other("parts", self._in_parts).adjoints(arguments, wanted, rows)
        x, walked, constants = self._parts(arguments)
        zero = arguments[0].graph.constant(0.0)
        weights = [self._weights(row, len(arguments), zero) for row in rows]
        keeping = self._other("keeping", self._keeping)
        n = len(x)
        along = [node for whole in walked for node in whole]
        states = keeping([*x, *along, *constants])[n:]
        asked = self._parts(wanted)
        columns = [[any(part[j::len(v.nodes)]) for j in range(len(v.nodes))]
                   for v, part in zip(self.walked, asked[1], strict=True)]
        chosen = tuple(map(tuple, columns)), tuple(asked[2])
        back = self._other(("back", len(rows), chosen), lambda: self._back(len(rows), *chosen))
        slopes = sum(map(sum, columns))
        fixed = sum(asked[2])
        found = back([*[node for ends, _, _ in weights for node in ends], *[zero] * (fixed * len(rows)), *states,
                      *along, *[node for _, kept, _ in weights for node in kept], *constants])
        results = []
        starts = len(rows) * (n + fixed)
        for r, (_, _, direct) in enumerate(weights):
            at_start = iter(found[r * n:(r + 1) * n])
            of_fixed = iter(found[len(rows) * n + r * fixed:][:fixed])
            turns = [iter(found[starts + (turn * len(rows) + r) * slopes:][:slopes]) for turn in range(self.turns)]
            own: Nodes = list(at_start)
            for v, column, part in zip(self.walked, columns, asked[1], strict=True):
                slopes_of = [[next(turn) if is_asked else zero for is_asked in column] for turn in turns]
                own += [node for each in slopes_of for node in each]
                assert len(part) == self.turns * len(v.nodes)
            own += [next(of_fixed) if is_asked else zero for is_asked in asked[2]]
            results.append([a + b for a, b, is_asked in zip(own, direct, wanted, strict=True) if is_asked])
        return results

    def _weights(self, row: Sequence[Node], count: int, zero: Node) -> tuple[Nodes, Nodes, Nodes]:
        """The weights of the state at the end, of what is kept, and of arguments that are results themselves."""
        rows = [zero] * self.stored
        arguments = [zero] * count
        for place, weight in enumerate(row):
            kind, value = self._found(place)
            if kind == _ROW:
                rows[value] = rows[value] + weight
            elif kind == _ARGUMENT:
                arguments[value] = arguments[value] + weight
        return rows[:len(self.state)], rows[len(self.state):], arguments

    def _keeping(self) -> Loop:
        """The loop that keeps the state before each turn."""
        own = rebuild(self.body, build_marked)
        own = _guarded(own) if self.stops else own
        x, *walked, constants = [v.nodes for v in own.inputs]
        return Loop(turn_of(x, walked, constants, own.outputs[0].nodes, x, ()), self.turns, backwards=self.backwards)

    def _back(self, count: int, columns: Sequence[Sequence[bool]], fixed: Sequence[bool]) -> Loop:
        """The walk back: the state is the weights of the state, and the derivatives by constants until here."""
        from cayley.compiler.derivatives.derivative import reverse
        own = rebuild(self.body, build_marked)
        own = _guarded(own) if self.stops else own
        graph = own.graph
        x, *walked, constants = [v.nodes for v in own.inputs]
        results = [*own.outputs[0].nodes, *own.outputs[1].nodes]
        along = [node for v, column in zip(walked, columns, strict=True)
                 for node, is_asked in zip(v, column, strict=True) if is_asked]
        by = [node for node, is_asked in zip(constants, fixed, strict=True) if is_asked]
        weights = [[graph.input(f"w{r}[{k}]") for k in range(len(results))] for r in range(count)]
        sums = [[graph.input(f"sum{r}[{k}]") for k in range(len(by))] for r in range(count)]
        found = [reverse(results, [*x, *along, *by], each) for each in weights]
        n = len(x)
        after = [node for each in found for node in each[:n]]
        after += [a + b for own_sums, each in zip(sums, found, strict=True)
                  for a, b in zip(own_sums, each[n + len(along):], strict=True)]
        body = turn_of([*[node for each in weights for node in each[:n]], *[node for each in sums for node in each]],
                       [x, *walked, *[each[n:] for each in weights]], constants, after,
                       [node for each in found for node in each[n:n + len(along)]], ())
        return Loop(body, self.turns, backwards=not self.backwards)

    def _in_parts(self) -> Callee:
        """The same as a loop of loops, each about as long as there are of them, and a loop of the turns left over."""
        graph = Graph()
        given = [graph.input(f"argument[{k}]") for k in range(sum(self._sizes))]
        x, walked, constants = self._parts(given)
        length = isqrt(self.turns)
        whole = self.turns // length
        first, rest = range(whole * length), range(whole * length, self.turns)
        if self.backwards:
            first, rest = range(self.turns - whole * length, self.turns), range(self.turns - whole * length)
        kept = len(self.body.outputs[1].nodes)
        inner = Loop(self.body, length, stops=self.stops, backwards=self.backwards)
        own = Graph()
        often = [1, *[length] * len(walked), 1]
        inputs = [[own.input(f"{v.name} {k}") for k in range(turns * len(v.nodes))]
                  for v, turns in zip(self.body.inputs, often, strict=True)]
        results = inner([node for part in inputs for node in part])
        outer = Loop(turn_of(inputs[0], inputs[1:-1], inputs[-1], results[:len(x)], results[len(x):], ()), whole,
                     backwards=self.backwards)
        found = [outer, Loop(self.body, len(rest), stops=self.stops, backwards=self.backwards)]
        rows: dict[int, Nodes] = {}
        for loop, turns in zip(found, (first, rest), strict=True):
            if turns:
                own_part = [_entry_range(v, each, turns) for v, each in zip(self.walked, walked, strict=True)]
                made = loop([*x, *[node for part in own_part for node in part], *constants])
                x = made[:len(x)]
                rows |= {turn: _part(made[len(x):], k, kept) for k, turn in enumerate(turns)}
        row = [*x, *[node for turn in range(self.turns) for node in rows[turn]]]
        told = [self._told(place, row, given) for place in range(self.count)]
        results = [graph.constant(self._found(k)[1]) if self._found(k)[0] == _NUMBER else node
                   for k, node in enumerate(told)]
        return Callee(Program("loop", (Variable("arguments", (len(given),), tuple(given)),),
                              (Variable("results", (len(results),), tuple(results)),)))


def _restored(body: Program, turns: int, stops: bool, backwards: bool, ends: Sequence[Known],
              kept: Sequence[Known]) -> Loop:
    return Loop(body, turns, stops=stops, backwards=backwards, ends=ends, kept=kept)


def turn_of(x: Sequence[Node], walked: Sequence[Sequence[Node]], constants: Sequence[Node], after: Sequence[Node],
            kept: Sequence[Node], stop: Sequence[Node]) -> Program:
    """The program of a turn."""
    entries = [each for each in walked if each]
    inputs = [("x", x), *[(f"entry{k}", each) for k, each in enumerate(entries)], ("constants", constants)]
    outputs = [("after", after), ("kept", kept), *([("stop", stop)] if stop else [])]
    given, found = (tuple(Variable(name, (len(nodes),), tuple(nodes)) for name, nodes in side)
                    for side in (inputs, outputs))
    return Program("turn", given, found)


def condition(stop: Node) -> Node:
    """The truth value that was made a number."""
    if stop.op == "where" and is_constant(stop.args[1], 1.0) and is_constant(stop.args[2], 0.0):
        return stop.args[0]
    return RULES["not_equal"](stop, stop.graph.constant(0.0))


def _guarded(turn: Program) -> Program:
    """A turn whose state stands still where it stops."""
    stops = condition(turn.outputs[2].nodes[0])
    after = [RULES["where"](stops, a, b)
             for a, b in zip(turn.inputs[0].nodes, turn.outputs[0].nodes, strict=True)]
    x, *walked, constants = [v.nodes for v in turn.inputs]
    return turn_of(x, walked, constants, after, turn.outputs[1].nodes, turn.outputs[2].nodes)


def _alike(whole: Sequence[float | None], size: int, turns: int) -> tuple[float | None, ...]:
    """The constant of each column of an array, if it is the same in all turns."""
    return tuple(whole[k] if all(whole[turn * size + k] == whole[k] for turn in range(turns)) else None
                 for k in range(size))


def _part(nodes: Sequence[Any], number: int, size: int) -> list[Any]:
    return list(nodes[number * size:(number + 1) * size])


def _entry_range(v: Variable, whole: Sequence[Any], turns: range) -> list[Any]:
    return list(whole[turns.start * len(v.nodes):turns.stop * len(v.nodes)])


Turn = Callable[[Nodes, list[Nodes]], tuple[Sequence[Any], Sequence[Any], Any]]
"""From a state and an entry of each walked array to the next state, what is kept, and whether the loop stops, or None.
"""


def looped(start: Sequence[Node], walked: Sequence[Sequence[Sequence[Node]]], turns: int, turn: Turn, *,
           backwards: bool = False, zeros: bool = True) -> tuple[Nodes, list[Nodes]]:
    """The state at the end of a loop, and what each turn kept; of walked arrays there is a row of nodes for each turn.

    The turn is traced once. What it computes of neither the state nor the entries is computed before the loop. With
    `zeros` it is traced with those of the start in its state, and again if they do not stay."""
    nought = {k for k, n in enumerate(start) if zeros and is_constant(n, 0.0)}
    for most in (*[len(start)] * _GUESSES, 0):
        nought = nought if most else set()
        try:
            made = _Traced(start, walked, turn, nought)
        except Exception:
            if not nought:
                raise
            nought = set()  # the step differentiates by its state, or cannot have zeros there
            continue
        lost = {k for k in nought if not is_constant(made.after[k], 0.0)}
        if not lost:
            return made.called(turns, backwards)
        nought -= lost
    raise AssertionError("a state without zeros loses none")


_GUESSES = 3


class _Traced:
    """One turn, traced in the graph of the start with zeros in these places of the state."""

    def __init__(self, start: Sequence[Node], walked: Sequence[Sequence[Sequence[Node]]], turn: Turn,
                 nought: set[int]) -> None:
        graph = next(n.graph for nodes in (start, *[row for rows in walked for row in rows]) for n in nodes)
        self.first = graph.size
        self.start, self.walked, self.nought = start, walked, nought
        self.x = [start[k] if k in nought else graph.input(f"state {self.first}.{k}") for k in range(len(start))]
        self.entries = [[_entry(column, graph, f"entry {self.first}.{place}.{k}")
                         for k, column in enumerate(zip(*rows, strict=True))] for place, rows in enumerate(walked)]
        after, kept, stop = turn(self.x, self.entries)
        self.after, self.kept = ([number(graph.lift(r)) for r in each] for each in (after, kept))
        stops = [] if stop is None else [number(graph.lift(stop))]
        self.stop = [] if stops and is_constant(stops[0], 0.0) else stops

    def called(self, turns: int, backwards: bool) -> tuple[Nodes, list[Nodes]]:
        """The results of the loop."""
        moving = [k for k in range(len(self.x)) if k not in self.nought]
        x = [self.x[k] for k in moving]
        variables = [[n for n in each if self._is_own(n)] for each in self.entries]
        results = [*[self.after[k] for k in moving], *self.kept, *self.stop]
        own, inputs, outer = _cut(results, [*x, *[n for each in variables for n in each]], self.first)
        n, end = len(x), len(x) + len(self.kept)
        body = turn_of([inputs[each.index] for each in x], [[inputs[n.index] for n in each] for each in variables],
                       [inputs[n.index] for n in outer], own[:n], own[n:end], own[end:])
        given = [row[k] for each, rows in zip(self.entries, self.walked, strict=True) for row in rows
                 for k, node in enumerate(each) if self._is_own(node)]
        loop = Loop(body, turns, stops=bool(self.stop), backwards=backwards)
        found = loop([*[self.start[k] for k in moving], *given, *[number(node) for node in outer]])
        ends = dict(zip(moving, found, strict=False))
        return ([ends.get(k, zero) for k, zero in enumerate(self.start)],
                [_part(found[n:], k, len(self.kept)) for k in range(turns)])

    def _is_own(self, node: Node) -> bool:
        return node.op == "input" and node.index >= self.first


def _entry(column: Sequence[Node], graph: Graph, name: str) -> Node:
    """A variable for the entries of all turns, or what all of them are."""
    return column[0] if all(n is column[0] for n in column) else graph.input(name)


def _cut(results: Sequence[Node], variables: Sequence[Node], first: int) -> tuple[Nodes, dict[int, Node], Nodes]:
    """The results in a graph of their own, its inputs by old indices, and what else they need."""
    pending, seen = list(results), {}
    while pending:
        node = pending.pop()
        if node.index not in seen:
            seen[node.index] = node
            pending.extend(node.args if node.index >= first else ())
    depends = {n.index for n in variables}
    order = [seen[k] for k in sorted(seen)]
    for node in order:
        if any(a.index in depends for a in node.args) and node.index >= first:
            depends.add(node.index)
    needed = {a.index: a for node in order if node.index in depends for a in node.args}
    needed |= {r.index: r for r in results}
    outer = [n for _, n in sorted(needed.items()) if n.index not in depends and n.op != "constant"]
    graph = Graph()
    inputs = {n.index: graph.input(f"#{k}") for k, n in enumerate((*variables, *outer))}
    made = dict(inputs)
    for n in outer:
        if n.op in BOOLEAN:
            made[n.index] = RULES["not_equal"](made[n.index], graph.constant(0.0))
    for node in [*needed.values(), *order]:
        if node.op == "constant":
            made[node.index] = graph.constant(node.value)
        elif node.index in depends and node.index not in made:
            made[node.index] = build_marked(node, [made[a.index] for a in node.args])
    return [made[r.index] for r in results], inputs, outer
