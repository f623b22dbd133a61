"""Gauss' methods with one and two nodes, solved by Newton's method: stiffness costs no step size and no energy.

    k_i = f(x_i)        x_i = x moved by h sum_j a_ij k_j        x' = x moved by h sum_j b_j k_j
The unknowns are D_i = h k_i of the blocks that are no positions; positions move with the velocities at the nodes. On a
curved manifold what moves x gets the term of Magnus that keeps the order 4, c^3 h^2 sqrt(3)/12 [k_1, k_2].

A-stable, symmetric in time, of order 2 (one node: the midpoint rule) and 4. Energy that is a quadratic form of the
state, as of masses on springs, is kept exactly, however stiff the springs are and however long the step; all other
energy is kept to the order of the method in what moves slowly, without drift. Vibrations faster than the step keep
their energy, but not their frequency. Source: Hairer, Lubich & Wanner, Geometric Numerical Integration, sections II.1,
IV.2 and IV.7; Iserles & Norsett 1999 for the term of Magnus."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from cayley.compiler.array_parts import as_vector, joined
from cayley.compiler.derivatives.derivative import independent, jacobian, slope_along
from cayley.compiler.solving.linear import is_zero, solve_rows
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar, Text
from cayley.errors import ConventionError
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point, Stage, iterated_table, largest
from cayley.systems.layout import Layout, State


class Nodes(NamedTuple):
    """The times at which a method looks in units of the step, and the weights of what it finds, for each node and for
    the end."""

    c: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


_S = sqrt(3) / 6
MIDPOINT = Nodes((0.5,), ((0.5,),), (1.0,))
TWO_NODES = Nodes((0.5 - _S, 0.5 + _S), ((0.25, 0.25 - _S), (0.25 + _S, 0.25)), (0.5, 0.5))


class Made(NamedTuple):
    """The result of one step of Newton's method: the unknowns, the way that they describe, its end, and the point
    that is handed on: the end, after the last of them."""

    D: Array
    flight: Flight
    end: State
    point: Point


def _stage(nodes: Nodes, stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    made = newton_step(nodes, stage, point, carried)
    return made.point, where(stage.row.last, np.zeros(len(carried)), made.D)


def newton_step(nodes: Nodes, stage: Stage, point: Point, guess: Array, push: Scalar = 0.0) -> Made:
    """One step of Newton's method for all nodes together. Velocities get a slope of their own besides, `push` times the
    mean velocity of the step, against it."""
    flow, h, row = stage
    layout = flow.layout
    D = independent(guess)
    flight = Flight(nodes, layout, point.x, h, _parts(layout, D, nodes))
    looks = [_look(flow.later(c * h), x) for x, c in zip(flight.at_nodes, nodes.c, strict=True)]
    found = h * (joined([slopes for slopes, _ in looks]) - push * joined([flight.mean_velocity] * len(nodes.c)))
    change = _correction(D, found)
    flight = replace(flight, D=_parts(layout, guess + change, nodes))
    end = flight.at(nodes.b, 1.0)
    kept = flow.constrained(layout.projected(end), h)
    work = point.work + h * sum(b * power for b, (_, power) in zip(nodes.b, looks, strict=True))
    after = Point(point.x.replaced({name: where(row.last, kept[name], point.x[name]) for name in layout.blocks}),
                  where(row.last, work, point.work),
                  where(row.last, np.maximum(point.defect, largest(np.abs(change))), point.defect))
    return Made(guess + change, flight, end, after)


def _correction(D: Array, found: Array) -> Array:
    """Newton's step for D = found(D). Its matrix, 1 - h J, has a diagonal that leads where nothing grows within a step,
    and no pivots are chosen: what rounding spoils the next step mends, and `defect` tells."""
    matrix = np.eye(len(D)) - jacobian(found, D)
    rows = [{j: entry for j, entry in enumerate(row) if not is_zero(entry)} for row in matrix]
    return np.stack(solve_rows(rows, list(found - D)))


@dataclass(frozen=True)
class Flight:
    """The way from x that the unknowns D, for each node by block, describe."""

    nodes: Nodes
    layout: Layout
    x: State
    h: Scalar
    D: list[dict[str, Array]]

    def at(self, weights: Sequence[float], c: float) -> State:
        """The state after the share c of the step."""
        return self.x.replaced({name: self._block(name, weights, c) for name in self.layout.blocks})

    @property
    def at_nodes(self) -> list[State]:
        """The states at the nodes."""
        return [self.at(weights, c) for weights, c in zip(self.nodes.a, self.nodes.c, strict=True)]

    @property
    def mean_velocity(self) -> Array:
        """The mean velocities of positions, at their places among the unknowns of a node; zero for all others."""
        found = {name: 0.0 * self.D[0][name] for name in self.layout.unmoved}
        for velocity in self.layout.moved_by.values():
            if velocity in found:
                found[velocity] = _weighted(self.nodes.b, [*self._blocks_at_nodes(velocity)])
        return joined([as_vector(found[name]) for name in self.layout.unmoved])

    def _block(self, name: str, weights: Sequence[float], c: float) -> Array:
        moves = self._moves(name)
        total = _weighted(weights, moves)
        manifold = self.layout.blocks[name].manifold
        if manifold.curved and len(moves) == 2:
            first, second = moves
            total = total + c**3 * sqrt(3) / 12 * (manifold.perturbation_rate(second) @ first)
        return manifold.step(self.x[name], total)

    def _moves(self, name: str) -> list[Array]:
        """h times the slope of a block at each node; that of a position is its velocity there."""
        velocity = self.layout.moved_by.get(name)
        if velocity is None:
            return [part[name] for part in self.D]
        return [self.h * value for value in self._blocks_at_nodes(velocity)]

    def _blocks_at_nodes(self, name: str) -> Iterator[Array]:
        return (self._block(name, weights, c) for weights, c in zip(self.nodes.a, self.nodes.c, strict=True))


def _weighted(weights: Sequence[float], values: Sequence[Array]) -> Array:
    return reduce(operator.add, [weight * value for weight, value in zip(weights, values, strict=True)])


def _look(flow: Flow, x: State) -> tuple[Array, Scalar]:
    """The slopes of all blocks that are no positions, and the power that is put in."""
    u = flow.inputs(x)
    slopes = flow.tangents(x, u)
    return joined([as_vector(slopes[name]) for name in flow.layout.unmoved]), flow.power(x, u)


def _parts(layout: Layout, D: Array, nodes: Nodes) -> list[dict[str, Array]]:
    """The unknowns for each node, by block."""
    size = len(D) // len(nodes.c)
    return [layout.tangents(D[k * size:(k + 1) * size], layout.unmoved) for k in range(len(nodes.c))]


def unknowns(nodes: Nodes, points: Array, layout: Layout) -> Array:
    """The guess at the start, zero, for points (...)."""
    size = sum(prod(layout.blocks[name].tangent) for name in layout.unmoved)
    return np.zeros((*points.shape[:-1], len(nodes.c) * size))


def gauss(nodes: Nodes, iterations: int = 4) -> FixedStep:
    """The method with a number of Newton steps."""
    return FixedStep(2 * len(nodes.c), iterated_table(iterations), partial(unknowns, nodes), partial(_stage, nodes))


_ROUNDING = 1e-12  # of the energy: a motion with less of it gets no push
_NOTHING = 1e-30  # so that nothing divided by nothing is nothing


# The balance of energy

def _energy_stage(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
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
    """Gauss' method with two nodes that keeps the balance of energy exactly, for vibrations that carry much of it:

        E(x') - E(x) = h sum_i b_i dE/dt(x_i)      dE/dt = grad E . f: zero where nothing is lost, or what dampers take
    Gauss' methods have it where the energy is a quadratic form. Where the inertia changes with the vibration, what is
    missing is given back as a force along the mean velocity w of the step: the acceleration -push w takes push h w.M w
    of energy, and push is found together with the unknowns. Source: Gonzalez 1996 for corrections along the step; their
    direction in the space of velocities is new here."""
    return FixedStep(4, iterated_table(iterations), _start, _energy_stage)
