"""Searches for closed configurations: compiled steps from guesses that are near, for a whole batch, and searches from
many starts between the limits of the joints.

    (A A^T + lambda 1) y = -phi,   dq = A^T y      the step of Levenberg and Marquardt, lambda = min(phi.phi, 1)
Lengths are measured in the size of the machine. Convergence is quadratic, also with redundant rows. A step that closes
too little is halved; a guess from which none closes anything is left to the careful search of `closure`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array, Scalar
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import hold_positions, length_unit, lengths, machine_size, row_sizes
from cayley.kinematics.inverse.bounds import Bounds, bounds_of_joints
from cayley.kinematics.inverse.goal import Goal
from cayley.kinematics.inverse.search import SOLVED, Found, GoalSearch, damped_solution, integrate, search, settled
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree

_TOLERANCE = 1e-12  # in the size of the machine, and radians
_CALLS = 200
_ATTEMPTS = 40
_TURN = 2 * np.pi


class Within(NamedTuple):
    """Results of searches within limits: success (n), the configuration (n, nq), residual and steps (n)."""

    found: Array
    q: Array
    residual: Array
    iterations: Array


def closed_within_limits(tree: Tree, inputs: Inputs, q: Array, times: Array) -> Within:
    """Closed configurations within the limits at times (n), for closed or open ones (n, nq) outside: the same after
    whole turns, or what searches from there and from scattered starts find."""
    if not hold_positions(tree).any():
        return _brought_inside(tree, inputs, q)
    searching = closing_search(tree, inputs, limits=True)
    turned = _whole_turns_back(searching.bounds, q)
    _, _, measured, left = searching.errors(turned, times)
    inside = (measured <= _TOLERANCE) & searching.bounds.contains(turned)
    iterations = np.zeros(len(q))
    rows = np.flatnonzero(~inside)
    if rows.size:
        bounds = searching.bounds
        found = searching.best(np.where(bounds.moved, bounds.kept(q[rows]), q[rows]), times[rows], _ATTEMPTS)
        turned[rows] = found.q
        left[rows] = searching.opening(found.q, times[rows])
        inside[rows] = (found.state == SOLVED) & bounds.contains(found.q)
        iterations[rows] = found.iterations
    return Within(inside, turned, left, iterations.astype(int))


def _brought_inside(tree: Tree, inputs: Inputs, q: Array) -> Within:
    """The configurations with joints that no constraint holds brought to their limits."""
    moving = frozenset(range(len(tree.joints))).difference(inputs.numbers)
    bounds = bounds_of_joints(tree, moving, 1.0, limits=True)
    q = np.where(bounds.moved, bounds.kept(q), q)
    return Within(bounds.contains(q), q, np.zeros(len(q)), np.zeros(len(q), dtype=int))


def closing_search(tree: Tree, inputs: Inputs, *, limits: bool) -> ClosingSearch:
    """The search of a mechanism with given inputs, made once."""
    key = ("closing search", inputs.numbers, limits)
    return kept(tree, key, lambda: ClosingSearch(tree, inputs, limits))


class ClosingSearch(GoalSearch):
    """Searches that keep all constraints and leave the inputs where they are."""

    def __init__(self, tree: Tree, inputs: Inputs, limits: bool) -> None:
        moving = frozenset(range(len(tree.joints))).difference(inputs.numbers)
        super().__init__(Goal(tree, None, None, constraints_of(tree)),
                         bounds_of_joints(tree, moving, machine_size(tree), limits=limits))

    def opening(self, q: Array, times: Array) -> Array:
        """The length of what is left open (n) [m, rad]."""
        return np.asarray(self.errors(q, times)[3])

    def best(self, q: Array, times: Array, attempts: int) -> Found:
        """The best that searches find that begin at configurations (n, nq), and then at scattered starts."""
        with np.errstate(all="ignore"):
            return search(self.of(q, _TOLERANCE, _CALLS, attempts), times)

    def settled(self, q: Array, times: Array) -> Array:
        """Configurations (n, nq) that leave as little open as can be reached from given ones downhill."""
        with np.errstate(all="ignore"):
            return settled(self.of(q, 0.0, 1, 1), q, times, _CALLS)


def _whole_turns_back(bounds: Bounds, q: Array) -> Array:
    """Turns beyond a limit brought between the limits, if whole turns do that."""
    has_both = np.isfinite(bounds.lower) & np.isfinite(bounds.upper)
    middle = np.where(has_both, bounds.lower, 0.0) / 2 + np.where(has_both, bounds.upper, 0.0) / 2
    beyond = bounds.turns & bounds.moved & ((q < bounds.lower) | (q > bounds.upper))
    return np.where(beyond, q - _TURN * np.round((q - middle) / _TURN), q)


_CLOSED = 1e-12  # what may be left open, in the size of the machine and radians,
_BETTER = 1e-14  # and what is not worth another step
_WORTH = 1e-4  # of what is open: what a step closes at least
_SHORTEST = 0.0625  # part of a step
_STEPS = 100
_BLOCK = 1000  # guesses at a time: their arrays stay in the cache


class ClosingStep(NamedTuple):
    """The end of a step (nq); before it, the length of what is open, without units and in metres and radians, and a
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
    found.q[rows] = q
    found.closed[rows] = sense > 0
    found.left[rows] = opening
    found.iterations[rows] = iterations
