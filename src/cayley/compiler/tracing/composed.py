"""Operations by their text: what a language lacks is computed, bit by bit as it is written, from what it has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from cayley.compiler.operations import OPERATIONS, OWN, Operation
from cayley.compiler.signature import Signature
from cayley.compiler.tracing.program import Program
from cayley.compiler.tracing.trace import trace
from cayley.compiler.typing import Scalar
from cayley.errors import UnsupportedError

_OPERANDS = "abcdefgh"


@cache
def program_of(operation: Operation) -> Program:
    """The text of an operation, traced with every rounding as it is written."""
    if operation.text is None:
        raise UnsupportedError(f"the operation {operation.name!r} has neither a text nor a name in this language")
    names = _OPERANDS[:operation.arity]
    signature = Signature.parse(f"{','.join('()' for _ in names)}->()")
    return trace(operation.text, signature, {}, name=operation.name, inputs=list(names), strict=True)


def evaluated(operation: Operation, operands: Sequence[Any], function: Callable[[str], Callable[..., Any]],
              constant: Callable[[float], Any]) -> Scalar:
    """The text on any scalars, each of its operations by `function(name)`."""
    program = program_of(operation)
    values = {v.nodes[0].index: operand for v, operand in zip(program.inputs, operands, strict=True)}
    for node in program.nodes:
        if node.op == "constant":
            values[node.index] = constant(node.value)
        elif node.op != "input":
            values[node.index] = function(node.op)(*[values[a.index] for a in node.args])
    return values[program.results[0].index]


def definitions(operations: Iterable[str]) -> list[str]:
    """Texts of operations that are not the compiler's own, as part of the key under which compiled code is kept."""
    return [_definition(OPERATIONS[name]) for name in sorted(operations) if OPERATIONS[name] is not OWN.get(name)]


@cache
def _definition(operation: Operation) -> str:
    """The definition, by its key or its text. Vector arithmetic without a key is not compared: code made of it is this
    process's."""
    own = os.urandom(16).hex() if operation.llvm else program_of(operation).key
    return f"{operation.name} {operation.key or own}"
