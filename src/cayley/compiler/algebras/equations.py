"""A program as equations to read: SymPy expressions, plain text and LaTeX.

A short program is written out, each output an expression in the inputs. A long one is a list of numbered lines, as in a
book: a value that is used more than once, or that would make a line too long, gets a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.algebras.packages import SYMPY
from cayley.compiler.algebras.protocol import package
from cayley.compiler.operations import BOOLEAN
from cayley.compiler.tracing.calls import expanded
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.names import free_prefix, unique
from cayley.compiler.tracing.program import Program
from cayley.compiler.typing import Scalar, Text

if TYPE_CHECKING:
    from sympy import Expr, Symbol

_LONGEST_LINE = 24  # operations
_LONGEST_WRITTEN_OUT = 400  # operations of all outputs together
_SHORT_DECIMAL = 12  # characters
_LEAVES = ("input", "constant")


@dataclass(frozen=True)
class Equations:
    """The equations of a program.

    `lines` are the intermediate values, in order; `outputs` has for each output its expression, a matrix (a vector is a
    column) or an array of them, in terms of the inputs and of the lines. `inputs` has the symbols of each input in the
    same form."""

    name: str
    inputs: Mapping[str, Any]
    lines: list[tuple[Symbol, Expr]]
    outputs: Mapping[str, Any]
    _results: list[tuple[Symbol, Expr]] = field(repr=False)
    _written: Mapping[Symbol, str] = field(repr=False)

    def substituted(self) -> Equations:
        """The same equations without intermediate lines; long for a large program."""
        known: dict[Any, Any] = {}
        for symbol, expression in self.lines:
            known[symbol] = expression.xreplace(known)
        outputs = {name: _each(value, lambda e: e.xreplace(known)) for name, value in self.outputs.items()}
        return replace(self, lines=[], outputs=outputs, _results=[(s, e.xreplace(known)) for s, e in self._results])

    def latex(self) -> str:
        """All lines, numbered, as one `aligned` environment for a displayed formula."""
        sympy = package("sympy")
        rows = [
            f"{self._written[s]} &= {sympy.latex(e, symbol_names=self._written)} && ({k})"
            for k, (s, e) in enumerate(self._all(), 1)]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _all(self) -> Iterator[tuple[Symbol, Expr]]:
        yield from self.lines
        yield from self._results

    def __repr__(self) -> str:
        lines = f" by {len(self.lines)} intermediate lines" if self.lines else ""
        return f"<equations of {self.name}: {', '.join(self.outputs)} from {', '.join(self.inputs)}{lines}>"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def __str__(self) -> str:
        sympy = package("sympy")
        return "\n".join(f"{s.name} = {sympy.sstr(e, full_prec=False)}" for s, e in self._all())


def _each(value: Scalar, change: Text) -> Scalar:
    return value.applyfunc(change) if hasattr(value, "applyfunc") else change(value)


def equations(program: Program, *, shared: bool | None = None,
              spelled: Mapping[str, Text] = MappingProxyType({})) -> Equations:
    """The equations of the program, with intermediate lines if `shared`; by default, only if it would be long without.
    `spelled`: operations for which a language has better words than SymPy.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.tracing.trace import trace
    >>> program = trace(lambda m, v: 0.5 * m * v**2, Signature.parse("(),()->()"), {}, name="energy", inputs=["m", "v"])
    >>> print(equations(program))
    out = m*v**2/2
    >>> equations(program).outputs["out"].diff("v")
    m*v
    """
    program = expanded(program)
    names = _Names(program)
    values = {
        node.index: s
        for v in program.inputs
        for node, s in zip(v.nodes, names.symbols[v.name, "input"], strict=True)}
    shared = _written_out_length(program) > _LONGEST_WRITTEN_OUT if shared is None else shared
    with package("sympy.core.parameters").distribute(False):  # 2 (a + b) stays a product
        lines = _compute(program, values, names if shared else None, spelled)
    inputs = {v.name: SYMPY.write(names.symbols[v.name, "input"], v.shape, ()) for v in program.inputs}
    expressions = [[values[node.index] for node in v.nodes] for v in program.outputs]
    outputs = {v.name: SYMPY.write(e, v.shape, ()) for v, e in zip(program.outputs, expressions, strict=True)}
    symbols = [s for v in program.outputs for s in names.symbols[v.name, "output"]]
    results = list(zip(symbols, [e for each in expressions for e in each], strict=True))
    return Equations(program.name, inputs, lines, outputs, results, names.written)


def _written_out_length(program: Program) -> int:
    """The operations of all outputs together if nothing were shared, counted up to a little more than the limit."""
    length: dict[int, int] = {}
    for node in program.nodes:
        length[node.index] = min(
            len(node.args) and 1 + sum(length[a.index] for a in node.args), _LONGEST_WRITTEN_OUT + 1)
    return sum(length[node.index] for node in program.results)


def _compute(program: Program, values: dict[int, Any], names: _Names | None,
             spelled: Mapping[str, Text]) -> list[tuple[Symbol, Expr]]:
    """Fill in the value of every node; with `names`, values that deserve one become lines."""
    uses = program.uses()
    length = dict.fromkeys(values, 0)
    lines = []
    table = {op: SYMPY.function(op) for op in {node.op for node in program.nodes} - set(_LEAVES)}
    table.update(spelled, subtract=lambda a, b: a + _negative(b), negative=_negative)
    for node in program.nodes:
        if node.op == "constant":
            values[node.index] = _constant(node.value)
            length[node.index] = 0
        if node.op in _LEAVES:
            continue
        value = table[node.op](*[values[a.index] for a in node.args])
        inside = sum(length[a.index] for a in node.args)
        length[node.index] = inside + 1
        if names is not None and _deserves_a_name(node, value, uses[node.index], inside):
            lines.append((names.temporary(), value))
            value = lines[-1][0]
            length[node.index] = 0
        values[node.index] = value
    return lines


def _constant(value: float) -> Expr:
    """A third is written as a third and not as 0.333333333333333; the difference is less than the rounding of the
    float."""
    exact = SYMPY.constant(value)
    if exact.is_Float and len(repr(value)) > _SHORT_DECIMAL:
        fraction = Fraction(value).limit_denominator(100)
        if float(fraction) == value and abs(fraction.numerator) < 1000:
            return package("sympy").Rational(fraction.numerator, fraction.denominator)
    return exact


def _negative(value: Expr) -> Expr:
    """Signs go inside a sum; SymPy is asked to leave other factors outside."""
    return value.func(*[-term for term in value.args]) if value.is_Add else -value


def _deserves_a_name(node: Node, value: Scalar, uses: int, inside: int) -> bool:
    if value.is_Atom or node.op in BOOLEAN or (node.op == "negative" and not inside):
        return False
    return uses > 1 or inside >= _LONGEST_LINE


class _Names:
    """The symbols of inputs and outputs, numbered from one as in books, and how LaTeX writes them."""

    def __init__(self, program: Program) -> None:
        self.written: dict[Symbol, str] = {}
        self.symbols: dict[tuple[str, str], list[Symbol]] = {}
        self._taken: set[str] = set()
        self._known = {v.name for v in program.inputs + program.outputs}
        inputs = {v.name for v in program.inputs}
        for side, variables in (("input", program.inputs), ("output", program.outputs)):
            # a scalar keeps its name, whatever entries there are
            for variable in sorted(variables, key=lambda v: len(v.shape)):
                base = f"{variable.name}_out" if side == "output" and variable.name in inputs else variable.name
                self.symbols[variable.name, side] = [self._symbol(base, index) for index in np.ndindex(variable.shape)]
        self._prefix = free_prefix(self._taken | self._known)
        self._count = 0

    def temporary(self) -> Symbol:
        self._count += 1
        return self._new(f"{self._prefix}_{self._count}", f"{self._prefix}_{{{self._count}}}")

    def _symbol(self, base: str, index: tuple[int, ...]) -> Symbol:
        places = [str(k + 1) for k in index]
        short = all(len(p) == 1 for p in places)
        wanted = "_".join([base, ("" if short else "_").join(places)]) if places else base
        name = unique(wanted, self._taken)
        return self._new(name, self._latex(base, ("" if short else ",").join(places)) + "'" * (len(name) - len(wanted)))

    def _new(self, name: str, written: str) -> Symbol:
        symbol = package("sympy").Symbol(name)
        self.written[symbol] = written
        self._taken.add(name)
        return symbol

    def _latex(self, base: str, places: str) -> str:
        base, dots = self._without_dots(base)
        head, *below = [part for part in re.split(r"_+|(?<=\D)(?=\d+$)", base) if part] or [base]
        letter = _upright(head)
        letter = f"\\{'d' * dots}ot{{{letter}}}" if dots else letter
        below = [part if part.isdigit() else _upright(part) for part in below] + [places] * bool(places)
        return f"{letter}_{{{','.join(below)}}}" if below else letter

    def _without_dots(self, name: str) -> tuple[str, int]:
        """qd is the first derivative of q, qdd the second; likewise for every other name that has its own."""
        for dots in (2, 1):
            base = name[:-dots]
            if name.endswith("d" * dots) and base and (base == "q" or base in self._known):
                return base, dots
        return name, 0


def _upright(word: str) -> str:
    """Greek by its name, a single letter as it is, other words upright."""
    written = package("sympy").latex(package("sympy").Symbol(word))
    return f"\\mathrm{{{word}}}" if written == word and len(word) > 1 else written
