"""Explicit solutions of X^(s) = A X for a symmetric 3x3 matrix A, and the matrix exponential.

With O^T A O = diag(mu), each mode obeys y^(s) = mu y: y(t) = sum over k < s of y^(k)(0) t^k E_{s,k+1}(mu t^s), Mittag-Leffler functions,
which are exponentials of the s-th roots of mu: exp for s = 1; cosh and sinh, cos and sin, or 1 and t for s = 2.
Source: Mladenova 5.5.2, (198)-(205), spec R-40.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from cayley.errors import GeometryError
from cayley.geometry.principal_axes.diagonalization import diagonalize

SAFE_EXPONENT = 300.0
"""Beyond this, growth is kept apart from the numbers, so that they do not overflow."""


@dataclass(frozen=True)
class LinearSolution:
    """X(t) = scaled exp(exponent), one for each time."""

    times: np.ndarray
    scaled: np.ndarray
    """(3,) or (3, m), with the axes of `times` leading."""
    exponent: np.ndarray
    """Of the shape of `times`; zero unless the growth is beyond what a double holds comfortably."""

    @property
    def value(self) -> np.ndarray:
        """X(t); raises `OverflowError` if it is larger than a double can be: then use `scaled` and `exponent`."""
        return _unscaled(self.scaled, self.exponent.reshape(self.exponent.shape + (1,) * (self.scaled.ndim - self.exponent.ndim)))


def symmetric_exponential(A: Any, t: float = 1.0) -> np.ndarray:
    """exp(t A) of a symmetric matrix (3, 3), (199)-(204); raises `OverflowError` if it is larger than a double can be.

    >>> symmetric_exponential([[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]], 0.5)[0].round(9)   # WE-10
    array([ 9.71435035,  4.3305996 , 12.53644999])
    """
    return linear_solution(A, np.eye(3)[None], t).value


def linear_solution(A: Any, initial: Any, t: Any) -> LinearSolution:
    """X(t) of X^(s) = A X with `initial` = (X(0), X'(0), ..., X^(s-1)(0)), of shape (s, 3) or (s, 3, m), at one time or an array of them.

    A is a symmetric matrix (3, 3), with eigenvalues of any sign, zero and repeated ones included.

    >>> A = [[2.0, 1.0, 3.0], [1.0, -1.0, 2.0], [3.0, 2.0, 4.0]]
    >>> linear_solution(A, [[1.0, 0.0, -1.0], [0.0, 1.0, 2.0]], 0.5).value.round(9)   # WE-10
    array([1.01703703, 0.43830015, 0.07677101])
    """
    start, times = np.asarray(initial, dtype=float), np.asarray(t, dtype=float)
    if start.ndim not in (2, 3) or start.shape[1] != 3 or len(start) == 0:
        raise GeometryError(f"the initial values are (s, 3) or (s, 3, m), one row for each derivative, not of shape {start.shape}")
    if not np.isfinite(times).all():
        raise GeometryError("the times of a solution are finite")
    found = diagonalize(A)
    modes = np.einsum("ji,kj...->ki...", found.matrix, start)
    parts = [_at(found.values, modes, float(time)) for time in times.ravel()]
    scaled = np.stack([found.matrix @ part for part, _ in parts]).reshape(*times.shape, *start.shape[1:])
    return LinearSolution(times, scaled, np.array([exponent for _, exponent in parts]).reshape(times.shape))


def mode_functions(mu: float, order: int, t: float, *, exponent: float = 0.0) -> np.ndarray:
    """t^k E_{s,k+1}(mu t^s) exp(-exponent), k = 0..s-1, s = order: the solutions of y^(s) = mu y with y^(k)(0) = 1 and the rest zero.

    >>> mode_functions(-4.0, 2, 0.5).round(9)   # cos(1), sin(1) / 2
    array([0.54030231, 0.42073549])
    """
    k = np.arange(order)
    size = abs(mu) ** (1 / order)
    if size * abs(t) <= 1.5:
        return np.array([_series(mu, order, int(j), t) for j in k]) * np.exp(-exponent)
    turn = (2 * np.arange(order) + (mu < 0)) * np.pi / order
    roots = size * np.exp(1j * turn)
    terms = np.exp(roots[:, None] * t - exponent) * roots[:, None] ** (-k)
    return terms.sum(axis=0).real / order


def _series(mu: float, order: int, k: int, t: float) -> float:
    """sum of mu^n t^(sn+k) / (sn+k)!"""
    term = t**k / factorial(k)
    total, n = term, 0
    while abs(term) > 1e-18 * abs(total) and n < 60:
        for j in range(1, order + 1):
            term *= t / (order * n + k + j)
        term *= mu
        total, n = total + term, n + 1
    return total


def _at(values: np.ndarray, modes: np.ndarray, t: float) -> tuple[np.ndarray, float]:
    order = len(modes)
    growth = max(_growth(mu, order, t) for mu in values)
    exponent = growth if growth > SAFE_EXPONENT else 0.0
    functions = np.stack([mode_functions(mu, order, t, exponent=exponent) for mu in values], axis=1)
    return np.einsum("ki,ki...->i...", functions, modes), exponent


def _growth(mu: float, order: int, t: float) -> float:
    """The largest real part of root times time, over the s-th roots of mu."""
    turn = (2 * np.arange(order) + (mu < 0)) * np.pi / order
    return float(np.max(abs(mu) ** (1 / order) * np.cos(turn) * t))


def _unscaled(scaled: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        value = scaled * np.exp(exponent)
    if not np.isfinite(value).all():
        raise OverflowError(f"the solution grows as exp({np.max(exponent):.6g}), beyond a double: use its `scaled` and `exponent`")
    return value
