"""How much room scattered points fill: the mean of the cells of a grid that hold points, and of those whose neighbours
do too.

If every cell that the body touches held a point, the first would be too many and the second too few by the same amount,
whichever way the boundary runs; a cell that it only just touches may hold none, and then the mean is too small by a
part of their difference. Single empty cells inside are taken for accidents of sampling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from cayley.compiler.typing import Array

_POINTS_PER_CELL = 24
_MISSED = 0.15  # of the difference between the two, for points of even density
_FLAT = 1e-4  # thinner than this part of its length, it fills nothing


class Room(NamedTuple):
    """An area [m^2] or a volume [m^3], about how far it may be off, and the width of the cells [m]."""

    measure: float
    uncertainty: float
    cell: float


def room(points: Array) -> Room:
    """The area or volume that points (n, 2 or 3) fill."""
    n, dimensions = points.shape
    extents = np.ptp(points, axis=0)
    if extents.min() <= _FLAT * extents.max():
        return Room(0.0, 0.0, 0.0)
    width = float(np.prod(extents) * _POINTS_PER_CELL / n) ** (1 / dimensions)
    filled, _ = filled_cells(points, width)
    inner = ndimage.binary_erosion(filled, np.ones((3,) * dimensions))
    outside, inside = (float(cells.sum()) * width**dimensions for cells in (filled, inner))
    return Room(0.5 * (outside + inside), _MISSED * (outside - inside), width)


def gridded(places: Array, resolution: int) -> tuple[Array, Array, Array]:
    """The cells (n, 2), to the right and up, of places (n, 2) in a square grid that is so many cells long, and the
    middles of its columns and rows."""
    width = float(np.ptp(places, axis=0).max()) / resolution or 1.0
    corner = places.min(axis=0) - 0.5 * width
    cells = np.floor((places - corner) / width).astype(int)
    across, up = (corner[k] + (np.arange(cells[:, k].max() + 1) + 0.5) * width for k in range(2))
    return cells, across, up


def filled_cells(points: Array, width: float) -> tuple[Array, Array]:
    """A grid of truth values with an empty rim, and the lower corner of its first cell."""
    corner = points.min(axis=0) - 2.5 * width
    places = np.floor((points - corner) / width).astype(int)
    shape = tuple(places.max(axis=0) + 3)
    counts = np.bincount(np.ravel_multi_index(tuple(places.T), shape), minlength=int(np.prod(shape))).reshape(shape)
    return ndimage.binary_closing(counts > 0), corner
