"""`cayley check`: whether a file can be used, with everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cayley.cli.arguments import Json, completions
from cayley.cli.tables import marked
from cayley.cli.terminal import literal, output, working, write_json
from cayley.model.formats import files_in_words

if TYPE_CHECKING:
    from cayley.cli.problems import Problems


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
    ```
    """
    from cayley.cli.problems import examine
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
        more = "" if found.all_found else " There may be more behind it: mend it and check again."
        console.print(f"[bold red]{literal(file)} cannot be used:[/] {_counted(len(found.errors), 'error')}.{more}")
    else:
        doubts = f", {_counted(len(found.warnings), 'warning')}" if found.warnings else ""
        console.print(f"[bold green]{literal(file)} can be used:[/] {literal(found.summary)}{doubts}.")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
