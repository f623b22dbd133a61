"""Transitions inside compiled steps: each trajectory of a batch has its own, at its own instants.

A step is tried. If a guard has gone through zero at its end, shorter trials from the same point find the instant: the
ends of the interval in which it lies come together by the method of false position, in Illinois' form, with bisection
now and then. There the jump is made, modes change, and what is left of the step is tried in turn. Trajectories that
have made their step stand still while their neighbours search.

    side      of each guard: +1 or -1, the side of zero that it is on
    crossed   a guard that is watched in the present modes, and is beyond zero in its direction
    low, high the trials (time from the point) before and after the instant; high = 0 while none has crossed
The instant is found to a few units of rounding of the step. A step with more than a bound of instants is an event
storm: the trajectory ends there, as NaN. Sources: Dowell & Jarratt 1971 for Illinois' form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector, joined, split
from cayley.compiler.derivatives.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point
from cayley.systems.layout import Record, State
from cayley.systems.system import System
from cayley.systems.text_kernels import text_kernel
from cayley.systems.trajectory_parts import Log


@dataclass(frozen=True)
class Guards:
    """The guards of a system, in the order of its transitions."""

    system: System

    def __len__(self) -> int:
        return len(self.system.transitions)

    def values(self, flow: Flow, x: State) -> Array:
        """All of them."""
        u = flow.inputs(x)
        return np.stack([transition.guard(flow.t, x, u, flow.p) for transition in self.system.transitions])

    def values_and_slopes(self, flow: Flow, x: State) -> tuple[Array, Array]:
        """The guards, and their rates along the motion; what they do not depend on is not computed."""
        u = flow.inputs(x)
        return self.values(flow, x), self.slopes(flow, x, u, self.system.layout.rate(x, flow.tangents(x, u)))

    def slopes(self, flow: Flow, x: State, u: Record, rate: Array) -> Array:
        """The rates of the guards where the coordinates change with the `rate` (smooth)."""
        blocks = self.system.layout.blocks
        here = x.replaced({name: independent(x[name]) for name in blocks})
        now = independent(flow.t)
        values = np.stack([transition.guard(now, here, u, flow.p) for transition in self.system.transitions])
        by_place = jacobian(values, joined([np.stack([now]), *[as_vector(here[name]) for name in blocks]]))
        return by_place @ joined([np.ones(1), rate])

    def crossed(self, x: State, sides: Array, values: Array) -> list[Scalar]:
        """Truth values of the guards that are beyond zero, in the direction that is asked for."""
        found = []
        for k, transition in enumerate(self.system.transitions):
            beyond = sides[k] * values[k] < 0.0
            if transition.sign:
                beyond = np.logical_and(beyond, sides[k] == -float(transition.sign))
            found.append(np.logical_and(beyond, x.is_during(transition.during)))
        return found

    def sides_at_start(self, values: Array, slopes: Array) -> Array:
        """The side of zero from which each guard comes at the start: one that is at zero, and moves through it in its
        direction, from the side that it leaves, so that it happens at once. Of both directions, where it comes from is
        not known."""
        signs = np.array([float(transition.sign) for transition in self.system.transitions])
        leaves = np.logical_and(values == 0.0, slopes * signs > 0.0)
        sides = side_of(values, slopes, values == 0.0)
        return where(leaves, -sides, sides)


def side_of(values: Array, slopes: Array, touching: Scalar) -> Array:
    """The side of zero that each guard is on; of those that touch it, the one to which they move."""
    by_value = where(values < 0.0, -1.0, 1.0)
    by_slope = where(slopes > 0.0, 1.0, where(slopes < 0.0, -1.0, by_value))
    return where(touching, by_slope, by_value)


ITERATIONS = 60  # trials for one instant
BISECTION = 4  # every so many trials
_PATIENCE = 20.0  # after so many trials only bisection: a guard may be zero to the last digit at an end of the interval
_WIDE = 1e-6  # of a step: an interval that is no instant
STORM, UNLOCATED = 1.0, 2.0  # what `trouble` may be


class InstantSearch(NamedTuple):
    """The place of a trajectory in its step."""

    turn: Scalar  # 0 or 1: that of the last step that is made; the present one has the other
    since: Scalar  # the time in the step that is done
    length: Scalar  # of the present trial
    low: Scalar
    high: Scalar
    last: Scalar  # which end moved last: -1 low, +1 high
    weight: Scalar  # of the guards' values at the end that did not move
    tried: Scalar  # trials since the search began
    fresh: Scalar  # 1 where the point is at a transition
    instants: Scalar  # in this step
    trouble: Scalar
    count: Scalar  # of all transitions


_NUMBERS = len(InstantSearch._fields)


class Memory(NamedTuple):
    """The memory that is carried from trial to trial; guards (n) are in the order of the transitions."""

    search: InstantSearch
    sides: Array
    at_low: Array  # values of the guards there
    at_high: Array
    times: Array  # of what has happened
    numbers: Array  # which transitions they were


class Interval(NamedTuple):
    """The interval of the instant after a trial, and what the trial has found."""

    g: Array  # the guards at its end
    crossed: list[Any]  # which of them are beyond zero
    beyond: Array  # whether any is
    low: Scalar
    high: Scalar
    near: Array  # whether the ends are together
    found: Array  # whether this is the instant
    passed: Array  # whether nothing has happened


@dataclass(frozen=True)
class Watching:
    """The transitions of a system in rollouts. What is carried is one vector: the search, the sides of the guards,
    their values at low and high, and the times and numbers of what has happened."""

    system: System
    parameters: tuple[str, ...]
    instants: int
    remembered: int
    of_step: bool = False  # only what happened in the present step is counted and remembered, with times since it began

    def __post_init__(self) -> None:
        if self.instants < 1 or self.remembered < 0:
            raise SignatureError("a rollout allows at least one event in a step, and remembers none or more; given "
                                 f"were {self.instants} and {self.remembered}")

    @cached_property
    def guards(self) -> Guards:
        return Guards(self.system)

    @cached_property
    def _parts(self) -> dict[str, tuple[int, ...]]:
        """The shapes of what is carried, in the order of the vector."""
        n = len(self.guards)
        return {"search": (_NUMBERS,), "sides": (n,), "at_low": (n,), "at_high": (n,), "times": (self.remembered,),
                "numbers": (self.remembered,)}

    @property
    def size(self) -> int:
        return sum(map(prod, self._parts.values()))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The arguments of a stage that transitions need, with their shapes."""
        return {"watched": (self.size,), "turn": (), "rounding": ()}

    @property
    def most_trials(self) -> int:
        return (self.instants + 1) * (ITERATIONS + 3)

    # Before and after

    def start(self, x: Array, t: Array, inputs: Iterable[Array], parameters: Mapping[str, Array],
              step: ArrayLike) -> Array:
        """The vectors (..., size) at the start, given states (..., n)."""
        p = [parameters.get(n, value) for n, value in self.system.parameters.items()]
        return self._at_start(t, x, *inputs, *p, step)

    @cached_property
    def _at_start(self) -> Kernel:
        def text(t: Scalar, x: State, u: Record, p: Record, step: Scalar) -> tuple[Array]:
            values, slopes = self.guards.values_and_slopes(Flow(self.system, t, p, lambda *_: u), x)
            search = InstantSearch(*np.zeros(_NUMBERS))._replace(turn=1.0, length=step, weight=1.0)  # turns start at 0
            nothing = np.full(self.remembered, np.nan)
            return (self._vector(Memory(search, self.guards.sides_at_start(values, slopes), values, values, nothing,
                                        np.full(self.remembered, -1.0))),)
        return text_kernel(self.system, text, [(self.size,)], "guards", {"step": ()})

    def arguments(self, watched: Array, steps: slice, precision: np.dtype) -> dict[str, Array]:
        turns = np.arange(steps.start, steps.stop) % 2
        return {"watched": watched.astype(precision), "turn": turns.astype(precision),
                "rounding": np.asarray(8 * np.finfo(precision).eps, precision)}

    def log(self, watched: Array) -> Log:
        count = watched[..., InstantSearch._fields.index("count")].astype(int)
        cut = self.size - self.remembered
        return Log(count, watched[..., cut - self.remembered:cut].astype(float), watched[..., cut:].astype(int))

    def outcome(self, watched: Array, status: str, message: str) -> tuple[str, str]:
        """The status and the message of a run, those of transitions if anything went wrong with them."""
        trouble = watched[..., InstantSearch._fields.index("trouble")]
        log = self.log(watched)
        stormy = np.argwhere(trouble == STORM)
        if len(stormy):
            place = tuple(stormy[0])
            which = f" of trajectory {place[0] if len(place) == 1 else place}" if place else ""
            return "event storm", (
                f"in {len(stormy)} of {trouble.size} trajectories more than {self.instants} transitions were in one "
                f"step, the first{which} after {log.count[place]}: they follow each other ever faster; let a mode put "
                "an end to it, make the step shorter, or allow more with `events_in_a_step`")
        if (trouble == UNLOCATED).any():
            return "event not located", (f"in {(trouble == UNLOCATED).sum()} trajectories the instant of a transition "
                                         f"was not found in {ITERATIONS} trials: its guard may jump")
        if status == "finished" and self.remembered and (log.count > self.remembered).any():
            message += f"; of up to {log.count.max()} transitions the times of the first {self.remembered} are kept"
        return status, message

    # In a stage

    def trial(self, given: Mapping[str, Array]) -> tuple[Scalar, Scalar]:
        """The time in the step from which a trial is made, and its length."""
        search = self._search(given["watched"])
        return search.since, where(search.turn == given["turn"], 0.0, search.length)

    def _search(self, watched: Array) -> InstantSearch:
        return InstantSearch(*(watched[k] for k in range(_NUMBERS)))

    def settled(self, flow: Flow, given: Mapping[str, Array], row: Record, point: Point, after: Point, carried: Array,
                method: FixedStep) -> dict[str, Array]:
        """The results of a trial at its last stage: "x", "carried", "watched" and "again" for the next."""
        layout = self.system.layout
        memory = self._memory(given["watched"])
        interval = self._interval(memory, self.guards.values(flow, after.x), after.x, given)
        over = np.logical_or(interval.found, interval.passed)
        arrived, ended, complete = self._arrived(flow, memory, interval, after, given)
        going_on = self._going_on(memory, interval, after.x, given)
        vector = where(over, self._vector(ended), self._vector(going_on))
        made = memory.search.turn == given["turn"]
        stays = point.vector(layout)
        x = where(made, stays, where(row.last, where(over, arrived.vector(layout), stays), after.vector(layout)))
        start = method.carried(x, layout)
        return {"x": x, "carried": where(row.last, start, carried) if np.shape(start) != (0,) else carried,
                "watched": where(np.logical_and(row.last, np.logical_not(made)), vector, given["watched"]),
                "again": where(np.logical_or(made, np.logical_and(over, complete)), 0.0, 1.0)}

    def _memory(self, watched: Array) -> Memory:
        parts = split(watched, self._parts)
        return Memory(self._search(parts.pop("search")), **parts)

    def _vector(self, memory: Memory) -> Array:
        logs = [memory.times, memory.numbers] if self.remembered else []
        return joined([np.stack(list(memory.search)), memory.sides, memory.at_low, memory.at_high, *logs])

    def _interval(self, memory: Memory, g: Array, x: State, given: Mapping[str, Array]) -> Interval:
        """The interval of the instant, after a trial with the guards `g` at its end."""
        search = memory.search
        crossed = self.guards.crossed(x, memory.sides, g)
        beyond = reduce(np.logical_or, crossed)
        searching = np.logical_or(search.high > 0.0, beyond)
        low = where(np.logical_and(searching, np.logical_not(beyond)), search.length, search.low)
        high = where(beyond, search.length, search.high)
        near = np.logical_or(high - low <= given["rounding"] * given["h"], search.tried >= float(ITERATIONS))
        return Interval(g, crossed, beyond, low, high, near, np.logical_and(beyond, near), np.logical_not(searching))

    def _arrived(self, flow: Flow, memory: Memory, interval: Interval, after: Point,
                 given: Mapping[str, Array]) -> tuple[Point, Memory, Any]:
        """A trial that is over, at an instant or because nothing has crossed: where it leads, what is remembered, and
        whether the step is complete."""
        search = memory.search
        h = given["h"]
        state, fired, count, times, numbers = self._fired(flow, memory, interval, after.x)
        values, sides = self._sides_after(flow, memory, interval, state, fired)
        instants = search.instants + where(interval.found, 1.0, 0.0)
        stormy = instants > float(self.instants)
        wide = np.logical_and(interval.found, interval.high - interval.low > _WIDE * h)
        since = search.since + search.length
        left = h - since
        complete = np.logical_or(interval.passed, np.logical_or(left <= given["rounding"] * h, stormy))
        ended = InstantSearch(turn=where(complete, given["turn"], search.turn), since=where(complete, 0.0, since),
                       length=where(complete, h, left), low=0.0, high=0.0, last=0.0, weight=1.0, tried=0.0,
                       fresh=where(interval.found, 1.0, 0.0), instants=where(complete, 0.0, instants),
                       trouble=where(stormy, STORM, where(wide, UNLOCATED, search.trouble)), count=count)
        blocks = {name: where(stormy, np.nan, state[name]) for name in self.system.layout.blocks}
        point = Point(state.replaced(blocks), self.booked(flow, after, state), after.defect)
        return point, Memory(ended, sides, values, values, times, numbers), complete

    def _fired(self, flow: Flow, memory: Memory, interval: Interval,
               state: State) -> tuple[State, list[Any], Scalar, Array, Array]:
        """The jumps of what has crossed at the instant, in their order: the state, which they were, and the log."""
        search = memory.search
        count = where(search.instants == 0.0, 0.0, search.count) if self.of_step else search.count
        moment = search.since + search.length if self.of_step else flow.t
        times = memory.times
        numbers = memory.numbers
        fired = []
        for k, transition in enumerate(self.system.transitions):
            now = np.logical_and(np.logical_and(interval.found, interval.crossed[k]),
                                 state.is_during(transition.during))
            jumped = self.system.jumped(transition, flow.t, state, flow.inputs(state), flow.p)
            state = state.replaced({name: where(now, jumped[name], state[name]) for name in state})
            here = [np.logical_and(now, count == float(j)) for j in range(self.remembered)]
            if here:
                times = np.stack([where(yes, moment, times[j]) for j, yes in enumerate(here)])
                numbers = np.stack([where(yes, float(k), numbers[j]) for j, yes in enumerate(here)])
            count = count + where(now, 1.0, 0.0)
            fired.append(now)
        return state, fired, count, times, numbers

    def _sides_after(self, flow: Flow, memory: Memory, interval: Interval, state: State,
                     fired: list[Any]) -> tuple[Array, Array]:
        """The values of the guards after jumps, and their sides. One that has just fired, and is still as near to zero
        as it was found, is on the side to which it moves; one that is at zero and did not cross stays where it was."""
        values, slopes = self.guards.values_and_slopes(flow, state)
        nearness = 2.0 * np.maximum(np.abs(memory.at_low), np.abs(interval.g))
        is_zero = values == 0.0
        touching = np.logical_or(np.logical_and(np.stack(fired), np.abs(values) <= nearness), is_zero)
        waiting = np.logical_and(np.logical_not(np.stack(fired)), np.logical_and(is_zero, interval.g == 0.0))
        return values, where(waiting, memory.sides, side_of(values, slopes, touching))

    def _going_on(self, memory: Memory, interval: Interval, x: State, given: Mapping[str, Array]) -> Memory:
        """The next trial of a search: where the chord is zero, or halfway."""
        search = memory.search
        _, _, beyond, low, high, near, _, _ = interval
        at_low = where(beyond, memory.at_low, interval.g)
        at_high = where(beyond, interval.g, memory.at_high)
        end = where(beyond, 1.0, -1.0)
        weight = where(search.last == end, search.weight / 2.0, 1.0)
        aimed = self._aimed(x, memory.sides, low, high, at_low, at_high, weight, beyond)
        is_multiple = search.tried == BISECTION * np.floor(search.tried / BISECTION)
        often = np.logical_or(search.tried > _PATIENCE, is_multiple)
        halved = np.logical_or(np.logical_and(search.fresh > 0.0, low == 0.0),
                               np.logical_and(search.tried > 0.0, often))
        small = given["rounding"] * given["h"] / 2.0
        inside = np.minimum(np.maximum(where(halved, (low + high) / 2.0, aimed), low + small), high - small)
        next_search = search._replace(length=where(near, high, inside), low=low, high=high, last=end, weight=weight,
                                      tried=search.tried + 1.0)
        return memory._replace(search=next_search, at_low=at_low, at_high=at_high)

    def booked(self, flow: Flow, before: Point, after: State) -> Scalar:
        """The work, with the energy that comes or goes by a jump."""
        energy = self.system.energy
        if energy is None:
            return before.work
        changed = [energy(flow.t, x, flow.inputs(x), flow.p) for x in (before.x, after)]
        return before.work + (changed[1] - changed[0])

    def _aimed(self, x: State, sides: Array, low: Scalar, high: Scalar, at_low: Array, at_high: Array, weight: Scalar,
               moved_high: Scalar) -> Scalar:
        """The earliest of the zeros of the chords of those guards that have crossed at `high`."""
        before = np.abs(at_low) * where(moved_high, weight, 1.0)
        beyond = np.abs(at_high) * where(moved_high, 1.0, weight)
        chords = low + (high - low) * (before / (before + beyond))
        return reduce(np.minimum, where(np.stack(self.guards.crossed(x, sides, at_high)), chords, high), high)
