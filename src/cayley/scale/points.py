"""The points of a sweep: columns of arrays by name, a row for each point, made where they are needed.

The rows of a `Table` exist; those of a `Grid` and those that are `Drawn` are functions of their numbers, so that a
billion of them need no memory, and are the same however they are divided among workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from math import prod
from typing import Any, Protocol

import numpy as np

from cayley.compiler.algebras.lazy_arrays import is_lazy
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ConventionError, SignatureError, shown

Columns = dict[str, Array]
Draw = Callable[[np.random.Generator, int], Mapping[str, ArrayLike]]
_MOST = 2**62
_BLOCK = 4096  # rows that are drawn at once, from a generator of their own


class Points(Protocol):
    """A number of rows, of which any may be asked for."""

    count: int

    def cut(self, first: int, last: int) -> Callable[[], Columns]:
        """A function that makes the rows from `first` to before `last`, here or where it is sent."""
        ...


def digest(columns: Mapping[str, Array]) -> int:
    """A number of 64 bits that tells whether columns are the same, to the last bit."""
    found = blake2b(digest_size=8)
    for name in sorted(columns):
        column = np.ascontiguousarray(columns[name])
        found.update(f"{name} {column.dtype.str} {column.shape} ".encode())
        found.update(column.tobytes() if column.dtype.hasobject else column.data)
    return int.from_bytes(found.digest())


class Table:
    """Rows that exist: arrays by name, all of one length. Those of NumPy are sent to where they are needed; those that
    are files, as Zarr's and HDF5's, are read there.

    >>> Table({"q": np.zeros((10, 2)), "kp": np.arange(10.0)}).cut(3, 5)()["kp"]
    array([3., 4.])
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        lazy = [name for name, column in columns.items() if is_lazy(column)]
        if lazy:
            raise SignatureError(f"the column {lazy[0]!r} is an array of Dask, whose chunks have tasks of their own: "
                                 "call the kernel on it and write the result with .to_zarr(...), or write the column "
                                 "into Zarr and sweep over that")
        self._columns = {name: column if hasattr(column, "shape") else np.asarray(column)
                         for name, column in columns.items()}
        lengths = {name: column.shape[0] if column.shape else None for name, column in self._columns.items()}
        if len(set(lengths.values())) != 1 or None in lengths.values():
            listed = ", ".join(f"{name} {column.shape}" for name, column in self._columns.items())
            raise SignatureError(f"the columns of a sweep have a row for each point: {listed or 'there are none'}")
        self.count = int(next(iter(self._columns.values())).shape[0])

    def cut(self, first: int, last: int) -> Callable[[], Columns]:
        rows = {name: column[first:last] if isinstance(column, np.ndarray) else column
                for name, column in self._columns.items()}
        return partial(_read, rows, first, last)


def _read(columns: Mapping[str, Any], first: int, last: int) -> Columns:
    return {name: column if isinstance(column, np.ndarray) else np.asarray(column[first:last])
            for name, column in columns.items()}


class Grid:
    """Every combination of the rows of several axes, the last of them fastest.

    >>> Grid(kp=[10.0, 20.0], kd=[1.0, 2.0, 3.0]).cut(2, 5)()
    {'kp': array([10., 20., 20.]), 'kd': array([3., 1., 2.])}
    """

    def __init__(self, **axes: ArrayLike) -> None:
        self._axes = {name: np.asarray(axis) for name, axis in axes.items()}
        wrong = [name for name, axis in self._axes.items() if not axis.ndim]
        if wrong or not axes:
            raise SignatureError(f"the axis {wrong[0]!r} of a grid is one number, not a row of them" if wrong else
                                 "a grid has at least one axis: Grid(kp=[...], ...)")
        self.count = prod(len(axis) for axis in self._axes.values())
        if self.count > _MOST:
            raise ConventionError(f"a grid of {' x '.join(str(len(axis)) for axis in self._axes.values())} has more "
                                  "points than can be numbered: take fewer, or `Drawn` ones")

    @property
    def known_by(self) -> int:
        """A digest of all rows."""
        return digest(self._axes)

    def cut(self, first: int, last: int) -> Callable[[], Columns]:
        return partial(self._columns, first, last)

    def _columns(self, first: int, last: int) -> Columns:
        places = np.unravel_index(np.arange(first, last), [len(axis) for axis in self._axes.values()])
        return {name: axis[place] for (name, axis), place in zip(self._axes.items(), places, strict=True)}


class Drawn(HoldsFunctions):
    """Rows by chance: `draw(random, count)` gives columns by name, and is called with a generator for each 4096 rows.

    >>> points = Drawn(10**9, lambda random, count: {"q": random.normal(size=(count, 2))}, seed=1)
    >>> [points.cut(first, 20_000)()["q"][-1].round(3).tolist() for first in (0, 19_999)]
    [[0.079, -1.046], [0.079, -1.046]]
    """

    def __init__(self, count: int, draw: Draw, *, seed: int = 0) -> None:
        self.count = whole_number(count, "the number of points", least=0)
        self._draw = draw
        self._seed = whole_number(seed, "the seed", least=0)

    @property
    def known_by(self) -> int:
        """A digest of all rows, if the function that draws them is the same; another machine may round otherwise."""
        return self._seed % 2**64

    def cut(self, first: int, last: int) -> Callable[[], Columns]:
        return partial(self._columns, first, last)

    def _columns(self, first: int, last: int) -> Columns:
        numbers = range(first // _BLOCK, max(-(-last // _BLOCK), first // _BLOCK + 1))
        blocks = [self._block(number) for number in numbers]
        start = numbers[0] * _BLOCK
        return {name: np.concatenate([block[name] for block in blocks])[first - start:last - start]
                for name in blocks[0]}

    def _block(self, number: int) -> Columns:
        random = np.random.default_rng((self._seed, number))
        drawn = self._draw(random, _BLOCK)
        if not isinstance(drawn, Mapping):
            raise SignatureError(f"`draw` must return a dictionary of columns, not {type(drawn).__name__}")
        columns = {name: np.asarray(column) for name, column in drawn.items()}
        wrong = [name for name, column in columns.items() if column.shape[:1] != (_BLOCK,)]
        if wrong:
            raise SignatureError(f"{_BLOCK} rows were to be drawn; the column {wrong[0]!r} has the shape "
                                 f"{columns[wrong[0]].shape}")
        return columns


def whole_number(value: Scalar, what: str, *, least: int = 1) -> int:
    """A number that a user gave, which must be a whole one; 1e9 is."""
    fits = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not fits or not np.isfinite(value) or value != int(value) or value < least:
        raise ConventionError(f"{what} must be a whole number, {least} or more, not {shown(value)}")
    return int(value)


def points_of(points: Points | Mapping[str, Any]) -> Points:
    """Columns by name are a table."""
    return Table(points) if isinstance(points, Mapping) else points
