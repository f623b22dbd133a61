"""Options for a controller and its gains, shared by several commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cayley.cli.arguments import number_or_each, numbers, option
from cayley.compiler.typing import Array
from cayley.errors import did_you_mean

if TYPE_CHECKING:
    from cayley.control.laws.table import Law
    from cayley.control.targets import Aim
    from cayley.mechanism import Mechanism
    from cayley.systems.system import System

GAINS = ("kp", "kd", "ki")
_SAID = ("ArrayLike", "float", "int", "str", "bool")


Proportional = Annotated[str, option("--kp", "GAIN", "Gain of errors (default: from --frequency).")]
Derivative = Annotated[str, option("--kd", "GAIN", "Gain of rates (default: from --frequency and --damping).")]
Integral = Annotated[str, option("--ki", "GAIN", "Gain of integrals (default: none, unless the controller needs it).")]
Frequency = Annotated[float, typer.Option("--frequency", metavar="RAD/S",
                                          help="Natural frequency for gains that are not given.")]
Damping = Annotated[float, typer.Option("--damping", metavar="RATIO",
                                        help="Damping ratio for gains that are not given.")]
Settings = Annotated[list[str] | None, option(
    "--set", "NAME=VALUE", "Any other argument of the controller, such as wind_up=5, or 'task=1 1 0 0 0 0': the rows "
    "x, y, z and rotations of a frame that are controlled.")]
Limits = Annotated[str, option(
    "--limits", "FORCES", "Maximum forces of the drives (default: those of the file), inf for none.")]


def law_line(arm: Mechanism, name: str) -> Law[...]:
    from cayley.control.arm_control import ArmControl
    from cayley.control.laws.table import law_named
    return law_named(ArmControl, name)


def made_law(arm: Mechanism, name: str, gains: dict[str, str], settings: list[str], frame: str, goal: Array,
          frequency: float, damping: float) -> tuple[System, Aim, dict[str, Any]]:
    """The controller, its aim, and all arguments that it was given."""
    from cayley.control.law_trial import gains_for
    from cayley.control.targets import FrameAim, JointAim
    from cayley.control.task_space.task_error import FrameTask
    line = law_line(arm, name)
    given = _settings(line, name, settings) | {gain: _numbers(text, gain) for gain, text in gains.items() if text}
    if "frame" in line.arguments:
        given.setdefault("frame", frame)
    if "q" in line.arguments:  # a law about an equilibrium
        given.setdefault("q", goal)
    for gain in given:
        _check_known(line, name, gain)
    found_by_frequency = GAINS if {"kp", "kd"} <= line.arguments.keys() else ()
    needs = [argument for argument, about in line.arguments.items()
             if about.default is inspect.Parameter.empty and argument not in (*given, *found_by_frequency)]
    if needs:
        raise typer.BadParameter(f"the controller {name} needs {', '.join(needs)}: add --set {needs[0]}=VALUE",
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
        raise typer.BadParameter(f"the controller {name} has no argument {key!r}"
                                 f"{did_you_mean(key, line.arguments, otherwise=others)}")
    kind = str(line.arguments[key].annotation)
    if not any(word in kind for word in _SAID):
        raise typer.BadParameter(f"the argument {key} of the controller {name} is a {kind}, which cannot be given on "
                                 "the command line: use Python")


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


def limits_given(arm: Mechanism, text: str) -> Array:
    from cayley.dynamics.payload_capacity import effort_limits
    return number_or_each(text, arm.nv, "the limits") if text else effort_limits(arm.tree)


def words_of(chosen: dict[str, Any], payload: float, mismatch: float, rate: float | None, late: int) -> dict[str, str]:
    import numpy as np
    found = {key: value if isinstance(value, str) else np.array2string(np.asarray(value), precision=4)
             for key, value in chosen.items()}
    if payload:
        found["payload, unknown to the controller"] = f"{payload:g} kg"
    if mismatch:
        found["bodies heavier than in the controller's model"] = f"{mismatch:g} %"
    if rate is not None:
        found["sampling"] = f"{rate:g} Hz, delay {late} {'period' if late == 1 else 'periods'}"
    return found
