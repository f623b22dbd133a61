"""The kinds of joints: what a joint lets its child do, as pure functions of the joint's own coordinates.

Each kind gives the pose of the child's frame in the joint's frame, and the twist (v; w) of the child relative to the parent, at the
child's origin and in the child's axes: twist = subspace(q) @ v, with the acceleration subspace(q) @ vd + bias(q, v).
`q` has `nq` entries, the velocity `v` has `nv`; they differ where a unit quaternion (w, x, y, z) is among the coordinates.
The text is scalar-agnostic: it runs on floats and on symbols.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cayley.errors import ModelError
from cayley.geometry.motions.homogeneous import pose_from_quaternion, relative_pose
from cayley.geometry.motions.screws import pose_from_twist, twist_from_pose
from cayley.geometry.rotations.quaternion import matrix_from_quaternion, quaternion_conjugate, quaternion_product
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector, rotation_vector_from_quaternion

KINDS = ("revolute", "continuous", "prismatic", "helical", "universal", "spherical", "planar", "floating", "fixed")
Z = (0.0, 0.0, 1.0)


def turn(axis: Any, angle: Any) -> Any:
    """The rotation about a constant unit axis by an angle (Rodrigues)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * (skew @ skew)


def plane_across(axis: Any) -> np.ndarray:
    """Two unit vectors (2, 3) that make a right-handed frame with a unit axis: x and y themselves for z."""
    n = np.asarray(axis, dtype=float)
    nearest = np.eye(3)[np.argmin(np.abs(n))] if abs(n[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
    first = nearest - (nearest @ n) * n
    first = first / np.linalg.norm(first)
    return np.stack([first, np.cross(n, first)])


def _unit(axis: Any, kind: str) -> tuple[float, float, float]:
    """A unit axis, to the last digit if it is one to 1e-6."""
    values = np.asarray(axis, dtype=float)
    length = float(np.linalg.norm(values)) if values.shape == (3,) else float("nan")
    if not abs(length - 1) < 1e-6:
        raise ModelError(f"the axis {axis} of a {kind} joint is not a unit vector: its length is {length:.6g}")
    exact = values if abs(length - 1) < 1e-15 else values / length
    return tuple(exact.tolist())


@dataclass(frozen=True)
class Motion:
    """A joint that holds its child fast; the other kinds are made from it."""

    nq = 0
    nv = 0
    word = "fixed"

    def __post_init__(self) -> None:
        for name in ("axis", "second"):
            if hasattr(self, name):
                object.__setattr__(self, name, _unit(getattr(self, name), self.word))

    def pose(self, q: Any) -> tuple[Any, Any]:
        """Rotation (3, 3) and origin (3) of the child's frame in the joint's frame."""
        return np.eye(3), np.zeros(3)

    def subspace(self, q: Any) -> Any:
        """The directions (6, nv) of motion, in the child's axes."""
        return np.zeros((6, 0))

    def bias(self, q: Any, v: Any) -> Any:
        """The acceleration (6) that is left when vd is zero."""
        return np.zeros(6)

    def turning(self, v: Any) -> Any:
        """N (nv, nv), skew: vd + N v is how fast a velocity really changes that is given in axes which turn with it; zero for rates."""
        return np.zeros((self.nv, self.nv))

    def rate(self, q: Any, v: Any) -> Any:
        """dq/dt (nq)."""
        return v

    def step(self, q: Any, v: Any) -> Any:
        """Where the constant velocity `v` leads from `q` in unit time (nq)."""
        return q + v

    def difference(self, start: Any, end: Any) -> Any:
        """The constant velocity (nv) that leads from `start` to `end` in unit time, by the shorter way."""
        return end - start

    @property
    def neutral(self) -> np.ndarray:
        return np.zeros(self.nq)


@dataclass(frozen=True)
class Revolute(Motion):
    """A revolute joint: a turn about an axis; `continuous` ones have no limits."""

    axis: tuple[float, float, float] = Z
    continuous: bool = False
    nq = 1
    nv = 1

    @property
    def word(self) -> str:  # type: ignore[override]
        return "continuous" if self.continuous else "revolute"

    def pose(self, q: Any) -> tuple[Any, Any]:
        return turn(self.axis, q[0]), np.zeros(3)

    def subspace(self, q: Any) -> Any:
        return np.array([[0.0, 0.0, 0.0, *self.axis]]).T


@dataclass(frozen=True)
class Prismatic(Motion):
    """A prismatic joint: a slide along an axis."""

    axis: tuple[float, float, float] = Z
    nq = 1
    nv = 1
    word = "prismatic"

    def pose(self, q: Any) -> tuple[Any, Any]:
        return np.eye(3), np.asarray(self.axis) * q[0]

    def subspace(self, q: Any) -> Any:
        return np.array([[*self.axis, 0.0, 0.0, 0.0]]).T


@dataclass(frozen=True)
class Helical(Motion):
    """A turn about an axis with a slide of `pitch` metres for each radian along it."""

    axis: tuple[float, float, float] = Z
    pitch: float = 0.0
    nq = 1
    nv = 1
    word = "helical"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.pitch):
            raise ModelError(f"the pitch of a helical joint is {self.pitch}: it must be a finite number of metres a radian")

    def pose(self, q: Any) -> tuple[Any, Any]:
        return turn(self.axis, q[0]), np.asarray(self.axis) * (self.pitch * q[0])

    def subspace(self, q: Any) -> Any:
        return np.array([[*(self.pitch * np.asarray(self.axis)), *self.axis]]).T


@dataclass(frozen=True)
class Universal(Motion):
    """A turn about `axis`, then one about `second`, which turns with the first."""

    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    second: tuple[float, float, float] = (0.0, 1.0, 0.0)
    nq = 2
    nv = 2
    word = "universal"

    def pose(self, q: Any) -> tuple[Any, Any]:
        return turn(self.axis, q[0]) @ turn(self.second, q[1]), np.zeros(3)

    def subspace(self, q: Any) -> Any:
        first = turn(self.second, q[1]).T @ np.asarray(self.axis)
        return np.concatenate([np.zeros((3, 2)), np.stack([first, np.asarray(self.second)], axis=1)])

    def bias(self, q: Any, v: Any) -> Any:
        first = turn(self.second, q[1]).T @ np.asarray(self.axis)
        return np.concatenate([np.zeros(3), np.cross(first, self.second) * (v[0] * v[1])])


@dataclass(frozen=True)
class Spherical(Motion):
    """A spherical (ball) joint, any rotation: a unit quaternion; the velocity is the angular velocity in the child's axes."""

    nq = 4
    nv = 3
    word = "spherical"

    def pose(self, q: Any) -> tuple[Any, Any]:
        return matrix_from_quaternion.unchecked(q), np.zeros(3)

    def subspace(self, q: Any) -> Any:
        return np.concatenate([np.zeros((3, 3)), np.eye(3)])

    def rate(self, q: Any, v: Any) -> Any:
        return 0.5 * quaternion_product.unchecked(q, np.concatenate([[0.0], v]))

    def step(self, q: Any, v: Any) -> Any:
        return quaternion_product.unchecked(q, quaternion_from_rotation_vector.unchecked(v))

    def difference(self, start: Any, end: Any) -> Any:
        between = quaternion_product.unchecked(quaternion_conjugate.unchecked(start), end)
        return rotation_vector_from_quaternion.unchecked(between)

    @property
    def neutral(self) -> np.ndarray:
        return np.array([1.0, 0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Planar(Motion):
    """A slide in the plane across `axis` and a turn about it: (x, y, angle), x and y along the joint's own axes of the plane."""

    axis: tuple[float, float, float] = Z
    nq = 3
    nv = 3
    word = "planar"

    @property
    def plane(self) -> np.ndarray:
        return plane_across(self.axis)

    def pose(self, q: Any) -> tuple[Any, Any]:
        return turn(self.axis, q[2]), q[0] * self.plane[0] + q[1] * self.plane[1]

    def subspace(self, q: Any) -> Any:
        along = turn(self.axis, q[2]).T @ self.plane.T
        return np.concatenate([np.concatenate([along, np.zeros((3, 1))], axis=1),
                               np.concatenate([np.zeros((3, 2)), np.asarray(self.axis)[:, None]], axis=1)])

    def bias(self, q: Any, v: Any) -> Any:
        along = turn(self.axis, q[2]).T @ (v[0] * self.plane[0] + v[1] * self.plane[1])
        return np.concatenate([-v[2] * np.cross(self.axis, along), np.zeros(3)])


@dataclass(frozen=True)
class Floating(Motion):
    """A floating base (free joint): position and unit quaternion; the velocity is the twist (v; w) in the child's axes."""

    nq = 7
    nv = 6
    word = "floating"
    _turning: Spherical = field(default_factory=Spherical, repr=False, compare=False)

    def pose(self, q: Any) -> tuple[Any, Any]:
        return matrix_from_quaternion.unchecked(q[3:]), q[:3]

    def subspace(self, q: Any) -> Any:
        return np.eye(6)

    def turning(self, v: Any) -> Any:
        x, y, z = v[3:]
        across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.concatenate([np.concatenate([across, np.zeros((3, 3))], axis=1), np.zeros((3, 6))])

    def rate(self, q: Any, v: Any) -> Any:
        return np.concatenate([matrix_from_quaternion.unchecked(q[3:]) @ v[:3], self._turning.rate(q[3:], v[3:])])

    def step(self, q: Any, v: Any) -> Any:
        moved = pose_from_twist(v)[:3, 3]
        return np.concatenate([q[:3] + matrix_from_quaternion.unchecked(q[3:]) @ moved, self._turning.step(q[3:], v[3:])])

    def difference(self, start: Any, end: Any) -> Any:
        here, there = pose_from_quaternion.unchecked(start[3:], start[:3]), pose_from_quaternion.unchecked(end[3:], end[:3])
        return twist_from_pose.unchecked(relative_pose.unchecked(here, there))

    @property
    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
