"""Derivatives across transitions: once it is known when they happen, a rollout is one without any.

A run says of each step at which instants it was cut, and what happened there. Then a step is a text of fixed length,
on to the instant, the jump, on to the next instant, and to the end of the step, and is differentiated as any other. The
instants move with all else. Where y is the end of a stretch of length l, and g the guard there,

    dl = -dg / (g_y y_l + g_t)      y moves by y_l dl besides, and what follows begins later by dl
That is one step of Newton's method from the instant that was found: its value is nought, its derivative that of the
instant. With the jump it is the saltation matrix (Hiskens & Pai 2000; Leine & Nijmeijer 2004, 7.3), for the steps that
are made: y_l is the method's. It and the rate of the guard are found beforehand, as numbers. A guard that only touches
zero has no such derivative; it becomes infinite or NaN. Of several transitions at one instant the first says when that
is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.array_parts import padded
from cayley.compiler.derivatives.iterated_steps import named_kernel
from cayley.compiler.kernel import Kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import UnsupportedError
from cayley.systems.fixed_steps.protocol import ONE_STAGE, FixedStep, Flow, Point, Stage, nothing
from cayley.systems.layout import Record, State
from cayley.systems.ports import Port
from cayley.systems.rollouts.derivatives import RolloutDerivatives
from cayley.systems.rollouts.located_transitions import STORM, UNLOCATED, InstantSearch, Watching
from cayley.systems.rollouts.runs import Run
from cayley.systems.system import System
from cayley.systems.text_kernels import text_arguments

if TYPE_CHECKING:
    from cayley.systems.rollouts.rollout import Rollout

LENGTHS, HAPPENED = "lengths of stretches", "transitions at their ends"
ALONG, RATES = "ends by their lengths", "rates of guards there"


class CutSteps:
    """Steps of a system with transitions, of which at most `most` happen in one; `smooth` has the step without any."""

    def __init__(self, system: System, watching: Watching, smooth: RolloutDerivatives, most: int) -> None:
        self._system = system
        self._watching = watching
        self._smooth = smooth
        self._most = most

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the arguments of `crossings`."""
        return {**self._smooth.arguments, LENGTHS: (self._most,), HAPPENED: (self._most,)}

    @cached_property
    def crossings(self) -> Kernel:
        """The slope of the end of each stretch of a step by its length, and the rate at which the guard then goes
        through zero.
        """
        results = {"along": (self._most, self._smooth.rollout.size), "rates": (self._most,)}
        return named_kernel(self._crossings_text, self.shapes, results, f"{self._system.name} crossings")

    def _crossings_text(self, given: dict[str, Array]) -> tuple[Array, Array]:
        system = self._system
        t, _, u, p = text_arguments(system, given | {"x": given["x"][:system.layout.size]})
        flow = Flow(system, t, p, lambda t, x: u)
        vector: Array = given["x"]
        since: Scalar = 0.0
        found: list[Array] = []
        rates: list[Scalar] = []
        for length, happened in zip(given[LENGTHS], given[HAPPENED], strict=True):
            own = self._arguments(vector, length, flow.t + since, u, p)
            vector = self._smooth.step(*own)
            found.append(self._smooth.step.jvp("h")(*own, 1.0))
            since = since + length
            then = flow.later(since)
            slopes = self._watching.guards.slopes(then, Point.of(vector, flow.layout).x, u,
                                                  found[-1][:flow.layout.smooth])
            rates.append(_chosen(happened, list(slopes)))
            vector = self._jumped(then, u, vector, happened)
        return np.stack(found), np.stack(rates)

    @property
    def method(self) -> FixedStep:
        """The cut step, as a method of one stage; what is known of its instants is among its inputs."""
        def text(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
            flow = stage.flow
            u = flow.inputs(point.x)
            vector = point.vector(flow.layout)
            since: Scalar = 0.0
            for k in range(self._most):
                happened = u[HAPPENED][k]
                length = where(happened >= 0.0, u[LENGTHS][k], stage.h - since)
                end = self._smooth.step(*self._arguments(vector, length, flow.t + since, u, flow.p))
                since = since + length
                late = self._late(flow.later(since), u, Point.of(end, flow.layout).x, k)
                since = since + late
                vector = self._jumped(flow.later(since), u, end + late * u[ALONG][k], happened)
            last = self._arguments(vector, stage.h - since, flow.t + since, u, flow.p)
            return Point.of(self._smooth.step(*last), flow.layout), carried

        return FixedStep(self._smooth.rollout.order, ONE_STAGE, nothing, text)

    def _arguments(self, x: Array, h: Scalar, t: Scalar, u: Record, p: Record) -> list[Any]:
        given = {"x": x, "h": h, "t": t, **{f"u.{n}": u[n] for n in self._smooth.rollout.inputs},
                 **{f"p.{n}": p[n] for n in self._smooth.rollout.parameters}}
        return [given[name] for name in self._smooth.step.inputs]

    def _late(self, flow: Flow, u: Record, x: State, k: int) -> Scalar:
        """The delay after `flow` at which the guard of a stretch is zero; its value is nought, or nearly."""
        guards = [transition.guard(flow.t, x, u, flow.p) for transition in self._system.transitions]
        own = u[HAPPENED][k] >= 0.0
        if k:  # at once with what was before
            own = np.logical_and(own, u[LENGTHS][k] > 0.0)
        return where(own, -_chosen(u[HAPPENED][k], guards) / u[RATES][k], 0.0)

    def _jumped(self, flow: Flow, u: Record, vector: Array, happened: Scalar) -> Array:
        """The point after a transition; the same, if none happened."""
        system = self._system
        arrived = Point.of(vector, flow.layout)
        now = replace(flow, driven=lambda t, x: u)
        for k, transition in enumerate(system.transitions):
            jumped = system.jumped(transition, now.t, arrived.x, u, flow.p)
            after = Point(jumped, self._watching.booked(now, arrived, jumped), arrived.defect)
            vector = where(happened == float(k), after.vector(flow.layout), vector)
        return vector


def _chosen(happened: Scalar, values: Sequence[Scalar]) -> Scalar:
    """The value of the transition that happened; 0 if none did."""
    found: Scalar = 0.0
    for k, value in enumerate(values):
        found = where(happened == float(k), value, found)
    return found


_AT_ONCE = 2**24  # numbers: what is watched in so many steps is looked at together


class TransitionDerivatives:
    """The derivatives of a rollout with transitions. Of each run the instants are found first."""

    def __init__(self, rollout: Rollout, watching: Watching) -> None:
        self._rollout = rollout
        self._watching = watching

    def __call__(self, run: Run) -> tuple[RolloutDerivatives, Run]:
        """The derivatives of a rollout whose steps are cut as those of this run, and the run of that rollout."""
        cuts = self._cuts(run)
        most = cuts[LENGTHS].shape[-1]
        found = self._cut(most) if most else self.smooth
        return found, replace(run, rollout=found.rollout, given={**run.given, **cuts} if most else run.given)

    @cached_property
    def smooth(self) -> RolloutDerivatives:
        """The derivatives of the same rollout without transitions."""
        whole = self._rollout
        made = whole.remade(replace(whole.system, transitions=(), timed=True), whole.fixed_step, whole.changing)
        return RolloutDerivatives(made)

    @kept_with_owner
    def _cut(self, most: int) -> RolloutDerivatives:
        whole = self._rollout
        hidden = {LENGTHS: Port((most,)), HAPPENED: Port((most,)), ALONG: Port((most, whole.size)),
                  RATES: Port((most,))}
        system = replace(whole.system, transitions=(), inputs={**whole.system.ports, **hidden}, timed=True)
        made = whole.remade(system, self._cut_steps(most).method, (*whole.changing, *hidden))
        return RolloutDerivatives(made, hidden=tuple(hidden))

    @kept_with_owner
    def _cut_steps(self, most: int) -> CutSteps:
        return CutSteps(self._rollout.system, self._watching, self.smooth, most)

    # The instants of a run

    @cached_property
    def _recording(self) -> Rollout:
        watching = replace(self._watching, remembered=self._slots, of_step=True)
        whole = self._rollout
        return whole.remade(whole.system, whole.fixed_step, whole.changing, watching)

    @property
    def _slots(self) -> int:
        """The number of known transitions of a step: all, if at each instant but one only one happens."""
        return self._watching.instants + len(self._watching.guards)

    def _cuts(self, run: Run) -> dict[str, Array]:
        """(..., steps, most, *) each: the lengths of the stretches of each step that end at an instant, the numbers of
        the transitions there, or -1, how the ends move with the lengths, and how fast the guards go through zero."""
        recording = self._recording
        run = replace(run, rollout=recording)
        points = run.empty(1, recording.size)
        recording.begin(points[..., 0, :], run.x)
        watched = recording.watched_at_start(run, points)
        found = []
        piece = max(1, _AT_ONCE // max(1, prod(run.batch) * (self._watching.size + recording.size)))
        for first in range(0, run.steps, piece):
            last = min(run.steps, first + piece)
            begun = run.empty(last - first + 1, recording.size)
            begun[..., 0, :] = points[..., -1, :]
            points = begun
            kept: Any = recording.advance(run, points, first, 1, watched)
            watched = kept[..., -1, :]
            cuts = self._of_piece(recording.backend.here(kept))
            cuts |= self._rates(run, first, last, recording.backend.here(points[..., :-1, :]), cuts)
            found.append(cuts)
        most = max((cuts[LENGTHS].shape[-1] for cuts in found), default=0)
        ends = {LENGTHS: (-1, 0.0), HAPPENED: (-1, -1.0), ALONG: (-2, 0.0), RATES: (-1, 0.0)}
        whole = {name: [padded(cuts[name], most, *end) for cuts in found] for name, end in ends.items()}
        return {name: np.concatenate(parts, axis=len(run.batch)).astype(run.precision)
                if parts else np.zeros((*run.batch, 0, 0)) for name, parts in whole.items()}

    def _of_piece(self, watched: Array) -> dict[str, Array]:
        fired, trouble = (watched[..., InstantSearch._fields.index(word)] for word in ("count", "trouble"))
        slots = self._slots
        most = int(fired.max(initial=0))
        if most > slots:
            raise UnsupportedError(f"{most} transitions of {self._rollout.system.name} happen in one step, and {slots} "
                                   "are followed: make the step shorter, or allow more with `events_in_a_step`")
        instants, numbers = watched[..., -2 * slots:-slots], watched[..., -slots:]
        there = np.arange(slots) < fired[..., None]
        lengths = np.diff(np.concatenate([np.zeros((*fired.shape, 1)), instants], axis=-1), axis=-1)
        lengths = np.where(np.isin(trouble, (STORM, UNLOCATED))[..., None], np.nan, np.where(there, lengths, 0.0))
        return {LENGTHS: lengths[..., :most], HAPPENED: np.where(there, numbers, -1.0)[..., :most]}

    def _rates(self, run: Run, first: int, last: int, points: Array, cuts: dict[str, Array]) -> dict[str, Array]:
        """The slopes of ends by lengths, and the rates at which guards go through zero, at the steps in which anything
        happens."""
        most = cuts[LENGTHS].shape[-1]
        some = np.asarray((cuts[HAPPENED] >= 0).any(-1))
        along, rates = np.zeros((*some.shape, most, points.shape[-1])), np.zeros((*some.shape, most))
        if some.any():
            here = self._recording.backend.here
            given = {n: here(a) if hasattr(a, "shape") else a for n, a in run.during(first, last).items()}
            given |= {"x": points, LENGTHS: cuts[LENGTHS], HAPPENED: cuts[HAPPENED]}
            moving = {"x", "t", LENGTHS, HAPPENED, *[f"u.{n}" for n in self._rollout.changing]}
            cut = self._cut_steps(most)
            arguments = [_at(given[n], some, len(shape), n in moving) for n, shape in cut.shapes.items()]
            along[some], rates[some] = cut.crossings(*arguments, dtype=np.float64)
        return {ALONG: along, RATES: rates}


def _at(array: Array, some: Array, core: int, moving: bool) -> Array:
    """The rows of an argument at some of the steps (..., steps)."""
    array = np.asarray(array)
    wide = array if moving else np.expand_dims(array, array.ndim - core)
    return np.broadcast_to(wide, (*some.shape, *array.shape[array.ndim - core:]))[some]
