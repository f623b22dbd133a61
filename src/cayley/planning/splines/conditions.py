"""One polynomial that meets any list of conditions: positions, velocities, accelerations, jerks at any times. Its
degree is the number of conditions less one. Sources: Ruggiu 5.4 (via points), spec S2-96."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.planning.motion import positive_seconds
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.timing.limits import checked_configuration

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
    """The polynomial, one a coordinate, that does what is asked at each time, from the first to the last of them. It is
    written in powers of the time from each of them, in which it can be evaluated to all digits. All coordinates have
    the same conditions, with values of their own. Two positions and velocities and accelerations at both ends make a
    polynomial of degree five, two via points besides one of degree seven.

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

