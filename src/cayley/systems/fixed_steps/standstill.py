"""Dry friction and stops in steps of fixed length: any method, and at its end it is settled what stands still.

During a step the friction of a joint has the direction of its velocity at the start, and a joint that was at rest there
(by friction, or at a stop) is held, so that the method sees smooth forces and keeps its order. At the end friction and
stops get their due, an impulse r (n):

    M v' = M v + r    v the velocity that the method gave, v' the one that is kept; M at the end of the step
    held              r in h [-friction, friction] less h times the reaction that held it: none, unless that was too
                      large; at a stop that it touches r may push as much as it must
    turned round      r in [0, 2 s h friction] against it, s the share of the step since it turned: so did the friction
    beyond a stop     r pushes back until v' is -e times the velocity it came with, or zero if it would return within
                      the step; positions, and the friction of joints that it turns round, are then what they would be
                      had it happened at the stop
    all others        r = 0
and a joint that has r between its bounds stands still, exactly. That is the problem of `friction_and_stops` for
velocities, solved in `ROUNDS` rounds from the guess that all of them stand still; what is not decided then is in the
next step. Each standstill, turn or slip costs an error of h^2: the order of a motion that has some is 2, or that of the
method if it is less; with impacts it is 1, as they act on the velocities at the end of their step. A joint at rest does
not creep. Source: Moreau 1988 and Jean 1999 for impulses in
steps; the share s is new here.

Where velocities need each other, in constraints and contacts, `impulses` makes the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector
from cayley.compiler.solving.complementarity import after_rounds, held_solve
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.errors import UnsupportedError
from cayley.systems.fixed_steps.impulses import impulse_step
from cayley.systems.fixed_steps.protocol import ONE_STAGE, FixedStep, Flow, Point, Stage, nothing
from cayley.systems.friction_and_stops import REST_SPEED, FrictionAndStops, Stop
from cayley.systems.layout import Record, State
from cayley.systems.system import System

ROUNDS = 3
_ANY = 1e30  # N s, N m s: an impulse without a bound


@dataclass(frozen=True)
class HeldFlow(Flow):
    """A system of which some velocities are held, and others slide: `going` by the names of their blocks."""

    going: Mapping[str, Array]

    def friction(self, part: FrictionAndStops) -> Array:
        """The dry friction (n) that acts, against the motion."""
        return part.friction * self.going[part.velocity]

    def balance(self, part: FrictionAndStops, x: State, u: Record) -> tuple[Array, Array]:
        """M (n, n) and f (n), with the friction of what slides."""
        M, forces = part.balance(self.t, x, u, self.p)
        return M, forces - self.friction(part)

    def tangents(self, x: State, u: Record) -> dict[str, Array]:
        found = super().tangents(x, u)
        for part in self.system.holds:
            held = held_solve(*self.balance(part, x, u), self.going[part.velocity])
            found[part.velocity] = held.reshape(np.shape(found[part.velocity]))
        return found

    def power(self, x: State, u: Record) -> Scalar:
        return super().power(x, u) - sum(as_vector(x[part.velocity]) @ self.friction(part)
                                         for part in self.system.holds)


def with_standstill(method: FixedStep, name: str, system: System, iterations: int | None = None) -> FixedStep:
    """A method for a system with dry friction and stops."""
    ends = [stop for part in system.holds for stop in part.ends]
    if ends:
        raise UnsupportedError(f'{system.name} ends at its limits, as {ends[0].name}: only `simulate` does that; take '
                               'limits="inelastic", "elastic" or a coefficient of restitution for rollouts')
    if any(part.is_coupled for part in system.holds):
        if name != "semi-implicit-euler":
            why = "contacts: which of them close" if any(part.contacts for part in system.holds) else (
                "dry friction or stops, and its constraints tie joints together: which of them stand still")
            raise UnsupportedError(
                f"{system.name} includes {why} is settled by `simulate`, and in fixed steps by "
                f'"semi-implicit-euler", not by {name!r}')
        return FixedStep(1, ONE_STAGE, nothing, impulse_step(iterations))

    def text(stage: Stage, point: Point, before: Array) -> tuple[Point, Array]:
        layout = stage.flow.layout
        flow = HeldFlow(stage.flow.system, stage.flow.t, stage.flow.p, stage.flow.driven,
                        {part.velocity: _going(part, point.x) for part in system.holds})
        found, own = method.text(stage._replace(flow=flow), point, before)
        settled = reduce(lambda end, part: _settled(part, flow.later((1 - stage.row.time) * stage.h), stage.h, point.x,
                                                    end), system.holds, found)
        last = stage.row.last
        after = Point.of(where(last, settled.vector(layout), found.vector(layout)), layout)
        restarted = method.carried(settled.vector(layout), layout)
        return after, where(last, restarted, own) if np.shape(own) != (0,) else own

    return FixedStep(min(method.order, 2), method.table, method.carried, text)


class _Sides(NamedTuple):
    """A truth value for each velocity (n) at its lower and at its upper stop."""

    lower: Array
    upper: Array

    @property
    def either(self) -> Array:
        return np.logical_or(self.lower, self.upper)


def _at_stops(part: FrictionAndStops, x: State) -> tuple[_Sides, list[tuple[Stop, Scalar]]]:
    """The velocities that touch a stop or are beyond it, and the gap of each stop."""
    q = as_vector(x[part.position])
    gaps = [(stop, stop.gap(q)) for stop in part.stops]
    touched = {(stop.column, stop.n): where(gap <= stop.tolerance, 1.0, 0.0) for stop, gap in gaps}
    return _Sides(*(np.stack([touched.get((k, n), 0.0 * q[0]) for k in range(len(part.names))]) > 0.5
                    for n in (1, -1))), gaps


def _going(part: FrictionAndStops, x: State) -> Array:
    """The directions of the velocities in a step that starts at a state."""
    v = as_vector(x[part.velocity])
    rubs = part.friction > 0
    if not part.stops:
        return where(rubs, np.sign(v), 1.0)
    rests = np.logical_and(v == 0, _at_stops(part, x)[0].either)
    return where(rubs, np.sign(v), where(rests, 0.0, 1.0))


def _settled(part: FrictionAndStops, flow: HeldFlow, h: Scalar, start: State, end: Point) -> Point:
    """The end of a step after what friction and stops do there."""
    x, work, defect = end
    going = flow.going[part.velocity]
    v = as_vector(x[part.velocity])
    rubs = part.friction > 0
    M, forces = flow.balance(part, x, flow.inputs(x))
    held = held_solve(M, forces, going)
    reaction = h * (M @ held - forces)
    most = h * part.friction
    turned = going * v < 0
    change = v - as_vector(start[part.velocity])
    since = where(turned, h * v / where(turned, change, 1.0), 0.0)
    if part.stops:
        beyond, gaps = _at_stops(part, x)
        struck = _Sides(*(np.logical_and(np.logical_and(touched, n * v < 0), np.logical_not(going == 0))
                          for touched, n in zip(beyond, (1, -1), strict=True)))
        since_impact = _since_impact(struck, gaps, v, h)
        since = np.maximum(since, since_impact)
    lower, upper = (where(rubs, where(going == 0, side * most - reaction, where(
        side * going > 0, side * 2 * part.friction * since, 0.0)), 0.0) for side in (-1.0, 1.0))
    guess = where(rubs, where(going == 0, 0.0, where(turned, 0.0, going)), 1.0)
    momentum = M @ v
    if not part.stops:
        after = after_rounds(M, momentum, lower, upper, guess, ROUNDS)
        kept = x.replaced({part.velocity: after.reshape(np.shape(x[part.velocity]))})
        return Point(kept, work + (after @ (M @ after) - v @ momentum) / 2, defect)
    resting, _ = _at_stops(part, start)
    rests = going == 0
    lower = where(struck.upper, -_ANY, where(struck.lower, 0.0, where(np.logical_and(rests, resting.upper), -_ANY,
                                                                      where(rests, -most - reaction, lower))))
    upper = where(struck.lower, _ANY, where(struck.upper, 0.0, where(np.logical_and(rests, resting.lower), _ANY,
                                                                     where(rests, most - reaction, upper))))
    rebound = -part.restitution * v
    returning = np.maximum(h * np.abs(held), REST_SPEED)
    target = where(np.logical_and(struck.either, np.abs(rebound) > returning), rebound, 0.0)
    guess = where(np.logical_or(rests, struck.either), 0.0, guess)
    after = target + after_rounds(M, momentum - M @ target, lower, upper, guess, ROUNDS)
    return _moved_back(part, flow, end, after, since_impact)


def _since_impact(struck: _Sides, gaps: list[tuple[Stop, Scalar]], v: Array, h: Scalar) -> Scalar:
    """The time since the first stop was struck; 0 if none was."""
    since: Scalar = 0.0
    for stop, gap in gaps:
        hit = (struck.lower if stop.n > 0 else struck.upper)[stop.column]
        speed = where(hit, stop.n * v[stop.column], -1.0)
        since = np.maximum(since, where(hit, np.minimum(np.maximum(gap / speed, 0.0), h), 0.0))
    return since


def _moved_back(part: FrictionAndStops, flow: HeldFlow, end: Point, after: Array, since: Scalar) -> Point:
    """The end of a step with other velocities, and with the positions that they would have led to since the first stop
    was struck; coordinates beyond their stops are put back."""
    x = end.x
    v = as_vector(x[part.velocity])
    place = flow.layout.blocks[part.position].manifold.step
    moved = as_vector(place(x[part.position], (since * (after - v)).reshape(np.shape(x[part.velocity]))))
    entries = [moved[k] for k in range(len(moved))]
    for stop in part.stops:
        bound = np.maximum if stop.n > 0 else np.minimum
        entries[stop.coordinate] = bound(entries[stop.coordinate], stop.limit)
    kept = x.replaced({part.velocity: after.reshape(np.shape(x[part.velocity])),
                       part.position: np.stack(entries).reshape(np.shape(x[part.position]))})
    return Point(kept, end.work + _energy(flow, part, kept) - _energy(flow, part, x), end.defect)


def _energy(flow: Flow, part: FrictionAndStops, x: State) -> Scalar:
    """The stored energy, or that of motion alone in a system that does not say."""
    u = flow.inputs(x)
    if flow.system.energy is not None:
        return flow.system.energy(flow.t, x, u, flow.p)
    v = as_vector(x[part.velocity])
    return v @ (part.balance(flow.t, x, u, flow.p)[0] @ v) / 2
