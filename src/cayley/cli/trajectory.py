"""`cayley trajectory`: from one configuration to others, as fast as the limits allow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Frame, Json, Robot, check_moves, end_frame, load, numbers, save_figure
from cayley.cli.tables import grid
from cayley.cli.terminal import literal, output, working, write_json
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.mechanism import Mechanism
    from cayley.planning import Motion, MotionLimits
    from cayley.planning.timing.efforts import LimitUse

_LAWS = ("fastest, jerk-limited, or a law of motion between two: 3-4-5, 4-5-6-7, cycloidal, trapezoidal, s-curve; "
         "by default the fastest, or 3-4-5 between two with --time.")


def _limit(kind: str, words: str) -> Any:  # noqa: ANN401 (the declaration of an option)
    return typer.Option(f"--{kind}", metavar="LIMIT", show_default=False, help=words)


def trajectory(
    robot: Robot,
    waypoints: Annotated[list[str],
                         typer.Argument(metavar="Q...", show_default=False,
                                        help="Two configurations or more, each in quotation marks; of a machine with "
                                             "loops those of its drives alone will do.")],
    law: Annotated[str, typer.Option("--law", show_default=False, help=_LAWS)] = "",
    velocity: Annotated[str, _limit("velocity", "Of the joints (default: those of the file), inf for none.")] = "",
    acceleration: Annotated[str, _limit("acceleration", "Of the joints (default: none).")] = "inf",
    jerk: Annotated[str, _limit("jerk", "Of the joints (default: none).")] = "inf",
    effort: Annotated[str, _limit("effort", "Of the joints (default: those of the file), inf for none.")] = "",
    duration: Annotated[float | None,
                        typer.Option("--time", metavar="SECONDS", show_default=False,
                                     help="How long, instead of as fast as possible.")] = None,
    stops: Annotated[str, typer.Option("--stops", metavar="NUMBERS", show_default=False,
                                       help="Waypoints between the ends to stop at, from 1; others are passed.")] = "",
    poses: Annotated[bool, typer.Option("--poses", help="Both ends are poses of the frame: x y z roll pitch yaw.")
                     ] = False,
    posture: Annotated[str, typer.Option("--posture", metavar="WORDS", show_default=False,
                                         help='With --poses: the posture of both ends, as "elbow up".')] = "",
    frame: Frame = "",
    grid_points: Annotated[int, typer.Option("--grid", min=10, help="Intervals of a path.")] = 200,
    samples: Annotated[int, typer.Option("--samples", min=2, help="How many states --json prints.")] = 201,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE", show_default=False,
                                              help="Positions, and what is limited, as a picture.")] = None,
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", show_default=False,
                                              help="The motion as an .npz file, for `load_motion`.")] = None,
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
    ```
    """
    from cayley.planning.timing.efforts import limit_use
    arm = load(robot)
    check_moves(arm)
    limits = _limits(arm, velocity, acceleration, jerk, effort)
    points = _ends(arm, waypoints, posture, frame) if poses else _configurations(arm, waypoints, posture)
    with working("planning"):
        motion = _planned(points, limits, law, duration, _numbers(stops), grid_points)
    use = limit_use(motion, limits)
    _check_on_the_way(arm, use)
    files = _written(use, plot, save)
    if json:
        write_json({**_data(arm, use, samples), "files": [str(file) for file in files]})
    else:
        _print(arm, use, files)


def _limits(arm: Mechanism, velocity: str, acceleration: str, jerk: str, effort: str) -> MotionLimits:
    import numpy as np

    from cayley.planning import MotionLimits

    def read(text: str, what: str) -> Array:
        words = text.replace(",", " ").split()
        if len(words) not in (1, arm.nv):
            raise typer.BadParameter(f"the limits of {what} are one number, or {arm.nv} of them; {len(words)} found")
        found = [np.inf if word == "inf" else numbers(word, 1, f"the limits of {what}")[0] for word in words]
        return np.array(found * (arm.nv // len(found)))

    return MotionLimits.of(arm, velocity=read(velocity, "velocity") if velocity else None,
                           acceleration=read(acceleration, "acceleration"), jerk=read(jerk, "jerk"),
                           effort=read(effort, "effort") if effort else None)


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

    from cayley.geometry.rotations.euler import matrix_from_roll_pitch_yaw
    from cayley.planning import joint_pair
    if len(words) != 2:
        raise typer.BadParameter("with --poses give two poses, each in quotation marks")
    made = np.tile(np.eye(4), (2, 1, 1))
    for pose, text in zip(made, words, strict=True):
        values = numbers(text, 6, "a pose")
        pose[:3, 3] = values[:3]
        pose[:3, :3] = matrix_from_roll_pitch_yaw(values[3:])
    pair = joint_pair(arm, made[0], made[1], end_frame(arm, frame), posture=posture)
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
    if law == "fastest":
        motion = time_optimal(points, limits, stops=stops, grid=grid_points)
        return motion if duration is None else _slowed(motion, duration)
    if law == "jerk-limited":
        motion = jerk_limited(points[0], points[1], limits)
        return motion if duration is None else _slowed(motion, duration)
    return point_to_point(points[0], points[1], law=law, duration=duration, limits=limits)


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


def _written(use: LimitUse, plot: Path | None, save: Path | None) -> list[Path]:
    files = []
    if plot is not None:
        import matplotlib
        matplotlib.use("Agg")
        files.append(save_figure(use.plot(), plot))
    if save is not None:
        save.parent.mkdir(parents=True, exist_ok=True)
        files.append(use.motion.save(save))
    return files


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
    for file in files:
        console.print(literal(f"Written: {file}"), soft_wrap=True)
