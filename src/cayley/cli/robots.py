"""`cayley robots` and `cayley info`: list the catalogue, and describe one robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Json, Robot, draw_without_window, load, option, save_figure
from cayley.cli.terminal import grid, literal, marked, output, print_table, write_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cayley.mechanism import Mechanism
    from cayley.model.catalogue.packaged import Packaged
    from cayley.model.tree import Tree


def robots(fixtures: Annotated[
    bool, typer.Option("--fixtures", help="The small mechanisms of the test fixtures instead.")] = False,
           json: Json = False) -> None:
    """The robots of the catalogue.

    **Examples**

    ```
    cayley robots
    cayley robots --json
    ```"""
    from cayley.model.catalogue import catalogue_names, load_robot
    from cayley.model.catalogue.packaged import PACKAGED
    trees = [load_robot(name) for name in catalogue_names(fixtures=fixtures)]
    packaged = {} if fixtures else PACKAGED
    if json:
        own = [_summary(tree) | {"mobility": _mobility(tree)} for tree in trees]
        return write_json([*own, *[{"name": name, "source": robot.source} for name, robot in packaged.items()]])
    found = [_summary(tree) for tree in trees]
    table = grid()
    for heading in ("name", "joints", r"mass \[kg]", "source"):
        table.add_column(heading, justify="right" if "mass" in heading else "left", no_wrap=heading != "source")
    for robot in found:
        mass = "unknown" if robot["mass"] is None else f"{robot['mass']:.4g}"
        table.add_row(f"[bold]{literal(robot['name'])}[/]", robot["joints"], mass, literal(robot["source"]))
    output().print(table)
    if packaged:
        _print_packaged(packaged)
    output().print("\ncayley info NAME shows the details.", style="dim")


def _print_packaged(robots: Mapping[str, Packaged]) -> None:
    """Robots that come with another package."""
    output().print("\nwith meshes, after pip install 'cayley\\[robots]':", highlight=False)
    table = grid()
    for heading in ("name", "robot", "licence"):
        table.add_column(heading, no_wrap=heading != "robot")
    for name, robot in robots.items():
        table.add_row(f"[bold]{literal(name)}[/]", literal(robot.title), literal(robot.licence))
    output().print(table)


def _summary(tree: Tree) -> dict[str, Any]:
    known = [body.mass for body in tree.bodies if body.mass is not None]
    return {"name": tree.name, "joints": _letters(tree), "nq": tree.nq, "nv": tree.nv,
            "mass": sum(known) if known else None, "source": tree.source}


def _mobility(tree: Tree) -> int | None:
    """Degrees of freedom, or None if the loops cannot be closed."""
    from cayley.errors import UnreachableError
    from cayley.kinematics.constraints.structure import mobility
    try:
        return mobility(tree)
    except UnreachableError:
        return None


def _letters(tree: Tree) -> str:
    """RRP for two revolute joints and a prismatic one; alike in a row, 6R."""
    letters = "".join(joint.motion.letter for joint in tree.joints if joint.motion.nv)
    return f"{len(letters)}{letters[0]}" if len(set(letters)) == 1 and len(letters) > 1 else letters


def info(robot: Robot,
         picture: Annotated[Path | None, option(
             "--picture", "FILE", "Draw the robot into a .png, .svg or .pdf file.")] = None,
         json: Json = False) -> None:
    """Bodies, joints, limits and masses of a robot, and warnings about them.

    **Examples**

    ```
    cayley info puma560
    cayley info my_arm.urdf --picture arm.png
    cayley info panda --json
    ```"""
    arm = load(robot)
    drawn = draw(arm, picture) if picture else None
    if json:
        return write_json({**described(arm), **({"picture": str(drawn)} if drawn else {})})
    console = output()
    report = arm.summary()
    console.print(f"[bold]{literal(arm.name)}[/]"
                  + (f"  [dim]{literal(arm.tree.source)}[/]" if arm.tree.source else ""))
    console.print(report.heading.rpartition(": ")[2])
    console.print()
    for table in report.tables:
        print_table(console, table, keys=2 if table.columns[0] == "" else 1, brief=True)
    print_warnings([str(finding) for finding in report.warnings])
    if report.facts:
        console.print(marked("[blue]i[/]", [str(finding) for finding in report.facts]))
    if drawn:
        console.print(literal(f"Drawn into {drawn}"))


def print_warnings(warnings: list[str]) -> None:
    """Warnings, one to a line, or a line that there are none."""
    output().print(marked("[yellow]![/]", warnings) if warnings else "[green]✓[/] no warnings")


def draw(arm: Mechanism, path: Path) -> Path:
    """The stick figure as a file."""
    draw_without_window()
    figure = arm.draw().get_figure(root=True)
    assert figure is not None  # it was drawn on one
    return save_figure(figure, path)


def described(arm: Mechanism) -> dict[str, Any]:
    """Description of a mechanism as plain data."""
    joints = [{
        "name": j.name, "kind": j.motion.word, "parent": j.parent, "child": j.child, "axis": j.motion.keys.get("axis"),
        "placement": j.placement, "q": [own.start, own.stop], "lower": j.limits.lower, "upper": j.limits.upper,
        "velocity": j.limits.velocity, "effort": j.limits.effort, "viscous": j.friction.viscous,
        "coulomb": j.friction.coulomb, "reflected_inertia": j.rotor.reflected, "gear": j.rotor.gear,
        "spring": {"kind": j.spring.word} | j.spring.said if j.spring else None,
        "follows": j.mimic.joint if j.mimic else None} for j, own in zip(arm.joints, arm.tree.q_slices, strict=True)]
    report = arm.summary()
    bodies = [{"name": b.name, "mass": b.mass, "center": b.center, "inertia": b.inertia} for b in arm.bodies]
    return {**_summary(arm.tree), "mobility": _mobility(arm.tree), "actuated": arm.actuated_joints,
            "gravity": arm.gravity, "bodies": bodies, "joints": joints,
            "frames": [{"name": f.name, "body": f.body, "pose": f.pose} for f in arm.frames],
            "loops": [{"name": x.name, "kind": x.motion.word, "first": x.first, "second": x.second} for x in arm.loops],
            "constraints": [{"name": x.name, "kind": x.word, "frames": x.frames, "joints": x.coordinates}
                            for x in arm.tree.constraints],
            "warnings": [{"about": f.about, "names": f.names, "text": f.text} for f in report.warnings],
            "notes": [{"about": f.about, "names": f.names, "text": f.text} for f in report.facts]}
