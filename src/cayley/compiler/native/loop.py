"""The loop over a batch, in LLVM assembly: what NumPy calls with pointers, counts and strides.

A block of `width` states is gathered into a buffer where equal elements of all states lie side by side, computed, and
scattered back. Rows that lie contiguously are transposed in registers; everything else goes element by element. A block
that is not full repeats its last state, so a state is computed alike wherever in a batch it stands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate, groupby
from math import prod

from cayley.compiler.native import numpy_api
from cayley.compiler.native.control_flow import AssemblyText
from cayley.compiler.native.llvm import Core, element_size
from cayley.compiler.native.transpose import move_block, move_side_by_side, transposed
from cayley.compiler.native.vector_assembly import Assembly, literal
from cayley.compiler.tracing.program import Variable

STACK_BYTES = 1 << 16
_UNROLLED = 32
"""Elements of an operand up to which its transposition is written out."""
_INLINED = 400
"""Operations up to which a core is part of the loop."""


class Buffers:
    """The beginning of each operand in the input and output buffers, in elements of one lane."""

    def __init__(self, core: Core) -> None:
        self.inputs, self.input_size = _places(core.program.inputs, core.width)
        self.outputs, self.output_size = _places(core.program.outputs, core.width)
        self.between_size = core.room


def _places(variables: tuple[Variable, ...], width: int) -> tuple[list[int], int]:
    starts = []
    total = 0
    for v in variables:
        starts.append(total)
        total += prod(v.shape)
    return starts, total + width  # the last transposition may write a whole block


@dataclass(frozen=True)
class LoopOperand:
    """An input or output, and the names of what NumPy says about it."""

    shape: tuple[int, ...]
    start: int  # its place in the buffer
    pointer: str
    outer: str  # bytes from a state to the next
    strides: list[str]
    dense: str  # whether the elements of a state are contiguous in C order

    @property
    def is_small(self) -> bool:
        return prod(self.shape) <= _UNROLLED


def batch_loop(core: Core) -> Assembly:
    """The function `loop(args, dimensions, steps, data)` of a generalized ufunc."""
    return BatchLoop(core).assembly


class BatchLoop:
    """The loop under construction.

    A small core is made part of it, so that full blocks stay in registers from end to end."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.assembly = Assembly()
        self.text = AssemblyText()
        self.inputs, self.outputs = self._operands()
        self.total = self.text.let("load i64, ptr %dimensions")
        self._declare()
        self.space = CoreBuffers(self.text, self.assembly, core, self._scratch_elements)
        self.done = self._quick_blocks()
        failed = self.text.label("failed")
        self.space.take(failed)
        store_constants(self.text, self.assembly, core, self.space)
        self.text.repeat(self.done, self.total, core.width, self._block)
        self.space.give_back()
        self.text.do("ret void")
        self.text.place(failed)
        self._raise_no_memory()
        self.assembly.functions["loop"] = (
            "define void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) alignstack(64) {\n"
            + "\n".join(self.text.lines) + "\n  ret void\n}")

    _scratch_elements = 0

    def _raise_no_memory(self) -> None:
        """NumPy has released Python's lock; it looks for an error after the loop. `data` has what is called here."""
        ensure, no_memory, release = (
            self.text.let(f"load ptr, ptr {self.text.let(f'getelementptr ptr, ptr %data, i64 {k}')}")
            for k in range(len(numpy_api.LOOP_FUNCTIONS)))
        state = self.text.let(f"call i32 {ensure}()")
        self.text.let(f"call ptr {no_memory}()")
        self.text.do(f"call void {release}(i32 {state})")

    def _operands(self) -> tuple[list[LoopOperand], list[LoopOperand]]:
        text = self.text
        program = self.core.program
        places = Buffers(self.core)
        variables = program.inputs + program.outputs
        pointers = [
            text.let(f"load ptr, ptr {text.let(f'getelementptr ptr, ptr %args, i64 {k}')}")
            for k in range(len(variables))]
        steps = iter([text.let(f"load i64, ptr {text.let(f'getelementptr i64, ptr %steps, i64 {k}')}")
                      for k in range(len(variables) + sum(len(v.shape) for v in variables))])
        outer = [next(steps) for _ in variables]
        operands = []
        for v, start, pointer, step in zip(variables, places.inputs + places.outputs, pointers, outer, strict=True):
            strides = [next(steps) for _ in v.shape]
            operands.append(
                LoopOperand(v.shape, start, pointer, step, strides, is_dense(text, v.shape, strides, self._size)))
        return operands[:len(program.inputs)], operands[len(program.inputs):]

    @property
    def _size(self) -> int:
        return element_size(self.core.precision)

    def _declare(self) -> None:
        for name in ("gather", "scatter"):
            self.assembly.declarations[name] = f"declare void @{name}(ptr, i64, i64, i64, ptr)"
        self.assembly.declarations["smin"] = "declare i64 @llvm.smin.i64(i64, i64)"
        if is_inlined(self.core):
            part = self.core.part(0)
            self.assembly.declarations.update(part.declarations)
            self.assembly.functions.update({name: _internal(function) for name, function in part.functions.items()})
        else:
            self.core.declare(self.assembly)

    def _quick_blocks(self) -> str:
        """Full blocks of states that lie one after the other in the usual way; the number of states that this did."""
        text = self.text
        core = self.core
        space = CoreBuffers(text, self.assembly, core)  # of its own: it turns into registers
        if not (is_inlined(core) and space.on_stack and all(o.is_small for o in self.inputs + self.outputs)):
            return "0"
        plain = "true"
        for operand in self.inputs + self.outputs:
            usual = operand.dense if operand.shape else text.let(f"icmp eq i64 {operand.outer}, {self._size}")
            plain = text.let(f"and i1 {plain}, {usual}")
        whole = text.let(f"and i64 {self.total}, {-core.width}")
        done = text.let(f"select i1 {plain}, i64 {whole}, i64 0")

        def block(first: str) -> None:
            for direction, operands, buffer in (("gather", self.inputs, space.input), ("scatter", self.outputs,
                                                                                       space.output)):
                for operand in operands:
                    memory, place = self._places(operand, first, buffer)
                    if operand.shape:
                        move_block(text, direction, prod(operand.shape), memory, operand.outer, place, core.precision,
                                   core.width)
                    else:
                        move_side_by_side(text, direction, memory, place, core.precision, core.width)
                if direction == "gather":
                    store_constants(text, self.assembly, core, space)
                    call_core(text, core, space)

        text.repeat("0", done, core.width, block)
        return done

    def _block(self, first: str) -> None:
        """Any states: up to a full block, with any strides."""
        left = self.text.let(f"sub i64 {self.total}, {first}")
        valid = self.text.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {self.core.width})")
        self._gather_block(first, valid)
        call_core(self.text, self.core, self.space)
        for operand in self.outputs:
            self._move("scatter", operand, *self._places(operand, first, self.space.output), valid)

    def _gather_block(self, first: str, valid: str) -> None:
        """The inputs of a block. Those that come first and are the same for all states are in the buffer since the
        first block; behind others they are not, as the transposition of these may write beyond its end."""
        text = self.text
        there = text.let(f"icmp ne i64 {first}, {self.done}")
        for operand in self.inputs:
            there = text.let(f"and i1 {there}, {text.let(f'icmp eq i64 {operand.outer}, 0')}")
            text.when(text.let(f"xor i1 {there}, true"), lambda operand=operand: self._move(
                "gather", operand, *self._places(operand, first, self.space.input), valid))

    def _places(self, operand: LoopOperand, first: str, buffer: str) -> tuple[str, str]:
        """The places of a block of an operand in NumPy's memory and in the buffer."""
        memory = self.text.offset(operand.pointer, (first, operand.outer))
        return memory, self.text.let(
            f"getelementptr {self.core.precision}, ptr {buffer}, i64 {operand.start * self.core.width}")

    def _move(self, direction: str, operand: LoopOperand, memory: str, place: str, valid: str) -> None:
        text = self.text
        elements = prod(operand.shape)

        def by_rows() -> None:
            text.do(
                f"call void @{direction}(ptr {memory}, i64 {operand.outer}, i64 {valid}, i64 {elements}, ptr {place})")

        def by_elements() -> None:
            _elementwise(text, direction, operand.shape, memory, operand.outer, operand.strides, valid, place,
                         self.core.precision, self.core.width)

        if elements and operand.shape:
            text.when(operand.dense, by_rows, by_elements)
        elif elements:
            by_elements()


