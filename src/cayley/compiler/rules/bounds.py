"""What is known of the size of a value from how it is made."""

from __future__ import annotations

from cayley.compiler.operations import OPERATIONS
from cayley.compiler.operations.operation import WITHOUT_BOUND as UNKNOWN
from cayley.compiler.tracing.graph import Node

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
