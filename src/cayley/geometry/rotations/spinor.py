"""The unit spinor of a rotation: two complex numbers that hold the three turned axes.

    psi = (psi1, psi2) = (q3 + i q0, q1 + i q2) = f(q)      of the unit quaternion (q0, q1, q2, q3)

A spinor is a real array (2, 2): psi1 and psi2, each (real part, imaginary part). psi and -psi
are the same rotation. The ratio psi2 / psi1 fixes the third turned axis; the common phase is the turn about that axis.
The map f is linear over the real numbers only (spec E-11).

Source: Mladenova 2.3 (27)-(40), (51)-(58), corrected as in spec E-05 to E-07 and E-11.

Kernels compute with real numbers, so a spinor is an array (2, 2) and a complex 2x2 matrix an array (2, 2, 2). The
functions here serve inside kernels and on arrays with leading axes alike; `as_complex` and `as_real` change to and from
NumPy's complex arrays.

>>> quaternion_from_spinor([[0.5, -0.5], [0.5, 0.5]])
array([-0.5,  0.5,  0.5,  0.5])
>>> pauli_expectations([[0.0, 0.0], [1.0, 0.0]])
array([ 0.,  0., -1.])
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import place, refuse, tolerance_of
from cayley.geometry.formula import formula
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.rotations.quaternion import quaternion_from_matrix

IMAGINARY_UNIT = np.array([0.0, 1.0])


def as_complex(pairs: ArrayLike) -> Array:
    """The complex array (...) of a real array (..., 2).

    >>> as_complex([[1.0, 2.0], [0.0, -1.0]])
    array([1.+2.j, 0.-1.j])
    """
    real: Array = np.asarray(pairs, dtype=np.float64)
    return real[..., 0] + 1j * real[..., 1]


def as_real(numbers: ArrayLike) -> Array:
    """The real array (..., 2) of a complex array (...).

    >>> as_real([1 + 2j, -1j])
    array([[ 1.,  2.],
           [-0., -1.]])
    """
    numbers = np.asarray(numbers, dtype=np.complex128)
    return np.stack([numbers.real, numbers.imag], axis=-1)


def product(a: Array, b: Array) -> Array:
    """a b, element by element."""
    return np.stack([a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1], a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]],
                    axis=-1)


def conjugate(a: Array) -> Array:
    """The complex conjugate, element by element."""
    return np.stack([a[..., 0], -a[..., 1]], axis=-1)


def matrix_product(A: Array, B: Array) -> Array:
    """A B of complex matrices, or of a matrix and a vector."""
    return np.stack([A[..., 0] @ B[..., 0] - A[..., 1] @ B[..., 1], A[..., 0] @ B[..., 1] + A[..., 1] @ B[..., 0]],
                    axis=-1)


def adjoint(A: Array) -> Array:
    """The conjugate transpose of one complex matrix (n, n, 2)."""
    return np.stack([A[..., 0].T, -A[..., 1].T], axis=-1)


def determinant(A: Array) -> Array:
    """The complex determinant of 2x2 matrices (..., 2, 2, 2)."""
    return product(A[..., 0, 0, :], A[..., 1, 1, :]) - product(A[..., 0, 1, :], A[..., 1, 0, :])


def square_norm(a: Array) -> Scalar:
    """The sum of the squared moduli of the last complex axis: psi^+ psi of a spinor."""
    return np.sum(a * a, axis=(-2, -1))


PAULI = as_real(np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]]))
"""sigma_1, sigma_2, sigma_3: shape (3, 2, 2, 2), the last axis (real part, imaginary part)."""


def check_unit_spinor(psi: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` unless every spinor (2, 2) has norm one, within 1e-8 (float32: 1e-4) or `tolerance`.

    >>> check_unit_spinor([[1.0, 0.0], [1.0, 0.0]])
    Traceback (most recent call last):
    cayley.errors.GeometryError: spinor is not a rotation: psi^+ psi = 2, and 1 was expected; divide it by its norm ...
    """
    psi = np.asarray(psi)
    if psi.ndim < 2 or psi.shape[-2:] != (2, 2):
        raise GeometryError(
            f"a spinor must have shape (..., 2, 2), the last axis (real, imaginary), not {psi.shape}: as_real(z) "
            f"makes it so")
    square = square_norm(psi)
    refuse(np.abs(np.sqrt(square) - 1) <= tolerance_of(psi, tolerance), lambda bad:
           f"spinor{place(bad)} is not a rotation: psi^+ psi = {square[bad]:.9g}, and 1 was expected; divide it by "
           "its norm if that is meant")


