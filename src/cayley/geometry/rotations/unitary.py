"""SU(2): rotations as unitary 2x2 matrices of determinant 1, acting on spinors, Hermitian matrices and the sphere.

    U(q) = q0 - i q . sigma = [[q0 - i q3, -(q2 + i q1)], [q2 - i q1, q0 + i q3]]       psi' = U psi,  X' = U X U^+

A complex matrix is a real array (2, 2, 2), the last axis (real part, imaginary part).
U and -U are the same rotation. Source: Mladenova 2.3 (49)-(56), corrected as in spec E-11.

Stereographic projection: a point a of the unit sphere is projected from the south pole (0, 0, -1) onto the equatorial
plane: xi = (a1 + i a2) / (1 + a3). The south pole itself is xi = infinity. To make it a value like every other, xi is
held as a ratio [z1 : z2] with xi = z2 / z1, an array (2, 2) of two complex numbers, each (real part, imaginary part); a
common factor means nothing. The spinor of a rotation is such a ratio: that of its third turned axis.

Source: Mladenova 2.3 (41)-(48), corrected as in spec E-08 to E-10.

>>> quaternion_from_unitary(unitary_from_quaternion([0.5, 0.5, -0.5, 0.5]))
array([ 0.5,  0.5, -0.5,  0.5])
>>> quaternion_from_cayley_klein(cayley_klein_from_quaternion([0.5, 0.5, -0.5, 0.5]))
array([ 0.5,  0.5, -0.5,  0.5])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, refuse, shaped, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.rotations.quaternion import check_unit_quaternion
from cayley.geometry.rotations.spinor import (
    PAULI,
    as_complex,
    as_real,
    conjugate,
    determinant,
    matrix_product,
    product,
    square_norm,
)
from cayley.geometry.scaling import largest_component, scaling
from cayley.geometry.tensors.checks import check_unit_vector


def check_unitary(U: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless U U^+ = 1 and det U = 1 for every matrix (2, 2, 2), to 1e-8 (float32: 1e-4).

    >>> check_unitary(PAULI[2])
    Traceback (most recent call last):
    cayley.errors.GeometryError: matrix is not in SU(2): det U = -1+0j; defect 2e+00, 2e-08 is allowed
    """
    U = shaped(U, (2, 2, 2), "a complex 2x2 matrix", ", the last axis (real, imaginary)")
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


quaternion_from_unitary = formula(
    "quaternion_from_unitary", "(2,2,2)->(4)", lambda U: np.stack([U[0, 0, 0], -U[0, 1, 1], -U[0, 1, 0], -U[0, 0, 1]]),
    "(Re z, -Im W, -Re W, -Im z) of U = [[z, W], [-conj W, conj z]]. Mladenova, the inverse of (56).", check_unitary)


def _check_unitaries(*matrices: Array) -> None:
    for U in matrices:
        check_unitary(U)


compose_unitaries = formula("compose_unitaries", "(2,2,2),(2,2,2)->(2,2,2)", lambda U, V: matrix_product(U, V),
                            "The matrix product U V: the rotation V, then U.", _check_unitaries)
hermitian_from_vector = formula("hermitian_from_vector", "(3)->(2,2,2)",
                                lambda x: np.array([[[x[2], 0.0], [x[0], -x[1]]], [[x[0], x[1]], [-x[2], 0.0]]]),
                                "X = x . sigma, traceless and Hermitian, det X = -|x|^2. Mladenova (54).")


