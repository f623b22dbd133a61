"""Sums, products and quotients in a strict graph: only what changes no bit of the result, whatever the operands are.

Signs go where they do not turn a zero around: x - y is never -(y - x), because x - x is +0.0."""

from __future__ import annotations

import math

from cayley.compiler.rules.common import in_order
from cayley.compiler.tracing.graph import Node, is_constant, is_power_of_two


def add(a: Node, b: Node) -> Node:
    if _is_negative_zero(a) or _is_negative_zero(b):
        return b if _is_negative_zero(a) else a
    if b.op == "negative":
        return subtract(a, b.args[0])
    if a.op == "negative":
        return subtract(b, a.args[0])
    return a.graph.node("add", *in_order(a, b))


def subtract(a: Node, b: Node) -> Node:
    if is_constant(b, 0.0) and not _is_negative_zero(b):
        return a
    return add(a, b.args[0]) if b.op == "negative" else a.graph.node("subtract", a, b)


def multiply(a: Node, b: Node) -> Node:
    a, b = in_order(a, b)
    if a.op == "constant" and abs(a.value) == 1.0:
        return b if a.value > 0.0 else _negative(b)
    for p, q in ((a, b), (b, a)):
        if p.op == "negative":
            return _negative(multiply(p.args[0], q))
    return a.graph.node("multiply", a, b)


def divide(a: Node, b: Node) -> Node:
    if b.op == "constant" and is_power_of_two(b.value) and math.isfinite(1.0 / b.value):
        return multiply(a.graph.constant(1.0 / b.value), a)
    if a.op == "negative":
        return _negative(divide(a.args[0], b))
    return _negative(divide(a, b.args[0])) if b.op == "negative" else a.graph.node("divide", a, b)


def _negative(a: Node) -> Node:
    return a.args[0] if a.op == "negative" else a.graph.node("negative", a)


def _is_negative_zero(node: Node) -> bool:
    return is_constant(node, 0.0) and math.copysign(1.0, node.value) < 0.0
