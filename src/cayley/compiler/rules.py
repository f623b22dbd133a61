"""How each operation is built: folded, and rewritten into one canonical form, so that equal expressions meet.

Signs travel outwards (a product of negatives is the negative of a product, `b - a` is `-(a - b)`), constants travel to the
front and gather there. A sign change is free in every published operation count, and nearly so in machine code.
Rewriting follows real algebra, not rounding: a product by an exact zero is zero whatever the other factor will be.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from cayley.compiler.graph import BOOLEAN, RULES, Node, is_constant, is_power_of_two
from cayley.errors import UnsupportedError


def rule(op: str):
    def register(function: Callable[..., Node]):
        RULES[op] = function
        return function
    return register


def _number(node: Node) -> Node:
    """A truth value used as a number is 1 or 0."""
    if node.op in BOOLEAN:
        return where(node, node.graph.constant(1.0), node.graph.constant(0.0))
    return node


def _fold(function: Callable[..., float], *args: Node) -> Node | None:
    for a in args:
        if a.op != "constant":
            return None
    try:
        value = function(*[a.value for a in args])
    except (ValueError, ZeroDivisionError, OverflowError):
        return None  # the machine's own NaN or infinity is the answer, at run time
    return args[0].graph.constant(value)


def _coefficient(node: Node) -> tuple[float, Node]:
    """`node` as (c, x) with node = c x."""
    if node.op == "multiply" and node.args[0].op == "constant":
        return node.args[0].value, node.args[1]
    return 1.0, node


def _in_order(a: Node, b: Node) -> tuple[Node, Node]:
    """Constants first, then the older node."""
    if b.op == "constant":
        return b, a
    return (a, b) if a.op == "constant" or a.index <= b.index else (b, a)


@rule("add")
def add(a: Node, b: Node) -> Node:
    a, b = _number(a), _number(b)
    if (known := _fold(lambda x, y: x + y, a, b)) is not None:
        return known
    if is_constant(a, 0.0):
        return b
    if is_constant(b, 0.0):
        return a
    if a.op == "negative":
        return negative(add(a.args[0], b.args[0])) if b.op == "negative" else subtract(b, a.args[0])
    if b.op == "negative":
        return subtract(a, b.args[0])
    if a.op == "constant" and a.value < 0:
        return subtract(b, a.graph.constant(-a.value))
    if b.op == "constant" and b.value < 0:
        return subtract(a, a.graph.constant(-b.value))
    for simpler in (_gathered_sum, _cancelled, _like_sum, _pythagoras):
        if (found := simpler(a, b)) is not None:
            return found
    return a.graph.node("add", *_in_order(a, b))


@rule("subtract")
def subtract(a: Node, b: Node) -> Node:
    a, b = _number(a), _number(b)
    if a is b:
        return a.graph.constant(0.0)
    if (known := _fold(lambda x, y: x - y, a, b)) is not None:
        return known
    if is_constant(b, 0.0):
        return a
    if is_constant(a, 0.0):
        return negative(b)
    if a.op == "negative":
        return subtract(b.args[0], a.args[0]) if b.op == "negative" else negative(add(a.args[0], b))
    if b.op == "negative":
        return add(a, b.args[0])
    if b.op == "constant" and b.value < 0:
        return add(a, a.graph.constant(-b.value))
    if a.op == "constant" and a.value < 0:
        return negative(add(a.graph.constant(-a.value), b))
    for simpler in (_gathered_difference, _difference_cancelled, _like_difference):
        if (found := simpler(a, b)) is not None:
            return found
    if a.index <= b.index or b.op == "constant":
        return a.graph.node("subtract", a, b)
    return negative(a.graph.node("subtract", b, a))


def _offset(node: Node) -> tuple[float, int, Node] | None:
    """`node` as (k, sign, x) with node = k + sign x, for a sum with a constant in it."""
    if node.op == "add" and node.args[0].op == "constant":
        return node.args[0].value, 1, node.args[1]
    if node.op == "subtract" and node.args[0].op == "constant":
        return node.args[0].value, -1, node.args[1]
    if node.op == "subtract" and node.args[1].op == "constant":
        return -node.args[1].value, 1, node.args[0]
    return None


def _gathered_sum(a: Node, b: Node) -> Node | None:
    """k1 + (k2 + x) = (k1 + k2) + x."""
    constant, other = (a, b) if a.op == "constant" else (b, a)
    if constant.op != "constant" or (parts := _offset(other)) is None:
        return None
    value, sign, x = parts
    total = a.graph.constant(constant.value + value)
    return add(total, x) if sign > 0 else subtract(total, x)


def _gathered_difference(a: Node, b: Node) -> Node | None:
    if a.op == "constant" and (parts := _offset(b)) is not None:
        value, sign, x = parts
        total = a.graph.constant(a.value - value)
        return subtract(total, x) if sign > 0 else add(total, x)
    if b.op == "constant" and (parts := _offset(a)) is not None:
        value, sign, x = parts
        total = a.graph.constant(value - b.value)
        return add(total, x) if sign > 0 else subtract(total, x)
    return None


def _cancelled(a: Node, b: Node) -> Node | None:
    """(x - y) + y = x."""
    for p, q in ((a, b), (b, a)):
        if p.op == "subtract" and p.args[1] is q:
            return p.args[0]
    return None


def _difference_cancelled(a: Node, b: Node) -> Node | None:
    """(x + y) - y = x, x - (x + y) = -y, (x - y) - x = -y, x - (x - y) = y."""
    if a.op == "add" and (a.args[0] is b or a.args[1] is b):
        return a.args[1] if a.args[0] is b else a.args[0]
    if b.op == "add" and (b.args[0] is a or b.args[1] is a):
        return negative(b.args[1] if b.args[0] is a else b.args[0])
    if a.op == "subtract" and a.args[0] is b:
        return negative(a.args[1])
    if b.op == "subtract" and b.args[0] is a:
        return b.args[1]
    return None


def _like_sum(a: Node, b: Node) -> Node | None:
    return _like_terms(a, b, 1.0)


def _like_difference(a: Node, b: Node) -> Node | None:
    return _like_terms(a, b, -1.0)


def _like_terms(a: Node, b: Node, sign: float) -> Node | None:
    """c1 x + c2 x = (c1 + c2) x."""
    (c, x), (d, y) = _coefficient(a), _coefficient(b)
    if x is not y or x.op == "constant":
        return None
    return multiply(a.graph.constant(c + sign * d), x)


def _pythagoras(a: Node, b: Node) -> Node | None:
    """sin^2 + cos^2 = 1."""
    if a.op == b.op == "multiply" and a.args[0] is a.args[1] and b.args[0] is b.args[1]:
        s, c = a.args[0], b.args[0]
        if {s.op, c.op} == {"sin", "cos"} and s.args[0] is c.args[0]:
            return a.graph.constant(1.0)
    return None


@rule("negative")
def negative(a: Node) -> Node:
    a = _number(a)
    if a.op == "constant":
        return a.graph.constant(-a.value)
    return a.args[0] if a.op == "negative" else a.graph.node("negative", a)


@rule("multiply")
def multiply(a: Node, b: Node) -> Node:
    a, b = _in_order(_number(a), _number(b))
    if (known := _fold(lambda x, y: x * y, a, b)) is not None:
        return known
    if a.op == "constant":
        return _scaled(a, b)
    if a.op == "negative":
        return multiply(a.args[0], b.args[0]) if b.op == "negative" else negative(multiply(a.args[0], b))
    if b.op == "negative":
        return negative(multiply(a, b.args[0]))
    (c, x), (d, y) = _coefficient(a), _coefficient(b)
    if c != 1.0 and d != 1.0 and (is_power_of_two(c) or is_power_of_two(d)):
        return multiply(a.graph.constant(c * d), multiply(x, y))
    if (found := _into_numerator(a, b)) is not None:
        return found
    return a.graph.node("multiply", a, b)


def _into_numerator(a: Node, b: Node) -> Node | None:
    """(k / x) (2 y) = (2 k / x) y."""
    for quotient, other in ((a, b), (b, a)):
        factor, y = _coefficient(other)
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
    d, y = _coefficient(x)
    if d != 1.0 and math.isfinite(c * d) and c * d != 0.0:
        return multiply(x.graph.constant(c * d), y)
    if x.op == "divide" and x.args[0].op == "constant" and math.isfinite(c * x.args[0].value):
        return divide(x.graph.constant(c * x.args[0].value), x.args[1])
    return x.graph.node("multiply", constant, x)


@rule("divide")
def divide(a: Node, b: Node) -> Node:
    a, b = _number(a), _number(b)
    if (known := _fold(lambda x, y: x / y, a, b)) is not None:
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
    a = _number(a)
    if (known := _fold(math.pow, a, b)) is not None:
        return known
    if b.op != "constant" or not (2.0 * b.value).is_integer() or abs(b.value) > 1024:
        raise UnsupportedError("a power must be an integer or half an integer: write x**y as np.exp(y * np.log(x))")
    if b.value < 0.0:
        return divide(a.graph.constant(1.0), power(a, a.graph.constant(-b.value)))
    whole, half = int(b.value), b.value % 1.0 != 0.0
    result = sqrt(a) if half else a.graph.constant(1.0)
    square = a
    while whole:
        if whole & 1:
            result = multiply(result, square)
        whole >>= 1
        square = multiply(square, square) if whole else square
    return result


@rule("sqrt")
def sqrt(a: Node) -> Node:
    return _unary("sqrt", math.sqrt, a)


def _unary(op: str, function: Callable[[float], float], a: Node) -> Node:
    a = _number(a)
    return known if (known := _fold(function, a)) is not None else a.graph.node(op, a)


def _odd(op: str, function: Callable[[float], float]) -> None:
    """f(-x) = -f(x)."""
    @rule(op)
    def build(a: Node) -> Node:
        return negative(build(a.args[0])) if a.op == "negative" else _unary(op, function, a)


def _even(op: str, function: Callable[[float], float]) -> None:
    """f(-x) = f(x)."""
    @rule(op)
    def build(a: Node) -> Node:
        return build(a.args[0]) if a.op in ("negative", "absolute") else _unary(op, function, a)


for _name, _function in (("sin", math.sin), ("tan", math.tan), ("arcsin", math.asin), ("arctan", math.atan)):
    _odd(_name, _function)
_even("cos", math.cos)
_even("absolute", abs)
_odd("sign", lambda x: x if x != x else float((x > 0) - (x < 0)))


@rule("arccos")
def arccos(a: Node) -> Node:
    return _unary("arccos", math.acos, a)


@rule("exp")
def exp(a: Node) -> Node:
    return _unary("exp", math.exp, a)


@rule("log")
def log(a: Node) -> Node:
    return _unary("log", math.log, a)


@rule("floor")
def floor(a: Node) -> Node:
    return a if a.op == "floor" else _unary("floor", lambda x: float(math.floor(x)), a)


@rule("arctan2")
def arctan2(a: Node, b: Node) -> Node:
    a, b = _number(a), _number(b)
    return known if (known := _fold(math.atan2, a, b)) is not None else a.graph.node("arctan2", a, b)


@rule("hypot")
def hypot(a: Node, b: Node) -> Node:
    a, b = (p.args[0] if p.op in ("negative", "absolute") else p for p in (_number(a), _number(b)))
    if (known := _fold(math.hypot, a, b)) is not None:
        return known
    if is_constant(a, 0.0) or is_constant(b, 0.0):
        return RULES["absolute"](b if is_constant(a, 0.0) else a)
    return a.graph.node("hypot", *_in_order(a, b))


@rule("minimum")
def minimum(a: Node, b: Node) -> Node:
    return _extremum("minimum", min, a, b)


@rule("maximum")
def maximum(a: Node, b: Node) -> Node:
    return _extremum("maximum", max, a, b)


def _extremum(op: str, function: Callable[..., float], a: Node, b: Node) -> Node:
    a, b = _number(a), _number(b)
    if a is b:
        return a
    if a.op == b.op == "constant" and (a.value != a.value or b.value != b.value):
        return a.graph.constant(math.nan)
    return known if (known := _fold(function, a, b)) is not None else a.graph.node(op, *_in_order(a, b))


@rule("remainder")
def remainder(a: Node, b: Node) -> Node:
    return subtract(a, multiply(b, floor_divide(a, b)))


@rule("floor_divide")
def floor_divide(a: Node, b: Node) -> Node:
    return floor(divide(a, b))


@rule("less")
def less(a: Node, b: Node) -> Node:
    return _comparison("less", lambda x, y: float(x < y), 0.0, a, b)


@rule("less_equal")
def less_equal(a: Node, b: Node) -> Node:
    return _comparison("less_equal", lambda x, y: float(x <= y), 1.0, a, b)


@rule("equal")
def equal(a: Node, b: Node) -> Node:
    return _comparison("equal", lambda x, y: float(x == y), 1.0, *_in_order(a, b))


@rule("not_equal")
def not_equal(a: Node, b: Node) -> Node:
    return logical_not(equal(a, b))


def _comparison(op: str, function: Callable[..., float], of_itself: float, a: Node, b: Node) -> Node:
    a, b = _number(a), _number(b)
    if a is b and a.op != "constant":
        return a.graph.node(op, a, b) if of_itself else a.graph.constant(0.0)  # x == x is false for NaN
    return known if (known := _fold(function, a, b)) is not None else a.graph.node(op, a, b)


def _truth(a: Node) -> Node:
    """A number used as a truth value is true unless it is zero."""
    if a.op in BOOLEAN:
        return a
    return a.graph.constant(float(a.value != 0.0)) if a.op == "constant" else logical_not(equal(a, a.graph.constant(0.0)))


@rule("not")
def logical_not(a: Node) -> Node:
    a = _truth(a)
    if a.op == "constant":
        return a.graph.constant(float(not a.value))
    return a.args[0] if a.op == "not" else a.graph.node("not", a)


@rule("and")
def logical_and(a: Node, b: Node) -> Node:
    a, b = _in_order(_truth(a), _truth(b))
    if a is b:
        return a
    if a.op == "constant":
        return b if a.value else a
    return a.graph.node("and", a, b)


@rule("or")
def logical_or(a: Node, b: Node) -> Node:
    return logical_not(logical_and(logical_not(a), logical_not(b)))


@rule("where")
def where(condition: Node, a: Node, b: Node) -> Node:
    condition = _truth(condition)
    if a is b:
        return a
    if condition.op == "constant":
        return a if condition.value else b
    if condition.op == "not":
        return where(condition.args[0], b, a)
    return condition.graph.node("where", condition, _number(a), _number(b))


@rule("independent")
def independent(a: Node) -> Node:
    """The mark is for `derivative.py`, which makes such nodes unsimplified; a program built anew needs it no more."""
    return a
