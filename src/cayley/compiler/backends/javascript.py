"""A program or an iteration as a function in JavaScript, for pages and for Node: a module that needs nothing else.

Scalars are numbers, arrays are flat and row-major, typed ones or others. A function of one output returns it, one of
several an object with one field for each. All numbers are in double precision, as everywhere in that language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cayley.compiler.algebras.counts import count
from cayley.compiler.backends.protocol import Backend
from cayley.compiler.c.c_expressions import WHOLE, CExpression, CStatements, Dialect, block, helper_names, is_helper
from cayley.compiler.c.c_loops import LOOP_NAMES, STEP, MemoryPlace, loop_statements
from cayley.compiler.c.c_source import CNames, comment, parameter_names, spoken, table
from cayley.compiler.iteration import CHANGING, CONSTANT, CYCLING, Iteration
from cayley.compiler.operations import OPERATIONS, OWN
from cayley.compiler.tracing.names import free_prefix, identifier
from cayley.compiler.tracing.program import Program, Variable
from cayley.errors import UnsupportedError

_LANGUAGE = """
abstract arguments async await boolean break byte case catch char class const continue debugger default delete do
double else enum eval export extends false final finally float for from function get globalThis goto if implements
import in instanceof int interface let long native new null of package private protected public return set short static
super switch synchronized this throw throws transient true try typeof undefined var void volatile while with yield
Array Float64Array Infinity Math NaN Number Object
"""
_INDENT = "    "
_LONGEST_LINE = 100
_WORDS = frozenset(_LANGUAGE.split())
_ABSOLUTE = {"fabs": "abs"}
_FUNCTIONS = """
acos acosh asin asinh atan atan2 atanh cbrt cos cosh exp expm1 fabs floor hypot log log10 log1p log2 sin sinh sqrt tan
tanh
"""
_MATH = frozenset(_FUNCTIONS.split())
_SIGNED = "b < 0 || Object.is(b, -0) ? -Math.abs(a) : Math.abs(a)"
# What `Math` lacks, or takes otherwise than NumPy: extrema in which a NaN prevails and the second of two zeros, a sign
# without a sign of zero, whole numbers to which halves are rounded evenly.
_HELPERS = {
    "copysign": f"(a, b) {{ return {_SIGNED}; }}",
    "exp2": "(a) { return 2 ** a; }",
    "floor_divide": """(a, b) {
    const rest = a % b;
    const steps = rest !== 0 && (b < 0) !== (rest < 0) ? (a - rest)/b - 1 : (a - rest)/b;
    const below = Math.floor(steps);
    const whole = steps - below > 0.5 ? below + 1 : below;
    return b === 0 ? a/b : steps === 0 ? (a/b < 0 || Object.is(a/b, -0) ? -0 : 0) : whole;
}""",
    "fmod": "(a, b) { return a % b; }",
    "maximum": "(a, b) { return a > b || a !== a ? a : b; }",
    "minimum": "(a, b) { return a < b || a !== a ? a : b; }",
    "remainder": """(a, b) {
    const rest = a % b;
    return rest === 0 ? (b < 0 || Object.is(b, -0) ? -0 : 0) : (b < 0) !== (rest < 0) ? rest + b : rest;
}""",
    "rint": """(a) {
    const size = Math.abs(a);
    const whole = size < 4503599627370496 ? (size + 4503599627370496) - 4503599627370496 : size;
    return a < 0 || Object.is(a, -0) ? -whole : whole;
}""",
    "sign": "(a) { return a > 0 ? 1 : a < 0 ? -1 : a === 0 ? 0 : a; }",
}


class JavaScriptDialect(Dialect):
    """Numbers, statements and functions as JavaScript spells them."""

    def __init__(self) -> None:
        super().__init__("double", "Infinity", "NaN", "function")

    def function(self, name: str) -> str:
        return f"Math.{_ABSOLUTE.get(name, name)}"

    def constant(self, name: str, code: str, *, is_truth: bool = False) -> str:
        return f"const {name} = {code};"

    def variable(self, name: str, code: str) -> str:
        return f"let {name} = {code};"

    def array(self, name: str, entries: Sequence[str]) -> str:
        return f"const {name} = [{', '.join(entries)}];"

    def unused(self, names: Iterable[str]) -> list[str]:
        return []

    def call(self, function: str, arguments: Sequence[str], results: str, count: int) -> list[str]:
        return [f"const {results} = {function}({', '.join(arguments)});"]

    counter = "let"

    def whole(self, name: str, code: str) -> str:
        return f"const {name} = {code};"

    def with_results(self, name: str, arrays: Sequence[str], lines: Sequence[str], *, looped: bool = False) -> str:
        return block(f"function {name}({', '.join(arrays)})", ["const out = [];", *lines, "return out;"])

    def function_of_numbers(self, name: str, parameters: Sequence[str], lines: Sequence[str], result: str) -> str:
        return block(f"function {name}({', '.join(parameters)})", [*lines, f"return {result};"])

    def is_helper(self, op: str) -> bool:
        called = OPERATIONS[op].c_function
        return is_helper(op) or bool(called and called not in _MATH)

    def define(self, op: str, prefix: str, found: dict[str, str]) -> None:
        if op in found or not self.is_helper(op):
            return
        name = f"{prefix}_{op}"
        if op in _HELPERS and OPERATIONS[op] is OWN.get(op):
            found[op] = f"function {name}{_HELPERS[op]}"
        else:
            self.compose(op, name, prefix, found)


DIALECT = JavaScriptDialect()


class JavaScript(Backend):
    """One .mjs with one function."""

    title = "JavaScript"
    operations = frozenset(OWN)

    def spells(self, op: str) -> bool:
        return OPERATIONS[op].c_function in _MATH or super().spells(op)

    def files(self, program: Program, precision: str) -> dict[str, str]:
        _check_double(precision)
        name = function_name(program.name)
        names = parameters_of(program, name)
        note = _note(program, name, [(v, label, "") for v, label in zip(program.inputs, names.inputs, strict=True)],
                     [(v, label, "") for v, label in zip(program.outputs, names.outputs, strict=True)],
                     f"Operations: {count(program)}. Written by Cayley.")
        return {f"{name}.mjs": f"{note}\n{javascript_text(program, name)}\nexport {{ {name} }};\n"}

    def iteration_files(self, iteration: Iteration, name: str, precision: str) -> dict[str, str]:
        _check_double(precision)
        called = function_name(name or f"{iteration.program.name}_rollout")
        loop = _Loop(iteration, called)
        return {f"{called}.mjs": f"{loop.note}\n{loop.text}\nexport {{ {called} }};\n"}


def function_name(name: str) -> str:
    """A valid name for a function."""
    return identifier(name, _WORDS)


def javascript_text(program: Program, name: str) -> str:
    """The function and what it calls, without words about it: what a page can hold in a <script>.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.tracing.trace import trace
    >>> program = trace(lambda m, v: 0.5 * m * v**2, Signature.parse("(),(2)->(2)"), {}, name="energy",
    ...                 inputs=["m", "v"])
    >>> print(javascript_text(program, "energy"))
    function energy(m, v)
    {
        const t1 = 0.5*m;
        return [t1*(v[0]*v[0]), t1*(v[1]*v[1])];
    }
    """
    names = parameters_of(program, name)
    inputs = {node.index: CExpression(f"{label}[{k}]" if v.shape else label, WHOLE)
              for v, label in zip(program.inputs, names.inputs, strict=True) for k, node in enumerate(v.nodes)}
    body = CStatements(program, DIALECT, inputs, temporary=free_prefix([name, *names.inputs, *names.outputs]),
                       helper=name)
    values = [_value(v, [body.text(node).code for node in v.nodes]) for v in program.outputs]
    function = block(f"function {name}({', '.join(names.inputs)})", [*body.lines, _returned(names.outputs, values)])
    return "\n".join([*DIALECT.definitions(program, name), function])


def iteration_text(iteration: Iteration, name: str) -> str:
    """The same of an iteration."""
    return _Loop(iteration, name).text


def _value(variable: Variable, entries: Sequence[str]) -> str:
    """An array with a row to a line, unless all of it is short."""
    if not variable.shape:
        return entries[0]
    line = ", ".join(entries)
    if len(line) < _LONGEST_LINE:
        return f"[{line}]"
    row = variable.shape[-1] if len(variable.shape) > 1 else 1
    rows = [f"{_INDENT}{_INDENT}{', '.join(entries[k:k + row])}," for k in range(0, len(entries), row)]
    return "\n".join(["[", *rows, f"{_INDENT}]"])


def _returned(names: Sequence[str], values: Sequence[str]) -> str:
    fields = ", ".join(name if name == value else f"{name}: {value}"
                       for name, value in zip(names, values, strict=True))
    return f"return {values[0]};" if len(values) == 1 else f"return {{ {fields} }};"


def parameters_of(program: Program, name: str) -> CNames:
    return parameter_names(program, taken=[*helper_names(name), *sorted(_WORDS)])


def _note(program: Program, name: str, inputs: Sequence[tuple[Variable, str, str]],
          outputs: Sequence[tuple[Variable, str, str]], *last: str) -> str:
    """Comment that says what the function computes, with the name and the repetition of each variable."""
    given, found = (table([(v, label, spoken(v, each)) for v, label, each in side]) for side in (inputs, outputs))
    return comment(program, name, given, found, *last)


def _check_double(precision: str) -> None:
    if precision != "double":
        raise UnsupportedError("JavaScript computes in double precision only: leave the precision out")


class _Loop:
    """The text of an iteration: as its arguments the numbers of turns, then the inputs, then nothing to write into."""

    def __init__(self, iteration: Iteration, called: str) -> None:
        program = iteration.program
        plan = iteration.plan
        taken = {*helper_names(called), *LOOP_NAMES, *_WORDS}
        names = parameter_names(program, taken=sorted(taken))
        given = list(zip(program.inputs, names.inputs, plan.moves, strict=True))
        kept = [(program.outputs[k], names.outputs[k]) for k in plan.kept]
        turns = ["samples", "every", *(["cycle"] if plan.has_stages else [])]
        arrays = [f"const {label} = new Float64Array(samples*{len(v.nodes)});" for v, label in kept]
        statements = loop_statements(program, plan, DIALECT, [_place(v, label, _TURN.get(moves, ""))
                                                              for v, label, moves in given],
                                     [_place(v, label, "sample") for v, label in kept],
                                     taken={*taken, *names.inputs, *names.outputs}, helper=called, index="let")
        labels = [label for _, label in kept]
        function = block(f"function {called}({', '.join([*turns, *names.inputs])})",
                         [*arrays, *statements, _returned(labels, labels)])
        self.text = "\n".join([*DIALECT.definitions(program, called), function])
        self.note = _note(program, called, [(v, label, _EACH[moves]) for v, label, moves in given],
                          [(v, label, "for each sample") for v, label in kept],
                          f"The first arguments are {', '.join(turns)}: how many states are kept, and the turns of the "
                          "loops inside.", f"Operations of a stage: {count(program)}. Written by Cayley.")


_TURN = {CHANGING: STEP, CYCLING: "stage"}
_EACH = {CHANGING: "for each step", CYCLING: "for each stage of a step", CONSTANT: ""}


def _place(variable: Variable, name: str, turn: str) -> MemoryPlace:
    """The place of an element, now: a scalar that does not move is itself."""
    size = len(variable.nodes)
    if turn:
        return MemoryPlace(name, lambda k: f"{name}[{turn}*{size} + {k}]")
    return MemoryPlace(name, lambda k: f"{name}[{k}]" if variable.shape else name)


BACKEND = JavaScript()
