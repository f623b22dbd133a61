"""The operations that a node can be, each listed once with what every reader of graphs must know of it.

An operation that is missing here cannot become a node, so none can go uncounted.
"""

from __future__ import annotations

from dataclasses import dataclass

FREE = ""


@dataclass(frozen=True)
class Operation:
    """`price` is the column of the operation counts it falls under. `is_truth`: its value is true or false. `jumps`:
    its value is not continuous, so that the last bit of an operand can change all of it. An operation that only marks a
    value for `derivative.py` is gone from programs that are evaluated."""

    arity: int
    price: str = FREE
    is_truth: bool = False
    jumps: bool = False
    is_mark: bool = False


_ADDITION, _MULTIPLICATION, _DIVISION = (Operation(2, price) for price in ("additions", "multiplications", "divisions"))
_ANGLE, _FUNCTION, _SELECTION = (Operation(1, price) for price in ("trigonometric", "other_functions", "selections"))
_FUNCTION_OF_TWO = Operation(2, "other_functions")
_SELECTION_OF_TWO = Operation(2, "selections")
_COMPARISON = Operation(2, "selections", is_truth=True, jumps=True)
_REST = Operation(2, "other_functions", jumps=True)
_MARK = Operation(1, is_mark=True)

OPERATIONS = {
    "input": Operation(0),
    "constant": Operation(0),
    "negative": Operation(1),
    "independent": _MARK,
    "held": _MARK,
    "implied": _MARK,
    "add": _ADDITION,
    "subtract": _ADDITION,
    "multiply": _MULTIPLICATION,
    "divide": _DIVISION,
    "sqrt": Operation(1, "square_roots"),
    "sin": _ANGLE,
    "cos": _ANGLE,
    "tan": _ANGLE,
    "arcsin": _FUNCTION,
    "arccos": _FUNCTION,
    "arctan": _FUNCTION,
    "exp": _FUNCTION,
    "log": _FUNCTION,
    "arctan2": _FUNCTION_OF_TWO,
    "hypot": _FUNCTION_OF_TWO,
    "remainder": _REST,
    "floor_divide": _REST,
    "floor": Operation(1, "selections", jumps=True),
    "sign": Operation(1, "selections", jumps=True),
    "absolute": _SELECTION,
    "minimum": _SELECTION_OF_TWO,
    "maximum": _SELECTION_OF_TWO,
    "where": Operation(3, "selections"),
    "less": _COMPARISON,
    "less_equal": _COMPARISON,
    "equal": _COMPARISON,
    "and": Operation(2, "selections", is_truth=True),
    "not": Operation(1, "selections", is_truth=True), }
"""By name; those of NumPy where it has one."""

BOOLEAN = frozenset(name for name, operation in OPERATIONS.items() if operation.is_truth)
"""Operations whose value is true or false."""

JUMPS = frozenset(name for name, operation in OPERATIONS.items() if operation.jumps)
"""Operations in whose value the last bit of an operand can be seen."""

MARKS = frozenset(name for name, operation in OPERATIONS.items() if operation.is_mark)
"""Operations that are their first operand, and say something of its derivative."""
