"""Manifolds of the values of a block of the state: plain vectors, unit quaternions, or whatever a class says of itself.

A manifold has coordinates, which are stored, and tangents, which are what velocities and small displacements are. The
derivative of a block is a tangent. Another manifold is another class with these members."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.errors import GeometryError
from cayley.geometry.rotations.quaternion import quaternion_conjugate, quaternion_product
from cayley.geometry.rotations.rotation_vector import quaternion_from_rotation_vector, rotation_vector_from_quaternion
from cayley.geometry.tensors.cross import hat

Shape: TypeAlias = tuple[int, ...]


class Manifold:
    """Vectors: coordinates and tangents are the same. The texts are for one value."""

    curved = False  # whether coordinates must be brought back to it

    def tangent(self, shape: Shape) -> Shape:
        """The shape of tangents, given that of the coordinates."""
        return shape

    def rate(self, x: Array, d: Array) -> Array:
        """The time derivative of the coordinates of a point that moves with the velocity `d`."""
        return d

    def step(self, x: Array, d: Array) -> Array:
        """The point to which the constant velocity `d` leads in unit time."""
        return x + d

    def turning(self, d: Array) -> Array:
        """The rate at which the components of a velocity `d` that does not turn change with its axes, with the opposite
        sign; zero for vectors."""
        return np.zeros(np.shape(d))

    def straight(self, x: Array, d: Array, h: Scalar) -> tuple[Array, Array]:
        """The point that a velocity `d` reaches in a time `h` without turning, and the velocity in the axes there."""
        return self.step(x, h * d), d

    def difference(self, start: Array, end: Array) -> Array:
        """The tangent whose step leads from one point to another."""
        return end - start

    def perturbation_rate(self, d: Array) -> Array:
        """The rate of the difference of two near points that both have the velocity `d`: the matrix (n, n) of its rate,
        zero for vectors."""
        return np.zeros((np.size(d), np.size(d)))

    def projected(self, x: Array) -> Array:
        """The nearest point on the manifold."""
        return x

    def nearest(self, values: Array) -> Array:
        """The same for numbers (..., *shape)."""
        return values

    def check(self, values: Array, what: str) -> None:
        """Refuse numbers (..., *shape) that are no points of it."""
        if not np.isfinite(values).all():
            raise GeometryError(f"{what} must be finite: {values.tolist()}")


class UnitQuaternion(Manifold):
    """Orientations (w, x, y, z); tangents (3) are angular velocities in the axes of the body.

    >>> UnitQuaternion().step(np.array([1.0, 0.0, 0.0, 0.0]), np.array([np.pi, 0.0, 0.0])).round(12)
    array([0., 1., 0., 0.])
    """

    curved = True

    def tangent(self, shape: Shape) -> Shape:
        if shape != (4,):
            raise GeometryError(f"a unit quaternion has the shape (4,), not {shape}")
        return (3,)

    def rate(self, x: Array, d: Array) -> Array:
        return quaternion_product.unchecked(x, np.concatenate([np.zeros(1), d / 2]))

    def step(self, x: Array, d: Array) -> Array:
        return quaternion_product.unchecked(x, quaternion_from_rotation_vector.unchecked(d))

    def difference(self, start: Array, end: Array) -> Array:
        between = quaternion_product.unchecked(quaternion_conjugate.unchecked(start), end)
        return rotation_vector_from_quaternion.unchecked(between)

    def perturbation_rate(self, d: Array) -> Array:
        return -hat(d)

    def projected(self, x: Array) -> Array:
        return x / np.sqrt(x @ x)

    def nearest(self, values: Array) -> Array:
        return values / np.linalg.norm(values, axis=-1, keepdims=True)

    def check(self, values: Array, what: str) -> None:
        super().check(values, what)
        lengths = np.linalg.norm(values, axis=-1)
        tolerance = 1e-5 if values.dtype == np.float32 else 1e-8
        if (np.abs(lengths - 1) > tolerance).any():
            worst = lengths.ravel()[np.argmax(np.abs(lengths - 1))]
            raise GeometryError(
                f"{what} must be a unit quaternion (w, x, y, z); its length is {worst:.9g}: divide by it")


VECTOR = Manifold()
UNIT_QUATERNION = UnitQuaternion()
