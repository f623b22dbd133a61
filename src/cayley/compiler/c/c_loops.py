"""The loops of an iteration as statements of C, for C99, CUDA and JavaScript: one trajectory, its state in local
variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cayley.compiler.c.c_expressions import WHOLE, CExpression, CStatements, Dialect
from cayley.compiler.iteration import CHANGING, CONSTANT, CYCLING, Plan
from cayley.compiler.tracing.names import free_prefix, unique
from cayley.compiler.tracing.program import Program, Variable

LOOP_NAMES = ("samples", "every", "cycle", "sample", "step", "stage", "turn")
STEP = "(sample*every + step)"


@dataclass(frozen=True)
class MemoryPlace:
    """An input or a kept output in memory: its name, the text of each of its elements at the present turn of the loops,
    and the names of its strides, if these are parameters."""

    name: str
    at: Callable[[int], str]
    strides: tuple[str, ...] = ()


def loop_statements(program: Program, plan: Plan, dialect: Dialect, inputs: Sequence[MemoryPlace],
                    outputs: Sequence[MemoryPlace],
                    *, taken: set[str], helper: str, index: str) -> list[str]:
    """The statements: what is read, the loops, what is kept. `outputs` are the kept outputs in order, `taken` the names
    in use (names of local variables are added), and `index` the type of a counter."""
    return CLoops(program, plan, dialect, inputs, outputs, taken, helper, index).lines


class CLoops:
    """The loops around the statements of a stage."""

    def __init__(self, program: Program, plan: Plan, dialect: Dialect, inputs: Sequence[MemoryPlace],
                 outputs: Sequence[MemoryPlace], taken: set[str], helper: str, index: str) -> None:
        self.program = program
        self.plan = plan
        self.dialect = dialect
        self.inputs = inputs
        self.index = index
        self._taken = taken
        self._helper = helper
        self._needed = needed(program, plan)
        self._uses = computing(program, self._needed).uses()
        self._locals = {place: [self._name(f"{inputs[place].name}_{k}") for k in range(len(v.nodes))]
                        for place, v in enumerate(program.inputs)}
        self._after = self._variables_of_outputs(outputs)
        self._texts = {node.index: CExpression(name, WHOLE, reads=True) for place, v in enumerate(program.inputs)
                       for node, name in zip(v.nodes, self._locals[place], strict=True)}
        self.lines = [*self._unused(outputs), *self._read(CONSTANT), *self._declared(), *self._samples(outputs)]

    def _unused(self, outputs: Sequence[MemoryPlace]) -> list[str]:
        """Casts to void of unused parameters."""
        idle = [self.inputs[k] for k, v in enumerate(self.program.inputs)
                if not any(self._is_read(k, place) for place in range(len(v.nodes)))]
        idle += [output for place, output in zip(self.plan.kept, outputs, strict=True)
                 if not self.program.outputs[place].nodes]
        return self.dialect.unused(name for place in idle for name in (place.name, *place.strides))

    def _is_read(self, place: int, element: int) -> bool:
        uses = self._uses[self.program.inputs[place].nodes[element].index]
        return bool(uses) or (self.plan.fed.get(place), element) in self._needed

    def _name(self, wanted: str) -> str:
        name = unique(wanted, self._taken)
        self._taken.add(name)
        return name

    def _variables_of_outputs(self, outputs: Sequence[MemoryPlace]) -> dict[int, list[str]]:
        """The variables in which outputs are found after a stage: in the state that it feeds, or in variables of its
        own."""
        found = {after: self._locals[before] for after, before in self.plan.feeds}
        wanted = {place: output.name for place, output in zip(self.plan.kept, outputs, strict=True)}
        if self.plan.repeats is not None:
            wanted.setdefault(self.plan.repeats[0], self.program.outputs[self.plan.repeats[0]].name)
        for place, name in wanted.items():
            if place not in found:
                found[place] = [self._name(f"{name}_{k}") for k in range(len(self.program.outputs[place].nodes))]
        return found

    def _read(self, moves: tuple[int, ...]) -> list[str]:
        """The inputs that move along these loops; a state is a variable, and everything else that is used a constant.
        """
        lines = []
        for place in range(len(self.program.inputs)):
            if self.plan.moves[place] == moves:
                stated = self.dialect.variable if place in self.plan.fed else self.dialect.constant
                lines += [stated(name, self.inputs[place].at(k))
                          for k, name in enumerate(self._locals[place]) if self._is_read(place, k)]
        return lines

    def _declared(self) -> list[str]:
        states = {after for after, _ in self.plan.feeds}
        zero = self.dialect.number(0.0)
        return [self.dialect.variable(name, zero) for place, names in self._after.items() if place not in states
                for name in names]

    def _samples(self, outputs: Sequence[MemoryPlace]) -> list[str]:
        return self._loop("sample", "samples", [*self._steps(), *self._kept(outputs)])

    def _kept(self, outputs: Sequence[MemoryPlace]) -> list[str]:
        return [f"{output.at(k)} = {name};" for place, output in zip(self.plan.kept, outputs, strict=True)
                for k, name in enumerate(self._after[place])]

    def _steps(self) -> list[str]:
        return self._loop("step", "every", [*self._read(CHANGING), *self._repeated()])

    def _repeated(self) -> list[str]:
        if self.plan.repeats is None:
            return self._stages()
        output, most = self.plan.repeats
        asked = f"if (!({self._after[output][0]} != {self.dialect.number(0.0)})) break;"
        return self._loop("turn", str(most), [*self._stages(), asked])

    def _stages(self) -> list[str]:
        lines = [*self._read(CYCLING), *self._stage()]
        return self._loop("stage", "cycle", lines) if self.plan.has_stages else lines

    def _stage(self) -> list[str]:
        """Every result is computed before the first state changes."""
        results = {(place, k): node for place in self._fed for k, node in enumerate(self.program.outputs[place].nodes)
                   if (place, k) in self._needed}
        body = CStatements(computing(self.program, self._needed), self.dialect, self._texts,
                    temporary=free_prefix(self._taken), helper=self._helper)
        for node in results.values():
            body.keep(node)
        return [*body.lines, *[change for element, node in results.items()
                               for change in self._changes(*element, body.text(node))]]

    @cached_property
    def _fed(self) -> dict[int, list[list[str]]]:
        """The variables that an output goes to."""
        feeds: dict[int, list[list[str]]] = {}
        for after, before in self.plan.feeds:
            feeds.setdefault(after, []).append(self._locals[before])
        for place, names in self._after.items():
            feeds.setdefault(place, [names])
        return feeds

    def _changes(self, place: int, element: int, value: CExpression) -> list[str]:
        return [f"{names[element]} = {value.code};" for names in self._fed[place]]

    def _loop(self, counter: str, end: str, lines: Sequence[str]) -> list[str]:
        return self.dialect.loop(counter, end, lines, self.index)


def needed(program: Program, plan: Plan) -> set[tuple[int, int]]:
    """The elements of outputs, by place, that are kept, ask for more stages, or feed a state that one of these needs.
    """
    places = {*plan.kept, *([plan.repeats[0]] if plan.repeats else [])}
    found = {(place, k) for place in places for k in range(len(program.outputs[place].nodes))}
    while True:
        uses = computing(program, found).uses()
        more = {(after, k) for after, before in plan.feeds for k, node in enumerate(program.inputs[before].nodes)
                if uses[node.index]}
        if more <= found:
            return found
        found |= more


def computing(program: Program, elements: set[tuple[int, int]]) -> Program:
    """The program of these elements of its outputs alone."""
    nodes = tuple(program.outputs[place].nodes[k] for place, k in sorted(elements))
    return replace(program, outputs=(Variable("needed", (len(nodes),), nodes),))
