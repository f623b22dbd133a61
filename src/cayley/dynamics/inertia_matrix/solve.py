"""Equations with the mass matrix of a tree: symmetric, positive definite, and zero between branches.

Eliminated from the tips inwards it stays so: L D L^T in that order has no entries where the matrix has none
(Featherstone 2005).
"""

from __future__ import annotations

from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array


def solve(M: Array, forces: Array) -> Array:
    """M^-1 forces, for an inertia matrix (n, n); forces (n) or (n, k)."""
    return ldl_solve(M[::-1, ::-1], forces[::-1])[::-1]
