"""Single entries of the inertia matrix of open chains in closed form: the Euler-Lagrange formulation.

In any common axes, here the root's, for j <= i:

    z_i   axis of joint i            s    from the origin of link j to that of link i
    mb, U, E   mass, first moment and inertia tensor of links i to n, frozen together, about the origin of link i

    j, i turn             z_j . (E - S(s) S(U)) z_i        j turns, i slides     z_j . (S(U) + mb S(s)) z_i
    j slides, i turns     z_j . (z_i x U)                  j, i slide            mb z_j . z_i
Source: Balafoutis & Patel (6.3.42)-(6.3.46), without the transposes of (6.3.43) as in spec E-11; prismatic joints as in
spec R5."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inertia_matrix.solve import mirrored
from cayley.dynamics.inverse.generalized_links import GeneralizedLink, generalized_links
from cayley.dynamics.rigid_links.links import Links


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (n, n) at the configuration `q`."""
    joints = generalized_links(links, q)
    return mirrored([[_entry(joints[j], joints[i]) for j in range(i + 1)] for i in range(len(joints))])


def entry(links: Links, q: Array, j: int, i: int) -> Scalar:
    """The entry of row j and column i alone, counted from 0; the matrix is symmetric."""
    joints = generalized_links(links, q)
    return _entry(joints[min(j, i)], joints[max(j, i)])


def _entry(row: GeneralizedLink, column: GeneralizedLink) -> Scalar:
    s = column.p - row.p
    (_, z, _, mass, U, E) = column
    if row.turns and column.turns:
        return row.z @ (E @ z - np.cross(s, np.cross(U, z)))  # (6.3.44)
    if row.turns:
        return row.z @ (np.cross(U, z) + mass * np.cross(s, z))
    return row.z @ (np.cross(z, U) if column.turns else mass * z)
