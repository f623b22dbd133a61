"""The trajectories that rollouts return: how they ended, in a word and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import warn_user
from cayley.systems.adaptive.driving import Driving
from cayley.systems.adaptive.moving_system import MovingSystem
from cayley.systems.trajectory import Trajectory

if TYPE_CHECKING:
    from cayley.systems.rollouts.runs import Run

CONVERGED = 1e-8  # of the state: what the last correction of an iterated step may be


def trajectory_of(run: Run, points: Array, watched: Array | None) -> Trajectory:
    """The trajectory of a run with the points (..., samples + 1, size + 2), and the last state of what was watched."""
    rollout = run.rollout
    system = rollout.system
    times = run.times[..., ::run.every]
    inputs = _at_samples(run)
    status, message = _outcome(run, points, inputs)
    log = None
    if watched is not None and rollout.watching is not None:
        log = rollout.watching.log(watched)
        status, message = rollout.watching.outcome(watched, status, message)
    facts = {"method": rollout.method, "order": rollout.order, "step": np.asarray(run.step).tolist(),
             "every": run.every, "precision": str(points.dtype), "evaluations a step": rollout.evaluations}
    mechanism = rollout.calls.mechanism
    if mechanism is not None:
        status, message = mechanism.outcome(times, points[..., system.layout.places["q"]], status, message)
        acted = [name for name in rollout.inputs if name.startswith(("wrench_", "inertia_", "base_"))]
        facts |= {"acted": ", ".join(acted)} if acted else {}
    return Trajectory(system, times, points[..., :-2], points[..., -2],
                      rollout.calls.shown(rollout, times, points[..., :-2], inputs), run.parameters, status, message,
                      log=log, facts=facts, mechanism=mechanism)


def _at_samples(run: Run) -> dict[str, Array]:
    """The inputs (..., samples + 1, *shape) of the whole batch that hold at the samples."""
    samples = run.samples + 1
    steps = np.minimum(np.arange(samples) * run.every, run.steps - 1)
    return {name: np.broadcast_to(run.at(steps, name, shape), (*run.batch, samples, *shape))
            for name, shape in run.rollout.inputs.items()}


def _outcome(run: Run, points: Array, inputs: Mapping[str, Array]) -> tuple[str, str]:
    """The outcome: a word, and a sentence. Who does not ask is warned where there are no numbers."""
    rollout = run.rollout
    end = points[..., -1, :]
    if not np.isfinite(end).all():  # what is no number stays none: the last state tells
        fine = np.asarray(np.isfinite(points).all(-1))
        bad = np.argwhere(~fine.all(-1))
        place = tuple(bad[0])
        before = max(int(np.argmin(fine[place])) - 1, 0)
        t = np.broadcast_to(run.times[..., ::run.every], fine.shape)[place][before]
        which = f" {place[0] if len(place) == 1 else tuple(map(int, place))}" if place else ""
        said = (f"{len(bad)} of {fine[..., 0].size} trajectories left the numbers, the first{which} after t = {t:.6g}, "
                f"step {before * run.every}: {_reason(run, points, inputs, place, before)}")
        warn_user(f"rollout of {rollout.system.name}: {said}; the status of the run says so, too", RuntimeWarning)
        return "not finite", said
    layout = rollout.system.layout
    defect = end[..., -1]
    if any(part.is_coupled for part in rollout.system.holds) and defect.max(initial=0.0) > 0:
        return "not converged", (
            f"a step violated the law of contacts and dry friction by {defect.max():.2g} m/s or rad/s, in "
            f"{np.count_nonzero(defect > 0)} of {defect.size} trajectories: make the step smaller, or allow more "
            "sweeps if `iterations` limits them")
    size = max([1.0, *[np.abs(end[..., layout.places[name]]).max(initial=1.0) for name in layout.unmoved]])
    if defect.size and defect.max() > max(CONVERGED, 100 * np.finfo(points.dtype).eps) * size:
        return "not converged", (
            f"the last correction of a step was {defect.max():.2g}: the step is too large for {rollout.evaluations} "
            "iterations; make it smaller, or allow more iterations")
    return "finished", "all steps were made"


def _reason(run: Run, points: Array, inputs: Mapping[str, Array], place: tuple[int, ...], sample: int) -> str:
    """Why there are no numbers after a sample: by its state in the modes that it then came to."""
    wrong = [n for n, a in {**run.given, **run.parameters}.items() if not np.isfinite(a).all()]
    if wrong:
        return f"the input {wrong[0]} is not finite"
    system = run.rollout.system
    before, after = points[place][sample:sample + 2]
    point = np.concatenate([before[:system.layout.smooth], after[system.layout.smooth:-2]])
    why = system.explain(system.layout.state(point)) if system.explain is not None else None
    return why or _undefined(run, points, inputs, place, sample) or (
        'the step is too large (stiff springs take the method "gauss"), or leads to where the derivative is singular')


def _undefined(run: Run, points: Array, inputs: Mapping[str, Array], place: tuple[int, ...], sample: int) -> str:
    """The outputs that are no numbers at a sample, or about the next one, in words."""
    rollout = run.rollout
    if rollout.law is not None:
        return ""
    batch, samples = points.shape[:-2], points.shape[-2]

    def own(values: Array, *core: int) -> Array:
        return np.asarray(np.broadcast_to(values, (*batch, *core))[place], dtype=float)

    given = {n: np.asarray(values[place][sample], dtype=float) for n, values in inputs.items()}
    smooth = rollout.system.layout.smooth
    x = np.asarray(points[place][sample][:-2], dtype=float)
    parameters = {n: own(a, *rollout.parameters[n]) for n, a in run.parameters.items()}
    moving = MovingSystem(Driving(rollout.system, given, parameters), x[smooth:])
    t, later = own(run.times[..., ::run.every], samples)[[sample, min(sample + 1, samples - 1)]]
    ahead = x[:smooth] + (later - t) * moving.free(t, x[:smooth])[:-1]
    whys = (moving.without_value(instant, state) for instant, state in ((t, x), (later, ahead)))
    return next(filter(None, whys), "")
