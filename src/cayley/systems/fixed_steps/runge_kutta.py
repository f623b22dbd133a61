"""The classical Runge-Kutta method: explicit, order 4, four evaluations a step.

Blocks on manifolds are integrated by their coordinates, and projected at the end of each step, which keeps the order.
Carried are the point of the stage and the weighted sum of the slopes. Source: Kutta 1901; Yamamoto, section 5.2.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.systems.fixed_steps.protocol import FixedStep, Flow, Point, Stage, Table
from cayley.systems.layout import Layout, joined

TABLE = Table(first=[True, False, False, False],
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
        end = base + h * total
        end = joined([layout.vector(layout.projected(layout.state_with(end[:-1], point.x)), modes=False), end[-1:]])
        onward = where(row.last, end, base + (h * row.onward) * slope)
    after = where(row.last, end, base)
    carried = joined([onward, where(row.last, np.zeros(len(base)), total)])
    return Point(layout.state_with(after[:-1], point.x), after[-1], point.defect), carried


def _constrained(flow: Flow, arrived: Array, point: Point, later: Scalar) -> Array:
    """Where a stage or the step ends, on the constraints: so that what is evaluated there is not far from them."""
    layout = flow.layout
    x = flow.constrained(layout.projected(layout.state_with(arrived[:-1], point.x)), later)
    return joined([layout.vector(x, modes=False), arrived[-1:]])


def _start(points: Array, layout: Layout) -> Array:
    base = np.concatenate([points[..., :layout.smooth], points[..., -2:-1]], axis=-1)
    return np.concatenate([base, np.zeros_like(base)], axis=-1)


RK4 = FixedStep(4, TABLE, _start, _stage)
