"""Operations: one entry has everything that any part of the compiler asks of one."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Scalar

if TYPE_CHECKING:
    from types import ModuleType

FREE = ""
WITHOUT_BOUND = float("-inf")

Spelling = str | Callable[..., Any]
"""A function by the name that a package gives it, or a function of the package and the operands."""


@dataclass(frozen=True, eq=False)
class Operation(HoldsFunctions):
    """An operation on scalars. Only a name and a `text`, the same function written with other operations, are needed:
    what an entry does not say is taken from its text.

    To count it: `price` is the column of the operation counts. `is_truth`: its value is true or false. `jumps`: it is
    not continuous, so that the last bit of an operand can change all of it. `is_whole`: it is a whole number or a rest,
    in which every bit of its operands counts. `is_mark`: it is its first operand, says something of its derivative, and
    is gone from programs that are evaluated.

    To simplify it: `value` is the function on floats, `operator` the one on any scalars. `is_odd` and `is_even`: what a
    change of sign does to a function of one operand. `least`: no value is below it.

    To differentiate it: `slopes` are the derivatives by each operand, given the value and the operands. `is_flat`: it
    has none anywhere. `branches`: it passes one of two operands on, as (condition, taken if it holds, taken if not).

    In other languages: `numpy` is its ufunc, by its path (that of its own name, if NumPy has one). `called` is its name
    in C, SymPy, CasADi and mpmath; where they differ, `c`, `sympy`, `casadi`, `jax` and `mpmath` say so. `c_helper` is
    a definition in C. `llvm(lanes, *operands)` writes it in vector arithmetic, as "module.function" one of
    `elementary`; `llvm_as_written` does it where every bit counts. `key` tells it apart from others of its name, for
    those who keep code that is made of it: without one, vector arithmetic is not kept. `remade`, a function and its
    arguments, makes it where a program with it arrives."""

    name: str
    arity: int = 1
    price: str = "other_functions"
    text: Callable[..., Any] | None = None
    is_truth: bool = False
    jumps: bool = False
    is_whole: bool = False
    is_mark: bool = False
    value: Callable[..., float] | None = None
    operator: Callable[..., Any] | None = None
    is_odd: bool = False
    is_even: bool = False
    least: float = WITHOUT_BOUND
    slopes: tuple[Callable[..., Any], ...] | None = None
    is_flat: bool = False
    branches: Callable[..., tuple[Any, Any, Any]] | None = None
    numpy: str = ""
    called: str = ""
    c: str = ""
    c_helper: str = ""
    sympy: Spelling = ""
    casadi: Spelling = ""
    jax: Spelling = ""
    mpmath: Spelling = ""
    llvm: Spelling = ""
    llvm_as_written: Spelling = ""
    key: str = ""
    remade: tuple[Callable[..., Operation], tuple[Any, ...]] | None = None

    def __call__(self, *operands: Scalar) -> Scalar:
        """On numbers, arrays, symbols."""
        from cayley.compiler.tracing.symbols import elementwise  # which builds upon this module
        return elementwise(self, *operands)

    @property
    def is_function(self) -> bool:
        """An elementary function, not what a machine does in one instruction."""
        return self.price in ("trigonometric", "other_functions")

    @property
    def c_function(self) -> str:
        """The function of math.h in double precision, if there is one."""
        return self.c or self.called

    @property
    def ufunc(self) -> Scalar:
        """The ufunc of NumPy or of another package that is this operation, if it has been imported."""
        module, _, name = (self.numpy or self.name).rpartition(".")
        return getattr(sys.modules.get(module or "numpy"), name, None)

    def spelled(self, language: str) -> Spelling:
        """Spelling in "sympy", "casadi", "jax" or "mpmath"; empty if there is none."""
        own: Spelling = getattr(self, language)
        if own or language != "jax":
            return own or self.called
        return (self.numpy or self.name).removeprefix("numpy.") if self.ufunc is not None else ""


def real(name: str) -> Callable[..., Any]:
    """A function of mpmath that is NaN where the function of real numbers has no value."""
    def call(mpmath: ModuleType, *operands: Scalar) -> Scalar:
        value = getattr(mpmath, name)(*operands)
        is_complex = isinstance(value, mpmath.mpc) and not any(isinstance(a, mpmath.mpc) for a in operands)
        return mpmath.nan if is_complex else value
    return call


def chosen(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    return a if condition else b


def lesser(a: Scalar, b: Scalar) -> Scalar:
    return a if a < b or operator.ne(a, a) else b


def greater(a: Scalar, b: Scalar) -> Scalar:
    return a if a > b or operator.ne(a, a) else b
