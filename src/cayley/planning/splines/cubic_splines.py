"""Cubic splines through points: with every way to end, and from rest to rest."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError
from cayley.planning.splines.pieces import checked_points
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.splines.spline_system import Ends, cubic_pieces, spline_bends


def cubic_spline(times: ArrayLike, points: ArrayLike, ends: Ends = "natural", *,
                 velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> Polynomials:
    """The motion through points (k, n) at times (k), with continuous accelerations.

    `ends`: "natural" (no acceleration), "clamped" (the `velocities` at both ends are given, at rest if not),
    "not-a-knot" (no jump of jerk at the second and the last but one knot), "periodic" (it comes back to its first
    point, and goes on as it began), or one word for each end. A natural end is not at rest, and a clamped one has an
    acceleration: `rest_to_rest_spline` has neither.

    >>> move = cubic_spline([0.0, 1.0, 2.5, 3.0, 4.5], [[0.0], [0.5], [2.0], [1.5], [1.0]])
    >>> move([0.5, 2.0, 3.7]).q[:, 0]
    array([0.14045699, 1.8389088 , 1.05482119])
    """
    x, y = checked_points(times, points)
    return Polynomials(x, cubic_pieces(x, y, ends, velocities))


def second_derivatives(times: ArrayLike, points: ArrayLike, ends: Ends = "natural", *,
                       velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> Array:
    """The second derivatives s'' (k, n) at the knots, of which a cubic spline is made.

    >>> second_derivatives([0.0, 1.0, 2.5, 3.0, 4.5], [[0.0], [0.5], [2.0], [1.5], [1.0]])[:, 0]
    array([ 0.        ,  1.75268817, -3.84229391,  1.48028674,  0.        ])
    """
    return spline_bends(*checked_points(times, points), ends, velocities)


def rest_to_rest_spline(times: ArrayLike, points: ArrayLike, *,
                        extra: tuple[float, float] | None = None) -> Polynomials:
    """The cubic spline through points (k, n) at times (k) without velocity and acceleration at both ends.

    Four conditions are two too many for a spline with these knots: it has two more, at the times `extra`, in the middle
    of the first and of the last interval if not said (of a single one, at its thirds), where it is wherever it then
    comes to be.

    >>> move = rest_to_rest_spline([0.0, 1.0, 3.0], [[0.0], [1.0], [0.5]])
    >>> bool(max(abs(move([0.0, 3.0]).qd).max(), abs(move([0.0, 3.0]).qdd).max()) < 1e-13)
    True
    """
    x, y = checked_points(times, points)
    if extra is None:
        extra = ((2 * x[0] + x[1]) / 3, (x[0] + 2 * x[1]) / 3) if len(x) == 2 else (
            0.5 * (x[0] + x[1]), 0.5 * (x[-2] + x[-1]))
    if not x[0] < extra[0] < extra[1] < x[-1] or np.isin(extra, x).any():
        raise PlanningError(f"the extra knots are two times between {x[0]:g} and {x[-1]:g} s that are not knots "
                            f"already, in order; given were {extra[0]:g} and {extra[1]:g}")
    knots = np.sort([*x, *extra])
    free = np.searchsorted(knots, extra)
    rows = np.zeros((len(knots), y.shape[1] + 2))  # the given points, and one at either extra knot
    rows[~np.isin(np.arange(len(knots)), free), :-2] = y
    rows[free, [-2, -1]] = 1.0
    ends = Polynomials(knots, cubic_pieces(knots, rows, "natural", (0.0, 0.0))).velocity(knots[[0, -1]])
    rows[free, :-2] = np.linalg.solve(ends[:, -2:], -ends[:, :-2])
    whole = np.ascontiguousarray(rows[:, :-2])
    return Polynomials(knots, cubic_pieces(knots, whole, "natural", (0.0, 0.0)))
