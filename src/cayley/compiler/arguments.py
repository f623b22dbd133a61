"""Arguments of a call, by position or keyword, of any numeric kind, with their core axes anywhere."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cayley.compiler.algebras.foreign_symbols import instead_of
from cayley.compiler.signature import Signature, joined_batch
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.symbols import Symbols, plain_array
from cayley.compiler.typing import Scalar
from cayley.errors import MISSPELT, CayleyError, SignatureError, UnsupportedError, did_you_mean, misspelt
from cayley.words import what_it_is_here

_OPTIONS = ("axes", "axis", "keepdims", "casting", "order", "subok")


def placed(given: Sequence[Any], named: Mapping[str, Any], inputs: Sequence[str],
           kernel: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """All arguments in their order, and the options that were among the named ones."""
    options = {name: value for name, value in named.items() if name not in inputs}
    for name in options:
        if name not in _OPTIONS:
            raise SignatureError(f"{kernel} has no argument or option {name!r}{_known(name, inputs)}")
    for name in inputs[:len(given)]:
        if name in named:
            raise SignatureError(f"argument {name!r} of {kernel} is given twice, by position and by keyword")
    rest = [name for name in inputs[len(given):] if name in named]
    if len(given) + len(rest) != len(inputs):
        count = len(given) + len(rest)
        missing = [f"`{name}`" for name in inputs[len(given):] if name not in named]
        more = f": it needs {' and '.join(missing)}" if missing else "; an array for the result is given as out=..."
        raise SignatureError(f"{kernel} takes {len(inputs)} arguments ({', '.join(inputs)}), not {count}{more}")
    return (*given, *[named[name] for name in rest]), options


def _known(unknown: str, inputs: Sequence[str]) -> str:
    """The argument of a kernel that was perhaps meant by one that it does not have, or else all that it has."""
    options = ("out", "dtype", *_OPTIONS)
    if not misspelt(unknown, [*inputs, *options]) and what_it_is_here(unknown):
        return f"{what_it_is_here(unknown)}. It is called with {', '.join(inputs)}"
    near = did_you_mean(unknown, [*inputs, *options], similar=MISSPELT)
    return f"{f'{near} Its' if near else '; its'} arguments are {', '.join(inputs)}, its options {', '.join(options)}"


def as_operand(value: Scalar, label: str, kernel: str) -> Scalar:
    """An argument as NumPy takes it; arrays of other libraries stay what they are."""
    if hasattr(value, "__array_ufunc__"):
        if isinstance(value, (Node, Symbols)):
            array = plain_array(value)
            return array if any(isinstance(x, Node) for x in array.flat) else array.astype(np.float64)
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return value
    try:
        return np.asarray(value)
    except ValueError as error:
        raise SignatureError(
            f"argument {label!r} of {kernel} is not an array, but rows of different lengths: {error}") from error
    except (TypeError, RuntimeError) as error:
        raise UnsupportedError(f"argument {label!r} of {kernel} is a {type(value).__name__}, which has no numbers: "
                               f"{instead_of(value, kernel) or error}") from error


def core_axes(signature: Signature, options: dict[str, Any], kernel: str) -> Sequence[Any] | None:
    """NumPy's `axes`, given as such or by `axis`, removed from the options."""
    axes = options.pop("axes", None)
    axis = options.pop("axis", None)
    if axis is None:
        return axes
    cores = (*signature.inputs, *signature.outputs)
    if axes is not None or any(len(core) > 1 for core in cores):
        raise SignatureError(
            f"{kernel} with signature {signature} takes no axis={axis!r}, which is for arguments and results "
            "of one core axis at most and excludes axes=; axes=[...] names the core axes of each")
    kept = [bool(core) or bool(options.get("keepdims")) for core in signature.outputs]
    return [(axis,) if has_axis else () for has_axis in (*map(bool, signature.inputs), *kept)]


def core_last(operands: Sequence[Any], axes: Sequence[Any], signature: Signature, labels: Sequence[str]) -> list[Any]:
    """The operands with their core axes at the end, where a signature looks for them."""
    if not isinstance(axes, (list, tuple)) or len(axes) < len(operands):
        raise SignatureError(f"axes={axes!r} does not fit the signature {signature}: it has an entry for each operand")
    moved = []
    for operand, chosen, core, label in zip(operands, axes, signature.inputs, labels, strict=False):
        try:
            places = [operator.index(place) for place in (chosen if isinstance(chosen, (list, tuple)) else (chosen,))]
            moved.append(np.moveaxis(operand, places, range(-len(core), 0)))
        except (TypeError, ValueError) as error:
            raise SignatureError(f"axes={axes!r} does not fit {label!r} of shape {operand.shape}: {error}") from error
    return moved


def check_batch(operands: Sequence[Any], signature: Signature, labels: Sequence[str]) -> None:
    """Check that the leading axes broadcast. The core shapes are known to fit."""
    batches = [a.shape[:len(a.shape) - len(core)] for a, core in zip(operands, signature.inputs, strict=True)]
    if any(batch != batches[0] for batch in batches):
        joined_batch(batches, labels)


def called(ufunc: np.ufunc, operands: Sequence[Any], options: Mapping[str, Any]) -> Scalar:
    """The ufunc on its operands; what NumPy has against them is an error of this library."""
    try:
        with np.errstate(all="ignore"):  # NaN says it all, and comparisons inside a kernel set flags without meaning
            return ufunc(*operands, **options)
    except CayleyError:
        raise
    except ValueError as error:
        raise SignatureError(f"{ufunc.__name__} cannot be computed: {error}") from error
    except TypeError as error:
        raise UnsupportedError(f"{ufunc.__name__} cannot be computed: {error}") from error
