"""Functions of an angle that are even in it, such as sin(t)/t, as functions of the square of the angle.

A rotation vector gives the square of its angle without a root, and these functions are smooth in it, at zero too: so
are the formulas built on them, and their derivatives. Below a threshold each is its own series, to the last digit;
above it, the closed form. Both are evaluated and one is selected, with the argument of the closed form kept away from
zero, so that no NaN can leak into a derivative."""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar

_TERMS = 10


def sine_ratio(t2: Scalar) -> Scalar:
    """sin(t)/t of t^2; 1 at zero."""
    small, x, t = _split(t2)
    return where(small, _alternating(x, [factorial(2 * k + 1) for k in range(_TERMS)]), np.sin(t) / t)


def versine_ratio(t2: Scalar) -> Scalar:
    """(1 - cos(t))/t^2 of t^2; 1/2 at zero."""
    small, x, t = _split(t2)
    return where(small, _alternating(x, [factorial(2 * k + 2) for k in range(_TERMS)]), (1.0 - np.cos(t)) / (t * t))


def cubic_ratio(t2: Scalar) -> Scalar:
    """(t - sin(t))/t^3 of t^2; 1/6 at zero."""
    small, x, t = _split(t2)
    return where(small, _alternating(x, [factorial(2 * k + 3) for k in range(_TERMS)]), (t - np.sin(t)) / (t * t * t))


def tangent_ratio(t2: Scalar) -> Scalar:
    """tan(t)/t of t^2; 1 at zero, very large (not infinite) next to a quarter turn."""
    small, x, t = _split(t2)
    sine = _alternating(x, [factorial(2 * k + 1) for k in range(_TERMS)])
    cosine = _alternating(x, [factorial(2 * k) for k in range(_TERMS)])
    return where(small, sine / cosine, np.tan(t) / t)


def arctangent_ratio(x2: Scalar, w: Scalar = 1.0) -> Scalar:
    """atan2(x, w)/x of x^2 >= 0 and w >= 0, the two not both zero; 1/w where x is zero."""
    small = x2 < 0.01 * (w * w)
    x = np.sqrt(where(small, 1.0, x2))
    safe = where(small, w, 1.0)
    series = _alternating(where(small, x2, 0.0) / (safe * safe), [2 * k + 1 for k in range(_TERMS)]) / safe
    return where(small, series, np.arctan2(x, w) / x)


def _split(t2: Scalar) -> tuple[Scalar, ...]:
    """Condition for the series, its argument, and the angle of the closed form, each harmless where not used."""
    small = t2 < 1.0
    return small, where(small, t2, 0.0), np.sqrt(where(small, 1.0, t2))


def _alternating(x: Scalar, divisors: Sequence[float] | Array) -> Scalar:
    """1/d0 - x/d1 + x^2/d2 - ..."""
    total = 0.0
    for k in reversed(range(len(divisors))):
        total = (-1.0) ** k / divisors[k] + x * total
    return total
