"""The moments of a mass distribution about the origin of a frame: all that dynamics knows of a rigid body.

    mass     m = integral dm
    first    u = integral r dm
    second   J = integral r r^T dm, the Euler tensor
They add up over bodies, and a change of the frame is one formula. The moments need not be those of a real body: those
of a link whose share was partly given to its neighbour are moments like any others. Source: Balafoutis & Patel
(4.3.4)-(4.3.14); equations (T-3)-(T-4) of docs/developers/theory/tensors.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.tracing.nominal_values import is_present
from cayley.compiler.typing import Array, Scalar
from cayley.model.parts import Body


class Moments(NamedTuple):
    """Mass [kg], first moment (3) [kg m] and Euler tensor (3, 3) [kg m^2] about the origin of a frame, in its axes."""

    mass: Scalar
    first: Array
    second: Array

    @staticmethod
    def of(body: Body) -> Moments:
        """The moments of a body in its own frame; an unknown mass counts as none."""
        return Moments(*body.moments)

    def seen_from(self, R: Array, p: Array) -> Moments:
        """The same distribution in a frame in which this one has the axes `R` and the origin `p`."""
        first = R @ self.first
        crossed = np.outer(first, p)
        return Moments(self.mass, first + self.mass * p,
                       R @ self.second @ R.T + crossed + crossed.T + self.mass * np.outer(p, p))

    def plus(self, other: Moments) -> Moments:
        return Moments(self.mass + other.mass, self.first + other.first, self.second + other.second)

    def minus(self, other: Moments) -> Moments:
        return Moments(self.mass - other.mass, self.first - other.first, self.second - other.second)

    @property
    def inertia(self) -> Array:
        """The inertia tensor (3, 3) about the origin."""
        return np.trace(self.second) * np.eye(3) - self.second

    @property
    def center(self) -> Array:
        """The centre of mass (3); the origin, if there is no mass."""
        return self.first / self.mass if is_present(self.mass) else np.zeros(3)

    @property
    def second_about_center(self) -> Array:
        """The Euler tensor (3, 3) about the centre of mass."""
        return self.second - np.outer(self.first, self.center)

    @property
    def inertia_about_center(self) -> Array:
        centered = self.second_about_center
        return np.trace(centered) * np.eye(3) - centered


NOTHING = Moments(0.0, np.zeros(3), np.zeros((3, 3)))
