"""Cubic splines, by their own tridiagonal system, and quintic splines and B-splines, by SciPy, as motions. Between the
knots x_k, x_{k+1}, h_k apart, a cubic spline is A_k u^3 + B_k u^2 + C_k u + D_k with u = x - x_k and

    A_k = (s''_{k+1} - s''_k)/(6 h_k)    B_k = s''_k/2    C_k = ds_k/h_k - h_k (s''_{k+1} + 2 s''_k)/6    D_k = s_k
    h_{k-1} s''_{k-1} + 2 (h_{k-1} + h_k) s''_k + h_k s''_{k+1} = 6 (ds_k/h_k - ds_{k-1}/h_{k-1})
Source: Ruggiu 5.5 (5.7)-(5.13), C_k corrected as in spec E-24."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import factorial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from scipy.interpolate import BSpline, CubicSpline, make_interp_spline
from scipy.linalg import solve_banded
from scipy.linalg.lapack import dgtsv

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.planning.motion import positive_seconds
from cayley.planning.splines.polynomials import Polynomials, checked_points, checked_vector
from cayley.planning.timing.limits import checked_configuration


def quintic_spline(times: ArrayLike, points: ArrayLike,
                   ends: Literal["clamped", "natural", "not-a-knot", "periodic"] = "clamped", *,
                   velocities: tuple[ArrayLike, ArrayLike] = (0.0, 0.0),
                   accelerations: tuple[ArrayLike, ArrayLike] = (0.0, 0.0)) -> Polynomials:
    """The motion of degree five through points (k, n) at times (k), smooth up to the fourth derivative. `ends`:
    "clamped" (the `velocities` and `accelerations` at both ends are given, at rest if not), "natural" (third and fourth
    derivative are zero there, three points or more), "not-a-knot" (six points or more), or "periodic".

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
    the last. `knots` (m + degree + 1) never decrease; without them they are even between `start` and `end`, and
    repeated at both. A repeated knot makes one derivative less continuous; the motion is from knot number `degree` to
    the one before the last `degree`.

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
    breaks = np.unique(spline.t[spline.k:len(spline.t) - spline.k])
    c = [spline(breaks[:-1], nu=order) / factorial(order) for order in range(spline.k + 1)]
    return Polynomials(breaks, np.stack(c, axis=1))


