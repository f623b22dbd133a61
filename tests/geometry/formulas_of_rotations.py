"""Formulas of rotations that one product of matrices, or one other function, says."""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations.homogeneous import check_homogeneous, rotate_by_homogeneous
from cayley.geometry.rotations.matrix import check_rotation_matrices, check_rotation_matrix
from cayley.geometry.rotations.spinor import (
    adjoint,
    matrix_product,
    product,
)
from cayley.geometry.rotations.unitary import check_unitary
from cayley.geometry.rotations.vector_parameter import check_vector_parameters, rotate_by_vector_parameter


@kernel("(3,3),(3,3)->(3,3)", check=check_rotation_matrices)
def direction_cosines(axes_a: Array, axes_b: Array) -> Array:
    """R_ab, the nine scalar products of the axes of two frames, given as the columns of two matrices in any common
    frame. Ruggiu (1.2).
    """
    return axes_a.T @ axes_b


@kernel("(3,3),(3)->(3)", check=check_rotation_matrix)
def components_along_axes(axes: Array, vector: Array) -> Array:
    """The projections of a vector on the axes of a frame, which are the columns of `axes`. Ruggiu 1.1."""
    return axes.T @ vector


@kernel("(4),(4)->(4)", check=check_homogeneous)
def conjugate_homogeneous(a: Array, b: Array) -> Array:
    """a b a^-1: the rotation b about an axis that a has turned, with the sign and size of b. Half-turns of either kind
    are nothing special.
    """
    return np.concatenate([[b[0]], rotate_by_homogeneous.unchecked(a, b[1:])])


@kernel("(3,3)->(3,3)", check=check_rotation_matrix)
def inverse_rotation(R_ab: Array) -> Array:
    """R_ba: the transpose, which is the inverse of a rotation. Ruggiu (1.4), Yamamoto (1.3)."""
    return R_ab.T


@kernel("(2,2),()->(2,2)")
def spinor_with_phase(psi: Array, phase: Scalar) -> Array:
    """exp(i phase) psi: the same third axis, the other two turned about it by -2 phase. A phase of pi changes no
    rotation.
    """
    return product(psi, np.stack([np.cos(phase), np.sin(phase)]))


@kernel("(2,2,2),(2,2)->(2,2)", check=check_unitary)
def turn_spinor(U: Array, psi: Array) -> Array:
    """psi' = U psi: with U = U(q) the spinor of a rotation, followed by q. Mladenova (49)."""
    return matrix_product(U, psi)


@kernel("(2,2,2),(2,2,2)->(2,2,2)", check=check_unitary)
def turn_hermitian(U: Array, X: Array) -> Array:
    """X' = U X U^+: for X = x . sigma it is (R x) . sigma with the rotation matrix R of U. Mladenova (55)."""
    return matrix_product(matrix_product(U, X), adjoint(U))


@kernel("(3)->(3)")
def inverse_vector_parameter(c: Array) -> Array:
    """-c."""
    return -c


@kernel("(3),(3)->(3)", check=check_vector_parameters)
def conjugate_vector_parameter(a: Array, c: Array) -> Array:
    """<a, c, -a> = O(a) c: the rotation c about an axis that a has turned. Never singular. Mladenova, after (67)."""
    return rotate_by_vector_parameter(a, c)
