"""Searches for closed configurations between the limits of the joints, and for all that there are, from many starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import hold_positions
from cayley.kinematics.constraints.scale import machine_size
from cayley.kinematics.inverse.bounds import Bounds, bounds_of_joints
from cayley.kinematics.inverse.goal import Goal
from cayley.kinematics.inverse.search import Found, GoalSearch, search, settled
from cayley.kinematics.inverse.step import SOLVED
from cayley.model.constraints import constraints_of
from cayley.model.tree import Tree

_TOLERANCE = 1e-12  # in the size of the machine, and radians
_CALLS = 200
_ATTEMPTS = 40
_TURN = 2 * np.pi


class Within(NamedTuple):
    """Whether a closed configuration within the limits was found (n), which (n, nq), its residual and the steps (n)."""

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
    """What no constraint holds goes to its limit."""
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

