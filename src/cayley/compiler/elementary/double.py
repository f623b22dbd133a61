"""Shared parts of the elementary functions: working in double precision, and sums without loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from cayley.compiler.native.vector_assembly import Lanes, Value


def in_double(function: Callable[..., Value]) -> Callable[..., Value]:
    """The function computed in double precision and rounded to the precision of its arguments."""
    @wraps(function)
    def rounded(lanes: Lanes, *arguments: Value) -> Value:
        result = function(lanes, *[lanes.convert(a, "double") for a in arguments])
        return lanes.convert(result, arguments[0].kind)
    return rounded


def two_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """a + b rounded, and exactly what the rounding lost (Knuth)."""
    total = a + b
    from_b = total - a
    return total, (a - (total - from_b)) + (b - from_b)
