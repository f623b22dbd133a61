"""Division with a rest, exactly as NumPy does it: on the remainder of C's fmod, which has no rounding error at all."""

from __future__ import annotations

from cayley.compiler.elementary.double import in_double
from cayley.compiler.native.vector_assembly import Lanes, Value

INFINITY = float("inf")


def remainder(lanes: Lanes, a: Value, b: Value) -> Value:
    """The rest, moved to the side of b; a rest of zero has the sign of b."""
    rest = fmod(lanes, a, b)
    moved = lanes.select((b < 0.0) ^ (rest < 0.0), rest + b, rest)
    return lanes.select(rest.equals(0.0), lanes.with_sign_of(0.0, b), moved)


def floor_divide(lanes: Lanes, a: Value, b: Value) -> Value:
    """(a - rest) / b is whole but for its own rounding, which is undone."""
    rest = fmod(lanes, a, b)
    quotient = (a - rest) / b
    quotient = lanes.select(((b < 0.0) ^ (rest < 0.0)) & ~rest.equals(0.0), quotient - 1.0, quotient)
    below = lanes.floor(quotient)
    whole = lanes.select(quotient - below > 0.5, below + 1.0, below)
    whole = lanes.select(quotient.equals(0.0), lanes.with_sign_of(0.0, a / b), whole)
    return lanes.select(b.equals(0.0), a / b, whole)


@in_double
def fmod(lanes: Lanes, a: Value, b: Value) -> Value:
    """C's fmod.

    The quotient rounded down is right or one too large; a - q b is a number of the machine in both cases."""
    x = lanes.absolute(a)
    y = lanes.absolute(b)
    ratio = x / y
    rest = lanes.fma(-lanes.floor(ratio), y, x)
    rest = lanes.select(rest < 0.0, rest + y, rest)
    near = (ratio < 2.0**53) & (y < INFINITY)
    (rest,) = lanes.rarely(~near, [rest], lambda: _long_division(lanes, x, y))
    return lanes.with_sign_of(rest, a)


def _long_division(lanes: Lanes, x: Value, y: Value) -> list[Value]:
    """The quotient by the C library, for quotients that are not exact and for numbers that are not finite."""
    symbol = f"@cayley.long_division.{lanes.width}"
    if symbol not in lanes.assembly.functions:
        body = Lanes(lanes.assembly, lanes.width)
        arguments = [body.argument("x", "double"), body.argument("y", "double")]
        rest = body.line(f"frem {arguments[0].typed}, {arguments[1].name}", "double")
        body.define(symbol, arguments, [rest], "cold noinline nounwind")
    return lanes.call(symbol, [x, y], ["double"])
