"""Contact points: their gaps, places and axes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar

FAR = 1e3  # the gap [m] of a point that is not there
_TINY = 1e-24  # [m^2]
_TURN = -0.41  # the z of normals where the tangents change: no wall, floor or ceiling has it


class Spot(NamedTuple):
    """One contact point: the signed distance [m], its place (3) midway between the two surfaces, and as rows of `axes`
    (3, 3) two tangents and the normal from the first shape to the second, in the root's axes."""

    gap: Scalar
    position: Array
    axes: Array

    def turned(self) -> Spot:
        """The same point with first and second shape exchanged; the axes stay right-handed."""
        return Spot(self.gap, self.position, np.stack([self.axes[1], self.axes[0], -self.axes[2]]))


def axes_about(normal: Array) -> Array:
    """Rows (3, 3): two tangents, and the unit normal (3). They depend on the normal smoothly but where its z is -0.41.
    Source: Duff et al., Building an orthonormal basis, revisited (2017), with the change at another height."""
    x, y, z = normal
    s = where(z > _TURN, 1.0, -1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    return np.stack([np.stack([1.0 + s * x * x * a, s * b, -s * x]), np.stack([b, s + y * y * a, -y]), normal])


def direction_of(way: Array, otherwise: Array) -> tuple[Scalar, Array]:
    """The length of a vector (3) and its direction; where it has none, zero and another direction."""
    square = way @ way
    is_there = square > _TINY
    length = np.sqrt(where(is_there, square, 1.0))
    return where(is_there, length, 0.0), where(is_there, way / length, otherwise)


def between_balls(first: Array, second: Array, radii: tuple[float, float], otherwise: Array) -> Spot:
    """The contact point of two balls about points (3); along another direction where these are one."""
    length, normal = direction_of(second - first, otherwise)
    gap = length - radii[0] - radii[1]
    return Spot(gap, first + (radii[0] + 0.5 * gap) * normal, axes_about(normal))
