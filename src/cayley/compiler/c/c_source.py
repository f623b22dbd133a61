"""A program as C99: one `.c` and one `.h` that need nothing but math.h.

Scalars are passed by value, arrays as flat row-major pointers. Every input is read before the first output is written,
so an output may be the same array as an input."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cayley.compiler.algebras.counts import count
from cayley.compiler.c.c_expressions import WHOLE, CExpression, CStatements, Dialect, helper_names
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.tracing.names import FOR_FUNCTIONS, FOR_PARAMETERS, free_prefix, identifier
from cayley.compiler.tracing.program import Program, Variable
from cayley.errors import UnsupportedError, printable
from cayley.showing import html_text

_INDENT = "    "
_LONGEST_LINE = 110
_DIALECTS = {"double": Dialect("double", "(double)INFINITY", "(double)NAN"), "float": Dialect("float")}
AS_WRITTEN = """/* No product is fused into a sum. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize ("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract (off)
#else
#pragma STDC FP_CONTRACT OFF
#endif

"""

_END_OF_HEADER = "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n"


@dataclass(frozen=True, repr=False)
class CSource:
    """The text of one C function: `source` is the .c file, `header` the .h file."""

    name: str
    source: str
    header: str

    def write(self, folder: str | Path) -> tuple[Path, Path]:
        """Write both files into the folder, which is made if need be; their paths, the .c first."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        paths = place / f"{self.name}.c", place / f"{self.name}.h"
        for path, text in zip(paths, (self.source, self.header), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths

    def extended(self, declarations: str, definitions: str) -> CSource:
        """The same with more at the ends of the header and of the source."""
        header = f"{self.header.removesuffix(_END_OF_HEADER)}\n{declarations}{_END_OF_HEADER}"
        return CSource(self.name, f"{self.source}\n{definitions}", header)

    def __repr__(self) -> str:
        lines = len(self.source.splitlines())
        return f"<C99 function {self.name}, {lines} lines: print it, or write(folder) {self.name}.c and {self.name}.h>"

    def _repr_html_(self) -> str:
        return html_text(repr(self), str(self))

    def __str__(self) -> str:
        return f"/* ---- {self.name}.h ---- */\n\n{self.header}\n/* ---- {self.name}.c ---- */\n\n{self.source}"


def c_source(program: Program, *, name: str | None = None, precision: str = "double") -> CSource:
    """The C99 text of a program, in `double` or `float`.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.tracing.trace import trace
    >>> program = trace(lambda m, v: 0.5 * m * v**2, Signature.parse("(),()->()"), {}, name="energy", inputs=["m", "v"])
    >>> print(c_source(program).source.partition("<math.h>")[2].strip())
    void energy(double m, double v, double *out)
    {
        *out = 0.5*m*(v*v);
    }
    """
    dialect = c_dialect(precision)
    program = in_precision(program, precision)
    called = identifier(name or program.name, FOR_FUNCTIONS)
    parameters = parameter_names(program, taken=helper_names(called))
    prototype = _prototype(program, called, parameters, precision)
    note = comment_of(program, called, parameters)
    helpers = dialect.definitions(program, called)
    statements = _statements(program, called, parameters, dialect)
    source = source_text(called, prototype, note, helpers, statements, AS_WRITTEN if program.is_strict else "")
    return CSource(called, source, header_text(called, prototype, note))


def c_dialect(precision: str) -> Dialect:
    """Numbers of this precision as C spells them."""
    if precision not in _DIALECTS:
        raise UnsupportedError(f"C must be written in 'double' or 'float', not {precision!r}")
    return _DIALECTS[precision]


@dataclass(frozen=True)
class CNames:
    """Names of the inputs and outputs of a program in C."""

    inputs: list[str]
    outputs: list[str]


def parameter_names(program: Program, taken: Sequence[str] = ()) -> CNames:
    """Identifiers that differ from each other and from what is taken; an output with the name of an input gets `_out`.
    """
    inputs: list[str] = []
    for variable in program.inputs:
        inputs.append(identifier(variable.name, FOR_PARAMETERS, [*inputs, *taken]))
    outputs: list[str] = []
    for variable in program.outputs:
        name = f"{variable.name}_out" if variable.name in inputs else variable.name
        outputs.append(identifier(name, FOR_PARAMETERS, [*inputs, *outputs, *taken]))
    return CNames(inputs, outputs)


def spelled(program: Program, parameters: CNames, real: str) -> CNames:
    """The inputs and outputs as they are declared in a prototype."""
    inputs = [_declaration(v, name, f"const {real}") if v.shape else f"{real} {name}"
              for v, name in zip(program.inputs, parameters.inputs, strict=True)]
    return CNames(inputs, [_declaration(v, name, real)
                               for v, name in zip(program.outputs, parameters.outputs, strict=True)])


def _prototype(program: Program, called: str, parameters: CNames, real: str) -> str:
    each = spelled(program, parameters, real)
    return declared(called, [*each.inputs, *each.outputs])


