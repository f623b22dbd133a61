"""The stages of a method as one compiled text, with what drives the inputs, and the loops around it.

A method of `fixed_steps` is compiled as the text of one stage, and `cayley.compiler.iterate` puts the loops over
stages, steps and samples around it. What drives inputs, a control law, is part of that text; so are transitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.array_parts import joined
from cayley.compiler.derivatives.iterated_steps import named_kernel
from cayley.compiler.iterate import Iterated, iterate
from cayley.compiler.solving.loops import scan
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.systems.fixed_steps.protocol import Flow, Point, Stage
from cayley.systems.layout import Record, State

if TYPE_CHECKING:
    from cayley.systems.rollouts.rollout import Rollout


def compiled_steps(rollout: Rollout) -> Iterated:
    """The loops of a rollout."""
    method, watching = rollout.fixed_step, rollout.watching
    carried = method.carried(np.zeros(rollout.size), rollout.system.layout).shape
    shapes: dict[str, tuple[int, ...]] = {
        "x": (rollout.size,), "carried": carried, "held": (rollout.held,), **(watching.shapes if watching else {}),
        "h": (), "row": (len(method.table.columns),), "t": (), **{f"u.{n}": s for n, s in rollout.inputs.items()},
        **{f"p.{n}": s for n, s in rollout.parameters.items()}}
    used = {"carried": carried != (0,), "held": rollout.holds, "t": rollout.timed}
    shapes = {name: shape for name, shape in shapes.items() if used.get(name, True)}
    fed = [name for name in ("x", "carried", "held", "watched") if name in shapes]
    again = ["again"] if watching else []
    results = {**{f"{n}_after": shapes[n] for n in fed}, **{n: () for n in again}}

    def text(given: dict[str, Array]) -> tuple[Scalar, ...]:
        found = _stage(rollout, given)
        return tuple(found[name] for name in (*fed, *again))

    stage = named_kernel(text, shapes, results, f"{rollout.system.name} {rollout.method}", shared=True)
    changing = [*[f"u.{n}" for n in rollout.changing], *(["t"] if rollout.timed else []),
                *(["turn"] if watching else [])]
    return iterate(stage, {n: f"{n}_after" for n in fed}, changing=changing, cycling=["row"],
                   keeping=["x_after", *(["watched_after"] if watching else [])],
                   repeating=("again", watching.most_trials) if watching else None)


def stepped(rollout: Rollout, x: Array, h: Scalar, inputs: Mapping[str, Array],
            parameters: Mapping[str, Array]) -> Array:
    """The vector of a state after one step, as a part of other texts, of a rollout without the time or transitions."""
    given = {"h": h, **{f"u.{n}": a for n, a in inputs.items()}, **{f"p.{n}": a for n, a in parameters.items()}}
    point = joined([x, np.zeros(2)])

    def stage(now: tuple[Array, Array], row: Array) -> tuple[tuple[Array, Array], None]:
        found = _stage(rollout, {**given, "x": now[0], "carried": now[1], "row": row})
        return (found["x"], found["carried"]), None

    method = rollout.fixed_step
    (after, _), _ = scan(stage, (point, method.carried(point, rollout.system.layout)), method.table.numbers)
    return after[:-2]


def _stage(rollout: Rollout, given: Mapping[str, Array]) -> dict[str, Scalar]:
    """The results of a stage by name, of arguments by name."""
    system, method, watching = rollout.system, rollout.fixed_step, rollout.watching
    point = Point.of(given["x"], system.layout)
    row = method.table.row(given["row"])
    p = system.parameter_record({n: given[f"p.{n}"] for n in rollout.parameters})
    since, length = watching.trial(given) if watching else (0.0, given["h"])
    inputs, held = _driven(rollout, given, point, row)
    t = given["t"] + since + row.time * length if rollout.timed else 0.0
    flow = Flow(system, t, p, inputs)
    before = given.get("carried", np.zeros(0))
    after, carried = method.text(Stage(flow, length, row), point, before)
    results = {"x": after.vector(system.layout), "carried": carried, "held": held}
    if watching:
        ended = Flow(system, given["t"] + since + length, p, inputs)
        results |= watching.settled(ended, given, row, point, after, carried, method)
    return results


def _driven(rollout: Rollout, given: Mapping[str, Any], point: Point,
            row: Record) -> tuple[Callable[[Scalar, State], Record], Array | None]:
    """A function of the inputs at a time and a state, and the inputs that are held for the next stage."""
    system, law = rollout.system, rollout.law
    fixed = {n: given[f"u.{n}"] for n in rollout.inputs if n in system.inputs}
    if law is None:
        return (lambda t, x: system.input_record(fixed)), None
    parameters = {n: given[f"u.{n}"] for n in law.parameters}
    if not law.sampled:
        return (lambda t, x: system.input_record({**fixed, law.drives: law.text(t, x, parameters)})), None
    held = law.text(given.get("t", 0.0), point.x, parameters)
    if rollout.holds:
        held = where(row.first, held, given["held"])
    return (lambda t, x: system.input_record({**fixed, law.drives: held})), held
