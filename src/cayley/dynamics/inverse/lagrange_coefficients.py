"""The coefficients of Lagrange's equations of an open chain at one configuration: D qdd + C(qd, qd) + G = tau."""

from __future__ import annotations

from typing import NamedTuple

from cayley.compiler.typing import Array


class LagrangeCoefficients(NamedTuple):
    """Inertia matrix D (n, n), C[i, j, k] (n, n, n), symmetric in its last two indices, and gravity forces G (n)."""

    D: Array
    C: Array
    G: Array

    def forces(self, qd: Array, qdd: Array) -> Array:
        """The joint forces (n) at velocities and accelerations (n)."""
        return self.D @ qdd + (self.C @ qd) @ qd + self.G
