"""A run of a rollout with the states that the way back needs.

States of some steps fit into memory. Where there are more, states are kept some steps apart, about the root of their
number, and what lies between is computed again when it is needed (Griewank & Walther, Evaluating Derivatives, 12).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from cayley.compiler.precision import computed_in
from cayley.compiler.typing import Array, ArrayLike

if TYPE_CHECKING:
    from cayley.systems.rollouts import Rollout

REMEMBERED = 2**26  # numbers: the states of so many steps are kept, and nothing is computed twice
NEAR = 2**16  # numbers that are handed from one call to the next


@dataclass(frozen=True)
class Run:
    """The arguments of a rollout, as arrays of the right shapes."""

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


class RecordedRun:
    """A run with the states that the way back needs."""

    def __init__(self, rollout: Rollout, run: Run, *, remembers: bool = True) -> None:
        self.run = run
        self._rollout = rollout
        rollout.check(run.step, run.steps, run.every, run.start)
        arrays = run.arguments
        self.precision = str(computed_in(rollout.system.name, [*arrays], [*arrays.values()], [*arrays.values()]))
        self.batch = rollout.batch(run.x, run.given, run.parameters, run.step)
        self.times = run.start + np.asarray(run.step, dtype=float)[..., None] * np.arange(run.steps + 1)
        if not remembers:
            return
        self._length = self._segment()
        self.samples = self._empty(run.samples + 1)
        self._starts = self._empty(-(-run.steps // self._length) + 1 if run.steps else 1)
        rollout.begin(self._starts[..., 0, :], run.x)
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
        numbers = max(1, prod(self.batch) * self._rollout.size)
        return max(1, run.steps if run.steps * numbers <= REMEMBERED else isqrt(run.steps))

    def _empty(self, length: int) -> Array:
        return self._rollout.backend.empty(self.batch, (length, self._rollout.size), self.precision)

    def _points(self, number: int, first: int, last: int) -> Array:
        """All states of a segment, from where it starts."""
        rollout = self._rollout
        run = self.run
        points = self._empty(last - first + 1)
        points[..., 0, :] = self._starts[..., number, :]
        rollout.advance(points, 0, last - first, 1, self.during(first, last), None, run.step,
                        self.times[..., first:last + 1], run.threads)
        return points

    def during(self, first: int, last: int) -> dict[str, Array]:
        """The inputs from one step to another, and the parameters."""
        rollout = self._rollout
        return {n: from_to(a, slice(first, last), len(rollout.inputs[n])) if n in rollout.changing else a
                for n, a in self.run.given.items()} | dict(self.run.parameters)

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
        if self._rollout._iterated.backend != "llvm":
            return self._length
        return max(1, NEAR // max(1, prod(self.batch) * self._rollout.size))

    def weights(self, seeds: Array, first: int, last: int) -> Array:
        """The weights of the states at which steps after the first begin, in the order of time."""
        every = self.run.every
        kept = range(first // every + 1, -(-last // every))
        if not kept:
            return np.broadcast_to(np.zeros((), self.precision), (last - first, self._rollout.size))
        found = self._empty(last - first)
        found[...] = 0.0
        found[..., kept[0] * every - first::every, :] = seeds[..., kept[0]:kept[-1] + 1, :]
        return found

    def arguments(self, first: int, last: int) -> dict[str, Any]:
        """The inputs from one step to another, by the names of the kernel of a step."""
        rollout = self._rollout
        run = self.run
        found: dict[str, Any] = {"h": np.asarray(run.step, self.precision),
                                 "t": self.times[..., first:last].astype(self.precision)}
        for name, shape in rollout.inputs.items():
            array = run.given[name]
            found[f"u.{name}"] = from_to(array, slice(first, last), len(shape)) if name in rollout.changing else array
        return found | {f"p.{n}": a for n, a in run.parameters.items()}


def from_to(array: Array, steps: slice, core: int) -> Array:
    """Some steps of an array that has an axis of them, before its last `core` axes."""
    index: tuple[Any, ...] = (..., steps, *[slice(None)] * core)
    return array[index]


def summed(array: Array, shape: tuple[int, ...], full: tuple[int, ...]) -> Array:
    """The derivative by an argument of some shape, of those by its copies in an array of the `full` shape."""
    array = array.reshape((*[1] * (len(full) - array.ndim), *array.shape))
    lead = len(full) - len(shape)
    axes = (*range(lead), *[lead + k for k, size in enumerate(shape) if size == 1 and full[lead + k] != 1])
    copies = prod(full[k] for k in axes) // max(1, prod(array.shape[k] for k in axes))
    found = array.sum(axes).reshape(shape) if axes else array.reshape(shape)
    return found if copies == 1 else copies * found
