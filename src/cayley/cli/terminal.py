"""Output of commands: tables for people, written in several parts where they are wide, and JSON for programs on the
standard output, notes and errors on the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

from cayley.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from cayley.model.report import TextTable

# columns: in fewer, words of tables are lost; longer lines are not read
NARROWEST = 40
WIDEST = 110


@cache
def output() -> Console:
    """The console of results."""
    from rich.console import Console
    console = Console(highlight=False)
    return Console(highlight=False, width=min(max(console.width, NARROWEST), WIDEST))


@cache
def errors() -> Console:
    """The console of notes, progress and errors."""
    from rich.console import Console
    console = Console(stderr=True, highlight=False)
    return Console(stderr=True, highlight=False, width=max(console.width, NARROWEST))


def literal(text: object) -> str:
    """A name, path or message, escaped: the consoles read [words in brackets] as styles, and terminals obey control
    characters.

    >>> literal("arm [red]")
    'arm \\\\[red]'
    """
    from rich.markup import escape
    return escape(printable(str(text)))


def unstyled(text: str) -> Text:
    """Text for tables without styles and control characters."""
    from rich.text import Text
    return Text(printable(text))


@contextmanager
def silent(wanted: bool) -> Iterator[None]:
    """Switch off the text for people on the standard output."""
    output().quiet = wanted
    try:
        yield
    finally:
        output().quiet = False


def write_json(data: object) -> None:
    """Print data as JSON: arrays as lists, and numbers that are not finite (missing limits) as null."""
    typer.echo(json.dumps(plain(data), indent=2))


def plain(data: object) -> object:
    """Data in the words of JSON.

    >>> plain({"q": np.array([1.0, np.inf]), "good": np.bool_(True)})
    {'q': [1.0, None], 'good': True}
    """
    if hasattr(data, "tolist"):
        data = data.tolist()
    if isinstance(data, dict):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(value) for value in data]
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None
    return data


def note(text: str) -> None:
    """A remark that is not part of the result."""
    from rich.text import Text
    errors().print(Text.assemble(("Note: ", "yellow"), unstyled(text)), soft_wrap=True)


def print_files(files: Iterable[object]) -> None:
    """The paths of written files."""
    for file in files:
        output().print(literal(f"Written: {file}"), soft_wrap=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A sign of life on a terminal while something takes long."""
    with errors().status(literal(text)) if errors().is_terminal else nullcontext():
        yield


_SAYING_NOTHING = {"", "0", "inf", "-inf"}
_NUMBER = re.compile(r"[+-]?(inf|unknown|\d+\.?\d*(e[+-]?\d+)?)")
_BETWEEN = 2  # columns of the terminal between two of the table


def grid(title: str = "", **options: Any) -> RichTable:  # noqa: ANN401 (handed on)
    """An empty table in the house style: a rule under the headings, two blanks between columns, no box."""
    from rich import box
    from rich.table import Table as RichTable
    return RichTable(title=unstyled(title) if title else None, title_justify="left", title_style="bold",
                 box=box.SIMPLE_HEAD, header_style="cyan", show_edge=False, pad_edge=False, padding=(0, 1, 0, 0),
                 **options)


def filled(table: RichTable, columns: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> RichTable:
    """A table with columns and rows of plain text; all but the first columns are to the right."""
    for k, heading in enumerate(columns):
        table.add_column(unstyled(heading), justify="right" if k >= left else "left")
    for row in rows:
        table.add_row(*map(unstyled, row))
    return table


def marked(mark: str, lines: Sequence[str]) -> RichTable:
    """Lines of plain text, each behind a mark, wrapped beside it."""
    from rich.table import Table as RichTable
    made = RichTable.grid(padding=(0, 1))
    for line in lines:
        made.add_row(mark, unstyled(line))
    return made


def print_table(console: Console, table: TextTable, *, keys: int = 1, brief: bool = False) -> None:
    """A table, in as many parts as its width needs; the first `keys` columns begin each. With `brief`, columns that say
    nothing are left out and named below."""
    from rich.text import Text
    columns = list(zip(table.columns, *table.rows, strict=True))
    silent = [column[0] for column in columns[keys:] if brief and set(column[1:]) <= _SAYING_NOTHING]
    columns = [column for column in columns if column[0] not in silent]
    title = table.title
    for part in _parts(columns, keys, console.width):
        made = grid(title)
        for column in part:
            made.add_column(unstyled(column[0]), justify="right" if _numeric(column[1:]) else "left", overflow="fold")
        for row in zip(*[column[1:] for column in part], strict=True):
            made.add_row(*map(unstyled, row))
        console.print(made)
        title = ""
        console.print()
    if silent:
        console.print(Text(f"none given, or zero: {', '.join(silent)}\n", style="dim"))


def _parts(columns: Sequence[tuple[str, ...]], keys: int, width: int) -> list[list[tuple[str, ...]]]:
    widths = [max(map(len, column)) + _BETWEEN for column in columns]
    room = width - sum(widths[:keys])
    parts: list[list[tuple[str, ...]]] = []
    left = 0
    for column, wide in zip(columns[keys:], widths[keys:], strict=True):
        if wide > left:
            parts.append(list(columns[:keys]))
            left = room
        parts[-1].append(column)
        left -= wide
    return parts or [list(columns)]


def _numeric(words: Sequence[str]) -> bool:
    return all(_NUMBER.fullmatch(word) for word in words if word)
