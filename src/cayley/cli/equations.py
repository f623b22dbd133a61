"""`cayley equations`: the equations of motion, to read or to typeset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from cayley.cli.arguments import Json, Robot, load, option
from cayley.cli.terminal import literal, output, working, write_json

if TYPE_CHECKING:
    from cayley.dynamics.equations.closed_mechanisms import Formulation


def equations(
        robot: Robot,
        symbols: Annotated[bool, typer.Option("--symbols",
                                              help="Letters for masses and lengths instead of their numbers.")] = False,
        formulation: Annotated[str | None, option(
            "--formulation", "NAME", "Of a mechanism with loops: augmented, projection or minimal.")] = None,
        latex: Annotated[bool, typer.Option("--latex", help="LaTeX instead of plain text.")] = False,
        destination: Annotated[Path | None, option("--output", "FILE", "Write into a file instead.")] = None,
        json: Json = False) -> None:
    """The equations of motion M(q) qdd + V(q, qd) + G(q) = tau, of a mechanism with loops with multipliers or in the
    coordinates of independent joints.

    What would be too long to read is written by way of numbered intermediate values.

    **Examples**

    ```
    cayley equations planar2r --symbols
    cayley equations slider_crank --symbols --formulation minimal
    cayley equations planar3r --latex --output planar3r.tex
    cayley equations puma560 --json
    ```"""
    arm = load(robot)
    with working(f"equations of {arm.name}"):
        found = arm.equations(parameters="symbols" if symbols else "numbers",
                              formulation=cast("Formulation | None", formulation))
        text = found.latex() if latex else str(found)
    if json:
        return write_json({"robot": arm.name, "parameters": "symbols" if symbols else "numbers",
                           "text": str(found), "latex": found.latex()})
    if destination is not None:
        destination.parent.mkdir(parents=True, exist_ok=True)
        destination.write_text(text + "\n", encoding="utf-8")
        return output().print(literal(f"Equations of {arm.name} written to {destination}"), soft_wrap=True)
    typer.echo(text)
