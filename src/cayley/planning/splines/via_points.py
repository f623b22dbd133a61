"""From rest to rest through two points on the way: a polynomial of degree seven for each joint.

    q = q_345 + x^3 (1 - x)^3 (alpha + beta x),  x = t / T
where q_345 is the 3-4-5 polynomial between the ends, so that alpha and beta follow from two equations with two unknowns
(the system of eight that determines all coefficients has a condition of 1.3e6 for x = 0.1 and 0.9). No ratio to the way
between the ends is formed: a joint may come back to where it was. Source: Ruggiu 5.4; spec S2-85, WE-36.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.planning.checked_numbers import positive_seconds
from cayley.planning.splines.polynomials import Polynomials
from cayley.planning.timing.limits import checked_configuration

_345 = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0, 0.0, 0.0])
_BUMP = np.array([0.0, 0.0, 0.0, 1.0, -3.0, 3.0, -1.0, 0.0])  # x^3 (1 - x)^3
_BUMP_TIMES_X = np.roll(_BUMP, 1)


def through_two_points(first: ArrayLike, last: ArrayLike, via: ArrayLike, times: ArrayLike,
                       duration: float) -> Polynomials:
    """The motion from rest at `first` (n) to rest at `last`, velocities and accelerations zero at both ends, that is at
    `via` (2, n) at the `times` (2) [s] between 0 and the `duration`.

    >>> move = through_two_points([0.0], [1.0], [[0.02], [0.98]], [0.1, 0.9], 1.0)
    >>> (move.coefficients[0, 3:, 0] * 729).round(6)
    array([  21590.,  -82435.,  133074., -100100.,   28600.])
    """
    a = checked_configuration(first, "the first configuration")
    b = checked_configuration(last, "the last configuration", len(a))
    points = numbers(via, "via points")
    if points.shape != (2, len(a)):
        raise SignatureError(f"two via points are (2, {len(a)}); given was the shape {points.shape}")
    if not np.isfinite(points).all():
        raise PlanningError(f"via point {int((~np.isfinite(points)).any(axis=1).argmax())} is not of finite numbers")
    duration = positive_seconds(duration)
    x = _parts(times, duration)
    residual = points - (a + _values(_345, x)[:, None] * (b - a))
    equations = np.stack([_values(_BUMP, x), _values(_BUMP_TIMES_X, x)], axis=1)
    alpha, beta = np.linalg.solve(equations, residual)
    c = np.outer(_345, b - a) + np.outer(_BUMP, alpha) + np.outer(_BUMP_TIMES_X, beta)
    c[0] += a
    return Polynomials([0.0, duration], (c / duration ** np.arange(8)[:, None])[None])


def _parts(times: ArrayLike, duration: float) -> Array:
    """The times as parts of the duration; both inside, and not the same."""
    t = numbers(times, "times")
    if t.shape != (2,):
        raise SignatureError(f"the times of the via points are two; given was the shape {t.shape}")
    if not ((t > 0.0) & (t < duration)).all():
        raise PlanningError(f"via points are between the ends; the times {t[0]:g} and {t[1]:g} s are not both between "
                            f"0 and {duration:g} s")
    if t[0] == t[1]:
        raise PlanningError(f"both via points are at {t[0]:g} s: the joints cannot be at two places; move one of them, "
                            "or leave one out")
    return t / duration


def _values(coefficients: Array, x: Array) -> Array:
    return np.polynomial.polynomial.polyval(x, coefficients)
