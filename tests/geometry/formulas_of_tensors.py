"""Formulas of tensors that the books print and one line of NumPy says, with their equation numbers."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.errors import GeometryError
from cayley.geometry.tensors.checks import (
    check_orthogonal,
    check_skew,
    unit_vectors,
)
from cayley.geometry.tensors.products import LEVI_CIVITA, isotropic_part, scalar_invariants
from cayley.geometry.tensors.projections import check_direction


def dyad_basis(frame: Array | None = None) -> Array:
    """The dyads e_i (x) e_j of a frame, as an array [i, j] of tensors; T = sum of T_ij e_i (x) e_j, (3.2.17).

    The columns of `frame` (n, n) are the unit vectors e_i; without it they are the axes of space themselves.
    """
    e = unit_vectors(frame)
    return np.einsum("ki,lj->ijkl", e, e)


def symmetric_basis(n: int = 3) -> Array:
    """The n (n + 1) / 2 tensors e_i (x) e_j + e_j (x) e_i, i <= j, a basis of the symmetric ones, orthogonal to each
    other: shape (6, 3, 3) in space.
    """
    e = np.eye(n)
    pairs = combinations_with_replacement(range(n), 2)
    return np.array([np.outer(e[i], e[j]) + np.outer(e[j], e[i]) for i, j in pairs]).reshape(-1, n, n)


def skew_basis(n: int = 3) -> Array:
    """The n (n - 1) / 2 tensors e_i ^ e_j, i < j, a basis of the skew ones, orthogonal to each other: shape (3, 3, 3)
    in space, and nothing for n = 1.
    """
    e = np.eye(n)
    pairs = combinations(range(n), 2)
    return np.array([np.outer(e[i], e[j]) - np.outer(e[j], e[i]) for i, j in pairs]).reshape(-1, n, n)


def isotropic_defect(T: Array) -> float:
    """How far a tensor of order two or three is from one whose components are the same in every frame, in its largest
    component.

    The isotropic tensors are the multiples of the unit tensor and of the alternating tensor.
    """
    T = np.asarray(T, dtype=float)
    if T.shape == (3, 3):
        return float(np.abs(T - isotropic_part(T)).max())
    if T.shape == (3, 3, 3):
        return float(np.abs(T - np.sum(T * LEVI_CIVITA) / 6 * LEVI_CIVITA).max())
    raise GeometryError(f"isotropy is told of tensors of order two or three in space, not of shape {T.shape}")


class PrincipalInvariants(NamedTuple):
    first: float
    second: float
    third: float


class PowerTraces(NamedTuple):
    first: float
    second: float
    third: float


@kernel("(3,3)->(),(),()")
def principal_invariants(T: Array) -> PrincipalInvariants:
    """The invariants I1, I2, I3 of a tensor: the coefficients of its characteristic polynomial, (3.3.18)-(3.3.20)."""
    return PrincipalInvariants(*scalar_invariants(T)[:3])


@kernel("(3)->(),(),()")
def principal_from_eigenvalues(values: Array) -> PrincipalInvariants:
    """The invariants I1, I2, I3 of the symmetric tensor with these three eigenvalues, (3.3.22)-(3.3.24)."""
    a, b, c = values
    return PrincipalInvariants(a + b + c, a * b + b * c + c * a, a * b * c)


@kernel("(3,3)->(),(),()")
def power_traces(T: Array) -> PowerTraces:
    """F1 = tr T, F2 = tr T^2, F3 = tr T^3 (Remark 3.5): invariants that need no components."""
    square = T @ T
    return PowerTraces(np.trace(T), np.trace(square), np.sum(square * T.T))


@kernel("(),(),()->(),(),()")
def principal_from_power_traces(first: Scalar, second: Scalar, third: Scalar) -> PrincipalInvariants:
    """I1 = F1, I2 = (F1^2 - F2) / 2, I3 = (2 F3 + F1^3 - 3 F1 F2) / 6 (Remark 3.5)."""
    return PrincipalInvariants(first, (first * first - second) / 2,
                               (2 * third + first * first * first - 3 * first * second) / 6)


@kernel("(),()->()")
def symmetric_square(first: Scalar, second: Scalar) -> Scalar:
    """I4 = I1^2 - 2 I2 of a symmetric tensor, from its first two invariants."""
    return first * first - 2 * second


@kernel("(n,n),(n)->(n)")
def right_dot(T: Array, v: Array) -> Array:
    """T . v, the vector that the linear map T makes of v, (3.2.20)."""
    return T @ v


@kernel("(n),(n,n)->(n)")
def left_dot(v: Array, T: Array) -> Array:
    """v . T = T^T . v, (3.2.21), (3.2.24)."""
    return v @ T


@kernel("(n,n),(n,n)->(n,n,n,n)")
def tensor_product(T: Array, S: Array) -> Array:
    """The tensor of order four with components T[i, j] S[k, l], (3.2.19)."""
    return np.einsum("ij,kl->ijkl", T, S)


@kernel("(n,n),(n,n)->()")
def inner_product(T: Array, S: Array) -> Scalar:
    """tr(T S^T), the sum of the products of components: it makes the tensors a Euclidean space of n^2 dimensions.

    Two tensors are orthogonal if it vanishes; for symmetric and for skew tensors `double_dot` then vanishes too (spec
    E-33).
    """
    return np.sum(T * S)


@kernel("(3),(3),(3)->()")
def scalar_triple_product(a: Array, b: Array, c: Array) -> Scalar:
    """a . (b x c), the determinant of the three vectors: zero if they lie in one plane. Yamamoto (A.8)."""
    return a @ np.cross(b, c)


@kernel("(3),(3),(3)->(3)")
def vector_triple_product(a: Array, b: Array, c: Array) -> Array:
    """a x (b x c) = (c . a) b - (a . b) c. Yamamoto (A.7); his component form (A.6) is misprinted, spec E3-35."""
    return (c @ a) * b - (a @ b) * c


@kernel("(n)->(n,n)", check=check_direction)
def axis_projection(e: Array) -> Array:
    """P_e = e (x) e, the orthogonal projection on the direction of the unit vector e, (3.3.11)."""
    return np.outer(e, e)


@kernel("(n),(n)->(n)", check=check_direction)
def parallel_part(e: Array, v: Array) -> Array:
    """The part of v along the unit vector e, (3.3.13)."""
    return e * (e @ v)


def _check_second_rate(Q: Array, Qdd: Array) -> None:
    check_orthogonal(Q)


@kernel("(n,n),(n,n)->(n,n)", check=_check_second_rate)
def angular_acceleration_tensor(Q: Array, Qdd: Array) -> Array:
    """Psi = Qdd Q^T [rad/s^2], with Qdd = Psi Q, (4.2.7), (4.2.13); n by n."""
    return Qdd @ Q.T


def _check_both_skew(Phi: Array, Phid: Array) -> None:
    check_skew(Phi)
    check_skew(Phid)


@kernel("(n,n),(n,n)->(n,n)", check=_check_both_skew)
def angular_acceleration_from_tensors(Phi: Array, Phid: Array) -> Array:
    """Psi = Phid + Phi Phi from the angular velocity tensor and its derivative, (4.2.8); n by n."""
    return Phid + Phi @ Phi


class AngularAcceleration(NamedTuple):
    """The two parts of an angular acceleration tensor: Phid, skew, and Phi Phi, symmetric."""

    turning: Array
    centripetal: Array


@kernel("(n,n)->(n,n),(n,n)")
def split_angular_acceleration(Psi: Array) -> AngularAcceleration:
    """The Cartesian decomposition of an angular acceleration tensor: `turning` = Phid and `centripetal` = Phi Phi,
    (4.2.12).

    In space `vee(Psi)` is the angular acceleration vector, (4.2.14).
    """
    return AngularAcceleration((Psi - Psi.T) / 2, (Psi + Psi.T) / 2)


@kernel("(n),(n,n),(n)->(n)")
def point_velocity_by_tensor(sd: Array, Phi: Array, r: Array) -> Array:
    """rd = sd + Phi r: velocity of a point of the body, from that of another and the vector r from there to it,
    (4.2.19).
    """
    return sd + Phi @ r


@kernel("(n),(n,n),(n)->(n)")
def point_acceleration_by_tensor(sdd: Array, Psi: Array, r: Array) -> Array:
    """rdd = sdd + Psi r: acceleration of a point of the body, (4.2.20), by 9 multiplications and 9 additions in space.
    """
    return sdd + Psi @ r
