"""A program as LLVM assembly: one state in each lane, straight-line arithmetic between two buffers.

`core` reads the inputs of `width` states from a buffer, element by element (element k of all lanes, then element k +
1), and writes the outputs in the same layout. A large program is cut into several functions, because the time of a
compiler's back end grows faster than the length of a function; values that cross a cut travel through a third buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cayley.compiler.elementary import emitter
from cayley.compiler.elementary.trigonometric import sincos
from cayley.compiler.graph import Node
from cayley.compiler.operations import BOOLEAN, OPERATIONS, PARTNER
from cayley.compiler.program import Program
from cayley.compiler.schedule import fused_products, schedule
from cayley.compiler.single_precision import in_precision
from cayley.compiler.vector_assembly import Assembly, Lanes, Value

LONGEST_FUNCTION = 6000
"""Operations up to which a program is one function."""
LONGEST_PART = 500
"""Operations of each function of a longer one: what takes a compiler's back end least time and loses none in the run."""
MOST_INLINED = 100
"""Elementary functions up to which each is written out where it is used; of more, each kind is a function that is called."""


class Core:
    """The functions that compute `program` in one pass, and the sizes of the buffers between them, in elements."""

    def __init__(self, program: Program, width: int, precision: str, *, fused: bool):
        program = in_precision(program, precision)
        self.program = program
        self.width = width
        self.precision = precision
        self.fused = fused
        order = schedule(program)
        length = LONGEST_FUNCTION if len(order) <= LONGEST_FUNCTION else LONGEST_PART
        self.parts = [order[k:k + length] for k in range(0, len(order), length)] or [[]]
        self.products = fused_products(program)
        self.trigonometric = {(node.op, node.args[0].index): node for node in order if node.op in PARTNER}
        self.inputs = {node.index: k for k, node in enumerate(n for v in program.inputs for n in v.nodes)}
        self.outputs: dict[int, list[int]] = {}
        for k, node in enumerate(program.results):
            self.outputs.setdefault(node.index, []).append(k)
        self.crossing = _crossing(self.parts, set(self.products.values()))
        elementary = {node.index for node in order if OPERATIONS[node.op].is_function and node.op not in PARTNER}
        self.constants = [(k, node.value) for k, node in enumerate(program.results) if node.op == "constant"]
        """The outputs that are the same for every state, as (place, value): no part stores them."""
        self.calls = len(elementary) + len({angle for _, angle in self.trigonometric}) > MOST_INLINED

    @property
    def names(self) -> list[str]:
        return [f"core{self.width}_{k}" for k in range(len(self.parts))]

    def part(self, number: int) -> Assembly:
        """The assembly of one of the functions."""
        assembly = Assembly()
        body = _Body(self, Lanes(assembly, self.width, self.precision, fused=self.fused))
        for node in self.parts[number]:
            body.compute(node)
        if number == len(self.parts) - 1:
            body.store_inputs()
        assembly.is_plain = len(self.parts) > 1 and body.lanes.block is None and not assembly.functions
        name = self.names[number]
        lines = "\n".join(f"  {line}" if not line.endswith(":") else line for line in body.lanes.lines)
        assembly.functions[name] = (
            f"define void @{name}(ptr noalias readonly %in, ptr noalias writeonly %out, ptr noalias readonly %earlier, "
            f"ptr noalias writeonly %between) alignstack(64) nounwind {{\n"
            f"{lines}\n  ret void\n}}")
        return assembly


def _crossing(parts: list[list[Node]], absorbed: set[int]) -> dict[int, int]:
    """The place in the third buffer of every value that is used in a later part than its own."""
    home = {node.index: k for k, part in enumerate(parts) for node in part}
    places: dict[int, int] = {}
    for k, part in enumerate(parts):
        for node in part:
            for operand in _operands(node, absorbed):
                if home.get(operand.index, k) != k:
                    places.setdefault(operand.index, len(places))
    return places


def _operands(node: Node, absorbed: set[int]) -> list[Node]:
    """What a node reads: an absorbed product stands for its own factors."""
    return [b for a in node.args for b in (a.args if a.index in absorbed else (a,))]


