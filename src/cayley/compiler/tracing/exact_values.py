"""Values that are seen to the last bit: those from which a floor, a remainder, a sign or a comparison is computed.

Everywhere else a result that is rounded in another way is as good as the one that was written. The search goes back to
where the last bit is not NumPy's anyway: to elementary functions, and, from a sign or a comparison, to sums with
products in them, which are rounded once where the machine can. Those that lead to a floor or a remainder are rounded
twice, as written."""

from __future__ import annotations

from collections.abc import Callable

from cayley.compiler.operations import OPERATIONS
from cayley.compiler.tracing.graph import Node
from cayley.compiler.tracing.program import Program


def visible(program: Program) -> set[int]:
    """The indices of the nodes whose rounding an operation that is not continuous can see."""
    jumps = frozenset(name for name, operation in OPERATIONS.items() if operation.jumps)
    whole = frozenset(name for name in jumps if OPERATIONS[name].is_whole)
    by_sides = _seen_by(program, jumps - whole, lambda node: _is_inexact(node) or _is_fused(node))
    return by_sides | _seen_by(program, whole, _is_inexact)


def _seen_by(program: Program, jumps: frozenset[str], stops: Callable[[Node], bool]) -> set[int]:
    pending = [a for node in program.nodes if node.op in jumps for a in node.args]
    seen = set()
    while pending:
        node = pending.pop()
        if node.index not in seen and not stops(node):
            seen.add(node.index)
            pending.extend(node.args)
    return seen


def _is_inexact(node: Node) -> bool:
    return OPERATIONS[node.op].is_function and not OPERATIONS[node.op].is_whole


def _is_fused(node: Node) -> bool:
    return node.op in ("add", "subtract") and any(a.op == "multiply" for a in node.args)
