"""Spheres, capsules and boxes, and how far they are apart.

Every shape is a core, center + generators u with -1 <= u_i <= 1, and all that is within a radius of it: a sphere has no
generator, a capsule one, a box three and no radius. The distance of two shapes is that of their cores,
    min | c + G w |,   c the way between the centers, G the generators of both, -1 <= w_i <= 1
less both radii. It is a least-squares problem with bounds: convex, so that its minimum is the distance. Where cores
overlap it is minus the radii, and not a depth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Self

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, FieldArray
from cayley.errors import GeometryError, SignatureError

_ENUMERATED = 4  # generators, up to which all faces of the bounds are looked at


class ConvexShape:
    """A core and a radius; `center` (3), `generators` (3, k) and `radius` [m] in the frame that it is fixed to."""

    center: Array
    generators: Array
    radius: float

    @property
    def reach(self) -> float:
        """The radius of a sphere about the center that contains it."""
        return float(np.linalg.norm(self.generators, axis=0).sum()) + self.radius

    def moved(self, pose: Array) -> Self:
        """The shape as seen from a frame in which its own has this pose (4, 4)."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Sphere(ConvexShape):
    """A sphere of a radius [m] about a center (3)."""

    radius: float
    center: FieldArray = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", length_of(self.radius, "sphere"))
        object.__setattr__(self, "center", point_of(self.center))

    @property
    def generators(self) -> Array:  # type: ignore[override]
        return np.zeros((3, 0))

    def moved(self, pose: Array) -> Self:
        return replace(self, center=pose[:3, :3] @ self.center + pose[:3, 3])


@dataclass(frozen=True, eq=False)
class Capsule(ConvexShape):
    """All within a radius [m] of the segment from `start` (3) to `end` (3)."""

    radius: float
    start: FieldArray
    end: FieldArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", length_of(self.radius, "capsule"))
        object.__setattr__(self, "start", point_of(self.start))
        object.__setattr__(self, "end", point_of(self.end))

    @property
    def center(self) -> Array:  # type: ignore[override]
        return (self.start + self.end) / 2

    @property
    def generators(self) -> Array:  # type: ignore[override]
        return (self.end - self.start)[:, None] / 2

    def moved(self, pose: Array) -> Self:
        return replace(self, start=pose[:3, :3] @ self.start + pose[:3, 3], end=pose[:3, :3] @ self.end + pose[:3, 3])


@dataclass(frozen=True, eq=False)
class Box(ConvexShape):
    """A box of a size (3) [m] in the middle of a pose (4, 4)."""

    size: FieldArray
    pose: FieldArray = None
    radius = 0.0

    def __post_init__(self) -> None:
        size = point_of(self.size)
        if not (size > 0).all():
            raise GeometryError(f"a box must have three positive sizes, not {size}")
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "pose", rigid_pose(self.pose, "a box is in the middle of"))

    @property
    def center(self) -> Array:  # type: ignore[override]
        return self.pose[:3, 3]

    @property
    def generators(self) -> Array:  # type: ignore[override]
        return self.pose[:3, :3] * (self.size / 2)

    def moved(self, pose: Array) -> Self:
        return replace(self, pose=pose @ self.pose)


def distance(one: ConvexShape, other: ConvexShape, pose: ArrayLike | None = None,
             other_pose: ArrayLike | None = None) -> Array:
    """The distance (...) [m] of two shapes that are fixed to frames at poses (..., 4, 4), the root's if not given; zero
    or negative where they touch or overlap.

    >>> distance(Sphere(0.1), Capsule(0.2, [1.0, -1.0, 0.0], [1.0, 1.0, 0.0]))
    np.float64(0.7)
    """
    way, generators = _between(one, other, pose, other_pose)
    batch = way.shape[:-1]
    count = int(np.prod(batch))
    flat = way.reshape(count, 3)
    columns = generators.reshape(count, 3, generators.shape[-1])
    apart = (_by_faces(flat, columns) if columns.shape[-1] <= _ENUMERATED
             else np.array([_bounded(c, G) for c, G in zip(flat, columns, strict=True)]))
    return apart.reshape(batch)[()] - one.radius - other.radius


def least_apart(one: ConvexShape, other: ConvexShape, pose: ArrayLike | None = None,
                other_pose: ArrayLike | None = None) -> Array:
    """A distance (...) [m] that two shapes are apart at least, at once: of the spheres about them."""
    way, _ = _between(one, other, pose, other_pose)
    return np.linalg.norm(way, axis=-1) - one.reach - other.reach


def _between(one: ConvexShape, other: ConvexShape, pose: ArrayLike | None,
             other_pose: ArrayLike | None) -> tuple[Array, Array]:
    """The way (..., 3) from center to center, and the generators (..., 3, k) of both."""
    poses = [np.eye(4) if p is None else np.asarray(p, dtype=float) for p in (pose, other_pose)]
    for given in poses:
        if given.shape[-2:] != (4, 4):
            raise SignatureError(f"the poses of shapes must be (..., 4, 4), not {given.shape}")
    a, b = np.broadcast_arrays(*poses)
    here = a[..., :3, :3] @ one.center + a[..., :3, 3]
    there = b[..., :3, :3] @ other.center + b[..., :3, 3]
    parts = [a[..., :3, :3] @ one.generators, b[..., :3, :3] @ other.generators]
    return there - here, np.concatenate([-parts[0], parts[1]], axis=-1)


def _by_faces(c: Array, G: Array) -> Array:
    """min |c + G w| (n) for few generators: on every face of the bounds where the free ones have their best values."""
    best = np.full(len(c), np.inf)
    k = G.shape[-1]
    for face in product((-1.0, 0.0, 1.0), repeat=k):
        held = np.array(face)
        free = held == 0.0
        base = c + G @ held
        if free.any():
            part = G[:, :, free]
            normal = np.swapaxes(part, 1, 2) @ part
            size = np.trace(normal, axis1=1, axis2=2)[:, None, None]
            ridge = normal + 1e-15 * np.where(size > 0, size, 1.0) * np.eye(int(free.sum()))
            w = -np.linalg.solve(ridge, np.swapaxes(part, 1, 2) @ base[..., None])
            base = base + (part @ np.clip(w, -1.0, 1.0))[..., 0]  # what is clipped is farther, and no answer is lost
        best = np.minimum(best, np.linalg.norm(base, axis=-1))
    return best


def _bounded(c: Array, G: Array) -> float:
    from scipy.optimize import lsq_linear  # which takes long to import
    found = lsq_linear(G, -c, bounds=(-1.0, 1.0), method="bvls", tol=1e-14)
    return float(np.linalg.norm(c + G @ found.x))


def point_of(values: ArrayLike) -> Array:
    given = np.array(values, dtype=float)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise GeometryError(f"a point or size must be three finite numbers, not {given.shape}")
    given.flags.writeable = False
    return given


def rigid_pose(values: ArrayLike | None, what: str) -> Array:
    """A read-only pose (4, 4), the identity if none is given; `what` begins the sentence of its error."""
    pose = np.eye(4) if values is None else np.array(values, dtype=float)
    if pose.shape != (4, 4) or not np.abs(pose[:3, :3] @ pose[:3, :3].T - np.eye(3)).max() <= 1e-8:
        raise GeometryError(f"{what} a pose (4, 4), which this is not")
    pose.flags.writeable = False
    return pose


def length_of(value: float, what: str) -> float:
    if not (np.isfinite(value) and value > 0):
        raise GeometryError(f"a {what} must have a positive radius, not {value}")
    return float(value)
