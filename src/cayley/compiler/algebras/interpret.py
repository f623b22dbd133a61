"""Evaluate a program in another algebra: the same graph on other scalars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cayley.compiler.algebras.packages import CASADI, JAX, MPMATH, NUMPY, SYMPY
from cayley.compiler.algebras.protocol import Algebra, Shape
from cayley.compiler.operations import CALLS
from cayley.compiler.signature import joined_batch
from cayley.compiler.tracing.program import Program, Variable
from cayley.compiler.typing import Scalar
from cayley.errors import SignatureError

__all__ = ["CASADI", "JAX", "MPMATH", "NUMPY", "SYMPY", "Algebra", "interpret"]


def interpret(program: Program, algebra: Algebra, *arguments: Scalar) -> tuple[Any, ...]:
    """The outputs of the program for arguments of the algebra.

    >>> from cayley.compiler.signature import Signature
    >>> from cayley.compiler.tracing.trace import trace
    >>> program = trace(lambda q: 2.0 * np.sin(q), Signature.parse("(n)->(n)"), {"n": 2}, name="twice", inputs=["q"])
    >>> interpret(program, NUMPY, [0.0, np.pi / 2])
    (array([0., 2.]),)
    >>> import sympy
    >>> interpret(program, SYMPY, sympy.symbols("a b"))[0]
    Matrix([
    [2*sin(a)],
    [2*sin(b)]])
    """
    values = _inputs(program, algebra, arguments)
    batch = _batch(program, arguments) if algebra.batched else ()
    with np.errstate(all="ignore"):  # both sides of a choice are computed
        results = _results(program, algebra, values)
    return tuple(algebra.write([next(results) for _ in v.nodes], v.shape, batch) for v in program.outputs)


def _results(program: Program, algebra: Algebra, values: dict[int, Any]) -> Iterator[Any]:
    """The scalars of all outputs, from those of the inputs."""
    operations = {node.op for node in program.nodes} - {"input", "constant"} - CALLS
    table = {op: algebra.function(op) for op in operations}
    left = program.uses()
    for node in program.nodes[len(values):]:
        operands = [values[a.index] for a in node.args]
        if node.op == "constant":
            values[node.index] = algebra.constant(node.value)
        elif node.op == "call":
            values[node.index] = node.value.evaluated(operands, lambda part, given: _of_scalars(part, algebra, given))
        elif node.op == "result":
            values[node.index] = operands[0][node.value]
        else:
            values[node.index] = table[node.op](*operands)
        for operand in node.args:
            left[operand.index] -= 1
            if not left[operand.index]:
                values.pop(operand.index)
    return iter([values[node.index] for node in program.results])


def _of_scalars(program: Program, algebra: Algebra, scalars: Sequence[Any]) -> list[Any]:
    inputs = [node.index for v in program.inputs for node in v.nodes]
    return list(_results(program, algebra, dict(zip(inputs, scalars, strict=True))))


def _inputs(program: Program, algebra: Algebra, arguments: Sequence[Any]) -> dict[int, Any]:
    if len(arguments) != len(program.inputs):
        names = ", ".join(v.name for v in program.inputs)
        raise SignatureError(f"{program.name} takes {len(program.inputs)} arguments ({names}), not {len(arguments)}")
    return {node.index: scalar for variable, argument in zip(program.inputs, arguments, strict=True)
            for node, scalar in zip(variable.nodes, _scalars(variable, algebra, argument), strict=True)}


def _scalars(variable: Variable, algebra: Algebra, argument: Scalar) -> list[Any]:
    try:
        scalars = algebra.read(argument, variable.shape)
    except SignatureError as error:
        raise SignatureError(f"argument {variable.name!r} {error}") from None
    if len(scalars) != len(variable.nodes):
        raise SignatureError(f"argument {variable.name!r} has {len(scalars)} entries, not {len(variable.nodes)}")
    return scalars


def _batch(program: Program, arguments: Sequence[Any]) -> Shape:
    shapes = [np.shape(a)[:np.ndim(a) - len(v.shape)] for v, a in zip(program.inputs, arguments, strict=True)]
    return joined_batch(shapes, [v.name for v in program.inputs])
