"""The C that checks a library: its test vectors as constants, and a function that compares.

What is found wrong is handed to a function that the program gives, so that the same text serves a terminal and a
microcontroller."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cayley.compiler.c.c_source import c_dialect
from cayley.compiler.tracing.names import FOR_PARAMETERS, identifier
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.exports.vectors import PortRows, TestedFunction

_COMPARE = """\
/* What is told of each number that is wrong: which output, of which state, which element. */
typedef void (*@_report)(const char *what, int state, int element, double found, double right);

static int @_compare(@_report report, const char *what, int state, const %(real)s *found, const %(real)s *right,
                     int count, %(real)s within)
{
    int wrong = 0;
    for (int k = 0; k < count; ++k) {
        const %(real)s off = found[k] - right[k];
        const int both_unknown = found[k] != found[k] && right[k] != right[k];
        if (!(off <= within && -off <= within) && !both_unknown) {
            report(what, state, k, (double)found[k], (double)right[k]);
            ++wrong;
        }
    }
    return wrong;
}
"""
_TURN = """
static void @_turn(const %(real)s *rows, %(real)s *columns, int count, int size)
{
    for (int state = 0; state < count; ++state)
        for (int k = 0; k < size; ++k) columns[k*count + state] = rows[state*size + k];
}
"""


def vectors_text(library: str, parts: Sequence[TestedFunction], real: str) -> str:
    """The header of the test vectors."""
    lines = [f"/* Test vectors of {library}: inputs, the outputs that they must give, and how far these may be off. "
             "Written by Cayley. */", "", f"#ifndef CAYLEY_{library.upper()}_VECTORS_H",
             f"#define CAYLEY_{library.upper()}_VECTORS_H", "", "#include <math.h>", ""]
    for part in parts:
        for name, rows in _constants(part):
            lines += [f"static const {real} {name}[{len(rows)}]{f'[{rows.shape[1]}]' if rows.ndim > 1 else ''} = {{",
                      *_numbers(rows, real), "};"]
        lines.append("")
    return "\n".join([*lines, "#endif", ""])


def check_text(library: str, parts: Sequence[TestedFunction], real: str) -> str:
    """The header of the function that compares: `<library>_check(report)` is how many numbers are wrong."""
    guard = f"CAYLEY_{library.upper()}_CHECK_H"
    each = "\n".join(_check(library, part, real) for part in parts)
    tools = _COMPARE + (_TURN if any(part.has_batch for part in parts) else "")
    calls = "".join(f"    wrong += {library}_check_{part.source.name}(report);\n" for part in parts)
    states = sum(len(part.vectors.outputs[0].rows) for part in parts)
    return (f"/* Compares {library} with its test vectors: {library}_check(report) is how many numbers are wrong. "
            f"Written by Cayley. */\n\n#ifndef {guard}\n#define {guard}\n\n#include \"{library}.h\"\n"
            f"#include \"{library}_vectors.h\"\n\n#define {library.upper()}_STATES {states}\n\n"
            f"{tools.replace('@', library) % {'real': real}}\n{each}\n"
            f"static int {library}_check({library}_report report)\n{{\n    int wrong = 0;\n{calls}"
            "    return wrong;\n}\n\n#endif\n")


def _constants(part: TestedFunction) -> list[tuple[str, Array]]:
    vectors = part.vectors
    named = _named(part)
    return [*[(named[column.name, side], column.rows[:, 0] if column.scalar and side == "in" else _padded(column.rows))
              for side, columns in (("in", vectors.inputs), ("out", vectors.outputs)) for column in columns],
            *[(named[column.name, "start"], column.rows[0]) for column in vectors.start or ()],
            *[(named[column.name, "within"], within) for column, within in zip(vectors.outputs, vectors.within,
                                                                               strict=True)]]


def _named(part: TestedFunction) -> dict[tuple[str, str], str]:
    """The names of the constants, by the column and its use."""
    taken: list[str] = []
    found = {}
    vectors = part.vectors
    for side, columns in (("in", vectors.inputs), ("out", vectors.outputs), ("start", vectors.start or ()),
                          ("within", vectors.outputs)):
        for column in columns:
            name = identifier(f"{part.source.name}_{side}_{column.name}", FOR_PARAMETERS, taken)
            taken.append(name)
            found[column.name, side] = name
    return found


def _padded(rows: Array) -> Array:
    """ISO C has no arrays of no elements."""
    return rows if rows.shape[1] else rows.reshape(len(rows), 0).sum(axis=1, keepdims=True)


def _numbers(rows: Array, real: str) -> list[str]:
    number = c_dialect(real).number
    if rows.ndim == 1:
        return textwrap.wrap(", ".join(map(number, rows)), 110, initial_indent="    ", subsequent_indent="    ")
    return [line for row in rows for line in textwrap.wrap(f"{{{', '.join(map(number, row))}}},", 110,
                                                           initial_indent="    ", subsequent_indent="     ")]


def _check(library: str, part: TestedFunction, real: str) -> str:
    vectors = part.vectors
    named = _named(part)
    rows = len(vectors.outputs[0].rows)
    called = part.source.name
    given = [f"{named[column.name, 'in']}[state]" for column in vectors.inputs]
    outputs = [f"out{k}" for k in range(len(vectors.outputs))]
    room = [f"        {real} {out}[{max(1, column.rows.shape[1])}];" for out, column in zip(outputs, vectors.outputs,
                                                                                           strict=True)]
    begin = []
    if vectors.start is not None:
        start = [named[column.name, "start"] + ("[0]" if column.scalar else "") for column in vectors.start]
        begin = [f"    {called}_state memory;", f"    {called}_init({', '.join(['&memory', *start])});"]
        given = ["&memory", *given]
        called = f"{called}_step"
    compared = [_compared(library, part, column, out, named[column.name, "out"], named[column.name, "within"])
                for column, out in zip(vectors.outputs, outputs, strict=True) if column.rows.shape[1]]
    idle = [] if compared else ["    (void)report;", f"    (void){library}_compare;"]
    return "\n".join([
        f"static int {library}_check_{part.source.name}({library}_report report)", "{", "    int wrong = 0;", *idle,
        *begin,
        f"    for (int state = 0; state < {rows}; ++state) {{", *room,
        _called(f"        {called}", [*given, *outputs]), *compared, "    }",
        *(_batch(library, part, real, rows) if part.has_batch else []), "    return wrong;", "}", ""])


def _compared(library: str, part: TestedFunction, column: PortRows, out: str, right: str, within: str) -> str:
    what = identifier(column.name, ())
    return _called(f"        wrong += {library}_compare", [
        "report", f"\"{part.source.name}: {what}\"", "state", out, f"{right}[state]", str(column.rows.shape[1]),
        f"{within}[state]"])


def _called(function: str, arguments: Sequence[str]) -> str:
    """A call, in several lines if it is long."""
    indent = " " * (len(function) - len(function.lstrip()) + 4)
    return "\n".join(textwrap.wrap(f"{function}({', '.join(arguments)});", 110, subsequent_indent=indent,
                                   break_long_words=False, break_on_hyphens=False, drop_whitespace=True))


def _batch(library: str, part: TestedFunction, real: str, rows: int) -> list[str]:
    """All states at once: rows become columns, and columns rows again."""
    vectors = part.vectors
    named = _named(part)
    sizes = [(f"in{k}", column, named[column.name, "in"]) for k, column in enumerate(vectors.inputs)]
    lines = []
    for array, column, constant in sizes:
        width = max(1, column.rows.shape[1])
        first = f"&{constant}[0]" if column.scalar else f"&{constant}[0][0]"
        lines += [f"        {real} {array}[{rows * width}];",
                  f"        {library}_turn({first}, {array}, {rows}, {width});"]
    outputs = [(f"out{k}", max(1, column.rows.shape[1])) for k, column in enumerate(vectors.outputs)]
    lines += [f"        {real} {array}[{rows * width}], {array}_rows[{rows * width}];" for array, width in outputs]
    lines.append(_called(f"        {part.source.name}_batch",
                         [f"(size_t){rows}", *[array for array, _, _ in sizes], *[array for array, _ in outputs]]))
    lines += [f"        {library}_turn({array}, {array}_rows, {width}, {rows});" for array, width in outputs]
    lines.append(f"        for (int state = 0; state < {rows}; ++state) {{")
    for (array, width), column in zip(outputs, vectors.outputs, strict=True):
        if column.rows.shape[1]:
            text = _compared(library, part, column, f"{array}_rows + {width}*state", named[column.name, "out"],
                             named[column.name, "within"])
            lines += [f"    {line}" for line in text.splitlines()]
    return ["    {", *lines, "        }", "    }"]
