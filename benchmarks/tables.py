"""Tables of the benchmarks, in Markdown and in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.table import Table as RichTable

COMPILER_FLAGS = ("-O3", "-march=native")

Row = Sequence[str]


@dataclass(frozen=True)
class Table:
    """A table of a section: rows of text, the first columns on the `left`."""

    title: str
    headings: Row
    rows: Sequence[Row] = field(repr=False)
    left: int = 1

    def markdown(self) -> str:
        return f"### {self.title}\n\n{self.rows_in_markdown()}"

    def rows_in_markdown(self) -> str:
        rule = [*["---"] * self.left, *["---:"] * (len(self.headings) - self.left)]
        lines = ["| " + " | ".join(cells) + " |" for cells in (self.headings, rule, *self.rows)]
        return "\n".join(lines)

    def in_terminal(self) -> RichTable:
        table = RichTable(title=self.title, title_justify="left")
        for position, heading in enumerate(self.headings):
            table.add_column(heading, justify="left" if position < self.left else "right")
        colours = {"met": "green", "NOT MET": "bold red", "not measured": "yellow"}
        for row in self.rows:
            table.add_row(*[cell.replace("`", "") for cell in row], style=colours.get(row[-1]))
        return table

    def column(self, heading: str) -> dict[str, str]:
        """The cells of a column by those of the first."""
        place = list(self.headings).index(heading)
        return {row[0]: row[place] for row in self.rows}


@dataclass(frozen=True)
class Requirement:
    """A figure beside the bound that it must keep. `value` is None where a peer is missing; of several machines it is
    the worst, and `best` the other end of the range."""

    title: str
    value: float | None
    bound: float
    unit: str  # "times" is a ratio, at least `bound`; a time must stay under it
    best: float | None = None

    @property
    def is_ratio(self) -> bool:
        return self.unit == "times"

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        met = self.value >= self.bound if self.is_ratio else self.value < self.bound
        return "met" if met else "NOT MET"

    def row(self) -> list[str]:
        span = "" if self.best is None else f" to {self.best:.1f}"
        found = "-" if self.value is None else f"{self.value:.1f}{span} {self.unit}"
        bound = f"at least {self.bound:g} times" if self.is_ratio else f"under {self.bound:g} {self.unit}"
        return [self.title, found, bound, self.verdict]


def required(requirements: Iterable[Requirement]) -> Table:
    return Table("Required", ["figure", "measured", "required", ""], [r.row() for r in requirements])
