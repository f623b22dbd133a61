"""The inertia matrix of a point mass, diagonalized in closed form: eight rotations.

For a mass m at (xi, eta, zeta), with r^2 = xi^2 + eta^2 and rho^2 = r^2 + zeta^2, two eigenvalues coincide, so x is
free and zero: z+- = (eta +- r)/xi, then u1..u4. Written with half angles, nothing divides by xi, zeta or r. Source:
Mladenova 5.5.1, (191)-(197), the order of the diagonal as in spec E-38a.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.geometry.rotations.homogeneous import compose_homogeneous
from cayley.geometry.tensors.checks import refuse_where


class PointMassRotations(NamedTuple):
    """Unit homogeneous [w : v]; the first axis is the sign of z, + then -."""

    first: Array
    """(2, 4): the rotations (0, 0, z+-), z = first[:, 3] / first[:, 0]."""
    second: Array
    """(2, 4, 4): the rotations (u_i, 0, 0), i = 1..4 along the second axis, u = second[..., 1] / second[..., 0]."""
    composed: Array
    """(2, 4, 4): c = (u, u z, z), the diagonalizing rotations."""
    values: Array
    """(2, 4, 3): the diagonal, m rho^2 times (1, 1, 0) for odd i and (1, 0, 1) for even i."""


def _check_mass(mass: ArrayLike, _: ArrayLike) -> None:
    refuse_where(np.asarray(mass) < 0, "the point mass is {defect:g} kg{element}: no mass is negative", mass)


@kernel("(),(3)->(2,4),(2,4,4),(2,4,4),(2,4,3)", check=_check_mass)
def point_mass_rotations(mass: Scalar, position: Array) -> PointMassRotations:
    """The eight rotations that diagonalize the inertia matrix of a point mass [kg] at a position [m].

    xi = 0, zeta = 0 and a mass on the third axis or in the origin are nothing special: some rotations are then
    half-turns or the identity.

    >>> point_mass_rotations(1.0, [1.0, 2.0, 2.0]).values[0, 0].round(12)   # WE-09
    array([9., 9., 0.])
    """
    xi, eta, zeta = position
    r = np.hypot(xi, eta)
    phi = np.arctan2(xi, eta) / 2
    chi = np.arctan2(r, zeta) / 2
    c = np.cos(phi)
    s = np.sin(phi)
    zero = 0 * mass
    first = np.array([[s, zero, zero, c], [c, zero, zero, -s]])
    steps = np.array([0.0, 1.0, 2.0, -1.0]) * np.pi / 4
    second = [[np.stack([np.cos(chi + step), sign * np.sin(chi + step), zero, zero]) for step in steps]
              for sign in (1, -1)]
    composed = [[compose_homogeneous(first[k], second[k][i]) for i in range(4)] for k in range(2)]
    large = mass * (r * r + zeta * zeta)
    odd = np.stack([large, large, zero])
    even = np.stack([large, zero, large])
    values = [[odd, even, odd, even] for _ in range(2)]
    return PointMassRotations(first, np.stack([np.stack(row) for row in second]),
                              np.stack([np.stack(row) for row in composed]),
                              np.stack([np.stack(row) for row in values]))
