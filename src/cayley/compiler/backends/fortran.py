"""A program as a Fortran 2003 subroutine that needs nothing but the language's own functions.

Arrays are indexed from one, entry (i, j) of a matrix is A(i, j); scalars are arguments of their own. Small and capital
letters are the same in Fortran, so that names which differ in nothing else get an underscore."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

import numpy as np

from cayley.compiler.algebras.equations import Equations, equations
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.operations import OPERATIONS
from cayley.compiler.tracing.names import FOR_FUNCTIONS, identifier
from cayley.compiler.tracing.program import Program, Variable
from cayley.errors import UnsupportedError, printable
from cayley.extras import optional_imports

_KINDS = {"double": "kind(1.0d0)", "float": "kind(1.0)"}
_LONGEST = 100  # characters of a line
_LANGUAGE = """
abs acos aimag aint anint asin atan atan2 call case ceiling char conjg cos cosh dim do dot_product else elseif end
enddo endif epsilon exp exponent floor function huge if implicit int integer intent kind log log10 logical matmul max
merge min mod modulo nint none parameter print product program real result return select sign sin sinh size sqrt stop
subroutine sum tan tanh then tiny transpose use where while wp
"""
_WORDS = frozenset(_LANGUAGE.split())
_LONGEST_NAME = 59  # characters; of the 63 that are allowed, some are left for underscores


class Fortran(Backend):
    """One .f90 with one subroutine."""

    title = "Fortran"

    def spells(self, op: str) -> bool:
        return bool(OPERATIONS[op].spelled("sympy") or OPERATIONS[op].operator) or super().spells(op)

    def files(self, program: Program, precision: str) -> dict[str, str]:
        name = _brief(identifier(program.name, FOR_FUNCTIONS | _WORDS))
        return {f"{name}.f90": fortran_text(program, name, precision)}


def fortran_text(program: Program, name: str, precision: str = "double") -> str:
    """The text of a subroutine.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.tracing.trace import trace
    >>> program = trace(lambda m, v: 0.5 * m * v**2, Signature.parse("(),(2)->(2)"), {}, name="energy",
    ...                 inputs=["m", "v"])
    >>> print(fortran_text(program, "energy"))
    subroutine energy(m, v, out)
        implicit none
        integer, parameter :: wp = kind(1.0d0)
        real(wp), intent(in) :: m
        real(wp), intent(in) :: v(2)
        real(wp), intent(out) :: out(2)
        real(wp) :: t_1
        t_1 = (1.0_wp/2.0_wp)*m
        out(1) = t_1*v(1)**2
        out(2) = t_1*v(2)**2
    end subroutine energy
    <BLANKLINE>
    """
    with optional_imports():
        from sympy.codegen.cfunctions import expm1, log1p
    found = equations(in_precision(program, precision), shared=True, spelled={"expm1": expm1, "log1p": log1p})
    called = _Names(program, found, name)
    spelled = _printer(called.written)
    lines = ["implicit none", f"integer, parameter :: wp = {_KINDS[precision]}"]
    lines += [f"real(wp), intent({way}) :: {called.of[v.name, way]}{_extent(v)}" for way, side in
              (("in", program.inputs), ("out", program.outputs)) for v in side]
    temporaries = [called.written[str(symbol)] for symbol, _ in found.lines]
    lines += [f"real(wp) :: {', '.join(temporaries[k:k + 8])}" for k in range(0, len(temporaries), 8)]
    lines += [f"{called.written[str(symbol)]} = {spelled(expression)}" for symbol, expression in found.lines]
    for variable in program.outputs:
        target = called.of[variable.name, "out"]
        entries = _entries(found.outputs[variable.name])
        lines += [f"{target}{_index(place)} = {spelled(entry)}"
                  for place, entry in zip(np.ndindex(variable.shape), entries, strict=True)]
    arguments = [called.of[v.name, "in"] for v in program.inputs] + [called.of[v.name, "out"] for v in program.outputs]
    words = [f"! {part}" for line in printable(program.description).splitlines() for part in textwrap.wrap(line, 100)]
    whole = [*words, f"subroutine {name}({', '.join(arguments)})", *[f"    {line}" for line in lines],
             f"end subroutine {name}"]
    return "\n".join([part for line in whole for part in _continued(line)] + [""])


def _brief(name: str) -> str:
    """The name, or of one that is longer than Fortran allows the beginning and a number that stands for the whole."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME - 9]}_{crc32(name.encode()):08x}"


