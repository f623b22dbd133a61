"""SU(2): rotations as unitary 2x2 matrices of determinant 1, acting on spinors and on traceless Hermitian matrices.

    U(q) = q0 - i q . sigma = [[q0 - i q3, -(q2 + i q1)], [q2 - i q1, q0 + i q3]]       psi' = U psi,  X' = U X U^+

A complex matrix is a real array (2, 2, 2), the last axis (real part, imaginary part); see `complex_numbers`.
U and -U are the same rotation. Source: Mladenova 2.3 (49)-(56), corrected as in spec E-11.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.geometry.rotations.complex_numbers import adjoint, determinant, matrix_product, square_norm
from cayley.geometry.rotations.spinor import PAULI


def check_unitary(U: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless U U^+ = 1 and det U = 1 for every matrix (2, 2, 2) of the batch, rows to 1e-8
    (float32: 1e-4).

    >>> check_unitary(PAULI[2])
    Traceback (most recent call last):
    cayley.errors.GeometryError: matrix is not in SU(2): det U = -1+0j; defect 2e+00, 2e-08 is allowed
    """
    U = np.asarray(U)
    if U.ndim < 3 or U.shape[-3:] != (2, 2, 2):
        raise GeometryError(
            f"a complex 2x2 matrix has shape (..., 2, 2, 2), the last axis (real, imaginary), not {U.shape}")
    det = determinant(U)
    off = tolerance_of(U, tolerance)
    allowed = (2 + off) * off  # the determinant and the squares of rows are off by twice as much as their lengths
    # With det U = 1 it is enough that the second row is (-conj b, conj a) of the first row (a, b), and that the rows
    # have length 1.
    mirrored = U[..., 0, ::-1, :] * np.array([[-1.0, 1.0], [1.0, -1.0]]) - U[..., 1, :, :]
    defect = np.maximum(np.maximum(np.abs(det - [1.0, 0.0]).max(axis=-1), np.abs(mirrored).max(axis=(-2, -1))),
                        np.abs(square_norm(U[..., 0, :, :]) - 1))
    bad = first_failure(defect <= allowed)
    if bad is not None:
        value = complex(*det[bad])
        reason = f"det U = {value:.6g}" if not abs(value - 1) <= allowed else "U U^+ is not 1"
        raise GeometryError(
            f"matrix{place(bad)} is not in SU(2): {reason}; defect {defect[bad]:.0e}, {allowed:.0e} is allowed")


@kernel("(4)->(2,2,2)")
def unitary_from_quaternion(q: Array) -> Array:
    """U(q) = q0 - i q . sigma; unitary if q is a unit quaternion, and U(q p) = U(q) U(p). Mladenova (49).

    >>> unitary_from_quaternion([0.0, 0.0, 1.0, 0.0])[..., 0]
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    w, x, y, z = q
    return np.array([[[w, -z], [-y, -x]], [[y, -x], [w, z]]])


@kernel("(2,2,2)->(4)", check=check_unitary)
def quaternion_from_unitary(U: Array) -> Array:
    """(Re z, -Im W, -Re W, -Im z) of U = [[z, W], [-conj W, conj z]]. Mladenova, the inverse of (56).

    >>> quaternion_from_unitary(unitary_from_quaternion([0.5, 0.5, -0.5, 0.5]))
    array([ 0.5,  0.5, -0.5,  0.5])
    """
    return np.stack([U[0, 0, 0], -U[0, 1, 1], -U[0, 1, 0], -U[0, 0, 1]])


def _check_unitaries(*matrices: Array) -> None:
    for U in matrices:
        check_unitary(U)


@kernel("(2,2,2),(2,2,2)->(2,2,2)", check=_check_unitaries)
def compose_unitaries(U: Array, V: Array) -> Array:
    """The matrix product U V: the rotation V, then U.

    >>> half_turn = unitary_from_quaternion([0.0, 1.0, 0.0, 0.0])
    >>> compose_unitaries(half_turn, half_turn)[..., 0] + 0.0      # a whole turn is -1
    array([[-1.,  0.],
           [ 0., -1.]])
    """
    return matrix_product(U, V)


@kernel("(2,2,2),(2,2)->(2,2)", check=check_unitary)
def turn_spinor(U: Array, psi: Array) -> Array:
    """psi' = U psi: with U = U(q) the spinor of a rotation, followed by q. Mladenova (49).

    >>> turn_spinor(unitary_from_quaternion([0.0, 1.0, 0.0, 0.0]), [[0.0, 1.0], [0.0, 0.0]])
    array([[0., 0.],
           [1., 0.]])
    """
    return matrix_product(U, psi)


@kernel("(3)->(2,2,2)")
def hermitian_from_vector(x: Array) -> Array:
    """X = x . sigma, traceless and Hermitian, det X = -|x|^2. Mladenova (54).

    >>> hermitian_from_vector([1.0, 0.0, 3.0])[..., 0]
    array([[ 3.,  1.],
           [ 1., -3.]])
    """
    return np.array([[[x[2], 0.0], [x[0], -x[1]]], [[x[0], x[1]], [-x[2], 0.0]]])


def check_traceless_hermitian(X: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless X = X^+ and tr X = 0 for every matrix (2, 2, 2) of the batch, relative to its size.
    """
    X = np.asarray(X)
    if X.ndim < 3 or X.shape[-3:] != (2, 2, 2):
        raise GeometryError(
            f"a complex 2x2 matrix has shape (..., 2, 2, 2), the last axis (real, imaginary), not {X.shape}")
    vector = np.stack([X[..., 0, 1, 0], X[..., 1, 0, 1], X[..., 0, 0, 0]], axis=-1)
    rebuilt = np.einsum("...k,kabc->...abc", vector, PAULI)
    defect, size = (np.abs(Y).max(axis=(-3, -2, -1)) for Y in (X - rebuilt, X))
    bad = first_failure(defect <= tolerance_of(X, tolerance) * size)
    if bad is not None:
        raise GeometryError(
            f"matrix{place(bad)} is not traceless and Hermitian: it differs from x . sigma by {defect[bad]:.0e}")


@kernel("(2,2,2)->(3)", check=check_traceless_hermitian)
def vector_from_hermitian(X: Array) -> Array:
    """The vector x of X = x . sigma.

    >>> vector_from_hermitian(hermitian_from_vector([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    return np.stack([X[0, 1, 0], X[1, 0, 1], X[0, 0, 0]])


@kernel("(2,2,2),(2,2,2)->(2,2,2)", check=check_unitary)
def turn_hermitian(U: Array, X: Array) -> Array:
    """X' = U X U^+: for X = x . sigma it is (R x) . sigma with the rotation matrix R of U. Mladenova (55).

    >>> half_turn = unitary_from_quaternion([0.0, 0.0, 0.0, 1.0])
    >>> vector_from_hermitian(turn_hermitian(half_turn, hermitian_from_vector([1.0, 2.0, 3.0])))
    array([-1., -2.,  3.])
    """
    return matrix_product(matrix_product(U, X), adjoint(U))
