"""Spheres that contain surfaces: triangles are parted into clusters, each of which is in a sphere of its own.

A sphere that has the corners of a triangle in it has all of it. The cluster whose sphere is the farthest above the
convex hull is parted in two until there are as many as are wanted; then triangles move to the nearest spheres."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.typing import Array
from cayley.planning.collision.balls import ball_around
from cayley.progress import PatientBar

_ROUNDING = 1e-6
"""By how much spheres are larger than they must be [m]: points of meshes are kept in single precision."""
_FINEST = 0.12  # edges of triangles, of the size of a surface
_ROUND = 0.97  # of the radius, at which the nearest point of a surface is that is itself a sphere
_ROUNDS = 6


def fitted_spheres(surfaces: Sequence[Array], count: int) -> list[Array]:
    """Spheres (n, 4) that contain surfaces, each given by the corners of its triangles (m, 3, 3); together `count` of
    them at most, or one for each surface."""
    found = [_Cluster(k, cut, _faces(cut)) for k, cut in enumerate(map(parted, surfaces))]
    with PatientBar("fitting spheres", count) as bar:
        while len(found) < count:
            loosest = max(found, key=lambda each: each.above)
            halves = _halves(loosest.corners)
            if len(halves) < 2 or loosest.above <= 0.0:
                break
            found = [each for each in found if each is not loosest]
            found += [_Cluster(loosest.owner, half, loosest.faces) for half in halves]
            bar.reached(len(found))
    return [_settled([each for each in found if each.owner == k]) for k in range(len(surfaces))]


class _Cluster:
    """Triangles of one surface, the sphere that they are in, the planes about the whole surface, and how far the sphere
    is above one of them: zero for a surface that is nearly its sphere, of which parts are no smaller."""

    def __init__(self, owner: int, corners: Array, faces: Array) -> None:
        self.owner, self.corners, self.faces = owner, corners, faces
        self.ball = _ball(corners)
        nearest = np.linalg.norm(corners.mean(axis=1) - self.ball[:3], axis=1).min()
        above = self.ball[3] + (faces[:, :3] @ self.ball[:3] + faces[:, 3]).max(initial=-self.ball[3])
        self.above = 0.0 if nearest > _ROUND * self.ball[3] else float(above)


def _faces(corners: Array) -> Array:
    """The planes (n, 4) of the faces of the convex hull; none of what is flat."""
    from scipy.spatial import ConvexHull, QhullError  # which take long to import
    try:
        return ConvexHull(corners.reshape(-1, 3)).equations
    except QhullError:
        return np.array([[0.0, 0.0, 0.0, 0.0]])


def parted(corners: Array) -> Array:
    """The triangles (m, 3, 3), cut in two across their longest edges until none is long beside all of them."""
    points = corners.reshape(-1, 3)
    longest = _FINEST * float(np.linalg.norm(np.ptp(points, axis=0)))
    done = []
    while len(corners):
        edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        far = edges.argmax(axis=1)
        large = edges.max(axis=1) > longest
        done.append(corners[~large])
        turned = np.take_along_axis(corners[large], ((far[large, None] + np.arange(3)) % 3)[..., None], axis=1)
        a, b, c = np.moveaxis(turned, 1, 0)
        middle = (a + b) / 2
        corners = np.concatenate([np.stack([a, middle, c], axis=1), np.stack([middle, b, c], axis=1)])
    return np.concatenate(done)


def _ball(corners: Array) -> Array:
    return np.add(ball_around(corners.reshape(-1, 3)), [0.0, 0.0, 0.0, _ROUNDING])


def _halves(corners: Array) -> list[Array]:
    """Triangles on either side of the middle of their longest extent, each with the nearer of both means."""
    middles = corners.mean(axis=1)
    spread = middles - middles.mean(axis=0)
    axis = np.linalg.svd(spread, full_matrices=False)[2][0]
    along = spread @ axis
    first = along < (along.min() + along.max()) / 2
    for _ in range(_ROUNDS):
        if first.all() or not first.any():
            break
        means = [middles[side].mean(axis=0) for side in (first, ~first)]
        first = np.linalg.norm(middles - means[0], axis=1) < np.linalg.norm(middles - means[1], axis=1)
    return [corners[side] for side in (first, ~first) if side.any()]


def _settled(clusters: Sequence[_Cluster]) -> Array:
    """The spheres of clusters, after triangles have moved to the nearest of them as long as that makes them smaller."""
    best = np.array([each.ball for each in clusters])
    corners = np.concatenate([each.corners for each in clusters])
    for _ in range(_ROUNDS):
        owner = np.linalg.norm(corners[:, :, None] - best[:, :3], axis=3).max(axis=1).argmin(axis=1)
        parts = [corners[owner == k] for k in range(len(best))]
        balls = np.array([_ball(part) for part in parts if len(part)])
        if len(balls) < len(best) or balls[:, 3].sum() >= best[:, 3].sum():
            break
        best = balls
    return best