spinor_from_quaternion = formula(
    "spinor_from_quaternion", "(4)->(2,2)", lambda q: np.array([[q[3], q[0]], [q[1], q[2]]]),
    "f(q) = (q3 + i q0, q1 + i q2), for quaternions of any norm: psi^+ psi = |q|^2. Mladenova (27), (51).")
quaternion_from_spinor = formula("quaternion_from_spinor", "(2,2)->(4)",
                                 lambda psi: np.stack([psi[0, 1], psi[1, 0], psi[1, 1], psi[0, 0]]),
                                 "The quaternion (w, x, y, z) with f(q) = psi; any norm.")


@kernel("(2,2)->(3,3)", check=check_unit_spinor)
def matrix_from_spinor(psi: Array) -> Array:
    """The turned axes, as columns, rebuilt from the spinor. Mladenova (31)-(39), corrected (E-05 to E-07).

    What the check lets pass of the norm is taken away to first order: the result is a rotation to the last digit.

    >>> matrix_from_spinor([[1.0, 0.0], [0.0, 0.0]])      # q = (0, 0, 0, 1), the half-turn about the third axis
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    squares, across = product(psi, psi), product(psi[0], psi[1])
    along = product(conjugate(psi[0]), psi[1])
    total = squares[0] + squares[1]
    difference = squares[1] - squares[0]
    norms = np.sum(psi * psi, axis=1)
    per = 2 - (norms[0] + norms[1])
    first = np.stack([per * difference[0], per * total[1], 2 * per * across[0]])
    second = np.stack([per * difference[1], -per * total[0], 2 * per * across[1]])
    third = np.stack([2 * per * along[0], 2 * per * along[1], per * (norms[0] - norms[1])])
    return np.stack([first, second, third], axis=1)


spinor_from_matrix = formula(
    "spinor_from_matrix", "(3,3)->(2,2)", lambda R: spinor_from_quaternion(quaternion_from_matrix.unchecked(R)),
    "The unit spinor of a rotation matrix; of the two, the one whose quaternion has w >= 0.", check_rotation_matrix)
pauli_expectations = formula(
    "pauli_expectations", "(2,2)->(3)",
    lambda psi: np.stack([np.sum(product(conjugate(psi), matrix_product(sigma, psi))[:, 0]) for sigma in PAULI]),
    "(psi^+ sigma_1 psi, psi^+ sigma_2 psi, psi^+ sigma_3 psi): the third turned axis, times psi^+ psi. Mladenova"
    " (40).")


@kernel("(4)->(2,2,2)")
def spinor_matrix(q: Array) -> Array:
    """Q^ = i q0 1 + q . sigma = [[q3 + i q0, q1 - i q2], [q1 + i q2, -q3 + i q0]], of determinant -|q|^2.

    Mladenova (53), (58), lower right corner corrected as in spec E-11.

    >>> spinor_matrix([0.0, 0.0, 1.0, 0.0])[..., 1]      # sigma_2 is purely imaginary
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    return np.array([[[q[3], q[0]], [q[1], -q[2]]], [[q[1], q[2]], [-q[3], q[0]]]])


spinor_product = formula(
    "spinor_product", "(2,2),(2,2)->(2,2)",
    lambda psi, chi: -product(IMAGINARY_UNIT, matrix_product(spinor_matrix(quaternion_from_spinor(psi)), chi)),
    "f(q p) = -i Q^ f(p), for psi = f(q) and chi = f(p): the rotation p, then q. Q^ has the columns psi and Q^ "
    "(0, 1). Mladenova (57).")
inverse_spinor = formula("inverse_spinor", "(2,2)->(2,2)",
                         lambda psi: np.array([[-psi[0, 0], psi[0, 1]], [-psi[1, 0], -psi[1, 1]]]),
                         "f(q^-1) = (-q3 + i q0, -q1 - i q2) of the unit spinor f(q).")


@kernel("(2,2),(3)->(3)", check=check_unit_spinor)
def rotate_by_spinor(psi: Array, x: Array) -> Array:
    """x turned in spinor algebra alone: f(0, x') = -psi^ (x . sigma) f(q^-1). Mladenova (57)-(60), E-11.

    >>> rotate_by_spinor([[1.0, 0.0], [0.0, 0.0]], [1.0, 2.0, 3.0])   # a half-turn about the third axis
    array([-1., -2.,  3.])
    """
    turn = spinor_matrix(quaternion_from_spinor(psi))
    return -quaternion_from_spinor(matrix_product(turn, matrix_product(spinor_matrix(np.concatenate([np.zeros(1), x])),
                                                                       inverse_spinor(psi))))[1:]
