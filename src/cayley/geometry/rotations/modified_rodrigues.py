"""Modified Rodrigues parameters p = tan(phi/4) e: the stereographic picture of the unit quaternions, finite up to a
whole turn.

Every rotation has two: p and its shadow -p/(p.p), which belongs to -q. Extractions give the shorter, |p| <= 1, which is
1 at a half-turn.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import check_unit_quaternion, matrix_from_quaternion, quaternion_from_matrix


@kernel("(3)->(4)")
def quaternion_from_modified_rodrigues(p: Array) -> Array:
    """(1 - p.p; 2 p)/(1 + p.p).

    >>> quaternion_from_modified_rodrigues([0.0, 0.0, 1.0])
    array([0., 0., 0., 1.])
    """
    square = p @ p
    return np.concatenate([[1.0 - square], 2.0 * p]) / (1.0 + square)


@kernel("(4)->(3)", check=check_unit_quaternion)
def modified_rodrigues_from_quaternion(q: Array) -> Array:
    """(x, y, z)/(1 + w), for that one of q and -q whose scalar part is not negative.

    >>> modified_rodrigues_from_quaternion([0.0, 0.6, 0.0, 0.8])
    array([0.6, 0. , 0.8])
    """
    return q[1:] / where(q[0] < 0, q[0] - 1.0, q[0] + 1.0)


@kernel("(3)->(3,3)")
def matrix_from_modified_rodrigues(p: Array) -> Array:
    """The rotation matrix of p = tan(phi/4) e.

    >>> matrix_from_modified_rodrigues([0.0, 0.0, 1.0])
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    return matrix_from_quaternion.unchecked(quaternion_from_modified_rodrigues(p))


@kernel("(3,3)->(3)", check=check_rotation_matrix)
def modified_rodrigues_from_matrix(R: Array) -> Array:
    """The shorter p = tan(phi/4) e of a rotation matrix.

    >>> modified_rodrigues_from_matrix(np.diag([-1.0, -1.0, 1.0]))
    array([0., 0., 1.])
    """
    return modified_rodrigues_from_quaternion.unchecked(quaternion_from_matrix.unchecked(R))
