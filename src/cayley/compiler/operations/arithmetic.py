"""Constants, variables and the four operations of arithmetic."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from cayley.compiler.operations.operation import FREE, Operation
from cayley.compiler.typing import Scalar

if TYPE_CHECKING:
    from types import ModuleType


def _one(*_: object) -> float:
    return 1.0


def _minus_one(*_: object) -> float:
    return -1.0


def _divided(mpmath: ModuleType, a: Scalar, b: Scalar) -> Scalar:
    return a / b if b != 0 else a * mpmath.inf  # which is NaN for 0 / 0


LEAVES = (
    Operation("input", 0, FREE, is_flat=True),
    Operation("constant", 0, FREE, is_flat=True),
)

CALLS = (
    Operation("call", 0, FREE),
    Operation("result", 1, FREE),
)
"""A program as an operation of another (`calls.py`): a call counts as what it calls."""

MARKS = (
    Operation("independent", 1, FREE, is_mark=True, slopes=(_one,)),
    Operation("held", 1, FREE, is_mark=True, is_flat=True),
    Operation("implied", 1, FREE, is_mark=True),
)

ARITHMETIC = (
    Operation("negative", 1, FREE, operator=operator.neg, slopes=(_minus_one,), llvm=lambda lanes, a: -a),
    Operation("add", 2, "additions", operator=operator.add, slopes=(_one, _one), llvm=lambda lanes, a, b: a + b),
    Operation("subtract", 2, "additions", operator=operator.sub, slopes=(_one, _minus_one),
              llvm=lambda lanes, a, b: a - b),
    Operation("multiply", 2, "multiplications", operator=operator.mul,
              slopes=(lambda n, a, b: b, lambda n, a, b: a), llvm=lambda lanes, a, b: a * b),
    Operation("divide", 2, "divisions", operator=operator.truediv, mpmath=_divided,
              slopes=(lambda n, a, b: 1.0 / b, lambda n, a, b: -(n / b)), llvm=lambda lanes, a, b: a / b),
)
