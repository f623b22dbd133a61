"""Rotation matrices: elementary rotations, validity, projection, composition, distance.

    R       3x3, orthogonal, determinant +1; `R_ab` turns components in frame b into components in frame a
    defect  the largest element of |R^T R - 1| and |det R - 1|

Sources: Ruggiu 1.2 (1.1)-(1.15); Yamamoto 1.1, 1.2 (1.1)-(1.7).

>>> round(float(angle_between_rotations(rotation_x(0.1), rotation_x(0.4))), 15)
0.3
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import float_array, place, refuse, shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.scaling import largest_component, length


@kernel("()->(3,3)")
def rotation_x(angle: Scalar) -> Array:
    """The matrix of the rotation about the x axis. Ruggiu (1.6), Yamamoto (1.6).

    >>> (rotation_x(np.pi / 2) @ [0.0, 1.0, 0.0]).round(15)
    array([0., 0., 1.])
    """
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


@kernel("()->(3,3)")
def rotation_y(angle: Scalar) -> Array:
    """The matrix of the rotation about the y axis. Ruggiu (1.7), Yamamoto (1.7).

    >>> (rotation_y(np.pi / 2) @ [0.0, 0.0, 1.0]).round(15)
    array([1., 0., 0.])
    """
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


@kernel("()->(3,3)")
def rotation_z(angle: Scalar) -> Array:
    """The matrix of the rotation about the z axis. Ruggiu (1.5), Yamamoto (1.5).

    >>> (rotation_z(np.pi / 2) @ [1.0, 0.0, 0.0]).round(15)
    array([0., 1., 0.])
    """
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@kernel("(3,3)->()")
def rotation_defect(R: Array) -> Scalar:
    """The distance of a matrix from a rotation: the largest element of |R^T R - 1| and |det R - 1|; 2 for a reflection.

    >>> float(rotation_defect(np.diag([1.0, 1.0, -1.0])))
    2.0
    """
    gram = R.T @ R
    return largest_component([gram[i, j] - (i == j) for i in range(3) for j in range(i, 3)] + [np.linalg.det(R) - 1.0])


def check_rotation_matrix(R: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless every matrix is a rotation, and say what it is: NaN, reflection, scaled, drifted.

    The defect (see `rotation_defect`) may be 1e-8, for float32 1e-4, or `tolerance`. Arguments after the first are
    ignored.

    >>> check_rotation_matrix(1.001 * np.eye(3))
    Traceback (most recent call last):
    cayley.errors.GeometryError: matrix is not a rotation: it is scaled by 1.001; defect 3e-03, 1e-08 is allowed. If ...
    """
    R = shaped(R, (3, 3), "a rotation matrix")
    allowed = tolerance_of(R, tolerance)
    defect = rotation_defect(R)
    refuse(defect <= allowed, lambda bad:
           f"matrix{place(bad)} is not a rotation: {_what_is_wrong(R[bad])}; defect {defect[bad]:.0e}, {allowed:.0e} "
           "is allowed. If it is meant to be one, nearest_rotation(matrix) gives the closest")


def _what_is_wrong(R: Array) -> str:
    if not np.isfinite(R).all():
        return "it has elements that are NaN or infinite"
    determinant = float(np.linalg.det(R))
    size = abs(determinant) ** (1 / 3)
    if size > 0 and np.allclose(R.T @ R / size**2, np.eye(3), rtol=0, atol=1e-6):
        reflected = ["it is a reflection (its determinant is negative)"] if determinant < 0 else []
        scaled = [f"it is scaled by {size:.7g}"] if abs(size - 1) > 1e-6 else []
        if reflected or scaled:
            return " and ".join(reflected + scaled)
    return f"its columns are not orthonormal (its determinant is {determinant:.7g})"


def nearest_rotation(M: ArrayLike) -> Array:
    """The rotation closest to each 3x3 matrix in the Frobenius norm, determinant +1. Any leading axes.

    With M = U diag(s) V^T it is U diag(1, 1, det(U V^T)) V^T. `GeometryError` where it is not unique: rank one or zero,
    or a reflection whose two smallest singular values are equal. `rotation_defect(M)` says how far M was.

    >>> nearest_rotation([[0.0, -2.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    M = float_array(M)
    if M.ndim < 2 or M.shape[-2:] != (3, 3):
        raise GeometryError(f"nearest_rotation takes matrices of shape (..., 3, 3), not {M.shape}")
    refuse(np.isfinite(M).all(axis=(-2, -1)), lambda bad:
           f"matrix{place(bad)} has no nearest rotation: it has elements that are NaN or infinite")
    U, s, Vt = np.linalg.svd(M)
    hand = np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    refuse(s[..., 1] + hand * s[..., 2] > 4096 * np.finfo(M.dtype).eps * s[..., 0], lambda bad:
           f"matrix{place(bad)} has no unique nearest rotation: its singular values are {s[bad]} and its determinant "
           f"is {np.linalg.det(M[bad]):.3g}")
    U[..., 2] *= hand[..., None]
    return U @ Vt


@kernel("(3,3)->()", check=check_rotation_matrix)
def rotation_angle(R: Array) -> Scalar:
    """The angle of the rotation [rad], from 0 to pi, accurate at both ends (to 1e-154, float32: 1e-19, next to zero).

    Its slope at the identity, a corner, is given as zero.

    >>> float(rotation_angle(np.diag([-1.0, -1.0, 1.0]))) == np.pi
    True
    """
    return np.arctan2(length(np.stack([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])), np.trace(R) - 1.0)


def check_rotation_matrices(*matrices: Array) -> None:
    """`check_rotation_matrix` for several."""
    for R in matrices:
        check_rotation_matrix(R)


angle_between_rotations = formula(
    "angle_between_rotations", "(3,3),(3,3)->()", lambda A, B: rotation_angle.unchecked(A.T @ B),
    "The angle [rad] of the rotation A^T B from one attitude to the other, from 0 to pi.", check_rotation_matrices)


@kernel("(3,3),(3,3)->(3,3)", check=check_rotation_matrices)
def compose_rotations(R_ab: Array, R_bc: Array) -> Array:
    """R_ac, the matrix product: frame c seen from b, and b from a. The defects of the factors add up. Yamamoto (1.4).

    >>> np.allclose(compose_rotations(rotation_z(0.1), rotation_z(0.2)), rotation_z(0.3), rtol=0, atol=1e-15)
    True
    """
    return R_ab @ R_bc
