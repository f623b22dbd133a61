"""Motions in pieces: one formula, with other numbers between each two breaks."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from functools import cache, cached_property
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.signature import Signature
from cayley.compiler.solving.lookup import interval, lookup
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.planning.motion import Derivatives, Motion
from cayley.wording import shown

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
        """A kernel of one piece at the times of a batch."""
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
