"""A step of fixed length is made in stages: what a stage is given, what it returns, and how a method is described.

The state is x = (q, v, work, defect): `work` is the energy that forces have put in, `defect` the largest last
correction of a velocity that an iterated method had to make. Each row of a method's table begins with (first, last,
time): whether the stage is the first, the last, and its time in units of the step. A stage evaluates the equations of
motion once. Between stages a method carries what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cayley.simulation.state_equation import StateEquation

FIRST, LAST, TIME = range(3)


class State(NamedTuple):
    """The parts of x."""

    q: Any
    v: Any
    work: Any
    defect: Any

    @staticmethod
    def of(x: Any, nq: int) -> State:
        return State(x[:nq], x[nq:-2], x[-2], x[-1])

    @property
    def x(self) -> Any:
        return np.concatenate([self.q, self.v, np.stack([self.work]), np.stack([self.defect])])


class Stage(NamedTuple):
    """What a stage is given: the state equation with its forces, `force(q, v) -> (tau, *more)`, the step, and the row
    of the table.
    """

    equation: StateEquation
    force: Callable[[Any, Any], tuple[Any, ...]]
    h: Any
    row: Any


class FixedStep(NamedTuple):
    """A method by its order, its table (stages, columns), what it carries for (nq, nv), at the start from x, and the
    text of a stage.
    """

    order: int
    table: np.ndarray
    carried: Callable[[Any, int], Any]
    text: Callable[[Stage, State, Any], tuple[State, Any]]

    @property
    def evaluations(self) -> int:
        return len(self.table)


def largest(values: Any) -> Any:
    """The largest of a few numbers, as an expression."""
    found = values[0]
    for value in values[1:]:
        found = np.maximum(found, value)
    return found
