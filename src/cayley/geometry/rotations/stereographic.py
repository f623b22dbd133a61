"""The sphere as the complex plane with infinity, and rotations as fractional-linear maps of it (Cayley-Klein
parameters).

A point a of the unit sphere is projected from the south pole (0, 0, -1) onto the equatorial plane: xi = (a1 + i a2) /
(1 + a3). The south pole itself is xi = infinity. To make it a value like every other, xi is held as a ratio [z1 : z2]
with xi = z2 / z1, an array (2, 2) of two complex numbers, each (real part, imaginary part); a common factor means
nothing. The spinor of a rotation is such a ratio: that of its third turned axis.

Source: Mladenova 2.3 (41)-(48), corrected as in spec E-08 to E-10.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place
from cayley.geometry.rotations.complex_numbers import as_complex, as_real, conjugate, matrix_product, product
from cayley.geometry.rotations.quaternion import check_unit_quaternion
from cayley.geometry.rotations.unitary import check_unitary
from cayley.geometry.scaling import largest_component, scaling
from cayley.geometry.tensors.checks import check_unit_vector


@kernel("(3)->(2,2)", check=check_unit_vector)
def ratio_from_point(a: Array) -> Array:
    """[z1 : z2] of a point of the unit sphere, with |z1|^2 + |z2|^2 = 1; [0 : 1] at the south pole. Mladenova (41),
    (44).

    >>> ratio_from_point([0.0, 0.0, -1.0]) + 0.0
    array([[0., 0.],
           [1., 0.]])
    """
    north = a[2] >= 0
    near = 1 + where(north, a[2], -a[2])
    plane = np.stack([a[0], a[1]])
    real = np.stack([near, 0.0 * near])
    z = where(north, np.stack([real, plane]), np.stack([conjugate(plane), real]))
    return z / np.sqrt(2 * near)


def check_ratio(z: ArrayLike, *_: object) -> None:
    """Raise `GeometryError` where [z1 : z2] is [0 : 0] or not finite, which is no point at all."""
    z = np.asarray(z)
    if z.ndim < 2 or z.shape[-2:] != (2, 2):
        raise GeometryError(f"a ratio [z1 : z2] has shape (..., 2, 2), the last axis (real, imaginary), not {z.shape}")
    bad = first_failure(np.isfinite(z).all(axis=(-2, -1)) & (z != 0).any(axis=(-2, -1)))
    if bad is not None:
        raise GeometryError(
            f"ratio{place(bad)} is {z[bad].tolist()}: [0 : 0] and NaN are no point of the sphere; infinity is [0 : 1]")


@kernel("(2,2)->(3)", check=check_ratio)
def point_from_ratio(z: Array) -> Array:
    """The point of the unit sphere with xi = z2 / z1, of any scale. Mladenova (45)-(47).

    >>> point_from_ratio([[0.0, 0.0], [0.0, 7.0]])
    array([ 0.,  0., -1.])
    """
    z = scaling(largest_component(z.ravel())) * z
    plane = 2 * product(conjugate(z[0]), z[1])
    first = np.sum(z[0] * z[0])
    second = np.sum(z[1] * z[1])
    return np.stack([plane[0], plane[1], first - second]) / (first + second)


@kernel("(4)->(2,2,2)", check=check_unit_quaternion)
def cayley_klein_from_quaternion(q: Array) -> Array:
    """[[alpha, beta], [gamma, delta]] of xi' = (alpha xi + beta) / (gamma xi + delta), of determinant 1. Mladenova
    (48), spec E-10.

    alpha = q0 + i q3, beta = q2 - i q1, gamma = -(q2 + i q1), delta = q0 - i q3.

    >>> cayley_klein_from_quaternion([0.0, 1.0, 0.0, 0.0])[..., 1] + 0.0      # the half-turn about x takes xi to 1 / xi
    array([[ 0., -1.],
           [-1.,  0.]])
    """
    w, x, y, z = q
    return np.array([[[w, z], [y, -x]], [[-y, -x], [w, -z]]])


@kernel("(2,2,2)->(4)", check=check_unitary)
def quaternion_from_cayley_klein(M: Array) -> Array:
    """The unit quaternion of the Cayley-Klein parameters [[alpha, beta], [gamma, delta]].

    >>> quaternion_from_cayley_klein(cayley_klein_from_quaternion([0.5, 0.5, -0.5, 0.5]))
    array([ 0.5,  0.5, -0.5,  0.5])
    """
    return np.stack([M[0, 0, 0], -M[0, 1, 1], M[0, 1, 0], M[0, 0, 1]])


@kernel("(2,2,2),(2,2)->(2,2)")
def fractional_linear(M: Array, z: Array) -> Array:
    """[z1' : z2'] with xi' = (alpha xi + beta) / (gamma xi + delta) of xi = z2 / z1: nothing is divided, infinity needs
    no care.

    >>> half_turn = cayley_klein_from_quaternion([0.0, 1.0, 0.0, 0.0])
    >>> xi_from_ratio(fractional_linear(half_turn, ratio_from_xi([0.0, np.inf, 2.0]))) + 0.0
    array([inf+0.j, 0. +0.j, 0.5+0.j])
    """
    return matrix_product(M, z[::-1])[::-1]


def xi_from_ratio(z: ArrayLike) -> Array:
    """The complex numbers xi = z2 / z1 (...) of ratios (..., 2, 2), where z1 = 0 the complex infinity of NumPy, inf +
    0j.

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
