"""Transitions inside compiled steps: each trajectory of a batch has its own, at its own instants.

A step is tried. If a guard has gone through zero at its end, shorter trials from the same point find the instant: the
ends of the interval in which it lies come together by the method of false position, in Illinois' form, with bisection
now and then. There the jump is made, modes change, and what is left of the step is tried in turn. Trajectories that
have made their step stand still while their neighbours search.

    side      of each guard: +1 or -1, the side of zero that it is on
    crossed   a guard that is watched in the present modes, and is beyond zero in its direction
    low, high the trials (time from the point) before and after the instant; high = 0 while none has crossed
The instant is found to a few units of rounding of the step. A step with more than a bound of instants is an event
storm: the trajectory ends there, as NaN. Sources: Dowell & Jarratt 1971 for Illinois' form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.derivative import independent, jacobian
from cayley.compiler.kernel import Kernel
from cayley.compiler.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SignatureError
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point
from cayley.systems.layout import State, as_vector, joined, mode_number
from cayley.systems.output_kernels import text_kernel
from cayley.systems.record import Record
from cayley.systems.system import System
from cayley.systems.trajectory import Log
from cayley.systems.transitions import Transition

ITERATIONS = 60  # trials for one instant
BISECTION = 4  # every so many trials
STORM, UNLOCATED = 1.0, 2.0  # what `trouble` may be


class Search(NamedTuple):
    """Where a trajectory is in its step."""

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


_NUMBERS = len(Search._fields)


@dataclass(frozen=True)
class Watching:
    """The transitions of a system in rollouts. What is carried is one vector: the search, the sides of the guards,
    their values at low and high, and the times and numbers of what has happened.
    """

    system: System
    parameters: tuple[str, ...]
    instants: int
    remembered: int

    def __post_init__(self) -> None:
        if self.instants < 1 or self.remembered < 0:
            raise SignatureError("a rollout allows at least one event in a step, and remembers none or more; given were "
                                 f"{self.instants} and {self.remembered}")

    @property
    def guards(self) -> int:
        return len(self.system.transitions)

    @property
    def size(self) -> int:
        return _NUMBERS + 3 * self.guards + 2 * self.remembered

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """What a stage takes for it."""
        return {"watched": (self.size,), "turn": (), "rounding": ()}

    @property
    def most_trials(self) -> int:
        return (self.instants + 1) * (ITERATIONS + 3)

    # Before and after

    def start(self, x: np.ndarray, t: np.ndarray, given: Mapping[str, np.ndarray], changing: Sequence[str],
              parameters: Mapping[str, np.ndarray], step: ArrayLike) -> np.ndarray:
        """The vectors (..., size) at the start, given states (..., n)."""
        u = [np.take(given[n], 0, axis=given[n].ndim - 1 - len(port.shape)) if n in changing else given[n]
             for n, port in self.system.ports.items()]
        p = [parameters.get(n, value) for n, value in self.system.parameters.items()]
        values, sides = self._at_start(t[..., 0], x, *u, *p)
        found = np.zeros((*x.shape[:-1], self.size))
        found[..., Search._fields.index("turn")] = 1.0  # the first step has 0
        found[..., Search._fields.index("length")] = step
        found[..., Search._fields.index("weight")] = 1.0
        found[..., _NUMBERS:_NUMBERS + self.guards] = sides
        found[..., _NUMBERS + self.guards:_NUMBERS + 2 * self.guards] = values
        found[..., self.size - 2 * self.remembered:self.size - self.remembered] = np.nan
        found[..., self.size - self.remembered:] = -1.0
        return found

    @cached_property
    def _at_start(self) -> Kernel:
        def text(t: Any, x: State, u: Record, p: Record) -> tuple[Array, Array]:
            flow = Flow(self.system, t, p, lambda _: u)
            values, slopes = self._values_and_slopes(flow, x)
            return values, _side(values, slopes, values == 0.0)
        return text_kernel(self.system, text, [(self.guards,), (self.guards,)], "guards")

    def arguments(self, watched: np.ndarray, steps: slice, precision: np.dtype) -> dict[str, np.ndarray]:
        return {"watched": watched.astype(precision), "turn": (np.arange(steps.start, steps.stop) % 2).astype(precision),
                "rounding": np.asarray(8 * np.finfo(precision).eps, precision)}

    def log(self, watched: np.ndarray) -> Log:
        count = watched[..., Search._fields.index("count")].astype(int)
        cut = self.size - self.remembered
        return Log(count, watched[..., cut - self.remembered:cut].astype(float), watched[..., cut:].astype(int))

    def outcome(self, watched: np.ndarray, points: np.ndarray, status: str, message: str) -> tuple[str, str]:
        """How it ended, if anything went wrong with transitions; otherwise as it is."""
        trouble = watched[..., Search._fields.index("trouble")]
        log = self.log(watched)
        stormy = np.argwhere(trouble == STORM)
        if len(stormy):
            place = tuple(stormy[0])
            which = f" of trajectory {place[0] if len(place) == 1 else place}" if place else ""
            return "event storm", (
                f"in {len(stormy)} of {trouble.size} trajectories more than {self.instants} transitions were in one step, "
                f"the first{which} after {log.count[place]}: they follow each other ever faster; let a mode put an end to "
                "it, make the step shorter, or allow more with `events_in_a_step`")
        if (trouble == UNLOCATED).any():
            return "event not located", (f"in {(trouble == UNLOCATED).sum()} trajectories the instant of a transition was "
                                         f"not found in {ITERATIONS} trials: its guard may jump")
        if status == "finished" and self.remembered and (log.count > self.remembered).any():
            message += f"; of up to {log.count.max()} transitions the times of the first {self.remembered} are kept"
        return status, message

    # In a stage

    def trial(self, given: Mapping[str, Array]) -> tuple[Scalar, Scalar]:
        """The time in the step from which a trial is made, and its length."""
        search = self._search(given["watched"])
        return search.since, where(search.turn == given["turn"], 0.0, search.length)

    def _search(self, watched: Array) -> Search:
        return Search(*(watched[k] for k in range(_NUMBERS)))

    def settled(self, flow: Flow, given: Mapping[str, Array], row: Record, point: Point, after: Point, carried: Array,
                method: FixedStep) -> dict[str, Array]:
        """What becomes of a trial at its last stage: "x", "carried", "watched" and "again" for the next."""
        watched = given["watched"]
        h = given["h"]
        n = self.guards
        layout = self.system.layout
        search = self._search(watched)
        sides, at_low, at_high = (watched[_NUMBERS + k * n:_NUMBERS + (k + 1) * n] for k in range(3))
        times = watched[_NUMBERS + 3 * n:_NUMBERS + 3 * n + self.remembered]
        numbers = watched[_NUMBERS + 3 * n + self.remembered:]
        made = search.turn == given["turn"]
        length = search.length

        g = self._values(flow, after.x)
        crossed = self._crossed(after.x, sides, g)
        any_crossed = reduce(np.logical_or, [crossed[k] for k in range(n)])
        searching = np.logical_or(search.high > 0.0, any_crossed)
        low = where(any_crossed, search.low, where(searching, length, search.low))
        high = where(any_crossed, length, search.high)
        near = np.logical_or(high - low <= given["rounding"] * h, search.tried >= float(ITERATIONS))
        found = np.logical_and(any_crossed, near)
        passed = np.logical_not(searching)
        over = np.logical_or(found, passed)

        # The instant, if it is found: jumps in their order, sides anew
        state = after.x
        count = search.count
        fired = []
        for k, transition in enumerate(self.system.transitions):
            now = np.logical_and(np.logical_and(found, crossed[k]), self._is_watched(transition, state))
            jumped = self.system.jumped(transition, flow.t, state, flow.inputs(state), flow.p)
            state = state.replaced({name: where(now, jumped[name], state[name]) for name in state})
            here = [np.logical_and(now, count == float(j)) for j in range(self.remembered)]
            if here:
                times = np.stack([where(yes, flow.t, times[j]) for j, yes in enumerate(here)])
                numbers = np.stack([where(yes, float(k), numbers[j]) for j, yes in enumerate(here)])
            count = count + where(now, 1.0, 0.0)
            fired.append(now)
        values, slopes = self._values_and_slopes(flow, state)
        touching = np.stack([np.logical_and(fired[k], np.abs(values[k]) <= 2.0 * np.maximum(np.abs(at_low[k]), np.abs(g[k])))
                             for k in range(n)])
        waiting = np.stack([np.logical_and(np.logical_not(fired[k]), np.logical_and(values[k] == 0.0, g[k] == 0.0))
                            for k in range(n)])  # at zero, and not yet beyond
        new_sides = where(waiting, sides, _side(values, slopes, np.logical_or(touching, values == 0.0)))
        instants = search.instants + where(found, 1.0, 0.0)
        stormy = instants > float(self.instants)
        trouble = where(stormy, STORM, where(np.logical_and(found, high - low > 1e-6 * h), UNLOCATED, search.trouble))
        booked = self._booked(flow, after, state)
        arrived = Point(state.replaced({name: where(stormy, np.nan, state[name]) for name in layout.blocks}), booked,
                        after.defect)

        # The next trial
        since = search.since + length
        left = h - since
        complete = np.logical_or(passed, np.logical_or(left <= given["rounding"] * h, stormy))
        same_end = search.last == where(any_crossed, 1.0, -1.0)
        weight = where(same_end, search.weight / 2.0, 1.0)
        low_values = where(any_crossed, at_low, g)
        high_values = where(any_crossed, g, at_high)
        aimed = self._aimed(after.x, sides, low, high, low_values, high_values, weight, any_crossed)
        halved = np.logical_or(np.logical_and(search.fresh > 0.0, low == 0.0),
                               np.logical_and(search.tried > 0.0, _is_multiple(search.tried)))
        aimed = where(halved, (low + high) / 2.0, aimed)
        small = given["rounding"] * h / 2.0
        aimed = where(near, high, np.minimum(np.maximum(aimed, low + small), high - small))
        going_on = Search(turn=search.turn, since=search.since, length=aimed, low=low, high=high,
                          last=where(any_crossed, 1.0, -1.0), weight=weight, tried=search.tried + 1.0,
                          fresh=search.fresh, instants=search.instants, trouble=search.trouble, count=search.count)
        ended = Search(turn=where(complete, given["turn"], search.turn), since=where(complete, 0.0, since),
                       length=where(complete, h, left), low=0.0, high=0.0, last=0.0, weight=1.0, tried=0.0,
                       fresh=where(found, 1.0, 0.0), instants=where(complete, 0.0, instants), trouble=trouble, count=count)
        next_search = [where(over, b, a) for a, b in zip(going_on, ended, strict=True)]
        vector = joined([
            np.stack(next_search), where(over, new_sides, sides), where(over, values, low_values),
            where(over, values, high_values), *([times, numbers] if self.remembered else [])])

        last = np.logical_and(row.last, np.logical_not(made))
        point_after = where(over, arrived.vector(layout), point.vector(layout))
        settled_x = where(made, point.vector(layout), where(row.last, point_after, after.vector(layout)))
        restart = self._restart(method, settled_x)
        return {"x": settled_x, "carried": where(row.last, restart, carried) if restart is not None else carried,
                "watched": where(last, vector, watched),
                "again": where(np.logical_or(made, np.logical_and(over, complete)), 0.0, 1.0)}

    def _restart(self, method: FixedStep, vector: Array) -> Array | None:
        """What the method carries at the start of a trial."""
        found = method.carried(vector, self.system.layout)
        return None if np.shape(found) == (0,) else found

    def _booked(self, flow: Flow, before: Point, after: State) -> Scalar:
        """The work, with the energy that comes or goes by a jump."""
        energy = self.system.energy
        if energy is None:
            return before.work
        changed = [energy(flow.t, x, flow.inputs(x), flow.p) for x in (before.x, after)]
        return before.work + (changed[1] - changed[0])

    # Guards

    def _values(self, flow: Flow, x: State) -> Array:
        u = flow.inputs(x)
        return np.stack([transition.guard(flow.t, x, u, flow.p) for transition in self.system.transitions])

    def _values_and_slopes(self, flow: Flow, x: State) -> tuple[Array, Array]:
        """The guards, and their rates along the motion; what they do not depend on is not computed."""
        layout = self.system.layout
        u = flow.inputs(x)
        here = x.replaced({name: independent(x[name]) for name in layout.blocks})
        now = independent(flow.t)
        values = np.stack([transition.guard(now, here, u, flow.p) for transition in self.system.transitions])
        by_place = jacobian(values, joined([np.stack([now]), *[as_vector(here[name]) for name in layout.blocks]]))
        rates = by_place @ joined([np.ones(1), layout.rate(x, flow.tangents(x, u))])
        return self._values(flow, x), rates

    def _is_watched(self, transition: Transition, x: State) -> Any:
        conditions = [x[mode] == float(mode_number(self.system.layout.modes, mode, word))
                      for mode, word in transition.during.items()]
        return reduce(np.logical_and, conditions) if conditions else np.True_

    def _crossed(self, x: State, sides: Array, values: Array) -> list[Any]:
        """Which guards are beyond zero, in the direction that is asked for."""
        found = []
        for k, transition in enumerate(self.system.transitions):
            beyond = sides[k] * values[k] < 0.0
            if transition.sign:
                beyond = np.logical_and(beyond, sides[k] == -float(transition.sign))
            found.append(np.logical_and(beyond, self._is_watched(transition, x)) if transition.during else beyond)
        return found

    def _aimed(self, x: State, sides: Array, low: Scalar, high: Scalar, at_low: Array, at_high: Array, weight: Scalar,
               moved_high: Any) -> Scalar:
        """The earliest of the zeros of the chords of those guards that have crossed at `high`."""
        earliest = high
        crossed = self._crossed(x, sides, at_high)
        for k in range(self.guards):
            before = np.abs(at_low[k]) * where(moved_high, weight, 1.0)
            beyond = np.abs(at_high[k]) * where(moved_high, 1.0, weight)
            chord = low + (high - low) * (before / (before + beyond))
            earliest = where(crossed[k], np.minimum(earliest, chord), earliest)
        return earliest


def _side(values: Array, slopes: Array, touching: Any) -> Array:
    """The side of zero that each guard is on; of those that touch it, the one to which they move."""
    by_value = where(values < 0.0, -1.0, 1.0)
    by_slope = where(slopes > 0.0, 1.0, where(slopes < 0.0, -1.0, by_value))
    return where(touching, by_slope, by_value)


def _is_multiple(tried: Scalar) -> Any:
    """Of the number of trials after which the interval is halved."""
    return tried == BISECTION * np.floor(tried / BISECTION)
