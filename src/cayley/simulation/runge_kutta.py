"""The classical Runge-Kutta method: explicit, order 4, four evaluations a step.

Attitudes are integrated as the four numbers of their quaternions, and projected to length one at the end of each step,
which keeps the order. Carried are the point of the stage and the weighted sum of the slopes. Source: Kutta 1901;
Yamamoto, section 5.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.symbols import where
from cayley.simulation.fixed_step_protocol import FixedStep, Stage, State

TABLE = np.array([[1, 0, 0.0, 1 / 6, 0.5],
                  [0, 0, 0.5, 1 / 3, 0.5],
                  [0, 0, 0.5, 1 / 3, 1.0],
                  [0, 1, 1.0, 1 / 6, 0.0]])  # first, last, time; weight of the slope, how far to follow it


def _stage(stage: Stage, state: State, carried: Any) -> tuple[State, Any]:
    equation = stage.equation
    h = stage.h
    nq = len(state.q)
    _, last, _, weight, onward = stage.row
    base = np.concatenate([state.q, state.v, np.stack([state.work])])
    point = carried[:len(base)]
    total = carried[len(base):]
    slope = equation.derivative(point[:nq], point[nq:-1], *stage.force(point[:nq], point[nq:-1]))
    total = total + weight * slope
    end = base + h * total
    end = np.concatenate([equation.projected(end[:nq]), end[nq:]])
    closing = last > 0.5
    after = where(closing, end, base)
    carried = np.concatenate([
        where(closing, end, base + (h * onward) * slope),
        where(closing, np.zeros(len(base)), total)])
    return State(after[:nq], after[nq:-1], after[-1], state.defect), carried


def _start(x: Any, nq: int) -> Any:
    return np.concatenate([x[..., :-1], np.zeros_like(x[..., :-1])], axis=-1)


RK4 = FixedStep(4, TABLE, _start, _stage)
