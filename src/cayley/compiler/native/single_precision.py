"""A program whose constants are those of single precision: what rounds to one or to zero there costs nothing."""

from __future__ import annotations

import ctypes
import math

from cayley.compiler.operations import CALLS
from cayley.compiler.tracing.graph import Graph, Node
from cayley.compiler.tracing.program import Program, build_again, rebuild


def in_precision(program: Program, precision: str) -> Program:
    """The program as it is for "double"; for "float" with its constants rounded, and made simpler where that allows it.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.tracing.trace import trace
    >>> program = trace(lambda x, y: 0.99999999999 * x + 1e-60 * y, Signature.parse("(),()->()"), {}, name="sum",
    ...                 inputs=["x", "y"])
    >>> [len(in_precision(program, precision).nodes) - 2 for precision in ("double", "float")]
    [5, 0]
    """
    if precision == "double":
        return program
    graph = Graph(strict=program.is_strict)

    def build(node: Node, operands: list[Node]) -> Node:
        operands = [graph.constant(_single(new.value)) if new.op == "constant" else new for new in operands]
        if node.op == "rounding":
            return 2.0**-23 * abs(operands[0])
        same = all(_kind(old) == _kind(new) for old, new in zip(node.args, operands, strict=True))
        as_it_is = same and node.op not in CALLS
        return graph.node(node.op, *operands) if as_it_is else build_again(node, operands)

    return rebuild(program, build, graph=graph)


def _single(value: float) -> float:
    """A constant too large for a float stays, to be written as infinite."""
    rounded = ctypes.c_float(value).value
    return rounded if math.isfinite(rounded) else value


def _kind(node: Node) -> object:
    """The kind of an operand as rules see it: its operation, and which of the constants that rules know."""
    return (node.value if node.value in (0.0, 1.0, -1.0) else "constant") if node.op == "constant" else node.op
