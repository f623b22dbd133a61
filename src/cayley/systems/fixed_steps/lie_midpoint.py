"""The midpoint rule on the manifolds of the state: implicit, symmetric in time, order 2.

    vm = (v + v') / 2        qm = q moved by h vm / 2        v' = v + h a(qm, vm)        q' = q moved by h vm
and all other blocks as v. Energy that is a quadratic form of the velocities alone (a free body, a spherical joint
through the centre of mass) is kept exactly, up to what is left of the iteration for vm. Source: Hairer, Lubich &
Wanner, Geometric Numerical Integration, sections IV.2 and V.3."""

from __future__ import annotations

import numpy as np

from cayley.compiler.array_parts import as_vector, each, joined, split
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.systems.fixed_steps.protocol import FixedStep, Point, Stage, iterated_table, largest
from cayley.systems.layout import Layout, State


def _stage(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    flow, h, row = stage
    x = point.x
    layout = flow.layout
    guess = x.replaced(split(carried, {name: layout.blocks[name].shape for name in layout.unmoved}))
    halfway = guess.replaced(layout.stepped(x, each(_velocities(layout, guess), lambda v: h / 2 * v)))
    halfway = flow.constrained(halfway, 0.0)
    u = flow.inputs(halfway)
    slopes = flow.tangents(halfway, u)
    others = layout.unmoved
    middle = x.replaced(layout.stepped(x, {name: h / 2 * slopes[name] for name in others}))
    ends = {name: layout.opposite(name, x, middle, h, slopes) for name in others}
    ends |= layout.stepped(x, each(_velocities(layout, middle), lambda v: h * v))
    end = flow.constrained(x.replaced(ends), (1 - row.time) * h)
    at_middle = halfway.replaced({name: middle[name] for name in others})
    found = _others(layout, middle)
    after = Point(x.replaced({name: where(row.last, end[name], x[name]) for name in layout.blocks}),
                  where(row.last, point.work + h * flow.power(at_middle, u), point.work),
                  where(row.last, np.maximum(point.defect, largest(np.abs(found - carried))), point.defect))
    return after, where(row.last, _others(layout, after.x), found)


def _velocities(layout: Layout, x: State) -> dict[str, Array]:
    return {name: x[velocity] for name, velocity in layout.moved_by.items()}


def _others(layout: Layout, x: State) -> Array:
    """All blocks that are no positions."""
    return joined([as_vector(x[name]) for name in layout.unmoved])


def _start(points: Array, layout: Layout) -> Array:
    return np.concatenate([points[..., layout.places[name]] for name in layout.unmoved], axis=-1)


def lie_midpoint(iterations: int = 6) -> FixedStep:
    return FixedStep(2, iterated_table(iterations, 0.5), _start, _stage)
