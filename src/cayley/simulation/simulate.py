"""One mechanism, followed with SciPy's adaptive integrators, with events, stops and controllers written in Python.

Attitudes are integrated as the four numbers of their quaternions; only their direction enters the
accelerations, and what is returned, restarted or shown to a controller is brought back to length one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.signals import digital
from cayley.errors import ConventionError, GeometryError, SignatureError
from cayley.explained_calls import explained
from cayley.geometry.batch import numbers
from cayley.kinematics.constraints.closure_checks import check_closed_state
from cayley.model.configurations import check_configuration, normalized
from cayley.model.tree import Tree
from cayley.simulation.controllers import BaseMotion, Controller, Function, Wrench, acting_inputs, law_of
from cayley.simulation.fixed_steps import mechanism_system
from cayley.simulation.mechanism_motion import mechanism_motion
from cayley.systems.adaptive.driving import Driving, Held, InputLike
from cayley.systems.adaptive.events import Event
from cayley.systems.adaptive.simulate import METHODS, run_of
from cayley.systems.joining.connect import connect
from cayley.systems.system import System
from cayley.systems.trajectory import Trajectory

__all__ = ["METHODS", "simulate"]
Result = TypeVar("Result")


@explained
def simulate(tree: Tree, q: ArrayLike, qd: ArrayLike, *, tau: ArrayLike | None = None,
             controller: Controller | None = None, until: float | None = None, times: ArrayLike | None = None,
             start: float = 0.0, wrenches: Mapping[str, Wrench] | None = None, axes: str = "body",
             base: BaseMotion | None = None, limits: str | float = "ignore", events: Event | Sequence[Event] = (),
             method: str | type = "DOP853", rtol: float = 1e-9, atol: float = 1e-10, max_step: float = np.inf,
             max_events: int = 1000, max_evaluations: int | None = None, control_period: float | None = None,
             parameters: Mapping[str, Any] | None = None, progress: bool = True) -> Trajectory:
    """The motion of a mechanism from the state `q` (nq), `qd` (nv) at `start` `until` a time [s], or at the given
    `times`.

    Forces: `tau` (nv), constant, or a `controller`: a function of (t, q, qd), a kernel with inputs of these names,
    whose other inputs are `parameters`, or a system such as the laws of `arm.control`, with its inputs and parameters
    in `parameters`. It is evaluated wherever the integrator looks. With a `control_period` [s] it is evaluated at the
    start and after each period, and held in between. The samples are then at these times. Dry friction holds joints at
    rest: `happened` says when they stick and slip. `wrenches`: by frame, (6) or a function of (t, q, qd), in the axes
    of the frame ("body") or of the root ("world"). `base`: how the root is moved, a function of t that returns its
    position and unit quaternion (7) in the world, its twist (v; w) (6) in its own axes and the derivative of the twist,
    as for a floating base (`pose_spline` makes one). Motion, energy and work are then relative to the root.

    Contacts stick, slip and bounce, or give way by their compliance: `happened` has the instants of "touch-down",
    "lift-off", "stick" and "slip", `contact_forces` (samples, c, 3) [N] the forces along two tangents and the normal.

    Limits of joints: "ignore" them; "end" there; "inelastic" or "elastic" stops, or the coefficient of restitution of
    stops, from 0 to 1. `events` are watched for. All are found to the last digit of the time.

    `method`: one of SciPy's, "RK23", "RK45", "DOP853", or for stiff forces "Radau", "BDF", "LSODA"; or a class of
    SciPy's kind. `max_evaluations`: a budget of evaluations of the state equation. `progress`: a bar, if it takes long.

    The result says in `status` how it ended: "finished", "event", "limit", "event storm" (more than `max_events`),
    "singular" (the inertia matrix), "not finite" (state, force or controller), "step too small" (the tolerance cannot
    be met), "budget". The samples up to then are kept. An invalid start raises an error.

    >>> from cayley.model.catalogue import load_robot
    >>> fallen = simulate(load_robot("planar2r"), [0.0, 0.0], [0.0, 0.0], until=1.0)
    >>> fallen.status, bool(abs(fallen.energy_drift).max() < 1e-7)
    ('finished', True)
    """
    if tau is not None and controller is not None:
        raise ConventionError("joint forces are given by `tau` or by a `controller`, not by both")
    begin = start if times is None or not np.size(times) else float(np.ravel(np.asarray(times, dtype=float))[0])
    given = dict(parameters or {})
    acting = acting_inputs(tree, wrenches or {}, base)
    system = mechanism_system(tree, tuple(wrenches or ()), axes, base_motion=base is not None, limits=limits)
    if isinstance(controller, System):
        driving = _driven_by(system, controller, given, acting, control_period)
    else:
        driving = Driving(system, {"tau": _forces(tree, tau, controller, given, control_period, begin),
                                   **_all_of_joints(acting)}, {})
    events = [_of_mechanism(event) for event in ((events,) if isinstance(events, Event) else events)]
    run = run_of(driving, until=until, times=times, start=start, events=events, method=method, rtol=rtol, atol=atol,
                 max_step=max_step, max_events=max_events, max_evaluations=max_evaluations)
    if run.instants is None and control_period is not None and control_period > 0:
        run.instants = _ticks(start, run.end, control_period)
    run.mechanism = mechanism_motion(tree)
    run.facts = {**run.facts, "limits": limits,
                 **({"acted": ", ".join(f"wrench_{frame}" for frame in wrenches)} if wrenches else {}),
                 **({} if base is None else {"base": "the root moved: poses, energy and work are relative to it"})}
    first = _checked(driving.system, tree, q, qd, limits != "ignore", begin)
    return run.go(driving.system.layout.vectors(first), progress)


def _forces(tree: Tree, tau: ArrayLike | None, controller: Function | None, given: Mapping[str, Any],
            period: float | None, start: float) -> InputLike:
    """Joint forces, constant or by a control law, continuous or sampled."""
    law = None if controller is None else law_of(controller, tree)
    wanted = law.parameters if law else {}
    if given.keys() != wanted.keys():
        raise SignatureError(f"the controller takes the parameters {', '.join(wanted) or 'none'}; given were "
                             f"{', '.join(given) or 'none'}")
    if period is not None and not (period > 0 and law is not None):
        raise ConventionError("control_period must be a positive time [s], given together with a controller")
    if law is None:
        return np.zeros(tree.nv) if tau is None else tau
    text, own = law.text, {k: np.asarray(v, dtype=float) for k, v in given.items()}

    def forces(t: float, q: Array, qd: Array, *_: Array) -> Array:
        return text(t, {"q": q, "qd": qd}, own)

    return forces if period is None else Held(forces, (tree.nv,), period, start)


def _driven_by(arm: System, law: System, given: Mapping[str, Any], acting: Mapping[str, Wrench],
               period: float | None) -> Driving:
    """The loop of a mechanism and a law that is a system, with what drives its inputs, and the law's parameters."""
    loop = connect(arm, law if period is None else digital(law, period, at_once=True))
    values = _all_of_joints({**acting, **{n: v for n, v in given.items() if n in loop.inputs}})
    missing = [name for name, port in loop.ports.items() if name not in values and port.default is None]
    if missing:
        raise SignatureError(f"{law.name} takes the input {missing[0]!r}, a number or a function of (t, q, qd): give "
                             f"it by name, parameters={{{missing[0]!r}: ...}}")
    return Driving(loop, values, {name: value for name, value in given.items() if name not in loop.inputs})


