"""`cayley report`: everything about a robot in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cayley.cli import laws
from cayley.cli.arguments import Frame, Json, Robot, draw_without_window, load, option
from cayley.cli.motion_files import read_motion
from cayley.cli.terminal import literal, output, working, write_json

if TYPE_CHECKING:
    from cayley.control.law_trial import Trial
    from cayley.mechanism import Mechanism
    from cayley.studio.queries import Asked


def report(robot: Robot,
           destination: Annotated[Path | None, option(
               "--output", "FILE", "The file (default: ROBOT_report.html).")] = None,
           trajectory: Annotated[Path | None, option(
               "--trajectory", "FILE",
               "A motion to play and check: a table of t and joints (.csv), or a saved motion (.npz).")] = None,
           payload: Annotated[float, typer.Option("--payload", metavar="KG", help="A load at the frame.")] = 0.0,
           frame: Frame = "", limits: laws.Limits = "",
           law: Annotated[str, option(
               "--law", "NAME", "A controller to try, such as computed-torque, without knowledge of the payload. "
               "`cayley control ROBOT` lists them.")] = "",
           kp: laws.Proportional = "", kd: laws.Derivative = "", ki: laws.Integral = "",
           frequency: laws.Frequency = 10.0, damping: laws.Damping = 1.0, settings: laws.Settings = None,
           json: Json = False) -> None:
    """Write one HTML file about a robot that works offline: the robot in 3-D, workspace, payload chart, equations,
    counts and timings, a given motion or one from the ready pose, and the trial of a controller.

    **Examples**

    ```
    cayley report puma560
    cayley report panda --trajectory run.csv --payload 3 --law computed-torque
    cayley report my_arm.urdf --limits "80 80 40 10 10 10" --output arm.html
    ```"""
    from cayley.studio.queries import Asked
    from cayley.studio.report import write_report
    arm = load(robot)
    asked = Asked(None if trajectory is None else read_motion(trajectory, arm), payload, frame or None,
                  laws.limits_given(arm, limits) if limits else None)
    tried, words = _tried(arm, law, {"kp": kp, "kd": kd, "ki": ki}, settings or [], frequency, damping, asked
                          ) if law else (None, None)
    path = write_report(arm, place_of_report(arm, destination), motion=asked.motion, payload=payload, frame=asked.frame,
                        effort=asked.effort, law=tried, settings=words, progress=output().is_terminal)
    if json:
        return write_json({"robot": arm.name, "report": str(path), "bytes": path.stat().st_size})
    output().print(literal(f"Report of {arm.name}: {path}"), soft_wrap=True)


def _tried(arm: Mechanism, law: str, gains: dict[str, str], settings: list[str], frequency: float, damping: float,
           asked: Asked) -> tuple[Trial | None, dict[str, str]]:
    """The law on the robot with its load, along the motion or on a step, and how it was set."""
    from dataclasses import replace

    from cayley.studio.scene import main_frame
    frame = asked.frame or main_frame(arm.tree)
    asked = replace(asked, frame=frame)
    planned = asked.planned(arm)
    with working("the law, its step, the motion and the verdict"):
        tip = frame if laws.law_line(arm, law).is_of_frame else ""
        made, aim, chosen = laws.made_law(arm, law, gains, settings, tip, asked.goal(arm, planned), frequency, damping)
        trial = replace(asked, law=made, aim=aim).tried(asked.loaded(arm, frame), planned)
    return trial, laws.words_of(chosen, asked.payload, 0.0, None, 0)


def place_of_report(arm: Mechanism, destination: Path | None) -> Path:
    """Path of the report in an existing folder; pictures are drawn without a window."""
    draw_without_window()
    path = destination or Path(f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in arm.name)}_report.html")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
