"""Fair timing on a noisy machine: every contestant is measured once a round, so that a disturbance hits all alike."""

from __future__ import annotations

import os
import re
import statistics
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

SAMPLE_SECONDS = 0.04


class Timer(Protocol):
    """Runs something a number of times, and says how many seconds that took; as `timeit.Timer`."""

    def timeit(self, number: int, /) -> float: ...


@dataclass(frozen=True)
class Contestant:
    """One way to compute the torques of `states` states.

    `statement` is what is timed, with `names` as its global names (a string, because a wrapping Python function would
    cost as much as a small kernel). `torques` runs it once and returns what it computed, (states, 7), for the check
    before the race.
    """

    key: str
    title: str
    statement: str
    names: dict = field(repr=False)
    states: int
    torques: Callable[[], np.ndarray] = field(repr=False)
    tolerance: float = 1e-10
    timer: Timer | None = field(default=None, repr=False)  # of a contestant in another process, instead of a statement


def check(contestant: Contestant, rows: np.ndarray, expected: np.ndarray) -> None:
    """Refuse to time a contestant whose torques differ from the `expected` ones at the states numbered `rows`."""
    found = np.asarray(contestant.torques())
    error = np.abs(found[rows % contestant.states] - expected[rows % contestant.states]).max()
    agree(contestant.title, float(error) if np.isfinite(found).all() else np.inf, contestant.tolerance)


class Disagreement(Exception):
    """A contestant that computes something else than the others."""


_agreed: dict[tuple[str, float], float] = {}


def agree(title: str, error: float, tolerance: float) -> None:
    """Refuse to time what differs by more than the tolerance, and keep the difference for the page. The title begins
    with the peer."""
    if not error <= tolerance:
        raise Disagreement(f"{title}: differs by {error:.1e}, {tolerance:.0e} is allowed, and was not timed")
    key = re.split(r"[,:(]", title)[0].strip(), tolerance
    _agreed[key] = max(_agreed.get(key, 0.0), error)


def agreements() -> str:
    """The largest differences of every peer, and what is allowed."""
    return ", ".join(f"{who} to {error:.0e} ({tolerance:.0e} allowed)" for (who, tolerance), error in _agreed.items())


def race(contestants: Sequence[Contestant], rounds: int,
         clock: Callable[[], float] = time.perf_counter) -> Iterator[dict[str, float]]:
    """After each round, the median time of every contestant so far, in nanoseconds a state. The `clock` may be that of
    the process, where all contestants have one thread and other programs want the machine, too."""
    timers: dict[str, Timer] = {
        c.key: c.timer or timeit.Timer(c.statement, globals=c.names, timer=clock) for c in contestants}
    loops = {c.key: _loops(timers[c.key]) for c in contestants}
    samples: dict[str, list[float]] = {c.key: [] for c in contestants}
    for turn in range(rounds):
        first = turn % len(contestants)  # nobody always follows the same neighbour
        for c in (*contestants[first:], *contestants[:first]):
            timers[c.key].timeit(loops[c.key])  # untimed: caches fill, and threads spread over the cores
            seconds = timers[c.key].timeit(loops[c.key])
            samples[c.key].append(1e9 * seconds / loops[c.key] / c.states)
        yield {key: statistics.median(times) for key, times in samples.items()}


def _loops(timer: Timer) -> int:
    timer.timeit(1)  # which may compile
    loops = 1
    while (seconds := timer.timeit(loops)) < SAMPLE_SECONDS / 4:
        loops *= 4
    return max(1, round(loops * SAMPLE_SECONDS / seconds))


class OtherPrograms:
    """How many cores the rest of the machine has used since this object was made (Linux; elsewhere None)."""

    def __init__(self) -> None:
        self._start = self._clocks()

    def cores(self) -> float | None:
        if self._start is None or (now := self._clocks()) is None:
            return None
        wall, busy, own = (b - a for a, b in zip(self._start, now, strict=True))
        return max(0.0, (busy - own) / wall)

    @staticmethod
    def _clocks() -> tuple[float, float, float] | None:
        statistics_of_the_kernel = Path("/proc/stat")
        if not statistics_of_the_kernel.exists():
            return None
        user, nice, system, _idle, _wait, interrupts, soft, steal = map(
            int,
            statistics_of_the_kernel.read_text().split()[1:9])
        own = os.times()
        busy = (user + nice + system + interrupts + soft + steal) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), busy, own.user + own.system
