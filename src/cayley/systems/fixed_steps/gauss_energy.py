"""Gauss' method with two nodes that keeps the balance of energy exactly: for vibrations that carry much of it.

    E(x') - E(x) = h sum_i b_i dE/dt(x_i)        dE/dt = grad E . f: zero where nothing is lost, or what dampers take
Gauss' methods have it where the energy is a quadratic form. Where the inertia changes as the vibration goes on, what is
missing is small, and its cause is a force of the vibration upon what moves slowly that is not seen between the nodes.
It is given back as one, along the mean velocity of the step, w: the acceleration -push w takes push h w.M w of energy,
and push is found together with the unknowns. Steps in which nothing moves on the whole get no push. Source: Gonzalez
1996 for corrections along the step; their direction in the space of velocities is new here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.derivatives.derivative import independent, slope_along
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.errors import ConventionError
from cayley.systems.fixed_steps.gauss import TWO_NODES, Flight, newton_step, newton_table, unknowns
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point, Stage
from cayley.systems.layout import Layout, State, as_vector, joined

_ROUNDING = 1e-12  # of the energy: a motion with less of it gets no push
_NOTHING = 1e-30  # so that nothing divided by nothing is nothing


def _stage(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    flow = stage.flow
    energy = flow.system.energy
    if energy is None or not flow.layout.moved_by:
        raise ConventionError(f"{flow.system.name} does not say its energy, or has no positions that velocities move: "
                              'the method for it is "gauss"')
    made = newton_step(TWO_NODES, stage, point, carried[:-1], push=carried[-1])
    push = carried[-1] + _missing(flow, energy, made.flight, made.end)
    return made.point, where(stage.row.last, np.zeros(len(carried)), joined([made.D, np.stack([push])]))


def _missing(flow: Flow, energy: Text, flight: Flight, end: State) -> Scalar:
    """The increase of the push."""
    u = flow.inputs(flight.x)

    def stored(x: State) -> Scalar:
        return energy(flow.t, x, u, flow.p)

    rates = [_rate(flow.later(c * flight.h), stored, x)
             for x, c in zip(flight.at_nodes, flight.nodes.c, strict=True)]
    gained = sum(b * rate for b, rate in zip(flight.nodes.b, rates, strict=True))
    surplus = stored(end) - stored(flight.x) - flight.h * gained
    w = flow.layout.tangents(flight.mean_velocity, flow.layout.unmoved)
    still = stored(flight.x.replaced({name: 0.0 * value for name, value in w.items()}))
    moving = stored(flight.x.replaced(w))
    wMw = 2 * (moving - still)
    least = _ROUNDING * (np.abs(moving) + np.abs(still) + np.abs(stored(flight.x)))
    return surplus / flight.h * wMw / (wMw**2 + where(wMw > least, 0.0, least**2 + _NOTHING))


def _rate(flow: Flow, stored: Callable[[State], Scalar], x: State) -> Scalar:
    """dE/dt at a state, of a function that does not change with time."""
    layout = flow.layout
    here = x.replaced({name: independent(x[name]) for name in layout.blocks})
    places = joined([as_vector(here[name]) for name in layout.blocks])
    slopes = layout.rate(x, flow.tangents(x, flow.inputs(x)))
    return slope_along(np.stack([stored(here)]), places, slopes)[0]


def _start(points: Array, layout: Layout) -> Array:
    guess = unknowns(TWO_NODES, points, layout)
    return np.concatenate([guess, np.zeros((*points.shape[:-1], 1))], axis=-1)


def gauss_energy(iterations: int = 6) -> FixedStep:
    """The method with so many steps of Newton's."""
    return FixedStep(4, newton_table(iterations), _start, _stage)
