"""Compiled steps from a guess onto the constraints of a mechanism, for a whole batch of guesses.

    (A A^T + lambda 1) y = -phi,   dq = A^T y      the step of Levenberg and Marquardt, lambda = min(phi.phi, 1)
Only the columns of joints that may move are in A. The damping vanishes with the residual, so that the end is quadratic,
with redundant rows too. A guess is near if every step leaves less than half of what was open; the others are left to
those who look more carefully.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics import constraints
from cayley.kinematics.inputs import Inputs
from cayley.kinematics.inverse.step import damped_solution, integrate
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree

_CLOSED = 1e-12  # what may be left open, in metres and radians,
_BETTER = 1e-14  # and what is not worth another step
_LESS = 0.5  # of what was open: what a step from a near guess leaves at most
_STEPS = 40


class ClosingStep(NamedTuple):
    """Where a step leads (nq); before it, the length of what is open, and a number that is negative where a constraint
    is kept the wrong way round."""

    after: Array
    left: Scalar
    sense: Scalar


class Nearby(NamedTuple):
    """Configurations (n, nq), and (n) of each: whether all constraints are kept, the length of what is left open, and
    the number of steps."""

    q: Array
    closed: Array
    left: Array
    iterations: Array


def closing_step(tree: Tree, inputs: Inputs) -> Kernel[ClosingStep]:
    """The kernel `(q, t) -> ClosingStep` of one step that leaves the inputs where they are."""
    def text(q: Array, t: Scalar) -> ClosingStep:
        rows = constraints.hold_positions(tree)
        phi = constraints.residual(tree, q, t)[rows]
        A = constraints.jacobian(tree, q, t)[rows] * inputs.following
        square = phi @ phi
        dq = damped_solution(A, -phi, np.minimum(square, 1.0))
        sense = constraints.least_sense(tree, q, constraints_of(tree))
        return ClosingStep(integrate(tree, q, dq), np.sqrt(square), sense)

    return kernel(f"({tree.nq}),()->({tree.nq}),(),()", name="closing_step", inputs=("q", "t"),
                  outputs=ClosingStep._fields)(text)


def closed_nearby(tree: Tree, inputs: Inputs, guesses: Array, times: Array) -> Nearby:
    """Steps from guesses (n, nq), at times (n), for as long as each leaves less than half."""
    step = kept(tree, ("closing step", frozenset(inputs.numbers)), lambda: closing_step(tree, inputs).ufunc())
    found = Nearby(guesses.copy(), np.zeros(len(guesses), dtype=bool), np.full(len(guesses), np.inf),
                   np.zeros(len(guesses), dtype=int))
    rows = np.arange(len(guesses))
    q = guesses
    before = np.full(len(guesses), np.inf)
    for iterations in range(_STEPS):
        with np.errstate(all="ignore"):
            after, left, sense = step(q, times[rows])
        arrived = (left <= _CLOSED) & (left < found.left[rows])
        there = rows[arrived]
        found.q[there] = q[arrived]
        found.closed[there] = sense[arrived] > 0
        found.left[there] = left[arrived]
        found.iterations[there] = iterations
        on = (left > (_BETTER if iterations else _CLOSED)) & (left < _LESS * before)
        if not on.any():
            break
        rows = rows[on]
        q = after[on]
        before = left[on]
    return found
