"""Shapes that touch, besides spheres, capsules and boxes: cylinders, convex hulls, half-spaces and height fields.

Each is data in the frame that it is fixed to. `CONTACT_SHAPES` has all kinds that a contact may be between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from cayley.compiler.typing import Array, FieldArray
from cayley.errors import GeometryError
from cayley.geometry.convex_shapes import Box, Capsule, Sphere, length_of, point_of, rigid_pose

MOST_VERTICES = 32  # of a convex hull


@dataclass(frozen=True, eq=False)
class Cylinder:
    """All between two discs of a radius [m] about `start` (3) and `end` (3), across the line that joins them."""

    radius: float
    start: FieldArray
    end: FieldArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", length_of(self.radius, "cylinder"))
        object.__setattr__(self, "start", point_of(self.start))
        object.__setattr__(self, "end", point_of(self.end))
        if not np.linalg.norm(self.end - self.start) > 0:
            raise GeometryError("a cylinder must have a length: its ends are one point")

    def moved(self, pose: Array) -> Self:
        """The shape as seen from a frame in which its own has this pose (4, 4)."""
        return replace(self, start=pose[:3, :3] @ self.start + pose[:3, 3], end=pose[:3, :3] @ self.end + pose[:3, 3])


@dataclass(frozen=True, eq=False)
class ConvexHull:
    """The convex hull of points (n, 3) [m]. `points` holds at most 32 of its vertices: those farthest out come first,
    one by one, and no point given is farther than `error` [m] from the hull of those that are kept.

    >>> corners = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).T.reshape(-1, 3)
    >>> ConvexHull([*corners, [0.5, 0.5, 0.5]]).points.shape
    (8, 3)
    """

    points: FieldArray
    error: float = 0.0

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=float)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise GeometryError(f"a convex hull is of finite points (n, 3), not {points.shape}")
        from scipy.spatial import ConvexHull as QuickHull  # which takes long to import
        from scipy.spatial import QhullError
        try:
            vertices = points[QuickHull(points).vertices]
        except (QhullError, ValueError) as error:
            raise GeometryError("a convex hull is of four points or more, not all of them in one plane") from error
        kept, missed = (vertices, 0.0) if len(vertices) <= MOST_VERTICES else _farthest_out(vertices)
        kept.flags.writeable = False
        object.__setattr__(self, "points", kept)
        object.__setattr__(self, "error", float(self.error) + missed)

    def moved(self, pose: Array) -> Self:
        """The shape as seen from a frame in which its own has this pose (4, 4)."""
        return replace(self, points=self.points @ pose[:3, :3].T + pose[:3, 3])

    @property
    def depth(self) -> float:
        """Depth [m] of the middle of the vertices below the nearest face."""
        return float(-(self._faces()[:, :3] @ self.points.mean(axis=0) + self._faces()[:, 3]).max())

    def shrunk(self, margin: float) -> ConvexHull:
        """The hull with all its faces moved inwards by a margin [m], less than its depth."""
        from scipy.spatial import HalfspaceIntersection
        inner = HalfspaceIntersection(self._faces() + np.array([0.0, 0.0, 0.0, margin]), self.points.mean(axis=0))
        return ConvexHull(inner.intersections)

    def _faces(self) -> Array:
        from scipy.spatial import ConvexHull as QuickHull
        return np.unique(QuickHull(self.points).equations.round(12), axis=0)


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """All below the plane z = 0 of a pose (4, 4), whose x and y are the tangents of contacts on it: level ground if no
    pose is given."""

    pose: FieldArray = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pose", rigid_pose(self.pose, "a half-space is below z = 0 of"))

    def moved(self, pose: Array) -> Self:
        """The shape as seen from a frame in which its own has this pose (4, 4)."""
        return replace(self, pose=pose @ self.pose)


@dataclass(frozen=True, eq=False)
class HeightField:
    """All below a surface over a rectangle of a size (2) [m] along x and y, in the middle of a pose (4, 4).
    `heights` (n, m) [m] are at equal steps along x (first index) and y (second); between them the surface is bilinear,
    and beyond the rectangle it goes on as at its rim. Of an image with values from 0 to 1 and one channel it is
    `HeightField(height * matplotlib.image.imread(path), size)`.

    >>> HeightField([[0.0, 0.0], [0.1, 0.1]], size=(1.0, 1.0)).steps
    array([1., 1.])
    """

    heights: FieldArray
    size: FieldArray
    pose: FieldArray = None

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=float)
        size = np.array(self.size, dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise GeometryError(f"a height field has finite heights (n, m), two or more each way, not {heights.shape}")
        if size.shape != (2,) or not (size > 0).all():
            raise GeometryError("a height field has a size of two positive lengths, along x and along y")
        heights.flags.writeable = size.flags.writeable = False
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "pose", rigid_pose(self.pose, "a height field is in the middle of"))

    @property
    def steps(self) -> Array:
        """The distances (2) [m] of neighbouring heights along x and y."""
        return self.size / (np.array(self.heights.shape) - 1)

    def moved(self, pose: Array) -> Self:
        """The shape as seen from a frame in which its own has this pose (4, 4)."""
        return replace(self, pose=pose @ self.pose)


ConvexKind: TypeAlias = Sphere | Capsule | Box | Cylinder | ConvexHull
ContactShape: TypeAlias = ConvexKind | HalfSpace | HeightField
CONTACT_SHAPES = (Sphere, Capsule, Box, Cylinder, ConvexHull, HalfSpace, HeightField)


def _farthest_out(vertices: Array) -> tuple[Array, float]:
    """Some of the vertices of a hull, each the farthest from the hull of those before it, and how far the farthest of
    the others is from the hull of all that are chosen."""
    from scipy.optimize import nnls
    from scipy.spatial import ConvexHull as QuickHull
    spread = vertices - vertices.mean(axis=0)
    chosen = [*{int(k) for axis in np.linalg.svd(spread, full_matrices=False)[2]
                for k in (np.argmin(spread @ axis), np.argmax(spread @ axis))}]
    while len(chosen) < 4:  # of few directions: any others
        chosen.append(next(k for k in range(len(vertices)) if k not in chosen))
    while len(chosen) < MOST_VERTICES:
        faces = QuickHull(vertices[chosen], qhull_options="QJ").equations
        outside = (vertices @ faces[:, :3].T + faces[:, 3]).max(axis=1)
        outside[chosen] = -np.inf
        chosen.append(int(np.argmax(outside)))
    weights = np.vstack([vertices[chosen].T, np.full(len(chosen), 1e3)])  # the last row: weights of sum 1
    missed = max(nnls(weights, [*point, 1e3])[1] for k, point in enumerate(vertices) if k not in chosen)
    return vertices[chosen], float(missed)
