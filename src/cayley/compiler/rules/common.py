"""Shared parts of the rules: folding of constants, canonical order, truth values as numbers."""

from __future__ import annotations

from collections.abc import Callable

from cayley.compiler.operations import BOOLEAN
from cayley.compiler.tracing.graph import RULES, Node
from cayley.compiler.typing import Text


def rule(op: str) -> Text:
    def register(function: Callable[..., Node]) -> Text:
        RULES[op] = function
        return function
    return register


def number(node: Node) -> Node:
    """A truth value used as a number is 1 or 0."""
    if node.op in BOOLEAN:
        return RULES["where"](node, node.graph.constant(1.0), node.graph.constant(0.0))
    return node


def fold(function: Callable[..., float], *args: Node) -> Node | None:
    """A function of constants as a constant; not in a strict graph, whose constants are first rounded to the precision.
    """
    for a in args:
        if a.op != "constant" or a.graph.strict:
            return None
    try:
        value = function(*[a.value for a in args])
    except (ValueError, ZeroDivisionError, OverflowError):
        return None  # the machine's own NaN or infinity is the answer, at run time
    return args[0].graph.constant(value)


def coefficient(node: Node) -> tuple[float, Node]:
    """`node` as (c, x) with node = c x."""
    if node.op == "multiply" and node.args[0].op == "constant":
        return node.args[0].value, node.args[1]
    return 1.0, node


def in_order(a: Node, b: Node) -> tuple[Node, Node]:
    """Constants first, then the older node."""
    if b.op == "constant":
        return b, a
    return (a, b) if a.op == "constant" or a.index <= b.index else (b, a)


def unary(op: str, function: Callable[[float], float], a: Node) -> Node:
    a = number(a)
    return known if (known := fold(function, a)) is not None else a.graph.node(op, a)
