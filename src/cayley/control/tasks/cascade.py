"""Tasks of several priorities, one quadratic program after the other, each without harm to those before it.

The number of operations is bounded by that of one program, times the number of priorities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.quadratic_programs import quadratic_program
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.control.tasks.programs import Wanted, is_there, next_program, program, row_of
from cayley.control.tasks.situation import Situation

GIVEN = 1e-6  # more than that is a contradiction


class Found(NamedTuple):
    """The unknowns, by how much limits gave, the iterations, and whether all programs were solved."""

    x: Array
    slack: Scalar
    iterations: Scalar
    solved: Scalar


def cascade(here: Situation, levels: Sequence[Sequence[Wanted]]) -> Found:
    """The unknowns that do the tasks, those of the first level before all others; a text."""
    x, slack, count, solved = np.zeros(here.motion.shape[1]), 0.0, 0.0, True
    done: list[Wanted] = []
    for number, level in enumerate(levels):
        problem = program(here, level) if number == 0 else next_program(here, level, done, x, slack)
        answer = quadratic_program(*problem[:2], A=problem.A, b=problem.b, G=problem.G, lower=problem.lower,
                                   upper=problem.upper)
        n = len(x)
        x = answer.x[:n]
        slack = answer.x[n] if len(answer.x) > n else slack
        count, solved = count + answer.iterations, solved & (answer.status == 0)
        done += level
    return Found(x, slack, count, solved)


def active(here: Situation, found: Found) -> Array:
    """Of each limit -1 at its lower bound, 1 at its upper one, 0 between; a text."""
    marks = []
    for row in here.limits:
        value = row.entries @ found.x
        size = 1e-6 * (1.0 + np.abs(value)) + row.give * np.maximum(found.slack, 0.0)
        at_lower = where(value <= row.lower + size, -1.0, 0.0) if is_there(row.lower) else 0.0
        marks.append(where(value >= row.upper - size, 1.0, at_lower) if is_there(row.upper) else at_lower)
    return row_of(marks) if marks else np.zeros(0)
