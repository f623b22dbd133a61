"""Paths of a tool in space: straight lines, arcs of circles, seams along a curve. A path gives poses at places s, from
0 to its length [m], or its angle [rad] if it only turns. Between the orientations of its ends it turns about one axis,
evenly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError, PlanningError, SignatureError
from cayley.geometry.batch import numbers
from cayley.geometry.motions.homogeneous import check_pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion
from cayley.geometry.rotations.rotation_vector import matrix_from_rotation_vector, rotation_vector_from_matrix
from cayley.planning.motion import Motion
from cayley.showing import brief

_SAME = 1e-12
_BEND = 1e-5  # of directions: what is less is no corner
_HALF_TURN = np.pi - 1e-9
_FINE = 64  # points between two of a seam, for its length


@dataclass(frozen=True, eq=False)
class PosePath(HoldsFunctions):
    """Poses (..., 4, 4) at places s (...) from 0 to `length`: `path(s)`; at its `corners` the direction changes."""

    poses: Callable[[Array], Array]
    length: float
    corners: tuple[float, ...] = ()

    __repr__ = brief

    def __call__(self, s: ArrayLike) -> Array:
        places = np.asarray(s, dtype=float)
        slack = _SAME * max(1.0, self.length)
        if not ((places >= -slack) & (places <= self.length + slack)).all():
            raise PlanningError(f"the path is from 0 to {self.length:.6g}; the places given are {places.min():.6g} to "
                                f"{places.max():.6g}")
        return self.poses(np.clip(places, 0.0, self.length))

    def sampled(self, count: int) -> Array:
        """Poses (count, 4, 4) at even distances, the ends among them."""
        return self(np.linspace(0.0, self.length, count))

    def then(self, other: PosePath) -> PosePath:
        """The path along this one and then another, which must begin where this one ends."""
        gap = np.abs(self(self.length) - other(0.0)).max()
        if gap > 1e-9:
            raise PlanningError(f"the second path begins {gap:.3g} away from the end of the first: let it begin there")

        def poses(s: Array) -> Array:
            second = s > self.length
            first = self.poses(np.minimum(s, self.length))
            return np.where(second[..., None, None], other.poses(np.clip(s - self.length, 0.0, other.length)), first)

        near = 1e-7 * min(self.length, other.length)
        arrives = (self(self.length) - self(self.length - near)) / near
        leaves = (other(near) - other(0.0)) / near
        here = [self.length] if np.abs(leaves - arrives).max() > _BEND * max(1.0, np.abs(leaves).max()) else []
        corners = (*self.corners, *here, *[self.length + place for place in other.corners])
        return PosePath(poses, self.length + other.length, corners)


def pose_path(curve: Motion) -> PosePath:
    """The path of a motion of poses, as `pose_spline` and `screw_motion` make: its s is the time since its start.

    >>> from cayley.planning import pose_spline
    >>> there = np.eye(4)
    >>> there[0, 3] = 0.4
    >>> pose_path(pose_spline([1.0, 3.0], [np.eye(4), there]))(1.0)[0, 3].round(12)
    np.float64(0.2)
    """
    if curve.nq != 7 or curve.attitudes != (3,):
        raise SignatureError("a path of poses is a motion of a position and a quaternion, not of "
                             f"{curve.nq} coordinates")

    def poses(s: Array) -> Array:
        q = curve.position(curve.start + s)
        return _assembled(q[..., :3], matrix_from_quaternion.unchecked(q[..., 3:]))

    inner = curve.breaks[1:-1]
    before, after = (part[1] for part in curve.beside(inner))
    jumps = np.abs(after - before).max(axis=-1) > _BEND * (1.0 + np.abs(after).max(axis=-1))
    return PosePath(poses, curve.duration, tuple(float(t) - curve.start for t in inner[jumps]))


def straight_line(first: ArrayLike, last: ArrayLike) -> PosePath:
    """From one pose (4, 4) straight to another.

    >>> last = np.eye(4)
    >>> last[0, 3] = 0.4
    >>> straight_line(np.eye(4), last)(0.1)[0, 3]
    np.float64(0.1)
    """
    start = _checked(first)
    end = _checked(last)
    way = end[:3, 3] - start[:3, 3]
    turn = _turn(start, end)
    length = float(np.linalg.norm(way))
    size = length if length > _SAME else float(np.linalg.norm(turn))
    if size <= _SAME:
        raise PlanningError("the path has no length: its poses are the same")

    def poses(s: Array) -> Array:
        share = s / size
        return _assembled(start[:3, 3] + share[..., None] * way, _turned(start, share[..., None] * turn))

    return PosePath(poses, size)


def circular_arc(first: ArrayLike, through: ArrayLike, last: ArrayLike, *, turning: bool = False) -> PosePath:
    """From a pose (4, 4) through a point (3) to another pose on the circle of the three points; with `turning` the
    frame turns with the arc as if it were fixed to its centre, and of `last` only the position counts.

    >>> last = np.eye(4)
    >>> last[:2, 3] = [-1.0, 1.0]
    >>> arc = circular_arc(np.eye(4), [-1 + np.sqrt(0.5), np.sqrt(0.5), 0.0], last)
    >>> round(arc.length, 9)
    1.570796327
    """
    start = _checked(first)
    end = _checked(last)
    a = start[:3, 3]
    b = numbers(through, "the numbers of a point")
    c = end[:3, 3]
    if b.shape != (3,) or not np.isfinite(b).all():
        raise SignatureError("circular_arc(first, through, last) goes from a pose through a point to a pose: `through` "
                             f"is three finite numbers, as T[:3, 3] of a pose, not an array of shape {b.shape}")
    normal = np.cross(b - a, c - a)
    size = max(float(np.linalg.norm(b - a)), float(np.linalg.norm(c - a)))
    if np.linalg.norm(normal) <= 1e-9 * size**2:
        raise GeometryError("the three points of the arc are on a line, or coincide: no circle passes through them; "
                            "take straight_line, or another point")
    axis = normal / np.linalg.norm(normal)
    squares = np.array([(b - a) @ (b - a), (c - a) @ (c - a), 0.0]) / 2
    center = a + np.linalg.solve(np.stack([b - a, c - a, axis]), squares)
    radius = float(np.linalg.norm(a - center))
    right = (a - center) / radius
    up = np.cross(axis, right)
    angle = float(np.mod(np.arctan2((c - center) @ up, (c - center) @ right), 2 * np.pi))
    turn = angle * axis if turning else _turn(start, end)

    def poses(s: Array) -> Array:
        phi = (s / radius)[..., None]
        places = center + radius * (np.cos(phi) * right + np.sin(phi) * up)
        return _assembled(places, _turned(start, phi / angle * turn))

    return PosePath(poses, radius * angle)


def seam(points: ArrayLike, normals: ArrayLike, *, work_angle: float = 0.0, travel_angle: float = 0.0) -> PosePath:
    """A weld along the smooth curve through points (k, 3): the z axis of the tool points into the work, against the
    `normals` (k, 3) or (3) of its surface, and its x axis along the seam. `work_angle` [rad] tilts it about the seam,
    `travel_angle` about the axis across it (positive: the tool leans back, and points ahead). A curve whose last point
    is its first is closed, and smooth there.

    >>> path = seam([[0.4, -0.1, 0.0], [0.45, 0.0, 0.0], [0.4, 0.1, 0.0]], [0.0, 0.0, 1.0])
    >>> path(0.0)[:3, 2].round(12) + 0.0
    array([ 0.,  0., -1.])
    """
    given = numbers(points, "points of a seam")
    if given.ndim != 2 or given.shape[1] != 3 or len(given) < 2 or not np.isfinite(given).all():
        raise SignatureError(f"a seam passes through two points or more (k, 3), not {given.shape}")
    steps = np.linalg.norm(np.diff(given, axis=0), axis=1)
    if not (steps > 0).all():
        raise PlanningError(f"points {int(np.argmin(steps)) + 1} and {int(np.argmin(steps)) + 2} of the seam are the "
                            "same: leave one out")
    up = numbers(normals, "normals of a seam")
    if up.shape not in ((3,), given.shape):
        raise SignatureError(f"the normals of a seam must be one for all points (3) or one for each {given.shape}, not "
                             f"{up.shape}")
    up = np.broadcast_to(up, given.shape)
    if not (np.linalg.norm(up, axis=1) > 0).all():
        raise GeometryError("a normal of the seam has no length")
    closed = bool(np.abs(given[0] - given[-1]).max() <= _SAME)
    chords = np.concatenate([[0.0], np.cumsum(steps)])
    kind = "periodic" if closed else "not-a-knot"
    curve = CubicSpline(chords, np.vstack([given[:-1], given[:1]]) if closed else given, bc_type=kind)
    normal = CubicSpline(chords, np.vstack([up[:-1], up[:1]]) if closed else up, bc_type=kind)
    u = np.concatenate([*[np.linspace(chords[i], chords[i + 1], _FINE, endpoint=False) for i in range(len(steps))],
                        chords[-1:]])
    speed = np.linalg.norm(curve(u, 1), axis=1)
    if speed.min() < 1e-6 * speed.max():
        raise GeometryError("the seam turns back on itself, where a tool has no direction: put more points there")
    s = np.concatenate([[0.0], np.cumsum(_lengths(curve, u))])
    inverse = CubicHermiteSpline(s, u, 1.0 / speed)
    tilt = matrix_from_rotation_vector([work_angle, 0.0, 0.0]) @ matrix_from_rotation_vector([0.0, travel_angle, 0.0])

    def poses(places: Array) -> Array:
        at = inverse(places)
        x = _unit(curve(at, 1))
        z = -normal(at)
        y = np.cross(z, x)
        if (np.linalg.norm(y, axis=-1) < 1e-9).any():
            raise GeometryError("the normal of the surface is parallel to the seam somewhere, where the tool has no "
                                "direction")
        y = _unit(y)
        return _assembled(curve(at), np.stack([x, y, np.cross(x, y)], axis=-1) @ tilt)

    return PosePath(poses, float(s[-1]))


def _lengths(curve: CubicSpline, u: Array) -> Array:
    nodes, weights = np.polynomial.legendre.leggauss(8)
    half = np.diff(u) / 2
    places = (u[:-1] + half)[:, None] + half[:, None] * nodes
    return half * (np.linalg.norm(curve(places, 1), axis=-1) @ weights)


def _checked(pose: ArrayLike) -> Array:
    given = numbers(pose, "poses")
    if given.shape != (4, 4):
        raise SignatureError(f"a pose must be a matrix (4, 4), not {given.shape}")
    check_pose(given)
    return given


def _turn(start: Array, end: Array) -> Array:
    turn = rotation_vector_from_matrix.unchecked(end[:3, :3] @ start[:3, :3].T)
    if np.linalg.norm(turn) > _HALF_TURN:
        raise GeometryError("the orientations of the ends are half a turn apart, and there are two ways: put a pose in "
                            "between")
    return turn


def _turned(start: Array, turns: Array) -> Array:
    return matrix_from_rotation_vector.unchecked(turns) @ start[:3, :3]


def _assembled(places: Array, rotations: Array) -> Array:
    poses = np.zeros((*places.shape[:-1], 4, 4))
    poses[..., :3, :3] = rotations
    poses[..., :3, 3] = places
    poses[..., 3, 3] = 1.0
    return poses


def _unit(vectors: Array) -> Array:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
