"""Products, quotients and powers: signs travel outwards, constants travel to the front and gather there."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cayley.compiler.operations import OPERATIONS
from cayley.compiler.operations.operation import WITHOUT_BOUND as UNKNOWN
from cayley.compiler.rules import as_written
from cayley.compiler.rules.common import coefficient, fold, in_order, number, rule
from cayley.compiler.rules.sums import negative
from cayley.compiler.tracing.graph import RULES, Graph, Node, is_constant, is_moderate, is_power_of_two
from cayley.errors import UnsupportedError


@rule("multiply")
def multiply(a: Node, b: Node) -> Node:
    a, b = in_order(number(a), number(b))
    if a.graph.strict:
        return as_written.multiply(a, b)
    if a.op == "constant":
        known = fold(lambda x, y: x * y, a, b)
        return _scaled(a, b) if known is None else known
    if a.op == "negative":
        return multiply(a.args[0], b.args[0]) if b.op == "negative" else negative(multiply(a.args[0], b))
    if b.op == "negative":
        return negative(multiply(a, b.args[0]))
    c, x = coefficient(a)
    d, y = coefficient(b)
    if c != 1.0 and d != 1.0 and _is_small_power(c, d):
        return multiply(a.graph.constant(c * d), multiply(x, y))
    if "divide" in (a.op, b.op) and (found := _into_numerator(a, b)) is not None:
        return found
    return a.graph.node("multiply", a, b)


def _into_numerator(a: Node, b: Node) -> Node | None:
    """(k / x) (2 y) = (2 k / x) y."""
    for quotient, other in ((a, b), (b, a)):
        factor, y = coefficient(other)
        if quotient.op == "divide" and quotient.args[0].op == "constant" and factor != 1.0 and _is_small_power(factor):
            return multiply(divide(a.graph.constant(quotient.args[0].value * factor), quotient.args[1]), y)
    return None


def _is_small_power(*constants: float) -> bool:
    """True if one of them is a power of two so near to one that it may change its place: nothing is rounded by that,
    and only what is at the very ends of the range can overflow or underflow."""
    return any(is_power_of_two(c) and 2.0**-10 <= abs(c) <= 2.0**10 for c in constants)


def _may_join(graph: Graph, c: float, d: float) -> bool:
    """True if c (d x) may become (c d) x."""
    return is_moderate(c * d) and (graph.regroups or _is_small_power(c, d))


def _scaled(constant: Node, x: Node) -> Node:
    c = constant.value
    if c == 0.0 or c == 1.0:
        return constant if c == 0.0 else x
    if c < 0.0:
        return negative(multiply(x.graph.constant(-c), x))
    if x.op == "negative":
        return negative(multiply(constant, x.args[0]))
    d, y = coefficient(x)
    if d != 1.0 and _may_join(x.graph, c, d):
        return multiply(x.graph.constant(c * d), y)
    if x.op == "divide" and x.args[0].op == "constant" and _may_join(x.graph, c, x.args[0].value):
        return divide(x.graph.constant(c * x.args[0].value), x.args[1])
    return x.graph.node("multiply", constant, x)


@rule("divide")
def divide(a: Node, b: Node) -> Node:
    a = number(a)
    b = number(b)
    if a.graph.strict:
        return as_written.divide(a, b)
    if (known := fold(lambda x, y: x / y, a, b)) is not None:
        return known
    if is_constant(a, 0.0):
        return a
    if b.op == "constant" and _may_invert(b):
        return multiply(a.graph.constant(1.0 / b.value), a)
    if a.op == "negative":
        return divide(a.args[0], b.args[0]) if b.op == "negative" else negative(divide(a.args[0], b))
    if b.op == "negative":
        return negative(divide(a, b.args[0]))
    if a.op == "constant" and a.value < 0.0:
        return negative(divide(a.graph.constant(-a.value), b))
    if b.op == "constant" and b.value < 0.0:
        return negative(divide(a, a.graph.constant(-b.value)))
    return a.graph.node("divide", a, b)


def _may_invert(b: Node) -> bool:
    """True if x / b may become x (1/b): the inverse of a power of two is exact, that of another number is rounded."""
    inverse = 1.0 / b.value if b.value else math.inf
    return math.isfinite(inverse) if is_power_of_two(b.value) else b.graph.regroups and is_moderate(inverse)


@rule("power")
def power(a: Node, b: Node) -> Node:
    """Integer powers by repeated squaring, half-integer ones through the square root."""
    a = number(a)
    if (known := fold(math.pow, a, b)) is not None:
        return known
    if b.op != "constant" or not (2.0 * b.value).is_integer() or abs(b.value) > 1024:
        raise UnsupportedError("a power must be an integer or half an integer: write x**y as np.exp(y * np.log(x))")
    if b.value < 0.0:
        return divide(a.graph.constant(1.0), _positive_power(a, -b.value, as_root=False))
    return _positive_power(a, b.value, as_root=b.value == 0.5)


def _positive_power(a: Node, exponent: float, *, as_root: bool) -> Node:
    """NumPy takes x**0.5 for the square root; all other half powers are C's, for which -0.0 is 0.0 and -inf is inf."""
    whole = int(exponent)
    half = exponent % 1.0 != 0.0
    result = RULES["sqrt"](a) if half else a.graph.constant(1.0)
    square = a
    while whole:
        if whole & 1:
            result = multiply(result, square)
        whole >>= 1
        square = multiply(square, square) if whole else square
    if not half or as_root or is_never_negative(a):
        return result
    infinity = a.graph.constant(math.inf)
    return RULES["where"](RULES["equal"](a, negative(infinity)), infinity, RULES["absolute"](result))


@rule("remainder")
def remainder(a: Node, b: Node) -> Node:
    """The remainder of a after whole steps of b, with the sign of b."""
    return _division_with_rest("remainder", np.remainder, a, b)


@rule("floor_divide")
def floor_divide(a: Node, b: Node) -> Node:
    """The number of whole steps of b in a."""
    return _division_with_rest("floor_divide", np.floor_divide, a, b)


def _division_with_rest(op: str, function: Callable[..., float], a: Node, b: Node) -> Node:
    a = number(a)
    b = number(b)
    with np.errstate(all="ignore"):
        known = fold(function, a, b)
    return a.graph.node(op, a, b) if known is None else known


_DEPTH = 8


def is_never_negative(node: Node) -> bool:
    """Never below zero, nor -0.0 or -infinity; it may be NaN."""
    return lower_bound(node) >= 0.0 and node.op != "sqrt"  # the square root of -0.0 is -0.0


def lower_bound(node: Node, depth: int = _DEPTH) -> float:
    """A number below which the value cannot be; minus infinity where none is seen."""
    if node.op == "constant":
        return node.value if node.value == node.value else UNKNOWN
    if not depth:
        return UNKNOWN
    if node.op == "multiply" and node.args[0] is node.args[1]:
        return 0.0
    below = [lower_bound(a, depth - 1) for a in node.args] if node.op in ("add", "multiply", "divide") else []
    if node.op == "add":
        return sum(below)
    if node.op in ("multiply", "divide"):
        return 0.0 if min(below) >= 0.0 else UNKNOWN
    return OPERATIONS[node.op].least
