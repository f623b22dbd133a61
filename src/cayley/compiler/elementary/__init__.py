"""Elementary functions as straight-line vector arithmetic, in double and in single precision.

Every function takes the `Lanes` under construction and its arguments, and returns a value of the precision of its first
argument. Infinities, NaN and signed zeros follow C99 and NumPy. The result of a lane never depends on the other lanes
or on the width. The table of operations names the function of each operation, or has its text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from cayley.compiler.elementary.double import in_double
from cayley.compiler.native.vector_assembly import Lanes, Value
from cayley.compiler.operations import OPERATIONS, Operation
from cayley.compiler.tracing.composed import evaluated

Emitter = Callable[..., Value]


@cache
def emitter(operation: Operation, *, as_written: bool = False) -> Emitter:
    """The function that writes an operation in vector arithmetic; `as_written` where every bit counts."""
    found = (operation.llvm_as_written if as_written else "") or operation.llvm
    if not found:
        return _of_text(operation)
    if not isinstance(found, str):
        return found
    module, _, function = found.rpartition(".")
    return getattr(import_module(f"cayley.compiler.elementary.{module}"), function)


def _of_text(operation: Operation) -> Emitter:
    @in_double
    def composed(lanes: Lanes, *operands: Value) -> Value:
        return evaluated(operation, operands, lambda op: _emit(lanes, op),
                         lambda value: lanes.constant(value, "double"))
    return composed


def _emit(lanes: Lanes, op: str) -> Emitter:
    emit = emitter(OPERATIONS[op], as_written=True)
    return lambda *operands: emit(lanes, *operands)
