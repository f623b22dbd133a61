"""Compiled steps from a guess onto the constraints of a mechanism, for a whole batch of guesses.

    (A A^T + lambda 1) y = -phi,   dq = A^T y      the step of Levenberg and Marquardt, lambda = min(phi.phi, 1)
Lengths are measured in the size of the machine. Only the columns of joints that may move are in A. The damping vanishes
with the residual, so that the end is quadratic, with redundant rows too. A step that closes nothing worth it is halved,
as those of a careful search are; a guess from which none does is left to that, which knows chance steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.scale import length_unit, lengths, row_sizes
from cayley.kinematics.inverse.step import damped_solution, integrate
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree

_CLOSED = 1e-12  # what may be left open, in the size of the machine and radians,
_BETTER = 1e-14  # and what is not worth another step
_WORTH = 1e-4  # of what is open: what a step closes at least
_SHORTEST = 0.0625  # part of a step
_STEPS = 100
_BLOCK = 1000  # guesses at a time: their arrays stay in the cache


class ClosingStep(NamedTuple):
    """Where a step leads (nq); before it, the length of what is open, without units and in metres and radians, and a
    number that is negative where a constraint is kept the wrong way round."""

    after: Array
    left: Scalar
    opening: Scalar
    sense: Scalar


class Nearby(NamedTuple):
    """Configurations (n, nq), and (n) of each: whether all constraints are kept, the length of what is left open, and
    the number of steps."""

    q: Array
    closed: Array
    left: Array
    iterations: Array


def closing_step(tree: Tree, inputs: Inputs) -> Kernel[ClosingStep]:
    """The kernel `(q, t, part) -> ClosingStep` of one step, or a part of it, that leaves the inputs where they are."""
    rows = constraints.hold_positions(tree)
    sizes = row_sizes(tree)[rows]
    units = lengths(tree, length_unit(tree))

    def text(q: Array, t: Scalar, part: Scalar) -> ClosingStep:
        opening = constraints.residual(tree, q, t)[rows]
        phi = opening / sizes
        A = constraints.jacobian(tree, q, t)[rows] * inputs.following * units / sizes[:, None]
        square = phi @ phi
        dq = part * units * damped_solution(A, -phi, np.minimum(square, 1.0))
        sense = constraints.least_sense(tree, q, constraints_of(tree))
        return ClosingStep(integrate(tree, q, dq), np.sqrt(square), np.sqrt(opening @ opening), sense)

    return kernel(f"({tree.nq}),(),()->({tree.nq}),(),(),()", name="closing_step", inputs=("q", "t", "part"),
                  outputs=ClosingStep._fields)(text)


def closed_nearby(tree: Tree, inputs: Inputs, guesses: Array, times: Array) -> Nearby:
    """Steps from guesses (n, nq), at times (n), for as long as each closes something."""
    step = kept(tree, ("closing step", frozenset(inputs.numbers)), lambda: closing_step(tree, inputs).ufunc())
    found = Nearby(guesses.copy(), np.zeros(len(guesses), dtype=bool), np.full(len(guesses), np.inf),
                   np.zeros(len(guesses), dtype=int))
    with np.errstate(all="ignore"):
        for start in range(0, len(guesses), _BLOCK):
            block = slice(start, start + _BLOCK)
            _close(step, Nearby(*[values[block] for values in found]), times[block])
    return found


def _close(step: Callable[..., Any], found: Nearby, times: Array) -> None:
    """Steps from the configurations in `found`, which is where the results go."""
    rows = np.arange(len(times))
    last = tried = found.q.copy()
    before = np.full(len(times), np.inf)
    part = np.ones(len(times))
    for iterations in range(_STEPS):
        after, left, opening, sense = step(tried, times[rows], 1.0)
        better = left < (1.0 - _WORTH * part) * before
        arrived = better & (left <= _CLOSED)
        _record(found, rows[arrived], tried[arrived], opening[arrived], sense[arrived], iterations)
        on = np.where(better, left > (_BETTER if iterations else _CLOSED), part > _SHORTEST)
        if not on.any():
            return
        shorter = ~better[on]
        last = np.where(shorter[:, None], last[on], tried[on])
        before = np.where(shorter, before[on], left[on])
        part = np.where(shorter, part[on] / 2, 1.0)
        rows = rows[on]
        tried = after[on]
        if shorter.any():
            tried[shorter] = step(last[shorter], times[rows[shorter]], part[shorter])[0]


def _record(found: Nearby, rows: Array, q: Array, opening: Array, sense: Array, iterations: int) -> None:
    """Keep what is closed."""
    found.q[rows] = q
    found.closed[rows] = sense > 0
    found.left[rows] = opening
    found.iterations[rows] = iterations
