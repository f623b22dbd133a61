"""What is written where: tables for people and JSON for programs on the standard output, notes and errors on the other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 110  # columns: longer lines are not read


@cache
def output() -> Console:
    """The console of results."""
    from rich.console import Console
    console = Console(highlight=False)
    return console if console.width <= WIDEST else Console(highlight=False, width=WIDEST)


@cache
def errors() -> Console:
    """The console of notes, progress and errors."""
    from rich.console import Console
    return Console(stderr=True, highlight=False)


def literal(text: object) -> str:
    """A name, path or message as it is: the consoles read [words in brackets] as styles.

    >>> literal("arm [red]")
    'arm \\\\[red]'
    """
    from rich.markup import escape
    return escape(str(text))


@contextmanager
def silent(wanted: bool) -> Iterator[None]:
    """Nothing for people on the standard output, if that is wanted."""
    output().quiet = wanted
    try:
        yield
    finally:
        output().quiet = False


def write_json(data: Any) -> None:
    """Data as JSON: arrays as lists; what is no finite number (a limit that is not there) as null."""
    typer.echo(json.dumps(plain(data), indent=2))


def plain(data: Any) -> Any:
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
    errors().print(Text.assemble(("Note: ", "yellow"), text), soft_wrap=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """A sign of life on a terminal while something takes long."""
    with errors().status(literal(text)) if errors().is_terminal else _nothing():
        yield


@contextmanager
def _nothing() -> Iterator[None]:
    yield
