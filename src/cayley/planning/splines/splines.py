"""Quintic splines and B-splines, by SciPy, as motions."""

from __future__ import annotations

from math import factorial
from typing import Any, Literal

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.planning.splines.pieces import checked_points, checked_vector
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.splines.spline_system import check_closed


def quintic_spline(times: ArrayLike, points: ArrayLike,
                   ends: Literal["clamped", "natural", "not-a-knot", "periodic"] = "clamped", *,
                   velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0),
                   accelerations: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> Polynomials:
    """The motion of degree five through points (k, n) at times (k), smooth up to the fourth derivative.

    `ends`: "clamped" (the `velocities` and `accelerations` at both ends are given, at rest if not), "natural" (third
    and fourth derivative are zero there, three points or more), "not-a-knot" (six points or more), or "periodic".

    >>> move = quintic_spline([0.0, 1.0, 3.0], [[0.0], [1.0], [0.5]])
    >>> move.continuity, bool(abs(move([0.0, 3.0]).qdd).max() < 1e-12)
    (3, True)
    """
    x, y = checked_points(times, points)
    shape = y.shape[1:]
    bounds: Any = None
    if ends == "clamped":
        bounds = tuple([(1, checked_vector(v, shape[0], "the velocities of ends")),
                        (2, checked_vector(a, shape[0], "the accelerations of ends"))]
                       for v, a in zip(velocities, accelerations, strict=True))
    elif ends == "natural":
        _check_count(x, 3, ends)
        bounds = tuple([(3, np.zeros(shape)), (4, np.zeros(shape))] for _ in range(2))
    elif ends == "periodic":
        check_closed(y)
        _check_count(x, 6, ends)
        bounds = "periodic"
        y[-1] = y[0]
    elif ends == "not-a-knot":
        _check_count(x, 6, ends)
    else:
        raise ConventionError(f"a quintic spline ends clamped, natural, not-a-knot or periodic; not {ends!r}")
    unit = (x - x[0]) / (x[-1] - x[0])  # so that derivatives of every order are of one size
    scale = x[-1] - x[0]
    if isinstance(bounds, tuple):
        bounds = tuple([(order, value * scale**order) for order, value in end] for end in bounds)
    found = _pieces_of(make_interp_spline(unit, y, k=5, bc_type=bounds))
    breaks = np.interp(found.breaks, unit, x)
    return Polynomials(breaks, found.coefficients / scale ** np.arange(6)[:, None])


def b_spline(control_points: ArrayLike, *, degree: int = 3, knots: ArrayLike | None = None, start: float = 0.0,
             end: float = 1.0) -> Polynomials:
    """The B-spline of a degree with control points (m, n): it stays within their hull, begins at the first and ends at
    the last.

    `knots` (m + degree + 1) never decrease; without them they are even between `start` and `end`, and repeated at both.
    Where a knot is repeated, one derivative less is continuous for each; the motion is on the interval in which all
    control points count, from knot number `degree` to the one before the last `degree`.

    >>> move = b_spline([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]], end=2.0)
    >>> move([0.0, 1.0, 2.0]).q
    array([[0.  , 0.  ],
           [0.5 , 0.75],
           [1.  , 0.  ]])
    """
    c = numbers(control_points, "control points")
    if c.ndim != 2 or not len(c) > degree >= 1:
        raise SignatureError(f"a B-spline of degree {degree} has more than {degree} control points (m, n), and a "
                             f"degree of 1 or more; given was the shape {c.shape}")
    if not np.isfinite(c).all():
        raise PlanningError(f"control point {int((~np.isfinite(c)).any(axis=1).argmax())} is not finite")
    if knots is None:
        if not -np.inf < start < end < np.inf:
            raise PlanningError(f"a motion ends after its start, both finite; given were {start:g} and {end:g}")
        inner = np.linspace(start, end, len(c) - degree + 1)
        t = np.concatenate([[start] * degree, inner, [end] * degree])
    else:
        t = numbers(knots, "knots")
    if t.shape != (len(c) + degree + 1,) or not np.isfinite(t).all() or not (np.diff(t) >= 0).all():
        raise PlanningError(f"{len(c)} control points of degree {degree} take {len(c) + degree + 1} finite knots that "
                            "never decrease")
    if not t[degree] < t[-degree - 1]:
        raise PlanningError(f"the knots {degree} and {len(t) - degree - 1} are the ends of the motion, and both "
                            f"{t[degree]:g}: spread them")
    jumps = t[:-degree][(t[:-degree] == t[degree:]) & (t[:-degree] > t[degree]) & (t[degree:] < t[-degree - 1])]
    if len(jumps):
        raise PlanningError(f"the knot {jumps[0]:g} is there more than {degree} times, where the motion would jump: "
                            "leave some of them out")
    return _pieces_of(BSpline(t, c, degree))


def _pieces_of(spline: BSpline) -> Polynomials:
    """The polynomials between the knots that differ."""
    breaks = np.unique(spline.t[spline.k:len(spline.t) - spline.k])
    c = [spline(breaks[:-1], nu=order) / factorial(order) for order in range(spline.k + 1)]
    return Polynomials(breaks, np.stack(c, axis=1))


def _check_count(x: Array, least: int, ends: str) -> None:
    if len(x) < least:
        raise PlanningError(f"a quintic spline that is {ends} has {least} points or more, not {len(x)}: give more, or "
                            "clamped ends")
