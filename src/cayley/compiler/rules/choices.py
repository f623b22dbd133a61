"""Smaller and larger, comparisons, logic and the choice between two values."""

from __future__ import annotations

import math
from collections.abc import Callable

from cayley.compiler.operations import BOOLEAN
from cayley.compiler.rules.common import fold, in_order, number, rule
from cayley.compiler.tracing.graph import Node


@rule("minimum")
def minimum(a: Node, b: Node) -> Node:
    return _extremum("minimum", min, a, b)


@rule("maximum")
def maximum(a: Node, b: Node) -> Node:
    return _extremum("maximum", max, a, b)


def _extremum(op: str, function: Callable[..., float], a: Node, b: Node) -> Node:
    a = number(a)
    b = number(b)
    if a is b:
        return a
    if a.graph.strict:
        return a.graph.node(op, a, b)  # of 0.0 and -0.0 the second is taken
    if a.op == b.op == "constant" and (a.value != a.value or b.value != b.value):
        return a.graph.constant(math.nan)
    return known if (known := fold(function, a, b)) is not None else a.graph.node(op, *in_order(a, b))


@rule("less")
def less(a: Node, b: Node) -> Node:
    return _comparison("less", lambda x, y: float(x < y), 0.0, a, b)


@rule("less_equal")
def less_equal(a: Node, b: Node) -> Node:
    return _comparison("less_equal", lambda x, y: float(x <= y), 1.0, a, b)


@rule("equal")
def equal(a: Node, b: Node) -> Node:
    return _comparison("equal", lambda x, y: float(x == y), 1.0, *in_order(a, b))


@rule("not_equal")
def not_equal(a: Node, b: Node) -> Node:
    return logical_not(equal(a, b))


def _comparison(op: str, function: Callable[..., float], of_itself: float, a: Node, b: Node) -> Node:
    a = number(a)
    b = number(b)
    if a is b and a.op != "constant":
        return a.graph.node(op, a, b) if of_itself else a.graph.constant(0.0)  # x == x is false for NaN
    return known if (known := fold(function, a, b)) is not None else a.graph.node(op, a, b)


def truth(a: Node) -> Node:
    """A number used as a truth value is true unless it is zero."""
    if a.op in BOOLEAN:
        return a
    return a.graph.constant(float(
        a.value != 0.0)) if a.op == "constant" else logical_not(equal(a, a.graph.constant(0.0)))


@rule("not")
def logical_not(a: Node) -> Node:
    a = truth(a)
    if a.op == "constant":
        return a.graph.constant(float(not a.value))
    return a.args[0] if a.op == "not" else a.graph.node("not", a)


@rule("and")
def logical_and(a: Node, b: Node) -> Node:
    a, b = in_order(truth(a), truth(b))
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
    condition = truth(condition)
    if a is b:
        return a
    if condition.op == "constant":
        return a if condition.value else b
    if condition.op == "not":
        return where(condition.args[0], b, a)
    return condition.graph.node("where", condition, number(a), number(b))
