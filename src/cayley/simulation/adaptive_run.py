"""A simulation on its way: segments between events, each followed by one of SciPy's solvers, step by step.

The steps are taken here, and not by `solve_ivp`, because what was found must be kept when a step fails. The solver's
state is y = (q, v, work, impulse): the impulse (nv) of what holds joints at rest is integrated too, so that the steps
are short enough to see when these forces reach their bounds, though nothing moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from cayley.dynamics.forward.singular_inertia import why_singular
from cayley.errors import SignatureError
from cayley.model.configurations import check_configuration, normalized, quaternion_places
from cayley.model.tree import Tree
from cayley.simulation.balance import balance_kernel
from cayley.simulation.events import Event, happenings, loss
from cayley.simulation.forces import Forces
from cayley.simulation.progress import PatientBar
from cayley.simulation.rest import FRICTION_WORDS, Holding, Rest, Sliding
from cayley.simulation.stops import TOUCHING, Stop
from cayley.simulation.trajectory import Occurrence, Trajectory

_LOOKS = np.array([0.0, 1e-3, 0.25, 0.5, 0.75, 1 - 1e-3, 1.0])  # of a step: where watched functions are evaluated
_TURNS = 100  # segments that may begin at one time
_SAME = 1e-13  # of a time: what is not longer is no time
_SHORT = 1e-6  # seconds: where the ever shorter times between the effects of an event have no end that can be reached


@dataclass
class Run:
    """A simulation on its way."""

    tree: Tree
    forces: Forces
    rest: Rest
    ends: list[Stop]  # limits at which the simulation ends
    events: tuple[Event, ...]
    instants: np.ndarray | None
    end: float
    max_events: int
    max_evaluations: int | None
    make_solver: Callable[[Callable, float, np.ndarray, float], Any]
    status: str = ""
    message: str = ""
    evaluations: int = 0
    steps: int = 0
    kept: list[tuple[float, np.ndarray]] = field(default_factory=list)
    pieces: list[tuple[float, Any]] = field(default_factory=list)
    happened: list[Occurrence] = field(default_factory=list)

    def start(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        self.t = t
        self._next = 0
        self._counted = 0
        self.y = self._joined(q, v, 0.0)
        self._released: dict[int, float] = {}
        self._at_zero: list[Event] = []
        self._turns = any(True for _ in quaternion_places(self.tree))
        self.kept.append((t, self.y)) if self.instants is None else self._keep_until(t, lambda _: self.y)

    def go(self, bar: PatientBar) -> None:
        self._bar = bar
        self._began = self.t
        here = self.t
        turns = 0
        while not self.status:
            if self.t >= self.end:
                self._finish("finished", f"the end, t = {self.end:.6g}, was reached")
            elif turns > _TURNS:
                self._finish("event storm", f"events follow each other without end at t = {self.t:.9g}")
            elif self._prepare():
                self._segment()
            here, turns = (here, turns + 1) if self.t - here <= _SAME * max(1.0, abs(here)) else (self.t, 0)

    # One segment: between two instants at which something is started anew

    def _prepare(self) -> bool:
        """Resolve what touches and what is at rest, look with the controller; False if there is no going on."""
        q, v = self._parts(self.y)
        self._bound = min(self.end, self.forces.next_tick(self.t, q, v))
        if self.rest.possible:
            v, struck = self.rest.impacts(q, v)
            for stop in struck:
                self._happened(stop.name, "impact")
            if struck:
                self._jump(q, v)
            for name, word in self.rest.settle(q, v, partial(self._free_acceleration, q, v), self._released):
                self._happened(name, word)
            self._released = {}
        if not np.isfinite(self._slope(self.t, self.y)).all():
            self._diagnose("the acceleration is not finite")
        return not self.status

    def _segment(self) -> None:
        start = self._joined(*self._parts(self.y), self.y[self._work])
        solver = self.make_solver(self._slope, self.t, start, self._bound)
        watched: list[Any] = [*self.events, *self.ends, *self.rest.watched]
        before = self._values(watched, self.t, self.y)
        for event in self._at_zero:
            before[watched.index(event)] = 0.0  # it is there, to the last digit: what comes back within a step is found
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
            if np.isnan(looks[:, :len(self.events)]).any():
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

    def _happens(self, watched: list[Any], times: np.ndarray, looks: np.ndarray, dense: Any) -> bool:
        """Deal with what happens inside the step, in its order; True if a new segment must be started."""
        found = sorted((at, k) for k, what in enumerate(watched)
                       for at in self._instants(what, times, looks[:, k], dense))
        acting = next((at for at, k in found if not _only_recorded(watched[k])), np.inf)
        now = []
        for at, k in found:
            if at < acting or _same(at, acting):
                now += [watched[k]] if _same(at, acting) else []
                if _only_recorded(watched[k]):
                    self._happened(watched[k].name, "recorded", at)
                if self.status:  # a storm
                    acting = min(acting, at)
                    break
        if acting == np.inf:
            return False
        self._advance(acting, dense(acting), dense)
        for what in now:
            self._act(what)
        self._at_zero = [what for k, what in enumerate(self.events)
                         if any(_same(at, acting) for at in self._changes(what, 0, times, looks[:, k], dense))]
        return True

    def _instants(self, what: Any, times: np.ndarray, values: np.ndarray, dense: Any) -> list[float]:
        if isinstance(what, Event):
            return self._changes(what, what.sign, times, values, dense)
        at = loss(partial(self._value, what, dense), times, values, TOUCHING)
        return [] if at is None else [at]

    def _changes(self, what: Event, sign: int, times: np.ndarray, values: np.ndarray, dense: Any) -> list[float]:
        return happenings(partial(self._value, what, dense), times, values, sign)

    def _act(self, what: Any) -> None:
        q, v = self._parts(self.y)
        if isinstance(what, Event):
            if _only_recorded(what):
                return
            self._happened(what.name, "end" if what.action == "end" else "effect")
            if what.effect is not None:
                self._jump(*self._effect(what, q, v))
                self._look_for_storm(what.name)
            if what.action == "end":
                self._finish("event", f"event {what.name!r} ended the simulation at t = {self.t:.9g}")
        elif isinstance(what, Holding):
            self._released[what.column] = self.rest.direction(what.column, self._reaction(self.t, self.y))
        elif isinstance(what, Sliding):
            v[what.column] = 0.0
            self._jump(q, v)
        elif what in self.ends:
            self._happened(what.name, "end")
            self._finish("limit", f"joint {what.name} was reached at t = {self.t:.9g}")
        else:
            q[what.coordinate] = what.limit  # to the last digit, so that it touches
            self._jump(q, v)

    def _look_for_storm(self, name: str) -> None:
        between = np.diff([o.t for o in self.happened if o.name == name][-4:])
        if len(between) == 3 and between[2] < between[1] < between[0] and between[2] < _SHORT * max(1.0, abs(self.t)):
            self._finish(
                "event storm",
                f"event {name!r} has its effect ever faster at t = {self.t:.9g}: let the effect put an end to it, "
                "or use the limits of joints, which rest in the end")

    def _effect(self, event: Event, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            q, v = (np.asarray(x, dtype=float) for x in event.effect(self.t, q, v))  # type: ignore[misc]
        except (TypeError, ValueError) as error:
            raise SignatureError(f"the effect of event {event.name!r} must return (q, qd): {error}") from error
        check_configuration(self.tree, q, limits=False)
        if v.shape != (self.tree.nv,):
            raise SignatureError(
                f"the effect of event {event.name!r} returned qd of the shape {v.shape}, not ({self.tree.nv},)")
        return q, v

    # What is watched

    def _values(self, watched: list[Any], t: float, y: np.ndarray) -> np.ndarray:
        q, v = self._parts(y)
        reaction = self._reaction(t, y) if any(isinstance(what, Holding) for what in watched) else None
        return np.array([what.value(t, q, v) if isinstance(what, Event) else
                         what.gap(q) if isinstance(what, Stop) else
                         what.direction * v[what.column] if isinstance(what, Sliding) else
                         self.rest.slack(what.column, reaction) for what in watched])  # type: ignore[arg-type]

    def _value(self, what: Any, dense: Any, t: float) -> float:
        return float(self._values([what], t, dense(t))[0])

    # The state

    @property
    def _velocities(self) -> slice:
        return slice(self.tree.nq, self.tree.nq + self.tree.nv)

    @property
    def _work(self) -> int:
        return self.tree.nq + self.tree.nv

    def _parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return normalized(self.tree, y[:self.tree.nq]), y[self._velocities].copy()

    def _joined(self, q: np.ndarray, v: np.ndarray, work: float) -> np.ndarray:
        return np.concatenate([q, v, [work], np.zeros(self.tree.nv if self.rest.possible else 0)])

    def _free(self, t: float, y: np.ndarray) -> np.ndarray:
        """The slope of (q, v, work) without what holds joints at rest."""
        self.evaluations += 1
        q = y[:self.tree.nq].copy()
        v = y[self._velocities].copy()
        if not np.isfinite(y).all():
            return np.full(self._work + 1, np.nan)
        return self.forces(t, q, v, normalized(self.tree, q) if self._turns else q, self.rest.friction)

    def _free_acceleration(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._free(self.t, self._joined(q, v, 0.0))[self._velocities]

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        slope = self._free(t, y)
        reaction = np.zeros(len(y) - self._work - 1)
        if self.rest.held.any() and np.isfinite(slope).all():
            slope[self._velocities], reaction = self.rest.resolved(self._parts(y)[0], slope[self._velocities])
        return np.concatenate([slope, reaction])

    def _reaction(self, t: float, y: np.ndarray) -> np.ndarray:
        return self._slope(t, y)[self._work + 1:]

    def _jump(self, q: np.ndarray, v: np.ndarray) -> None:
        """Another state here and now. The energy that comes or goes is booked as work."""
        before, after = (np.sum(balance_kernel(self.tree)(*state)[:2]) for state in (self._parts(self.y), (q, v)))
        self.y = self._joined(q, v, self.y[self._work] + after - before)
        if self.kept and self.kept[-1][0] == self.t:
            self.kept[-1] = (self.t, self.y)

    def _advance(self, t: float, y: np.ndarray, dense: Any) -> None:
        self.pieces.append((self.t, dense))
        self._bar.reached(t - self._began)
        self.t, self.y = float(t), self._cleaned(y)
        if self.instants is None:
            self.kept.append((self.t, self.y)) if self.t > self.kept[-1][0] else None
        else:
            self._keep_until(self.t, dense)

    def _cleaned(self, y: np.ndarray) -> np.ndarray:
        """A state of the solver with attitudes of length one, and joints that are held at rest to the last digit."""
        q, v = self._parts(y)
        return self._joined(q, np.where(self.rest.held, 0.0, v), y[self._work])

    def _keep_until(self, t: float, dense: Callable[[float], np.ndarray]) -> None:
        assert self.instants is not None
        while self._next < len(self.instants) and self.instants[self._next] <= t:
            self.kept.append((float(self.instants[self._next]), self._cleaned(dense(self.instants[self._next]))))
            self._next += 1

    def _happened(self, name: str, action: str, t: float | None = None) -> None:
        self.happened.append(Occurrence(self.t if t is None else t, name, action))
        self._counted += action not in FRICTION_WORDS
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
        q, _ = self._parts(self.y)
        reason = why_singular(self.tree, q)
        if reason is not None:
            return self._finish("singular", f"{reason} (at t = {self.t:.9g})")
        if np.isfinite(self._slope(self.t, self.y)).all() and "finite" not in said and np.isfinite(self._ahead()).all():
            return self._finish(
                "step too small", f"the tolerances cannot be met at t = {self.t:.9g}: {said} Forces may jump or grow "
                "without bound there")
        culprit = "" if np.isfinite(self.forces.tau(self.t, *self._parts(
            self.y))).all() else ", because of the joint forces"
        return self._finish(
            "not finite", f"the motion cannot be continued beyond t = {self.t:.9g}: the accelerations are not "
            f"finite{culprit}")

    def _ahead(self) -> np.ndarray:
        """The slope a little later: where a function of time has left the numbers."""
        t = np.nextafter(self.t, np.inf) + 1e-9 * abs(self.end - self.t)
        return self._slope(t, self.y)

    def result(self, facts: dict[str, Any]) -> Trajectory:
        nq = self.tree.nq
        if not self.kept or (self.status != "finished" and self.kept[-1][0] < self.t):
            self.kept.append((self.t, self.y))
        t = np.array([t for t, _ in self.kept])
        y = np.array([y for _, y in self.kept])
        q = y[:, :nq]
        qd = y[:, self._velocities]
        return Trajectory.of(self.tree, t, q, qd, self.forces.along(t, q, qd), y[:, self._work], status=self.status,
                             message=self.message, happened=tuple(self.happened), facts=facts,
                             dense=self._dense() if self.pieces else None)

    def _dense(self) -> _Dense:
        return _Dense(self.tree, np.array([t for t, _ in self.pieces]), [dense for _, dense in self.pieces])


@dataclass(frozen=True)
class _Dense:
    """The solvers' own interpolation, piece by piece: what it is called with are times (m)."""

    tree: Tree
    starts: np.ndarray
    pieces: list[Any]

    def __call__(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        which = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, None)
        y = np.array([self.pieces[k](t) for k, t in zip(which, times, strict=True)]).reshape(len(times), -1)
        return normalized(self.tree, y[:, :self.tree.nq]), y[:, self.tree.nq:self.tree.nq + self.tree.nv]


def _same(one: float, other: float) -> bool:
    """Whether two instants differ by rounding alone."""
    return abs(one - other) <= 4 * np.spacing(abs(other))


def _only_recorded(what: Any) -> bool:
    return isinstance(what, Event) and what.action == "record" and what.effect is None
