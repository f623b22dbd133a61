"""C text for a function with a memory: a vector that is an input, and the last output, is a struct of the caller's.

    law_state arm;  law_init(&arm);        every period:  law_step(&arm, q, qd, target, target_qd, 1e-3f, tau);
A part of the vector that has no value to begin with is an argument of `law_init`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from cayley.compiler.c.c_expressions import helper_names
from cayley.compiler.c.c_source import CNames, CSource, c_dialect, c_source, declared, parameter_names, spelled
from cayley.compiler.tracing.names import FOR_PARAMETERS, identifier, unique
from cayley.compiler.tracing.program import Program


@dataclass(frozen=True)
class Part:
    """A part of the memory: its name, where it begins in the vector, its size, or 0 for a single number, and the
    value of all its entries to begin with."""

    name: str
    start: int
    size: int
    default: float | None


def source_with_memory(program: Program, name: str, real: str, vector: str, parts: Sequence[Part]) -> CSource:
    """The C of a program whose input `vector`, in parts, is replaced by its last output, with the struct that keeps it,
    `<name>_init` and `<name>_step`."""
    function = c_source(program, name=name, precision=real)
    memory = _Memory(program, function.name, real, vector, tuple(parts))
    return function.extended(memory.header, memory.source)


@dataclass(frozen=True)
class _Memory:
    """The C text for a vector that is kept between calls."""

    program: Program
    called: str
    real: str
    vector: str
    parts: tuple[Part, ...]

    @cached_property
    def names(self) -> CNames:
        return parameter_names(self.program, taken=helper_names(self.called))

    @cached_property
    def place(self) -> int:
        """The number of the input that is the vector."""
        return [variable.name for variable in self.program.inputs].index(self.vector)

    @cached_property
    def state(self) -> str:
        return unique("state", [*self.names.inputs, *self.names.outputs, *helper_names(self.called)])

    @cached_property
    def index(self) -> str:
        return unique("i", [*self.names.inputs, *self.names.outputs, *self.fields.values(), self.state])

    @cached_property
    def fields(self) -> dict[str, str]:
        """The parts as members of the struct, and as arguments of the function that begins."""
        made: dict[str, str] = {}
        for part in self.parts:
            made[part.name] = identifier(part.name, FOR_PARAMETERS, [*made.values(), self.state])
        return made

    @property
    def begin(self) -> str:
        """The prototype of the function that begins."""
        given = [f"const {self.real} {self.fields[part.name]}[{part.size}]" if part.size
                 else f"{self.real} {self.fields[part.name]}" for part in self.parts if part.default is None]
        return declared(f"{self.called}_init", [f"{self.called}_state *{self.state}", *given])

    @property
    def step(self) -> str:
        """The prototype of the function for each period."""
        each = spelled(self.program, self.names, self.real)
        return declared(f"{self.called}_step", [f"{self.called}_state *{self.state}", *each.inputs[:self.place],
                                                *each.inputs[self.place + 1:], *each.outputs[:-1]])

    @property
    def header(self) -> str:
        members = [f"    {self.real} {self.fields[part.name]}{f'[{part.size}]' if part.size else ''};"
                   for part in self.parts]
        return "\n".join([
            f"/* The memory of one {self.called}, which the caller keeps. */", "typedef struct {", *members,
            f"}} {self.called}_state;", "", "/* Before the first period. */", f"{self.begin};", "",
            f"/* Once a period: {self.called}, with the state that it left the last time. */",
            f"{self.step};", ""])

    @property
    def source(self) -> str:
        vector = self.names.inputs[self.place]
        first = []
        into = []
        back = []
        for part in self.parts:
            kept = self._entry(part, f"{self.state}->{self.fields[part.name]}")
            start = self._entry(part, self.fields[part.name]) if part.default is None \
                else c_dialect(self.real).number(part.default)
            inside = self._entry(part, vector, part.start)
            first.append(self._each(part, f"{kept} = {start};"))
            into.append(self._each(part, f"{inside} = {kept};"))
            back.append(self._each(part, f"{kept} = {inside};"))
        call = f"{self.called}({', '.join([*self.names.inputs, *self.names.outputs[:-1], vector])});"
        room = f"{self.real} {vector}[{sum(part.size or 1 for part in self.parts)}];"
        return f"{_function(self.begin, first)}\n{_function(self.step, [room, *into, call, *back])}"

    def _entry(self, part: Part, array: str, offset: int | None = None) -> str:
        """An entry of a part in an array, where it begins at an offset, or a number that stands alone."""
        terms = [str(offset)] if offset or (offset is not None and not part.size) else []
        terms += [self.index] if part.size else []
        return f"{array}[{' + '.join(terms)}]" if terms else array

    def _each(self, part: Part, statement: str) -> str:
        """A statement for a number, or for each entry of a part."""
        i = self.index
        return f"for (int {i} = 0; {i} < {part.size}; ++{i}) {statement}" if part.size else statement


def _function(prototype: str, lines: Sequence[str]) -> str:
    inside = "".join(f"    {line}\n" for line in lines)
    return f"{prototype}\n{{\n{inside}}}\n"
