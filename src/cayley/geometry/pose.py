"""Poses as a rotation and an origin, for one pose of any scalars; `cayley.geometry.motions` has kernels of 4x4
matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike


class Pose(NamedTuple):
    """A rotation (3, 3) and an origin (3): of frame b in frame a, points are x_a = R x_b + p.

    >>> lifted = Pose(np.eye(3), np.array([0.0, 0.0, 1.0]))
    >>> lifted.then(lifted).p, lifted.inverse.p
    (array([0., 0., 2.]), array([-0., -0., -1.]))
    """

    R: Array
    p: Array

    def then(self, other: Pose) -> Pose:
        """The pose of c in a, of this one of b in a and another of c in b."""
        return Pose(self.R @ other.R, self.p + self.R @ other.p)

    @property
    def inverse(self) -> Pose:
        """The pose of a in b."""
        return Pose(self.R.T, -(self.R.T @ self.p))

    @property
    def matrix(self) -> Array:
        """The pose as a homogeneous matrix (4, 4)."""
        top = np.concatenate([self.R, np.stack([self.p], axis=1)], axis=1)
        return np.concatenate([top, np.array([[0.0, 0.0, 0.0, 1.0]])])

    @staticmethod
    def of(matrix: Array) -> Pose:
        """The pose of a homogeneous matrix (4, 4)."""
        return Pose(matrix[:3, :3], matrix[:3, 3])


HERE = Pose(np.eye(3), np.zeros(3))


def frame_with_z(axis: ArrayLike, x: ArrayLike | None = None) -> Array:
    """A rotation (3, 3) whose z axis is a unit vector, and whose x axis is as near as possible to a direction."""
    z = np.asarray(axis, dtype=float)
    towards = np.eye(3)[0] if x is None else np.asarray(x, dtype=float)
    if np.linalg.norm(np.cross(z, towards)) < 1e-6 * np.linalg.norm(towards):
        towards = np.eye(3)[int(np.argmin(np.abs(z)))]
    across = towards - (towards @ z) * z
    across = across / np.linalg.norm(across)
    return np.stack([across, np.cross(z, across), z], axis=1)
