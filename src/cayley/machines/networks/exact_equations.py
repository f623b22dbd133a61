"""Linear equations solved in fractions: what depends on what is a matter of numbers being zero, and is decided exactly,
whatever the units and sizes, a picofarad beside a megohm beside a flywheel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

Row = dict[int, Fraction]  # an equation: the sum of coefficients times what their columns stand for is zero


def exact(value: float) -> Fraction:
    """The plain fraction that a float stands for, 1/3 or 1/10, if there is one, and otherwise its decimals."""
    plain = Fraction(float(value)).limit_denominator(10**6)
    return plain if float(plain) == value else Fraction(repr(float(value)))


def combined(terms: Iterable[tuple[Fraction, Mapping[int, Fraction]]]) -> Row:
    """The sum of factors times rows, without the columns that cancel.

    >>> combined([(Fraction(2), {0: Fraction(1), 1: Fraction(3)}), (Fraction(-6), {1: Fraction(1)})])
    {0: Fraction(2, 1)}
    """
    total: Row = {}
    for factor, row in terms:
        for column, coefficient in row.items():
            total[column] = total.get(column, Fraction(0)) + factor * coefficient
    return {column: coefficient for column, coefficient in total.items() if coefficient}


@dataclass
class ExactEquations:
    """Equations in unknowns, a range of columns, and in what is known, all other columns; each unknown in `solved` is
    minus the sum of what is known in its row."""

    unknowns: range
    solved: dict[int, Row] = field(default_factory=dict)

    def add(self, equation: Row) -> Row:
        """Takes an equation in. What it says of the known columns alone, if it has no new unknown to say something
        of: nothing, where it follows from the others."""
        row = combined([(Fraction(1), equation),
                        *[(-factor, self.solved[column]) for column, factor in equation.items()
                          if column in self.solved]])
        pivot = max((column for column in row if column in self.unknowns), default=None)
        if pivot is None:
            return row
        row = combined([(1 / row[pivot], row)])
        for column, other in self.solved.items():
            if pivot in other:
                self.solved[column] = combined([(Fraction(1), other), (-other[pivot], row)])
        self.solved[pivot] = row
        return {}

    def value(self, column: int) -> Row:
        """What a column is, in unsolved and known ones."""
        if column not in self.solved:
            return {column: Fraction(1)}
        return {other: -coefficient for other, coefficient in self.solved[column].items() if other != column}

    def substituted(self, row: Mapping[int, Fraction]) -> Row:
        """A sum with all that is solved put in."""
        return combined((coefficient, self.value(column)) for column, coefficient in row.items())

    @property
    def open(self) -> list[int]:
        """The unknowns that no equation gives."""
        return [column for column in self.unknowns if column not in self.solved]
