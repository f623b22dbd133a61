"""Derivatives across transitions: once it is known when they happen, a rollout is one without any.

A run says of each step at which instants it was cut, and what happened there. A step is then a text of fixed length: on
to the instant, the jump, on to the next instant, and to the end of the step. The instants move with all else. Where y
is the end of a stretch of length l, and g the guard there,

    dl = -dg / (g_y y_l + g_t)      y moves by y_l dl besides, and what follows begins later by dl
That is one step of Newton's method from the instant that was found: its value is nought, its derivative that of the
instant. With the jump it is the saltation matrix (Hiskens & Pai 2000; Leine & Nijmeijer 2004, 7.3), for the steps that
are made: y_l is the method's. A guard that only touches zero has no such derivative; it becomes infinite or NaN. Of
several transitions at one instant the first says when it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.derivative import independent, slope_along
from cayley.compiler.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import UnsupportedError
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point, Stage, Table
from cayley.systems.layout import Layout, State, as_vector, joined
from cayley.systems.ports import Port
from cayley.systems.record import Record
from cayley.systems.recorded_run import RecordedRun, Run
from cayley.systems.rollout_derivatives import RolloutDerivatives
from cayley.systems.watching import STORM, UNLOCATED, Search, Watching

if TYPE_CHECKING:
    from cayley.systems.rollouts import Rollout

LENGTHS, HAPPENED = "lengths of stretches", "transitions at their ends"
_AT_ONCE = 2**24  # numbers: what is watched in so many steps is looked at together


class KnownInstants:
    """The derivatives of a rollout with transitions. Of each run the instants are found first."""

    def __init__(self, rollout: Rollout, watching: Watching) -> None:
        self._rollout = rollout
        self._watching = watching
        self._made: dict[int, RolloutDerivatives] = {}

    def __call__(self, run: Run) -> tuple[RolloutDerivatives, Run]:
        """The derivatives of a rollout whose steps are cut as those of this run, and the run of that rollout."""
        lengths, happened = self._instants(run)
        most = lengths.shape[-1]
        if not most:
            return self.smooth, run
        return self._cut(most), replace(run, given={**run.given, LENGTHS: lengths, HAPPENED: happened})

    @cached_property
    def smooth(self) -> RolloutDerivatives:
        """Those of the same rollout without transitions."""
        whole = self._rollout
        made = whole.remade(replace(whole.system, transitions=(), timed=True), whole._method, whole.changing)
        return RolloutDerivatives(made)

    def _cut(self, most: int) -> RolloutDerivatives:
        if most not in self._made:
            whole = self._rollout
            ports = {**whole.system.ports, LENGTHS: Port((most,)), HAPPENED: Port((most,))}
            system = replace(whole.system, transitions=(), inputs=ports, timed=True)
            made = whole.remade(system, self._step(most), (*whole.changing, LENGTHS, HAPPENED))
            self._made[most] = RolloutDerivatives(made, hidden=(LENGTHS, HAPPENED))
        return self._made[most]

    # The instants of a run

    @cached_property
    def _recording(self) -> Rollout:
        watching = replace(self._watching, remembered=self._slots, of_step=True)
        whole = self._rollout
        return whole.remade(whole.system, whole._method, whole.changing, watching)

    @property
    def _slots(self) -> int:
        """How many transitions of a step are known: all, if at each instant but one only one happens."""
        return self._watching.instants + len(self._watching.guards)

    def _instants(self, run: Run) -> tuple[Array, Array]:
        """(..., steps, most) each: the lengths of the stretches of each step that end at an instant, and the numbers of
        the transitions there, or -1."""
        recording = self._recording
        recorded = RecordedRun(recording, run, remembers=False)
        points = recording.backend.empty(recorded.batch, (1, recording.size), recorded.precision)
        recording.begin(points[..., 0, :], run.x)
        watched = recording.watched_at_start(points, recorded.times, run.given, run.parameters, run.step)
        found = []
        piece = max(1, _AT_ONCE // max(1, prod(recorded.batch) * (self._watching.size + recording.size)))
        for first in range(0, run.steps, piece):
            last = min(run.steps, first + piece)
            begun = recording.backend.empty(recorded.batch, (last - first + 1, recording.size), recorded.precision)
            begun[..., 0, :] = points[..., -1, :]
            points = begun
            kept: Any = recording.advance(points, 0, last - first, 1, recorded.during(first, last), watched, run.step,
                                          recorded.times[..., first:last + 1], run.threads)
            watched = kept[..., -1, :]
            found.append(self._of_piece(recording.backend.here(kept)))
        most = max((a.shape[-1] for a, _ in found), default=0)
        whole = [np.concatenate([_padded(parts[k], most, -float(k)) for parts in found], axis=-2) if found
                 else np.zeros((*recorded.batch, 0, 0)) for k in range(2)]
        return whole[0].astype(recorded.precision), whole[1].astype(recorded.precision)

    def _of_piece(self, watched: Array) -> tuple[Array, Array]:
        fired, trouble = (watched[..., Search._fields.index(word)] for word in ("count", "trouble"))
        slots = self._slots
        if fired.max(initial=0) > slots:
            raise UnsupportedError(f"{fired.max():.0f} transitions of {self._rollout.system.name} happen in one step, and "
                                   f"{slots} are followed: make the step shorter, or allow more with `events_in_a_step`")
        instants, numbers = watched[..., -2 * slots:-slots], watched[..., -slots:]
        there = np.arange(slots) < fired[..., None]
        lengths = np.diff(np.concatenate([np.zeros((*fired.shape, 1)), instants], axis=-1), axis=-1)
        lengths = np.where(np.isin(trouble, (STORM, UNLOCATED))[..., None], np.nan, np.where(there, lengths, 0.0))
        most = int(fired.max(initial=0))
        return lengths[..., :most], np.where(there, numbers, -1.0)[..., :most]

    # A step that is cut

    def _step(self, most: int) -> FixedStep:
        def text(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
            flow = stage.flow
            u = flow.inputs(point.x)
            vector = point.vector(flow.layout)
            since: Scalar = 0.0
            for k in range(most):
                ends = u[HAPPENED][k] >= 0.0
                length = where(ends, u[LENGTHS][k], stage.h - since)
                at_once = length == 0.0 if k else np.False_
                vector, since = self._stretch(flow.later(since), u, vector, since, length, u[HAPPENED][k], at_once)
            step = self.smooth.step
            vector = step(*self._arguments(vector, stage.h - since, flow.t + since, u, flow.p))
            return Point.of(vector, flow.layout), carried

        return FixedStep(self._rollout.order, Table(first=[True], last=[True], time=[0.0]), _nothing, text)

    def _arguments(self, x: Array, h: Scalar, t: Scalar, u: Record, p: Record) -> list[Any]:
        given = {"x": x, "h": h, "t": t, **{f"u.{n}": u[n] for n in self._rollout.inputs},
                 **{f"p.{n}": p[n] for n in self._rollout.parameters}}
        return [given[name] for name in self.smooth.step.inputs]

    def _stretch(self, flow: Flow, u: Record, vector: Array, since: Scalar, length: Scalar, happened: Scalar,
                 at_once: Scalar) -> tuple[Array, Scalar]:
        """Where a stretch leads, with what happens at its end, and when that is: `at_once` with what was before."""
        system = self._rollout.system
        arguments = self._arguments(vector, length, flow.t, u, flow.p)
        end = self.smooth.step(*arguments)
        along = self.smooth.step.jvp("h")(*arguments, 1.0)
        later = flow.later(length)
        own = system.input_record({name: u[name] for name in system.inputs})
        misses = self._misses(later, own, Point.of(end, flow.layout).x, Point.of(along, flow.layout).x)
        late: Scalar = 0.0
        for k, miss in enumerate(misses):
            late = where(np.logical_and(happened == float(k), np.logical_not(at_once)), miss, late)
        end = end + late * along
        arrived = Point.of(end, flow.layout)
        now = replace(later.later(late), driven=lambda t, x: own)
        for k, transition in enumerate(system.transitions):
            jumped = system.jumped(transition, now.t, arrived.x, own, flow.p)
            after = Point(jumped, self._watching.booked(now, arrived, jumped), arrived.defect).vector(flow.layout)
            end = where(happened == float(k), after, end)
        return end, since + length + late

    def _misses(self, flow: Flow, u: Record, x: State, along: State) -> list[Scalar]:
        """By how much later than `flow` says each guard is zero."""
        blocks = flow.layout.blocks
        here = x.replaced({name: independent(x[name]) for name in blocks})
        now = independent(flow.t)
        variables = joined([np.stack([now]), *[as_vector(here[name]) for name in blocks]])
        rates = joined([np.ones(1), *[as_vector(along[name]) for name in blocks]])
        found = []
        for transition in self._rollout.system.transitions:
            value = transition.guard(now, here, u, flow.p)
            found.append(-value / slope_along(np.stack([value]), variables, rates)[0])
        return found


def _nothing(points: Array, layout: Layout) -> Array:
    return points[..., :0]


def _padded(array: Array, width: int, value: float) -> Array:
    more = np.full((*array.shape[:-1], width - array.shape[-1]), value)
    return np.concatenate([array, more], axis=-1)
