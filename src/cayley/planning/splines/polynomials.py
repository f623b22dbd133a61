"""Motions that are polynomials between breaks: splines, laws of motion, time-optimal timing, lines."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Self

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.signature import Signature
from cayley.compiler.solving.lookup import interval, lookup
from cayley.compiler.typing import Array, ArrayLike, FieldArray, Scalar
from cayley.errors import PlanningError, SignatureError, shown
from cayley.geometry.batch import numbers
from cayley.planning.motion import Derivatives, Motion

_MANY = 1 << 16  # times whose numbers are brought together at once: the memory for them is bounded


class InPieces(Motion):
    """A motion whose kind has a kernel for one piece: `_piece(tau, *numbers)` gives the derivatives at a time tau [s]
    after its beginning. `_tables` are the numbers of all pieces, (pieces, ...) each. Numbers are inputs of that kernel,
    so that a new motion compiles nothing; in kernels of others they are tables."""

    @property
    def start(self) -> float:
        return float(self.breaks[0])

    @property
    def end(self) -> float:
        return float(self.breaks[-1])

    @property
    @abstractmethod
    def _piece(self) -> Kernel[Derivatives]:
        """The kernel of one piece."""

    @property
    @abstractmethod
    def _tables(self) -> tuple[Array, ...]:
        """The numbers of the pieces."""

    @cached_property
    def _times(self) -> list[float]:
        return self.breaks.tolist()

    def _values(self, t: Array) -> Derivatives:
        if t.ndim == 0:
            return self._at(float(t))
        if t.size > _MANY:
            parts = [self._values(part) for part in np.array_split(t.ravel(), -(-t.size // _MANY))]
            whole = (np.concatenate(same) for same in zip(*parts, strict=True))
            return tuple(part.reshape(*t.shape, -1) for part in whole)  # type: ignore[return-value]
        return self._gathered(self._piece, t)

    def _positions(self, t: Array) -> Array:
        return self._gathered(_first_result(self._piece), t) if t.size <= _MANY else self._values(t)[0]

    def _gathered(self, piece: Kernel[Any], t: Array) -> Any:  # noqa: ANN401 (what the kernel gives)
        shapes = tuple(table.shape[1:] for table in self._tables)
        places = self.breaks[1:-1].searchsorted(t, side="right")
        rows = [table.take(places, axis=0) for table in self._tables]
        with np.errstate(all="ignore"):  # of branches that are not taken
            return _of_batches(piece, shapes)(t - self.breaks.take(places), *rows)

    def _at(self, t: float) -> Derivatives:
        times = self._times
        place = bisect_right(times, t, 1, len(times) - 1) - 1
        return self._piece(np.asarray(t - times[place]), *[np.asarray(table[place]) for table in self._tables])

    def _text(self, t: Scalar) -> Derivatives:
        if len(self.breaks) == 2:
            return self._piece(t - self.breaks[0], *[table[0] for table in self._tables])
        place = interval(self.breaks, t)
        rows = [_row(table, place) for table in self._tables]
        return self._piece(t - lookup(self.breaks)(place), *rows)


@cache
def _of_batches(piece: Kernel[Any], shapes: tuple[tuple[int, ...], ...]) -> np.ufunc:
    return piece.ufunc(np.float64, **piece.signature.bind([(), *shapes], piece.inputs))


@cache
def _first_result(piece: Kernel[Derivatives]) -> Kernel:
    """The kernel of the positions alone: what is not asked for is not computed."""
    signature = Signature(piece.signature.inputs, piece.signature.outputs[:1])
    return kernel(str(signature), name="position", inputs=piece.inputs)(lambda *numbers: piece(*numbers)[0])


def _row(table: Array, place: Scalar) -> Array:
    """The numbers of a piece; those that are the same in all are constants."""
    flat = table.reshape(len(table), -1)
    is_one = (flat == flat[0]).all(axis=0)
    changing = lookup(flat[:, ~is_one])
    width = float((~is_one).sum())
    changed = iter(range(flat.shape[1]))
    row = [flat[0, k] if one else changing(place * width + float(next(changed))) for k, one in enumerate(is_one)]
    return np.stack(row).reshape(table.shape[1:])


def checked_breaks(times: ArrayLike, what: str = "the times") -> Array:
    """Increasing finite times (k), two or more, or an error that says which are not."""
    t = numbers(times, what)
    if t.ndim != 1 or len(t) < 2:
        raise SignatureError(f"{what} are two numbers or more, (k); given was the shape {t.shape}")
    if not np.isfinite(t).all():
        raise PlanningError(f"{what} are finite numbers; {what} [{int((~np.isfinite(t)).argmax())}] is not")
    steps = np.diff(t)
    if not (steps > 0).all():
        first = int((~(steps > 0)).argmax())
        raise PlanningError(f"{what} increase; {first} and {first + 1} are {t[first]:g} and {t[first + 1]:g}: leave "
                            "one of two that are equal out, or move it")
    t.flags.writeable = False
    return t


def checked_points(times: ArrayLike, points: ArrayLike) -> tuple[Array, Array]:
    """Increasing times (k) and finite points (k, n), or an error that says what is wrong."""
    x = checked_breaks(times)
    y = numbers(points, "points")
    y = y[:, None] if y.ndim == 1 else y
    if y.ndim != 2 or len(y) != len(x):
        raise SignatureError(f"{len(x)} times take points of the shape ({len(x)}, n), one row a time; given was "
                             f"{np.shape(points)}")
    if not np.isfinite(y).all():
        raise PlanningError(f"point {int((~np.isfinite(y)).any(axis=1).argmax())} is not finite")
    return x, y


def checked_vector(value: ArrayLike, size: int, what: str) -> Array:
    """Finite numbers (size), given so or as one for all."""
    vector = numbers(value, what)
    if vector.shape not in ((), (1,), (size,)) or not np.isfinite(vector).all():
        raise SignatureError(f"{what} are finite numbers ({size}), or one for all; given was {shown(value)}")
    return np.broadcast_to(vector, (size,))


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
        """Polynomials of increasing breaks and finite coefficients, without another look at them."""
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
        """Polynomials of a `PPoly` of SciPy, as its `CubicSpline` is one, with values (n) or numbers."""
        c = np.moveaxis(spline.c[::-1], 0, 1)
        return Polynomials(spline.x, c.reshape(*c.shape[:2], -1))


def moved(coefficients: Array, steps: Array) -> Array:
    """The same polynomials (p, degree + 1, n) in powers of the time from an instant some seconds (p) later: Taylor's
    formula, by repeated division."""
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
