"""The loop over a batch, in LLVM assembly: what NumPy calls with pointers, counts and strides.

A block of `width` states is gathered into a buffer where equal elements of all states lie side by side, computed, and
scattered back. Rows that lie contiguously are transposed in registers; everything else goes element by element. A block
that is not full repeats its last state, so a state is computed alike wherever in a batch it stands.
"""

from __future__ import annotations

from math import prod

from cayley.compiler.lanes import Assembly
from cayley.compiler.llvm import Core, element_size
from cayley.compiler.program import Variable
from cayley.compiler.text import Text
from cayley.compiler.transpose import move_block, move_side_by_side, transposed

STACK_BYTES = 1 << 16
_UNROLLED = 32
"""Elements up to which the transposition of a full block is written out for the operand's own shape."""


class Buffers:
    """Where each operand begins in the input and output buffers, in elements of one lane."""

    def __init__(self, core: Core):
        self.inputs, self.input_size = _places(core.program.inputs, core.width)
        self.outputs, self.output_size = _places(core.program.outputs, core.width)
        self.between_size = len(core.crossing)


def _places(variables: tuple[Variable, ...], width: int) -> tuple[list[int], int]:
    starts, total = [], 0
    for v in variables:
        starts.append(total)
        total += prod(v.shape)
    return starts, total + width  # the last transposition may write a whole block


def batch_loop(core: Core) -> Assembly:
    """The function `loop(args, dimensions, steps, data)` of a generalized ufunc."""
    assembly = Assembly()
    element, width = core.precision, core.width
    size = element_size(element)
    for name in core.names:
        assembly.declarations[name] = f"declare void @{name}(ptr, ptr, ptr)"
    for name in ("gather", "scatter"):
        assembly.declarations[name] = f"declare void @{name}(ptr, i64, i64, i64, ptr)"
    text, variables = Text(), core.program.inputs + core.program.outputs
    pointers = [text.let(f"load ptr, ptr {text.let(f'getelementptr ptr, ptr %args, i64 {k}')}") for k in range(len(variables))]
    steps = iter([text.let(f"load i64, ptr {text.let(f'getelementptr i64, ptr %steps, i64 {k}')}")
                  for k in range(len(variables) + sum(len(v.shape) for v in variables))])
    outer = [next(steps) for _ in variables]
    strides = [[next(steps) for _ in v.shape] for v in variables]
    dense = [_is_dense(text, v.shape, s, size) for v, s in zip(variables, strides, strict=True)]
    total = text.let("load i64, ptr %dimensions")
    in_buffer, out_buffer, between, release = workspace(text, assembly, core)
    places, split = Buffers(core), len(core.program.inputs)

    def block(first: str) -> None:
        left = text.let(f"sub i64 {total}, {first}")
        valid = text.let(f"call i64 @llvm.smin.i64(i64 {left}, i64 {width})")
        for k, v in enumerate(variables[:split]):
            source = text.offset(pointers[k], (first, outer[k]))
            target = text.let(f"getelementptr {element}, ptr {in_buffer}, i64 {places.inputs[k] * width}")
            _move(text, "gather", v.shape, source, outer[k], strides[k], dense[k], valid, target, element, width)
        call_core(text, core, in_buffer, out_buffer, between)
        for k, v in enumerate(variables[split:], split):
            target = text.offset(pointers[k], (first, outer[k]))
            source = text.let(f"getelementptr {element}, ptr {out_buffer}, i64 {places.outputs[k - split] * width}")
            _move(text, "scatter", v.shape, target, outer[k], strides[k], dense[k], valid, source, element, width)

    assembly.declarations["smin"] = "declare i64 @llvm.smin.i64(i64, i64)"
    text.repeat("0", total, width, block)
    release()
    assembly.functions["loop"] = ("define void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) {\n"
                                  + "\n".join(text.lines) + "\n  ret void\n}")
    return assembly


def rows(element: str, width: int) -> Assembly:
    """The functions `gather` and `scatter`, which are the same for every program."""
    assembly = Assembly()
    assembly.declarations["smin"] = "declare i64 @llvm.smin.i64(i64, i64)"
    for name in ("gather", "scatter"):
        assembly.functions[name] = _rows_function(assembly, name, element, width)
    return assembly


def call_core(text: Text, core: Core, in_buffer: str, out_buffer: str, between: str) -> None:
    for name in core.names:
        text.do(f"call void @{name}(ptr {in_buffer}, ptr {out_buffer}, ptr {between})")


