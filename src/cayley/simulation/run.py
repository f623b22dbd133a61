"""A simulation on its way: segments between events, each followed by one of SciPy's solvers, step by step.

The steps are taken here, and not by `solve_ivp`, because what was found must be kept when a step fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from cayley.errors import SignatureError
from cayley.model.configurations import check_configuration, normalized, quaternion_places
from cayley.model.tree import Tree
from cayley.simulation.balance import balance_kernel
from cayley.simulation.events import Event, crossings, instant
from cayley.simulation.forces import Forces
from cayley.simulation.progress import PatientBar
from cayley.simulation.singular_inertia import singular_inertia
from cayley.simulation.stops import TOUCHING, Stop, Stops
from cayley.simulation.trajectory import Occurrence, Trajectory

_TURNS = 100  # segments that may begin at one time
_SHORT = 1e-6  # seconds: where the ever shorter times between the effects of an event have no end that can be reached


@dataclass
class Run:
    """A simulation on its way."""

    tree: Tree
    forces: Forces
    stops: Stops
    ends_at_limits: bool
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

    def start(self, t: float, y: np.ndarray) -> None:
        self.t, self.y, self._next = t, y, 0
        self._released: list[Stop] = []
        self._acted: Event | None = None
        self._turns = any(True for _ in quaternion_places(self.tree))
        self.kept.append((t, y)) if self.instants is None else self._keep_until(t, lambda _: y)

    def go(self, bar: PatientBar) -> None:
        self._bar, self._began = bar, self.t
        here, turns = self.t, 0
        while not self.status:
            if self.t >= self.end:
                self._finish("finished", f"the end, t = {self.end:.6g}, was reached")
            elif turns > _TURNS:
                self._finish("event storm", f"events follow each other without end at t = {self.t:.9g}")
            elif self._prepare():
                self._segment()
            here, turns = self.t, turns + 1 if self.t == here else 0

    # One segment: between two instants at which something is started anew

    def _prepare(self) -> bool:
        """Resolve what touches, look with the controller; False if there is no going on."""
        q, v = self._parts(self.y)
        self._bound = min(self.end, self.forces.next_tick(self.t, q, v))
        if self.stops.all and not self.ends_at_limits:
            after, struck = self.stops.settle(q, v, partial(self._free_acceleration, q), self._released)
            self._released = []
            for stop in struck:
                self._happened(stop.name, "impact")
            if struck:
                self._jump(q, after)
        if not np.isfinite(self._slope(self.t, self.y)).all():
            self._diagnose("the acceleration is not finite")
        return not self.status

    def _segment(self) -> None:
        solver = self.make_solver(self._slope, self.t, self.y, self._bound)
        watched = self._watched()
        before = self._values(watched, self.t, self.y)
        if self._acted is not None and self._acted.effect is not None:
            before[watched.index(self._acted)] = 0.0  # it is there, to the last digit: what comes back within a step is found
        self._acted = None
        while solver.status == "running":
            try:
                failure = solver.step()
            except (ValueError, np.linalg.LinAlgError) as error:  # implicit methods, when they meet what is not finite
                return self._diagnose(str(error))
            if solver.status == "failed":
                return self._diagnose(failure)
            self.steps += 1
            dense = solver.dense_output()
            after = self._values(watched, solver.t, solver.y)
            if np.isnan(after[:len(self.events)]).any():
                self._advance(solver.t, solver.y, dense)
                return self._finish("not finite", f"event {watched[int(np.argmax(np.isnan(after)))].name!r} is not a number at "
                                                  f"t = {self.t:.9g}")
            if self._crossed(watched, before, after, solver, dense):
                return None
            self._advance(solver.t, solver.y, dense)
            before = after
            if self.max_evaluations is not None and self.evaluations > self.max_evaluations:
                return self._finish("budget", f"{self.evaluations} evaluations of the state equation were spent at t = {self.t:.6g}")
        return None

    def _crossed(self, watched: list[Any], before: np.ndarray, after: np.ndarray, solver: Any, dense: Any) -> bool:
        """Deal with events inside the step, in their order; True if a new segment must be started."""
        found = []
        for k in self._changes(watched, before, after):
            at = instant(partial(self._value, watched[k], dense), solver.t_old, solver.t, from_zero=before[k] == 0)
            if at > solver.t_old or not isinstance(watched[k], Event):  # an event that only leaves zero does not happen
                found.append((at, k))
        for at, k in sorted(found):
            what = watched[k]
            if isinstance(what, Event) and what.action == "record" and what.effect is None:
                self._happened(what.name, "recorded", at)
                if self.status:
                    self._advance(at, dense(at), dense)
                    return True
                continue
            self._advance(at, dense(at), dense)
            self._act(what)
            return True
        return False

    def _changes(self, watched: list[Any], before: np.ndarray, after: np.ndarray) -> list[int]:
        signs = [what.sign if isinstance(what, Event) else -1 for what in watched]
        leaving = [k for k, what in enumerate(watched) if isinstance(what, Stop) and before[k] <= 0 and after[k] < -TOUCHING]
        returning = [k for k, what in enumerate(watched) if isinstance(what, Event) and before[k] == 0
                     and after[k] and what.sign * after[k] >= 0]
        return sorted({*crossings(before, after, signs).tolist(), *leaving, *returning})

    def _act(self, what: Any) -> None:
        q, v = self._parts(self.y)
        if isinstance(what, Event):
            self._happened(what.name, "end" if what.action == "end" else "effect")
            self._acted = what
            if what.effect is not None:
                self._jump(*self._effect(what, q, v))
                self._look_for_storm(what.name)
            if what.action == "end":
                self._finish("event", f"event {what.name!r} ended the simulation at t = {self.t:.9g}")
        elif isinstance(what, _Release):
            self._happened(what.stop.name, "release")
            self._released = [what.stop]
        elif self.ends_at_limits:
            self._happened(what.name, "end")
            self._finish("limit", f"joint {what.name} was reached at t = {self.t:.9g}")
        else:
            q[what.coordinate] = what.limit  # to the last digit, so that it touches
            self._jump(q, v)

    def _look_for_storm(self, name: str) -> None:
        between = np.diff([o.t for o in self.happened if o.name == name][-4:])
        if len(between) == 3 and between[2] < between[1] < between[0] and between[2] < _SHORT * max(1.0, abs(self.t)):
            self._finish("event storm", f"event {name!r} has its effect ever faster at t = {self.t:.9g}: let the effect put an end to it, "
                                        "or use the limits of joints, which rest in the end")

    def _effect(self, event: Event, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            q, v = (np.asarray(x, dtype=float) for x in event.effect(self.t, q, v))  # type: ignore[misc]
        except (TypeError, ValueError) as error:
            raise SignatureError(f"the effect of event {event.name!r} must return (q, qd): {error}") from error
        check_configuration(self.tree, q, limits=False)
        if v.shape != (self.tree.nv,):
            raise SignatureError(f"the effect of event {event.name!r} returned qd of the shape {v.shape}, not ({self.tree.nv},)")
        return q, v

    # What is watched

    def _watched(self) -> list[Any]:
        return [*self.events, *self.stops.free, *[_Release(stop) for stop in self.stops.resting]]

    def _values(self, watched: list[Any], t: float, y: np.ndarray) -> np.ndarray:
        if not watched:
            return np.zeros(0)
        q, v = self._parts(y)
        pushes: dict[int, float] = {}
        if any(isinstance(what, _Release) for what in watched):
            found = self.stops.pushing(q, self._free(t, y)[self._velocities])
            pushes = {id(stop): push for stop, push in zip(self.stops.resting, found, strict=True)}
        return np.array([what.value(t, q, v) if isinstance(what, Event) else
                         what.gap(q) if isinstance(what, Stop) else pushes[id(what.stop)] for what in watched])

    def _value(self, what: Any, dense: Any, t: float) -> float:
        return float(self._values([what], t, dense(t))[0])

    # The state

    @property
    def _velocities(self) -> slice:
        return slice(self.tree.nq, self.tree.nq + self.tree.nv)

    def _parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return normalized(self.tree, y[:self.tree.nq]), y[self._velocities].copy()

    def _joined(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([q, v, self.y[-1:]])

    def _free(self, t: float, y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        q, v = y[:self.tree.nq].copy(), y[self._velocities].copy()
        if not np.isfinite(y).all():
            return np.full(len(y), np.nan)
        return self.forces(t, q, v, normalized(self.tree, q) if self._turns else q)

    def _free_acceleration(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self._free(self.t, self._joined(q, v))[self._velocities]

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        slope = self._free(t, y)
        if self.stops.resting and np.isfinite(slope).all():
            q, _ = self._parts(y)
            slope[self._velocities] = self.stops.held(q, slope[self._velocities])
        return slope

    def _jump(self, q: np.ndarray, v: np.ndarray) -> None:
        """Another state here and now. The energy that comes or goes is booked as work."""
        before, after = (np.sum(balance_kernel(self.tree)(*state)[:2]) for state in (self._parts(self.y), (q, v)))
        self.y = np.concatenate([q, v, [self.y[-1] + after - before]])
        if self.kept and self.kept[-1][0] == self.t:
            self.kept[-1] = (self.t, self.y)

    def _advance(self, t: float, y: np.ndarray, dense: Any) -> None:
        self.pieces.append((self.t, dense))
        self._bar.reached(t - self._began)
        self.t, self.y = float(t), np.concatenate([*self._parts(y), y[-1:]])
        if self.instants is None:
            self.kept.append((self.t, self.y)) if self.t > self.kept[-1][0] else None
        else:
            self._keep_until(self.t, dense)

    def _keep_until(self, t: float, dense: Callable[[float], np.ndarray]) -> None:
        assert self.instants is not None
        while self._next < len(self.instants) and self.instants[self._next] <= t:
            y = dense(self.instants[self._next])
            self.kept.append((float(self.instants[self._next]), np.concatenate([*self._parts(y), y[-1:]])))
            self._next += 1

    def _happened(self, name: str, action: str, t: float | None = None) -> None:
        self.happened.append(Occurrence(self.t if t is None else t, name, action))
        if len(self.happened) > self.max_events:
            self._finish("event storm", f"more than {self.max_events} events until t = {self.t:.9g}, the last of them {name!r}: they "
                                        "follow each other ever faster, or max_events is too small")

    # The end

    def _finish(self, status: str, message: str) -> None:
        self.status, self.message = self.status or status, self.message or message

    def _diagnose(self, said: str) -> None:
        q, _ = self._parts(self.y)
        reason = singular_inertia(self.tree, q)
        if reason is not None:
            return self._finish("singular", f"{reason} (at t = {self.t:.9g})")
        if np.isfinite(self._slope(self.t, self.y)).all() and "finite" not in said and np.isfinite(self._ahead()).all():
            return self._finish("step too small", f"the tolerances cannot be met at t = {self.t:.9g}: {said} Forces may jump or grow "
                                                  "without bound there")
        culprit = "" if np.isfinite(self.forces.tau(self.t, *self._parts(self.y))).all() else ", because of the joint forces"
        return self._finish("not finite", f"the motion cannot be continued beyond t = {self.t:.9g}: the accelerations are not "
                                          f"finite{culprit}")

    def _ahead(self) -> np.ndarray:
        """The slope a little later: where a function of time has left the numbers."""
        t = np.nextafter(self.t, np.inf) + 1e-9 * abs(self.end - self.t)
        return self._slope(t, self.y)

    def result(self, facts: dict[str, Any]) -> Trajectory:
        nq = self.tree.nq
        if not self.kept or (self.status != "finished" and self.kept[-1][0] < self.t):
            self.kept.append((self.t, self.y))
        t, y = np.array([t for t, _ in self.kept]), np.array([y for _, y in self.kept])
        q, qd = y[:, :nq], y[:, nq:-1]
        tau = None if self.forces.period else np.array([self.forces.tau(*state) for state in zip(t, q, qd, strict=True)])
        return Trajectory.of(self.tree, t, q, qd, tau, y[:, -1], status=self.status, message=self.message, happened=tuple(self.happened),
                             facts=facts, dense=self._dense() if self.pieces else None)

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
        return normalized(self.tree, y[:, :self.tree.nq]), y[:, self.tree.nq:-1]


@dataclass(frozen=True)
class _Release:
    """The force of a stop that a joint rests against: watched until it would pull."""

    stop: Stop
