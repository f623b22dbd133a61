"""One state, called from Python without ceremony: a function whose argument checks are machine code too.

The plain case (contiguous float64 arrays of exactly the core shapes, results new or into `out`) is computed at once,
through buffers, so `out` may overlap an input. Every other call is handed over, untouched, to the general one; so is,
of kernels that explain it, a call whose result is not a number."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.native import numpy_api as api
from cayley.compiler.native.control_flow import AssemblyText
from cayley.compiler.native.llvm import Core
from cayley.compiler.native.loop import Buffers, CoreBuffers, call_core, store_constants
from cayley.compiler.native.vector_assembly import Assembly
from cayley.compiler.tracing.program import Variable

if TYPE_CHECKING:
    from typing import Any

_TABLE = ("array_type", "descriptor", "out_name", "general", "make_result", "PyArray_New", "PyArray_Scalar",
          "PyObject_Vectorcall", "PyTuple_New", "PyTuple_SetItem", "PyObject_CallOneArg", "PyErr_NoMemory", "Py_IncRef",
          "Py_DecRef")
_DOUBLE = np.dtype(np.float64)
_OUT = "out"


def native_function(code: int, name: str, general: Callable[..., Any], make_result: Callable[..., Any] | None,
                    owner: object) -> Callable[..., Any]:
    """The Python function around the compiled `call`. `make_result` turns a tuple of results into a named one."""
    objects = {
        "array_type": np.ndarray, "descriptor": _DOUBLE, "out_name": _OUT, "general": general,
        "make_result": make_result}
    table = struct.pack(f"{len(_TABLE)}Q", *[id(objects[k]) if k in objects else api.address(k) for k in _TABLE])
    return api.function_from_code(code, name, table, (owner, general, make_result))


def native_call(core: Core, *, named: bool, explains_nan: bool = False, unknown: Sequence[int] = ()) -> Assembly:
    """The assembly of `call` for a core of width one. Entries `unknown` of the results are NaN everywhere."""
    assembly = Assembly()
    text = AssemblyText()
    core.declare(assembly)
    assembly.declarations["memcpy"] = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
    inputs = core.program.inputs
    outputs = core.program.outputs
    into = text.label("into")
    new = text.label("new")
    slow = text.label("slow")
    no_memory = text.label("no_memory")
    arguments = [text.let(f"getelementptr ptr, ptr %args, i64 {k}") for k in range(len(inputs) + 1)]
    space = CoreBuffers(text, assembly, core)
    for k, name in enumerate(_TABLE):
        place = text.let(f"getelementptr i8, ptr %self, i64 {api.BYTES_ITEMS + 8 * k}")
        text.do(f"%{name} = load ptr, ptr {place}")
    _choose_form(text, len(inputs), into, new, slow)

    def compute() -> None:
        """Memory is taken after all arguments have been checked; from then on only the allocation can fail."""
        data = [_checked_array(text, text.let(f"load ptr, ptr {argument}"), v, slow, writable=False)
                for argument, v in zip(arguments, inputs, strict=False)]
        space.take(no_memory)
        for source, v, start in zip(data, inputs, Buffers(core).inputs, strict=True):
            target = text.let(f"getelementptr double, ptr {space.input}, i64 {start}")
            text.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {8 * prod(v.shape)}, i1 false)")
        store_constants(text, assembly, core, space)
        call_core(text, core, space)
        if explains_nan:
            _hand_over_nan(text, core, space, slow, unknown)

    text.place(into)
    if len(outputs) == 1:
        target = text.let(f"load ptr, ptr {arguments[-1]}")
        data = _checked_array(text, target, outputs[0], slow, writable=True)
        compute()
        _copy_result(text, core, space, 0, data)
        space.give_back()
        text.do(f"call void %Py_IncRef(ptr {target})")
        text.do(f"ret ptr {target}")
    else:
        text.do(f"br label %{slow}")
    text.place(new)
    compute()
    _new_results(text, assembly, core, space, named)
    text.place(slow)
    text.do(f"ret ptr {text.let('call ptr %PyObject_Vectorcall(ptr %general, ptr %args, i64 %count, ptr %names)')}")
    text.place(no_memory)
    text.do(f"ret ptr {text.let('call ptr %PyErr_NoMemory()')}")
    assembly.functions["call"] = ("define ptr @call(ptr %self, ptr %args, i64 %count, ptr %names) {\n"
                                  + "\n".join(text.lines) + "\n}")
    return assembly


def _choose_form(text: AssemblyText, inputs: int, into: str, new: str, slow: str) -> None:
    """f(a, b) or f(a, b, out=out)."""
    bare = text.label("bare")
    keywords = text.label("keywords")
    one = text.label("one")
    named = text.label("named")
    text.do(f"br i1 {text.let('icmp eq ptr %names, null')}, label %{bare}, label %{keywords}")
    text.place(bare)
    text.do(f"br i1 {text.let(f'icmp eq i64 %count, {inputs}')}, label %{new}, label %{slow}")
    text.place(keywords)
    text.do(f"br i1 {text.let(f'icmp eq i64 %count, {inputs}')}, label %{one}, label %{slow}")
    text.place(one)
    size = text.let(f"load i64, ptr {text.let(f'getelementptr i8, ptr %names, i64 {api.TUPLE_SIZE}')}")
    text.do(f"br i1 {text.let(f'icmp eq i64 {size}, 1')}, label %{named}, label %{slow}")
    text.place(named)
    word = text.let(f"load ptr, ptr {text.let(f'getelementptr i8, ptr %names, i64 {api.TUPLE_ITEMS}')}")
    text.do(f"br i1 {text.let(f'icmp eq ptr {word}, %out_name')}, label %{into}, label %{slow}")


def _hand_over_nan(text: AssemblyText, core: Core, space: CoreBuffers, slow: str, unknown: Sequence[int]) -> None:
    """A jump to the general call, if a result is not equal to itself, and not `unknown`."""
    numbers = "true"
    bad = text.label("bad")
    good = text.label("good")
    for start, v in zip(Buffers(core).outputs, core.program.outputs, strict=True):
        for k in [start + k for k in range(prod(v.shape)) if k not in unknown]:
            value = text.let(f"load double, ptr {text.let(f'getelementptr double, ptr {space.output}, i64 {k}')}")
            numbers = text.let(f"and i1 {numbers}, {text.let(f'fcmp ord double {value}, {value}')}")
    text.do(f"br i1 {numbers}, label %{good}, label %{bad}")
    text.place(bad)
    space.give_back()
    text.do(f"br label %{slow}")
    text.place(good)


def _field(text: AssemblyText, pointer: str, offset: int, kind: str) -> str:
    return text.let(f"load {kind}, ptr {text.let(f'getelementptr i8, ptr {pointer}, i64 {offset}')}")


def _checked_array(text: AssemblyText, pointer: str, v: Variable, slow: str, *, writable: bool) -> str:
    """The data of an array, if it is exactly a contiguous float64 array of the variable's shape."""
    text.require(text.let(f"icmp eq ptr {_field(text, pointer, api.TYPE, 'ptr')}, %array_type"), slow)
    kind = text.let(f"icmp eq ptr {_field(text, pointer, api.ARRAY['descr'], 'ptr')}, %descriptor")
    axes = text.let(f"icmp eq i32 {_field(text, pointer, api.ARRAY['nd'], 'i32')}, {len(v.shape)}")
    wanted = api.C_CONTIGUOUS | api.ALIGNED | (api.WRITEABLE if writable else 0)
    flags = text.let(f"and i32 {_field(text, pointer, api.ARRAY['flags'], 'i32')}, {wanted}")
    plain = text.let(f"icmp eq i32 {flags}, {wanted}")
    text.require(text.let(f"and i1 {text.let(f'and i1 {kind}, {axes}')}, {plain}"), slow)
    if v.shape:
        dimensions = _field(text, pointer, api.ARRAY["dimensions"], "ptr")
        fits = "true"
        for k, length in enumerate(v.shape):
            same = text.let(f"icmp eq i64 {_field(text, dimensions, 8 * k, 'i64')}, {length}")
            fits = text.let(f"and i1 {fits}, {same}")
        text.require(fits, slow)
    return _field(text, pointer, api.ARRAY["data"], "ptr")


