"""A program as a Python function of lists of floats that needs nothing but `math`: for readers, and for machines
without NumPy."""

from __future__ import annotations

import keyword
from typing import Any

from cayley.compiler.algebras.equations import equations
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.operations import OPERATIONS
from cayley.compiler.tracing.names import FOR_FUNCTIONS, identifier
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Scalar, Text
from cayley.extras import optional_imports


class Python(Backend):
    """A function of numbers and lists of numbers, for one state."""

    title = "Python"

    def spells(self, op: str) -> bool:
        return bool(OPERATIONS[op].spelled("sympy") or OPERATIONS[op].operator) or super().spells(op)

    def files(self, program: Program, precision: str) -> dict[str, str]:
        name = identifier(program.name, FOR_FUNCTIONS)
        return {f"{name}.py": python_text(program, name)}

    def function(self, program: Program) -> Text:
        room: dict[str, Any] = {}
        (file, text), = self.files(program, "double").items()
        exec(compile(text, file, "exec"), room)
        return room[file.removesuffix(".py")]


def python_text(program: Program, name: str) -> str:
    """The text of a module with one function. Arrays are lists, nested as their shapes say; scalars are numbers.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.tracing.trace import trace
    >>> program = trace(lambda m, v: 0.5 * m * v**2, Signature.parse("(),(2)->(2)"), {}, name="energy",
    ...                 inputs=["m", "v"])
    >>> print(python_text(program, "energy"))
    import math
    <BLANKLINE>
    <BLANKLINE>
    def energy(m, v):
        [v_1, v_2] = v
        t_1 = (1/2)*m
        out = [
            t_1*v_1**2,
            t_1*v_2**2,
        ]
        return out
    <BLANKLINE>
    """
    with optional_imports():
        from sympy.printing.pycode import PythonCodePrinter
    spelled = PythonCodePrinter({"fully_qualified_modules": True}).doprint
    with optional_imports():
        from sympy.codegen.cfunctions import expm1, log1p
    found = equations(program, shared=True, spelled={"expm1": expm1, "log1p": log1p})
    taken = {str(symbol)
             for symbol, _ in found.lines} | {str(s)
                                              for value in found.inputs.values()
                                              for s in _flat(value)}
    parameters: dict[str, str] = {}
    reserved = {*keyword.kwlist, "math", name}
    for variable in program.inputs:
        own = set() if variable.shape else {str(found.inputs[variable.name])}
        parameters[variable.name] = identifier(variable.name, reserved, (taken - own) | {*parameters.values()})
    lines = [
        f"{_nested(list(map(str, _flat(found.inputs[v.name]))), v.shape)} = {parameters[v.name]}"
        for v in program.inputs if v.shape or str(found.inputs[v.name]) != parameters[v.name]]
    lines += [f"{symbol} = {spelled(expression)}" for symbol, expression in found.lines]
    results = [identifier(v.name, reserved, taken | {*parameters.values()}) for v in program.outputs]
    for variable, result in zip(program.outputs, results, strict=True):
        entries = [spelled(entry) for entry in _flat(found.outputs[variable.name])]
        lines += [f"{result} = {entries[0]}"] if not variable.shape else _listed(result, entries, variable.shape)
    words = [f"# {line}".rstrip() for line in program.description.splitlines()]
    return "\n".join(["import math", "", "", *words, f"def {name}({', '.join(parameters.values())}):",
                      *[f"    {line}" for line in [*lines, f"return {', '.join(results)}"]], ""])


def _flat(value: Scalar) -> list[Any]:
    with optional_imports():
        from sympy import flatten
    return flatten(value.tolist()) if hasattr(value, "tolist") else [value]


def _nested(entries: list[str], shape: tuple[int, ...]) -> str:
    """The entries as a list of lists, written in one line."""
    if not shape:
        return entries[0]
    size = len(entries) // max(shape[0], 1)
    return f"[{', '.join(_nested(entries[k * size:(k + 1) * size], shape[1:]) for k in range(shape[0]))}]"


def _listed(name: str, entries: list[str], shape: tuple[int, ...]) -> list[str]:
    """The assignment of a list, a row to a line."""
    size = len(entries) // max(shape[0], 1)
    rows = [_nested(entries[k * size:(k + 1) * size], shape[1:]) for k in range(shape[0])]
    return [f"{name} = [", *[f"    {row}," for row in rows], "]"]


BACKEND = Python()
