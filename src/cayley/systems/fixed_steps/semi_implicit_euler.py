"""The semi-implicit Euler method: first all blocks that are no positions, v' = v + h a(q, v), then positions with the
new velocities, q' = q moved by h v'. Order 1, one evaluation a step.

For constant inertia it is symplectic, which makes it better than its order. It is what game engines and MuJoCo's
default do.
"""

from __future__ import annotations

from cayley.compiler.typing import Array
from cayley.systems.fixed_steps.protocol import FixedStep, Point, Stage, Table
from cayley.systems.layout import each


def _stage(stage: Stage, point: Point, carried: Array) -> tuple[Point, Array]:
    flow, h, _ = stage
    x = point.x
    layout = flow.layout
    u = flow.inputs(x)
    slopes = flow.tangents(x, u)
    others = layout.stepped(x, {name: h * slopes[name] for name in layout.blocks if name not in layout.moved_by})
    moved = x.replaced(others)
    velocities = {name: moved[velocity] for name, velocity in layout.moved_by.items()}
    after = moved.replaced(layout.stepped(x, each(velocities, lambda v: h * v)))
    halfway = x.replaced({name: layout.middle(name, x, moved) for name in others})
    work = point.work + h * flow.power(halfway, u)
    return Point(flow.constrained(after, h), work, point.defect), carried


SEMI_IMPLICIT_EULER = FixedStep(1, Table(first=[True], last=[True], time=[0.0]), lambda points, layout: points[..., :0],
                                _stage)
