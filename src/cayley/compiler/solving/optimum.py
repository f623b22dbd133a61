"""The solution of a convex program, and how it ended."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar


class Status(IntEnum):
    """The status of the solution of a program."""

    SOLVED = 0
    INFEASIBLE = 1
    UNBOUNDED = 2
    NOT_CONVERGED = 3
    NOT_CONVEX = 4
    NOT_A_NUMBER = 5


_WORDS = np.array(["solved", "infeasible", "unbounded", "not converged", "not convex", "not a number"])


class Optimum(NamedTuple):
    """The solution of a quadratic or cone program, of one state or of a batch (...).

    `x` (..., n) is the minimiser. `equalities` (..., p), `inequalities` (..., m) and `cones`, for each cone (..., k),
    are the multipliers y, z and w:

        P x + q + A'y + G'z - sum of F'w = 0

    z is positive where the upper bound holds x, negative where the lower one does; w is in its cone. `primal_residual`
    is the largest violation of a constraint, `dual_residual` the largest entry of the sum above, `gap` what the costs
    of x and of its multipliers differ by. `iterations` counts the interior-point steps, of which there are
    none where active sets gave the answer, and `status` is a number of `Status`.

    Of an infeasible program the multipliers are a certificate: A'y + G'z - sum of F'w = 0, although no x can have
    b'y + (the bounds)'z + sum of g'w = -1 then; x is NaN. A lower bound above its upper one says so by itself: the
    multipliers are NaN, too. Of an unbounded program x is a direction along which nothing ends: P x = 0, A x = 0, G x
    and F x within the bounds however far one goes, q'x = -1; the multipliers are NaN."""

    x: Any
    equalities: Any
    inequalities: Any
    cones: tuple[Any, ...]
    primal_residual: Any
    dual_residual: Any
    gap: Any
    iterations: Any
    status: Any

    @property
    def solved(self) -> Scalar:
        """True where x is the solution; for numbers and within a kernel."""
        return self.status == Status.SOLVED.value

    @property
    def words(self) -> str | Array:
        """The status in words: "solved", "infeasible", "unbounded", "not converged", "not convex", "not a number"."""
        said = _WORDS[np.asarray(self.status, dtype=int)]
        return str(said) if said.ndim == 0 else said
