"""A program as the text of one CUDA kernel: one thread a state.

Each operand is a pointer with two strides, in elements: from state to state and from element to element. So an array of
states is read where it is, and so is the transpose of an array of shape (elements, states), which a GPU reads fastest.
Strides that are known when the text is written stand in it as numbers; the others are parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import pack
from typing import NamedTuple

from cayley.compiler.c.c_expressions import WHOLE, CExpression, CStatements, Dialect, helper_names
from cayley.compiler.c.c_source import CNames, comment_of, parameter_names
from cayley.compiler.cuda.cuda_functions import CudaDialect, cuda_dialect
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.tracing.names import FOR_FUNCTIONS, free_prefix, identifier, unique
from cayley.compiler.tracing.program import Program, Variable

Strides = tuple[int | None, ...]
"""Of one operand: the numbers, and None for what is a parameter."""

THIS_THREAD = ("const long long state = (long long)blockIdx.x*blockDim.x + threadIdx.x;", "if (state >= count) return;")


@dataclass(frozen=True)
class Operand:
    """An input or output in the text: its pointer, the names of its strides, from state to state first and from element
    to element last, the numbers that these are, and the turn of the loop that it moves along, if it does."""

    variable: Variable
    pointer: str
    strides: tuple[str, ...]
    known: Strides
    turn: str = ""

    @staticmethod
    def named(variable: Variable, pointer: str, taken: set[str], known: Strides | None, turn: str = "") -> Operand:
        """An operand with names that are not taken, and from then on are."""
        kinds = ("state", "turn", "element") if turn else ("state", "element")
        strides = tuple(unique(f"{pointer}_{kind}_stride", taken) for kind in kinds)
        taken.update(strides)
        return Operand(variable, pointer, strides, known or (None,) * len(strides), turn)

    def declared(self, kind: str) -> str:
        """The parameters of the kernel for this operand."""
        return ", ".join([f"{kind} *{self.pointer}", *[f"const long long {stride}" for stride, known
                                                       in zip(self.strides, self.known, strict=True) if known is None]])

    @property
    def first(self) -> str:
        """The place of its first element, now."""
        turns = ["state", *([self.turn] if self.turn else [])]
        terms = [f"{turn}*{stride}" for turn, stride in zip(turns, self._spelled, strict=False) if stride != "0"]
        return " + ".join(terms) or "0"

    @property
    def unknown(self) -> tuple[str, ...]:
        """The strides that are parameters."""
        return tuple(stride for stride, known in zip(self.strides, self.known, strict=True) if known is None)

    @property
    def _spelled(self) -> list[str]:
        return [stride if known is None else str(known) for stride, known in zip(self.strides, self.known, strict=True)]

    def at(self, place: int) -> str:
        """An element."""
        stride = self._spelled[-1]
        return f"{self.pointer}[{self.first} + {place * int(stride) if stride.isdigit() else f'{place}*{stride}'}]"


def kernel_name(program: Program) -> str:
    """Name of the kernel in the text."""
    return identifier(program.name, FOR_FUNCTIONS)


def cuda_source(program: Program, precision: str = "double", strides: Sequence[Strides] | None = None) -> str:
    """The text of the kernel `kernel_name(program)(count, pointer, state stride, element stride, ...)`, inputs first.
    `strides` are those that are known, for each operand."""
    dialect = cuda_dialect(precision)
    program = in_precision(program, precision)
    taken = {*helper_names(kernel_name(program)), "count", "state"}
    inputs, outputs = operands_of(program, taken, strides)
    does = states_computed(program, dialect, inputs, outputs, taken)
    return kernel_of(program, dialect, inputs, outputs, [*THIS_THREAD, *does.idle, *does.loads, *does.lines,
                                                         *does.stores])


def kernel_of(program: Program, dialect: Dialect, inputs: Sequence[Operand], outputs: Sequence[Operand],
              statements: Sequence[str], helpers: Sequence[str] = (), bounds: tuple[int, ...] = ()) -> str:
    """The text of the kernel of a program that does these statements."""
    name = kernel_name(program)
    declared = [o.declared(f"const {dialect.real}") for o in inputs] + [o.declared(dialect.real) for o in outputs]
    note = comment_of(program, name, CNames([o.pointer for o in inputs], [o.pointer for o in outputs]))
    return kernel_text(name, note, [*dialect.definitions(program, name), *helpers],
                       ["const long long count", *declared], statements, bounds)


def kernel_text(called: str, note: str, helpers: Sequence[str], parameters: Sequence[str],
                statements: Sequence[str], bounds: tuple[int, ...] = ()) -> str:
    """The text of a kernel and of the functions that it calls. `bounds` are the threads of a block and the blocks that
    are to be resident at once, where that is known."""
    said = f"__launch_bounds__({', '.join(map(str, bounds))}) " if bounds else ""
    return "".join([
        f"{note}\n", *[f"{helper}\n" for helper in helpers], f'extern "C" __global__ void {said}{called}(\n    ',
        ",\n    ".join(parameters), ")\n{\n", *[f"    {line}\n" for line in statements], "}\n"])


def operands_of(program: Program, taken: set[str], strides: Sequence[Strides] | None) -> tuple[
        list[Operand], list[Operand]]:
    """Inputs and outputs, with names that are not taken, and from then on are."""
    names = parameter_names(program, taken=sorted(taken))
    taken.update(names.inputs, names.outputs)
    variables = [*program.inputs, *program.outputs]
    labels = [*names.inputs, *names.outputs]
    known: Sequence[Strides | None] = strides or [None for _ in variables]
    operands = [Operand.named(v, label, taken, each) for v, label, each in zip(variables, labels, known, strict=True)]
    return operands[:len(program.inputs)], operands[len(program.inputs):]


class Statements(NamedTuple):
    """Statements of a thread for one state."""

    idle: list[str]
    loads: list[str]
    lines: list[str]
    stores: list[str]


def states_computed(program: Program, dialect: Dialect, inputs: Sequence[Operand], outputs: Sequence[Operand],
                    taken: set[str]) -> Statements:
    """Every input is loaded before anything else, every output stored after everything else."""
    uses = program.uses()
    loads = []
    texts = {}
    for operand in inputs:
        for place, node in enumerate(operand.variable.nodes):
            if uses[node.index]:
                name = unique(f"{operand.pointer}_{place}", taken)
                taken.add(name)
                loads.append(f"const {dialect.real} {name} = {operand.at(place)};")
                texts[node.index] = CExpression(name, WHOLE)
    idle = [f"(void){name};" for operand in (*inputs, *outputs)
            if not any(uses[node.index] for node in operand.variable.nodes)
            for name in (operand.pointer, *operand.unknown)]
    body = CStatements(program, dialect, texts, temporary=free_prefix(taken), helper=kernel_name(program))
    stores = [f"{operand.at(place)} =\n        {body.text(node).code};" for operand in outputs
              for place, node in enumerate(operand.variable.nodes)]
    return Statements(idle, loads, body.lines, stores)


_NUMBERS = 4096  # in constant memory, at most


def tabled(dialect: CudaDialect, table: str) -> Tabled:
    """The same, with a table of this name."""
    return Tabled(dialect.real, dialect.infinity, dialect.nan, dialect.helper, table)


@dataclass(frozen=True)
class Tabled(CudaDialect):
    """Numbers for which an instruction has no room, of double precision, are in constant memory: to build one takes two
    more instructions."""

    table: str = ""
    values: dict[float, int] = field(default_factory=dict)

    def number(self, value: float) -> str:
        size = abs(value)
        is_short = pack("<d", size)[:4] == bytes(4)  # its lower half is zero, as of infinity and of NaN
        if self.real == "float" or is_short or (size not in self.values and len(self.values) == _NUMBERS):
            return super().number(value)
        place = self.values.setdefault(size, len(self.values))
        return f"{'-' if value < 0 else ''}{self.table}[{place}]"

    @property
    def declared(self) -> list[str]:
        entries = ", ".join(super(Tabled, self).number(value) for value in self.values)
        return [f"static __constant__ double {self.table}[] = {{{entries}}};"] if self.values else []
