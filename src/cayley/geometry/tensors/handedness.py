"""What a reflection does to components: true tensors, and tensors that are oriented relative to the handedness of the
frame.

    true        T'_ij.. = Q_ia Q_jb .. T_ab..               vectors, inertia, skew tensors of planes
    oriented    T'_ij.. = det(Q) Q_ia Q_jb .. T_ab..        axial vectors, the alternating tensor
A vector and its dual tensor u~ = hat(u) are one of each kind, Q u~ Q^T = det(Q) dual(Q u): if u is true, u~ is
oriented; an axial u, such as an angular velocity, has a true u~. The second dual is the same in this. For rotations the
two kinds are one. Source: Balafoutis & Patel, Remark 3.6, which needs det(Q), and (3.3.4): the alternating tensor
changes its sign under reflections (spec, corrections).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.tensors.checks import check_orthogonal
from cayley.geometry.tensors.cross import hat
from cayley.geometry.tensors.identities import Sides
from cayley.geometry.tensors.invariants import left_dual_tensor


def components_in_frame(Q: ArrayLike, T: ArrayLike, *, oriented: bool) -> Array:
    """The components of one tensor of any order (n, n, ...) in the frame that the orthogonal matrix Q (n, n) leads to;
    Q may be a reflection. `oriented`: whether the tensor's components change sign with the handedness of the frame.

    >>> mirror = np.diag([1.0, 1.0, -1.0])
    >>> components_in_frame(mirror, [1.0, 2.0, 3.0], oriented=False)
    array([ 1.,  2., -3.])
    >>> components_in_frame(mirror, [1.0, 2.0, 3.0], oriented=True)
    array([-1., -2.,  3.])
    """
    check_orthogonal(Q)
    Q = np.asarray(Q, dtype=float)
    T = np.asarray(T, dtype=float)
    if Q.ndim != 2 or set(T.shape) - {len(Q)}:
        raise GeometryError(f"one matrix Q (n, n) changes a tensor (n, n, ...): not shapes {Q.shape} and {T.shape}")
    changed = T
    for _ in range(T.ndim):  # each index once: the last is summed over, and comes back as the first
        changed = np.tensordot(Q, changed, axes=(1, T.ndim - 1))
    return changed * (np.sign(np.linalg.det(Q)) if oriented else 1.0)


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
