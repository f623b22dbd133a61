"""`cayley ik`: configurations that bring a frame to a pose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Frame, Json, Robot, end_frame, load, numbers, option, pose_of
from cayley.cli.terminal import literal, output, working, write_json
from cayley.compiler.typing import Array
from cayley.errors import GeometryError, UnreachableError

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism


def inverse_kinematics(
    robot: Robot,
    pose: Annotated[list[str] | None,
                    typer.Argument(metavar="POSE", show_default=False,
                                   help="x y z roll pitch yaw, or the 16 numbers of a 4x4 matrix by rows.")] = None,
    of: Annotated[str, option("--of", "Q", "The pose at this configuration, instead.")] = "",
    frame: Frame = "",
    every: Annotated[bool, typer.Option("--all", help="All solutions, in closed form.")] = False,
    task: Annotated[str, typer.Option("--task", help='What counts: "pose", "position" or "orientation".')] = "pose",
    start: Annotated[str, option("--start", "Q", "Where the search begins.")] = "",
    ignore_limits: Annotated[bool, typer.Option("--ignore-limits", help="Joints may go beyond their limits.")] = False,
    degrees: Annotated[bool, typer.Option("--degrees", help="Print angles in degrees.")] = False,
    json: Json = False,
) -> None:
    """Inverse kinematics: the configuration, or all of them, that reach a pose.

    The pose is in the root's frame, in metres and radians (30deg is an angle in degrees); roll, pitch and yaw turn
    about the fixed x, then y, then z axis. Exit code 1 if no configuration reaches it.

    **Examples**

    ```
    cayley ik ur5 0.4 0.1 0.3 0 180deg 0
    cayley ik puma560 0.5 0.2 0.1 180deg 0 0 --all --degrees
    cayley ik panda --of "0 -0.5 0 -2 0 1.6 0.8" --start "0 0 0 -1 0 1 0"
    cayley ik planar2r 0.6 0.5 0 --task position
    ```"""
    arm = load(robot)
    chosen = end_frame(arm, frame)
    target = _target(arm, chosen, pose or [], of, task)
    if every:
        if task != "pose" or start:
            raise typer.BadParameter("the closed form takes whole poses, and no start", param_hint="--all")
        return _all(arm, target, chosen, degrees, json)
    with working("searching"):
        found = arm.inverse_kinematics(target, chosen, task=task, limits=not ignore_limits,
                                       start=numbers(start, arm.nq, "a start") if start else None)
    if json:
        write_json({
            "robot": arm.name, "frame": chosen, "target": target, "status": found.status, "reason": found.reason,
            "q": found.q, "residual": found.residual, "position_error": found.position_error,
            "angle_error": found.angle_error, "smallest_singular_value": found.smallest_singular_value})
    if not found.solved:
        raise UnreachableError(
            f"no configuration of {arm.name} found that brings {chosen!r} there: {found.reason}; the nearest misses it "
            f"by {found.position_error:.3g} m and {found.angle_error:.3g} rad")
    if not json:
        print_solutions(arm, [("", found.q, True, float(found.residual))], degrees)


def _target(arm: Mechanism, frame: str, words: list[str], of: str, task: str) -> Array:
    from cayley.geometry.motions.homogeneous import check_pose
    if bool(words) == bool(of):
        raise typer.BadParameter("say where to: a pose, or --of a configuration")
    if of:
        return arm.pose(numbers(of, arm.nq, "a configuration"), frame)
    words = " ".join(words).replace(",", " ").split()
    if len(words) == 3 and task == "position":
        words += ["0"] * 3
    if len(words) not in (6, 16):
        raise typer.BadParameter(
            f"a pose is x y z roll pitch yaw, or 16 numbers (or x y z with --task position), not {len(words)} numbers")
    values = numbers(words, len(words), "the pose")
    if len(values) == 16:
        matrix = values.reshape(4, 4)
        try:
            check_pose(matrix)
        except GeometryError as error:
            raise GeometryError(f"the 16 numbers are not a pose: {error}") from error
        return matrix
    return pose_of(values)


def _all(arm: Mechanism, target: Array, frame: str, degrees: bool, json: bool) -> None:
    found = arm.all_inverse_kinematics(target, frame)
    rows = [(str(branch), q, bool(inside), float(residual)) for branch, q, inside, residual, there in
            zip(found.branches, found.q, found.within_limits, found.residual, found.found, strict=True) if there]
    # counted from 1, as they are printed
    continua = [str(replace(c, solution=c.solution + 1)) for c in found.continua.get((), ())]
    if json:
        write_json({
            "robot": arm.name, "frame": frame, "target": target, "status": found.status, "continua": continua,
            "solutions": [{"branch": b, "q": q, "within_limits": inside, "residual": r} for b, q, inside, r in rows]})
    if not rows:
        raise UnreachableError(
            f"no configuration of {arm.name} brings {frame!r} there: it is beyond the reach of the arm")
    if not json:
        print_solutions(arm, rows, degrees)
        for line in continua:
            output().print(f"[yellow]![/] {literal(line)}")
        if found.task == "position":
            output().print("The arm has no choice of orientation: only the position was asked.", style="dim")
    if not found.within_limits.any():
        raise UnreachableError(
            f"every configuration of {arm.name} that brings {frame!r} there is outside the limits of its joints")


def print_solutions(arm: Mechanism, rows: list[tuple[str, Any, bool, float]], degrees: bool) -> None:
    """Solutions, each with its branch above it."""
    import numpy as np

    from cayley.model.coordinate_labels import coordinate_labels
    console = output()
    labels = coordinate_labels(arm.tree)
    scale = np.array([180 / np.pi if degrees and unit == "rad" else 1.0 for _, unit in labels])
    units = dict.fromkeys("deg" if degrees and unit == "rad" else unit or "1" for _, unit in labels)
    digits = 3 if degrees else 5
    for number, (branch, q, inside, residual) in enumerate(rows, 1):
        title = f"[bold cyan]{number}[/]  {branch}" if branch else f"[bold]{literal(arm.name)}[/]"
        remark = "" if inside else "  [yellow]outside the limits[/]"
        console.print(f"{title}{remark}  [dim]residual {residual:.1g}[/]")
        console.print("   " + " ".join(f"{x:{digits + 6}.{digits}f}"
                                       for x in np.round(np.asarray(q) * scale, digits) + 0.0))
    console.print(f"[dim]({literal(', '.join(name for name, _ in labels))}) in {', '.join(units)}[/]")
