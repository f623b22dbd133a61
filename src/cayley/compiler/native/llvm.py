"""A program as LLVM assembly: one state in each lane, straight-line arithmetic between two buffers.

`core` reads the inputs of `width` states from a buffer, element by element (element k of all lanes, then element k +
1), and writes the outputs in the same layout. A large program is cut into several functions, because the time of a
compiler's back end grows faster than the length of a function; values that cross a cut travel through a third buffer.
A program that is called is a core of its own, which reads each of its arrays where the caller has it: `frames.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cayley.compiler.elementary import emitter
from cayley.compiler.elementary.trigonometric import sincos
from cayley.compiler.native.frames import CallFrames
from cayley.compiler.native.schedule import fused_products, schedule
from cayley.compiler.native.single_precision import in_precision
from cayley.compiler.native.vector_assembly import Assembly, Lanes, Value
from cayley.compiler.operations import BOOLEAN, CALLS, OPERATIONS, PARTNER
from cayley.compiler.tracing.calls import Callee
from cayley.compiler.tracing.graph import Node, ancestors
from cayley.compiler.tracing.loop import ProgramLoop
from cayley.compiler.tracing.program import Program

LONGEST_FUNCTION = 8000
"""Operations up to which a program is one function."""
LONGEST_PART = 500
"""Operations of each function of a longer one: what takes a compiler's back end least time and loses none in the run.
"""
LONGEST_TURN = 2000
"""Operations up to which a turn of a loop is one function: of a longer one LLVM would spill most values."""
_UNSORTED = ' "tune-cpu"="generic"'
"""The models of some processors make LLVM sort instructions once more at the end, which takes long and gains nothing.
"""
MOST_INLINED = 100
"""Elementary functions up to which each is written out where it is used; of more, each kind is a function that is
called."""


class Core:
    """The functions that compute `program` in one pass, and the sizes of the buffers between them, in elements. That of
    a `callee` takes each array that it reads by a pointer of its own. With `has_first` the last output is computed by
    the first functions, and nothing else is. The results of a callee `is_dense` lie side by side."""

    def __init__(self, program: Program, width: int, precision: str, *, fused: bool, callee: str = "",
                 callees: dict[str, Any] | None = None, has_first: bool = False,
                 is_dense: bool = False) -> None:
        program = in_precision(program, precision)
        self.callee = callee
        self.has_step = bool(callee) and not is_dense
        self.callees = {} if callees is None else callees
        self.program = program
        self.width = width
        self.precision = precision
        self.fused = fused
        self.is_strict = program.is_strict
        order = schedule(program)
        longest = LONGEST_TURN if is_dense else LONGEST_FUNCTION
        length = longest if len(order) <= longest else LONGEST_PART
        early = {node.index for node in ancestors(program.outputs[-1].nodes)} if has_first else set()
        pieces = [[n for n in order if n.index in early], [n for n in order if n.index not in early]]
        cut = [[piece[k:k + length] for k in range(0, len(piece), length)] for piece in pieces]
        self.first_parts = len(cut[0])
        """The number of functions that compute what is asked for first."""
        self.parts = cut[0] + cut[1] or [[]]
        self.products = fused_products(program)
        self.trigonometric = {(node.op, node.args[0].index): node for node in order if node.op in PARTNER}
        self.inputs = _input_places(program, separate=bool(callee))
        self.outputs: dict[int, list[int]] = {}
        for k, node in enumerate(program.results):
            self.outputs.setdefault(node.index, []).append(k)
        self.absorbed = set(self.products.values())
        self.crossing = _crossing(self.parts, self.absorbed)
        elementary = {node.index for node in order if OPERATIONS[node.op].is_function and node.op not in PARTNER}
        self.constants = [(k, node.value) for k, node in enumerate(program.results) if node.op == "constant"]
        """The outputs that are the same for every state, as (place, value): no part stores them."""
        self.frames = CallFrames(order, self.inputs, self.outputs, program.uses())
        called = {node.value.key: node.value for node in order if node.op == "call"}
        for key, value in called.items():
            if key not in self.callees:
                self.callees[key] = self._callee(key, value)
        rooms = [self.callees[key].room for key in called]
        self.room: int = len(self.crossing) + self.frames.size + max(rooms, default=0)
        """Elements of the third buffer: values that cross cuts, frames of calls, and what the callees need."""
        self.calls = len(elementary) + len({angle for _, angle in self.trigonometric}) > MOST_INLINED

    def _callee(self, key: str, callee: Callee) -> Any:  # noqa: ANN401 (a core, or that of a loop)
        if isinstance(callee, ProgramLoop):
            from cayley.compiler.native.called_loop import LoopCore  # which builds upon this module
            return LoopCore(callee, self.width, self.precision, fused=self.fused, callees=self.callees)
        return Core(callee.simplified, self.width, self.precision, fused=self.fused, callee=key[:16],
                    callees=self.callees)

    @property
    def names(self) -> list[str]:
        return [f"core{self.width}_{self.callee}{'_' if self.callee else ''}{k}" for k in range(len(self.parts))]

    @property
    def pointers(self) -> list[str]:
        """The parameters of every function: what is read, written, read of earlier parts, written for later ones, and
        the frames of calls; of a callee also from one result to the next."""
        inputs = [f"in{k}" for k in range(len(self.program.inputs))] if self.callee else ["in"]
        return [*[f"ptr noalias readonly %{name}" for name in inputs], "ptr noalias writeonly %out",
                "ptr noalias readonly %earlier", "ptr noalias writeonly %between", "ptr noalias %frames",
                *(["i64 %step"] if self.has_step else [])]

    def declare(self, assembly: Assembly) -> None:
        kinds = ", ".join(pointer.split()[0] for pointer in self.pointers)
        assembly.declarations.update((name, f"declare void @{name}({kinds})") for name in self.names)

    def part(self, number: int) -> Assembly:
        """The assembly of one of the functions."""
        assembly = Assembly()
        body = _Body(self, Lanes(assembly, self.width, self.precision, fused=self.fused))
        if number == 0:
            body.frame_leaves()
        for node in self.parts[number]:
            body.compute(node)
        if number == len(self.parts) - 1:
            body.store_leaves()
        assembly.is_plain = len(self.parts) > 1 or bool(self.callee)
        name = self.names[number]
        attributes = f"alignstack(64) nounwind{_UNSORTED if assembly.is_plain else ''}"
        lines = "\n".join(f"  {line}" if not line.endswith(":") else line for line in body.lanes.lines)
        assembly.functions[name] = (
            f"define void @{name}({', '.join(self.pointers)}) {attributes} {{\n{lines}\n  ret void\n}}")
        return assembly


def _input_places(program: Program, *, separate: bool) -> dict[int, tuple[str, int]]:
    """The buffer of each input, and its place there."""
    if separate:
        return {node.index: (f"in{number}", k) for number, v in enumerate(program.inputs)
                for k, node in enumerate(v.nodes)}
    return {node.index: ("in", k) for k, node in enumerate(n for v in program.inputs for n in v.nodes)}


def _crossing(parts: list[list[Node]], absorbed: set[int]) -> dict[int, int]:
    """The place in the third buffer of every value that is used in a later part than its own."""
    home = {node.index: k for k, part in enumerate(parts) for node in part}
    places: dict[int, int] = {}
    for k, part in enumerate(parts):
        for node in part:
            for operand in _operands(node, absorbed):
                if home.get(operand.index, k) != k and operand.op != "result":
                    places.setdefault(operand.index, len(places))
    return places


def _operands(node: Node, absorbed: set[int]) -> list[Node]:
    """The operands that a node reads. An absorbed product stands for its own factors. A call reads from its frames,
    where its results are, too."""
    if node.op in CALLS:
        return []
    return [b for a in node.args for b in (a.args if a.index in absorbed else (a,))]


class _Body:
    """One function: where each value is, and how each operation is spelled."""

    def __init__(self, core: Core, lanes: Lanes) -> None:
        self.core = core
        self.lanes = lanes
        self.absorbed = core.absorbed
        self.values: dict[int, Value] = {}

    def value(self, node: Node) -> Value:
        if node.op == "constant":
            return self.lanes.constant(node.value)
        if node.index not in self.values:
            self.values[node.index] = self._load(*self._place(node), node.op in BOOLEAN)
        return self.values[node.index]

    def _place(self, node: Node) -> tuple[str, int]:
        """The place of a value that was not computed in this function."""
        if node.op == "input":
            return self.core.inputs[node.index]
        if node.op == "result":
            return self.core.frames.place(node)
        return "earlier", self.core.crossing[node.index]

    def compute(self, node: Node) -> None:
        if node.index in self.values or node.index in self.absorbed:
            return
        if node.op == "call":
            self._call(node)
            return
        if node.op == "result":
            is_kept = node.index in self.core.outputs or node.index in self.core.frames.homes
            if is_kept and self.core.frames.place(node)[0] == "frames":
                self._keep(node, self.value(node))
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
        return emitter(OPERATIONS[node.op], as_written=self.core.is_strict)(self.lanes, *operands)

    def _call(self, node: Node) -> None:
        """Pointers to the arguments, to the place of the results, and to what the callee needs itself."""
        frames = self.core.frames
        callee = self.core.callees[node.value.key]
        buffer, start, step = frames.results[node.index]
        room = ("frames", frames.size)
        places = [*frames.arguments(node), (buffer, start), room, room, ("frames", frames.size + len(callee.crossing))]
        pointers = [*[f"ptr {self._address(*place)}" for place in places], f"i64 {step * callee.width}"]
        callee.declare(self.lanes.assembly)
        self.lanes.lines += [f"call void @{name}({', '.join(pointers)})" for name in callee.names]

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
        for place in self.core.frames.homes.get(node.index, ()):
            self._store(value, "frames", place)

    def frame_leaves(self) -> None:
        """Inputs and constants that are arguments of calls."""
        for node in self.core.frames.leaves:
            for place in self.core.frames.homes[node.index]:
                self._store(self.value(node), "frames", place)

    def store_leaves(self) -> None:
        """Outputs that are inputs, and those of a callee that are constants."""
        leaves = ("input", "constant") if self.core.callee else ("input",)
        for node in {node.index: node for node in self.core.program.results if node.op in leaves}.values():
            for place in self.core.outputs[node.index]:
                self._store(self.value(node), "out", place)

    def _address(self, buffer: str, place: int) -> str:
        name = self.lanes.fresh()
        offset = str(place * self.core.width)
        if buffer == "out" and self.core.has_step:
            offset = self.lanes.fresh()
            self.lanes.lines.append(f"{offset} = mul i64 %step, {place}")
        self.lanes.lines.append(f"{name} = getelementptr {self.core.precision}, ptr %{buffer}, i64 {offset}")
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
