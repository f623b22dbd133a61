"""Products of vectors and second-order tensors, the two isotropic tensors, symmetric and skew parts, and invariants.

A tensor is the array of its components in one orthonormal frame: T[i, j] = e_i . T e_j. A product takes operands in the
same frame. Source: Balafoutis & Patel, section 3.2.2-3.3.1, equations (3.2.3)-(3.2.34) and (3.3.3)-(3.3.6); what they
call orthogonal is measured here by the inner product, as in spec E-33.

Symmetric, skew and isotropic parts and the wedge product are those of section 3.3.2, (3.3.7)-(3.3.9).

The vector invariant `vect(T)` of the source is `vee(T)`, its `dual(u)` of a vector is `hat(u)`. `dual_vector` is the
way back, and refuses a tensor that is not skew. The `left_` pair has the opposite orientation. Source: Balafoutis &
Patel, section 3.3.3.

>>> float(double_dot([[0.0, 1.0], [-1.0, 0.0]], [[0.0, 2.0], [-2.0, 0.0]]))
-4.0
>>> left_dual_vector(left_dual_tensor([1.0, 2.0, 3.0]))
array([1., 2., 3.])

>>> vector_triple_matrix([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]) @ [1.0, 0.0, 0.0]
array([ 0., -1.,  0.])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.formula import formula
from cayley.geometry.scaling import largest_component, length_of_any, scaling
from cayley.geometry.tensors.checks import check_skew, refuse_where
from cayley.geometry.tensors.cross import hat

UNIT = np.eye(3)
"""Kronecker's tensor, the only isotropic tensor of order two up to a factor."""

LEVI_CIVITA = np.array(
    [[[0, 0, 0], [0, 0, 1], [0, -1, 0]], [[0, 0, -1], [0, 0, 0], [1, 0, 0]], [[0, 1, 0], [-1, 0, 0], [0, 0, 0]]], float)
"""The alternating tensor of order three: LEVI_CIVITA[i, j, k] = e_i . (e_j x e_k)."""

for _constant in (UNIT, LEVI_CIVITA):
    _constant.flags.writeable = False


dyad = formula("dyad", "(n),(m)->(n,m)", lambda u, v: np.outer(u, v),
               "The tensor product of two vectors, of rank one or zero: `dyad(u, v) @ r == u * (v @ r)`, (3.2.3).")

dot = formula("dot", "(n,n),(n,n)->(n,n)", lambda T, S: T @ S,
              "The dot product T S of two tensors, their composition as maps, (3.2.27). It does not commute.")


def contraction(T: ArrayLike, first: int, second: int) -> Array:
    """The sum over two indices set equal, of a tensor of any order of two or more: two orders less.

    The places of the indices are axes of the array; count them from the end, and leading axes may hold a batch.

    >>> contraction(np.multiply.outer(np.eye(3), np.eye(3)), -1, -2)
    array([[3., 0., 0.],
           [0., 3., 0.],
           [0., 0., 3.]])
    """
    T = np.asarray(T)
    if not all(-T.ndim <= place < T.ndim for place in (first, second)) or first % T.ndim == second % T.ndim:
        raise GeometryError(f"two indices of an array of shape {T.shape} are contracted: {first} and {second} are not")
    if T.shape[first] != T.shape[second]:
        raise GeometryError(
            f"indices that are contracted have the same length: {first} and {second} of shape {T.shape} do not")
    return np.trace(T, axis1=first, axis2=second)


double_dot = formula("double_dot", "(n,n),(n,n)->()", lambda T, S: np.sum(T * S.T),
                     "T : S = tr(T S), (3.2.30). Other texts write tr(T S^T) so: that is `np.sum(T * S)`.")
tensor_norm = formula("tensor_norm", "(n,n)->()", lambda T: length_of_any(T.ravel()) if T.size else 0.0,
                      "The Frobenius norm sqrt(T : T^T), (3.2.31), of tensors of every size.")


def _check_angle(T: ArrayLike, S: ArrayLike) -> None:
    for name, tensor in (("first", np.asarray(T)), ("second", np.asarray(S))):
        if tensor.ndim < 2:
            raise GeometryError(f"the {name} tensor of an angle must have shape (..., n, n), not {tensor.shape}")
        size = np.abs(tensor).max(axis=(-2, -1), initial=0.0)
        refuse_where(~(size > 0), f"the {name} tensor of an angle is zero or NaN{{element}}: it has no direction", size)


