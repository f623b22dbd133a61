"""Projection on, and reflection in, a plane through the origin with the unit normal n.

The projection P = 1 - n n^T (`tensors.projections.plane_projection`) forgets the part along n: P P = P, eigenvalues 0,
1, 1. The reflection T = 1 - 2 n n^T turns it over: T T = 1 and det T = -1, so it is not a rotation and no pose can hold
it. Source: Ruggiu (1.50)-(1.52).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.tensors.projections import perpendicular_part


@kernel("(3)->(3,3)", check=check_unit_axis)
def plane_reflection(n: Array) -> Array:
    """T = 1 - 2 n n^T. Ruggiu (1.52).

    >>> plane_reflection([0.0, 0.6, 0.8]) @ [0.0, 3.0, 4.0]
    array([ 0., -3., -4.])
    """
    return np.eye(3) - 2 * np.outer(n, n)


@kernel("(3),(3)->(3)", check=check_unit_axis)
def project_on_plane(n: Array, point: Array) -> Array:
    """P p = p - (n.p) n. Ruggiu (1.50)-(1.51).

    >>> project_on_plane([0.0, 0.0, 1.0], [1.0, 2.0, 3.0])
    array([1., 2., 0.])
    """
    return perpendicular_part.unchecked(n, point)


@kernel("(3),(3)->(3)", check=check_unit_axis)
def reflect_in_plane(n: Array, point: Array) -> Array:
    """T p = p - 2 (n.p) n. Ruggiu (1.52).

    >>> reflect_in_plane([0.0, 0.0, 1.0], [1.0, 2.0, 3.0])
    array([ 1.,  2., -3.])
    """
    return point - 2 * (n @ point) * n
