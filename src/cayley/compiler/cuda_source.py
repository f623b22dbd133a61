"""A program as the text of one CUDA kernel: one thread a state.

Each operand is a pointer with two strides, in elements: from state to state and from element to element. So an array of
states is read where it is, and so is the transpose of an array of shape (elements, states), which a GPU reads fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cayley.compiler.c_expressions import WHOLE, Body, Dialect, Text, helper_names
from cayley.compiler.c_source import Parameters, comment_of, parameter_names
from cayley.compiler.c_words import FOR_FUNCTIONS
from cayley.compiler.names import free_prefix, identifier, unique
from cayley.compiler.program import Program, Variable
from cayley.compiler.single_precision import in_precision
from cayley.errors import UnsupportedError

# NVRTC has neither INFINITY nor NAN.
_DIALECTS = {
    "double": Dialect("double", "__longlong_as_double(0x7ff0000000000000LL)",
                      "__longlong_as_double(0x7ff8000000000000LL)", sincos="sincos", helper="static __device__"),
    "float": Dialect("float", "__int_as_float(0x7f800000)", "__int_as_float(0x7fc00000)", sincos="sincosf",
                     helper="static __device__"), }


THIS_THREAD = ("const long long state = (long long)blockIdx.x*blockDim.x + threadIdx.x;", "if (state >= count) return;")


def cuda_dialect(precision: str) -> Dialect:
    """How CUDA spells numbers of this precision."""
    if precision not in _DIALECTS:
        raise UnsupportedError(f"CUDA is written in 'double' or 'float', not {precision!r}")
    return _DIALECTS[precision]


@dataclass(frozen=True)
class _Operand:
    """An input or output in the text: its pointer and its two strides."""

    variable: Variable
    pointer: str
    state_stride: str
    element_stride: str

    def declared(self, kind: str) -> str:
        return f"{kind} *{self.pointer}, const long long {self.state_stride}, const long long {self.element_stride}"

    def at(self, place: int) -> str:
        return f"{self.pointer}[state*{self.state_stride} + {place}*{self.element_stride}]"


def kernel_name(program: Program) -> str:
    """What the kernel is called in the text."""
    return identifier(program.name, FOR_FUNCTIONS)


def cuda_source(program: Program, precision: str = "double") -> str:
    """The text of the kernel `kernel_name(program)(count, pointer, state stride, element stride, ...)`, inputs first.
    """
    dialect = cuda_dialect(precision)
    program = in_precision(program, precision)
    taken = {*helper_names(kernel_name(program)), "count", "state"}
    inputs, outputs = _operands(program, taken)
    helpers = dialect.definitions(program, kernel_name(program))
    declared = [o.declared(f"const {dialect.real}") for o in inputs] + [o.declared(dialect.real) for o in outputs]
    lines = [*THIS_THREAD, *_statements(program, dialect, inputs, outputs, taken)]
    note = comment_of(program, kernel_name(program),
                      Parameters([o.pointer for o in inputs], [o.pointer for o in outputs]))
    return kernel_text(kernel_name(program), note, helpers, ["const long long count", *declared], lines)


def kernel_text(called: str, note: str, helpers: Sequence[str], parameters: Sequence[str],
                statements: Sequence[str]) -> str:
    """The text of a kernel and of the functions that it calls."""
    return "".join([
        f"{note}\n", *[f"{helper}\n" for helper in helpers], f'extern "C" __global__ void {called}(\n    ',
        ",\n    ".join(parameters), ")\n{\n", *[f"    {line}\n" for line in statements], "}\n"])


def _operands(program: Program, taken: set[str]) -> tuple[list[_Operand], list[_Operand]]:
    names = parameter_names(program, taken=sorted(taken))
    taken.update(names.inputs, names.outputs)

    def operand(variable: Variable, name: str) -> _Operand:
        strides = [unique(f"{name}_{kind}_stride", taken) for kind in ("state", "element")]
        taken.update(strides)
        return _Operand(variable, name, *strides)

    inputs, outputs = ([operand(v, name) for v, name in zip(variables, labels, strict=True)]
                       for variables, labels in ((program.inputs, names.inputs), (program.outputs, names.outputs)))
    return inputs, outputs


def _statements(program: Program, dialect: Dialect, inputs: list[_Operand], outputs: list[_Operand],
                taken: set[str]) -> list[str]:
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
                texts[node.index] = Text(name, WHOLE)
    body = Body(program, dialect, texts, temporary=free_prefix(taken), helper=kernel_name(program))
    stores = [f"{operand.at(place)} =\n        {body.text(node).code};" for operand in outputs
              for place, node in enumerate(operand.variable.nodes)]
    return loads + body.lines + stores
