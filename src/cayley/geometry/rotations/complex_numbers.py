"""Complex numbers in real arrays: a trailing axis of two, (real part, imaginary part).

Kernels compute with real numbers, so a spinor is an array (2, 2) and a complex 2x2 matrix an array (2, 2, 2). The
functions here serve inside kernels and on arrays with leading axes alike; `as_complex` and `as_real` change to and from
NumPy's complex arrays.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar

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
