"""Motions that are polynomials between breaks: splines, laws of motion, time-optimal timing, lines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Scalar
from cayley.errors import PlanningError, SignatureError
from cayley.planning.motion import Derivatives, Motion
from cayley.planning.splines.pieces import InPieces, checked_breaks


@cache
def _kernel(terms: int, n: int) -> Kernel[Derivatives]:
    return kernel(f"(),({terms},{n})->({n}),({n}),({n}),({n})", outputs=("q", "qd", "qdd", "qddd"))(polynomial)


def polynomial(tau: Scalar, coefficients: Array) -> Derivatives:
    """A polynomial and its first three derivatives, by Horner's rule; the coefficients begin with the constant."""
    zero = 0.0 * coefficients[0]
    value, first, second, third = zero, zero, zero, zero
    for c in reversed(list(coefficients)):
        third = third * tau + second
        second = second * tau + first
        first = first * tau + value
        value = value * tau + c
    return value, first, 2.0 * second, 6.0 * third


@dataclass(frozen=True, eq=False, repr=False)
class PolynomialPieces(InPieces):
    """Motions made of polynomials between breaks: `Polynomials`, and curves of rotations and poses."""

    breaks: FieldArray
    coefficients: FieldArray

    def __post_init__(self) -> None:
        breaks = checked_breaks(self.breaks, "the breaks")
        c = np.array(self.coefficients, dtype=float, order="C")
        if c.ndim != 3 or len(c) != len(breaks) - 1 or 0 in c.shape:
            raise SignatureError(f"{len(breaks)} breaks take the coefficients ({len(breaks) - 1}, degree + 1, n); "
                                 f"given was the shape {c.shape}")
        if not np.isfinite(c).all():
            raise PlanningError(f"the coefficients of piece {int((~np.isfinite(c)).any(axis=(1, 2)).argmax())} are not "
                                "finite")
        c.flags.writeable = False
        object.__setattr__(self, "breaks", breaks)
        object.__setattr__(self, "coefficients", c)

    @classmethod
    def of_checked(cls, breaks: Array, coefficients: Array) -> Self:
        """Of increasing breaks and finite coefficients, without another look at them."""
        made = object.__new__(cls)
        object.__setattr__(made, "breaks", breaks)
        object.__setattr__(made, "coefficients", coefficients)
        return made

    @property
    def degree(self) -> int:
        return self.coefficients.shape[1] - 1

    @property
    def _tables(self) -> tuple[Array, ...]:
        return (self.coefficients,)

    def raised(self, degree: int) -> Self:
        """The same as polynomials of a higher degree."""
        p, terms, n = self.coefficients.shape
        more = np.zeros((p, degree + 1 - terms, n))
        return type(self)(self.breaks, np.concatenate([self.coefficients, more], axis=1))

    def during(self, start: float, end: float) -> Motion:
        super().during(start, end)  # which checks
        inner = self.breaks[(self.breaks > start) & (self.breaks < end)]
        breaks = np.array([start, *inner, end])
        return type(self)(breaks, self._seen_from(breaks[:-1]))

    def _retimed(self, rate: float, start: float) -> Motion:
        if rate > 0:
            breaks = start + (self.breaks - self.start) / rate
            c = self.coefficients
        else:
            breaks = start + (self.breaks[::-1] - self.end) / rate
            c = moved(self.coefficients, np.diff(self.breaks))[::-1]
        return type(self)(breaks, c * rate ** np.arange(self.degree + 1)[:, None])

    def _seen_from(self, times: Array) -> Array:
        """The coefficients (k, degree + 1, n) of the pieces at these times, in powers of the time from there."""
        places = np.clip(np.searchsorted(self.breaks, times, side="right") - 1, 0, len(self.coefficients) - 1)
        return moved(self.coefficients[places], times - self.breaks[places])


@dataclass(frozen=True, eq=False, repr=False)
class Polynomials(PolynomialPieces):
    """Polynomials of any degree between `breaks` (p + 1) [s]; piece i is the sum over j of
    `coefficients`[i, j] (t - breaks[i])^j, with the coefficients (p, degree + 1, n).

    >>> fall = Polynomials([0.0, 2.0], [[[10.0], [0.0], [-4.905]]])
    >>> fall([0.0, 1.0]).q
    array([[10.   ],
           [ 5.095]])
    """

    @property
    def nq(self) -> int:
        return self.coefficients.shape[2]

    @property
    def _piece(self) -> Kernel[Derivatives]:
        return _kernel(*self.coefficients.shape[1:])

    @staticmethod
    def of_scipy(spline: Scalar) -> Polynomials:
        """Of a `PPoly` of SciPy, as its `CubicSpline` is one, with values (n) or numbers."""
        c = np.moveaxis(spline.c[::-1], 0, 1)
        return Polynomials(spline.x, c.reshape(*c.shape[:2], -1))


def moved(coefficients: Array, steps: Array) -> Array:
    """The same polynomials (p, degree + 1, n) in powers of the time from so many seconds (p) later: Taylor's formula,
    by repeated division."""
    c = np.array(coefficients)
    degree = c.shape[1] - 1
    for first in range(degree):
        for k in range(degree - 1, first - 1, -1):
            c[:, k] += steps[:, None] * c[:, k + 1]
    return c


def line(start: float, end: float, first: ArrayLike, last: ArrayLike) -> Polynomials:
    """At constant velocity from one position (n) to another."""
    a = np.atleast_1d(np.asarray(first, dtype=float))
    b = np.atleast_1d(np.asarray(last, dtype=float))
    return Polynomials([start, end], [[a, (b - a) / (end - start)]])


def through_knots(t: Array, q: Array, qd: Array, qdd: Array) -> Polynomials:
    """The motion with positions, velocities and accelerations (k, n) at times (k), all of them continuous.

    >>> move = through_knots(np.array([0.0, 2.0]), np.array([[0.0], [1.0]]), np.zeros((2, 1)), np.zeros((2, 1)))
    >>> move(1.0).q
    array([0.5])
    """
    h = np.diff(t)[:, None]
    start = q[:-1] + h * qd[:-1] + h**2 / 2 * qdd[:-1]
    d = q[1:] - start
    dv = h * (qd[1:] - qd[:-1] - h * qdd[:-1])
    da = h**2 * (qdd[1:] - qdd[:-1])
    rows = [q[:-1], qd[:-1], qdd[:-1] / 2, (10 * d - 4 * dv + da / 2) / h**3, (-15 * d + 7 * dv - da) / h**4,
            (6 * d - 3 * dv + da / 2) / h**5]
    return Polynomials(t, np.stack(rows, axis=1))
