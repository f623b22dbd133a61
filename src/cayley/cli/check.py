"""`cayley check`: list all errors and warnings of a model file.

If a file cannot be read as a whole, its format reads its parts one by one, if it can."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from cayley.cli.arguments import Json, completions, trusted
from cayley.cli.terminal import literal, marked, output, working, write_json
from cayley.errors import CayleyError, ModelError, ModelWarning
from cayley.model.formats import endings, files_in_words, format_of, format_of_ending


def check(file: Annotated[Path, typer.Argument(metavar="FILE", autocompletion=completions, show_default=False,
                                               help=f"A {files_in_words()}.")],
          strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
          json: Json = False) -> None:
    """Read a file and explain every problem, with its line. Exit code 1 if it cannot be used.

    {checks}

    **Examples**

    ```
    cayley check my_robot.urdf
    cayley check my_robot.toml --strict
    cayley check my_robot.xml --json
    ```"""
    with working(f"reading {file.name}"):
        found: Problems = examine(file)
    good = not found.errors and not (strict and found.warnings)
    if json:
        write_json({"file": str(file), "usable": not found.errors, "errors": found.errors, "warnings": found.warnings,
                    "notes": found.facts, "mechanism": found.summary})
    else:
        _print(file, found)
    if not good:
        raise typer.Exit(1)


def _print(file: Path, found: Problems) -> None:
    console = output()
    for mark, lines in (("[bold red]✗[/]", found.errors), ("[yellow]![/]", found.warnings),
                        ("[blue]i[/]", found.facts)):
        if lines:
            console.print(marked(mark, lines), "")
    if found.errors:
        more = "" if found.all_found else " There may be more errors: correct this one and check again."
        console.print(f"[bold red]{literal(file)} cannot be used:[/] {_counted(len(found.errors), 'error')}.{more}")
    else:
        doubts = f", {_counted(len(found.warnings), 'warning')}" if found.warnings else ""
        console.print(f"[bold green]{literal(file)} can be used:[/] {literal(found.summary)}{doubts}.")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


MOST_PARTS = 300  # read alone: a file with thousands is not read thousands of times

_LINE = re.compile(r"line (\d+)")


@dataclass(frozen=True)
class Problems:
    """Errors, warnings and notes of a file, and a line about its content; `all_found` unless a reader stopped early."""

    errors: list[str]
    warnings: list[str]
    summary: str = ""
    all_found: bool = True
    facts: tuple[str, ...] = ()


def examine(path: Path) -> Problems:
    """Read a file as a mechanism, and list its errors and warnings."""
    import cayley as cy
    try:
        if format_of(path) is None:
            raise ModelError(f"there is no file {path}: give one that ends in {', '.join(endings())}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the report has them too
            made = cy.load(path, trust=trusted())
    except CayleyError as error:
        return _all_errors(path, str(error))
    report = made.summary()
    sizes = report.heading.rpartition(": ")[2].partition(", total mass")[0]
    return Problems([], [str(finding) for finding in report.warnings], f"{made.name}: {sizes}",
                    facts=tuple(map(str, report.facts)))


def _all_errors(path: Path, first: str) -> Problems:
    known = format_of_ending(path.suffix)
    parts = known.parts(path) if known else iter(())
    found: list[str] = []
    more = False
    try:
        for errors in islice(parts, MOST_PARTS):
            found += errors
        more = next(parts, None) is not None
    except CayleyError:  # it cannot be divided into parts
        found = []
    every = dict.fromkeys([*found, first])
    all_found = not more and (first in found or not path.is_file() or known is None)
    return Problems(sorted(every, key=_line), [], all_found=all_found)


def _line(error: str) -> int:
    found = _LINE.search(error)
    return int(found.group(1)) if found else 0
