"""Tables of operations: figures as formulas of n, printed with their values for one n."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from rich.console import Group

from cayley.dynamics.accounting.formulas import NO_FIGURES, Figures, Formula
from cayley.model.report import Table


@dataclass(frozen=True, repr=False)
class OperationTable:
    """Figures by row and column, for any n. Prints as text with the values for one n; on a Rich console, as a table.

    Multiplications are M, additions A, sines, cosines and tangents F.
    """

    title: str
    columns: tuple[str, ...]
    rows: dict[str, dict[str, Figures]]
    n: int
    notes: tuple[str, ...] = ()

    def figures(self, row: str, column: str) -> Figures | None:
        """The entry of this place, if any."""
        return self.rows[row].get(column)

    @property
    def table(self) -> Table:
        """The words of the table."""
        sorts = ("M", "A", "F") if any(f.functions for found in self.rows.values()
                                       for f in found.values()) else ("M", "A")
        heads = tuple(f"{column}: {sort}" if sort == "M" else sort for column in self.columns for sort in sorts)
        lines = [(row, *[word for column in self.columns for word in _words(found.get(column), self.n)[:len(sorts)]])
                 for row, found in self.rows.items()]
        return Table(f"{self.title} (n = {self.n})", ("", *heads), tuple(lines))

    def __str__(self) -> str:
        return "\n".join([str(self.table), *[f"  {note}" for note in self.notes]])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.table._repr_html_() + "".join(f"<p>{escape(note)}</p>" for note in self.notes)

    def __rich__(self) -> Group:
        return Group(self.table, *self.notes)


@dataclass(frozen=True, repr=False)
class OperationTables:
    """Several tables. Prints as text, and as tables on a Rich console."""

    tables: tuple[OperationTable, ...]

    def __iter__(self) -> Iterator[OperationTable]:
        return iter(self.tables)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.tables))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables)

    def __rich__(self) -> Group:
        return Group(*self.tables)


def summed(figures: Mapping[str, Figures]) -> Figures:
    """The sum over the equations."""
    return sum(figures.values(), NO_FIGURES)


def _words(figures: Figures | None, n: int) -> tuple[str, str, str]:
    if figures is None:
        return "", "", ""
    return _word(figures.multiplications, n), _word(figures.additions, n), _word(figures.functions, n)


def _word(formula: Formula | None, n: int) -> str:
    if formula is None:
        return ""
    return str(formula) if len(formula.coefficients) < 2 or n < formula.start else f"{formula} ({formula(n)})"
