"""Surfaces of triangles: what every kind of shape is drawn as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cayley.compiler.native import cache
from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.showing import brief

SIDES = 20  # of what is round

_NEARLY = 1.25  # times the triangles that were asked for
_KEPT = 0.85  # of the area, or there are holes
_MANY = 80_000  # triangles, of which to collapse edges takes long
_TRIALS = 24  # of grids


@dataclass(frozen=True, eq=False)
class Surface:
    """Points (n, 3) [m], triangles (m, 3) of their numbers, and whether they enclose a body: then the corners are
    counter-clockwise seen from outside, and backs need not be drawn."""

    points: Array
    triangles: Array
    closed: bool = False

    __repr__ = brief

    @staticmethod
    def of(points: Array, triangles: Array) -> Surface:
        """The surface with equal points made one, and turned inside out where it encloses a body the wrong way."""
        points, place = _distinct(points)
        triangles = _with_area(place[triangles])
        closed = _encloses(triangles, len(points))
        if closed and _volume(points[triangles]) < 0:
            triangles = triangles[:, ::-1]
        return Surface(points, triangles, closed)

    @property
    def area(self) -> float:
        a, b, c = np.moveaxis(self.points[self.triangles], 1, 0)
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    @property
    def volume(self) -> float:
        """The volume that it encloses, zero if it encloses none."""
        return _volume(self.points[self.triangles]) if self.closed else 0.0

    def moved(self, pose: Array) -> Surface:
        """The surface seen from a frame in which its own has this pose (4, 4)."""
        return Surface(self.points @ pose[:3, :3].T + pose[:3, 3], self.triangles, self.closed)

    def scaled(self, scale: Array) -> Surface:
        """Longer by factors (3) along its axes; one that is negative makes a mirror image."""
        triangles = self.triangles[:, ::-1] if np.prod(scale) < 0 else self.triangles
        return Surface(self.points * scale, triangles, self.closed)

    def simplified(self, most: int) -> Surface:
        """The surface with no more triangles than `most`, about: the edges that matter least are collapsed, and where
        that does not suffice, or leaves holes, as with many small parts, the points of small cells become one."""
        if len(self.triangles) <= most:
            return self
        start = self._coarse(_MANY) if len(self.triangles) > _MANY else self
        if len(start.triangles) <= most:  # which were many times the same
            return start
        found = start._collapsed(most)
        if len(found.triangles) <= _NEARLY * most and found.area > _KEPT * start.area:
            return found
        return start._coarse(most)

    def _collapsed(self, most: int) -> Surface:
        try:
            import fast_simplification
        except ImportError as error:
            raise ModelError("meshes are simplified by the package fast-simplification, which is not installed: pip "
                             "install 'cayley[meshes]'") from error
        points, triangles = fast_simplification.simplify(self.points, self.triangles.astype(np.int32),
                                                         target_count=most)
        # the point that fits the planes around an edge best may be far away
        within = np.clip(points, self.points.min(axis=0), self.points.max(axis=0))
        return Surface(within.astype(float), np.asarray(triangles), self.closed)

    def _coarse(self, most: int) -> Surface:
        """The surface in the finest of some grids with which there are no more triangles than `most`."""
        low = self.points.min(axis=0)
        size = float(np.ptp(self.points, axis=0).max()) or 1.0
        fine = 4.0
        found = self
        for _ in range(_TRIALS):
            cells = np.floor((self.points - low) * (fine / size))
            _, place = _distinct(cells)
            triangles = _with_area(place[self.triangles])
            triangles = triangles[_first_of_equals(np.sort(triangles, axis=1))]
            if len(triangles) > most and fine > 4.0:
                break
            counts = np.bincount(place)
            middles = np.stack([np.bincount(place, self.points[:, k]) / counts for k in range(3)], axis=1)
            found = Surface(middles, triangles, self.closed)
            fine *= 1.3
        return found


def _distinct(points: Array) -> tuple[Array, Array]:
    """The points (n, 3) without repetitions, and the place of each among them."""
    order, new = _sorted_rows(points)
    place = np.empty(len(points), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return points[order][new], place


def _first_of_equals(rows: Array) -> Array:
    order, new = _sorted_rows(rows)
    return np.sort(order[new])


def _sorted_rows(rows: Array) -> tuple[Array, Array]:
    """The order of rows (n, 3), and which of them, in this order, differ from the one before."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, new


def _with_area(triangles: Array) -> Array:
    """The triangles of three different points."""
    return triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]


def revolved(radii: Array, heights: Array) -> Surface:
    """The surface of a profile, from below upwards, that turns about z; the ends are on the axis."""
    angles = np.arange(SIDES) * 2 * np.pi / SIDES
    rings = [np.stack([r * np.cos(angles), r * np.sin(angles), np.full(SIDES, z)], axis=1)
             for r, z in zip(radii, heights, strict=True)]
    rows = np.arange(len(rings) - 1)[:, None] * SIDES
    here = np.arange(SIDES)
    after = np.roll(here, -1)
    lower = np.stack(np.broadcast_arrays(rows + here, rows + after, rows + SIDES + after), axis=-1)
    upper = np.stack(np.broadcast_arrays(rows + here, rows + SIDES + after, rows + SIDES + here), axis=-1)
    points = np.concatenate(rings)
    points[np.abs(points) < 1e-15] = 0.0
    return Surface.of(points, np.concatenate([lower.reshape(-1, 3), upper.reshape(-1, 3)]))


def _encloses(triangles: Array, count: int) -> bool:
    """True if each edge is passed once in either direction."""
    start = triangles.reshape(-1).astype(np.int64)
    end = np.roll(triangles, -1, axis=1).reshape(-1).astype(np.int64)
    there = np.sort(start * count + end)
    back = np.sort(end * count + start)
    return bool(len(there)) and bool((np.diff(there) > 0).all()) and np.array_equal(there, back)


def _volume(corners: Array) -> float:
    a, b, c = np.moveaxis(corners, 1, 0)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


LEVELS = (4000, 1600, 640, 256, 100)  # triangles

_VERSION = 1

Levels = tuple[Surface, ...]


def levels_of(surface: Surface) -> Levels:
    """A surface with no more triangles than each of `LEVELS`, about; those that would be the same are one."""
    found = [surface.simplified(LEVELS[0])]
    for most in LEVELS[1:]:
        if len(found[-1].triangles) > most:
            found.append(found[-1].simplified(most))
    return tuple(found)


def kept_levels(key: str, make: Callable[[], Surface]) -> Levels:
    """The levels that are kept in the cache of compiled code under a key, or that are made now and kept there."""
    key = f"mesh|{_VERSION}|{LEVELS}|{key}"
    kept = cache.load(key)
    if kept is not None:
        return tuple(_unpacked(*kept[k:k + 3]) for k in range(0, len(kept), 3))
    found = levels_of(make())
    cache.store(key, [part for surface in found for part in _packed(surface)])
    return found


def _packed(surface: Surface) -> list[bytes]:
    return [surface.points.astype("<f4").tobytes(), surface.triangles.astype("<i4").tobytes(), bytes([surface.closed])]


def _unpacked(points: bytes, triangles: bytes, closed: bytes) -> Surface:
    return Surface(np.frombuffer(points, "<f4").astype(float).reshape(-1, 3),
                   np.frombuffer(triangles, "<i4").astype(np.int64).reshape(-1, 3), bool(closed[0]))
