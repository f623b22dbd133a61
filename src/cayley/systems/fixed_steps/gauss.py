"""Gauss' methods with one and two nodes, solved by Newton's method: stiffness costs no step size and no energy.

    k_i = f(x_i)        x_i = x moved by h sum_j a_ij k_j        x' = x moved by h sum_j b_j k_j
The unknowns are D_i = h k_i of the blocks that are no positions; positions move with the velocities at the nodes. On a
curved manifold what moves x gets the term of Magnus that keeps the order 4, c^3 h^2 sqrt(3)/12 [k_1, k_2].

A-stable, symmetric in time, of order 2 (one node: the midpoint rule) and 4. Energy that is a quadratic form of the
state, as of masses on springs, is kept exactly, however stiff the springs are and however long the step; all other
energy is kept to the order of the method in what moves slowly, without drift. Vibrations faster than the step keep
their energy, but not their frequency. Source: Hairer, Lubich & Wanner, Geometric Numerical Integration, sections II.1,
IV.2 and IV.7; Iserles & Norsett 1999 for the term of Magnus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from cayley.compiler.derivative import independent, jacobian
from cayley.compiler.linear import is_zero, solve_rows
from cayley.compiler.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point, Stage, Table, largest
from cayley.systems.layout import Layout, State, as_vector, joined


class Nodes(NamedTuple):
    """Where a method looks in units of the step, and the weights of what it finds, for each node and for the end."""

    c: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


_S = sqrt(3) / 6
MIDPOINT = Nodes((0.5,), ((0.5,),), (1.0,))
TWO_NODES = Nodes((0.5 - _S, 0.5 + _S), ((0.25, 0.25 - _S), (0.25 + _S, 0.25)), (0.5, 0.5))


def _stage(nodes: Nodes, stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    """One step of Newton's method for all nodes together; the last of them makes the step."""
    flow, h, row = stage
    layout = flow.layout
    D = independent(carried)
    flight = _Flight(nodes, layout, point.x, h, _parts(layout, D, nodes))
    looks = [_look(flow.later(c * h), flight.at(weights, c)) for weights, c in zip(nodes.a, nodes.c, strict=True)]
    found = h * joined([slopes for slopes, _ in looks])
    change = _correction(D, found)
    end = replace(flight, D=_parts(layout, carried + change, nodes)).at(nodes.b, 1.0)
    end = flow.constrained(layout.projected(end), h)
    work = point.work + h * sum(b * power for b, (_, power) in zip(nodes.b, looks, strict=True))
    after = Point(point.x.replaced({name: where(row.last, end[name], point.x[name]) for name in layout.blocks}),
                  where(row.last, work, point.work),
                  where(row.last, np.maximum(point.defect, largest(np.abs(change))), point.defect))
    return after, where(row.last, np.zeros(len(D)), carried + change)


def _correction(D: Array, found: Array) -> Array:
    """Newton's step for D = found(D). Its matrix, 1 - h J, has a diagonal that leads where nothing grows within a step,
    and no pivots are chosen: what rounding spoils the next step mends, and `defect` tells.
    """
    matrix = np.eye(len(D)) - jacobian(found, D)
    rows = [{j: entry for j, entry in enumerate(row) if not is_zero(entry)} for row in matrix]
    return np.stack(solve_rows(rows, list(found - D)))


@dataclass(frozen=True)
class _Flight:
    """The way from x that the unknowns D, for each node by block, describe."""

    nodes: Nodes
    layout: Layout
    x: State
    h: Scalar
    D: list[dict[str, Array]]

    def at(self, weights: Sequence[float], c: float) -> State:
        """The state after the share c of the step."""
        return self.x.replaced({name: self._block(name, weights, c) for name in self.layout.blocks})

    def _block(self, name: str, weights: Sequence[float], c: float) -> Array:
        moves = self._moves(name)
        total: Array = sum(weight * move for weight, move in zip(weights, moves, strict=True))  # type: ignore[assignment]
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
        return [self.h * self._block(velocity, weights, c)
                for weights, c in zip(self.nodes.a, self.nodes.c, strict=True)]


def _look(flow: Flow, x: State) -> tuple[Array, Scalar]:
    """The slopes of all blocks that are no positions, and the power that is put in."""
    u = flow.inputs(x)
    slopes = flow.tangents(x, u)
    return joined([as_vector(slopes[name]) for name in flow.layout.unmoved]), flow.power(x, u)


def _parts(layout: Layout, D: Array, nodes: Nodes) -> list[dict[str, Array]]:
    """The unknowns for each node, by block."""
    size = len(D) // len(nodes.c)
    return [layout.tangents(D[k * size:(k + 1) * size], layout.unmoved) for k in range(len(nodes.c))]


def _start(nodes: Nodes, points: Array, layout: Layout) -> Array:
    size = sum(prod(layout.blocks[name].tangent) for name in layout.unmoved)
    return np.zeros((*points.shape[:-1], len(nodes.c) * size))


def gauss(nodes: Nodes, iterations: int = 4) -> FixedStep:
    """The method with so many steps of Newton's."""
    stages = range(iterations)
    table = Table(first=[k == 0 for k in stages], last=[k == iterations - 1 for k in stages], time=[0.0] * iterations)
    return FixedStep(2 * len(nodes.c), table, partial(_start, nodes), partial(_stage, nodes))
