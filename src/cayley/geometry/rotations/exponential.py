"""Rotations as exponentials of skew matrices: the series, its truncation, and the closed form that Cayley-Hamilton
gives.

For a skew matrix A with vector a, A^3 = -|a|^2 A, so that every power is a multiple of A or A^2 and the series closes:

    exp(A) = 1 + (sin t / t) A + ((1 - cos t) / t^2) A^2,  t = |a|

Source: Ruggiu 1.2.3, (1.20)-(1.24), the rule for even powers corrected as in spec E-34.

The linear invariants of a rotation are vect(Q) = sin(phi) e and tr(Q) = 1 + 2 cos(phi). Source: Ruggiu 1.2.5,
(1.36)-(1.37) and Fig. 1.10, in the form that keeps its digits near 0 and near a half-turn (spec S2-10)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.rotations.axis_angle import check_unit_axis
from cayley.geometry.rotations.even_functions import sine_ratio, versine_ratio
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.scaling import direction, nearly_unit
from cayley.geometry.tensors.checks import check_skew
from cayley.geometry.tensors.cross import hat, vee
from cayley.geometry.tensors.products import skew_part, symmetric_part


@kernel("(3),()->(3,3)", check=check_unit_axis)
def matrix_by_cayley_hamilton(axis: Array, angle: Scalar) -> Array:
    """1 + sin(angle) E + (1 - cos(angle)) E^2, with E = hat(axis) of a unit axis; angle in rad. Ruggiu (1.24).

    >>> matrix_by_cayley_hamilton([0.0, 0.0, 1.0], np.pi).round(15) + 0.0
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    E = hat(nearly_unit(axis))
    half = np.sin(angle / 2)
    return np.eye(3) + np.sin(angle) * E + 2 * half * half * (E @ E)


@kernel("(3,3)->(3,3)", check=check_skew)
def exponential_of_skew(A: Array) -> Array:
    """exp(A) of any skew 3x3, a rotation by |a| [rad] about its vector a; smooth at zero.

    >>> exponential_of_skew(np.pi / 2 * hat([1.0, 0.0, 0.0])).round(15)
    array([[ 1.,  0.,  0.],
           [ 0.,  0., -1.],
           [ 0.,  1.,  0.]])
    """
    a = vee(A)
    A = hat(a)
    square = a @ a
    return np.eye(3) + sine_ratio(square) * A + versine_ratio(square) * (A @ A)


def exponential_series(A: ArrayLike, *, order: int) -> Array:
    """1 + A + A^2/2! + ... + A^order/order! of skew matrices (..., 3, 3). Ruggiu (1.20)-(1.22).

    The error is about |a|^(order + 1) / (order + 1)!. `exponential_of_skew` is the limit.

    >>> exponential_series(hat([0.0, 0.0, 0.1]), order=1) + 0.0
    array([[ 1. , -0.1,  0. ],
           [ 0.1,  1. ,  0. ],
           [ 0. ,  0. ,  1. ]])
    """
    return _series(_counted(order, "order"))(A)


def skew_power(A: ArrayLike, *, power: int) -> Array:
    """A^power of skew matrices (..., 3, 3) by the rule of Cayley-Hamilton; no matrix is multiplied more than once.

    A^(2k+1) = (-|a|^2)^k A for k >= 0, A^(2k) = (-|a|^2)^(k-1) A^2 for k >= 1 only (spec E-34), A^0 = 1; with a unit
    vector A^2 = a a^T - 1. Ruggiu (1.23).

    >>> skew_power(hat([0.0, 0.0, 1.0]), power=3) + 0.0
    array([[ 0.,  1.,  0.],
           [-1.,  0.,  0.],
           [ 0.,  0.,  0.]])
    """
    return _power(_counted(power, "power"))(A)


@cache
def _series(order: int) -> Kernel:
    @kernel("(3,3)->(3,3)", name=f"exponential_series_to_order_{order}", check=check_skew)
    def series(A: Array) -> Array:
        total = np.eye(3)
        for k in range(order, 0, -1):
            total = np.eye(3) + A @ total / k
        return total
    return series


@cache
def _power(power: int) -> Kernel:
    @kernel("(3,3)->(3,3)", name=f"skew_power_{power}", check=check_skew)
    def powered(A: Array) -> Array:
        a = vee(A)
        if power == 0:
            return np.eye(3)
        if power % 2:
            return (-(a @ a)) ** (power // 2) * hat(a)
        return (-(a @ a)) ** (power // 2 - 1) * (np.outer(a, a) - (a @ a) * np.eye(3))
    return powered


def _counted(number: int, name: str) -> int:
    if number != int(number) or number < 0:
        raise GeometryError(f"{name} must be a whole number, 0 or more, not {number}")
    return int(number)


class LinearInvariants(NamedTuple):
    symmetric: Array
    skew: Array
    vector: Array
    trace: Scalar


class NaturalInvariants(NamedTuple):
    axis: Array
    angle: Scalar
    other_axis: Array
    other_angle: Scalar
    axis_is_free: Scalar
    sign_is_free: Scalar


@kernel("(3,3)->(3,3),(3,3),(3),()")
def linear_invariants(A: Array) -> LinearInvariants:
    """A = symmetric + skew of any 3x3, its vector (vector x v = skew v for all v) and its trace.

    >>> found = linear_invariants([[1.0, 0.0, 0.0], [4.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    >>> found.vector @ found.vector, found.trace
    (np.float64(4.0), np.float64(6.0))
    """
    return LinearInvariants(symmetric_part(A), skew_part(A), vee(A), np.trace(A))


@kernel("(3,3)->(3),(),(3),(),(),()", check=check_rotation_matrix)
def natural_invariants(Q: Array) -> NaturalInvariants:
    """Axis and angle [rad] of a rotation, both pairs: (e, phi) with phi in [0, pi], and (-e, -phi).

    The axis comes from vect(Q) up to a quarter turn, beyond it from the largest column of the symmetric part minus
    cos(phi) 1, which is (1 - cos(phi)) e e^T; each keeps its digits where the other loses them. `axis_is_free` is 1
    where phi = 0, every axis will do and (0, 0, 1) is given; `sign_is_free` is 1 at a half-turn, where (-e, phi) serves
    as well. Ruggiu (1.36), (1.37).

    >>> natural_invariants(np.diag([-1.0, 1.0, -1.0])).axis
    array([0., 1., 0.])
    """
    vector = vee(Q)
    cosine = (np.trace(Q) - 1) / 2
    _, sine = direction(vector)
    column = _largest_column(symmetric_part(Q) - cosine * np.eye(3), vector)
    axis, length = direction(where(cosine > 0, vector, column))
    angle = np.arctan2(sine, cosine)
    axis_is_free = length == 0
    sign_is_free = _is_rounding(sine) & (cosine < 0)
    return NaturalInvariants(axis, angle, -axis, -angle, where(axis_is_free, 1.0, 0.0), where(sign_is_free, 1.0, 0.0))


def _is_rounding(sine: Scalar) -> Scalar:
    """True if a value is at most four roundings of one, in the precision that the kernel runs in."""
    return 1.0 + 0.125 * sine == 1.0


def _largest_column(dyad: Array, vector: Array) -> Array:
    """The column of c e e^T that has the largest diagonal element, along the vector, not against it."""
    x, y, z = dyad[0, 0], dyad[1, 1], dyad[2, 2]
    column = where((x >= y) & (x >= z), dyad[:, 0], where(y >= z, dyad[:, 1], dyad[:, 2]))
    return where(column @ vector < 0, -column, column)
