"""`cayley report`: everything about a robot in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cayley.cli.arguments import Json, Robot, load
from cayley.cli.terminal import literal, output, write_json

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism


def report(robot: Robot,
           destination: Annotated[Path | None, typer.Option("--output", metavar="FILE", show_default=False,
                                                            help="The file; ROBOT_report.html if not said.")] = None,
           json: Json = False) -> None:
    """Write one HTML file about a robot that needs no network: the robot in 3-D, workspace, equations, counts, timings,
    a fall.

    **Examples**

    ```
    cayley report puma560
    cayley report my_arm.urdf --output arm.html
    ```
    """
    arm = load(robot)
    path = written_report(arm, destination)
    if json:
        return write_json({"robot": arm.name, "report": str(path), "bytes": path.stat().st_size})
    output().print(literal(f"Report of {arm.name}: {path}"), soft_wrap=True)


def written_report(arm: Mechanism, destination: Path | None) -> Path:
    """Write the report, with a bar of progress on a terminal, and say where it is."""
    import matplotlib
    matplotlib.use("Agg")
    from cayley.studio.report import write_report
    path = destination or Path(f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in arm.name)}_report.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_report(arm, path, progress=output().is_terminal)
