"""Straight-line programs as C text: readable expressions and numbered temporaries. Shared by C99, CUDA and JavaScript.

A value with a single use is written where it is used, as long as the line stays short; every other value gets a
temporary. Parentheses keep the order of the graph's operations, so that the text rounds exactly as the graph says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cayley.compiler.native.schedule import schedule
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.operations import BOOLEAN, OPERATIONS, PARTNER
from cayley.compiler.tracing.calls import Callee, callees, groups
from cayley.compiler.tracing.composed import program_of
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.loop import ProgramLoop
from cayley.compiler.tracing.program import Program

LONGEST = 80  # characters of an expression
_INDENT = "    "


class CExpression(NamedTuple):
    """An expression in C."""

    code: str
    binds: int  # how strongly its outermost operator holds its operands
    reads: bool = False  # whether it reads an input from memory


_CHOICE, _AND, _EQUAL, _ORDER, _SUM, _PRODUCT, _SIGN, WHOLE = range(8)  # weakest first
_INFIX = {"add": (" + ", _SUM), "subtract": (" - ", _SUM), "multiply": ("*", _PRODUCT), "divide": ("/", _PRODUCT),
          "less": (" < ", _ORDER), "less_equal": (" <= ", _ORDER), "equal": (" == ", _EQUAL), "and": (" && ", _AND)}
_OPPOSITE = {"add": "subtract", "subtract": "add"}


def helper_names(called: str) -> list[str]:
    """The names that a function takes up in its file: its own and those of its helpers."""
    return [called, f"{called}_sincos", *[f"{called}_{op}" for op in OPERATIONS]]


def is_helper(op: str) -> bool:
    """True if the language lacks the operation: extrema in which a NaN prevails, the sign, division with a rest."""
    operation = OPERATIONS[op]
    return bool(operation.c_helper) or (operation.text is not None and not operation.c_function)


@dataclass(frozen=True)
class Dialect:
    """Numbers and functions as a language spells them."""

    real: str
    infinity: str = "INFINITY"
    nan: str = "NAN"
    helper: str = "static"

    @property
    def looped(self) -> str:
        """The words before a function that is a loop."""
        return self.helper

    def number(self, value: float) -> str:
        """The shortest literal that is read back as this value."""
        if self.real == "float":
            with np.errstate(all="ignore"):
                value = np.float32(value)  # type: ignore[assignment]
        if value != value:
            return self.nan
        if abs(value) == np.inf:
            return self.infinity if value > 0 else f"-{self.infinity}"
        return f"{value!s}f" if self.real == "float" else f"{value!s}"

    def function(self, name: str) -> str:
        """A function of math.h in this precision."""
        return name + ("f" if self.real == "float" else "")

    def constant(self, name: str, code: str, *, is_truth: bool = False) -> str:
        """The statement that gives a value its name."""
        return f"const {'int' if is_truth else self.real} {name} = {code};"

    def variable(self, name: str, code: str) -> str:
        """The statement that gives a name to a value that will change."""
        return f"{self.real} {name} = {code};"

    def array(self, name: str, entries: Sequence[str]) -> str:
        return f"const {self.real} {name}[{len(entries)}] = {{{', '.join(entries)}}};"

    def unused(self, names: Iterable[str]) -> list[str]:
        """Statements that say of parameters that they are not used."""
        return [f"(void){name};" for name in names]

    def call(self, function: str, arguments: Sequence[str], results: str, count: int) -> list[str]:
        """A call of a program on arrays, with a number of results."""
        return [f"{self.real} {results}[{count}];", f"{function}({', '.join([*arguments, results])});"]

    counter = "int"
    """The type of a whole number."""

    def whole(self, name: str, code: str) -> str:
        """The statement that gives a whole number its name."""
        return f"const {self.counter} {name} = {code};"

    def loop(self, counter: str, end: str, lines: Sequence[str], kind: str = "") -> list[str]:
        """The loop that counts from 0 to a number before `end`, around statements."""
        head = f"for ({kind or self.counter} {counter} = 0; {counter} < {end}; ++{counter}) {{"
        return [head, *[f"{_INDENT}{line}" for line in lines], "}"]

    def stop(self, code: str) -> list[str]:
        """The statements that leave a loop where a condition holds."""
        return [f"if ({code}) break;"]

    def change(self, name: str, code: str, *, may_stop: bool) -> str:
        """The statement that gives a variable of a loop its next value."""
        return f"{name} = {code};"

    def with_results(self, name: str, arrays: Sequence[str], lines: Sequence[str], *, looped: bool = False) -> str:
        """The definition of a program that is called: it takes a pointer for each input, and one for all results, of
        which the lines set `out[k]`. Programs that are `looped` read their inputs again and again."""
        parameters = ", ".join([*[f"const {self.real} *{array}" for array in arrays], f"{self.real} *out"])
        return block(f"{self.looped if looped else self.helper} void {name}({parameters})", lines)

    def function_of_numbers(self, name: str, parameters: Sequence[str], lines: Sequence[str], result: str) -> str:
        """The definition of a function of numbers."""
        typed = ", ".join(f"{self.real} {parameter}" for parameter in parameters)
        return block(f"{self.helper} {self.real} {name}({typed})", [*lines, f"return {result};"])

    def is_helper(self, op: str) -> bool:
        """True if an operation is a function that stands beside the program."""
        return is_helper(op)

    def sincos(self, prefix: str) -> str:
        """The function of both at once, if there is one."""
        return ""

    def definitions(self, program: Program, prefix: str) -> list[str]:
        """Definitions before the text of a program: operations that the language lacks, and programs that are
        called."""
        called = callees(program)
        programs = [program, *[callee.simplified for callee in called.values()]]
        ops = {node.op for each in programs for node in each.nodes}
        return [*self.helpers(ops, prefix), *[self._function(callee, prefix) for callee in called.values()]]

    def _function(self, callee: Callee, prefix: str) -> str:
        if isinstance(callee, ProgramLoop):
            from cayley.compiler.c.c_called_loops import loop_function  # which builds upon this module
            return loop_function(self, callee, prefix)
        program = in_precision(callee.simplified, "float" if self.real == "float" else "double")
        arrays = [f"in{k}" for k in range(len(program.inputs))]
        inputs = {node.index: CExpression(f"{name}[{k}]", WHOLE) for name, v in zip(arrays, program.inputs, strict=True)
                  for k, node in enumerate(v.nodes)}
        body = CStatements(program, self, inputs, temporary="t", helper=prefix)
        idle = [name for name, v in zip(arrays, program.inputs, strict=True)
                if not any(body.uses[node.index] for node in v.nodes)]
        stores = [f"out[{k}] = {body.text(node).code};" for k, node in enumerate(program.results)]
        return self.with_results(function_name(prefix, callee.key), arrays, [*self.unused(idle), *body.lines, *stores])

    def helpers(self, ops: Iterable[str], prefix: str) -> list[str]:
        """Definitions of what the language lacks, each after those that it needs itself."""
        found: dict[str, str] = {}
        for op in OPERATIONS:
            if op in ops:
                self.define(op, prefix, found)
        return list(found.values())

    def define(self, op: str, prefix: str, found: dict[str, str]) -> None:
        """Add the definition of an operation to those that are found, and before it what it needs."""
        if op in found or not self.is_helper(op):
            return
        name = f"{prefix}_{op}"
        if OPERATIONS[op].c_helper:
            words = {"real": self.real, "nan": self.nan, "zero": self.number(0.0), "half": self.number(0.5),
                     "one": self.number(1.0),
                     **{function: self.function(function) for function in ("fmod", "copysign", "floor")}}
            found[op] = f"{self.helper} " + OPERATIONS[op].c_helper.format(name=name, **words)
            return
        self.compose(op, name, prefix, found)

    def compose(self, op: str, name: str, prefix: str, found: dict[str, str]) -> None:
        """Add the definition of an operation by its text."""
        program = in_precision(program_of(OPERATIONS[op]), "float" if self.real == "float" else "double")
        for needed in {node.op for node in program.nodes}:
            self.define(needed, prefix, found)
        inputs = {v.nodes[0].index: CExpression(v.name, WHOLE) for v in program.inputs}
        body = CStatements(program, self, inputs, temporary="t", helper=prefix)
        found[op] = self.function_of_numbers(name, [v.name for v in program.inputs], body.lines,
                                             body.text(program.results[0]).code)


def block(head: str, lines: Sequence[str]) -> str:
    """Statements under the head of a function."""
    return "\n".join([head, "{", *[f"    {line}" for line in lines], "}"])


def function_name(prefix: str, key: str) -> str:
    """The name of a program that is called, by what it computes."""
    return f"{prefix}_{key[:12]}"


def joined(op: str, a: CExpression, b: CExpression) -> CExpression:
    """Two operands and the operator between them; a + (-b) is a - b, to the last bit, and a - (-b) is a + b."""
    if op in _OPPOSITE and b.code.startswith("-") and b.binds >= _PRODUCT:
        return joined(_OPPOSITE[op], a, CExpression(b.code[1:], WHOLE if b.binds == _SIGN else b.binds, b.reads))
    sign, binds = _INFIX[op]
    left = a.code if a.binds >= binds else f"({a.code})"
    right = b.code if b.binds > binds and not b.code.startswith("-") else f"({b.code})"
    return CExpression(left + sign + right, binds, a.reads or b.reads)


def signed(a: CExpression) -> CExpression:
    """-(a b) is (-a) b, to the last bit."""
    if a.binds < _PRODUCT or a.code.startswith("-"):
        return CExpression(f"-({a.code})", _SIGN, a.reads)
    return CExpression(f"-{a.code}", min(a.binds, _SIGN), a.reads)


def _inverted(a: CExpression) -> CExpression:
    return CExpression(f"!{a.code}" if a.binds >= _SIGN else f"!({a.code})", _SIGN, a.reads)


def _chosen(*parts: CExpression) -> CExpression:
    condition, a, b = (p.code if p.binds > _CHOICE else f"({p.code})" for p in parts)
    return CExpression(f"{condition} ? {a} : {b}", _CHOICE, any(p.reads for p in parts))


_SPELLED: dict[str, Callable[..., CExpression]] = {"negative": signed, "not": _inverted, "where": _chosen}


class CStatements:
    """The statements that compute a program. `inputs` gives the text of each input node, by index."""

    def __init__(self, program: Program, dialect: Dialect, inputs: Mapping[int, CExpression], *, temporary: str,
                 helper: str) -> None:
        self.dialect = dialect
        self.temporary = temporary
        self.helper = helper
        self.lines: list[str] = []
        self._texts = dict(inputs)
        self._unnamed: set[int] = set()
        self.uses = program.uses()
        self._arrays: dict[tuple[int, ...], str] = {}
        self._results: dict[int, str] = {}
        self._temporaries = 0
        order = schedule(program)
        self._angles = {(n.op, n.args[0].index): n for n in order if n.op in PARTNER}
        for node in order:
            self._compute(node)

    def text(self, node: Node) -> CExpression:
        if node.op != "constant":
            return self._texts[node.index]
        code = self.dialect.number(node.value)
        return CExpression(code, _SIGN if code.startswith("-") else WHOLE)

    def keep(self, node: Node) -> None:
        """Give the node a temporary, unless it has one or needs none."""
        if node.index in self._unnamed or self.text(node).reads:
            code = self._texts[node.index].code
            self.lines.append(self.dialect.constant(self._name(node), code, is_truth=node.op in BOOLEAN))

    def _name(self, node: Node) -> str:
        name = self._fresh()
        self._texts[node.index] = CExpression(name, WHOLE)
        self._unnamed.discard(node.index)
        return name

    def _compute(self, node: Node) -> None:
        if node.index in self._texts or self._with_partner(node):
            return
        if node.op == "call":
            self._call(node)
            return
        if node.op == "result":
            place = node.args[0].value.row(node.value)
            self._texts[node.index] = CExpression(f"{self._results[node.args[0].index]}[{place}]", WHOLE)
            return
        made = self._spelled(node)
        while len(made.code) > LONGEST and (operands := [a for a in node.args if a.index in self._unnamed]):
            self.keep(max(operands, key=lambda a: len(self._texts[a.index].code)))
            made = self._spelled(node)
        self._texts[node.index] = made
        self._unnamed.add(node.index)
        if self.uses[node.index] > 1:
            self.keep(node)

    def _call(self, node: Node) -> None:
        """A call on arrays of its arguments, which calls with the same arguments share."""
        arrays = [self._array(group) for group in groups(node)]
        results = self._fresh()
        self._results[node.index] = results
        function = function_name(self.helper, node.value.key)
        self.lines += self.dialect.call(function, arrays, results, node.value.stored)

    def _array(self, group: Sequence[Node]) -> str:
        key = tuple(node.index for node in group)
        if key not in self._arrays:
            self._arrays[key] = self._fresh()
            self.lines.append(self.dialect.array(self._arrays[key], [self.text(node).code for node in group]))
        return self._arrays[key]

    def _fresh(self) -> str:
        self._temporaries += 1
        return f"{self.temporary}{self._temporaries}"

    def _spelled(self, node: Node) -> CExpression:
        operands = [self.text(a) for a in node.args]
        is_helper = self.dialect.is_helper(node.op)
        if node.op in _INFIX and not is_helper:
            return joined(node.op, *operands)
        if node.op in _SPELLED:
            return _SPELLED[node.op](*operands)
        function = f"{self.helper}_{node.op}" if is_helper else self.dialect.function(OPERATIONS[node.op].c_function)
        return CExpression(f"{function}({', '.join(o.code for o in operands)})", WHOLE, any(o.reads for o in operands))

    def _with_partner(self, node: Node) -> bool:
        """A sine and a cosine of one angle by one call, in a language that has it; one of them may go unused."""
        function = self.dialect.sincos(self.helper)
        if not function or node.op not in PARTNER:
            return False
        angle = node.args[0]
        code = self.text(angle).code
        pair = [self._angles.get((op, angle.index)) for op in ("sin", "cos")]
        sine, cosine = [self._fresh() if member is None else self._name(member) for member in pair]
        self.lines += [f"{self.dialect.real} {sine}, {cosine};", f"{function}({code}, &{sine}, &{cosine});"]
        return True