def workspace(text: Text, assembly: Assembly, core: Core):
    """The three buffers of a core: on the stack if they are small. Returns them and what gives them back."""
    buffers = Buffers(core)
    sizes = [n * core.width * element_size(core.precision) for n in (buffers.input_size, buffers.output_size, buffers.between_size)]
    if sum(sizes) <= STACK_BYTES:
        names = [text.let(f"alloca [{max(s, 1)} x i8], align 64") for s in sizes]
        return (*names, lambda: None)
    assembly.declarations["malloc"] = "declare ptr @malloc(i64)"
    assembly.declarations["free"] = "declare void @free(ptr)"
    raw = text.let(f"call ptr @malloc(i64 {sum(sizes) + 64 * 4})")
    address = text.let(f"ptrtoint ptr {raw} to i64")
    above = text.let(f"add i64 {address}, 63")
    rounded = text.let(f"and i64 {above}, -64")
    aligned = text.let(f"inttoptr i64 {rounded} to ptr")
    starts = [0, _rounded(sizes[0]), _rounded(sizes[0]) + _rounded(sizes[1])]
    names = [text.let(f"getelementptr i8, ptr {aligned}, i64 {s}") for s in starts]
    return (*names, lambda: text.do(f"call void @free(ptr {raw})"))


def _rounded(size: int) -> int:
    return (size + 63) // 64 * 64


def _is_dense(text: Text, shape: tuple[int, ...], strides: list[str], size: int) -> str:
    """Whether the elements of one state are contiguous in C order."""
    dense, expected = "true", size
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1:
            same = text.let(f"icmp eq i64 {stride}, {expected}")
            dense = text.let(f"and i1 {dense}, {same}")
        expected *= length
    return dense


def _move(text: Text, direction: str, shape: tuple[int, ...], memory: str, outer: str, strides: list[str], dense: str, valid: str,
          buffer: str, element: str, width: int) -> None:
    """One operand of a block between NumPy's memory and the buffer."""
    elements, size = prod(shape), element_size(element)
    if elements == 0:
        return

    def by_elements() -> None:
        _elementwise(text, direction, shape, memory, outer, strides, valid, buffer, element, width)

    def by_rows() -> None:
        text.do(f"call void @{direction}(ptr {memory}, i64 {outer}, i64 {valid}, i64 {elements}, ptr {buffer})")

    full = text.let(f"icmp eq i64 {valid}, {width}")
    if shape == ():
        adjacent = text.let(f"icmp eq i64 {outer}, {size}")
        text.when(text.let(f"and i1 {full}, {adjacent}"),
                  lambda: move_side_by_side(text, direction, memory, buffer, element, width), by_elements)
    elif elements > _UNROLLED:
        text.when(dense, by_rows, by_elements)
    else:
        text.when(text.let(f"and i1 {full}, {dense}"), lambda: move_block(text, direction, elements, memory, outer, buffer, element, width),
                  lambda: text.when(dense, by_rows, by_elements))


def _elementwise(text: Text, direction: str, shape: tuple[int, ...], memory: str, outer: str, strides: list[str], valid: str,
                 buffer: str, element: str, width: int) -> None:
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
            there, here = text.offset(address, (state, outer)), text.let(f"getelementptr {element}, ptr {row}, i64 {i}")
            source, target = (there, here) if direction == "gather" else (here, there)
            text.do(f"store {element} {text.let(f'load {element}, ptr {source}')}, ptr {target}")
        text.repeat("0", str(width) if direction == "gather" else valid, 1, lane)

    over(0, memory, "0")


def _rows_function(assembly: Assembly, direction: str, element: str, width: int) -> str:
    """`gather` or `scatter`: contiguous rows of `width` states, transposed block by block."""
    text, size = Text(), element_size(element)
    vector = f"<{width} x {element}>"
    last = text.let("sub i64 %valid, 1")
    rows = []
    for k in range(width):
        state = text.let(f"call i64 @llvm.smin.i64(i64 {k}, i64 {last})")
        rows.append(text.offset("%memory", (state, "%outer")))
    whole = text.let(f"and i64 %count, {-width}")
    suffix = f"v{width}f{8 * size}"
    lanes = f"<{width} x i1>"
    load, store = f"@llvm.masked.load.{suffix}.p0", f"@llvm.masked.store.{suffix}.p0"
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
        for k, (value, address) in enumerate(zip(transposed(text, loaded, width, width, element), addresses, strict=True)):
            instruction = (f"store {vector} {value}, ptr {address}, align {size}" if mask is None else
                           f"call void {store}({vector} {value}, ptr {address}, i32 {size}, {lanes} {mask})")
            text.when(text.let(f"icmp slt i64 {k}, %valid"), lambda instruction=instruction: text.do(instruction))

    text.repeat("0", whole, width, lambda first: block(first, None))

    def rest() -> None:
        numbers = f"<{', '.join(f'i64 {k}' for k in range(width))}>"
        left = text.let(f"sub i64 %count, {whole}")
        one = text.let(f"insertelement <{width} x i64> poison, i64 {left}, i32 0")
        every = text.let(f"shufflevector <{width} x i64> {one}, <{width} x i64> poison, <{width} x i32> zeroinitializer")
        block(whole, text.let(f"icmp slt <{width} x i64> {numbers}, {every}"))

    text.when(text.let(f"icmp slt i64 {whole}, %count"), rest)
    return (f"define void @{direction}(ptr %memory, i64 %outer, i64 %valid, i64 %count, ptr noalias %buffer) {{\n"
            + "\n".join(text.lines) + "\n  ret void\n}")
