"""The identities of `tensor_identities` for the second dual, of the opposite orientation: u' = left_dual_tensor(u) =
-hat(u), and how duals change in frames of either handedness.

What is even in duals stays as it is; what is odd changes sign, or sides. Source: Balafoutis & Patel (3.3.34)-(3.3.36),
after Propositions 3.1-3.12.

>>> sides = second_dual_of_cross([1.0, 2.0, 3.0], [0.5, 0.0, 1.0])
>>> bool(np.array_equal(sides.left, sides.right))
True
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.tensors.checks import check_orthogonal, check_symmetric
from cayley.geometry.tensors.cross import hat, vee
from cayley.geometry.tensors.products import double_dot, dyad, left_dual_tensor, left_dual_vector, wedge
from geometry.tensor_identities import Sides


@kernel("(3)->(3),(3)")
def second_dual_of_second_dual(u: Array) -> Sides:
    """((u)dual)dual = u. (3.3.35), (3.3.36)"""
    return Sides(left_dual_vector(left_dual_tensor(u)), u)


@kernel("(3)->(3),(3)")
def second_dual_of_first(u: Array) -> Sides:
    """(dual(u))dual = -u: the two orientations are opposite."""
    return Sides(left_dual_vector(hat(u)), -u)


@kernel("(3)->(3,3),(3,3)")
def second_dual_is_transpose(u: Array) -> Sides:
    """(u)dual = dual(u)^T."""
    return Sides(left_dual_tensor(u), hat(u).T)


@kernel("(3),(3)->(3),(3)")
def cross_is_vector_times_second_dual(u: Array, v: Array) -> Sides:
    """v x u = u' v, as u x v = u~ v. (3.4.1)"""
    return Sides(np.cross(v, u), left_dual_tensor(u) @ v)


@kernel("(3),(3)->(3),(3)")
def second_factors_swap(u: Array, v: Array) -> Sides:
    """u' v = -v' u. (3.4.6)"""
    return Sides(left_dual_tensor(u) @ v, -(left_dual_tensor(v) @ u))


@kernel("(3),(3)->(3,3),(3,3)")
def product_of_second_duals(u: Array, v: Array) -> Sides:
    """u' v' = v (x) u - (u . v) 1, as of the first. (3.4.10)"""
    return Sides(left_dual_tensor(u) @ left_dual_tensor(v), dyad(v, u) - (u @ v) * np.eye(3))


@kernel("(3),(3)->(),()")
def double_dot_of_second_duals(u: Array, v: Array) -> Sides:
    """u' : v' = -2 u . v, as of the first. (3.4.15)"""
    return Sides(double_dot(left_dual_tensor(u), left_dual_tensor(v)), -2 * (u @ v))


@kernel("(3),(3)->(3,3),(3,3)")
def second_dual_between_second_duals(u: Array, v: Array) -> Sides:
    """u' v' u' = -(v . u) u', as of the first; u' u' u' = -(u . u) u' with v = u. (3.4.19a), (3.4.25)"""
    w = left_dual_tensor(u)
    return Sides(w @ left_dual_tensor(v) @ w, -(v @ u) * w)


@kernel("(3),(3)->(3,3),(3,3)")
def second_dual_of_cross(u: Array, v: Array) -> Sides:
    """(u x v)dual = u ^ v = u (x) v - v (x) u, where the first is v ^ u. (3.4.26)"""
    return Sides(left_dual_tensor(np.cross(u, v)), wedge(u, v))


@kernel("(3),(3)->(3,3),(3,3)")
def second_dual_of_cross_by_commutator(u: Array, v: Array) -> Sides:
    """(u x v)dual = v' u' - u' v', where the first is [u~, v~]. (3.4.26)"""
    a = left_dual_tensor(u)
    b = left_dual_tensor(v)
    return Sides(left_dual_tensor(np.cross(u, v)), b @ a - a @ b)


@kernel("(3),(3)->(3),(3)")
def cross_by_vector_of_second_duals(u: Array, v: Array) -> Sides:
    """u x v = 2 vect(u' v'), as of the first: vect of an even product. (3.4.33)"""
    return Sides(np.cross(u, v), 2 * vee(left_dual_tensor(u) @ left_dual_tensor(v)))


@kernel("(3),(3),(3)->(3,3),(3,3)")
def second_dual_of_double_cross(w: Array, u: Array, v: Array) -> Sides:
    """(w' u' v)dual = (w . v) u' - (w . u) v'. (3.4.34)"""
    product = left_dual_tensor(w) @ (left_dual_tensor(u) @ v)
    return Sides(left_dual_tensor(product), (w @ v) * left_dual_tensor(u) - (w @ u) * left_dual_tensor(v))


@kernel("(3,3),(3)->(3,3),(3,3)", check=lambda T, v: check_symmetric(T))
def second_dual_of_symmetric_times_vector(T: Array, v: Array) -> Sides:
    """(T v)dual = -(T v' + v' T) + tr(T) v' for symmetric T, as of the first. (3.4.36)"""
    dual = left_dual_tensor(v)
    return Sides(left_dual_tensor(T @ v), -(T @ dual + dual @ T) + np.trace(T) * dual)


@kernel("(3),(3,3),(3)->(),()", check=lambda u, T, v: check_symmetric(T))
def bilinear_form_by_second_duals(u: Array, T: Array, v: Array) -> Sides:
    """u . T v = -tr(u' J v') with J = tr(T) 1 / 2 - T, for symmetric T, as of the first. (3.4.39)"""
    J = np.trace(T) / 2 * np.eye(3) - T
    return Sides(u @ (T @ v), -np.trace(left_dual_tensor(u) @ J @ left_dual_tensor(v)))


def _check(Q: Array, *_: object) -> None:
    check_orthogonal(Q)


@kernel("(3,3),(3)->(3,3),(3,3)", check=_check)
def dual_in_any_frame(Q: Array, u: Array) -> Sides:
    """Q u~ Q^T = det(Q) dual(Q u) for orthogonal Q: reflections change the sign. Remark 3.6, corrected"""
    return Sides(Q @ hat(u) @ Q.T, np.linalg.det(Q) * hat(Q @ u))


@kernel("(3,3),(3)->(3,3),(3,3)", check=_check)
def second_dual_in_any_frame(Q: Array, u: Array) -> Sides:
    """Q (u)dual Q^T = det(Q) (Q u)dual for orthogonal Q."""
    return Sides(Q @ left_dual_tensor(u) @ Q.T, np.linalg.det(Q) * left_dual_tensor(Q @ u))


@kernel("(3,3),(3),(3)->(3),(3)", check=_check)
def cross_product_in_any_frame(Q: Array, u: Array, v: Array) -> Sides:
    """(Q u) x (Q v) = det(Q) Q (u x v) for orthogonal Q: a cross product is an axial vector."""
    return Sides(np.cross(Q @ u, Q @ v), np.linalg.det(Q) * (Q @ np.cross(u, v)))
