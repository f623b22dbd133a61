"""The classical Runge-Kutta method: explicit, order 4, four evaluations a step.

Blocks on manifolds are integrated by their coordinates, and projected at the end of each step, which keeps the order.
Carried are the point of the stage and the weighted sum of the slopes. Source: Kutta 1901; Yamamoto, section 5.2.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.symbols import where
from cayley.compiler.typing import Array
from cayley.systems.fixed_steps.protocol import FixedStep, Point, Stage, Table
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
    end = base + h * total
    arrived = flow.constrained(layout.projected(layout.state_with(end[:-1], point.x)), (1 - row.time) * h)
    end = joined([layout.vector(arrived, modes=False), end[-1:]])
    after = where(row.last, end, base)
    carried = joined([
        where(row.last, end, base + (h * row.onward) * slope),
        where(row.last, np.zeros(len(base)), total)])
    return Point(layout.state_with(after[:-1], point.x), after[-1], point.defect), carried


def _start(points: Array, layout: Layout) -> Array:
    base = np.concatenate([points[..., :layout.smooth], points[..., -2:-1]], axis=-1)
    return np.concatenate([base, np.zeros_like(base)], axis=-1)


RK4 = FixedStep(4, TABLE, _start, _stage)
