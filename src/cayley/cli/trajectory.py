"""`cayley trajectory`: from one configuration to others, as fast as the limits allow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import (
    Frame,
    Json,
    Robot,
    check_moves,
    end_frame,
    load,
    number_or_each,
    numbers,
    option,
    pose_of,
    write_plot_and_data,
)
from cayley.cli.terminal import grid, literal, output, print_files, working, write_json
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.planning import Motion, MotionLimits
    from cayley.planning.timing.efforts import LimitUse

_LAWS = ("fastest, jerk-limited, or a law of motion between two: 3-4-5, 4-5-6-7, cycloidal, trapezoidal, s-curve; "
         "by default the fastest, or 3-4-5 between two with --time.")


def trajectory(
    robot: Robot,
    waypoints: Annotated[list[str], typer.Argument(
        metavar="Q...", show_default=False, help="Two configurations or more, each in quotation marks; of a machine "
        "with loops those of its drives alone will do.")],
    law: Annotated[str, option("--law", "TEXT", _LAWS)] = "",
    velocity: Annotated[str, option(
        "--velocity", "LIMIT", "Of the joints (default: those of the file), inf for none.")] = "",
    acceleration: Annotated[str, option("--acceleration", "LIMIT", "Of the joints (default: none).")] = "inf",
    jerk: Annotated[str, option("--jerk", "LIMIT", "Of the joints (default: none).")] = "inf",
    effort: Annotated[str, option(
        "--effort", "LIMIT", "Of the joints (default: those of the file), inf for none.")] = "",
    duration: Annotated[float | None, option("--time", "SECONDS", "How long, instead of as fast as possible.")] = None,
    stops: Annotated[str, option(
        "--stops", "NUMBERS", "Waypoints between the ends to stop at, from 1; others are passed.")] = "",
    poses: Annotated[bool, typer.Option("--poses", help="Both ends are poses of the frame: x y z roll pitch yaw.")
                     ] = False,
    posture: Annotated[str, option(
        "--posture", "WORDS", 'With --poses: the posture of both ends, as "elbow up".')] = "",
    frame: Frame = "",
    grid_points: Annotated[int, typer.Option("--grid", min=10, help="Intervals of a path.")] = 200,
    samples: Annotated[int, typer.Option("--samples", min=2, help="How many states --json prints.")] = 201,
    plot: Annotated[Path | None, option("--plot", "FILE", "Positions, and what is limited, as a picture.")] = None,
    save: Annotated[Path | None, option("--save", "FILE", "The motion as an .npz file, for `load_motion`.")] = None,
    json: Json = False,
) -> None:
    """A motion of the joints from rest to rest through configurations, as fast as the limits allow.

    Numbers are between commas or spaces; 30deg is an angle in degrees. A limit is one number for all joints or one for
    each. Limits hold at all times, not at samples only. Exit code 1 if there is no such motion; the message names the
    joint.

    **Examples**

    ```
    cayley trajectory panda "0 -0.5 0 -2 0 1.6 0.8" "1 0.3 0 -1 0 1.6 0" --acceleration 10 --plot move.png
    cayley trajectory ur5 "0 -1 1 0 1 0" "1 -1 1 0 1 0" "1 -1.5 1 0 0 0" --acceleration 5 --jerk 50 --save move.npz
    cayley trajectory puma560 "0 0 0 0 0 0" "1 -1 1 0 0.5 0" --law cycloidal --time 1.5
    cayley trajectory puma560 "0.5 0.2 0.1 180deg 0 0" "0.3 0.5 0.2 180deg 0 0" --poses --posture "elbow up" --time 2
    ```"""
    from cayley.planning.timing.efforts import limit_use
    arm = load(robot)
    check_moves(arm)
    limits = _limits(arm, velocity, acceleration, jerk, effort)
    points = _ends(arm, waypoints, posture, frame) if poses else _configurations(arm, waypoints, posture)
    with working("planning"):
        motion = _planned(points, limits, law, duration, _numbers(stops), grid_points)
    use = limit_use(motion, limits)
    _check_on_the_way(arm, use)
    files = write_plot_and_data(use.plot, plot, use.motion.save, save)
    if json:
        write_json({**_data(arm, use, samples), "files": [str(file) for file in files]})
    else:
        _print(arm, use, files)


def _limits(arm: Mechanism, velocity: str, acceleration: str, jerk: str, effort: str) -> MotionLimits:
    from cayley.planning import MotionLimits
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "effort": effort}
    return MotionLimits.of(arm, **{what: number_or_each(text, arm.nv, f"the limits of {what}")
                                   for what, text in given.items() if text})


def _configurations(arm: Mechanism, words: list[str], posture: str) -> Array:
    import numpy as np
    if posture:
        raise typer.BadParameter("a posture is chosen between poses: give it with --poses", param_hint="--posture")
    if len(words) < 2:
        raise typer.BadParameter("give two configurations or more, each in quotation marks")
    points = np.array([_configuration(arm, text) for text in words])
    for point in points:
        arm.configurations.check(point)
    return points


def _configuration(arm: Mechanism, text: str) -> Array:
    """All coordinates, or for a machine with loops those of its actuated joints alone, from which the others follow."""
    from cayley.errors import UnreachableError
    places = arm.tree.actuated_velocities
    if not arm.tree.is_constrained or len(text.replace(",", " ").split()) != len(places):
        return numbers(text, arm.nq, "a configuration")
    given = numbers(text, len(places), "the coordinates of the actuated joints")
    closed = arm.loops.close(arm.neutral, fixed=dict(zip(arm.actuated_joints, given, strict=True)))
    if closed.status != "closed":
        raise UnreachableError(f"{arm.name} does not close with its drives at {text}: {closed.message}")
    return closed.configuration


def _ends(arm: Mechanism, words: list[str], posture: str, frame: str) -> Array:
    import numpy as np

    from cayley.planning import joint_pair
    if len(words) != 2:
        raise typer.BadParameter("with --poses give two poses, each in quotation marks")
    first, last = (pose_of(numbers(text, 6, "a pose")) for text in words)
    pair = joint_pair(arm, first, last, end_frame(arm, frame), posture=posture)
    return np.array([pair.first, pair.last])


def _numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise typer.BadParameter(f"{text!r} are not numbers of waypoints", param_hint="--stops") from None


def _planned(points: Array, limits: MotionLimits, law: str, duration: float | None, stops: list[int],
             grid_points: int) -> Motion:
    from cayley.planning import jerk_limited, point_to_point, time_optimal
    law = law or ("fastest" if duration is None or len(points) > 2 else "3-4-5")
    if law != "fastest" and (len(points) > 2 or stops):
        raise typer.BadParameter("a law is for two configurations; through more the motion is the fastest one",
                                 param_hint="--law")
    if law not in ("fastest", "jerk-limited"):
        return point_to_point(points[0], points[1], law=law, duration=duration, limits=limits)
    motion: Motion = time_optimal(points, limits, stops=stops, grid=grid_points) if law == "fastest" else jerk_limited(
        points[0], points[1], limits)
    return motion if duration is None else _slowed(motion, duration)


def _check_on_the_way(arm: Mechanism, use: LimitUse) -> None:
    """Between waypoints a path may go farther than at them."""
    import numpy as np

    from cayley.errors import PlanningError
    q = use.motion.position(use.t)
    beyond = np.maximum(q - arm.upper, arm.lower - q)
    row, joint = (int(place) for place in np.unravel_index(int(beyond.argmax()), beyond.shape))
    if beyond[row, joint] > 1e-9:
        place = q[row, joint]
        names = [each.name for each in arm.joints for _ in range(each.motion.nq)]
        raise PlanningError(f"on the way, at t = {use.t[row]:.4g} s, {names[joint]} is at {place:.4g}, "
                            f"beyond its limits {arm.lower[joint]:.4g} and {arm.upper[joint]:.4g}: add a waypoint, or "
                            "stop at one (--stops)")


def _slowed(motion: Motion, duration: float) -> Motion:
    from cayley.errors import PlanningError
    if not duration >= motion.duration:
        raise PlanningError(f"{duration:g} s are too short: the fastest motion takes {motion.duration:.6g} s")
    return motion.scaled(duration=duration)


def _data(arm: Mechanism, use: LimitUse, samples: int) -> dict[str, Any]:
    import numpy as np
    t = np.linspace(use.motion.start, use.motion.end, samples)
    q, qd, qdd = use.motion(t)
    return {"robot": arm.name, "duration": use.motion.duration, "joints": list(use.limits.names), "t": t, "q": q,
            "qd": qd, "qdd": qdd, "greatest": use.greatest, "parts": use.parts}


def _print(arm: Mechanism, use: LimitUse, files: list[Path]) -> None:
    import numpy as np
    console = output()
    console.print(f"[green]✓[/] [bold]{literal(arm.name)}[/]: {use.motion.duration:.6g} s")
    table = grid()
    table.add_column("", no_wrap=True)
    for heading in ("from", "to", *use.values):
        table.add_column(heading.replace("acceleration", "accel."), justify="right", no_wrap=True)
    ends = use.motion.position([use.motion.start, use.motion.end])
    first, last = ends if arm.nq == arm.nv else np.full((2, arm.nv), np.nan)  # quaternions are no numbers of a joint
    greatest, parts = use.greatest, use.parts
    for joint, name in enumerate(use.limits.names):
        cells = [f"{greatest[kind][joint]:.3g}" + (f" [dim]{100 * parts[kind][joint]:3.0f}%[/]"
                                                   if parts[kind][joint] > 0.0 else " " * 5) for kind in use.values]
        table.add_row(literal(name), f"{first[joint]:.3f}", f"{last[joint]:.3f}", *cells)
    console.print(table)
    most, kind, joint = max((each[joint], kind, joint) for kind, each in parts.items() for joint in range(len(each)))
    if most > 0.0:
        console.print(f"Greatest values, and how much of the limit that is. Nearest to its limit: "
                      f"{literal(use.limits.names[joint])}, {kind}, {100 * most:.4g} %.", style="dim")
    print_files(files)
