"""Elementary functions: constants are folded, and signs leave odd and even functions."""

from __future__ import annotations

import math
from collections.abc import Callable

from cayley.compiler.graph import RULES, Node, is_constant
from cayley.compiler.operations import MARKS
from cayley.compiler.rules.common import fold, in_order, number, rule, unary
from cayley.compiler.rules.sums import negative


@rule("sqrt")
def sqrt(a: Node) -> Node:
    return unary("sqrt", math.sqrt, a)


def _odd(op: str, function: Callable[[float], float]) -> None:
    """f(-x) = -f(x)."""
    @rule(op)
    def build(a: Node) -> Node:
        return negative(build(a.args[0])) if a.op == "negative" else unary(op, function, a)


def _even(op: str, function: Callable[[float], float]) -> None:
    """f(-x) = f(x)."""
    @rule(op)
    def build(a: Node) -> Node:
        return build(a.args[0]) if a.op in ("negative", "absolute") else unary(op, function, a)


for _name, _function in (("sin", math.sin), ("tan", math.tan), ("arcsin", math.asin), ("arctan", math.atan)):
    _odd(_name, _function)
_even("cos", math.cos)
_even("absolute", abs)


@rule("sign")
def sign(a: Node) -> Node:
    if a.op == "negative" and not a.graph.strict:  # the sign of both zeros is 0.0
        return negative(sign(a.args[0]))
    return unary("sign", lambda x: x if x != x else float((x > 0) - (x < 0)), a)


@rule("arccos")
def arccos(a: Node) -> Node:
    return unary("arccos", math.acos, a)


@rule("exp")
def exp(a: Node) -> Node:
    return unary("exp", math.exp, a)


@rule("log")
def log(a: Node) -> Node:
    return unary("log", math.log, a)


@rule("floor")
def floor(a: Node) -> Node:
    return a if a.op == "floor" else unary("floor", lambda x: float(math.floor(x)), a)


@rule("arctan2")
def arctan2(a: Node, b: Node) -> Node:
    a = number(a)
    b = number(b)
    return known if (known := fold(math.atan2, a, b)) is not None else a.graph.node("arctan2", a, b)


@rule("hypot")
def hypot(a: Node, b: Node) -> Node:
    a, b = (p.args[0] if p.op in ("negative", "absolute") else p for p in (number(a), number(b)))
    if (known := fold(math.hypot, a, b)) is not None:
        return known
    if is_constant(a, 0.0) or is_constant(b, 0.0):
        return RULES["absolute"](b if is_constant(a, 0.0) else a)
    return a.graph.node("hypot", *in_order(a, b))


def _mark(op: str) -> None:
    """Marks are for `derivative.py`, which makes such nodes unsimplified; a program built anew needs them no more."""
    @rule(op)
    def build(a: Node, *_: Node) -> Node:
        return a


for _name in MARKS:
    _mark(_name)