def check_traceless_hermitian(X: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless X = X^+ and tr X = 0 for every matrix (2, 2, 2) of a batch, relative to its size."""
    X = shaped(X, (2, 2, 2), "a complex 2x2 matrix", ", the last axis (real, imaginary)")
    vector = np.stack([X[..., 0, 1, 0], X[..., 1, 0, 1], X[..., 0, 0, 0]], axis=-1)
    rebuilt = np.einsum("...k,kabc->...abc", vector, PAULI)
    defect, size = (np.abs(Y).max(axis=(-3, -2, -1)) for Y in (X - rebuilt, X))
    refuse(defect <= tolerance_of(X, tolerance) * size, lambda bad:
           f"matrix{place(bad)} is not traceless and Hermitian: it differs from x . sigma by {defect[bad]:.0e}")


vector_from_hermitian = formula("vector_from_hermitian", "(2,2,2)->(3)",
                                lambda X: np.stack([X[0, 1, 0], X[1, 0, 1], X[0, 0, 0]]),
                                "The vector x of X = x . sigma.", check_traceless_hermitian)


@kernel("(3)->(2,2)", check=check_unit_vector)
def ratio_from_point(a: Array) -> Array:
    """[z1 : z2] of a point of the unit sphere, of norm one; [0 : 1] at the south pole. Mladenova (41), (44).

    >>> ratio_from_point([0.0, 0.0, -1.0]) + 0.0
    array([[0., 0.],
           [1., 0.]])
    """
    north = a[2] >= 0
    near = 1 + where(north, a[2], -a[2])
    plane, real = np.stack([a[0], a[1]]), np.stack([near, 0.0 * near])
    z = where(north, np.stack([real, plane]), np.stack([conjugate(plane), real]))
    return z / np.sqrt(2 * near)


def check_ratio(z: ArrayLike, *_: object) -> None:
    """Raise `GeometryError` where [z1 : z2] is [0 : 0] or not finite, which is no point at all."""
    z = shaped(z, (2, 2), "a ratio [z1 : z2]", ", the last axis (real, imaginary)")
    refuse(np.isfinite(z).all(axis=(-2, -1)) & (z != 0).any(axis=(-2, -1)), lambda bad:
           f"ratio{place(bad)} is {z[bad].tolist()}: [0 : 0] and NaN are no point of the sphere; infinity is [0 : 1]")


@kernel("(2,2)->(3)", check=check_ratio)
def point_from_ratio(z: Array) -> Array:
    """The point of the unit sphere with xi = z2 / z1, of any scale. Mladenova (45)-(47).

    >>> point_from_ratio([[0.0, 0.0], [0.0, 7.0]])
    array([ 0.,  0., -1.])
    """
    z = scaling(largest_component(z.ravel())) * z
    plane = 2 * product(conjugate(z[0]), z[1])
    first, second = np.sum(z[0] * z[0]), np.sum(z[1] * z[1])
    return np.stack([plane[0], plane[1], first - second]) / (first + second)


@kernel("(4)->(2,2,2)", check=check_unit_quaternion)
def cayley_klein_from_quaternion(q: Array) -> Array:
    """[[alpha, beta], [gamma, delta]] of xi' = (alpha xi + beta) / (gamma xi + delta). Mladenova (48), spec E-10.

    alpha = q0 + i q3, beta = q2 - i q1, gamma = -(q2 + i q1), delta = q0 - i q3.

    >>> cayley_klein_from_quaternion([0.0, 1.0, 0.0, 0.0])[..., 1] + 0.0      # the half-turn about x takes xi to 1 / xi
    array([[ 0., -1.],
           [-1.,  0.]])
    """
    w, x, y, z = q
    return np.array([[[w, z], [y, -x]], [[-y, -x], [w, -z]]])


quaternion_from_cayley_klein = formula(
    "quaternion_from_cayley_klein", "(2,2,2)->(4)",
    lambda M: np.stack([M[0, 0, 0], -M[0, 1, 1], M[0, 1, 0], M[0, 0, 1]]),
    "The unit quaternion of the Cayley-Klein parameters [[alpha, beta], [gamma, delta]].", check_unitary)


fractional_linear = formula(
    "fractional_linear", "(2,2,2),(2,2)->(2,2)", lambda M, z: matrix_product(M, z[::-1])[::-1],
    "[z1' : z2'] with xi' = (alpha xi + beta) / (gamma xi + delta) of xi = z2 / z1, without a division.")


def xi_from_ratio(z: ArrayLike) -> Array:
    """The complex xi = z2 / z1 (...) of ratios (..., 2, 2); where z1 = 0 NumPy's complex infinity, inf + 0j.

    >>> xi_from_ratio([[1.0, 0.0], [0.0, 2.0]])
    array(0.+2.j)
    """
    check_ratio(z)
    z = as_complex(z)
    infinite = z[..., 0] == 0
    return np.where(infinite, np.inf, z[..., 1] / np.where(infinite, 1, z[..., 0]))


def ratio_from_xi(xi: ArrayLike) -> Array:
    """The ratios [1 : xi] (..., 2, 2) of complex numbers (...), [0 : 1] where xi is infinite.

    >>> ratio_from_xi(np.inf)
    array([[0., 0.],
           [1., 0.]])
    """
    xi = np.asarray(xi, dtype=np.complex128)
    infinite = np.isinf(xi)
    return as_real(np.stack([np.where(infinite, 0, 1), np.where(infinite, 1, xi)], axis=-1))