def _new_results(text: AssemblyText, assembly: Assembly, core: Core, space: CoreBuffers, named: bool) -> None:
    """Return new arrays: one, or several as a tuple, or as a named one.

    The tuple owns what was made before something failed."""
    failed = text.label("failed")
    several = len(core.program.outputs) > 1
    pack = text.let(f"call ptr %PyTuple_New(i64 {len(core.program.outputs)})") if several else "null"
    if several:
        empty = text.label("empty")
        text.require(text.let(f"icmp ne ptr {pack}, null"), empty)
    for k in range(len(core.program.outputs)):
        value = _new_result(text, assembly, core, space, k, failed)
        if several:
            text.let(f"call i32 %PyTuple_SetItem(ptr {pack}, i64 {k}, ptr {value})")
    space.give_back()
    if several and named:
        result = text.let(f"call ptr %PyObject_CallOneArg(ptr %make_result, ptr {pack})")
        text.do(f"call void %Py_DecRef(ptr {pack})")
        text.do(f"ret ptr {result}")
    else:
        text.do(f"ret ptr {pack if several else value}")
    text.place(failed)
    if several:
        text.do(f"call void %Py_DecRef(ptr {pack})")
        text.do(f"br label %{empty}")
        text.place(empty)
    space.give_back()
    text.do("ret ptr null")


def _new_result(text: AssemblyText, assembly: Assembly, core: Core, space: CoreBuffers, k: int, failed: str) -> str:
    """A new array, or a NumPy scalar for a result without axes."""
    shape = core.program.outputs[k].shape
    if shape == ():
        made = text.let(f"call ptr %PyArray_Scalar(ptr {_result(text, core, space, k)}, ptr %descriptor, ptr null)")
        text.require(text.let(f"icmp ne ptr {made}, null"), failed)
        return made
    lengths = f"@shape{k}"
    assembly.declarations[
        lengths] = f"{lengths} = internal constant [{len(shape)} x i64] [{', '.join(f'i64 {n}' for n in shape)}]"
    made = text.let(
        f"call ptr %PyArray_New(ptr %array_type, i32 {len(shape)}, ptr {lengths}, i32 {_DOUBLE.num}, ptr null, ptr "
        "null, i32 0, i32 0, ptr null)")
    text.require(text.let(f"icmp ne ptr {made}, null"), failed)
    _copy_result(text, core, space, k, _field(text, made, api.ARRAY["data"], "ptr"))
    return made


def _result(text: AssemblyText, core: Core, space: CoreBuffers, k: int) -> str:
    return text.let(f"getelementptr double, ptr {space.output}, i64 {Buffers(core).outputs[k]}")


def _copy_result(text: AssemblyText, core: Core, space: CoreBuffers, k: int, data: str) -> None:
    size = 8 * prod(core.program.outputs[k].shape)
    text.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {data}, ptr {_result(text, core, space, k)}, i64 {size}, i1 false)")
