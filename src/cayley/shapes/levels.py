"""Levels of detail of a surface, from fine to coarse, made once and kept on disk."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayley.compiler.native import cache
from cayley.shapes.surface import Surface

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