@kernel("(n,n),(n,n)->()", check=_check_angle)
def angle_between_tensors(T: Array, S: Array) -> Scalar:
    """The angle of two non-zero tensors [rad], 0 to pi, (3.2.33); of skew ones, that of their dual vectors.

    Computed from sum and difference of the two directions, so that angles near 0 and pi keep their digits.

    >>> float(np.rad2deg(angle_between_tensors([[0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])))
    45.0
    """
    T, S = (scaling(largest_component(tensor.ravel())) * tensor for tensor in (T, S))
    t = T / tensor_norm(T)
    s = S / tensor_norm(S)
    return 2 * np.arctan2(tensor_norm(t - s), tensor_norm(t + s))


@kernel("(n)->(n)")
def unit_vector(v: Array) -> Array:
    """The direction of a vector; NaN if it has none.

    >>> unit_vector([0.0, 3.0, 4.0])
    array([0. , 0.6, 0.8])
    """
    scaled = scaling(largest_component(v)) * v
    return scaled / np.sqrt(scaled @ scaled)


vector_triple_matrix = formula(
    "vector_triple_matrix", "(3),(3)->(3,3)", lambda a, c: (c @ a) * np.eye(3) - np.outer(c, a),
    "(c . a) 1 - c a^T, which makes a x (b x c) of b, Yamamoto (A.10); a = c: the inertia of a unit mass at a.")

symmetric_part = formula("symmetric_part", "(n,n)->(n,n)", lambda T: (T + T.T) / 2, "T+ = (T + T^T) / 2, (3.3.8).")
skew_part = formula("skew_part", "(n,n)->(n,n)", lambda T: (T - T.T) / 2,
                    "T- = (T - T^T) / 2, (3.3.8). In three dimensions its vector is `vee(T)`.")
isotropic_part = formula(
    "isotropic_part", "(n,n)->(n,n)", lambda T: np.trace(T) / len(T) * np.eye(len(T)),
    "(tr T / n) 1, the part of a tensor that is the same in every frame; what remains is the deviator.")


wedge = formula(
    "wedge", "(n),(n)->(n,n)", lambda u, v: np.outer(u, v) - np.outer(v, u),
    "u ^ v = u (x) v - v (x) u, (3.3.9), skew, zero for parallel vectors. In space u x v = vee(wedge(v, u)).")


class ScalarInvariants(NamedTuple):
    trace: float
    minors: float
    determinant: float
    square: float


@kernel("(3,3)->(),(),(),()")
def scalar_invariants(T: Array) -> ScalarInvariants:
    """I1 = tr T, I2 = sum of the principal minors, I3 = det T, I4 = sum of the squared components, (3.3.18)-(3.3.21).

    I4 is independent of the others only if T is not symmetric.

    >>> np.array(scalar_invariants([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]))
    array([2., 0., 0., 5.])
    """
    minors = (T[1, 1] * T[2, 2] - T[1, 2] * T[2, 1] + T[2, 2] * T[0, 0] - T[0, 2] * T[2, 0] + T[0, 0] * T[1, 1]
              - T[0, 1] * T[1, 0])
    return ScalarInvariants(np.trace(T), minors, np.linalg.det(T), np.sum(T * T))


dual_vector = formula(
    "dual_vector", "(3,3)->(3)", lambda T: np.stack([T[2, 1], T[0, 2], T[1, 0]]),
    "The vector u with T = hat(u), (3.3.31), (3.3.33). A tensor that is not skew is refused: `vee` takes any.",
    check_skew)
left_dual_tensor = formula(
    "left_dual_tensor", "(3)->(3,3)", lambda u: -hat(u),
    "The skew tensor of the opposite orientation, (3.3.34): -hat(u), so that v x u = left_dual_tensor(u) @ v.")
left_dual_vector = formula("left_dual_vector", "(3,3)->(3)", lambda T: -np.stack([T[2, 1], T[0, 2], T[1, 0]]),
                           "The vector u with T = left_dual_tensor(u), (3.3.36). A tensor that is not skew is refused.",
                           check_skew)

