"""`cayley control`: try a law on a robot."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import Frame, Json, Robot, check_moves, end_frame, load, numbers
from cayley.cli.tables import grid
from cayley.cli.terminal import literal, note, output, unstyled, working, write_json
from cayley.compiler.typing import Array
from cayley.wording import did_you_mean

if TYPE_CHECKING:
    from cayley.control.aims import Aim
    from cayley.control.laws import Law
    from cayley.control.trial import Trial
    from cayley.mechanism import Mechanism
    from cayley.systems.system import System

_GAINS = ("kp", "kd", "ki")
_SAID = ("ArrayLike", "float", "int", "str", "bool")
_TURN = 0.3  # of a step to be tried: rad
_SLIDE = 0.1  # m


def _gain(name: str, words: str) -> Any:  # noqa: ANN401 (the declaration of an option)
    return typer.Option(f"--{name}", metavar="GAIN", show_default=False, help=words)


def control(
    robot: Robot,
    law: Annotated[str, typer.Option("--law", metavar="NAME", show_default=False,
                                     help="The law, as computed-torque; all of them are listed if not said.")] = "",
    target: Annotated[str, typer.Option("--target", metavar="Q", show_default=False,
                                        help="Where to go; 0.3 rad or 0.1 m further in each joint if not said.")] = "",
    q: Annotated[str, typer.Option("--q", metavar="Q", show_default=False,
                                   help="Where it starts, at rest; zero, or mid-range, if not said.")] = "",
    kp: Annotated[str, _gain("kp", "Of errors; by --frequency if not said.")] = "",
    kd: Annotated[str, _gain("kd", "Of rates; by --frequency and --damping if not said.")] = "",
    ki: Annotated[str, _gain("ki", "Of integrals; none if not said, unless the law needs it.")] = "",
    frequency: Annotated[float, typer.Option("--frequency", metavar="RAD/S",
                                             help="For gains that are not given: the natural frequency.")] = 10.0,
    damping: Annotated[float, typer.Option("--damping", metavar="RATIO",
                                           help="For gains that are not given: the damping ratio.")] = 1.0,
    settings: Annotated[list[str] | None,
                        typer.Option("--set", metavar="NAME=VALUE", show_default=False,
                                     help="Any other argument of the law, as wind_up=5, or 'task=1 1 0 0 0 0': the "
                                     "rows x, y, z and turns of a frame that count.")] = None,
    frame: Frame = "",
    payload: Annotated[float, typer.Option("--payload", metavar="KG",
                                           help="At the frame, unknown to the law.")] = 0.0,
    mismatch: Annotated[float, typer.Option("--mismatch", metavar="PERCENT",
                                            help="How much heavier the bodies are than the law knows.")] = 0.0,
    limits: Annotated[str, typer.Option("--limits", metavar="FORCES", show_default=False,
                                        help="What drives can give; those of the file if not said; inf: none.")] = "",
    rate: Annotated[float | None, typer.Option("--rate", metavar="HZ", show_default=False,
                                               help="A digital law, that looks so often; continuous if not said.")
                    ] = None,
    late: Annotated[int, typer.Option("--late", min=0, metavar="PERIODS",
                                      help="How many periods of --rate later it acts.")] = 0,
    time: Annotated[float | None, typer.Option("--time", metavar="SECONDS", show_default=False,
                                               help="How long; as the slowest pole needs if not said.")] = None,
    include: Annotated[str, typer.Option("--include", metavar="PARTS", show_default=False,
                                         help='Of the drives, known to the law: "armature", "springs".')] = "",
    page: Annotated[Path | None, typer.Option("--report", metavar="FILE", show_default=False,
                                              help="All of it as a page of HTML, with the robot in 3-D.")] = None,
    json: Json = False,
) -> None:
    """Try a law on a robot: a step to a target and a motion to it, forces beside limits, and whether it is stable.

    Gains, forces and configurations are numbers between commas or spaces, of gains and forces also one for all; 30deg
    is an angle in degrees. Without gains, those of a natural frequency and damping ratio are taken. Exit code 1 if the
    loop is unstable, or leaves the numbers.

    **Examples**

    ```
    cayley control planar2r --law computed-torque --ki 200 --rate 1000 --late 1 --payload 0.5 --report control.html
    cayley control planar2r --law workspace-pd --set "task=1 1 0 0 0 0" --q "0.2 1" --target "0.6 0.8"
    cayley control planar2r
    ```
    """
    arm = load(robot)
    check_moves(arm)
    if not law:
        return _list(arm, json)
    from cayley.control.trial import try_law
    from cayley.model.constraints import check_independent
    check_independent(arm.tree, "the trial of a law")
    model = arm.including(*[part.strip() for part in include.split(",") if part.strip()]) if include else arm
    tip = end_frame(arm, frame) if frame or payload or _law(model, law).is_of_frame else ""
    start, goal = _ends(model, q, target)
    if page is not None:
        page.parent.mkdir(parents=True, exist_ok=True)  # before the work, which might be for nothing
    with working("making the law"):
        made, aim, chosen = _made(model, law, {"kp": kp, "kd": kd, "ki": ki}, settings or [], tip, goal, frequency,
                                  damping)
    plant = _plant(model, payload, mismatch, tip)
    if rate is not None and not 0 < rate < float("inf"):
        raise typer.BadParameter(f"{rate} Hz is no rate to look at", param_hint="--rate")
    with working("the step, the motion and the verdict"):
        found = try_law(plant, made, aim, start=start, target=goal, limits=_limits(model, limits),
                        period=None if rate is None else 1.0 / rate, late=late, duration=time)
    files = _written(plant, found, page, _words(chosen, payload, mismatch, rate, late))
    if json:
        write_json({**_data(arm, law, found, chosen), "files": [str(file) for file in files]})
    else:
        _print(arm, found, chosen, files)
    if not found.finished or (found.verdict is not None and found.verdict.is_stable is False):
        raise typer.Exit(1)


def _law(arm: Mechanism, name: str) -> Law[...]:
    from cayley.control.arm_control import ArmControl
    from cayley.control.laws import law_named
    return law_named(ArmControl, name)


def _list(arm: Mechanism, json: bool) -> None:
    laws = arm.control.laws
    if json:
        return write_json({name.replace("_", "-"): {"about": law.about, "arguments": list(law.arguments)}
                           for name, law in laws.items()})
    table = grid("Laws")
    for heading in ("--law", "what it is", "what it can be given"):
        table.add_column(heading)
    for name, law in laws.items():
        given = ", ".join(word for word in law.arguments if word != "name")
        table.add_row(*map(unstyled, (name.replace("_", "-"), law.about, given)))
    output().print(table)


def _ends(arm: Mechanism, q: str, target: str) -> tuple[Array, Array]:
    """The start and the target; a step of each joint, the other way where the way there ends."""
    import numpy as np

    from cayley.drawing.skeleton import configurations
    from cayley.model.coordinate_labels import coordinate_labels
    start = numbers(q, arm.nq, "q") if q else configurations(arm.tree, None)[-1]
    if target:
        return start, numbers(target, arm.nq, "target")
    step = np.array([_TURN if unit == "rad" else _SLIDE for _, unit in coordinate_labels(arm.tree)])
    return start, start + np.where(start + step <= arm.tree.upper, step, -step)


def _made(arm: Mechanism, name: str, gains: dict[str, str], settings: list[str], frame: str, goal: Array,
          frequency: float, damping: float) -> tuple[System, Aim, dict[str, Any]]:
    """The law, what it aims at, and all that it was given."""
    from cayley.control.aims import FrameAim, JointAim
    from cayley.control.gain_choice import gains_for
    from cayley.control.task_error import FrameTask
    line = _law(arm, name)
    given = _settings(line, name, settings) | {gain: _numbers(text, gain) for gain, text in gains.items() if text}
    if "frame" in line.arguments:
        given.setdefault("frame", frame)
    if "q" in line.arguments:  # a law about an equilibrium
        given.setdefault("q", goal)
    for gain in given:
        _check_known(line, name, gain)
    found_by_frequency = _GAINS if {"kp", "kd"} <= line.arguments.keys() else ()
    needs = [argument for argument, about in line.arguments.items()
             if about.default is inspect.Parameter.empty and argument not in (*given, *found_by_frequency)]
    if needs:
        raise typer.BadParameter(f"the law {name} needs {', '.join(needs)}: say --set {needs[0]}=VALUE",
                                 param_hint="--set")
    aim: Aim = JointAim(arm.tree)
    if line.is_of_frame:
        aim = FrameAim(FrameTask.of(arm.tree, given["frame"], given.get("task", "pose"), f"the law {name}"))
    wanted = [gain for gain in found_by_frequency if gain in line.arguments and gain not in given
              and (gain != "ki" or line.arguments["ki"].default is inspect.Parameter.empty)]
    make: Callable[..., System] = arm.control.law(name)
    if wanted:
        others = given | ({"ki": 1.0} if "ki" in wanted else {})
        found = gains_for(lambda probed: make(**(others | probed)), arm.system(), aim, goal, frequency=frequency,
                          damping_ratio=damping)
        given |= {gain: found[gain] for gain in wanted}
    return make(**given), aim, given


def _settings(line: Law[...], name: str, settings: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            raise typer.BadParameter(f"{setting!r} is not NAME=VALUE", param_hint="--set")
        _check_known(line, name, key)
        found[key] = _value(key, value.strip())
    return found


def _check_known(line: Law[...], name: str, key: str) -> None:
    if key not in line.arguments:
        others = f": it has {', '.join(line.arguments)}"
        raise typer.BadParameter(f"the law {name} has no {key!r}{did_you_mean(key, line.arguments, otherwise=others)}")
    kind = str(line.arguments[key].annotation)
    if not any(word in kind for word in _SAID):
        raise typer.BadParameter(f"the {key} of the law {name} is a {kind}, which is not said in a word: try this law "
                                 "from Python")


def _value(key: str, text: str) -> Any:  # noqa: ANN401 (whatever a law takes)
    """A number, numbers, or words."""
    words = text.replace(",", " ").split()
    try:
        found = [float(word.lower().removesuffix("deg")) for word in words]
    except ValueError:
        return words if "," in text else text
    if key == "task":
        return [bool(x) for x in found]
    return _numbers(text, key)


def _numbers(text: str, what: str) -> Any:  # noqa: ANN401 (one for all, or an array)
    words = text.replace(",", " ").split()
    found = numbers(text, len(words), what)
    return float(found[0]) if len(found) == 1 else found


def _plant(model: Mechanism, payload: float, mismatch: float, frame: str) -> Mechanism:
    """What is driven: heavier and loaded, as the law does not know."""
    from cayley.mechanism import Mechanism
    if not -100.0 < mismatch < float("inf"):
        raise typer.BadParameter(f"bodies cannot be heavier by {mismatch} %", param_hint="--mismatch")
    if not 0.0 <= payload < float("inf"):
        raise typer.BadParameter(f"{payload} kg is no payload", param_hint="--payload")
    plant = model
    if mismatch:
        factor = 1.0 + mismatch / 100.0
        bodies = [body if body.mass is None else replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
                  for body in model.tree.bodies]
        plant = Mechanism(model.tree.with_parts(bodies, model.tree.joints))
    return plant.with_payload(frame, payload) if payload else plant


def _limits(arm: Mechanism, text: str) -> Array:
    import numpy as np

    from cayley.planning import MotionLimits
    if not text:
        said = np.array(np.broadcast_to(MotionLimits.of(arm).effort, (arm.nv,)), dtype=float)
        return np.where(said > 0, said, np.inf)
    words = text.replace(",", " ").split()
    if len(words) not in (1, arm.nv):
        raise typer.BadParameter(f"the limits are one number, or {arm.nv} of them; {len(words)} found",
                                 param_hint="--limits")
    found = [np.inf if word == "inf" else numbers(word, 1, "the limits")[0] for word in words]
    return np.array(found * (arm.nv // len(found)))


def _words(chosen: dict[str, Any], payload: float, mismatch: float, rate: float | None, late: int) -> dict[str, str]:
    import numpy as np
    found = {key: value if isinstance(value, str) else np.array2string(np.asarray(value), precision=4)
             for key, value in chosen.items()}
    if payload:
        found["payload, unknown to the law"] = f"{payload:g} kg"
    if mismatch:
        found["bodies heavier than the law knows"] = f"{mismatch:g} %"
    if rate is not None:
        found["looks"] = f"{rate:g} Hz, acting {late} {'period' if late == 1 else 'periods'} late"
    return found


def _written(plant: Mechanism, found: Trial, page: Path | None, settings: dict[str, str]) -> list[Path]:
    if page is None:
        return []
    import matplotlib
    matplotlib.use("Agg")
    from cayley.studio.control_page import write_control_page
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
    from cayley.control.trial_tables import force_table, response_table
    console = output()
    verdict = found.verdict
    good = found.finished and verdict is not None and verdict.is_stable
    mark = "[green]✓[/]" if good else "[yellow]![/]"
    console.print(f"{mark} [bold]{literal(arm.name)}[/]: {literal(verdict.sentence if verdict else found.doubt)}")
    if verdict is not None:
        for finding in verdict.findings:
            console.print(literal(f"  {finding}"), style="dim")
    gains = _words({gain: chosen[gain] for gain in _GAINS if gain in chosen}, 0.0, 0.0, None, 0)
    console.print(literal("; ".join(f"{name} = {text}" for name, text in gains.items())), style="dim")
    for words in (response_table(found), force_table(found)):
        table = grid()
        for k, heading in enumerate(words.columns):
            table.add_column(unstyled(heading), justify="right" if k else "left")
        for row in words.rows:
            table.add_row(*map(unstyled, row))
        console.print(table)
        console.print()
    if found.shares.max() >= 1.0:
        note("drives were at their limits: the verdict is of the loop within them")
    for run, word in ((found.step, "step"), (found.tracking, "motion")):
        if not run.finished:
            note(f"the {word} did not end well: {run.message or run.status}")
    for file in files:
        console.print(literal(f"Written: {file}"), soft_wrap=True)
