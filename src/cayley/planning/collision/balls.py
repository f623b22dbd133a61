"""Small balls around points and around balls: by steps towards what is farthest (Badoiu & Clarkson 2003), of which the
best is kept. Whatever the center, the radius is that of the farthest: nothing is outside."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array

_STEPS = 80
_MANY = 400  # points, of which those on the hull are looked at


def ball_around(points: Array) -> Array:
    """A center and a radius (4) of a ball that has all points (n, 3) in it.

    >>> ball_around(np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.5, 0.0]])).round(2)
    array([-0.,  0.,  0.,  1.])
    """
    few = _outermost(points) if len(points) > _MANY else points
    return ball_around_balls(np.column_stack([few, np.zeros(len(few))]))


def ball_around_balls(balls: Array) -> Array:
    """A center and a radius (4) of a ball that contains all of some balls (n, 4)."""
    low, high = (balls[:, :3] - balls[:, 3:]).min(axis=0), (balls[:, :3] + balls[:, 3:]).max(axis=0)
    center = (low + high) / 2
    best = np.array([*center, np.inf])
    for step in range(1, _STEPS + 1):
        ways = balls[:, :3] - center
        lengths = np.sqrt((ways * ways).sum(axis=1))
        reach = lengths + balls[:, 3]
        far = int(np.argmax(reach))
        if reach[far] < best[3]:
            best = np.array([*center, reach[far]])
        center = center + ways[far] / (step + 1) * (reach[far] / max(lengths[far], 1e-300) if lengths[far] else 0.0)
    return best


def _outermost(points: Array) -> Array:
    """The points on the convex hull, or all of them where they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError  # which take long to import
    try:
        return points[ConvexHull(points).vertices]
    except QhullError:
        return points


def union_volume(balls: Array, cells: int = 64) -> float:
    """A volume [m^3] that the union of some balls (n, 4) has at most: that of all cells of a grid that one of them
    could touch."""
    low, high = (balls[:, :3] - balls[:, 3:]).min(axis=0), (balls[:, :3] + balls[:, 3:]).max(axis=0)
    steps = (high - low) / cells
    x, y, z = (low[k] + steps[k] * (np.arange(cells) + 0.5) for k in range(3))
    half = float(np.linalg.norm(steps)) / 2
    touched = np.zeros((cells, cells, cells), dtype=bool)
    for cx, cy, cz, radius in balls:
        touched |= (((x - cx)**2)[:, None, None] + ((y - cy)**2)[:, None] + (z - cz)**2) <= (radius + half)**2
    return float(touched.sum() * np.prod(steps))
