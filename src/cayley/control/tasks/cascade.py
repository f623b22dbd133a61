"""Tasks of several priorities, one quadratic program after the other, each without harm to those before it.

The number of operations is bounded by that of one program, times the number of priorities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.loops import repeat
from cayley.compiler.solving.optimum import Optimum
from cayley.compiler.solving.quadratic_programs import quadratic_program
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.control.tasks.programs import (
    Problem,
    Wanted,
    giving_program,
    is_there,
    next_program,
    program,
    row_of,
)
from cayley.control.tasks.situation import Situation

GIVEN = 1e-6  # more than that is a contradiction
TOLERANCE = 1e-10  # forces that do nothing to the motion cost little


class CascadeOptimum(NamedTuple):
    """The unknowns, by how much limits gave, the iterations, and 1 if all programs were solved."""

    x: Array
    slack: Scalar
    iterations: Scalar
    solved: Scalar


def cascade(here: Situation, levels: Sequence[Sequence[Wanted]]) -> CascadeOptimum:
    """The unknowns that do the tasks, those of the first level before all others; a text."""
    found = _first(here, levels[0])
    done: list[Wanted] = list(levels[0])
    for level in levels[1:]:
        answer = _solved(next_program(here, level, done, found.x, found.slack))
        x = where(answer.solved, answer.x, found.x)
        found = CascadeOptimum(x, found.slack, found.iterations + answer.iterations, found.solved * answer.solved)
        done += level
    return found


def _first(here: Situation, level: Sequence[Wanted]) -> CascadeOptimum:
    """The first level, with limits that give where they contradict each other."""
    answer = _solved(program(here, level))
    if not any(row.give for row in here.limits):
        return CascadeOptimum(answer.x, 0.0, answer.iterations, 1.0 * answer.solved)
    n = len(answer.x)

    def give(_: CascadeOptimum) -> CascadeOptimum:
        other = _solved(giving_program(here, level))
        return CascadeOptimum(other.x[:n], other.x[n], answer.iterations + other.iterations, 1.0 * other.solved)

    return repeat(give, CascadeOptimum(answer.x, 0.0, answer.iterations, 1.0 * answer.solved), 1,
                  until=lambda found: found.solved != 0.0)


def _solved(problem: Problem) -> Optimum:
    return quadratic_program(problem.P, problem.q, A=problem.A if len(problem.A) else None,
                             b=problem.b if len(problem.A) else None, G=problem.G if len(problem.G) else None,
                             lower=problem.lower if len(problem.G) else None,
                             upper=problem.upper if len(problem.G) else None, tolerance=TOLERANCE)


def active(here: Situation, found: CascadeOptimum) -> Array:
    """The side of each limit that is reached: -1 at its lower bound, 1 at its upper one, 0 between; a text."""
    marks = []
    for row in here.limits:
        value = row.entries @ found.x
        size = 1e-6 * (1.0 + np.abs(value)) + row.give * np.maximum(found.slack, 0.0)
        at_lower = where(value <= row.lower + size, -1.0, 0.0) if is_there(row.lower) else 0.0
        marks.append(where(value >= row.upper - size, 1.0, at_lower) if is_there(row.upper) else at_lower)
    return row_of(marks) if marks else np.zeros(0)
