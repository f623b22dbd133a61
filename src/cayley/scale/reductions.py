"""Summaries of results that are too many to keep: one of each chunk, and how two summaries are joined.

A summary is a row of numbers. Those of all chunks are stored, and joined in the order of the chunks, so that the total
is the same bit for bit, whichever workers computed them and however often the work was interrupted. Entries that are no
finite numbers are counted, and take no part in the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ConventionError, SignatureError
from cayley.scale.points import whole_number
from cayley.showing import shown_briefly

Shape = tuple[int, ...]


class Reduction(Protocol):
    """One way to sum up results (rows, *shape)."""

    def summary(self, values: Array, first: int) -> Array:
        """A row of numbers, of results whose first row has the number `first`."""
        ...

    def joined(self, one: Array, other: Array) -> Array:
        """The summary of both, `one` being of the earlier rows."""
        ...

    def total(self, summary: Array, shape: Shape) -> NamedTuple:
        """The result for the user."""
        ...


@shown_briefly
class Extreme(NamedTuple):
    """The least and the greatest value of each entry (*shape), the rows where they are first met (-1: none is finite),
    and how many are not finite."""

    least: Array
    greatest: Array
    least_row: Array
    greatest_row: Array
    not_finite: Array


@dataclass(frozen=True)
class Extremes:
    """The least and the greatest value of each entry, and where they are."""

    def summary(self, values: Array, first: int) -> Array:
        flat = _flat(values)
        finite = np.isfinite(flat)
        found = []
        for worst, at in ((np.inf, np.argmin), (-np.inf, np.argmax)):
            open_ = np.where(finite, flat, worst)
            row = at(open_, axis=0)
            value = open_[row, np.arange(open_.shape[1])]
            found.append((value, np.where(np.isfinite(value), row + first, -1)))
        (least, least_row), (greatest, greatest_row) = found
        return np.concatenate([least, greatest, least_row, greatest_row, (~finite).sum(axis=0)])

    def joined(self, one: Array, other: Array) -> Array:
        a, b = one.reshape(5, -1), other.reshape(5, -1)
        lower = b[0] < a[0]
        higher = b[1] > a[1]
        return np.concatenate([np.where(lower, b[0], a[0]), np.where(higher, b[1], a[1]),
                               np.where(lower, b[2], a[2]), np.where(higher, b[3], a[3]), a[4] + b[4]])

    def total(self, summary: Array, shape: Shape) -> Extreme:
        least, greatest, low, high, wrong = summary.reshape(5, *shape)
        return Extreme(least, greatest, low.astype(int), high.astype(int), wrong.astype(int))


@shown_briefly
class Moment(NamedTuple):
    """The number of finite values of each entry (*shape), their mean and their standard deviation (of the whole, not
    estimated from a part); how many are not finite."""

    finite: Array
    mean: Array
    deviation: Array
    not_finite: Array


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of each entry. Joined as Chan, Golub & LeVeque 1979 do: no difference of large sums.
    """

    def summary(self, values: Array, first: int) -> Array:
        flat = _flat(values)
        finite = np.isfinite(flat)
        count = finite.sum(axis=0)
        mean = np.where(finite, flat, 0.0).sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(finite, flat - mean, 0.0) ** 2).sum(axis=0)
        return np.concatenate([count, mean, squares, len(flat) - count])

    def joined(self, one: Array, other: Array) -> Array:
        a, b = one.reshape(4, -1), other.reshape(4, -1)
        count = a[0] + b[0]
        step = b[1] - a[1]
        share = b[0] / np.maximum(count, 1)
        return np.concatenate([count, a[1] + step * share, a[2] + b[2] + step**2 * a[0] * share, a[3] + b[3]])

    def total(self, summary: Array, shape: Shape) -> Moment:
        count, mean, squares, wrong = summary.reshape(4, *shape)
        some = np.where(count > 0, count, np.nan)
        return Moment(count.astype(int), mean + 0 * some, np.sqrt(squares / some), wrong.astype(int))


@shown_briefly
class Counts(NamedTuple):
    """The numbers of values of each entry in each bin (*shape, bins), between `edges` (bins + 1); and of those below,
    above, or nowhere."""

    counts: Array
    edges: Array
    below: Array
    above: Array
    not_finite: Array


@dataclass(frozen=True)
class Histogram:
    """The number of values of each entry in each of `bins` equal parts of what is between `low` and `high`; the last
    part has its upper end."""

    low: float
    high: float
    bins: int

    def __post_init__(self) -> None:
        whole_number(self.bins, "the number of bins")
        if not (np.isfinite([self.low, self.high]).all() and self.low < self.high):
            raise ConventionError(f"a histogram must have bins between a low and a high end, not {self.bins} between "
                                  f"{self.low} and {self.high}")

    def summary(self, values: Array, first: int) -> Array:
        flat = _flat(values)
        counts = [np.histogram(column[np.isfinite(column)], self.bins, (self.low, self.high))[0] for column in flat.T]
        finite = np.isfinite(flat)
        rest = [(finite & (flat < self.low)).sum(axis=0), (finite & (flat > self.high)).sum(axis=0),
                (~finite).sum(axis=0)]
        return np.concatenate([np.array(counts, dtype=float).reshape(-1, self.bins).T.ravel(), *rest])

    def joined(self, one: Array, other: Array) -> Array:
        return one + other

    def total(self, summary: Array, shape: Shape) -> Counts:
        entries = summary.astype(int).reshape(self.bins + 3, -1)
        below, above, wrong = (part.reshape(shape) for part in entries[self.bins:])
        return Counts(entries[:self.bins].T.reshape(*shape, self.bins), np.linspace(self.low, self.high, self.bins + 1),
                      below, above, wrong)


def _flat(values: Array) -> Array:
    if values.dtype.kind not in "fiub":
        raise SignatureError(f"reductions need real numbers, not {values.dtype}")
    return values.reshape(len(values), -1).astype(np.float64, copy=False)
