"""The quadratic programs of a controller of tasks: what the tasks cost, and the limits in rows.

    first       least sum of weight (A x - wanted)^2 / 2 + cost of forces + eps |x|^2 / 2
                with  lower <= rows x <= upper  and  held x = value
    each next   the same for its own tasks, with A x as it was found for all tasks before
    if limits   least s + small costs of tasks,  lower - s give <= rows x <= upper + s give,  s >= 0
    contradict  every row that may give gives by the same share, about the least there is
eps makes x unique where nothing asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.control.tasks.situation import LimitRow, Situation

PRICE = 1e3  # of giving where limits contradict, beside costs of about one
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
    return Problem(P, q, here.held, here.held_value, *stacked(here.limits, len(q)))


def giving_program(here: Situation, level: Sequence[Wanted]) -> Problem:
    """The program whose limits give, with one unknown more, s; a text."""
    P, q = costs(here, level)
    n, size = len(q), 1.0 + np.max(np.abs(q)) + np.trace(P)
    P = np.block([[P / size, np.zeros((n, 1))], [np.zeros((1, n)), np.eye(1)]])
    sides = [(np.append(row.entries, 0.0), row.lower, row.upper) for row in here.limits if not row.give]
    for row in here.limits:
        if row.give:
            sides += [(np.append(row.entries / row.give, 1.0), row.lower / row.give, np.inf)] * is_there(row.lower)
            sides += [(np.append(row.entries / row.give, -1.0), -np.inf, row.upper / row.give)] * is_there(row.upper)
    sides.append((np.append(np.zeros(n), 1.0), 0.0, np.inf))
    held = np.concatenate([here.held, np.zeros((len(here.held), 1))], axis=1)
    G, lower, upper = zip(*sides, strict=True)
    return Problem(P, np.append(q / size, PRICE), held, here.held_value, np.stack(G), row_of(lower), row_of(upper))


def next_program(here: Situation, level: Sequence[Wanted], done: Sequence[Wanted], x: Array, slack: Scalar) -> Problem:
    """The program of a lower priority, where `x` does the tasks before it; a text."""
    P, q = costs(here, level)
    relaxed = [LimitRow(row.entries, row.lower - (slack * row.give + ROOM), row.upper + (slack * row.give + ROOM))
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
    return P + (here.least / n) * np.trace(P) * np.eye(n) + 1e-14 * np.eye(n), q


def stacked(rows: Sequence[LimitRow], n: int) -> tuple[Array, Array, Array]:
    """G (r, n) and the bounds (r) of limits."""
    if not rows:
        return np.zeros((0, n)), np.zeros(0), np.zeros(0)
    return (np.stack([row.entries for row in rows]), row_of([row.lower for row in rows]),
            row_of([row.upper for row in rows]))


def is_there(bound: Scalar) -> bool:
    return not (isinstance(bound, float) and np.isinf(bound))


def row_of(values: Sequence[Scalar]) -> Array:
    return np.array(values) if all(isinstance(x, float) for x in values) else np.stack(values)