class _Names:
    """Names of the inputs, the outputs and the symbols of equations. No two differ by capitals alone."""

    def __init__(self, program: Program, found: Equations, name: str) -> None:
        self._taken = {name.lower()}
        self.of: dict[tuple[str, str], str] = {}
        self.written: dict[str, str] = {}
        for variable in program.inputs:
            self.of[variable.name, "in"] = self._new(variable.name)
            symbols = _entries(found.inputs[variable.name])
            for place, symbol in zip(np.ndindex(variable.shape), symbols, strict=True):
                self.written[str(symbol)] = self.of[variable.name, "in"] + _index(place)
        for variable in program.outputs:
            self.of[variable.name, "out"] = self._new(variable.name)
        for symbol, _ in found.lines:
            self.written[str(symbol)] = self._new(str(symbol))

    def _new(self, wanted: str) -> str:
        name = _brief(identifier(wanted, ()))
        while name.lower() in self._taken or name.lower() in _WORDS:
            name += "_"
        self._taken.add(name.lower())
        return name


def _printer(written: Mapping[str, str]) -> Any:  # noqa: ANN401 (a method of SymPy's)
    """Printer of SymPy expressions, with these names of symbols and with numbers of the kind `wp`."""
    with optional_imports():
        from sympy.printing.fortran import FCodePrinter
        from sympy.printing.precedence import precedence

    class Printer(FCodePrinter):
        def _print_Symbol(self, expr: Any) -> str:  # noqa: ANN401 (SymPy's protocol, and below)
            return written[str(expr)]

        def _print_Rational(self, expr: Any) -> str:  # noqa: ANN401
            return f"{expr.p}.0_wp/{expr.q}.0_wp"

        def _print_Pow(self, expr: Any) -> str:  # noqa: ANN401
            if expr.exp != -1:
                return str(super()._print_Pow(expr))
            return f"1.0_wp/{self.parenthesize(expr.base, precedence(expr))}"

        def _print_expm1(self, expr: Any) -> str:  # noqa: ANN401
            """exp(x) - 1 = 2 sinh(x/2) exp(x/2); Fortran has no such function."""
            x = f"({self._print(expr.args[0])})"
            return f"merge(2.0_wp*sinh({x}/2.0_wp)*exp({x}/2.0_wp), exp({x}) - 1.0_wp, abs({x}) < 1.0_wp)"

        def _print_log1p(self, expr: Any) -> str:  # noqa: ANN401
            """log(u) x/(u - 1) with u = 1 + x, in which the rounding of u cancels (W. Kahan)."""
            x = f"({self._print(expr.args[0])})"
            u = f"(1.0_wp + {x})"
            lost = f"{x}/merge(1.0_wp, {u} - 1.0_wp, {u} == 1.0_wp)"
            near = f"merge({x}, log({u})*({lost}), {u} == 1.0_wp)"
            return f"merge({near}, log({u}), abs({x}) < 0.5_wp)"

        def _wrap_fortran(self, lines: list[str]) -> list[str]:
            return lines

        def _print_Float(self, expr: Any) -> str:  # noqa: ANN401
            return f"{float(expr)!r}_wp"

    printer = Printer({"standard": 2003, "source_format": "free", "human": False})

    def spelled(expression: Any) -> str:  # noqa: ANN401
        _, missing, text = printer.doprint(expression)
        if missing:
            raise UnsupportedError(f"Fortran has no function for {next(iter(missing))}: export C or Python instead")
        return text.strip()

    return spelled


def _entries(value: Any) -> list[Any]:  # noqa: ANN401 (an expression, or a matrix or array of them)
    with optional_imports():
        from sympy import flatten
    return flatten(value.tolist()) if hasattr(value, "tolist") else [value]


def _index(place: tuple[int, ...]) -> str:
    return f"({', '.join(str(k + 1) for k in place)})" if place else ""


def _extent(variable: Variable) -> str:
    return f"({', '.join(map(str, variable.shape))})" if variable.shape else ""


def _continued(line: str) -> Iterable[str]:
    """A line in parts that are not too long."""
    if len(line) <= _LONGEST or line.lstrip().startswith("!"):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    parts = textwrap.wrap(line.strip(), _LONGEST - len(indent) - 8, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}{'    ' * bool(k)}{part}{' &' * (k < len(parts) - 1)}" for k, part in enumerate(parts)]


BACKEND = Fortran()
