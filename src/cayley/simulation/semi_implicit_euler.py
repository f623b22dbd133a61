"""The semi-implicit Euler method: v' = v + h a(q, v), then q' = q moved by h v'. Order 1, one evaluation a step.

For constant inertia it is symplectic, which makes it better than its order. It is what game engines and MuJoCo's
default do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.simulation.fixed_step_protocol import FixedStep, Stage, State


def _stage(stage: Stage, state: State, carried: Any) -> tuple[State, Any]:
    equation = stage.equation
    h = stage.h
    q, v, work, defect = state
    tau, *more = stage.force(q, v)
    after = v + h * equation.acceleration(q, v, tau, *more)
    return State(equation.moved(q, h * after), after, work + h * equation.power(q, (v + after) / 2, tau, *more),
                 defect), carried


SEMI_IMPLICIT_EULER = FixedStep(1, np.array([[1.0, 1.0, 0.0]]), lambda x, nq: x[..., :0], _stage)
