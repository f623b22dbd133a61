"""The quadratic programs of a controller of tasks: what the tasks cost, and the limits in rows.

    first      least sum of weight (A x - wanted)^2 / 2 + cost of forces + eps |x|^2 + rho s + s^2 / 2,     s >= 0
               with  lower - s give <= rows x <= upper + s give  and  held x = value
    each next  its own tasks, with A x as it was found for all tasks before, and the limits given by s
s is zero unless the limits contradict each other: then rho is more than the tasks can gain, and every row that may give
gives by the same share, the least there is. eps makes x unique where nothing asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.control.tasks.situation import Row, Situation

SLACK = 1e3  # the price of giving, beside costs of about one
EPS = 1e-8  # of the mean curvature
ROOM = 1e-9  # by which limits are wider where the next program begins


class Wanted(NamedTuple):
    """Rows (m, n) of a task by the unknowns, the values (m) that they should have, and their weights (m)."""

    A: Array
    value: Array
    weight: Array


class Problem(NamedTuple):
    """A quadratic program; unknowns (n), and one more for the slack if limits give."""

    P: Array
    q: Array
    A: Array
    b: Array
    G: Array
    lower: Array
    upper: Array


def program(here: Situation, level: Sequence[Wanted]) -> Problem:
    """The program of the first level; a text."""
    P, q = costs(here, level)
    gives = [row for row in here.limits if row.give]
    firm = [row for row in here.limits if not row.give]
    G, lower, upper = stacked([*firm, *gives], len(q))
    if not gives:
        return Problem(P, q, here.held, here.held_value, G, lower, upper)
    n, scale = len(q), 1.0 + np.max(np.abs(q))
    P = np.block([[P, np.zeros((n, 1))], [np.zeros((1, n)), scale * np.eye(1)]])
    sides = []
    for row in firm:
        sides.append((np.append(row.entries, 0.0), row.lower, row.upper))
    for row in gives:
        sides += [(np.append(row.entries, row.give), row.lower, np.inf)] * is_there(row.lower)
        sides += [(np.append(row.entries, -row.give), -np.inf, row.upper)] * is_there(row.upper)
    sides.append((np.append(np.zeros(n), 1.0), 0.0, np.inf))
    held = np.concatenate([here.held, np.zeros((len(here.held), 1))], axis=1)
    return Problem(P, np.append(q, SLACK * scale), held, here.held_value, np.stack([side[0] for side in sides]),
                   row_of([side[1] for side in sides]), row_of([side[2] for side in sides]))


def next_program(here: Situation, level: Sequence[Wanted], done: Sequence[Wanted], x: Array, slack: Scalar) -> Problem:
    """The program of a lower priority, where `x` does the tasks before it; a text."""
    P, q = costs(here, level)
    relaxed = [Row(row.entries, row.lower - (slack * row.give + ROOM), row.upper + (slack * row.give + ROOM))
               for row in here.limits]
    held = np.concatenate([here.held, *[task.A for task in done]])
    value = np.concatenate([here.held_value, *[task.A @ x for task in done]])
    return Problem(P, q, held, value, *stacked(relaxed, len(q)))


def costs(here: Situation, level: Sequence[Wanted]) -> tuple[Array, Array]:
    """P (n, n) and q (n) of the tasks of a level; a text."""
    P, q = here.cost, here.slope
    for task in level:
        weighted = task.A.T * task.weight
        P, q = P + weighted @ task.A, q - weighted @ task.value
    n = len(q)
    return P + (EPS / n) * np.trace(P) * np.eye(n) + 1e-14 * np.eye(n), q


def stacked(rows: Sequence[Row], n: int) -> tuple[Array, Array, Array]:
    """G (r, n) and the bounds (r) of limits."""
    if not rows:
        return np.zeros((0, n)), np.zeros(0), np.zeros(0)
    return (np.stack([row.entries for row in rows]), row_of([row.lower for row in rows]),
            row_of([row.upper for row in rows]))


def is_there(bound: Scalar) -> bool:
    return not (isinstance(bound, float) and np.isinf(bound))


def row_of(values: Sequence[Scalar]) -> Array:
    return np.array(values) if all(isinstance(x, float) for x in values) else np.stack(values)
