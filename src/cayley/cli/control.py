"""`cayley control`: try a controller on a robot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli import laws
from cayley.cli.arguments import (
    Frame,
    Json,
    Robot,
    check_moves,
    draw_without_window,
    end_frame,
    load,
    numbers,
    option,
    told,
)
from cayley.cli.terminal import filled, grid, literal, note, output, print_files, working, write_json
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.control.law_trial import Trial
    from cayley.mechanism import Mechanism


def control(
    robot: Robot,
    law: Annotated[str, option(
        "--law", "NAME", "The controller, such as computed-torque; without it all are listed.")] = "",
    target: Annotated[str, option(
        "--target", "Q", "Target configuration (default: 0.3 rad or 0.1 m from the start).")] = "",
    q: Annotated[str, option("--q", "Q", "Start, at rest (default: zero, or mid-range).")] = "",
    kp: laws.Proportional = "", kd: laws.Derivative = "", ki: laws.Integral = "", frequency: laws.Frequency = 10.0,
    damping: laws.Damping = 1.0, settings: laws.Settings = None, frame: Frame = "",
    payload: Annotated[float, typer.Option("--payload", metavar="KG",
                                           help="Load at the frame, unknown to the controller.")] = 0.0,
    mismatch: Annotated[float, typer.Option("--mismatch", metavar="PERCENT",
                                            help="How much heavier the bodies are than in its model.")] = 0.0,
    limits: laws.Limits = "",
    rate: Annotated[float | None, option(
        "--rate", "HZ", "Sampling rate of a digital controller (default: continuous).")] = None,
    late: Annotated[int, typer.Option("--late", min=0, metavar="PERIODS", help="Delay in periods of --rate.")] = 0,
    time: Annotated[float | None, option("--time", "SECONDS", "Duration (default: by the slowest pole).")] = None,
    include: Annotated[str, option(
        "--include", "PARTS", 'Known effects of the drives: "armature", "springs".')] = "",
    page: Annotated[Path | None, option(
        "--report", "FILE", "Write all results as an HTML page, with the robot in 3-D.")] = None,
    json: Json = False,
) -> None:
    """Try a controller on a robot: step response, tracking of a motion, joint forces beside limits, and stability.

    Gains, forces and configurations are numbers between commas or spaces, of gains and forces also one for all; 30deg
    is an angle in degrees. Without gains, those of a natural frequency and damping ratio are taken. Exit code 1 if the
    loop is unstable, or leaves the numbers.

    **Examples**

    ```
    cayley control planar2r --law computed-torque --ki 200 --rate 1000 --late 1 --payload 0.5 --report control.html
    cayley control planar2r --law workspace-pd --set "task=1 1 0 0 0 0" --q "0.2 1" --target "0.6 0.8"
    cayley control planar2r
    ```"""
    arm = load(robot)
    check_moves(arm)
    if not law:
        return _list(arm, json)
    from cayley.control.law_trial import try_law
    model = arm.including(*[part.strip() for part in include.split(",") if part.strip()]) if include else arm
    tip = end_frame(arm, frame) if frame or payload or laws.law_line(model, law).is_of_frame else ""
    start, goal = _ends(model, q, target)
    if page is not None:
        page.parent.mkdir(parents=True, exist_ok=True)  # before the work, which might be for nothing
    with working("building the controller"):
        made, aim, chosen = laws.made_law(model, law, {"kp": kp, "kd": kd, "ki": ki}, settings or [], tip, goal,
                                          frequency, damping)
    plant = _plant(model, payload, mismatch, tip)
    if rate is not None and not 0 < rate < float("inf"):
        raise typer.BadParameter(f"the sampling rate must be positive and finite, not {rate} Hz", param_hint="--rate")
    with working("the step, the motion and the verdict"), told():
        found = try_law(plant, made, aim, start=start, target=goal, limits=laws.limits_given(model, limits),
                        period=None if rate is None else 1.0 / rate, late=late, duration=time)
    files = _written(plant, found, page, laws.words_of(chosen, payload, mismatch, rate, late))
    if json:
        write_json({**_data(arm, law, found, chosen), "files": [str(file) for file in files]})
    else:
        _print(arm, found, chosen, files)
    if not found.finished or (found.verdict is not None and found.verdict.is_stable is False):
        raise typer.Exit(1)


def _list(arm: Mechanism, json: bool) -> None:
    known = arm.control.laws
    if json:
        return write_json({name.replace("_", "-"): {"about": law.about, "arguments": list(law.arguments)}
                           for name, law in known.items()})
    rows = [(name.replace("_", "-"), law.about, ", ".join(word for word in law.arguments if word != "name"))
            for name, law in known.items()]
    output().print(filled(grid("Controllers"), ("--law", "description", "arguments"), rows, left=3))


def _ends(arm: Mechanism, q: str, target: str) -> tuple[Array, Array]:
    """The start and the target: by default a step of each joint, backwards where a limit is in the way."""
    from cayley.control.law_trial import ordinary_step
    from cayley.drawing.skeleton import configurations
    start = numbers(q, arm.nq, "q") if q else configurations(arm.tree, None)[-1]
    return start, numbers(target, arm.nq, "target") if target else ordinary_step(arm.tree, start)


def _plant(model: Mechanism, payload: float, mismatch: float, frame: str) -> Mechanism:
    """The driven plant: heavier and loaded, which the controller does not know."""
    from cayley.mechanism import Mechanism
    if not -100.0 < mismatch < float("inf"):
        raise typer.BadParameter(f"the mismatch must be above -100 % and finite, not {mismatch} %",
                                 param_hint="--mismatch")
    if not 0.0 <= payload < float("inf"):
        raise typer.BadParameter(f"the payload must be zero or more, not {payload} kg", param_hint="--payload")
    plant = model
    if mismatch:
        factor = 1.0 + mismatch / 100.0
        bodies = [body if body.mass is None else replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
                  for body in model.tree.bodies]
        plant = Mechanism(model.tree.with_parts(bodies, model.tree.joints))
    return plant.with_payload(frame, payload) if payload else plant


def _written(plant: Mechanism, found: Trial, page: Path | None, settings: dict[str, str]) -> list[Path]:
    if page is None:
        return []
    draw_without_window()
    from cayley.studio.report import write_control_page
    with working("the page"):
        return [write_control_page(plant, found, page, settings=settings)]


def _data(arm: Mechanism, law: str, found: Trial, chosen: dict[str, Any]) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "robot": arm.name, "law": law.replace("_", "-"), "gains": chosen, "status": found.step.status,
        "errors": [name for name, _ in found.labels], "units": [unit for _, unit in found.labels],
        "responses": [response._asdict() for response in found.responses],
        "tracking_error": abs(found.tracking_error).max(axis=0), "limits": found.limits,
        "greatest_forces": abs(found.step["tau"]).max(axis=0), "offset": found.offset,
        "stability": None if verdict is None else {
            "nature": verdict.nature, "basis": verdict.basis, "scope": verdict.scope,
            "findings": [str(finding) for finding in verdict.findings]},
        "t": found.step.t, "q": found.step["q"], "tau": found.step["tau"]}


def _print(arm: Mechanism, found: Trial, chosen: dict[str, Any], files: list[Path]) -> None:
    from cayley.control.law_trial import force_table, response_table
    console = output()
    verdict = found.verdict
    good = found.finished and verdict is not None and verdict.is_stable
    mark = "[green]✓[/]" if good else "[yellow]![/]"
    console.print(f"{mark} [bold]{literal(arm.name)}[/]: {literal(verdict.sentence if verdict else found.doubt)}")
    if verdict is not None:
        for finding in verdict.findings:
            console.print(literal(f"  {finding}"), style="dim")
    gains = laws.words_of({gain: chosen[gain] for gain in laws.GAINS if gain in chosen}, 0.0, 0.0, None, 0)
    console.print(literal("; ".join(f"{name} = {text}" for name, text in gains.items())), style="dim")
    for words in (response_table(found), force_table(found)):
        console.print(filled(grid(), words.columns, words.rows, left=1), "")
    if found.shares.max() >= 1.0:
        note("drives saturated: the stability result holds for the loop without saturation")
    for run, word in ((found.step, "step"), (found.tracking, "motion")):
        if not run.finished:
            note(f"the {word} was not completed: {run.message or run.status}")
    print_files(files)
