"""A program whose constants are those of single precision: what rounds to one or to zero there costs nothing in C and CUDA of floats."""

from __future__ import annotations

import numpy as np

from cayley.compiler.graph import Node
from cayley.compiler.program import Program, build_again, rebuild


def in_precision(program: Program, precision: str) -> Program:
    """The program as it is for "double"; for "float" with its constants rounded, and made simpler where that allows it.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.trace import trace
    >>> program = trace(lambda x, y: 0.99999999999 * x + 1e-60 * y, Signature.parse("(),()->()"), {}, name="sum", inputs=["x", "y"])
    >>> [len(in_precision(program, precision).nodes) - 2 for precision in ("double", "float")]
    [5, 0]
    """
    return rebuild(program, _rounded) if precision == "float" else program


def _rounded(node: Node, operands: list[Node]) -> Node:
    return build_again(node, [_single(operand) for operand in operands])


def _single(node: Node) -> Node:
    """A constant too large for a float stays, to be written as infinite."""
    if node.op != "constant":
        return node
    with np.errstate(all="ignore"):
        value = float(np.float32(node.value))
    return node.graph.constant(value) if np.isfinite(value) else node
