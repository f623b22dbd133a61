"""A scalar that counts: in the arrays of an algorithm's text it runs the same text and notes operations on a tape.

Rules of the published tables (spec 4.5): a plain number that meets a counting scalar is a constant of the robot, known
off-line. A factor 0 or +-1, an addend 0, x - x and a change of sign cost nothing. Sines and cosines are counted
separately. An expression that occurs twice is computed once. Every operation is charged to an equation: the numbers in
brackets in a trailing comment, as in `# (5.3.45a)`, of the innermost running line with such a comment among the modules
of `cayley.dynamics`."""

from __future__ import annotations

import linecache
import math
import numbers
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cayley.dynamics
from cayley.compiler.typing import Array, ArrayLike, Scalar

_TEXTS = tuple(str(Path(folder).resolve()) for folder in cayley.dynamics.__path__)
_EQUATION = re.compile(r"#\s*\(([\w.]+(?:[-,]\s*[\w.]+)*)\)")
ELSEWHERE = "elsewhere"


class Cost(NamedTuple):
    """Multiplications and additions; divisions; calls of sines, cosines, roots and the like."""

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    functions: int = 0

    def plus(self, other: Cost) -> Cost:
        return Cost(*[a + b for a, b in zip(self, other, strict=True)])

    def minus(self, other: Cost) -> Cost:
        return Cost(*[a - b for a, b in zip(self, other, strict=True)])

    def times(self, number: int) -> Cost:
        return Cost(*[number * a for a in self])


class TapeEntry(NamedTuple):
    """An operation on the tape: its kind, the earlier entries, its value, and the equation that is charged."""

    kind: str
    operands: tuple[int, ...]
    value: float
    equation: str


class Tape:
    """The operations of one run, in their order."""

    def __init__(self) -> None:
        self.entries: list[TapeEntry] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def inputs(self, values: ArrayLike) -> Array:
        """An array of counting scalars for the values of a variable."""
        flat = np.empty(np.size(values), dtype=object)
        for k, value in enumerate(np.asarray(values, dtype=float).reshape(-1)):
            self.entries.append(TapeEntry("input", (), float(value), ""))
            flat[k] = CountingScalar(self, len(self.entries) - 1, 1.0)
        return flat.reshape(np.shape(values))

    def note(self, kind: str, operands: tuple[int, ...], value: float, constant: float | str = 0.0) -> CountingScalar:
        """The scalar of an operation; the same operation on the same operands is not noted again."""
        key = (kind, operands, constant)
        if key not in self._places:
            self._places[key] = len(self.entries)
            self.entries.append(TapeEntry(kind, operands, value, _equation_of_caller()))
        return CountingScalar(self, self._places[key], 1.0)

    def costs(self, wanted: Iterable[Any] | None = None) -> dict[str, Cost]:
        """Operations by equation: all of them, or those alone that the `wanted` results depend on."""
        kept = range(len(self.entries)) if wanted is None else sorted(self._needed(wanted))
        counted = Counter(
            (self.entries[k].equation, self.entries[k].kind) for k in kept if self.entries[k].kind != "input")
        equations = dict.fromkeys(equation for equation, _ in counted)
        return {e: Cost(*[counted[e, kind] for kind in ("multiply", "add", "divide", "function")]) for e in equations}

    def _needed(self, wanted: Iterable[Any]) -> set[int]:
        waiting = [x.place for x in wanted if isinstance(x, CountingScalar)]
        found: set[int] = set()
        while waiting:
            place = waiting.pop()
            if place not in found:
                found.add(place)
                waiting += self.entries[place].operands
        return found


