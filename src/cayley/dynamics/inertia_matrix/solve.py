"""Equations with the mass matrix of a tree: symmetric, positive definite, and zero between branches.

Eliminated from the tips inwards it stays so: L D L^T in that order has no entries where the matrix has none
(Featherstone 2005)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import Links


def solve(M: Array, forces: Array) -> Array:
    """M^-1 forces, for an inertia matrix (n, n); forces (n) or (n, k)."""
    return ldl_solve(M[::-1, ::-1], forces[::-1])[::-1]


def from_unit_wrenches(links: Links, wrenches: Callable[[int], Iterable[tuple[int, Any, Any]]]) -> Array:
    """The matrix (n, n) of a chain from the numbers, forces and moments that a unit acceleration of joint i needs from
    joint i and those before it, in the axes of their links: what of them is along the axes."""
    return mirrored([[eta[2] if links.links[j].is_revolute else f[2] for j, f, eta in wrenches(i)][::-1]
                     for i in range(len(links.links))])


def mirrored(columns: Sequence[Sequence[Any]]) -> Array:
    """The matrix (n, n) whose column i is `columns[i]` down to the diagonal, and below it the mirror image of its row.

    >>> mirrored([[1.0], [2.0, 3.0]])
    array([[1., 2.],
           [2., 3.]])
    """
    n = len(columns)
    return np.array([[columns[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]).reshape(n, n)
