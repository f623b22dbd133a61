"""Tables of operations: figures as formulas of n, printed with their values for one n."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from cayley.compiler.kernel import kernel
from cayley.dynamics.accounting.formulas import NO_FIGURES, Entry, Figures, Formula
from cayley.geometry.rotations.costs import cost_of
from cayley.model.report import TextTable

if TYPE_CHECKING:
    from rich.console import Group


@dataclass(frozen=True, repr=False)
class OperationTable:
    """Figures by row and column, for any n. Prints as text with the values for one n; on a Rich console, as a table.
    Multiplications are M, additions A, sines, cosines and tangents F."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, dict[str, Figures]]
    n: int
    notes: tuple[str, ...] = ()

    def figures(self, row: str, column: str) -> Figures | None:
        """The entry of this place, if any."""
        return self.rows[row].get(column)

    @property
    def table(self) -> TextTable:
        """The words of the table."""
        sorts = ("M", "A", "F") if any(f.functions for found in self.rows.values()
                                       for f in found.values()) else ("M", "A")
        heads = tuple(f"{column}: {sort}" if sort == "M" else sort for column in self.columns for sort in sorts)
        lines = [(row, *[word for column in self.columns for word in _words(found.get(column), self.n)[:len(sorts)]])
                 for row, found in self.rows.items()]
        return TextTable(f"{self.title} (n = {self.n})", ("", *heads), tuple(lines))

    def __str__(self) -> str:
        return "\n".join([str(self.table), *[f"  {note}" for note in self.notes]])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.table._repr_html_() + "".join(f"<p>{escape(note)}</p>" for note in self.notes)

    def __rich__(self) -> Group:
        from rich.console import Group
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
        from rich.console import Group
        return Group(*self.tables)


def summed(figures: Mapping[str, Figures]) -> Figures:
    """The sum over the equations."""
    return sum(figures.values(), NO_FIGURES)


def with_total(figures: Mapping[str, Figures]) -> dict[str, Figures]:
    return {**figures, "total": summed(figures)}


def printed_column(entries: Mapping[str, Entry], kind: str, whole: Entry | None = None) -> dict[str, Figures]:
    """The published figures of equations, "general" or "special", with the total as it is printed, or their sum."""
    column = {equation: getattr(entry, kind) for equation, entry in entries.items()}
    return with_total(column) if whole is None else {**column, "total": getattr(whole, kind)}


def table_by_equation(title: str, columns: Mapping[str, Mapping[str, Figures]], n: int,
                      notes: tuple[str, ...]) -> OperationTable:
    """A row for each equation of any column, and the totals."""
    labels = dict.fromkeys(label for column in columns.values() for label in column if label != "total")
    rows = {label: {name: column.get(label, NO_FIGURES) for name, column in columns.items()}
            for label in [*labels, "total"]}
    return OperationTable(title, tuple(columns), rows, n, notes)


def compiled(text: Callable[..., Any], signature: str, inputs: Sequence[str], *, functions: bool = False) -> Figures:
    """The operations of a text as it is compiled, with sines, cosines and tangents if they are asked for."""
    cost = cost_of(kernel(signature, name="counted", inputs=inputs)(text))
    return Figures.constant(cost.products, cost.additions, cost.functions if functions else None)


def _words(figures: Figures | None, n: int) -> tuple[str, str, str]:
    if figures is None:
        return "", "", ""
    return _word(figures.multiplications, n), _word(figures.additions, n), _word(figures.functions, n)


def _word(formula: Formula | None, n: int) -> str:
    if formula is None:
        return ""
    return str(formula) if len(formula.coefficients) < 2 or n < formula.start else f"{formula} ({formula(n)})"