class _Body:
    """One function: where each value is, and how each operation is spelled."""

    def __init__(self, core: Core, lanes: Lanes):
        self.core = core
        self.lanes = lanes
        self.absorbed = set(core.products.values())
        self.values: dict[int, Value] = {}

    def value(self, node: Node) -> Value:
        if node.op == "constant":
            return self.lanes.constant(node.value)
        if node.index not in self.values:
            buffer, places = ("in", self.core.inputs) if node.op == "input" else ("earlier", self.core.crossing)
            self.values[node.index] = self._load(buffer, places[node.index], node.op in BOOLEAN)
        return self.values[node.index]

    def compute(self, node: Node) -> None:
        if node.index in self.values or node.index in self.absorbed:
            return
        if node.op in PARTNER:
            self._trigonometric(node)
        else:
            self._keep(node, self._operation(node))

    def _operation(self, node: Node) -> Value:
        if node.index in self.core.products:
            return self._fused(node)
        operands = [self.value(a) for a in node.args]
        if OPERATIONS[node.op].is_function:
            return self._elementary(node.op, operands)
        return emitter(OPERATIONS[node.op], as_written=self.core.program.is_strict)(self.lanes, *operands)

    def _elementary(self, op: str, operands: list[Value]) -> Value:
        emit = emitter(OPERATIONS[op])
        return self._written_or_called(op, lambda lanes, *a: (emit(lanes, *a),), operands)[0]

    def _written_or_called(self, name: str, function: Callable[..., Sequence[Value]],
                           operands: list[Value]) -> Sequence[Value]:
        """The function written out here, or a call of it where there would be too many copies."""
        if not self.core.calls:
            return function(self.lanes, *operands)
        symbol = f"@cayley.{name}.{self.core.width}"
        kinds = [self.core.precision] * (2 if name == "sincos" else 1)
        if symbol not in self.lanes.assembly.functions:
            body = Lanes(self.lanes.assembly, self.core.width, self.core.precision, fused=self.core.fused)
            arguments = [body.argument(f"a{k}", operand.kind) for k, operand in enumerate(operands)]
            body.define(symbol, arguments, function(body, *arguments), "noinline nounwind")
        return self.lanes.call(symbol, operands, kinds)

    def _fused(self, node: Node) -> Value:
        """x y + b, x y - b or a - x y."""
        first, second = node.args
        product = self.core.products[node.index]
        x, y = (self.value(f) for f in (first if first.index == product else second).args)
        if first.index == product:
            rest = self.value(second)
            return self.lanes.multiply_add(x, y, -rest if node.op == "subtract" else rest)
        return self.lanes.multiply_add(-x if node.op == "subtract" else x, y, self.value(first))

    def _trigonometric(self, node: Node) -> None:
        """A sine and a cosine of the same angle are computed together."""
        angle = node.args[0]
        places = [(op, angle.index) for op in ("sin", "cos")]
        pair = [self.core.trigonometric[place] for place in places if place in self.core.trigonometric]
        if len(pair) == 1:
            self._keep(node, self._elementary(node.op, [self.value(angle)]))
            return
        for member, value in zip(pair, self._written_or_called("sincos", sincos, [self.value(angle)]), strict=True):
            self._keep(member, value)

    def _keep(self, node: Node, value: Value) -> None:
        self.values[node.index] = value
        for place in self.core.outputs.get(node.index, ()):
            self._store(value, "out", place)
        if node.index in self.core.crossing:
            number = self.lanes.select(value, 1.0, 0.0) if node.op in BOOLEAN else value
            self._store(number, "between", self.core.crossing[node.index])

    def store_inputs(self) -> None:
        """Outputs that are inputs."""
        for node in {node.index: node for node in self.core.program.results if node.op == "input"}.values():
            for place in self.core.outputs[node.index]:
                self._store(self.value(node), "out", place)

    def _address(self, buffer: str, place: int) -> str:
        name = self.lanes.fresh()
        self.lanes.lines.append(
            f"{name} = getelementptr {self.core.precision}, ptr %{buffer}, i64 {place * self.core.width}")
        return name

    def _load(self, buffer: str, place: int, truth: bool) -> Value:
        kind = self.core.precision
        value = self.lanes.line(
            f"load {self.lanes.vector(kind)}, ptr {self._address(buffer, place)}, align {_alignment(self.core)}", kind)
        return ~value.equals(0.0) if truth else value

    def _store(self, value: Value, buffer: str, place: int) -> None:
        self.lanes.lines.append(
            f"store {value.typed}, ptr {self._address(buffer, place)}, align {_alignment(self.core)}")


def _alignment(core: Core) -> int:
    return core.width * element_size(core.precision)


def element_size(precision: str) -> int:
    return 8 if precision == "double" else 4
