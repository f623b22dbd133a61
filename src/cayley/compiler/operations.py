"""The operations that a node can be, each listed once with what every reader of graphs must know of it.

An operation that is missing here cannot become a node, so none can go uncounted.
"""

from __future__ import annotations

from dataclasses import dataclass

FREE = ""


@dataclass(frozen=True)
class Operation:
    """`price` is the column of the operation counts it falls under. `is_truth`: its value is true or false. `jumps`: its value is not
    continuous, so that the last bit of an operand can change all of it."""

    arity: int
    price: str = FREE
    is_truth: bool = False
    jumps: bool = False


OPERATIONS = {
    "input": Operation(0), "constant": Operation(0), "independent": Operation(1), "negative": Operation(1),
    "add": Operation(2, "additions"), "subtract": Operation(2, "additions"),
    "multiply": Operation(2, "multiplications"), "divide": Operation(2, "divisions"), "sqrt": Operation(1, "square_roots"),
    "sin": Operation(1, "trigonometric"), "cos": Operation(1, "trigonometric"), "tan": Operation(1, "trigonometric"),
    "arcsin": Operation(1, "other_functions"), "arccos": Operation(1, "other_functions"), "arctan": Operation(1, "other_functions"),
    "arctan2": Operation(2, "other_functions"), "hypot": Operation(2, "other_functions"),
    "exp": Operation(1, "other_functions"), "log": Operation(1, "other_functions"),
    "remainder": Operation(2, "other_functions", jumps=True), "floor_divide": Operation(2, "other_functions", jumps=True),
    "floor": Operation(1, "selections", jumps=True), "sign": Operation(1, "selections", jumps=True),
    "absolute": Operation(1, "selections"), "minimum": Operation(2, "selections"), "maximum": Operation(2, "selections"),
    "where": Operation(3, "selections"),
    "less": Operation(2, "selections", is_truth=True, jumps=True), "less_equal": Operation(2, "selections", is_truth=True, jumps=True),
    "equal": Operation(2, "selections", is_truth=True, jumps=True),
    "and": Operation(2, "selections", is_truth=True), "not": Operation(1, "selections", is_truth=True),
}
"""By name; those of NumPy where it has one."""

BOOLEAN = frozenset(name for name, operation in OPERATIONS.items() if operation.is_truth)
"""Operations whose value is true or false."""

JUMPS = frozenset(name for name, operation in OPERATIONS.items() if operation.jumps)
"""Operations in whose value the last bit of an operand can be seen."""
