"""Runs of a rollout: its arguments, and the states that the way back needs.

States of some steps fit into memory. Where there are more, states are kept some steps apart, about the root of their
number, and what lies between is computed again when it is needed (Griewank & Walther, Evaluating Derivatives, 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.precision import computed_in
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, SignatureError, shown

if TYPE_CHECKING:
    from cayley.systems.rollouts.rollout import Rollout

REMEMBERED = 2**26  # numbers: the states of so many steps are kept, and nothing is computed twice
MOST_STEPS = 2**31 - 1  # of one rollout
NEAR = 2**16  # numbers that are handed from one call to the next


@dataclass(frozen=True)
class Run:
    """The arguments of a rollout, as arrays of the right shapes."""

    rollout: Rollout
    x: Mapping[str, Array]
    given: Mapping[str, Array]
    parameters: Mapping[str, Array]
    step: ArrayLike
    steps: int
    every: int
    start: float
    threads: int

    @property
    def arguments(self) -> dict[str, Array]:
        return {**self.x, **self.given, **self.parameters}

    @property
    def samples(self) -> int:
        return self.steps // self.every

    @cached_property
    def precision(self) -> str:
        arrays = self.arguments
        return str(computed_in(self.rollout.system.name, [*arrays], [*arrays.values()], [*arrays.values()]))

    @cached_property
    def batch(self) -> tuple[int, ...]:
        """The leading axes of states, inputs, parameters and steps together."""
        inputs, changing = self.rollout.inputs, self.rollout.changing
        batches = {**self.rollout.system.layout.batch(self.x), "step": np.shape(self.step),
                   **{n: a.shape[:a.ndim - len(inputs[n]) - (n in changing)] for n, a in self.given.items()},
                   **{n: a.shape[:a.ndim - len(self.rollout.parameters[n])] for n, a in self.parameters.items()}}
        try:
            return np.broadcast_shapes(*batches.values())
        except ValueError:
            listed = ", ".join(f"{name} {shape}" for name, shape in batches.items())
            raise SignatureError(f"the batches of states and inputs do not go together: {listed}") from None

    @cached_property
    def times(self) -> Array:
        """(..., steps + 1)"""
        return self.start + np.asarray(self.step, dtype=float)[..., None] * np.arange(self.steps + 1)

    def empty(self, *core: int) -> Array:
        """An array of the backend for the whole batch."""
        return self.rollout.backend.empty(self.batch, core, self.precision)

    def zeros(self, *core: int) -> Array:
        made = self.empty(*core)
        made[...] = 0.0
        return made

    def during(self, first: int, last: int) -> dict[str, Any]:
        """The arguments of a step that are not its own results, from one step to another, by their names in kernels."""
        found: dict[str, Any] = {"h": np.asarray(self.step, self.precision),
                                 "t": self.times[..., first:last].astype(self.precision)}
        for name, shape in self.rollout.inputs.items():
            array = self.given[name]
            found[f"u.{name}"] = from_to(array, slice(first, last), len(shape)) if name in self.rollout.changing \
                else array
        return found | {f"p.{n}": a for n, a in self.parameters.items()}

    def at(self, steps: Array, name: str, shape: tuple[int, ...]) -> Array:
        """An argument with an axis of some steps before its shape, of length one if it does not change."""
        array = self.arguments[name]
        axis = array.ndim - len(shape)
        return np.take(array, steps, axis - 1) if name in self.rollout.changing else np.expand_dims(array, axis)


def first_inputs(rollout: Rollout, given: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs of a rollout at the first step."""
    return {n: np.take(a, 0, axis=a.ndim - 1 - len(rollout.inputs[n])) if n in rollout.changing else a
            for n, a in given.items()}


