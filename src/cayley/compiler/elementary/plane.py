"""Lengths and signs."""

from __future__ import annotations

from cayley.compiler.elementary.double import in_double
from cayley.compiler.native.vector_assembly import Lanes, Value

INFINITY = float("inf")
TINY = 1e-300
"""Keeps 0 / 0 away and changes no other quotient."""


@in_double
def hypot(lanes: Lanes, x: Value, y: Value) -> Value:
    """sqrt(x^2 + y^2) of scaled numbers with one Newton step on the exact residual (Borges, An improved algorithm for
    hypot)."""
    a = lanes.absolute(x)
    b = lanes.absolute(y)
    long = lanes.select(a > b, a, b)
    short = lanes.select(a > b, b, a)
    large = long > 2.0**500
    small = long < 2.0**-400
    one = lanes.constant(1.0, "double")
    scale = lanes.select(large, 2.0**-600, lanes.select(small, 2.0**600, one))
    back = lanes.select(large, 2.0**600, lanes.select(small, 2.0**-600, one))
    length = _length(lanes, long * scale, short * scale) * back
    return lanes.select(a.equals(INFINITY) | b.equals(INFINITY), INFINITY, length)


def _length(lanes: Lanes, long: Value, short: Value) -> Value:
    square = long * long
    length = lanes.sqrt(lanes.multiply_add(short, short, square))
    length_square = length * length
    residual = (lanes.fma(-short, short, length_square - square)
                + (lanes.fma(length, length, -length_square) - lanes.fma(long, long, -square)))
    return length - residual / (length + length + TINY)


def sign(lanes: Lanes, x: Value) -> Value:
    """-1, 0 or 1; 0 for both zeros, as in NumPy."""
    return lanes.select(x > 0.0, 1.0, lanes.select(x < 0.0, -1.0, x + 0.0))


def copysign(lanes: Lanes, x: Value, side: Value) -> Value:
    """The size of the first with the sign of the second."""
    return lanes.with_sign_of(lanes.absolute(x), side)
