"""`cayley simulate`: simulate a robot under gravity and constant joint forces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Json, Robot, check_moves, load, numbers, option, write_plot_and_data
from cayley.cli.terminal import grid, literal, note, output, print_files, write_json
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.simulation import Trajectory


def simulate(
    robot: Robot,
    time: Annotated[float, typer.Option("--time", metavar="SECONDS", help="Duration.")] = 2.0,
    q: Annotated[str, option("--q", "Q", "Initial configuration (default: zero, or mid-range).")] = "",
    qd: Annotated[str, option("--qd", "QD", "Initial velocities (default: zero).")] = "",
    tau: Annotated[str, option("--tau", "TAU", "Constant joint forces (default: none).")] = "",
    limits: Annotated[str, typer.Option("--limits", help="Joint stops: inelastic, elastic, a coefficient of "
                                        "restitution, end (stop the simulation there) or ignore.")] = "inelastic",
    include: Annotated[str, option(
        "--include", "PARTS", 'Effects of the drives: "armature", "friction", "springs", "elastic drives", separated '
        "by commas.")] = "",
    samples: Annotated[int, typer.Option("--samples", min=2, help="Number of states to keep, evenly in time.")] = 201,
    method: Annotated[str, typer.Option("--method",
                                        help="An integrator of SciPy: DOP853, RK45, Radau, BDF, LSODA.")] = "DOP853",
    plot: Annotated[Path | None, option("--plot", "FILE", "Coordinates, velocities and energy as a picture.")] = None,
    save: Annotated[Path | None, option("--save", "FILE", "Save the trajectory as an .npz file.")] = None,
    json: Json = False,
) -> None:
    """Simulate a robot under gravity and joint forces, and summarise the motion.

    Q, QD and TAU are numbers between commas or spaces; 30deg is an angle in degrees. Exit code 1 if the motion could
    not be followed to its end; what was found until then is kept.

    **Examples**

    ```
    cayley simulate puma560 --time 2 --plot fall.png
    cayley simulate planar2r --q "90deg 0" --qd "0 1" --save swing.npz
    cayley simulate panda --limits 0.3 --include friction --json
    ```"""
    import numpy as np

    from cayley.drawing.skeleton import configurations
    from cayley.model.report import friction_left_out, joints_in_words
    from cayley.simulation import simulate as follow
    arm = load(robot)
    check_moves(arm)
    arm = arm.including(*_terms(include)) if include else arm
    if not (np.isfinite(time) and time > 0):
        raise typer.BadParameter(f"the duration must be positive and finite, not {time}", param_hint="--time")
    state = (numbers(q, arm.nq, "q") if q else configurations(arm.tree, None)[-1],
             numbers(qd, arm.nv, "qd") if qd else np.zeros(arm.nv))
    if not include and (rubbing := friction_left_out(arm.tree)):
        note(f"friction and damping of {joints_in_words(rubbing)} are not included: add --include friction")
    found = follow(arm.tree, *state, tau=numbers(tau, arm.nv, "tau") if tau else None,
                   times=np.linspace(0.0, time, samples), limits=_limits(limits), method=method)
    files = write_plot_and_data(found.plot, plot, found.save, save)
    if json:
        write_json({**_data(found), "files": [str(file) for file in files]})
    else:
        _print(found, files)
    if not found.finished and found.status not in ("limit", "event"):
        raise typer.Exit(1)


def _terms(include: str) -> list[str]:
    """The words between commas; between spaces if there are none, and it is not one term of two words."""
    from cayley.model.tree import TERMS
    parts = include.split(",") if "," in include or include.strip() in TERMS else include.split()
    return [part.strip() for part in parts if part.strip()]


def _limits(word: str) -> str | float:
    try:
        return float(word)
    except ValueError:
        return word


def _data(found: Trajectory) -> dict[str, Any]:
    return {
        "robot": found.name, "status": found.status, "message": found.message, "t": found.t, "q": found.q,
        "qd": found.qd, "tau": found.tau, "coordinates": found.coordinates, "velocities": found.velocities,
        "kinetic": found.kinetic, "potential": found.potential, "work": found.work, "energy_drift": found.energy_drift,
        "happened": [occurrence._asdict() for occurrence in found.happened], "facts": dict(found.facts)}


def _print(found: Trajectory, files: list[Path]) -> None:
    console = output()
    mark = "[green]✓[/]" if found.finished else "[yellow]![/]"
    console.print(f"{mark} [bold]{literal(found.name)}[/]: {literal(found.message or found.status)}")
    table = grid()
    table.add_column("")
    for heading in ("start", "end", "least", "most"):
        table.add_column(heading, justify="right")
    for (name, unit), values in zip(found.coordinates, found.q.T, strict=True):
        table.add_row(f"{literal(name)} [dim]\\[{unit or '1'}][/]", *_figures(values))
    table.add_section()
    energies = {"kinetic energy": found.kinetic, "potential energy": found.potential, "work": found.work}
    for name, values in energies.items():
        table.add_row(f"{name} [dim]\\[J][/]", *_figures(values))
    console.print(table)
    drift = float(abs(found.energy_drift).max())
    console.print(f"Energy balance kept to {drift:.1g} J with {found.facts['evaluations']} evaluations.", style="dim")
    for occurrence in found.happened[:20]:
        console.print(literal(f"  t = {occurrence.t:.4f} s  {occurrence.name}: {occurrence.action}"))
    if len(found.happened) > 20:
        console.print(f"  and {len(found.happened) - 20} more (--json has all)")
    print_files(files)


def _figures(values: Array) -> list[str]:
    return [f"{x:.4f}" for x in (values[0], values[-1], values.min(), values.max())]