def is_inlined(core: Core) -> bool:
    """True if a core is so small that the loop contains it."""
    return len(core.parts) == 1 and len(core.parts[0]) <= _INLINED and not core.callees


def _internal(function: str) -> str:
    return function.replace("define void", "define internal void", 1).replace("alignstack(64)", "alwaysinline", 1)


def rows(element: str, width: int) -> Assembly:
    """The functions `gather` and `scatter`, which are the same for every program."""
    assembly = Assembly()
    assembly.declarations["smin"] = "declare i64 @llvm.smin.i64(i64, i64)"
    for name in ("gather", "scatter"):
        assembly.functions[name] = _rows_function(assembly, name, element, width)
    return assembly


class CoreBuffers:
    """The buffers of a core, and room for some `scratch` elements. They are on the stack if they are small; otherwise
    they are taken from the heap, and must be given back on every way out."""

    def __init__(self, text: AssemblyText, assembly: Assembly, core: Core, scratch: int = 0) -> None:
        places = Buffers(core)
        self._text = text
        self._assembly = assembly
        self._sizes = [n * core.width * element_size(core.precision)
                       for n in (places.input_size, places.output_size, places.between_size, scratch)]
        self.on_stack = sum(self._sizes) <= STACK_BYTES
        if self.on_stack:
            self._name([text.let(f"alloca [{max(size, 1)} x i8], align 64") for size in self._sizes])

    def _name(self, buffers: list[str]) -> None:
        self.input, self.output, self.between, self.scratch = buffers

    def take(self, failed: str) -> None:
        """Have the buffers from here on, or go to the label `failed`."""
        if self.on_stack:
            return
        text = self._text
        self._assembly.declarations.update(malloc="declare ptr @malloc(i64)", free="declare void @free(ptr)")
        starts = [0, *accumulate((size + 63) // 64 * 64 for size in self._sizes)]
        self._raw = text.let(f"call ptr @malloc(i64 {starts.pop() + 64})")
        text.require(text.let(f"icmp ne ptr {self._raw}, null"), failed)
        above = text.let(f"add i64 {text.let(f'ptrtoint ptr {self._raw} to i64')}, 63")
        aligned = text.let(f"inttoptr i64 {text.let(f'and i64 {above}, -64')} to ptr")
        self._name([text.let(f"getelementptr i8, ptr {aligned}, i64 {start}") for start in starts])

    def give_back(self) -> None:
        if not self.on_stack:
            self._text.do(f"call void @free(ptr {self._raw})")


def store_constants(text: AssemblyText, assembly: Assembly, core: Core, space: CoreBuffers) -> None:
    """The outputs that are the same for every state, of which many can be zeros that lie side by side."""
    assembly.declarations["memset"] = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"
    vector = f"<{core.width} x {core.precision}>"
    size = core.width * element_size(core.precision)
    zeros = [place for place, value in core.constants if is_plain_zero(value)]
    for _, run in groupby(enumerate(zeros), lambda numbered: numbered[1] - numbered[0]):
        places = [place for _, place in run]
        start = text.let(f"getelementptr {vector}, ptr {space.output}, i64 {places[0]}")
        text.do(f"call void @llvm.memset.p0.i64(ptr align {size} {start}, i8 0, i64 {len(places) * size}, i1 false)")
    for place, value in core.constants:
        if not is_plain_zero(value):
            target = text.let(f"getelementptr {vector}, ptr {space.output}, i64 {place}")
            number = literal(value, core.precision)
            text.do(f"store {vector} splat ({core.precision} {number}), ptr {target}, align {size}")


def is_plain_zero(value: float) -> bool:
    """Zero, all bits of which are."""
    return value == 0.0 and math.copysign(1.0, value) > 0.0


def call_core(text: AssemblyText, core: Core, space: CoreBuffers) -> None:
    frames = text.let(f"getelementptr {core.precision}, ptr {space.between}, i64 {len(core.crossing) * core.width}")
    buffers = [space.input, space.output, space.between, space.between, frames]
    for name in core.names:
        text.do(f"call void @{name}({', '.join(f'ptr {buffer}' for buffer in buffers)})")


def is_dense(text: AssemblyText, shape: tuple[int, ...], strides: list[str], size: int) -> str:
    """True if the elements of one state are contiguous in C order."""
    dense = "true"
    expected = size
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1:
            same = text.let(f"icmp eq i64 {stride}, {expected}")
            dense = text.let(f"and i1 {dense}, {same}")
        expected *= length
    return dense


def _elementwise(text: AssemblyText, direction: str, shape: tuple[int, ...], memory: str, outer: str,
                 strides: list[str],
                 valid: str, buffer: str, element: str, width: int) -> None:
    """Any strides: all elements of a state, and for each all lanes."""
    last = text.let(f"sub i64 {valid}, 1")

    def over(axis: int, address: str, flat: str) -> None:
        if axis < len(shape):
            def inner(i: str) -> None:
                above = text.let(f"mul i64 {flat}, {shape[axis]}")
                over(axis + 1, text.offset(address, (i, strides[axis])), text.let(f"add i64 {above}, {i}"))
            text.repeat("0", str(shape[axis]), 1, inner)
            return
        row = text.let(f"getelementptr {element}, ptr {buffer}, i64 {text.let(f'mul i64 {flat}, {width}')}")

        def lane(i: str) -> None:
            state = text.let(f"call i64 @llvm.smin.i64(i64 {i}, i64 {last})")
            there = text.offset(address, (state, outer))
            here = text.let(f"getelementptr {element}, ptr {row}, i64 {i}")
            source, target = (there, here) if direction == "gather" else (here, there)
            text.do(f"store {element} {text.let(f'load {element}, ptr {source}')}, ptr {target}")
        text.repeat("0", str(width) if direction == "gather" else valid, 1, lane)

    over(0, memory, "0")


def _rows_function(assembly: Assembly, direction: str, element: str, width: int) -> str:
    """`gather` or `scatter`: contiguous rows of `width` states, transposed block by block."""
    text = AssemblyText()
    size = element_size(element)
    vector = f"<{width} x {element}>"
    last = text.let("sub i64 %valid, 1")
    rows = []
    for k in range(width):
        state = text.let(f"call i64 @llvm.smin.i64(i64 {k}, i64 {last})")
        rows.append(text.offset("%memory", (state, "%outer")))
    whole = text.let(f"and i64 %count, {-width}")
    suffix = f"v{width}f{8 * size}"
    lanes = f"<{width} x i1>"
    load = f"@llvm.masked.load.{suffix}.p0"
    store = f"@llvm.masked.store.{suffix}.p0"
    assembly.declarations[load] = f"declare {vector} {load}(ptr, i32, {lanes}, {vector})"
    assembly.declarations[store] = f"declare void {store}({vector}, ptr, i32, {lanes})"

    def block(first: str, mask: str | None) -> None:
        start = text.let(f"getelementptr {element}, ptr %buffer, i64 {text.let(f'mul i64 {first}, {width}')}")
        columns = [text.let(f"getelementptr {element}, ptr {start}, i64 {k * width}") for k in range(width)]
        addresses = [text.let(f"getelementptr {element}, ptr {row}, i64 {first}") for row in rows]
        if direction == "gather":
            loaded = [text.let(f"load {vector}, ptr {a}, align {size}") if mask is None else
                      text.let(f"call {vector} {load}(ptr {a}, i32 {size}, {lanes} {mask}, {vector} zeroinitializer)")
                      for a in addresses]
            for value, column in zip(transposed(text, loaded, width, width, element), columns, strict=True):
                text.do(f"store {vector} {value}, ptr {column}, align {size * width}")
            return
        loaded = [text.let(f"load {vector}, ptr {c}, align {size * width}") for c in columns]
        for k, (value,
                address) in enumerate(zip(transposed(text, loaded, width, width, element), addresses, strict=True)):
            instruction = (f"store {vector} {value}, ptr {address}, align {size}" if mask is None else
                           f"call void {store}({vector} {value}, ptr {address}, i32 {size}, {lanes} {mask})")
            text.when(text.let(f"icmp slt i64 {k}, %valid"), lambda instruction=instruction: text.do(instruction))

    text.repeat("0", whole, width, lambda first: block(first, None))

    def rest() -> None:
        numbers = f"<{', '.join(f'i64 {k}' for k in range(width))}>"
        left = text.let(f"sub i64 %count, {whole}")
        one = text.let(f"insertelement <{width} x i64> poison, i64 {left}, i32 0")
        every = text.let(
            f"shufflevector <{width} x i64> {one}, <{width} x i64> poison, <{width} x i32> zeroinitializer")
        block(whole, text.let(f"icmp slt <{width} x i64> {numbers}, {every}"))

    text.when(text.let(f"icmp slt i64 {whole}, %count"), rest)
    return (f"define void @{direction}(ptr %memory, i64 %outer, i64 %valid, i64 %count, ptr noalias %buffer) {{\n"
            + "\n".join(text.lines) + "\n  ret void\n}")
