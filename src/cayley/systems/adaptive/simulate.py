"""One system, followed with SciPy's adaptive integrators, with transitions, events and inputs written in Python.

Blocks on manifolds are integrated by their coordinates; only their nearest point enters the derivative, and what is
returned or restarted is brought back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, SignatureError, shown
from cayley.geometry.batch import numbers
from cayley.systems.adaptive.driving import Driving
from cayley.systems.adaptive.events import Event
from cayley.systems.adaptive.run import AdaptiveRun
from cayley.systems.layout import StateLike
from cayley.systems.projection import check_constraints

METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "gauss")


def first_state(driving: Driving, x: StateLike, t: float) -> Array:
    """The state (size) from which a simulation starts at a time, checked."""
    system = driving.system
    given = system.layout.given(x)
    if any(system.layout.batch(given).values()):
        raise SignatureError(f"a simulation of {system.name} starts from one state: `rollout` is for batches")
    first = system.layout.vectors(given)
    check_constraints(system, t, first, driving.at(t, first).values(), driving.parameters)
    return first


def run_of(driving: Driving, *, until: float | None, times: ArrayLike | None, start: float,
           events: Event | Sequence[Event], method: str | type, rtol: float, atol: float, max_step: float,
           max_events: int, max_evaluations: int | None) -> AdaptiveRun:
    """A run, ready to go, with its options checked."""
    if (until is None) == (times is None):
        raise ConventionError("say how long: `until` a time, or at which `times`")
    solver = _solver(method) if isinstance(method, str) else method
    instants = None if times is None else _instants(times)
    start = start if instants is None else float(instants[0])
    end = float(numbers(until, "seconds")) if until is not None else float(instants[-1])  # type: ignore[index]
    if not (np.isfinite(end) and end >= start):
        raise ConventionError(f"the simulation starts at t = {start:.6g} and cannot go until t = {end:.6g}")
    if not (0 < rtol < 1 and 0 < atol < np.inf and max_step > 0):
        raise ConventionError(
            f"tolerances and the longest step must be positive; given were rtol = {rtol}, atol = {atol}, max_step = "
            f"{max_step}")
    watched = (events,) if isinstance(events, Event) else tuple(events)
    for event in watched:
        if not isinstance(event, Event):
            raise ConventionError(f"an event is cayley.simulation.Event(name, function), not {shown(event)}")
    facts = {"method": method if isinstance(method, str) else method.__name__, "rtol": rtol, "atol": atol}
    return AdaptiveRun(driving, watched, instants, start, end, max_events, max_evaluations,
                       partial(solver, rtol=rtol, atol=atol, max_step=max_step), facts)


def _solver(method: str) -> type:
    """SciPy is loaded here, so that rollouts alone do not wait for it."""
    if method not in METHODS:
        raise ConventionError(f"there is no method {method!r}; the methods are {', '.join(METHODS)}")
    if method == "gauss":
        from cayley.gauss_solver import Gauss
        return Gauss
    from scipy import integrate
    return getattr(integrate, method)


def _instants(times: ArrayLike) -> Array:
    instants = np.asarray(times, dtype=float)
    if instants.ndim != 1 or len(instants) < 1 or not np.isfinite(instants).all() or not (np.diff(instants) > 0).all():
        raise ConventionError("times must be finite and increase, at least one of them")
    return instants
