"""Tables in kernels: `lookup(values)` is the operation that gives the value at a place that is known only at run time.

The numbers stand once in the code, as an array; a place is a whole number from 0, in a float, and one that is not there
gives NaN. Between which two of increasing values a number lies is found by `interval`, in as many looks as their count
has binary digits."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from cayley.compiler.native.vector_assembly import Value, literal
from cayley.compiler.operations import OPERATIONS, Operation
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError

_IN_C = """{{real}} {{name}}({{real}} place)
{{{{
    static const {{real}} values[{count}] = {{{{{values}}}}};
    return place >= 0 && place < {count} ? values[(int)place] : {{nan}};
}}}}"""


def lookup(values: ArrayLike) -> Operation:
    """The operation that takes a place among the values (k), all finite, and gives the value there.

    >>> from cayley.compiler.kernel import kernel
    >>> squares = lookup([0.0, 1.0, 4.0, 9.0])
    >>> kernel("()->()", name="square")(lambda place: squares(place))([3.0, 1.0])
    array([9., 1.])
    """
    numbers = np.ascontiguousarray(values, dtype=float).ravel()
    if not len(numbers) or not np.isfinite(numbers).all():
        raise SignatureError("a table holds finite numbers, one or more")
    key = sha256(numbers.tobytes()).hexdigest()
    name = f"lookup_{key[:16]}"
    if name not in OPERATIONS:
        OPERATIONS[name] = Operation(
            name, 1, "selections", key=key, remade=(lookup, (numbers,)), jumps=True, is_flat=True,
            text=lambda place: _in_words(numbers, place),
            value=lambda place: float(numbers[int(place)]) if 0 <= place < len(numbers) else np.nan,
            llvm=lambda lanes, place: _loaded(name, numbers, place),
            c_helper=_IN_C.format(count=len(numbers), values=", ".join(f"({{real}}){x!r}" for x in numbers.tolist())))
    return OPERATIONS[name]


def interval(breaks: Array, t: Scalar) -> Scalar:
    """The place k of the last of the increasing breaks (n + 1) that is not after t, between 0 and n - 1, whatever t."""
    count = len(breaks) - 1
    if count == 1:
        return 0.0 * t
    digits = (count - 1).bit_length()
    inner = np.full(2**digits, breaks[-1])
    inner[:count] = breaks[:count]
    at = lookup(inner)
    place = 0.0
    for digit in reversed(range(digits)):
        further = place + float(2**digit)
        place = where(at(further) <= t, further, place)
    return np.minimum(place, float(count - 1))


def _in_words(values: Array, place: Scalar) -> Scalar:
    """The same for languages without arrays."""
    return where(place >= 0.0, where(place < float(len(values)), _by_halves(values, place, 0), np.nan), np.nan)


def _by_halves(values: Array, place: Scalar, first: int) -> Scalar:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return where(place < float(first + half), _by_halves(values[:half], place, first),
                 _by_halves(values[half:], place, first + half))


def _loaded(name: str, values: Array, place: Value) -> Value:
    lanes = place.lanes
    kind = lanes.precision
    symbol = f"@{name}.{kind}"
    if symbol not in lanes.assembly.declarations:
        numbers = ", ".join(f"{kind} {literal(value, kind)}" for value in values)
        lanes.assembly.declarations[symbol] = (
            f"{symbol} = internal unnamed_addr constant [{len(values)} x {kind}] [{numbers}]")
    is_there = (place >= 0.0) & (place < float(len(values)))
    whole = lanes.cast("fptosi", lanes.select(is_there, place, 0.0), "i64")
    gathered = "poison"
    for lane in range(lanes.width):
        index, address, value, following = (lanes.fresh() for _ in range(4))
        lanes.lines += [
            f"{index} = extractelement {whole.typed}, i32 {lane}",
            f"{address} = getelementptr inbounds [{len(values)} x {kind}], ptr {symbol}, i64 0, i64 {index}",
            f"{value} = load {kind}, ptr {address}",
            f"{following} = insertelement {lanes.vector(kind)} {gathered}, {kind} {value}, i32 {lane}"]
        gathered = following
    return lanes.select(is_there, Value(lanes, gathered, kind), np.nan)
