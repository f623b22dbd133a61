"""A simulation on its way: segments between events, each followed by one of SciPy's solvers, step by step.

The steps are taken here, and not by `solve_ivp`, because what was found must be kept when a step fails. The solver's
state is y = (coordinates, work, impulse): the impulse of what is held at rest is integrated too, so that the steps are
short enough to see when these reactions reach their bounds, though nothing moves. Modes are constant in a segment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import SignatureError, SingularityError
from cayley.systems.driving import Driving
from cayley.systems.events import Event, happenings, loss
from cayley.systems.layout import Blocks, Layout
from cayley.systems.progress import PatientBar
from cayley.systems.running_kernels import RunningKernels
from cayley.systems.standstill import FRICTION_WORDS, Standstill
from cayley.systems.trajectory import JointNames, Occurrence, Trajectory
from cayley.systems.transitions import Transition

_LOOKS = np.array([0.0, 1e-3, 0.25, 0.5, 0.75, 1 - 1e-3, 1.0])  # of a step: where watched functions are evaluated
_TURNS = 100  # segments that may begin at one time
_SAME = 1e-13  # of a time: what is not longer is no time
_SHORT = 1e-6  # seconds: where the ever shorter times between the effects of an event have no end that can be reached
_TOUCHING = 1e-12  # what may be negative of what must not be
_NONE = np.zeros(0)


@dataclass
class Run:
    """A simulation on its way."""

    driving: Driving
    parameters: Mapping[str, Array]
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
    evaluations: int = 0
    steps: int = 0
    kept: list[tuple[float, Array, Array]] = field(default_factory=list)  # time, y, modes
    pieces: list[tuple[float, Any, Array]] = field(default_factory=list)
    happened: list[Occurrence] = field(default_factory=list)

    def go(self, x: Mapping[str, Array], progress: bool) -> Trajectory:
        """From a state to the end."""
        self.system = self.driving.system
        self._begin(self.system.layout.vectors(x))
        with PatientBar(f"{self.system.name}, simulation", self.end - self.t, shown=progress) as self._bar:
            self._go_on()
        return self._result()

    def _begin(self, x: Array) -> None:
        reason = self._explained(x)
        if reason is not None:
            raise SingularityError(reason)
        self.kernels = RunningKernels(self.system, self.parameters)
        self.modes = x[self._smooth:]
        self._began = self.t
        self._next = 0
        self._counted = 0
        self.held = Standstill(self.system, self._matrices) if any(
            part.possible for part in self.system.holds) else None
        self._flat = all(block.is_flat for block in self.system.blocks.values())
        self.y = self._joined(self._blocks(x[:self._smooth]), 0.0)
        self._released: Mapping[int, float] = {}
        self._at_zero: list[Any] = []
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
        x = self._parts(self.y)
        self._bound = min(self.end, self.driving.next_tick(self.t, x))
        if self.held is not None:
            vector, struck = self.held.impacts(self.t, _flat(x))
            for name in struck:
                self._occurred(name, "impact")
            if struck:
                self._jump(self._blocks(vector))
            for name, word in self.held.settle(self.t, vector, partial(self._free_slope, vector), self._released):
                self._occurred(name, word)
            self._released = {}
        if not np.isfinite(self._slope(self.t, self.y)).all():
            self._diagnose("the derivative is not finite")
        return not self.status

    def _segment(self) -> None:
        start = self._joined(self._parts(self.y), self.y[self._smooth])
        solver = self.make_solver(self._slope, self.t, start, self._bound)
        passing = [*self.events, *self._transitions()]
        watched: list[Any] = [*passing, *(self.held.watched if self.held else ())]
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
            if self.max_evaluations is not None and self.evaluations > self.max_evaluations:
                return self._finish(
                    "budget", f"{self.evaluations} evaluations of the state equation were spent at t = {self.t:.6g}")
        return None

    def _transitions(self) -> list[Transition]:
        """The transitions that are watched in the present modes."""
        names = {name: words[int(number)] for (name, words), number in zip(self.system.layout.modes.items(), self.modes,
                                                                           strict=True)}
        return [transition for transition in self.system.transitions
                if all(names[mode] == word for mode, word in transition.during.items())]

    def _happens(self, watched: list[Any], times: Array, looks: Array, dense: Scalar) -> bool:
        """Deal with what happens inside the step, in its order; True if a new segment must be started."""
        found = sorted((at, k) for k, what in enumerate(watched)
                       for at in self._instants(what, times, looks[:, k], dense))
        acting = next((at for at, k in found if not _only_recorded(watched[k])), np.inf)
        now = []
        for at, k in found:
            if at < acting or _same(at, acting):
                now += [watched[k]] if _same(at, acting) else []
                if _only_recorded(watched[k]):
                    self._occurred(watched[k].name, "recorded", at)
                if self.status:  # a storm
                    acting = min(acting, at)
                    break
        if acting == np.inf:
            return False
        self._advance(acting, dense(acting), dense)
        for what in now:
            self._act(what)
        self._at_zero = [
            what for k, what in enumerate(watched) if isinstance(what, (Event, Transition)) and (what in now or any(
                _same(at, acting) for at in self._changes(what, 0, times, looks[:, k], dense)))]
        return True

    def _instants(self, what: Any, times: Array, values: Array, dense: Scalar) -> list[float]:  # noqa: ANN401 (an event or a transition of either kind)
        if isinstance(what, (Event, Transition)):
            return self._changes(what, what.sign, times, values, dense)
        at = loss(partial(self._value, what, dense), times, values, _TOUCHING)
        return [] if at is None else [at]

    def _changes(self, what: Event | Transition, sign: int, times: Array, values: Array, dense: Scalar) -> list[float]:
        at_once = self.steps == 1 and isinstance(what, Transition) and what.sign != 0
        return happenings(partial(self._value, what, dense), times, values, sign, at_once=at_once)

    def _act(self, what: Any) -> None:  # noqa: ANN401 (an event or a transition of either kind)
        x = self._parts(self.y)
        if isinstance(what, Event):
            self._act_on_event(what, x)
        elif isinstance(what, Transition):
            if what in self._transitions():  # another at this instant may have changed the mode
                self._occurred(what.name, "transition", counted=what.counted)
                after = self.kernels.jumped(what, self.t, self._vector(x), self.driving.at(self.t, x))
                if not np.isfinite(after).all():
                    return self._no_jump(what, x, after[self._smooth:])
                self.modes = after[self._smooth:]
                self._jump(self._blocks(after[:self._smooth]), x)
                if what.counted:
                    self._look_for_storm(what.name)
        else:
            assert self.held is not None
            changed, released, end = self.held.act(what, self.t, _flat(x), self._reaction(self.t, self.y))
            self._released = {**self._released, **released}
            if changed is not None:
                self._jump(self._blocks(changed))
            if end is not None:
                status, name, message = end
                self._occurred(name, "end")
                self._finish(status, f"{message} at t = {self.t:.9g}")

    def _no_jump(self, transition: Transition, x: Blocks, modes: Array) -> None:
        """The end, at the state that a transition leaves: there is none to which it leads."""
        why = self._explained(np.concatenate([_flat(x), modes]))
        self._finish("not finite", f"transition {transition.name!r} leads to no state at t = {self.t:.9g}: "
                     f"{why or 'its jump is not finite'}")

    def _act_on_event(self, event: Event, x: Blocks) -> None:
        if _only_recorded(event):
            return
        self._occurred(event.name, "end" if event.action == "end" else "effect")
        if event.effect is not None:
            self._jump(self._effect(event, x))
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

    def _effect(self, event: Event, x: Blocks) -> Blocks:
        names = list(self.system.blocks)
        returned = ", ".join(names)
        given = event.effect(self.t, *x.values())  # type: ignore[misc]
        try:
            found = [np.asarray(part, dtype=float) for part in (given if len(names) > 1 else [given])]
            after = dict(zip(names, found, strict=True))
        except (TypeError, ValueError) as error:
            raise SignatureError(f"the effect of event {event.name!r} must return ({returned}): {error}") from error
        for name, block in self.system.blocks.items():
            if after[name].shape != block.shape:
                raise SignatureError(f"the effect of event {event.name!r} returned {name} of the shape "
                                     f"{after[name].shape}, not {block.shape}")
            block.manifold.check(after[name], f"the effect of event {event.name!r}: {name}")
        self.kernels.check_constraints(self.t, self._vector(after), self.driving.at(self.t, after),
                                       f"the effect of event {event.name!r} returned")
        return after

    # What is watched

    def _values(self, watched: Sequence[Any], t: float, y: Array) -> Array:
        x = self._parts(y, t)
        guards = None
        if any(isinstance(what, Transition) for what in watched):
            guards = self.kernels.guards(t, self._vector(x), self.driving.at(t, x))
        found = []
        for what in watched:
            if isinstance(what, Event):
                found.append(what.value(t, *x.values()))
            elif isinstance(what, Transition):
                found.append(guards[self.system.transitions.index(what)])  # type: ignore[index]
            else:
                assert self.held is not None
                found.append(self.held.value(what, t, _flat(x), lambda: self._reaction(t, y)))
        return np.array(found)

    def _value(self, what: Any, dense: Scalar, t: float) -> float:  # noqa: ANN401 (an event or a transition of either kind)
        return float(self._values([what], t, dense(t))[0])

    # The state

    @cached_property
    def _smooth(self) -> int:
        return self.system.layout.smooth

    @cached_property
    def _reactions(self) -> int:
        return 0 if self.held is None else self.held.count

    def _blocks(self, coordinates: Array) -> Blocks:
        """The blocks of coordinates (smooth)."""
        return {name: coordinates[place].reshape(self.system.blocks[name].shape)
                for name, place in self.system.layout.places.items()}

    def _vector(self, x: Blocks) -> Array:
        return np.concatenate([*[part.ravel() for part in x.values()], self.modes])

    def _parts(self, y: Array, t: float | None = None) -> Blocks:
        """The blocks of a solver's state, here and now or at another time, brought back to where they lie."""
        x = self._blocks(y[:self._smooth].copy())
        if self.system.constraints:
            t = self.t if t is None else t
            vector = self.kernels.constrained(t, self._vector(self._straight(x)), self.driving.at(t, x))
            return self._blocks(vector[:self._smooth])
        return self._straight(x)

    def _straight(self, x: Blocks) -> Blocks:
        if self._flat:
            return x
        return {name: part if block.is_flat else block.manifold.nearest(part)
                for (name, block), part in zip(self.system.blocks.items(), x.values(), strict=True)}

    def _joined(self, x: Blocks, work: float) -> Array:
        return np.concatenate([*[part.ravel() for part in x.values()], [work], np.zeros(self._reactions)])

    def _free(self, t: float, y: Array) -> Array:
        """The slope of (coordinates, work) without what is held at rest."""
        self.evaluations += 1
        if not np.isfinite(y).all():
            return np.full(self._smooth + 1, np.nan)
        x = self._blocks(y[:self._smooth].copy())
        friction = _NONE if self.held is None else self.held.forces
        return self.kernels.slope(t, x, self.modes, self.driving.at(t, self._straight(x)), friction)

    def _free_slope(self, x: Array) -> Array:
        return self._free(self.t, np.concatenate([x, np.zeros(1)]))[:self._smooth]

    def _matrices(self, t: float, x: Array) -> tuple[Array, Array]:
        """The inertia of what may be held, and the rows of its constraints, at a state (smooth)."""
        return self.kernels.matrices(t, np.concatenate([x, self.modes]), self.driving.at(t, self._blocks(x)))

    def _slope(self, t: float, y: Array) -> Array:
        slope = self._free(t, y)
        if self.held is None:
            return slope
        reaction = np.zeros(self._reactions)
        if self.held.held.any() and np.isfinite(slope).all():
            slope[:self._smooth], reaction = self.held.resolved(t, _flat(self._parts(y, t)), slope[:self._smooth])
        return np.concatenate([slope, reaction])

    def _reaction(self, t: float, y: Array) -> Array:
        return self._slope(t, y)[self._smooth + 1:]

    def _jump(self, x: Blocks, left: Blocks | None = None) -> None:
        """Another state here and now. The energy that comes or goes is booked as work; `left` is the state before, on
        the constraints of the modes before."""
        work = self.y[self._smooth]
        if self.system.energy is not None:
            inputs = self.driving.at(self.t, x)
            before, after = (self.kernels.energy(self.t, self._vector(state), inputs)
                             for state in (left or self._parts(self.y), x))
            work = work + after - before
        self.y = self._joined(x, work)
        if self.kept and _same(self.kept[-1][0], self.t):
            self.kept[-1] = (self.kept[-1][0], self.y, self.modes)

    def _advance(self, t: float, y: Array, dense: Scalar) -> None:
        self.pieces.append((self.t, dense, self.modes))
        self._bar.reached(t - self._began)
        self.t, self.y = float(t), self._cleaned(float(t), y)
        if self.instants is None:
            self._keep() if self.t > self.kept[-1][0] else None
        else:
            self._keep_until(self.t, dense)

    def _cleaned(self, t: float, y: Array) -> Array:
        """A state of the solver on its manifolds, with what is held at rest to the last digit."""
        x = self._parts(y, t)
        return self._joined(x if self.held is None else self._blocks(self.held.cleaned(_flat(x))), y[self._smooth])

    def _keep(self) -> None:
        self.kept.append((self.t, self.y, self.modes))

    def _keep_until(self, t: float, dense: Callable[[float], Array]) -> None:
        assert self.instants is not None
        while self._next < len(self.instants) and self.instants[self._next] <= t:
            instant = float(self.instants[self._next])
            self.kept.append((instant, self._cleaned(instant, dense(instant)), self.modes))
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
        x = self._parts(self.y)
        reason = self._explained(self._vector(x))
        if reason is not None:
            return self._finish("singular", f"{reason} (at t = {self.t:.9g})")
        if np.isfinite(self._slope(self.t, self.y)).all() and "finite" not in said and np.isfinite(self._ahead()).all():
            return self._finish(
                "step too small", f"the tolerances cannot be met at t = {self.t:.9g}: {said} Forces may jump or grow "
                "without bound there")
        culprits = [name for name, value in self.driving.at(self.t, x).items() if not np.isfinite(value).all()]
        culprit = f", because of {self.driving.called(culprits[0])}" if culprits else self._undefined()
        return self._finish(
            "not finite", f"the motion cannot be continued beyond t = {self.t:.9g}: the "
            f"derivatives are not finite{culprit}")

    def _undefined(self) -> str:
        """The outputs that are no numbers, here or a little later, in words."""
        for t, y in ((self.t, self.y), self._later()):
            x = self._parts(y, t)
            why = self.kernels.without_value(t, self._vector(x), self.driving.at(t, x))
            if why:
                return f", because {why}"
        return ""

    def _ahead(self) -> Array:
        """The slope a little later: where a function of time or of the state has left the numbers."""
        return self._slope(*self._later())

    def _later(self) -> tuple[float, Array]:
        later = 1e-9 * abs(self.end - self.t)
        slope = self._slope(self.t, self.y)
        y = self.y + later * slope if np.isfinite(slope).all() and self._flat else self.y
        return np.nextafter(self.t, np.inf) + later, y

    def _explained(self, x: Array) -> str | None:
        """The reason why there is no derivative at a state (size), if the system knows one."""
        return self.system.explain(self.system.layout.state(x)) if self.system.explain is not None else None

    def _result(self) -> Trajectory:
        if not self.kept or (self.status != "finished" and self.kept[-1][0] < self.t):
            self._keep()
        t = np.array([t for t, _, _ in self.kept])
        y = np.array([y for _, y, _ in self.kept])
        modes = np.array([modes for _, _, modes in self.kept]).reshape(len(t), -1)
        x = np.concatenate([y[:, :self._smooth], modes], axis=1)
        starts = np.array([t for t, _, _ in self.pieces])
        dense = Dense(self.system.layout, starts, [piece[1:] for piece in self.pieces]) if self.pieces else None
        if self.mechanism is not None:
            q = x[:, self.system.layout.places["q"]]
            self.status, self.message = self.mechanism.outcome(t, q, self.status, self.message)
        return Trajectory(
            self.system, t, x, y[:, self._smooth], self.driving.along(t, x), self.parameters, self.status, self.message,
            tuple(self.happened), facts={**self.facts, "evaluations": self.evaluations, "steps": self.steps},
            dense=dense, mechanism=self.mechanism)


@dataclass(frozen=True)
class Dense:
    """The solvers' own interpolation, piece by piece: times (m) to states (m, size)."""

    layout: Layout
    starts: Array
    pieces: list[tuple[Any, Array]]

    def __call__(self, times: Array) -> Array:
        layout = self.layout
        which = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, None)
        found = np.array([np.concatenate([self.pieces[k][0](t)[:layout.smooth], self.pieces[k][1]])
                          for k, t in zip(which, times, strict=True)]).reshape(len(times), layout.size)
        for name, block in layout.blocks.items():
            if not block.is_flat:
                place = layout.places[name]
                found[:, place] = block.manifold.nearest(found[:, place])
        return found


def _flat(x: Blocks) -> Array:
    """The smooth coordinates of blocks, as a vector of its own."""
    return np.concatenate([part.ravel() for part in x.values()])


def _same(one: float, other: float) -> bool:
    """True if two instants differ by rounding alone."""
    return abs(one - other) <= 4 * np.spacing(abs(other))


def _only_recorded(what: Any) -> bool:  # noqa: ANN401 (an event or a transition of either kind)
    return isinstance(what, Event) and what.action == "record" and what.effect is None
