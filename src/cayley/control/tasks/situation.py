"""The motions that a mechanism can choose from at a state, and what bounds them: the common form of both levels.

    motion = X x + rest      velocities or accelerations (nv) by the n unknowns x
    lower <= rows x <= upper       limits; a row that may give is exceeded by s give where limits contradict each other
    held x = value                 what stands still
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar


class LimitRow(NamedTuple):
    """A limit: its entries (n), its bounds, infinite numbers where there is none, and by how much it may give."""

    entries: Array
    lower: Scalar
    upper: Scalar
    give: float = 0.0


class Situation(NamedTuple):
    """The unknowns at a state; arrays of a text."""

    motion: Array  # X (nv, n)
    rest: Array  # (nv)
    limits: list[LimitRow]
    held: Array  # (h, n)
    held_value: Array  # (h)
    cost: Array  # (n, n), of forces
    slope: Array  # (n), the same cost: x.cost x / 2 + slope.x
    found: dict[str, tuple[Array, Array]]  # outputs as affine functions of x, and their values at x = 0
    least: float = 1e-8  # the cost of |x|^2 that makes x unique, of the mean of all curvatures


def without_cost(n: int) -> tuple[Array, Array]:
    return np.zeros((n, n)), np.zeros(n)
