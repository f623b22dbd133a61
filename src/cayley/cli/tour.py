"""`cayley tour`: a demonstration of Cayley on one robot, in under a minute."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import cayley as cy
from cayley.cli.arguments import Json, Robot, check_moves, load, option
from cayley.cli.terminal import grid, literal, marked, output, print_table, silent, working, write_json
from cayley.compiler.typing import Array
from cayley.errors import CayleyError

if TYPE_CHECKING:
    from types import ModuleType

    from cayley.dynamics.accounting.operation_table import OperationTable
    from cayley.dynamics.inverse.compare import Comparison
    from cayley.mechanism import Mechanism
    from cayley.model.parts import Joint
    from cayley.model.tree import Tree

STATES = 100  # on which the methods are compared
AGREED = 1e-12  # beside the largest force, or 1


def tour(robot: Robot = "puma560",
         destination: Annotated[Path | None, option(
             "--output", "FILE", "The report (default: ROBOT_report.html).")] = None,
         with_report: Annotated[bool, typer.Option("--report/--no-report",
                                                   help="Write the report, or leave it out.")] = True,
         json: Json = False) -> None:
    """See what Cayley does: a robot, its inverse dynamics by every method, counts, speed, and a report.

    Exit code 1 if two methods differ.

    **Examples**

    ```
    cayley tour
    cayley tour panda --no-report
    cayley tour --json
    ```"""
    from cayley.model.constraints import check_independent
    with silent(json):
        arm = load(robot)
        check_moves(arm)
        check_independent(arm.tree, "the tour, which compares published methods of inverse dynamics,")
        _show_robot(arm)
        ready = _compiled(arm)
        comparison, spread = _compare(arm)
        table = _published(arm.nv)
        speed = _speed(arm)
        path = _report(arm, destination) if with_report else None
    if json:
        write_json(_data(arm, ready, comparison, spread, table, speed, path))
    if spread > AGREED:
        raise typer.Exit(1)


def _show_robot(arm: Mechanism) -> None:
    from rich.columns import Columns
    from rich.text import Text

    from cayley.drawing.skeleton import configurations
    _heading(1, f"The robot: {arm.name}", arm.tree.source)
    table = grid()
    sides = {"joint": "left", "kind": "left", "range": "right", "moves": "left", r"mass \[kg]": "right"}
    for heading, side in sides.items():
        table.add_column(heading, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for joint, body in zip(arm.joints, arm.bodies[1:], strict=True):
        mass = "unknown" if body.mass is None else f"{body.mass:g}"
        table.add_row(literal(joint.name), joint.motion.word, _range(joint), literal(body.name), mass)
    figure = Text(sketch(arm.tree, configurations(arm.tree, None)[-1]), style="cyan")
    output().print(Columns([figure, table], padding=(0, 2)) if output().width >= 80 else figure)
    if output().width < 80:
        output().print(table)


def _range(joint: Joint) -> str:
    import math
    low = (joint.limits.lower[:1] or (math.nan,))[0]
    high = (joint.limits.upper[:1] or (math.nan,))[0]
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"{low:g} … {high:g} m" if joint.motion.coordinate_units[
        0] == "m" else f"{math.degrees(low):.0f}° … {math.degrees(high):.0f}°"


def _states(arm: Mechanism, count: int) -> tuple[Array, Array, Array]:
    random = np.random.default_rng(2024)
    return (arm.random_configuration(count, seed=random), *random.normal(size=(2, count, arm.nv)))


def _compiled(arm: Mechanism) -> dict[str, Any]:
    """The first call: the text is traced, differentiable, counted, and made into machine code."""
    state = [x[0] for x in _states(arm, 1)]
    with working("compiling"), without_cache():
        start = time.perf_counter()
        arm.inverse_dynamics(*state)
        seconds = time.perf_counter() - start
    operations = arm.inverse_dynamics.operations()
    _heading(2, "Its inverse dynamics, compiled")
    output().print(f"[bold]arm.inverse_dynamics(q, qd, qdd)[/] is machine code after [bold]{1e3 * seconds:.0f} ms[/]:")
    output().print(f"{operations}.")
    return {"seconds": seconds, "operations": vars(operations)}


@contextmanager
def without_cache() -> Iterator[None]:
    """Compile now, whatever an earlier run has kept."""
    before = os.environ.get("CAYLEY_CACHE")
    os.environ["CAYLEY_CACHE"] = "off"
    try:
        yield
    finally:
        os.environ.pop("CAYLEY_CACHE")
        os.environ.update({} if before is None else {"CAYLEY_CACHE": before})


def _compare(arm: Mechanism) -> tuple[Comparison, float]:
    from cayley.cli.counts import refusals
    from cayley.model.report import TextTable
    comparison = arm.formulations.compare_inverse_dynamics(*_states(arm, STATES), progress=output().is_terminal)
    forces = np.array([row.forces for row in comparison.rows if row.forces is not None])
    spread = float(np.ptp(forces, axis=0).max(initial=0.0)) / max(1.0, float(np.abs(forces).max(initial=0.0)))
    _heading(3, "Every method against every other")
    refused = [row for row in comparison.rows if row.operations is None]
    lines = tuple((row.method, str(row.operations.multiplications), str(row.operations.additions),
                   f"{1e9 * (row.seconds or 0.0):.0f}", f"{row.distance:.0e}" if row.distance else "0")
                  for row in comparison.rows if row.operations is not None)
    print_table(output(), TextTable("", ("method", "M", "A", "ns per state", "from the first"), lines))
    verdict = "[bold green]✓ all agree[/]" if spread <= AGREED else "[bold red]✗ they do not agree[/]"
    output().print(f"{verdict}: {len(forces)} methods, {STATES} states; the largest difference between any two is "
                   f"[bold]{spread:.1e}[/] of the largest force. M multiplications, A additions.")
    if refused:
        output().print(marked("[yellow]![/]", refusals({row.method: row.refused for row in refused})))
    return comparison, spread


def _published(n: int) -> OperationTable:
    from cayley.dynamics.accounting import table_53
    from cayley.model.report import TextTable
    with working("counting the published table again"):
        table = table_53(n)
    _heading(4, "The published table, counted again",
             f"Balafoutis & Patel, Table 5.3, any arm of n = {n} revolute joints")
    lines = []
    for row, columns in table.rows.items():
        given = columns.get("published")
        counted = columns.get("compiled")
        words = [str(given.multiplications), str(given.additions), *map(str, given(n))] if given else [""] * 4
        lines.append((row, *words, *(map(str, counted(n)) if counted else ("", ""))))
    print_table(output(), TextTable("", ("method", "published M", "A", "M", "A", "counted M", "A"), tuple(lines)))
    output().print("Counted: the operations left in the compiled code of an arm without special numbers.", style="dim")
    return table


def _speed(arm: Mechanism) -> Speed:
    from cayley.cli.tour import measure
    with working("measuring"):
        found = measure(arm, _states(arm, 100_000))
    _heading(5, "Speed on this machine")
    table = grid()
    table.add_column("")
    for heading in ("ns per state", "times the text"):
        table.add_column(heading, justify="right", no_wrap=True)
    for label, seconds in found.seconds.items():
        table.add_row(label, f"{1e9 * seconds:,.0f}", f"{found.seconds[found.slowest] / seconds:,.1f}")
    output().print(table)
    for line in ["", *found.notes]:
        output().print(literal(line), style="dim")
    return found


def _report(arm: Mechanism, destination: Path | None) -> Path:
    from cayley.cli.report import place_of_report
    from cayley.studio.report import write_report
    path = write_report(arm, place_of_report(arm, destination), progress=output().is_terminal)
    _heading(6, "The report")
    output().print(f"[bold green]✓[/] {literal(path.resolve())}", soft_wrap=True)
    output().print("Open it in a browser. Next: cayley --help", style="dim")
    return path


def _heading(number: int, title: str, below: str = "") -> None:
    from rich.rule import Rule
    output().print()
    output().print(Rule(f"[bold]{number}  {literal(title)}[/]", align="left", style="cyan"))
    if below:
        output().print(literal(below), style="dim")


def _data(arm: Mechanism, ready: dict[str, Any], comparison: Comparison, spread: float, table: OperationTable,
          speed: Speed, path: Path | None) -> dict[str, Any]:
    from cayley.cli.counts import table_data
    from cayley.cli.robots import described
    methods = [{
        "method": row.method, "source": row.source, "refused": row.refused, "distance": row.distance,
        "seconds": row.seconds, "operations": vars(row.operations) if row.operations else None}
               for row in comparison.rows]
    return {
        "robot": described(arm), "compiled": ready, "methods": methods, "states": STATES, "spread": spread,
        "agrees": spread <= AGREED, "published": table_data(table), "seconds_a_state": speed.seconds,
        "notes": speed.notes, "report": str(path.resolve()) if path else None}


_AZIMUTH = np.radians(-60.0)
_ELEVATION = np.radians(22.0)
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # of one letter, by rows


def sketch(tree: Tree, q: Array, *, columns: int = 26, rows: int = 11) -> str:
    """The stick figure at a configuration (nq), joints as small squares, limited to a number of characters."""
    from cayley.drawing.skeleton import skeleton
    from cayley.drawing.views import view_of
    figure = skeleton(tree, q)
    rows_of_view = view_of(tree).rows
    axes = rows_of_view if len(rows_of_view) == 2 else _screen_axes()
    points = figure.points @ axes.T
    low = points.min(axis=0)
    size = np.ptp(points, axis=0)
    scale = min((2 * columns - 5) / max(size[0], 1e-9), (4 * rows - 5) / max(size[1], 1e-9))
    shape = np.ceil((size * scale + 5) / (2, 4)).astype(int)
    dots = np.zeros((4 * shape[1], 2 * shape[0]), dtype=bool)

    def places(x: Array) -> Array:
        return np.round((x @ axes.T - low) * scale).astype(int) + 2

    for path in figure.paths:
        for a, b in pairwise(path):
            _mark(dots, places(np.linspace(a, b, 400)))
    for mark in figure.marks:
        _mark(dots, places(mark.center) + np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]))
    return _letters(dots)


def _screen_axes() -> Array:
    """The directions to the right and up on the screen, as rows."""
    right = np.array([-np.sin(_AZIMUTH), np.cos(_AZIMUTH), 0.0])
    towards = np.array([
        np.cos(_AZIMUTH) * np.cos(_ELEVATION),
        np.sin(_AZIMUTH) * np.cos(_ELEVATION),
        np.sin(_ELEVATION)])
    return np.stack([right, np.cross(towards, right)])


def _mark(dots: Array, places: Array) -> None:
    inside = (places >= 0).all(axis=-1) & (places < dots.shape[::-1]).all(axis=-1)
    dots[dots.shape[0] - 1 - places[inside, 1], places[inside, 0]] = True


def _letters(dots: Array) -> str:
    blocks = dots.reshape(dots.shape[0] // 4, 4, dots.shape[1] // 2, 2).transpose(0, 2, 1, 3)
    return "\n".join("".join(chr(0x2800 + int(_DOTS[block].sum())) for block in line) for line in blocks)


ROUNDS = 3
VECTORISED = 10_000  # states for NumPy at once: more do not fit the cache, and are slower
PATIENCE = 0.1  # seconds a round


@dataclass
class Speed:
    """Seconds a state by what computes them, the slowest first; remarks."""

    seconds: dict[str, float]
    notes: list[str] = field(default_factory=list)

    @property
    def slowest(self) -> str:
        return next(iter(self.seconds))


def measure(arm: Mechanism, states: tuple[Array, ...]) -> Speed:
    """The medians of a few rounds, all on the same states (count, ...)."""
    kernel = arm.inverse_dynamics
    one = [x[0].copy() for x in states]
    count = len(states[0])
    out = np.empty((count, arm.nv))
    some = [x[:VECTORISED] for x in states]
    found = Speed({"the Python text on NumPy arrays, one state": seconds(lambda: kernel.reference(*one))})
    found.seconds[f"its graph in NumPy, {VECTORISED:,} states at once"] = seconds(
        lambda: kernel.evaluate(cy.NUMPY, *some)) / VECTORISED
    _pinocchio(arm, states, found)
    found.seconds["Cayley, one state"] = seconds(lambda: kernel(*one))
    found.seconds[f"Cayley, {count:,} states at once"] = seconds(lambda: kernel(*states, out=out)) / count
    threads = os.cpu_count() or 1
    if threads > 1:
        together = kernel.parallel(threads)
        found.seconds[f"Cayley, the same on {threads} threads"] = seconds(lambda: together(*states, out=out)) / count
    return found


def seconds(work: Callable[[], Any]) -> float:
    """Seconds a call: the median of rounds that are long enough for the clock."""
    work()
    start = time.perf_counter()
    work()
    repeats = max(1, int(PATIENCE / max(time.perf_counter() - start, 1e-9)))
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        times.append((time.perf_counter() - start) / repeats)
    return float(np.median(times))


def _pinocchio(arm: Mechanism, states: tuple[Array, ...], found: Speed) -> None:
    """Pinocchio reads the robot as URDF, which Cayley writes; its forces must be the same before its time counts."""
    try:
        pinocchio = import_module("pinocchio")
    except ImportError:
        found.notes.append("Pinocchio is not installed (pip install pin): not compared.")
        return
    try:
        model, order = _model(pinocchio, arm)
    except (CayleyError, ValueError) as error:
        found.notes.append(f"Pinocchio is not compared: {error}")
        return
    data = model.createData()
    q, qd, qdd = (np.ascontiguousarray(x[:, order]) for x in states)
    expected = arm.inverse_dynamics(*[x[:50] for x in states])[:, order]
    largest = 0.0
    for k in range(50):
        largest = max(largest, float(np.abs(pinocchio.rnea(model, data, q[k], qd[k], qdd[k]) - expected[k]).max()))
    difference = largest / max(1.0, float(np.abs(expected).max()))
    if difference > 1e-9:
        found.notes.append(
            f"Pinocchio is not compared: its forces differ by {difference:.1g}; it may have read another robot")
        return
    one = (q[0], qd[0], qdd[0])
    found.seconds["Pinocchio, one state"] = seconds(lambda: pinocchio.rnea(model, data, *one))
    found.notes.append(f"Pinocchio {pinocchio.__version__} finds the same forces, to {difference:.0e} of the largest.")


def _model(pinocchio: ModuleType, arm: Mechanism) -> tuple[Any, list[int]]:
    """The robot in Pinocchio, and where its coordinates are in Cayley's."""
    from cayley.model.formats.urdf_text import dump_urdf
    moving = [joint for joint in arm.joints if joint.motion.nv]
    if any(joint.motion.urdf not in ("revolute", "prismatic") for joint in moving) or arm.tree.included:
        raise ValueError("only revolute and prismatic joints with limits are handed over")
    model = pinocchio.buildModelFromXML(dump_urdf(arm.tree, leave_out=True))
    model.gravity.linear = np.array(arm.gravity)
    return model, [arm.tree.q_slices[arm.tree.joint_number(name)].start for name in list(model.names)[1:]]
