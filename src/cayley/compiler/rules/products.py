"""Products, quotients and powers: signs travel outwards, constants travel to the front and gather there."""

from __future__ import annotations

import math

from cayley.compiler.graph import RULES, Node, is_constant, is_power_of_two
from cayley.compiler.rules.common import coefficient, fold, in_order, number, rule
from cayley.compiler.rules.sums import negative, subtract
from cayley.errors import UnsupportedError


@rule("multiply")
def multiply(a: Node, b: Node) -> Node:
    a, b = in_order(number(a), number(b))
    if (known := fold(lambda x, y: x * y, a, b)) is not None:
        return known
    if a.op == "constant":
        return _scaled(a, b)
    if a.op == "negative":
        return multiply(a.args[0], b.args[0]) if b.op == "negative" else negative(multiply(a.args[0], b))
    if b.op == "negative":
        return negative(multiply(a, b.args[0]))
    (c, x), (d, y) = coefficient(a), coefficient(b)
    if c != 1.0 and d != 1.0 and (is_power_of_two(c) or is_power_of_two(d)):
        return multiply(a.graph.constant(c * d), multiply(x, y))
    if (found := _into_numerator(a, b)) is not None:
        return found
    return a.graph.node("multiply", a, b)


def _into_numerator(a: Node, b: Node) -> Node | None:
    """(k / x) (2 y) = (2 k / x) y."""
    for quotient, other in ((a, b), (b, a)):
        factor, y = coefficient(other)
        if quotient.op == "divide" and quotient.args[0].op == "constant" and factor != 1.0 and is_power_of_two(factor):
            return multiply(divide(a.graph.constant(quotient.args[0].value * factor), quotient.args[1]), y)
    return None


def _scaled(constant: Node, x: Node) -> Node:
    c = constant.value
    if c == 0.0 or c == 1.0:
        return constant if c == 0.0 else x
    if c < 0.0:
        return negative(multiply(x.graph.constant(-c), x))
    if x.op == "negative":
        return negative(multiply(constant, x.args[0]))
    d, y = coefficient(x)
    if d != 1.0 and math.isfinite(c * d) and c * d != 0.0:
        return multiply(x.graph.constant(c * d), y)
    if x.op == "divide" and x.args[0].op == "constant" and math.isfinite(c * x.args[0].value):
        return divide(x.graph.constant(c * x.args[0].value), x.args[1])
    return x.graph.node("multiply", constant, x)


@rule("divide")
def divide(a: Node, b: Node) -> Node:
    a, b = number(a), number(b)
    if (known := fold(lambda x, y: x / y, a, b)) is not None:
        return known
    if is_constant(a, 0.0):
        return a
    if b.op == "constant" and b.value != 0.0 and math.isfinite(1.0 / b.value) and abs(b.value) < 1e300:
        return multiply(a.graph.constant(1.0 / b.value), a)
    if a.op == "negative":
        return divide(a.args[0], b.args[0]) if b.op == "negative" else negative(divide(a.args[0], b))
    if b.op == "negative":
        return negative(divide(a, b.args[0]))
    if a.op == "constant" and a.value < 0.0:
        return negative(divide(a.graph.constant(-a.value), b))
    return a.graph.node("divide", a, b)


@rule("power")
def power(a: Node, b: Node) -> Node:
    """Integer powers by repeated squaring, half-integer ones through the square root."""
    a = number(a)
    if (known := fold(math.pow, a, b)) is not None:
        return known
    if b.op != "constant" or not (2.0 * b.value).is_integer() or abs(b.value) > 1024:
        raise UnsupportedError("a power must be an integer or half an integer: write x**y as np.exp(y * np.log(x))")
    if b.value < 0.0:
        return divide(a.graph.constant(1.0), power(a, a.graph.constant(-b.value)))
    whole, half = int(b.value), b.value % 1.0 != 0.0
    result = RULES["sqrt"](a) if half else a.graph.constant(1.0)
    square = a
    while whole:
        if whole & 1:
            result = multiply(result, square)
        whole >>= 1
        square = multiply(square, square) if whole else square
    return result


@rule("remainder")
def remainder(a: Node, b: Node) -> Node:
    return subtract(a, multiply(b, floor_divide(a, b)))


@rule("floor_divide")
def floor_divide(a: Node, b: Node) -> Node:
    return RULES["floor"](divide(a, b))
