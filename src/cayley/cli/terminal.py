"""Output of commands: tables for people and JSON for programs on the standard output, notes and errors on the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING

import typer

from cayley.wording import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

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
