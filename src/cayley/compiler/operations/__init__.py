"""The operations that a node can be, each listed once with what every reader of graphs must know of it.

An operation that is missing here cannot become a node, so none can go uncounted."""

from __future__ import annotations

from cayley.compiler.operations.arithmetic import ARITHMETIC, LEAVES
from cayley.compiler.operations.arithmetic import CALLS as _CALLS
from cayley.compiler.operations.arithmetic import MARKS as _MARKS
from cayley.compiler.operations.choices import CHOICES, COMPARISONS, ROUNDING, SIGNS
from cayley.compiler.operations.functions import EXPONENTIAL, HYPERBOLIC, ROOTS, TRIGONOMETRIC
from cayley.compiler.operations.operation import FREE, Operation

__all__ = ["ARITHMETIC", "BOOLEAN", "CALLS", "FREE", "MARKS", "OPERATIONS", "OWN", "PARTNER", "Operation"]

OPERATIONS = {operation.name: operation for operation in (
    *LEAVES, *_CALLS, *_MARKS, *ARITHMETIC, *ROOTS, *TRIGONOMETRIC, *EXPONENTIAL, *HYPERBOLIC, *ROUNDING, *SIGNS,
    *CHOICES,
    *COMPARISONS)}
"""By name; those of NumPy where it has one."""

OWN = dict(OPERATIONS)
"""Those that the compiler has itself: others may be added."""

BOOLEAN = frozenset(name for name, operation in OPERATIONS.items() if operation.is_truth)
"""Operations whose value is true or false."""

MARKS = frozenset(name for name, operation in OPERATIONS.items() if operation.is_mark)
"""Operations that are their first operand, and say something of its derivative."""

CALLS = frozenset(operation.name for operation in _CALLS)
"""Operations that hold a program, or a place among the results of one."""

PARTNER = {"sin": "cos", "cos": "sin"}
"""A sine and a cosine of one angle are computed together."""