def _all_of_joints(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: partial(_of_joints, value) if callable(value) else value for name, value in given.items()}


def _of_joints(function: Callable[..., Result], t: float, q: Array, qd: Array, *_: Array) -> Result:
    """A function of (t, q, qd), which the blocks of a law and of contact forces follow."""
    return function(t, q, qd)


def _of_mechanism(event: Event) -> Event:
    """An event of (t, q, qd), whose effect leaves other blocks as they are."""
    if not isinstance(event, Event):
        return event
    effect = event.effect

    def on_all(t: float, q: Array, qd: Array, *others: Array) -> tuple[Array, ...]:
        after = effect(t, q, qd)  # type: ignore[misc]
        return (*after, *others) if others and isinstance(after, tuple) else after

    return replace(event, function=partial(_of_joints, event.function), effect=None if effect is None else on_all)


def _ticks(start: float, end: float, period: float) -> Array:
    """The times at which a digital controller looks, and the end."""
    ticks = start + period * np.arange(np.ceil((end - start) / period * (1 - 1e-12)) + 1)
    return np.append(ticks[ticks < end - 1e-9 * period], end)


def _checked(system: System, tree: Tree, q: ArrayLike, qd: ArrayLike, limits: bool, start: float) -> dict[str, Array]:
    q = numbers(q, f"the coordinates of {tree.name}")
    qd = numbers(qd, f"the velocities of {tree.name}")
    if q.ndim != 1 or qd.shape != (tree.nv,):
        raise SignatureError(
            f"a simulation of {tree.name} starts from one state, q ({tree.nq}) and qd ({tree.nv}), not {q.shape} and "
            f"{qd.shape}: `rollout` is for batches")
    check_configuration(tree, q, limits=limits)
    if not np.isfinite(qd).all():
        raise GeometryError(f"the velocity of {tree.name} is not finite: {qd.tolist()}")
    check_closed_state(tree, q, qd, start)
    return system.layout.given({"q": normalized(tree, q), "qd": qd})
