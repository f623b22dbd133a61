"""Functions: constants are folded, and signs leave odd and even functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cayley.compiler.operations import MARKS, OPERATIONS
from cayley.compiler.rules.common import fold, in_order, number, rule, unary
from cayley.compiler.rules.sums import negative
from cayley.compiler.tracing.graph import RULES, Node, is_constant
from cayley.errors import UnsupportedError


def rule_by_table(op: str) -> Callable[..., Node]:
    """The rule of an operation of which nothing is known but what the table says."""
    operation = OPERATIONS.get(op)
    if operation is None:
        raise UnsupportedError(f"there is no operation {op!r}: list it in compiler/operations")
    value = _value(op)

    def build(*operands: Node) -> Node:
        a, *others = operands
        if operation.is_odd and a.op == "negative":
            return negative(build(a.args[0]))
        if operation.is_even and a.op in ("negative", "absolute"):
            return build(a.args[0])
        if not others:
            return unary(op, value, a)
        numbers = [number(p) for p in operands]
        return known if (known := fold(value, *numbers)) is not None else a.graph.node(op, *numbers)

    return build


def _of_text(text: Callable[..., Any] | None) -> Callable[..., float]:
    """The value that a text gives for numbers; what is not finite is left to the machine."""
    def value(*numbers: float) -> float:
        found = math.nan if text is None else float(text(*numbers))
        if not math.isfinite(found):
            raise ValueError("not a number")
        return found
    return value


def _value(op: str) -> Callable[..., float]:
    operation = OPERATIONS[op]
    return operation.value or _of_text(operation.text)


_SIGN = _value("sign")
_FLOOR = _value("floor")


@rule("sign")
def sign(a: Node) -> Node:
    if a.op == "negative" and not a.graph.strict:  # the sign of both zeros is 0.0
        return negative(sign(a.args[0]))
    return unary("sign", _SIGN, a)


@rule("floor")
def floor(a: Node) -> Node:
    return a if a.op == "floor" else unary("floor", _FLOOR, a)


@rule("rounding")
def rounding(a: Node) -> Node:
    """The rounding of a constant is not folded, since it depends on the precision that the kernel will have."""
    return a.graph.node("rounding", number(a.args[0] if a.op in ("negative", "absolute") else a))


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

for _operation in OPERATIONS.values():
    if _operation.name not in RULES and _operation.arity and (_operation.value or _operation.text):
        RULES[_operation.name] = rule_by_table(_operation.name)
