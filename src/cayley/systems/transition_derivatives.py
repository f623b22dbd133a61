"""Derivatives across transitions: once it is known when they happen, a rollout is one without any.

A run says of each step at which instants it was cut, and what happened there: then a step is a text of fixed length
(`cut_steps`), and is differentiated as any other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.systems.checkpoints import RecordedRun, Run
from cayley.systems.compiled_transitions import STORM, UNLOCATED, Search, Watching
from cayley.systems.ports import Port
from cayley.systems.rollout_derivatives import RolloutDerivatives
from cayley.systems.split_steps import ALONG, HAPPENED, LENGTHS, RATES, CutSteps

if TYPE_CHECKING:
    from cayley.systems.rollouts import Rollout

_AT_ONCE = 2**24  # numbers: what is watched in so many steps is looked at together


class KnownInstants:
    """The derivatives of a rollout with transitions. Of each run the instants are found first."""

    def __init__(self, rollout: Rollout, watching: Watching) -> None:
        self._rollout = rollout
        self._watching = watching
        self._made: dict[int, RolloutDerivatives] = {}
        self._steps: dict[int, CutSteps] = {}

    def __call__(self, run: Run) -> tuple[RolloutDerivatives, Run]:
        """The derivatives of a rollout whose steps are cut as those of this run, and the run of that rollout."""
        cuts = self._cuts(run)
        most = cuts[LENGTHS].shape[-1]
        return (self._cut(most), replace(run, given={**run.given, **cuts})) if most else (self.smooth, run)

    @cached_property
    def smooth(self) -> RolloutDerivatives:
        """The derivatives of the same rollout without transitions."""
        whole = self._rollout
        made = whole.remade(replace(whole.system, transitions=(), timed=True), whole._method, whole.changing)
        return RolloutDerivatives(made)

    def _cut(self, most: int) -> RolloutDerivatives:
        if most not in self._made:
            whole = self._rollout
            hidden = {LENGTHS: Port((most,)), HAPPENED: Port((most,)), ALONG: Port((most, whole.size)),
                      RATES: Port((most,))}
            system = replace(whole.system, transitions=(), inputs={**whole.system.ports, **hidden}, timed=True)
            made = whole.remade(system, self._cut_steps(most).method, (*whole.changing, *hidden))
            self._made[most] = RolloutDerivatives(made, hidden=tuple(hidden))
        return self._made[most]

    def _cut_steps(self, most: int) -> CutSteps:
        if most not in self._steps:
            self._steps[most] = CutSteps(self._rollout.system, self._watching, self.smooth, most)
        return self._steps[most]

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

    def _cuts(self, run: Run) -> dict[str, Array]:
        """(..., steps, most, *) each: the lengths of the stretches of each step that end at an instant, the numbers of
        the transitions there, or -1, how the ends move with the lengths, and how fast the guards go through zero."""
        recording = self._recording
        recorded = RecordedRun(recording, run, remembers=False)
        backend = recording.backend
        points = backend.empty(recorded.batch, (1, recording.size), recorded.precision)
        recording.begin(points[..., 0, :], run.x)
        watched = recording.watched_at_start(points, recorded.times, run.given, run.parameters, run.step)
        found = []
        piece = max(1, _AT_ONCE // max(1, prod(recorded.batch) * (self._watching.size + recording.size)))
        for first in range(0, run.steps, piece):
            last = min(run.steps, first + piece)
            begun = backend.empty(recorded.batch, (last - first + 1, recording.size), recorded.precision)
            begun[..., 0, :] = points[..., -1, :]
            points = begun
            kept: Any = recording.advance(points, 0, last - first, 1, recorded.during(first, last), watched, run.step,
                                          recorded.times[..., first:last + 1], run.threads)
            watched = kept[..., -1, :]
            cuts = self._of_piece(backend.here(kept))
            cuts |= self._rates(recorded, first, last, backend.here(points[..., :-1, :]), cuts)
            found.append(cuts)
        most = max((cuts[LENGTHS].shape[-1] for cuts in found), default=0)
        ends = {LENGTHS: (-1, 0.0), HAPPENED: (-1, -1.0), ALONG: (-2, 0.0), RATES: (-1, 0.0)}
        whole = {name: [_padded(cuts[name], most, *end) for cuts in found] for name, end in ends.items()}
        return {name: np.concatenate(parts, axis=len(recorded.batch)).astype(recorded.precision)
                if parts else np.zeros((*recorded.batch, 0, 0)) for name, parts in whole.items()}

    def _of_piece(self, watched: Array) -> dict[str, Array]:
        fired, trouble = (watched[..., Search._fields.index(word)] for word in ("count", "trouble"))
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

    def _rates(self, recorded: RecordedRun, first: int, last: int, points: Array,
               cuts: dict[str, Array]) -> dict[str, Array]:
        """How ends move with lengths, and how fast guards go through zero, at the steps in which anything happens."""
        most = cuts[LENGTHS].shape[-1]
        some = np.asarray((cuts[HAPPENED] >= 0).any(-1))
        along, rates = np.zeros((*some.shape, most, points.shape[-1])), np.zeros((*some.shape, most))
        if some.any():
            here = self._recording.backend.here
            given = {n: here(a) if hasattr(a, "shape") else a for n, a in recorded.arguments(first, last).items()}
            given |= {"x": points, LENGTHS: cuts[LENGTHS], HAPPENED: cuts[HAPPENED]}
            moving = {"x", "t", LENGTHS, HAPPENED, *[f"u.{n}" for n in self._rollout.changing]}
            cut = self._cut_steps(most)
            arguments = [_at(given[n], some, len(shape), n in moving) for n, shape in cut.shapes.items()]
            along[some], rates[some] = cut.crossings(*arguments, dtype=np.float64)
        return {ALONG: along, RATES: rates}


def _at(array: Array, some: Array, core: int, moving: bool) -> Array:
    """The rows of an argument at some of the steps (..., steps)."""
    array = np.asarray(array)
    shape = array.shape[array.ndim - core:]
    lead = array.shape[:array.ndim - core]
    wide = array if moving else array.reshape((*lead, 1, *shape))
    return np.broadcast_to(wide, (*some.shape, *shape))[some]


def _padded(array: Array, width: int, axis: int, value: float) -> Array:
    shape = list(array.shape)
    shape[axis] = width - shape[axis]
    return np.concatenate([array, np.full(shape, value)], axis=axis)