def declared(called: str, parameters: Sequence[str]) -> str:
    """The prototype of a function with these parameters."""
    line = f"void {called}({', '.join(parameters) or 'void'})"
    if len(line) < _LONGEST_LINE:
        return line
    return f"void {called}(\n{_INDENT}" + f",\n{_INDENT}".join(parameters) + ")"


def _declaration(variable: Variable, name: str, kind: str) -> str:
    """ISO C has no arrays of no elements."""
    return f"{kind} {name}[{len(variable.nodes)}]" if variable.shape and variable.nodes else f"{kind} *{name}"


def _statements(program: Program, called: str, parameters: CNames, dialect: Dialect) -> list[str]:
    inputs = {node.index: CExpression(f"{name}[{k}]", WHOLE, reads=True) if v.shape else CExpression(name, WHOLE)
              for v, name in zip(program.inputs, parameters.inputs, strict=True) for k, node in enumerate(v.nodes)}
    temporary = free_prefix([called, *parameters.inputs, *parameters.outputs])
    body = CStatements(program, dialect, inputs, temporary=temporary, helper=called)
    results = program.results
    if len(results) > 1:
        for node in results:
            if body.text(node).reads:
                body.keep(node)
    targets = [f"{name}[{k}]" if v.shape else f"*{name}"
               for v, name in zip(program.outputs, parameters.outputs, strict=True) for k in range(len(v.nodes))]
    stores = [f"{target} = {body.text(node).code};" for target, node in zip(targets, results, strict=True)]
    return [*unused(program, parameters), *body.lines, *stores]


def unused(program: Program, parameters: CNames) -> list[str]:
    """Casts to void of unused parameters."""
    uses = program.uses()
    idle = [
        name for v, name in zip(program.inputs, parameters.inputs, strict=True)
        if not any(uses[n.index] for n in v.nodes)]
    idle += [name for v, name in zip(program.outputs, parameters.outputs, strict=True) if not v.nodes]
    return [f"(void){name};" for name in idle]


def comment_of(program: Program, called: str, parameters: CNames) -> str:
    """Comment of a function: what it computes, its inputs and outputs, and its operation counts."""
    inputs, outputs = (table([(v, name, spoken(v)) for v, name in zip(variables, names, strict=True)])
                       for variables, names in ((program.inputs, parameters.inputs),
                                                (program.outputs, parameters.outputs)))
    return comment(program, called, inputs, outputs, f"Operations: {count(program)}.",
                   "An output may be the same array as an input. Written by Cayley.")


def comment(program: Program, called: str, inputs: Sequence[str], outputs: Sequence[str], *last: str) -> str:
    """A comment with the description of a program, tables of inputs and outputs, and last lines."""
    title = f"{called}: {program.description}" if program.description else called
    lines = [part for paragraph in title.splitlines() for part in _wrapped(paragraph)]
    lines += ["", "Inputs", *inputs, "", "Outputs", *outputs, ""]
    lines += [part for line in last for part in textwrap.wrap(line, 100)]
    return "\n".join(["/*", *[f" * {_harmless(line)}".rstrip() for line in lines], " */"])


def _wrapped(paragraph: str) -> list[str]:
    """The rest of a line that is indented, as one of a table, is indented further."""
    indent = len(paragraph) - len(paragraph.lstrip())
    return textwrap.wrap(paragraph, 100, subsequent_indent=" " * (indent and indent + 4)) or [""]


def table(variables: Sequence[tuple[Variable, str, str]]) -> list[str]:
    """Rows of variables, what they are called in the text, and what they are."""
    rows = [(name, words, f"[{v.unit}]" if v.unit else "", f"({v.name})" if v.name != name else "")
            for v, name, words in variables]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def spoken(variable: Variable, repeated: str = "") -> str:
    """Description of an array in words; `repeated` names the things of which each has one."""
    if len(variable.shape) < 2:
        one = f"vector of {variable.shape[0]}" if variable.shape else "scalar"
    else:
        kind = "matrix" if len(variable.shape) == 2 else "array"
        one = f"{' x '.join(map(str, variable.shape))} {kind}, row-major"
    return f"{one} {repeated}".rstrip()


def _harmless(line: str) -> str:
    """A line without characters that begin or end a comment or a line, form trigraphs, change the direction of writing
    or cannot be written."""
    apart = re.sub(r"\?(?=\?)", "? ", line.replace("*/", "* /").replace("/*", "/ *"))
    return printable(apart).replace("\n", "\\n")


def source_text(called: str, prototype: str, note: str, helpers: Sequence[str], statements: Sequence[str],
                pragmas: str) -> str:
    """The .c file."""
    before = "".join(f"{line}\n" for line in helpers) + ("\n" if helpers else "")
    inside = "".join(f"{_INDENT}{line}\n" for line in statements)
    head = f'{note}\n\n#include "{called}.h"\n\n#include <math.h>\n\n'
    return f"{head}{pragmas}{before}{prototype}\n{{\n{inside}}}\n"


def header_text(called: str, prototype: str, note: str) -> str:
    """The .h file."""
    guard = f"CAYLEY_{called.upper()}_H"
    return (f"{note}\n\n#ifndef {guard}\n#define {guard}\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
            f"{prototype};\n{_END_OF_HEADER}")
