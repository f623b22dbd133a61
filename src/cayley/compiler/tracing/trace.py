"""Run a Python function on symbols and keep the graph that it builds."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cayley.compiler.signature import Signature, check_names, spell
from cayley.compiler.tracing.graph import Graph
from cayley.compiler.tracing.program import Program, Variable, variable, without_collection
from cayley.compiler.tracing.symbols import Symbols, input_symbols
from cayley.compiler.typing import Scalar
from cayley.errors import CayleyError, SignatureError, TraceError, UnsupportedError

_TELLING = (TypeError, AttributeError, ValueError, LookupError, ArithmeticError, BufferError, RuntimeError)
_LIBRARIES = (str(Path(__file__).parents[1]), str(Path(np.__file__).parent))


def trace(function: Callable[..., Any], signature: Signature, bound: Mapping[str, int], *, name: str,
          inputs: Sequence[str],
          outputs: Sequence[str] | None = None, units: Mapping[str, str] | None = None, description: str = "",
          strict: bool = False) -> Program:
    """The program of `function` for the dimensions `bound`. `inputs` and `outputs` name its arguments and results."""
    graph = Graph(strict=strict)
    units = units or {}
    arguments = [
        input_symbols(graph, label, shape) for label, shape in zip(inputs, signature.input_shapes(bound), strict=True)]
    own = [a.copy() if isinstance(a, Symbols) else a for a in arguments]  # the function may write into its arguments
    try:
        with without_collection(), np.errstate(all="ignore"):  # of constants too, NaN says it all
            returned = function(*own)
    except (*_TELLING, SystemError) as raised:
        error = _refusal(raised)
        if isinstance(error, CayleyError) and not _from_libraries(error):  # said by the text itself about its choices
            raise error from None
        raise _explained(error, name) from error
    labels, values = named_results(returned, len(signature.outputs), outputs, name)
    check_names(labels, f"results of {name}")
    kind = type(returned) if getattr(returned, "_fields", None) == tuple(labels) and hasattr(returned,
                                                                                             "_make") else None
    made_inputs = tuple(
        variable(label, array, graph, units.get(label, "")) for label, array in zip(inputs, arguments, strict=True))
    made_outputs = tuple(
        _result(label, value, graph, units.get(label, ""), name) for label, value in zip(labels, values, strict=True))
    _check_outputs(made_outputs, signature, dict(bound), name)
    return Program(name, made_inputs, made_outputs, description, kind)


def named_results(returned: Scalar, count: int, outputs: Sequence[str] | None,
                  name: str) -> tuple[list[str], list[Any]]:
    """The names and values of what a function returned: one value, or a tuple, a dictionary or a named tuple of
    several."""
    if isinstance(returned, Mapping):
        labels = list(returned)
        values = list(returned.values())
    elif count == 1 and not hasattr(returned, "_fields"):
        labels = ["out"]
        values = [returned]
    elif isinstance(returned, (tuple, list)):
        labels = list(getattr(returned, "_fields", None) or [f"out{k + 1}" for k in range(len(returned))])
        values = list(returned)
    else:
        raise SignatureError(f"{name} has {count} outputs, so it must return a tuple, a dictionary or a named tuple, "
                             f"not {type(returned).__name__}")
    if len(values) != count:
        raise SignatureError(f"{name} returned {len(values)} values; its signature has {count}")
    return list(outputs or labels), values


def _result(label: str, value: Scalar, graph: Graph, unit: str, name: str) -> Variable:
    if value is None:
        raise SignatureError(f"{name} returned None for {label!r}: is a return statement missing?")
    try:
        return variable(label, value, graph, unit)
    except (UnsupportedError, ValueError) as error:
        raise SignatureError(
            f"{name} returned something that is not an array of numbers for {label!r}: {error}") from error


def _check_outputs(outputs: Sequence[Variable], signature: Signature, bound: dict[str, int], name: str) -> None:
    for made, core in zip(outputs, signature.outputs, strict=True):
        sizes = [bound.setdefault(d, s) if isinstance(d, str) else d for d, s in zip(core, made.shape, strict=False)]
        if len(core) != len(made.shape) or tuple(sizes) != made.shape:
            known = ", ".join(f"{d} = {s}" for d, s in bound.items())
            raise SignatureError(
                f"{name} returned {made.name!r} with shape {made.shape}; its signature says {spell(core)}"
                + (f" with {known}" if known else ""))


def _refusal(error: Exception) -> Exception:
    """The error itself, or the refusal before it: NumPy's argmax goes on after one, a SystemError for Python."""
    while isinstance(error, SystemError) and isinstance(error.__context__, Exception):
        error = error.__context__
    return error


def _from_libraries(error: Exception) -> bool:
    """True if the compiler or NumPy raised it."""
    return traceback.extract_tb(error.__traceback__)[-1].filename.startswith(_LIBRARIES)


def _explained(error: Exception, name: str) -> TraceError:
    """The error with the line of the user's own code that led to it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_LIBRARIES)]
    reason = str(error)
    if "loop of ufunc does not support" in reason:
        reason = ("a NumPy function met a plain object array that mixes symbols and numbers: "
                  "build it with np.stack, or write the entries out")
    if "arrays used as indices" in reason:
        reason = "symbols cannot select elements, shapes must not depend on values: use cy.where(condition, a, b)"
    if not frames:
        return TraceError(f"{name} cannot be traced: {reason}")
    frame = frames[-1]
    source = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    return TraceError(f"{name} cannot be traced, line {frame.lineno} of {frame.filename}:\n    {source}\n{reason}")
