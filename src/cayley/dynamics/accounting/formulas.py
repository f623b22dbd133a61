"""Numbers of operations as polynomials of the number n of joints, exact.

The published operation counts, as printed, with the corrections of the catalogue.

Balafoutis & Patel, sections 4.3.4, 5.2, 5.3.2 and Tables 5.1 to 5.3 (all joints revolute). Table 3 of Mladenova is in
`cayley.geometry.rotations.costs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cayley.dynamics.accounting.counting_scalar import Cost
from cayley.errors import UnsupportedError

_LARGEST_DENOMINATOR = 5040
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

    def exact(self, n: int) -> Fraction:
        return sum((c * n ** k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __call__(self, n: int) -> int:
        return round(self.exact(n))

    def __add__(self, other: Formula) -> Formula:
        size = max(len(self.coefficients), len(other.coefficients))
        padded = [(*x.coefficients, *[Fraction(0)] * (size - len(x.coefficients))) for x in (self, other)]
        return Formula.of(tuple(a + b for a, b in zip(*padded, strict=True)), max(self.start, other.start))

    def __str__(self) -> str:
        terms = [_term(c, k) for k, c in reversed(list(enumerate(self.coefficients))) if c]
        return ("".join(terms).removeprefix("+")) or "0"


def _term(coefficient: Fraction, power: int) -> str:
    letter = ("", "n")[power] if power < 2 else f"n^{power}"
    number = f"({abs(coefficient)})" if coefficient.denominator > 1 else f"{abs(coefficient)}"
    return f"{'-' if coefficient < 0 else '+'}{'' if letter and number == '1' else number}{letter}"


@dataclass(frozen=True)
class Figures:
    """Multiplications and additions, and calls of functions where they are counted."""

    multiplications: Formula
    additions: Formula
    functions: Formula | None = None

    @staticmethod
    def constant(multiplications: int, additions: int, functions: int | None = None) -> Figures:
        counted = None if functions is None else Formula.of((functions,))
        return Figures(Formula.of((multiplications,)), Formula.of((additions,)), counted)

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
    for degree in range(len(numbers) - 1):
        fit = np.polynomial.polynomial.polyfit([*numbers], [*numbers.values()], degree)
        found = Formula.of(tuple(Fraction(c).limit_denominator(_LARGEST_DENOMINATOR) for c in fit), min(numbers))
        if all(found.exact(n) == number for n, number in numbers.items()):
            return found
    return None


def fitted(counted: Callable[[int], Mapping[str, Cost]]) -> dict[str, Figures]:
    """Formulas for each equation, from counts for one n more than they need; the first arms may be too short."""
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


class Entry(NamedTuple):
    """The cost of an equation in general, and if every twist is 0 or +-90 degrees."""

    general: Figures
    special: Figures


def _entry(general: tuple[int, int, int, int], special: tuple[int, int, int, int], start: int = 1) -> Entry:
    return Entry(Figures.linear(*general, start), Figures.linear(*special, start))


TABLE_51: dict[str, Entry] = {
    "5.3.45a": _entry((8, -8, 5, -5), (4, -4, 3, -3)),
    "5.3.45b": _entry((10, -10, 7, -7), (6, -6, 5, -5)),
    "5.3.45c": _entry((6, -5, 9, -9), (6, -5, 9, -9)),
    "5.3.45e": _entry((17, -14, 13, -13), (13, -11, 11, -11)),  # gravity along z_0: spec E-28
    "5.3.45f": _entry((15, -10, 15, -12), (15, -10, 15, -12)),
    "5.3.45g": _entry((0, 0, 0, 0), (0, 0, 0, 0)),
    "5.3.46a": _entry((17, -8, 13, -7), (13, -4, 11, -5)),
    "5.3.46b": _entry((20, -14, 19, -13), (16, -10, 17, -11)),
    "5.3.46c": _entry((0, 0, 0, 0), (0, 0, 0, 0)),
}
TABLE_51_TOTAL = _entry((93, -69, 81, -66), (73, -50, 71, -56))

TABLE_52: dict[str, Entry] = {
    "5.3.45a": _entry((8, -12, 5, -9), (4, -7, 3, -5), 2),
    "5.3.45b": _entry((10, -15, 7, -11), (6, -10, 5, -8), 2),
    "5.3.45c": _entry((6, -5, 9, -9), (6, -5, 9, -9), 2),
    "5.3.45e": _entry((17, -19, 13, -16), (13, -16, 11, -14), 2),
    "5.3.45f": _entry((15, -13, 15, -14), (15, -13, 15, -14), 2),
    "5.3.45g": _entry((0, 0, 0, 0), (0, 0, 0, 0), 2),
    "5.3.46a": _entry((17, -17, 13, -16), (13, -13, 11, -3), 2),
    "5.3.46b": _entry((20, -27, 19, -25), (16, -20, 17, -22), 2),
    "5.3.46c": _entry((0, 0, 0, 0), (0, 0, 0, 0), 2),
}
TABLE_52_TOTAL = _entry((93, -108, 81, -100), (73, -84, 71, -75), 2)
TABLE_52_CORRECTED = {**TABLE_52, "5.3.46a": _entry((17, -17, 13, -16), (13, -13, 11, -14), 2)}  # spec E-26
TABLE_52_CORRECTED_TOTAL = _entry((93, -108, 81, -100), (73, -84, 71, -86), 2)

TABLE_53: dict[str, Figures] = {
    "Hollerbach 4x4 [14]": Figures.linear(830, -592, 675, -464),
    "Hollerbach 3x3 [14]": Figures.linear(412, -277, 320, -201),
    "Luh et al. [14]": Figures.linear(150, -48, 131, -48),
    "Craig [34]": Figures.linear(126, -99, 106, -92),
    "Khosla and Neuman [48]": Figures.linear(123, -60, 96, -55),  # printed as [49]: spec E-29
    "Li [26]": Figures.linear(120, -104, 98, -94),
    "Khalil et al. [50]": Figures.linear(105, -92, 94, -86),
    "Angeles et al. [45]": Figures.linear(105, -109, 90, -105, 2),
    "Algorithm 5.6": Figures.linear(96, -77, 84, -70),  # not what its own rules give: spec E-30
    "Algorithm 5.7, Table 5.1": Figures.linear(93, -69, 81, -66),
    "Algorithm 5.7, Table 5.2": Figures.linear(93, -108, 81, -100, 2),
}

IN_THE_TEXT: dict[str, Figures] = {
    "Featherstone, Algorithm 5.4": Figures.linear(130, -68, 101, -56),
    "Algorithm 5.2, additions as printed": Figures.linear(412, -277, 675, -201),  # 320n-201 is meant: spec E-11
    "Vukobratovic et al., as printed": Figures(Formula.of((-36, 9, Fraction(35, 2), Fraction(3, 2))),
                                               Formula.of((-28, 32, Fraction(23, 2), Fraction(7, 6)))),
}
"""Formulas of sections 5.2 and 5.3.2 that no table has."""

SIX_JOINTS: dict[str, tuple[int, int]] = {
    "Uicker, Kahn": (66271, 51548),
    "Waters": (7051, 5652),
    "Vukobratovic et al.": (992, 776),  # the printed formulas give 972 and 830: spec E-12
}
"""Multiplications and additions that are printed for six joints only."""