class CountingScalar:
    """A number known only on-line: an entry of a tape, or its negative."""

    __slots__ = ("place", "sign", "tape")

    def __init__(self, tape: Tape, place: int, sign: float) -> None:
        self.tape = tape
        self.place = place
        self.sign = sign

    @property
    def value(self) -> float:
        return self.sign * self.tape.entries[self.place].value

    def __neg__(self) -> CountingScalar:
        return CountingScalar(self.tape, self.place, -self.sign)

    def __pos__(self) -> CountingScalar:
        return self

    def __add__(self, other: Scalar) -> Scalar:
        if not isinstance(other, CountingScalar):
            return self._plus_constant(other)
        first, second = (self, other) if self.place <= other.place else (other, self)
        if first.place == second.place and first.sign != second.sign:
            return 0.0
        relative = first.sign * second.sign
        total = self.tape.note("add", (first.place, second.place), first.sign * (first.value + second.value), relative)
        return total if first.sign > 0 else -total

    def _plus_constant(self, constant: float) -> Scalar:
        number = _number(constant)
        if number is None:
            return NotImplemented
        return self if number == 0.0 else self.tape.note("add",
                                                         (self.place,), self.value + number, f"{self.sign} {number!r}")

    def __mul__(self, other: Scalar) -> Scalar:
        if isinstance(other, CountingScalar):
            places = (min(self.place, other.place), max(self.place, other.place))
            sign = self.sign * other.sign
            product = self.tape.note("multiply", places, sign * self.value * other.value)
            return product if sign > 0 else -product
        number = _number(other)
        if number is None:
            return NotImplemented
        if abs(number) in (0.0, 1.0):
            return 0.0 if number == 0.0 else (self if number > 0 else -self)
        product = self.tape.note("multiply", (self.place,), self.sign * self.value * abs(number), abs(number))
        return product if self.sign * number > 0 else -product

    def __truediv__(self, other: Scalar) -> Scalar:
        if isinstance(other, CountingScalar):
            return self.tape.note("divide", (self.place, other.place), self.value / other.value, self.sign * other.sign)
        number = _number(other)
        return NotImplemented if number is None else self * (1.0 / number)

    def __rtruediv__(self, other: Scalar) -> Scalar:
        number = _number(other)
        if number is None:
            return NotImplemented
        return 0.0 if number == 0.0 else self.tape.note("divide",
                                                        (self.place,), number / self.value, f"{self.sign} {number!r}")

    def __sub__(self, other: Scalar) -> Scalar:
        return self + -other

    def __rsub__(self, other: Scalar) -> Scalar:
        return -self + other

    def __pow__(self, exponent: float) -> CountingScalar:
        if exponent != int(exponent) or exponent < 1:
            return self._function("power", lambda x: x ** exponent, exponent)
        return self if exponent == 1 else self * self ** (exponent - 1)

    __radd__ = __add__
    __rmul__ = __mul__

    # What NumPy calls by name on the elements of an object array

    def sin(self) -> CountingScalar: return self._function("sin", math.sin)
    def cos(self) -> CountingScalar: return self._function("cos", math.cos)
    def tan(self) -> CountingScalar: return self._function("tan", math.tan)
    def sqrt(self) -> CountingScalar: return self._function("sqrt", math.sqrt)
    def arctan(self) -> CountingScalar: return self._function("arctan", math.atan)
    def conjugate(self) -> CountingScalar: return self

    def _function(self, name: str, numeric: Callable[[float], float], option: float = 0.0) -> CountingScalar:
        return self.tape.note("function", (self.place,), numeric(self.value), f"{name} {self.sign} {option!r}")

    # A comparison looks at the value: the run counts the branch that it takes

    def __lt__(self, other: Scalar) -> bool: return self.value < _value(other)
    def __le__(self, other: Scalar) -> bool: return self.value <= _value(other)
    def __gt__(self, other: Scalar) -> bool: return self.value > _value(other)
    def __ge__(self, other: Scalar) -> bool: return self.value >= _value(other)

    def __repr__(self) -> str:
        return f"CountingScalar({self.value!r})"


def values(array: ArrayLike) -> Array:
    """The numbers that an array of counting scalars, and of constants, carries."""
    flat = [_value(x) for x in np.asarray(array, dtype=object).reshape(-1)]
    return np.array(flat, dtype=float).reshape(np.shape(array))


def _value(x: Scalar) -> float:
    return x.value if isinstance(x, CountingScalar) else float(x)


def _number(x: float) -> float | None:
    return float(x) if isinstance(x, numbers.Real) else None


def _equation_of_caller() -> str:
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith(_TEXTS):
            equation = equation_of_line(frame.f_code.co_filename, frame.f_lineno)
            if equation:
                return equation
        frame = frame.f_back  # type: ignore[assignment]
    return ELSEWHERE


@cache
def equation_of_line(file: str, line: int) -> str:
    """The number in the trailing comment of a line: "5.3.45a" for `w = ...  # (5.3.45a)`; nothing if there is none."""
    found = _EQUATION.search(linecache.getline(file, line))
    return found.group(1) if found else ""
