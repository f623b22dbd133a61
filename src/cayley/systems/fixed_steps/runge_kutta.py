"""Explicit methods: the classical Runge-Kutta method, of order 4, and semi-implicit Euler, of order 1.

Runge-Kutta integrates blocks on manifolds by their coordinates, and projects them at the end of each step, which keeps
the order. Carried are the point of the stage and the weighted sum of the slopes. Source: Kutta 1901; Yamamoto, section
5.2. Semi-implicit Euler is symplectic for constant inertia, which makes it better than its order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.array_parts import joined
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.systems.fixed_steps.protocol import ONE_STAGE, FixedStep, Flow, Point, Stage, StageTable, nothing
from cayley.systems.layout import Layout, Record, State

Pushed = Callable[[State, Record, dict[str, Array], dict[str, Array]], tuple[Scalar, Scalar]]


def euler_stage(stage: Stage, point: Point, carried: Array, pushed: Pushed | None = None) -> tuple[Point, Array]:
    """First all blocks that are no positions, v' = v + h a(q, v), then positions with the new velocities, which keep
    their direction during the step though the axes they are given in turn. `pushed(x, u,
    slopes, others)`, if given, changes the new velocities among these others, and says its work and the defect."""
    flow, h, _ = stage
    x = point.x
    layout = flow.layout
    u = flow.inputs(x)
    slopes = flow.tangents(x, u)
    turned = layout.turnings(x)
    others = layout.stepped(x, {name: h * (slopes[name] + turned[name] if name in turned else slopes[name])
                                for name in layout.unmoved})
    pushes = pushed(x, u, slopes, others) if pushed else None
    moved = x.replaced(others)
    after = moved.replaced(layout.straight(moved, h))
    halfway = x.replaced({name: layout.middle(name, x, moved) for name in others})
    work = point.work + h * flow.power(halfway, u)
    work, defect = (work + pushes[0], pushes[1]) if pushes else (work, point.defect)
    return Point(flow.constrained(after, h), work, defect), carried


SEMI_IMPLICIT_EULER = FixedStep(1, ONE_STAGE, nothing, euler_stage)
TABLE = StageTable(first=[True, False, False, False],
              last=[False, False, False, True],
              time=[0.0, 0.5, 0.5, 1.0],
              weight=[1 / 6, 1 / 3, 1 / 3, 1 / 6],
              onward=[0.5, 0.5, 1.0, 0.0])  # weight of the slope, how far to follow it


def _stage(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    flow, h, row = stage
    layout = flow.layout
    base = joined([layout.vector(point.x, modes=False), np.stack([point.work])])
    here = layout.state_with(carried[:layout.smooth], point.x)
    straight = layout.projected(here)
    u = flow.inputs(straight)
    slope = joined([layout.rate(here, flow.tangents(straight, u)), np.stack([flow.power(straight, u)])])
    total = carried[len(base):] + row.weight * slope
    if flow.system.constraints:
        arrived = where(row.last, base + h * total, base + (h * row.onward) * slope)
        onward = end = _constrained(flow, arrived, point, (where(row.last, 1.0, row.onward) - row.time) * h)
    else:
        end = _constrained(flow, base + h * total, point, 0.0)
        onward = where(row.last, end, base + (h * row.onward) * slope)
    after = where(row.last, end, base)
    carried = joined([onward, where(row.last, np.zeros(len(base)), total)])
    return Point(layout.state_with(after[:-1], point.x), after[-1], point.defect), carried


def _constrained(flow: Flow, arrived: Array, point: Point, later: Scalar) -> Array:
    """The end of a stage or the step, on the constraints: so that what is evaluated there is not far from them."""
    layout = flow.layout
    x = flow.constrained(layout.projected(layout.state_with(arrived[:-1], point.x)), later)
    return joined([layout.vector(x, modes=False), arrived[-1:]])


def _start(points: Array, layout: Layout) -> Array:
    base = np.concatenate([points[..., :layout.smooth], points[..., -2:-1]], axis=-1)
    return np.concatenate([base, np.zeros_like(base)], axis=-1)


RK4 = FixedStep(4, TABLE, _start, _stage)
