"""`cayley report`: everything about a robot in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Frame, Json, Robot, load
from cayley.cli.laws import (
    Damping,
    Derivative,
    Frequency,
    Integral,
    Limits,
    Proportional,
    Settings,
    law_line,
    limits_given,
    made_law,
    words_of,
)
from cayley.cli.motion_files import read_motion
from cayley.cli.terminal import literal, output, working, write_json

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism


def report(robot: Robot,
           destination: Annotated[Path | None, typer.Option("--output", metavar="FILE", show_default=False,
                                                            help="The file; ROBOT_report.html if not said.")] = None,
           trajectory: Annotated[Path | None, typer.Option(
               "--trajectory", metavar="FILE", show_default=False,
               help="A motion to play and to judge: a table of t and joints (.csv), or what was saved (.npz).")] = None,
           payload: Annotated[float, typer.Option("--payload", metavar="KG", help="A load at the frame.")] = 0.0,
           frame: Frame = "",
           limits: Limits = "",
           law: Annotated[str, typer.Option("--law", metavar="NAME", show_default=False,
                                            help="A law that is tried on it, as computed-torque; it does not know of "
                                                 "the payload. `cayley control ROBOT` lists them.")] = "",
           kp: Proportional = "", kd: Derivative = "", ki: Integral = "", frequency: Frequency = 10.0,
           damping: Damping = 1.0, settings: Settings = None, json: Json = False) -> None:
    """Write one HTML file about a robot that needs no network: the robot in 3-D, workspace, payload chart, equations,
    counts, timings; a motion of yours, or a fall; what a law does with it.

    **Examples**

    ```
    cayley report puma560
    cayley report panda --trajectory run.csv --payload 3 --law computed-torque
    cayley report my_arm.urdf --limits "80 80 40 10 10 10" --output arm.html
    ```
    """
    arm = load(robot)
    options: dict[str, Any] = {"payload": payload, "frame": frame or None}
    if trajectory is not None:
        options["motion"] = read_motion(trajectory, arm)
    if limits:
        options["effort"] = limits_given(arm, limits)
    if law:
        gains = {"kp": kp, "kd": kd, "ki": ki}
        options |= _tried(arm, law, gains, settings or [], frequency, damping, options)
    path = written_report(arm, destination, **options)
    if json:
        return write_json({"robot": arm.name, "report": str(path), "bytes": path.stat().st_size})
    output().print(literal(f"Report of {arm.name}: {path}"), soft_wrap=True)


def _tried(arm: Mechanism, law: str, gains: dict[str, str], settings: list[str], frequency: float, damping: float,
           options: dict[str, Any]) -> dict[str, Any]:
    """The law on the robot with its load, along the motion or on a step, and how it was set."""
    from dataclasses import replace

    from cayley.studio.asked import Asked
    from cayley.studio.scene import main_frame
    frame = options["frame"] or main_frame(arm.tree)
    asked = Asked(options.get("motion"), options["payload"], frame, options.get("effort"))
    planned = asked.planned(arm)
    with working("the law, its step, the motion and the verdict"):
        made, aim, chosen = made_law(arm, law, gains, settings, frame if law_line(arm, law).is_of_frame else "",
                                     asked.goal(arm, planned), frequency, damping)
        trial = replace(asked, law=made, aim=aim).tried(asked.loaded(arm, frame), planned)
    return {"law": trial, "settings": words_of(chosen, options["payload"], 0.0, None, 0)}


def written_report(arm: Mechanism, destination: Path | None, **options: Any) -> Path:  # noqa: ANN401 (of `write_report`)
    """Write the report, with a bar of progress on a terminal, and say where it is."""
    import matplotlib
    matplotlib.use("Agg")
    from cayley.studio.report import write_report
    path = destination or Path(f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in arm.name)}_report.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_report(arm, path, progress=output().is_terminal, **options)
