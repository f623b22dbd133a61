"""Explicit solutions of X^(s) = A X for a symmetric 3x3 matrix A, and the matrix exponential.

With O^T A O = diag(mu), each mode obeys y^(s) = mu y: y(t) = sum over k < s of y^(k)(0) t^k E_{s,k+1}(mu t^s),
Mittag-Leffler functions, which are means of exponentials of the s-th roots of mu: exp for s = 1; cosh and sinh, cos and
sin, or 1 and t for s = 2. Source: Mladenova 5.5.2, (198)-(205), spec R-40."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from math import factorial, perm
from numbers import Integral

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.principal_axes.diagonalization import diagonalize

SAFE_EXPONENT = 300.0
"""Beyond this, growth is kept apart from the numbers, so that they do not overflow."""

HIGHEST_ORDER = 100
FARTHEST_SERIES = 2000.0
CANCELLED = 2.0
"""A mean this much smaller than its largest term has lost digits: the exact series takes its place."""


@dataclass(frozen=True)
class LinearSolution:
    """X(t) = scaled exp(exponent), one for each time."""

    times: Array
    scaled: Array
    """(3,) or (3, m), with the axes of `times` leading."""
    exponent: Array
    """Of the shape of `times`; zero unless the growth is beyond what a double holds comfortably."""

    @property
    def value(self) -> Array:
        """X(t); raises `OverflowError` if it is larger than a double can be: then use `scaled` and `exponent`."""
        return _unscaled(self.scaled,
                         self.exponent.reshape(self.exponent.shape + (1,) * (self.scaled.ndim - self.exponent.ndim)))


def symmetric_exponential(A: ArrayLike, t: float = 1.0) -> Array:
    """exp(t A) of a symmetric matrix (3, 3), (199)-(204); raises `OverflowError` if it is larger than a double can be.

    >>> symmetric_exponential([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]], 0.5)[0].round(9)   # WE-10
    array([ 9.71435035,  4.3305996 , 12.53644999])
    """
    return linear_solution(A, np.eye(3)[None], t).value


def linear_solution(A: ArrayLike, initial: ArrayLike, t: ArrayLike) -> LinearSolution:
    """X(t) of X^(s) = A X with `initial` = (X(0), ..., X^(s-1)(0)), (s, 3) or (s, 3, m), at one or more times.

    A is a symmetric matrix (3, 3), with eigenvalues of any sign, zero and repeated ones included.

    >>> A = [[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]]
    >>> linear_solution(A, [[1.0, 0.0, -1.0], [0.0, 1.0, 2.0]], 0.5).value.round(9)   # WE-10
    array([1.01703703, 0.43830015, 0.07677101])
    """
    start = np.asarray(initial, dtype=float)
    times = np.asarray(t, dtype=float)
    if start.ndim not in (2, 3) or start.shape[1] != 3 or len(start) == 0:
        raise GeometryError(
            f"the initial values are (s, 3) or (s, 3, m), one row for each derivative, not of shape {start.shape}")
    if len(start) > HIGHEST_ORDER:
        raise GeometryError(f"{len(start)} initial values: linear systems are solved up to the order {HIGHEST_ORDER}")
    if not (np.isfinite(times).all() and np.isfinite(start).all()):
        raise GeometryError("the initial values and the times of a solution are finite")
    found = diagonalize(A)
    modes = np.einsum("ji,kj...->ki...", found.matrix, start)
    parts = [_at(found.values, modes, float(time)) for time in times.ravel()]
    scaled = np.stack([found.matrix @ part for part, _ in parts]).reshape(*times.shape, *start.shape[1:])
    return LinearSolution(times, scaled, np.array([exponent for _, exponent in parts]).reshape(times.shape))


def mode_functions(mu: float, order: int, t: float, *, exponent: float = 0.0) -> Array:
    """t^k E_{s,k+1}(mu t^s) exp(-exponent), k = 0..s-1, s = order: y^(s) = mu y with y^(k)(0) = 1, others zero.

    To about rounding times (1 + |mu|^(1/s) |t|), relative to each of them, for orders up to 100 and |mu|^(1/s) |t| up
    to 2000; beyond that, relative to their growth.

    >>> mode_functions(-4.0, 2, 0.5).round(9)   # cos(1), sin(1) / 2
    array([0.54030231, 0.42073549])
    """
    if not (isinstance(order, Integral) and 1 <= order <= HIGHEST_ORDER):
        raise GeometryError(f"the order of a linear system must be a whole number from 1 to {HIGHEST_ORDER}, not "
                            f"{order}")
    reach = abs(mu) ** (1 / order) * abs(t)
    if reach <= 1.5:
        return np.array([_series(mu, order, k, t) for k in range(order)]) * np.exp(-exponent)
    values, lost = _by_exponentials(mu, order, t, exponent)
    for k in np.flatnonzero(lost) if reach <= FARTHEST_SERIES else ():
        values[k] = _exact_series(mu, order, int(k), t, exponent)
    return values


def _by_exponentials(mu: float, order: int, t: float, exponent: float) -> tuple[Array, Array]:
    """The functions as means over the s-th roots of mu, and which of them cancel to less than their terms."""
    z = _roots(mu, order) * t
    k = np.arange(order)
    growth = z.real.max()
    terms = np.exp(z[:, None] - growth) * z[:, None] ** (-k)
    mean = terms.sum(axis=0).real / order
    with np.errstate(over="ignore"):
        half = np.exp((growth - exponent) / 2)  # twice, as the whole may be beyond the numbers where its product is not
        return float(t) ** k * mean * half * half, np.abs(terms).max(axis=0) > CANCELLED * np.abs(mean)


def _roots(mu: float, order: int) -> Array:
    turn = (2 * np.arange(order) + (mu < 0)) * np.pi / order
    return abs(mu) ** (1 / order) * np.exp(1j * turn)


def _series(mu: float, order: int, k: int, t: float) -> float:
    """sum of mu^n t^(sn+k) / (sn+k)!"""
    term = t**k / factorial(k)
    total = term
    n = 0
    while abs(term) > 1e-18 * abs(total) and n < 60:
        for j in range(1, order + 1):
            term *= t / (order * n + k + j)
        term *= mu
        total, n = total + term, n + 1
    return total


def _exact_series(mu: float, order: int, k: int, t: float, exponent: float) -> float:
    """The same in as many digits as its terms may lose by cancelling each other."""
    reach = abs(mu) ** (1 / order) * abs(t)
    with localcontext() as context:
        context.prec = 30 + int(reach)  # terms up to exp(reach), a sum down to exp(-reach)
        step = Decimal(mu) * Decimal(t) ** order
        term = total = Decimal(t) ** k / factorial(k)
        place = k
        while place < reach or abs(term) > Decimal("1e-20") * abs(total):
            term *= step / perm(place + order, order)
            total += term
            place += order
        return float(total * Decimal(-exponent).exp())


def _at(values: Array, modes: Array, t: float) -> tuple[Array, float]:
    order = len(modes)
    growth = max(_growth(mu, order, t) for mu in values)
    exponent = growth if growth > SAFE_EXPONENT else 0.0
    functions = np.stack([mode_functions(mu, order, t, exponent=exponent) for mu in values], axis=1)
    return np.einsum("ki,ki...->i...", functions, modes), exponent


def _growth(mu: float, order: int, t: float) -> float:
    """The largest real part of root times time, over the s-th roots of mu."""
    return float(np.max(_roots(mu, order).real * t))


def _unscaled(scaled: Array, exponent: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        value = scaled * np.exp(exponent)
    if not np.isfinite(value).all():
        raise OverflowError(
            f"the solution grows as exp({np.max(exponent):.6g}), beyond a double: use its `scaled` and `exponent`")
    return value