def check_steps(rollout: Rollout, step: ArrayLike, steps: int, every: int, start: float) -> None:
    """Raise an error unless these are times and numbers of steps of a rollout."""
    for word, number in (("steps", steps), ("every", every)):
        if not isinstance(number, (int, np.integer)) or isinstance(number, bool):
            raise ConventionError(f"`{word}` is a whole number, not {shown(number)}")
        if number > MOST_STEPS:
            raise ConventionError(f"`{word}` is at most {MOST_STEPS}, not {number}: go on from where a rollout ended")
    seconds = np.asarray(step)
    if seconds.dtype.kind not in "fiu" or not (np.isfinite(seconds) & (seconds != 0)).all():
        raise ConventionError(f"the step must be a number of seconds that is not zero, not {seconds}")
    first = np.asarray(start)
    if first.dtype.kind not in "fiu" or first.shape != () or not np.isfinite(first):
        raise ConventionError(f"the start is one time in seconds, not {shown(start)}")
    if rollout.one_way and (seconds < 0).any():
        raise ConventionError(f"a step is negative: {rollout.one_way}")
    if steps < 0 or every < 1 or steps % every:
        raise ConventionError(f"{steps} steps with every {every}th kept: `steps` must be a multiple of `every`")


class RecordedRun:
    """A run with the states that the way back needs."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._rollout = run.rollout
        self._length = self._segment()
        self.samples = run.empty(run.samples + 1, self._rollout.size)
        self._starts = run.empty(-(-run.steps // self._length) + 1 if run.steps else 1, self._rollout.size)
        self._rollout.begin(self._starts[..., 0, :], run.x)
        self.samples[..., 0, :] = self._starts[..., 0, :]
        for number, first in enumerate(range(0, run.steps, self._length)):
            last = min(run.steps, first + self._length)
            self._last = self._points(number, first, last)
            self._starts[..., number + 1, :] = self._last[..., -1, :]
            kept = range(first // run.every + 1, last // run.every + 1)
            if kept:
                begin = kept[0] * run.every - first
                self.samples[..., kept[0]:kept[-1] + 1, :] = self._last[..., begin::run.every, :]

    def _segment(self) -> int:
        run = self.run
        numbers = max(1, prod(run.batch) * self._rollout.size)
        return max(1, run.steps if run.steps * numbers <= REMEMBERED else isqrt(run.steps))

    def _points(self, number: int, first: int, last: int) -> Array:
        """All states of a segment, from where it starts."""
        points = self.run.empty(last - first + 1, self._rollout.size)
        points[..., 0, :] = self._starts[..., number, :]
        self._rollout.advance(self.run, points, first, 1)
        return points

    def backward(self) -> Iterator[tuple[int, int, Array]]:
        """Pieces of segments, from the last to the first: their first step, their last, and all states of them."""
        steps = self.run.steps
        for number in reversed(range(-(-steps // self._length))):
            start = number * self._length
            end = min(steps, start + self._length)
            points = self._last if end == steps else self._points(number, start, end)
            for last in range(end, start, -self._piece):
                first = max(start, last - self._piece)
                yield first, last, points[..., first - start:last - start + 1, :]

    @property
    def _piece(self) -> int:
        """Steps whose results stay near the processor until they are used; a GPU likes to be asked once."""
        if not self._rollout.is_here:
            return self._length
        return max(1, NEAR // max(1, prod(self.run.batch) * self._rollout.size))

    def weights(self, seeds: Array, first: int, last: int) -> Array:
        """The weights of the states at which steps after the first begin, in the order of time."""
        every = self.run.every
        kept = range(first // every + 1, -(-last // every))
        if not kept:
            return np.broadcast_to(np.zeros((), self.run.precision), (last - first, self._rollout.size))
        found = self.run.zeros(last - first, self._rollout.size)
        found[..., kept[0] * every - first::every, :] = seeds[..., kept[0]:kept[-1] + 1, :]
        return found


def from_to(array: Array, steps: slice | int, core: int) -> Array:
    """Some steps, or one, of an array that has an axis of them, before its last `core` axes."""
    index: tuple[Any, ...] = (..., steps, *[slice(None)] * core)
    return array[index]
