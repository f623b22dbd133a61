"""Searches for closed configurations between the limits of the joints, and for all that there are, from many starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.kinematics.constraints.inputs import Inputs
from cayley.kinematics.constraints.rows import hold_positions
from cayley.kinematics.constraints.scale import machine_size
from cayley.kinematics.inverse.bounds import Bounds, bounds_of_joints
from cayley.kinematics.inverse.kernels import opening_kernel
from cayley.kinematics.inverse.search import Found, Search, search
from cayley.kinematics.inverse.step import SETTLING, SOLVED, search_step
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
    left, measured = searching.openings(turned, times)
    inside = (measured <= _TOLERANCE) & searching.is_inside(turned)
    iterations = np.zeros(len(q))
    rows = np.flatnonzero(~inside)
    if rows.size:
        found = searching.best(q[rows], times[rows], _ATTEMPTS)
        turned[rows] = found.q
        left[rows] = searching.opening(found.q, times[rows])
        inside[rows] = (found.state == SOLVED) & searching.is_inside(found.q)
        iterations[rows] = found.iterations
    return Within(inside, turned, left, iterations.astype(int))


def _brought_inside(tree: Tree, inputs: Inputs, q: Array) -> Within:
    """What no constraint holds goes to its limit."""
    moving = frozenset(range(len(tree.joints))).difference(inputs.numbers)
    bounds = bounds_of_joints(tree, moving, 1.0, limits=True)
    q = np.where(bounds.moved, bounds.kept(q), q)
    inside = np.asarray(((q >= bounds.lower) & (q <= bounds.upper)).all(axis=-1))
    return Within(inside, q, np.zeros(len(q)), np.zeros(len(q), dtype=int))


def closing_search(tree: Tree, inputs: Inputs, *, limits: bool) -> ClosingSearch:
    """The search of a mechanism with given inputs, made once."""
    key = ("closing search", inputs.numbers, limits)
    return kept(tree, key, lambda: ClosingSearch(tree, inputs, limits))


class ClosingSearch:
    """The kernels of searches that keep all constraints and leave the inputs where they are."""

    def __init__(self, tree: Tree, inputs: Inputs, limits: bool) -> None:
        self.tree = tree
        self.inputs = inputs
        moving = frozenset(range(len(tree.joints))).difference(inputs.numbers)
        self.bounds = bounds_of_joints(tree, moving, machine_size(tree), limits=limits)
        self._step = search_step(tree, None, None, self.bounds, constraints_of(tree)).ufunc()
        self.openings = opening_kernel(tree, constraints_of(tree)).ufunc()

    def opening(self, q: Array, times: Array) -> Array:
        """The length of what is left open (n) [m, rad]."""
        return np.asarray(self.openings(q, times)[0])

    def is_inside(self, q: Array) -> Array:
        """Which configurations (n) are within the limits, those of the inputs too."""
        return np.asarray(((q >= self.bounds.lower - 1e-9) & (q <= self.bounds.upper + 1e-9)).all(axis=-1))

    def starts(self, q: Array, count: int, seed: int = 0) -> Array:
        """The first starts (n, count, nq) of configurations (n, nq), whose inputs they have."""
        table = np.concatenate([self.bounds.middle(self.tree.neutral)[None],
                                self.bounds.scattered(count - 1, seed, self.tree.neutral)])[:count]
        return np.where(self.bounds.moved, table, q[:, None])

    def best(self, q: Array, times: Array, attempts: int) -> Found:
        """The best that searches find that begin at configurations (n, nq), and then at scattered starts."""
        table = self.starts(q, attempts)
        table[:, 0] = np.where(self.bounds.moved, self.bounds.kept(q), q)

        def starts(rows: Array | slice, number: int, count: int) -> Array:
            return table[rows, number:number + count]

        return self._searched(starts, times, attempts)

    def settled(self, q: Array, times: Array) -> Array:
        """Configurations (n, nq) that leave as little open as can be reached from given ones downhill."""
        memory = SETTLING[None].repeat(len(q), axis=0)
        nearest = q
        with np.errstate(all="ignore"):
            for _ in range(_CALLS):
                q, memory = self._step(q, memory, times, 0.0)
            is_nearer = self.openings(q, times)[1] < self.openings(nearest, times)[1]
            return np.where(is_nearer[:, None], q, nearest)

    def from_each(self, q: Array, times: Array) -> Found:
        """What one search from each of some configurations (n, nq) finds."""
        return self._searched(lambda rows, number, count: q[rows, None], times, 1)

    def _searched(self, starts: Callable[..., Array], times: Array, attempts: int) -> Found:
        made = Search(self._step, lambda q, targets: (None, None, self.openings(q, targets)[1]), starts,
                      lambda targets: np.zeros(len(targets), dtype=bool), _TOLERANCE**2, _CALLS, attempts)
        with np.errstate(all="ignore"):
            return search(made, times)


def _whole_turns_back(bounds: Bounds, q: Array) -> Array:
    """Turns beyond a limit brought between the limits, if whole turns do that."""
    has_both = np.isfinite(bounds.lower) & np.isfinite(bounds.upper)
    middle = np.where(has_both, bounds.lower, 0.0) / 2 + np.where(has_both, bounds.upper, 0.0) / 2
    beyond = bounds.turns & bounds.moved & ((q < bounds.lower) | (q > bounds.upper))
    return np.where(beyond, q - _TURN * np.round((q - middle) / _TURN), q)