def _check_count(x: Array, least: int, ends: str) -> None:
    if len(x) < least:
        raise PlanningError(f"a quintic spline that must be {ends} has {least} points or more, not {len(x)}: give "
                            f"more, or clamped ends")


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
    """The cubic spline through points (k, n) at times (k) without velocity and acceleration at both ends. It has two
    more knots, at the times `extra`, by default in the middle of the first and of the last interval (at the thirds of a
    single one), where its position is free.

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


End: TypeAlias = Literal["natural", "clamped", "not-a-knot"]
Ends: TypeAlias = End | Literal["periodic"] | tuple[End, End]
_ENDS = ("natural", "clamped", "not-a-knot")
_CLOSED = 1e-9  # relative: how well a periodic spline must come back


def cubic_pieces(x: Array, y: Array, ends: Ends, velocities: tuple[ArrayLike, ArrayLike]) -> Array:
    """The coefficients (k - 1, 4, n) of the spline through checked points."""
    return _pieces(x, y, spline_bends(x, y, ends, velocities))


def spline_bends(x: Array, y: Array, ends: Ends, velocities: tuple[ArrayLike, ArrayLike]) -> Array:
    """The second derivatives (k, n) at the knots."""
    if ends == "periodic":
        check_closed(y)
        return CubicSpline(x, np.concatenate([y[:-1], y[:1]]), bc_type="periodic")(x, 2)
    kinds = tuple(ends) if isinstance(ends, (tuple, list)) else (ends, ends)
    if len(kinds) != 2 or any(kind not in _ENDS for kind in kinds):
        raise ConventionError(f"a spline ends {', '.join(_ENDS)}, one word or one for each end, or is periodic; not "
                              f"{ends!r}")
    if "not-a-knot" in kinds and len(x) < 4:
        return _few(x, y, kinds, velocities)
    h = x[1:] - x[:-1]
    slopes = (y[1:] - y[:-1]) / h[:, None]
    bands = np.zeros((5, len(x)))  # row 2 is the diagonal, rows above it to its right
    right = np.zeros(y.shape)
    bands[1, 2:] = h[1:]
    bands[2, 1:-1] = 2.0 * (x[2:] - x[:-2])
    bands[3, :-2] = h[:-1]
    right[1:-1] = 6.0 * (slopes[1:] - slopes[:-1])
    if kinds == ("natural", "natural"):
        bands[2, [0, -1]] = 1.0
    else:
        first, last = (checked_vector(velocity, y.shape[1], "the velocities of ends") for velocity in velocities)
        _first_row(bands, right, kinds[0], h, slopes, first)
        _first_row(bands[::-1, ::-1], right[::-1], kinds[1], h[::-1], -slopes[::-1], -last)
    if "not-a-knot" in kinds:
        return solve_banded((2, 2), bands, right)
    return dgtsv(bands[3, :-1], bands[2], bands[1, 1:], right)[3]  # LAPACK's own for three diagonals


def _pieces(x: Array, y: Array, second: Array) -> Array:
    return _of_all(y.shape[1])(x[1:] - x[:-1], y[:-1], y[1:], second[:-1], second[1:])


@cache
def _of_all(n: int) -> np.ufunc:
    return _piece.ufunc(n=n)


@kernel("(),(n),(n),(n),(n)->(4,n)")
def _piece(h: Scalar, s: Array, following: Array, second: Array, next_second: Array) -> Array:
    C = (following - s) / h - h * (next_second + 2.0 * second) / 6.0
    return np.stack([s, C, second / 2.0, (next_second - second) / (6.0 * h)])


def check_closed(y: Array) -> None:
    """Raise unless the last point is the first."""
    apart = np.abs(y[-1] - y[0])
    if apart.max(initial=0.0) > _CLOSED * (1.0 + np.abs(y).max(initial=0.0)):
        worst = int(apart.argmax())
        raise PlanningError(f"a periodic spline comes back to its first point; coordinate {worst} begins at "
                            f"{y[0, worst]:g} and ends at {y[-1, worst]:g}")


def _first_row(bands: Array, right: Array, kind: str, h: Array, slopes: Array, velocity: Array) -> None:
    """The row of the first knot; of the last one, for everything seen from there."""
    if kind == "natural":
        bands[2, 0] = 1.0
    elif kind == "clamped":
        bands[2, 0] = 2.0 * h[0]
        bands[1, 1] = h[0]
        right[0] = 6.0 * (slopes[0] - velocity)
    else:
        bands[2, 0] = -h[1]
        bands[1, 1] = h[0] + h[1]
        bands[0, 2] = -h[0]


def _few(x: Array, y: Array, kinds: tuple[str, ...], velocities: tuple[ArrayLike, ArrayLike]) -> Array:
    """The spline with a single inner knot that is none: one polynomial of the least degree that the ends allow."""
    conditions = [(x[k], 0, y[k]) for k in range(len(x))]
    for place, kind in zip((0, -1), kinds, strict=True):
        if kind != "not-a-knot":
            asked = 0.0 if kind == "natural" else velocities[place]
            value = checked_vector(asked, y.shape[1], "the velocities of ends")
            conditions.append((x[place], 2 if kind == "natural" else 1, value))
    c = np.zeros((4, y.shape[1]))
    found = coefficients_of(conditions, x[:1])[0]
    c[:len(found)] = found
    return 2.0 * c[2] + 6.0 * c[3] * (x - x[0])[:, None]


_ORDERS = ("q", "qd", "qdd", "qddd")
_WORST = 1e13  # condition number of a system that is still an answer


class At(NamedTuple):
    """Conditions on a motion at the time `t` [s]: any of position, velocity, acceleration, jerk, (n) or one for all."""

    t: float
    q: ArrayLike | None = None
    qd: ArrayLike | None = None
    qdd: ArrayLike | None = None
    qddd: ArrayLike | None = None


def polynomial_through(conditions: Sequence[At]) -> Polynomials:
    """The polynomial, one for each coordinate, that satisfies the conditions at each time, from the first to the last.
    It is written in powers of the time from each of them, in which it can be evaluated to all digits. All coordinates
    have the same conditions, with values of their own. Two positions and velocities and accelerations at both ends make
    a polynomial of degree five, two via points besides one of degree seven.

    >>> move = polynomial_through([At(0.0, q=[0.0], qd=0.0, qdd=0.0), At(0.1, q=[0.02]), At(0.9, q=[0.98]),
    ...                            At(1.0, q=[1.0], qd=0.0, qdd=0.0)])
    >>> (729 * move.coefficients[0, 3:, 0]).round(6)
    array([  21590.,  -82435.,  133074., -100100.,   28600.])
    """
    listed = [(float(numbers(at.t, "times")), order, numbers(getattr(at, name), f"values of {name}"))
              for at in conditions for order, name in enumerate(_ORDERS) if getattr(at, name) is not None]
    times = [t for t, _, _ in listed]
    if not listed or min(times) == max(times):
        raise PlanningError("a motion has conditions at two times or more: it takes a time > 0")
    try:
        n = np.broadcast_shapes((1,), *[value.shape for _, _, value in listed])
    except ValueError:
        raise SignatureError("the values of all conditions are (n), or a number for all coordinates; given were the "
                             f"shapes {[value.shape for _, _, value in listed]}") from None
    if len(n) != 1:
        raise SignatureError(f"the values of conditions are (n), not of the shape {n}")
    full = [(t, order, np.broadcast_to(value, n)) for t, order, value in listed]
    breaks = np.unique(times)
    return Polynomials(breaks, coefficients_of(full, breaks[:-1]))


def through_two_points(first: ArrayLike, last: ArrayLike, via: ArrayLike, times: ArrayLike,
                       duration: float) -> Polynomials:
    """The motion of degree seven from rest at `first` (n) to rest at `last`, velocities and accelerations zero at both
    ends, that is at `via` (2, n) at the `times` (2) [s] between 0 and the `duration`. Source: Ruggiu 5.4; spec S2-85,
    WE-36.

    >>> move = through_two_points([0.0], [1.0], [[0.02], [0.98]], [0.1, 0.9], 1.0)
    >>> (move.coefficients[0, 3:, 0] * 729).round(6)
    array([  21590.,  -82435.,  133074., -100100.,   28600.])
    """
    a = checked_configuration(first, "the first configuration")
    b = checked_configuration(last, "the last configuration", len(a))
    points = numbers(via, "via points")
    T = positive_seconds(duration)
    t = numbers(times, "times")
    if points.shape != (2, len(a)) or t.shape != (2,):
        raise SignatureError(f"two via points are (2, {len(a)}), at two times; given were the shapes {points.shape} "
                             f"and {t.shape}")
    if not np.isfinite(points).all():
        raise PlanningError(f"via point {int((~np.isfinite(points)).any(axis=1).argmax())} is not of finite numbers")
    if not ((t > 0.0) & (t < T)).all():
        raise PlanningError(f"via points are between the ends; the times {t[0]:g} and {t[1]:g} s are not both between "
                            f"0 and {T:g} s")
    if t[0] == t[1]:
        raise PlanningError(f"both via points are at {t[0]:g} s: the joints cannot be at two places; move one of them, "
                            "or leave one out")
    return polynomial_through([At(0.0, a, 0.0, 0.0), *map(At, t, points), At(T, b, 0.0, 0.0)])


def coefficients_of(conditions: Sequence[tuple[float, int, Array]], origins: Array) -> Array:
    """The coefficients (p, degree + 1, n), in powers of the time from each origin (p), of the polynomial with the value
    of an order of derivative at each time: (t, order, value (n)). Solved in Chebyshev polynomials on the interval,
    which stays well conditioned, and improved once by the residual."""
    times = np.array([t for t, _, _ in conditions])
    values = np.array([value for _, _, value in conditions])
    _check(times, conditions, values)
    middle = 0.5 * (times.min() + times.max())
    half = 0.5 * (times.max() - times.min())
    count = len(conditions)
    basis = np.eye(count)
    rows = np.array([chebyshev.chebval((t - middle) / half, chebyshev.chebder(basis, order))
                     for t, order, _ in conditions])
    wanted = values * half ** np.array([[order] for _, order, _ in conditions])
    scale = np.abs(rows).max(axis=1, keepdims=True)
    if (scale == 0).any() or np.linalg.cond(rows / np.where(scale == 0, 1.0, scale)) > _WORST:
        raise PlanningError("these conditions do not determine a polynomial: together they say something twice or "
                            "contradict; leave one out, or ask for a position instead")
    c = np.linalg.solve(rows / scale, wanted / scale)
    c = c + np.linalg.solve(rows / scale, (wanted - rows @ c) / scale)
    places = (origins - middle) / half
    orders = [chebyshev.chebval(places, chebyshev.chebder(c, k)).T / (factorial(k) * half**k) for k in range(count)]
    return np.stack(orders, axis=1)


def _check(times: Array, conditions: Sequence[tuple[float, int, Array]], values: Array) -> None:
    if not (np.isfinite(times).all() and np.isfinite(values).all()):
        raise PlanningError("the times and values of conditions are finite numbers")
    seen: set[tuple[float, int]] = set()
    for t, order, _ in conditions:
        if (t, order) in seen:
            raise PlanningError(f"two conditions are on {_ORDERS[order]} at t = {t:g}: leave one out, or move it to "
                                "another time")
        seen.add((t, order))
