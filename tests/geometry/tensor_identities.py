"""The identities between vectors, their dual tensors and symmetric tensors: each one a kernel that returns its two
sides.

They are the rules by which equations of motion are rewritten; `sides.left` and `sides.right` cost different numbers of
operations. u~ is `hat(u)`, u (x) v is `dyad(u, v)`, T : S is `double_dot`. Source: Balafoutis & Patel, section 3.4,
Propositions 3.1-3.12, equations (3.4.1)-(3.4.39); the arguments lost in (3.4.26) and (3.4.28) as in spec E-04.

>>> sides = double_dot_of_duals([1.0, 2.0, 3.0], [0.5, 0.0, 1.0])
>>> float(sides.left), float(sides.right)
(-7.0, -7.0)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.geometry.tensors.checks import check_skew, check_symmetric, is_rounding, refuse_where
from cayley.geometry.tensors.cross import hat, vee
from cayley.geometry.tensors.products import LEVI_CIVITA, UNIT, double_dot, dyad, wedge


class Sides(NamedTuple):
    """The two sides of an identity; they are equal for all arguments."""

    left: Scalar
    right: Scalar


def _check_perpendicular(u: ArrayLike, v: ArrayLike) -> None:
    u = np.asarray(u)
    v = np.asarray(v)
    product = np.abs(np.sum(u * v, axis=-1))
    size = np.linalg.norm(u, axis=-1) * np.linalg.norm(v, axis=-1)
    refuse_where(~is_rounding(product, u, size),
                 "the vectors are not perpendicular{element}: their product is {defect:.3g}", product)


def _check_symmetric_first(T: Array, *_: object) -> None:
    check_symmetric(T)


def _check_symmetric_and_skew(T: Array, S: Array) -> None:
    check_symmetric(T)
    check_skew(S)


@kernel("(3),(3)->(3),(3)")
def cross_is_dual_times_vector(u: Array, v: Array) -> Sides:
    """u x v = u~ v. (3.4.1)"""
    return Sides(np.cross(u, v), hat(u) @ v)


@kernel("(),(3)->(3,3),(3,3)")
def dual_is_homogeneous(k: Scalar, u: Array) -> Sides:
    """dual(k u) = k u~. (3.4.2), Proposition 3.1"""
    return Sides(hat(k * u), k * hat(u))


@kernel("(3),(3)->(3,3),(3,3)")
def dual_is_additive(u: Array, v: Array) -> Sides:
    """dual(u + v) = u~ + v~. (3.4.3), Proposition 3.1"""
    return Sides(hat(u + v), hat(u) + hat(v))


@kernel("(3)->(3),(3)")
def vector_spans_null_space(u: Array) -> Sides:
    """u~ u = 0. (3.4.4), Proposition 3.2"""
    return Sides(hat(u) @ u, np.zeros(3))


@kernel("(3),(3)->(),()")
def null_space_is_parallel(u: Array, v: Array) -> Sides:
    """|u~ v|^2 = |u|^2 |v|^2 - (u . v)^2, so that u~ v = 0 exactly if u and v are parallel. (3.4.5), Proposition 3.2"""
    product = hat(u) @ v
    return Sides(product @ product, (u @ u) * (v @ v) - (u @ v) * (u @ v))


@kernel("(3),(3)->(3),(3)")
def factors_swap(u: Array, v: Array) -> Sides:
    """u~ v = -v~ u. (3.4.6), Proposition 3.3"""
    return Sides(hat(u) @ v, -(hat(v) @ u))


@kernel("(3),(3)->(3),(3)")
def left_product_is_minus_right(u: Array, v: Array) -> Sides:
    """v . u~ = -u~ v. (3.4.7), Proposition 3.3"""
    return Sides(v @ hat(u), -(hat(u) @ v))


@kernel("(3),(3)->(3),(3)")
def left_product_swaps(u: Array, v: Array) -> Sides:
    """v . u~ = v~ u. (3.4.8), Proposition 3.3"""
    return Sides(v @ hat(u), hat(v) @ u)


@kernel("(3),(3),(3),(3)->(),()")
def product_of_cross_products(a: Array, u: Array, v: Array, b: Array) -> Sides:
    """(a x u) . (v x b) = a . u~ v~ b. (3.4.9), Proposition 3.4"""
    return Sides(np.cross(a, u) @ np.cross(v, b), a @ (hat(u) @ hat(v) @ b))


@kernel("(3),(3)->(3,3),(3,3)")
def product_of_duals(u: Array, v: Array) -> Sides:
    """u~ v~ = v (x) u - (u . v) 1. (3.4.10), Proposition 3.5"""
    return Sides(hat(u) @ hat(v), dyad(v, u) - (u @ v) * np.eye(3))


@kernel("(3),(3)->(3,3),(3,3)")
def dyad_by_duals(u: Array, v: Array) -> Sides:
    """v (x) u = u~ v~ + (v . u) 1. (3.4.14)"""
    return Sides(dyad(v, u), hat(u) @ hat(v) + (v @ u) * np.eye(3))


@kernel("(3),(3)->(),()")
def double_dot_of_duals(u: Array, v: Array) -> Sides:
    """u~ : v~ = -2 u . v. (3.4.15), Proposition 3.6"""
    return Sides(double_dot(hat(u), hat(v)), -2 * (u @ v))


@kernel("(3),(3)->(),()")
def dot_by_trace(u: Array, v: Array) -> Sides:
    """u . v = -tr(u~ v~) / 2. (3.4.16)"""
    return Sides(u @ v, -np.trace(hat(u) @ hat(v)) / 2)


@kernel("(3,3),(3,3)->(),()", check=_check_symmetric_and_skew)
def symmetric_is_orthogonal_to_skew(T: Array, S: Array) -> Sides:
    """T : S = 0 for symmetric T and skew S. (3.4.17), Proposition 3.7"""
    return Sides(double_dot(T, S), 0.0)


@kernel("(3),(3)->(3,3),(3,3)")
def square_around_dual(u: Array, v: Array) -> Sides:
    """v~ u~ u~ + u~ u~ v~ = -(u . u) v~ - (v . u) u~. (3.4.18), Proposition 3.8"""
    square = hat(u) @ hat(u)
    return Sides(hat(v) @ square + square @ hat(v), -(u @ u) * hat(v) - (v @ u) * hat(u))


@kernel("(3),(3)->(3,3),(3,3)")
def dual_between_duals(u: Array, v: Array) -> Sides:
    """u~ v~ u~ = -(v . u) u~. (3.4.19a), Proposition 3.8"""
    return Sides(hat(u) @ hat(v) @ hat(u), -(v @ u) * hat(u))


@kernel("(3),(3)->(3,3),(3,3)")
def dual_between_duals_by_trace(u: Array, v: Array) -> Sides:
    """u~ v~ u~ = v~ u~ u~ + u~ u~ v~ - tr(u~ u~) v~ / 2. (3.4.19b), Proposition 3.8"""
    square = hat(u) @ hat(u)
    return Sides(hat(u) @ hat(v) @ hat(u), hat(v) @ square + square @ hat(v) - np.trace(square) / 2 * hat(v))


@kernel("(3),(3)->(3,3),(3,3)")
def commutator_of_squares(u: Array, v: Array) -> Sides:
    """v~ v~ u~ u~ - u~ u~ v~ v~ = (u . v) [u~, v~]. (3.4.20), (3.4.21), Proposition 3.8; zero for parallel vectors"""
    a = hat(u) @ hat(u)
    b = hat(v) @ hat(v)
    return Sides(b @ a - a @ b, (u @ v) * (hat(u) @ hat(v) - hat(v) @ hat(u)))


@kernel("(3),(3)->(3,3),(3,3)", check=_check_perpendicular)
def square_around_perpendicular_dual(u: Array, v: Array) -> Sides:
    """v~ u~ u~ + u~ u~ v~ = -(u . u) v~ for perpendicular u and v. (3.4.22)"""
    square = hat(u) @ hat(u)
    return Sides(hat(v) @ square + square @ hat(v), -(u @ u) * hat(v))


@kernel("(3),(3)->(3,3),(3,3)", check=_check_perpendicular)
def perpendicular_dual_vanishes(u: Array, v: Array) -> Sides:
    """u~ v~ u~ = 0 for perpendicular u and v. (3.4.23)"""
    return Sides(hat(u) @ hat(v) @ hat(u), np.zeros((3, 3)))


@kernel("(3),(3)->(3,3),(3,3)", check=_check_perpendicular)
def perpendicular_squares_commute(u: Array, v: Array) -> Sides:
    """v~ v~ u~ u~ = u~ u~ v~ v~ for perpendicular u and v. (3.4.24)"""
    a = hat(u) @ hat(u)
    b = hat(v) @ hat(v)
    return Sides(b @ a, a @ b)


@kernel("(3)->(3,3),(3,3)")
def cube_of_dual(u: Array) -> Sides:
    """u~ u~ u~ = -(u . u) u~. (3.4.25)"""
    return Sides(hat(u) @ hat(u) @ hat(u), -(u @ u) * hat(u))


@kernel("(3),(3)->(3,3),(3,3)")
def dual_of_cross_by_dyads(u: Array, v: Array) -> Sides:
    """dual(u~ v) = v (x) u - u (x) v. (3.4.26a), Proposition 3.9"""
    return Sides(hat(hat(u) @ v), dyad(v, u) - dyad(u, v))


@kernel("(3),(3)->(3,3),(3,3)")
def dual_of_cross_by_commutator(u: Array, v: Array) -> Sides:
    """dual(u~ v) = u~ v~ - v~ u~ = [u~, v~]. (3.4.26b), (3.4.26c), Proposition 3.9"""
    return Sides(hat(hat(u) @ v), hat(u) @ hat(v) - hat(v) @ hat(u))


@kernel("(3),(3)->(3,3),(3,3)")
def dual_of_cross_by_wedge(u: Array, v: Array) -> Sides:
    """dual(u~ v) = v ^ u. (3.4.26d), Proposition 3.9"""
    return Sides(hat(hat(u) @ v), wedge(v, u))


@kernel("(3),(3),(3)->(3),(3)")
def double_cross_by_dyads(u: Array, v: Array, r: Array) -> Sides:
    """(u x v) x r = (v (x) u - u (x) v) r. (3.4.27)"""
    return Sides(np.cross(np.cross(u, v), r), (dyad(v, u) - dyad(u, v)) @ r)


@kernel("(3),(3)->(3),(3)")
def cross_by_commutator(u: Array, v: Array) -> Sides:
    """u x v = dual [u~, v~]. (3.4.29)"""
    return Sides(np.cross(u, v), vee(hat(u) @ hat(v) - hat(v) @ hat(u)))


@kernel("(3),(3)->(3),(3)")
def cross_by_wedge(u: Array, v: Array) -> Sides:
    """u x v = dual(v ^ u). (3.4.30)"""
    return Sides(np.cross(u, v), vee(wedge(v, u)))


@kernel("(3,3)->(3),(3)")
def vector_of_transpose(T: Array) -> Sides:
    """vect(T^T) = -vect(T). (3.4.31)"""
    return Sides(vee(T.T), -vee(T))


@kernel("(3),(3)->(3),(3)")
def cross_by_dyad(u: Array, v: Array) -> Sides:
    """u x v = -2 vect(u (x) v). (3.4.32)"""
    return Sides(np.cross(u, v), -2 * vee(dyad(u, v)))


@kernel("(3),(3)->(3),(3)")
def cross_by_product_of_duals(u: Array, v: Array) -> Sides:
    """u x v = 2 vect(u~ v~). (3.4.33)"""
    return Sides(np.cross(u, v), 2 * vee(hat(u) @ hat(v)))


@kernel("(3),(3),(3)->(3,3),(3,3)")
def dual_of_double_cross(w: Array, u: Array, v: Array) -> Sides:
    """dual(w~ u~ v) = (w . v) u~ - (w . u) v~. (3.4.34), Proposition 3.10"""
    return Sides(hat(hat(w) @ (hat(u) @ v)), (w @ v) * hat(u) - (w @ u) * hat(v))


@kernel("(3),(3)->(3,3),(3,3)")
def dual_of_square_times_vector(u: Array, v: Array) -> Sides:
    """dual(u~ u~ v) = -(v~ u~ u~ + u~ u~ v~) + tr(u~ u~) v~. (3.4.35), Proposition 3.10"""
    square = hat(u) @ hat(u)
    return Sides(hat(square @ v), -(hat(v) @ square + square @ hat(v)) + np.trace(square) * hat(v))


@kernel("(3,3),(3)->(3,3),(3,3)", check=_check_symmetric_first)
def dual_of_symmetric_times_vector(T: Array, v: Array) -> Sides:
    """dual(T v) = -(T v~ + v~ T) + tr(T) v~ for symmetric T. (3.4.36), Proposition 3.11"""
    return Sides(hat(T @ v), -(T @ hat(v) + hat(v) @ T) + np.trace(T) * hat(v))


def symmetric_by_duals_of_eigenvectors(T: ArrayLike) -> Sides:
    """T = sum of lambda_k x_k~ x_k~ + tr(T) 1 over the unit eigenvectors of symmetric T (..., 3, 3). (3.4.38)

    Holds for any choice of eigenvectors where eigenvalues are repeated.
    """
    check_symmetric(T)
    T = np.asarray(T, dtype=float)
    values, vectors = np.linalg.eigh(T)
    duals = hat(np.swapaxes(vectors, -1, -2))
    return Sides(
        T,
        np.einsum("...k,...kij->...ij", values, duals @ duals)
        + np.trace(T, axis1=-2, axis2=-1)[..., None, None] * UNIT)


@kernel("(3),(3,3),(3)->(),()", check=lambda u, T, v: check_symmetric(T))
def bilinear_form_by_trace(u: Array, T: Array, v: Array) -> Sides:
    """u . T v = -tr(u~ J v~) with J = tr(T) 1 / 2 - T, for symmetric T. (3.4.39), Proposition 3.12"""
    return Sides(u @ (T @ v), -np.trace(hat(u) @ (np.trace(T) / 2 * np.eye(3) - T) @ hat(v)))


def one_contraction_of_alternating_tensors() -> Sides:
    """e_ijk e_rsk = d_ir d_js - d_is d_jr, as arrays [i, j, r, s]. (3.3.5), its proof corrected as in spec E-01"""
    left = np.einsum("ijk,rsk->ijrs", LEVI_CIVITA, LEVI_CIVITA)
    return Sides(left, np.einsum("ir,js->ijrs", UNIT, UNIT) - np.einsum("is,jr->ijrs", UNIT, UNIT))


def two_contractions_of_alternating_tensors() -> Sides:
    """e_ijk e_rjk = 2 d_ir, as arrays [i, r]. (3.3.6)"""
    return Sides(np.einsum("ijk,rjk->ir", LEVI_CIVITA, LEVI_CIVITA), 2 * UNIT)


def three_contractions_of_alternating_tensors() -> Sides:
    """e_ijk e_ijk = 6."""
    return Sides(np.einsum("ijk,ijk->", LEVI_CIVITA, LEVI_CIVITA), 6.0)
