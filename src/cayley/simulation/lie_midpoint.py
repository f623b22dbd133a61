"""The midpoint rule on the group of the configurations: implicit, symmetric in time, order 2.

    vm = (v + v') / 2        qm = q moved by h vm / 2        v' = v + h a(qm, vm)        q' = q moved by h vm
Energy that is a quadratic form of the velocities alone (a free body, a spherical joint through the centre of mass) is
kept exactly, up to what is left of the iteration for vm. Source: Hairer, Lubich & Wanner, Geometric Numerical
Integration, sections IV.2 and V.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.symbols import where
from cayley.simulation.fixed_step_protocol import FIRST, LAST, TIME, FixedStep, Stage, State, largest


def _stage(stage: Stage, state: State, carried: Any) -> tuple[State, Any]:
    equation = stage.equation
    h = stage.h
    q, v, work, defect = state
    halfway = equation.moved(q, h / 2 * carried)
    tau, *more = stage.force(halfway, carried)
    middle = v + h / 2 * equation.acceleration(halfway, carried, tau, *more)
    closing = stage.row[LAST] > 0.5
    after = State(where(closing, equation.moved(q, h * middle), q), where(closing, 2 * middle - v, v),
                  where(closing, work + h * equation.power(halfway, middle, tau, *more), work),
                  where(closing, np.maximum(defect, largest(np.abs(middle - carried))), defect))
    return after, where(closing, after.v, middle)


def lie_midpoint(iterations: int) -> FixedStep:
    table = np.zeros((iterations, 3))
    table[0, FIRST] = 1.0
    table[-1, LAST] = 1.0
    table[:, TIME] = 0.5
    return FixedStep(2, table, lambda x, nq: x[..., nq:-2], _stage)
