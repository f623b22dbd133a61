"""A simulation on its way: segments between events, each followed by one of SciPy's solvers, step by step.

The steps are taken here, and not by `solve_ivp`, because what was found must be kept when a step fails. Modes are
constant in a segment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError, SingularityError
from cayley.progress import PatientBar
from cayley.sign_changes import happenings, loss
from cayley.systems.adaptive.driving import Driving
from cayley.systems.adaptive.events import Event
from cayley.systems.adaptive.moving_system import Look, MovingSystem
from cayley.systems.adaptive.separating import taken_apart
from cayley.systems.adaptive.standstill import FRICTION_WORDS, Standstill
from cayley.systems.adaptive.touching import ContactEnd, Touching
from cayley.systems.friction_and_stops import Stop
from cayley.systems.layout import State
from cayley.systems.projection import check_constraints
from cayley.systems.trajectory import Trajectory
from cayley.systems.trajectory_parts import Dense, JointNames, Occurrence
from cayley.systems.transitions import Transition

_LOOKS = np.array([0.0, 1e-3, 0.25, 0.5, 0.75, 1 - 1e-3, 1.0])  # of a step: where watched functions are evaluated
_TURNS = 100  # segments that may begin at one time
_SAME = 1e-13  # of a time: what is not longer is no time
_SHORT = 1e-6  # seconds: where the ever shorter times between the effects of an event have no end that can be reached
_TOUCHING = 1e-12  # what may be negative of what must not be


@dataclass(frozen=True, eq=False)
class Watched:
    """A number that is watched for changes of its sign, `act` at them, or None where they are only recorded. `sign`: of
    the direction, 0 of both; None of what must not become negative. `at_once`: one that starts from zero happens.
    `during`: the modes in which it is watched."""

    name: str
    value: Callable[[Look], float]
    act: Callable[[], None] | None
    sign: int | None = None
    at_once: bool = False
    during: Mapping[str, str] = field(default_factory=dict)


@dataclass
class AdaptiveRun:
    """A simulation on its way."""

    driving: Driving
    events: tuple[Event, ...]
    instants: Array | None
    t: float
    end: float
    max_events: int
    max_evaluations: int | None
    make_solver: Callable[[Callable[..., Any], float, Array, float], Any]
    facts: Mapping[str, Any]
    mechanism: JointNames | None = None
    status: str = ""
    message: str = ""
    steps: int = 0
    kept: list[tuple[float, Array, Array]] = field(default_factory=list)  # time, y, modes
    pieces: list[tuple[float, Any, Array]] = field(default_factory=list)
    happened: list[Occurrence] = field(default_factory=list)

    def go(self, x: Array, progress: bool) -> Trajectory:
        """From a state (size) to the end."""
        self.system = self.driving.system
        self._begin(x)
        with PatientBar(f"{self.system.name}, simulation", self.end - self.t, shown=progress) as self._bar:
            self._go_on()
        return self._result()

    def _begin(self, x: Array) -> None:
        smooth = self.system.layout.smooth
        self.moving = MovingSystem(self.driving, x[smooth:])
        reason = self.moving.explained(x)
        if reason is not None:
            raise SingularityError(reason)
        self._began = self.t
        self._next = 0
        self._counted = 0
        if isinstance(self.moving.held, Touching):
            x = np.concatenate([taken_apart(self.moving, self.moving.held, self.t, x[:smooth]), x[smooth:]])
        self.y = self.moving.joined(x[:smooth], 0.0)
        self._released: Mapping[int, float] = {}
        self._at_zero: list[Watched] = []
        self._passing = [
            *[Watched(event.name, partial(_event_value, event), None if event.only_recorded else partial(
                self._act_on_event, event), event.sign) for event in self.events],
            *[Watched(each.name, partial(_guard, k), partial(self._change, each), each.sign, each.sign != 0,
                      each.during) for k, each in enumerate(self.system.transitions)]]
        self._keep() if self.instants is None else self._keep_until(self.t, lambda _: self.y)

    def _go_on(self) -> None:
        here = self.t
        turns = 0
        while not self.status:
            if self.end - self.t <= _SAME * max(1.0, abs(self.end)):
                if self.instants is not None:
                    self._keep_until(self.end, lambda _: self.y)
                self._finish("finished", f"the end, t = {self.end:.6g}, was reached")
            elif turns > _TURNS:
                self._finish("event storm", f"events follow each other without end at t = {self.t:.9g}")
            elif self._prepare():
                self._segment()
            here, turns = (here, turns + 1) if self.t - here <= _SAME * max(1.0, abs(here)) else (self.t, 0)

    # One segment: between two instants at which something is started anew

    def _prepare(self) -> bool:
        """Resolve what touches and what is at rest, look with the controller; False if there is no going on."""
        x = self._x
        held = self.moving.held
        self._bound = min(self.end, self.driving.next_tick(self.t, x))
        if held is not None:
            x, struck = held.impacts(self.t, x)
            for name, word in struck:
                self._occurred(name, word)
            if struck:
                self._released = {}
                self._jump(x)
            try:
                changes = held.settle(self.t, x, lambda t, x: self.moving.free(t, np.append(x, 0.0)), self._released)
            except SingularityError as error:
                self._finish("singular", f"{error} (at t = {self.t:.9g})")
                return False
            for name, word in changes:
                self._occurred(name, word)
            self._put(self.moving.shown(self.t, self.y))
        if not np.isfinite(self.moving.slope(self.t, self.y)).all():
            self._diagnose("the derivative is not finite")
        return not self.status

    def _segment(self) -> None:
        held = self.moving.held
        start = self.moving.joined(self._x, self._work)
        solver = self.make_solver(self.moving.slope, self.t, start, self._bound)
        passing = [what for what in self._passing if self._state.is_during(what.during)]
        resting = [Watched("", partial(held.value, what), partial(self._let_go_or_stop, held, what))
                   for what in held.watched] if held else []
        watched = [*passing, *resting]
        before = self._values(watched, self.t, self.y)
        for event in self._at_zero:
            if event in watched:
                before[watched.index(event)] = 0.0  # to the last digit: what comes back within a step is found
        self._at_zero = []
        while solver.status == "running":
            try:
                failure = solver.step()
            except (ValueError, np.linalg.LinAlgError) as error:  # implicit methods, when they meet what is not finite
                return self._diagnose(str(error))
            if solver.status == "failed":
                return self._diagnose(failure)
            self.steps += 1
            dense = solver.dense_output()
            times = solver.t_old + (solver.t - solver.t_old) * _LOOKS
            times[-1] = solver.t
            looks = np.array([before, *[self._values(watched, t, dense(t)) for t in times[1:-1]],
                              self._values(watched, solver.t, solver.y)]) if watched else np.zeros((len(times), 0))
            if np.isnan(looks[:, :len(passing)]).any():
                self._advance(solver.t, solver.y, dense)
                broken = watched[int(np.argmax(np.isnan(looks).any(0)))]
                return self._finish("not finite", f"event {broken.name!r} is not a number at t = {self.t:.9g}")
            if self._happens(watched, times, looks, dense):
                return None
            self._advance(solver.t, solver.y, dense)
            before = looks[-1]
            spent = self.moving.evaluations
            if self.max_evaluations is not None and spent > self.max_evaluations:
                return self._finish("budget", f"{spent} evaluations of the state equation were spent at t = "
                                    f"{self.t:.6g}")
        return None

    def _happens(self, watched: list[Watched], times: Array, looks: Array, dense: Scalar) -> bool:
        """Deal with what happens inside the step, in its order; True if a new segment must be started."""
        found = sorted((at, k) for k, what in enumerate(watched)
                       for at in self._instants(what, what.sign, times, looks[:, k], dense))
        acting = next((at for at, k in found if watched[k].act), np.inf)
        now = []
        for at, k in found:
            if at < acting or _same(at, acting):
                now += [watched[k]] if _same(at, acting) else []
                if watched[k].act is None:
                    self._occurred(watched[k].name, "recorded", at)
                if self.status:  # a storm
                    acting = min(acting, at)
                    break
        if acting == np.inf:
            return False
        self._advance(acting, dense(acting), dense)
        for what in now:
            if what.act is not None:
                what.act()
        self._at_zero = [
            what for k, what in enumerate(watched) if what.sign is not None and (what in now or any(
                _same(at, acting) for at in self._instants(what, 0, times, looks[:, k], dense)))]
        return True

    def _instants(self, what: Watched, sign: int | None, times: Array, values: Array, dense: Scalar) -> list[float]:
        """The instants at which a number changes its sign in the step."""
        def value(t: float) -> float:
            return what.value(Look(self.moving, t, dense(t)))

        if sign is not None:
            return happenings(value, times, values, sign, at_once=self.steps == 1 and what.at_once)
        at = loss(value, times, values, _TOUCHING)
        return [] if at is None else [at]

    def _let_go_or_stop(self, held: Standstill, what: Stop | int | ContactEnd) -> None:
        """A velocity that was held is let go, one that slid stands still, contacts change, or a limit is reached."""
        if isinstance(what, ContactEnd):
            assert isinstance(held, Touching)
            try:
                return self._jump(held.reached(what, Look(self.moving, self.t, self.y)))
            except SingularityError as error:
                return self._finish("singular", f"{error} (at t = {self.t:.9g})")
        if isinstance(what, int):
            self._released = {**self._released, what: held.direction(what, Look(self.moving, self.t, self.y))}
        elif what in held.ends:
            self._occurred(what.name, "end")
            self._finish("limit", f"joint {what.name} was reached at t = {self.t:.9g}")
        else:
            self._released = {k: way for k, way in self._released.items() if k != what.column}
            x = self._x
            x[what.coordinate] = what.limit  # to the last digit
            self._jump(x)
        return None

    def _change(self, transition: Transition) -> None:
        """The state (size) after a transition; the end, if there is none to which it leads."""
        if not self._state.is_during(transition.during):  # another at this instant may have changed the mode
            return None
        x = self.moving.whole(self._x)
        self._occurred(transition.name, "transition", counted=transition.counted)
        smooth = self.moving.smooth
        after = self.moving.jumped(transition, self.t, x)
        if not np.isfinite(after).all():
            why = self.moving.explained(np.concatenate([x[:smooth], after[smooth:]]))
            return self._finish("not finite", f"transition {transition.name!r} leads to no state at t = {self.t:.9g}: "
                                f"{why or 'its jump is not finite'}")
        self.moving.modes = after[smooth:]
        self._jump(after[:smooth], x)
        return self._look_for_storm(transition.name) if transition.counted else None

    def _act_on_event(self, event: Event) -> None:
        self._occurred(event.name, "end" if event.action == "end" else "effect")
        if event.effect is not None:
            self._jump(self._effect(event, self._x))
            self._look_for_storm(event.name)
        if event.action == "end":
            self._finish("event", f"event {event.name!r} ended the simulation at t = {self.t:.9g}")

    def _look_for_storm(self, name: str) -> None:
        between = np.diff([o.t for o in self.happened if o.name == name][-4:])
        if len(between) == 3 and between[2] < between[1] < between[0] and between[2] < _SHORT * max(1.0, abs(self.t)):
            self._finish(
                "event storm",
                f"event {name!r} has its effect ever faster at t = {self.t:.9g}: let the effect put an end to it, "
                "or use what can rest in the end: modes, or the limits of joints")

    def _effect(self, event: Event, x: Array) -> Array:
        layout = replace(self.system.layout, whose=f"the effect of event {event.name!r}", modes={})
        given = event.effect(self.t, *layout.parts(x).values())  # type: ignore[misc]
        try:
            after = dict(zip(layout.blocks, given if len(layout.blocks) > 1 else [given], strict=True))
        except (TypeError, ValueError) as error:
            raise SignatureError(f"{layout.whose} must return ({', '.join(layout.blocks)}): {error}") from error
        vector = layout.vectors(layout.given(after))
        if vector.ndim > 1:
            raise SignatureError(f"{layout.whose} must return one state, not {vector.shape[:-1]} of them")
        check_constraints(self.system, self.t, self.moving.whole(vector), self.driving.at(self.t, vector).values(),
                          self.moving.parameters, f"the effect of event {event.name!r} returned")
        return vector

    def _values(self, watched: Sequence[Watched], t: float, y: Array) -> Array:
        look = Look(self.moving, t, y)
        return np.array([what.value(look) for what in watched])

    # The state

    @property
    def _x(self) -> Array:
        """The coordinates (smooth) here and now."""
        return self.moving.coordinates(self.t, self.y)

    @property
    def _state(self) -> State:
        return self.system.layout.state(self.moving.whole(self.y[:self.moving.smooth]))

    @property
    def _work(self) -> float:
        return self.y[self.moving.smooth]

    def _jump(self, x: Array, left: Array | None = None) -> None:
        """Another state here and now. The energy that comes or goes is booked as work; `left` is the state (size)
        before, on the constraints of the modes before."""
        work = self._work
        if self.system.energy is not None:
            before = self._x if left is None else left
            work = work + self.moving.energy(self.t, x) - self.moving.energy(self.t, before)
        self._put(self.moving.joined(x, work))

    def _put(self, y: Array) -> None:
        """Another state of the solver here and now."""
        self.y = y
        if self.kept and self.t - self.kept[-1][0] <= _SAME * max(1.0, abs(self.t)):
            self.kept[-1] = (self.kept[-1][0], self.y, self.moving.modes)

    def _advance(self, t: float, y: Array, dense: Scalar) -> None:
        self.pieces.append((self.t, dense, self.moving.modes))
        self._bar.reached(t - self._began)
        if t - self.t > _SAME * max(1.0, abs(t)):
            self._released = {}  # else what is let go within rounding of the same instant stays so, one after the other
        self.t, self.y = float(t), self.moving.shown(float(t), self.moving.cleaned(float(t), y))
        if self.instants is None:
            self._keep() if self.t > self.kept[-1][0] else None
        else:
            self._keep_until(self.t, dense)

    def _keep(self) -> None:
        self.kept.append((self.t, self.y, self.moving.modes))

    def _keep_until(self, t: float, dense: Callable[[float], Array]) -> None:
        assert self.instants is not None
        while self._next < len(self.instants) and self.instants[self._next] <= t:
            instant = float(self.instants[self._next])
            y = self.moving.shown(instant, self.moving.cleaned(instant, dense(instant)))
            self.kept.append((instant, y, self.moving.modes))
            self._next += 1

    def _occurred(self, name: str, action: str, t: float | None = None, *, counted: bool = True) -> None:
        self.happened.append(Occurrence(self.t if t is None else t, name, action))
        self._counted += counted and action not in FRICTION_WORDS
        if self._counted > self.max_events:
            self._finish(
                "event storm",
                f"more than {self.max_events} events until t = {self.t:.9g}, the last of them {name!r}: they "
                "follow each other ever faster, or max_events is too small")

    # The end

    def _finish(self, status: str, message: str) -> None:
        self.status = self.status or status
        self.message = self.message or message

    def _diagnose(self, said: str) -> None:
        x = self._x
        reason = self.moving.explained(x)
        if reason is not None:
            return self._finish("singular", f"{reason} (at t = {self.t:.9g})")
        slope = self.moving.slope
        if np.isfinite(slope(self.t, self.y)).all() and "finite" not in said and np.isfinite(
                slope(*self._later())).all():
            return self._finish(
                "step too small", f"the tolerances cannot be met at t = {self.t:.9g}: {said} Forces may jump or grow "
                "without bound there")
        culprits = [name for name, value in self.driving.at(self.t, x).items() if not np.isfinite(value).all()]
        names = ["the joint forces" if name == "tau" else f"the input {name!r}" for name in culprits]
        culprit = f", because of {names[0]}" if names else self._undefined()
        return self._finish(
            "not finite", f"the motion cannot be continued beyond t = {self.t:.9g}: the "
            f"derivatives are not finite{culprit}")

    def _undefined(self) -> str:
        """The outputs that are no numbers, here or a little later, in words."""
        for t, y in ((self.t, self.y), self._later()):
            why = self.moving.without_value(t, self.moving.coordinates(t, y))
            if why:
                return f", because {why}"
        return ""

    def _later(self) -> tuple[float, Array]:
        later = 1e-9 * abs(self.end - self.t)
        slope = self.moving.slope(self.t, self.y)
        flat = all(block.is_flat for block in self.system.blocks.values())
        y = self.y + later * slope if np.isfinite(slope).all() and flat else self.y
        return np.nextafter(self.t, np.inf) + later, y

    def _result(self) -> Trajectory:
        if not self.kept or (self.status != "finished" and self.kept[-1][0] < self.t):
            self._keep()
        t = np.array([t for t, _, _ in self.kept])
        y = np.array([y for _, y, _ in self.kept])
        modes = np.array([modes for _, _, modes in self.kept]).reshape(len(t), -1)
        smooth = self.moving.smooth
        x = np.concatenate([y[:, :smooth], modes], axis=1)
        starts = np.array([t for t, _, _ in self.pieces])
        dense = Dense(self.system.layout, starts, [piece[1:] for piece in self.pieces]) if self.pieces else None
        if self.mechanism is not None:
            q = x[:, self.system.layout.places["q"]]
            self.status, self.message = self.mechanism.outcome(t, q, self.status, self.message)
        facts = {**self.facts, "evaluations": self.moving.evaluations, "steps": self.steps}
        return Trajectory(
            self.system, t, x, y[:, smooth], self.driving.along(t, x), self.driving.parameters, self.status,
            self.message, tuple(self.happened), facts=facts, dense=dense, mechanism=self.mechanism)


def _same(one: float, other: float) -> bool:
    """True if two instants differ by rounding alone."""
    return abs(one - other) <= 4 * np.spacing(abs(other))


def _event_value(event: Event, look: Look) -> float:
    return event.value(look.t, *look.moving.system.layout.parts(look.x).values())


def _guard(number: int, look: Look) -> float:
    return float(look.guards[number])
