"""Numbers of operations as polynomials of the number n of joints, exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from cayley.dynamics.accounting.counting_scalar import Cost
from cayley.errors import UnsupportedError

LONGEST = 9  # joints of the longest arm that is counted to find a formula


@dataclass(frozen=True)
class Formula:
    """A polynomial of n: `coefficients` of 1, n, n^2 and so on; it holds for n >= `start`.

    >>> print(Formula.linear(93, -69), Formula.linear(93, -69)(6))
    93n-69 489
    """

    coefficients: tuple[Fraction, ...]
    start: int = 1

    @staticmethod
    def linear(slope: int, constant: int, start: int = 1) -> Formula:
        return Formula.of((constant, slope), start)

    @staticmethod
    def of(coefficients: tuple[int | Fraction, ...], start: int = 1) -> Formula:
        found = [Fraction(c) for c in coefficients]
        while found and not found[-1]:
            found.pop()
        return Formula(tuple(found), start)

    def __call__(self, n: int) -> int:
        value = sum((c * n ** k for k, c in enumerate(self.coefficients)), Fraction(0))
        return int(value) if value.denominator == 1 else round(value)

    def __add__(self, other: Formula) -> Formula:
        size = max(len(self.coefficients), len(other.coefficients))
        padded = [(*x.coefficients, *[Fraction(0)] * (size - len(x.coefficients))) for x in (self, other)]
        return Formula.of(tuple(a + b for a, b in zip(*padded, strict=True)), max(self.start, other.start))

    def scaled(self, factor: Fraction) -> Formula:
        return Formula(tuple(factor * c for c in self.coefficients), self.start)

    def shifted_product(self, shift: int) -> Formula:
        """This times (n + shift)."""
        c = self.coefficients
        return Formula(tuple(a + shift * b for a, b in zip((Fraction(0), *c), (*c, Fraction(0)), strict=True)),
                       self.start)

    def __str__(self) -> str:
        terms = [_term(c, k) for k, c in reversed(list(enumerate(self.coefficients))) if c]
        return ("".join(terms).removeprefix("+")) or "0"


def _term(coefficient: Fraction, power: int) -> str:
    letter = "" if power == 0 else "n" if power == 1 else f"n^{power}"
    size = "" if abs(
        coefficient
    ) == 1 and power else f"({abs(coefficient)})" if coefficient.denominator > 1 else f"{abs(coefficient)}"
    return f"{'-' if coefficient < 0 else '+'}{size}{letter}"


@dataclass(frozen=True)
class Figures:
    """Multiplications and additions, and calls of functions where they are counted."""

    multiplications: Formula
    additions: Formula
    functions: Formula | None = None

    @staticmethod
    def linear(m: int, m0: int, a: int, a0: int, start: int = 1) -> Figures:
        return Figures(Formula.linear(m, m0, start), Formula.linear(a, a0, start))

    def __call__(self, n: int) -> tuple[int, int]:
        return self.multiplications(n), self.additions(n)

    def __add__(self, other: Figures) -> Figures:
        return Figures(self.multiplications + other.multiplications, self.additions + other.additions)

    def __str__(self) -> str:
        return f"{self.multiplications}, {self.additions}"


NO_FIGURES = Figures(Formula(()), Formula(()))


def polynomial(numbers: Mapping[int, int]) -> Formula | None:
    """The polynomial through numbers for consecutive n, if at least one of them was not needed to find it."""
    start = min(numbers)
    differences = [np.array([numbers[n] for n in sorted(numbers)], dtype=object)]
    while differences[-1].any():
        differences.append(np.diff(differences[-1]))
    if not differences[-1].size:
        return None
    # Newton's forward differences
    found = Formula((), start)
    basis = Formula.of((1,), start)
    for order, row in enumerate(differences[:-1]):
        found = found + basis.scaled(Fraction(row[0]))
        basis = basis.shifted_product(-start - order).scaled(Fraction(1, order + 1))
    return found


def fitted(counted: Callable[[int], Mapping[str, Cost]]) -> dict[str, Figures]:
    """Formulas for each equation, from counts for several n, one more than the formulas need.

    The first arms may be too short for one.
    """
    runs: dict[int, Mapping[str, Cost]] = {}
    for stop in range(4, LONGEST + 1):
        for n in range(1, stop + 1):
            runs[n] = counted(n) if n not in runs else runs[n]
        for start in range(1, stop - 2):
            found = _fit({n: runs[n] for n in range(start, stop + 1)})
            if found is not None:
                return found
    raise UnsupportedError(f"the operations do not follow a polynomial of the number of joints, up to {LONGEST} joints")


def _fit(runs: Mapping[int, Mapping[str, Cost]]) -> dict[str, Figures] | None:
    made = {}
    for equation in dict.fromkeys(e for run in runs.values() for e in run):
        costs = {n: run.get(equation, Cost()) for n, run in runs.items()}
        m = polynomial({n: cost.multiplications for n, cost in costs.items()})
        a = polynomial({n: cost.additions for n, cost in costs.items()})
        if m is None or a is None:
            return None
        made[equation] = Figures(m, a)
    return made
