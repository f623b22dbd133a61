"""A step of fixed length is made in stages: what a stage is given, what it returns, and how a method is described.

A stage evaluates the derivative once. All stages are the same text; a table says by names what is different in each.
Between stages a method carries what it needs, and the point it started from stays until the last stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple, Self

import numpy as np

from cayley.compiler.array_parts import joined
from cayley.compiler.typing import Array, Scalar
from cayley.systems.layout import Layout, Record, State
from cayley.systems.projection import on_constraints
from cayley.systems.system import System


class Point(NamedTuple):
    """A point of a trajectory: the state, the `work` [J] that was put in, and the `defect`, the largest last correction
    that an iterated method had to make. As a vector: (blocks, modes, work, defect)."""

    x: State
    work: Scalar
    defect: Scalar

    @staticmethod
    def of(vector: Array, layout: Layout) -> Point:
        return Point(layout.state(vector[:layout.size]), vector[layout.size], vector[layout.size + 1])

    def vector(self, layout: Layout) -> Array:
        return joined([layout.vector(self.x), np.stack([self.work]), np.stack([self.defect])])


@dataclass(frozen=True)
class Flow:
    """A system in a stage: the time, the parameters, and what gives the inputs at a time and a state."""

    system: System
    t: Scalar
    p: Record
    driven: Callable[[Scalar, State], Record]

    @property
    def layout(self) -> Layout:
        return self.system.layout

    def later(self, seconds: Scalar) -> Self:
        """The same at a later time."""
        return replace(self, t=self.t + seconds)

    def inputs(self, x: State) -> Record:
        """The inputs at a state, now."""
        return self.driven(self.t, x)

    def tangents(self, x: State, u: Record) -> dict[str, Array]:
        """The derivative of each block."""
        return self.system.tangents(self.t, x, u, self.p)

    def power(self, x: State, u: Record) -> Scalar:
        return self.system.power(self.t, x, u, self.p) if self.system.power is not None else 0.0

    def constrained(self, x: State, later: Scalar) -> State:
        """The state at the end of the step, `later` than the stage, with its drift away from constraints taken out."""
        if not self.system.constraints:
            return x
        return on_constraints(self.system, self.t + later, x, self.inputs(x), self.p)


class Stage(NamedTuple):
    """The arguments of a stage: the system with all that acts, the step `h`, and its row of the table, by names."""

    flow: Flow
    h: Scalar
    row: Record


class StageTable:
    """The differences between stages, by name: truth values, or numbers. Every method says of each stage whether it is
    the `first`, and the `last`, and its `time` in units of the step.

    >>> table = StageTable(first=[True, False], last=[False, True], time=[0.0, 0.5])
    >>> table.row(table.numbers[1]).time
    np.float64(0.5)
    """

    def __init__(self, **columns: Sequence[bool] | Sequence[float]) -> None:
        self.columns = columns
        self._truths = {name for name, column in columns.items() if isinstance(column[0], bool)}

    def __len__(self) -> int:
        return len(self.columns["time"])

    @cached_property
    def numbers(self) -> Array:
        """(stages, columns), a truth value as 1 or 0."""
        return np.array(list(self.columns.values()), dtype=float).T

    def row(self, numbers: Array) -> Record:
        """The values of a row by name, truth values as conditions again."""
        return Record("columns of the table of stages", {
            name: value > 0.5 if name in self._truths else value
            for name, value in zip(self.columns, (numbers[k] for k in range(len(self.columns))), strict=True)})


class FixedStep(NamedTuple):
    """A method: its order, its table of stages, what it carries at the start, given vectors (...) of points, and the
    text of a stage."""

    order: int
    table: StageTable
    carried: Callable[[Array, Layout], Array]
    text: Callable[[Stage, Point, Array], tuple[Point, Array]]

    @property
    def evaluations(self) -> int:
        return len(self.table)


ONE_STAGE = StageTable(first=[True], last=[True], time=[0.0])


def iterated_table(iterations: int, time: float = 0.0) -> StageTable:
    """A stage for each iteration, all at the same time."""
    stages = range(iterations)
    return StageTable(first=[k == 0 for k in stages], last=[k == iterations - 1 for k in stages],
                      time=[time] * iterations)


def nothing(points: Array, layout: Layout) -> Array:
    """Carry of a method that needs nothing between its stages."""
    return points[..., :0]


def largest(values: Array) -> Scalar:
    """The largest of a few numbers, as an expression."""
    return reduce(np.maximum, values)
