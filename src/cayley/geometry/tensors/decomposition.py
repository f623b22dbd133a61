"""The Cartesian decomposition of a tensor into a symmetric and a skew part, the wedge product, and bases of the two
spaces.

Source: Balafoutis & Patel, section 3.3.2, equations (3.3.7)-(3.3.9).
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.tensors.products import dyad


@kernel("(n,n)->(n,n)")
def symmetric_part(T: Array) -> Array:
    """T+ = (T + T^T) / 2, (3.3.8).

    >>> symmetric_part([[1.0, 2.0], [0.0, 1.0]])
    array([[1., 1.],
           [1., 1.]])
    """
    return (T + T.T) / 2


@kernel("(n,n)->(n,n)")
def skew_part(T: Array) -> Array:
    """T- = (T - T^T) / 2, (3.3.8). In three dimensions its vector is `vee(T)`.

    >>> skew_part([[1.0, 2.0], [0.0, 1.0]])
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    return (T - T.T) / 2


@kernel("(n,n)->(n,n)")
def isotropic_part(T: Array) -> Array:
    """(tr T / n) 1, the part of a tensor that is the same in every frame; what remains is the deviator.

    >>> isotropic_part([[1.0, 2.0], [0.0, 5.0]])
    array([[3., 0.],
           [0., 3.]])
    """
    return np.trace(T) / len(T) * np.eye(len(T))


@kernel("(n),(n)->(n,n)")
def wedge(u: Array, v: Array) -> Array:
    """u ^ v = u (x) v - v (x) u, (3.3.9): a skew tensor, zero for parallel vectors. In three dimensions u x v =
    vee(wedge(v, u)).

    >>> wedge([1.0, 0.0], [0.0, 1.0])
    array([[ 0.,  1.],
           [-1.,  0.]])
    """
    return np.outer(u, v) - np.outer(v, u)


def dyad_basis(frame: Array | None = None) -> Array:
    """The nine dyads e_i (x) e_j of a frame, as an array [i, j] of tensors; T = sum of T_ij e_i (x) e_j, (3.2.17).

    The columns of `frame` are the unit vectors e_i; without it they are the axes themselves.

    >>> np.einsum("ij,ijkl", [[1, 2, 3], [4, 5, 6], [7, 8, 9]], dyad_basis())
    array([[1., 2., 3.],
           [4., 5., 6.],
           [7., 8., 9.]])
    """
    e = np.eye(3) if frame is None else np.asarray(frame, dtype=float)
    return np.einsum("ki,lj->ijkl", e, e)


def symmetric_basis() -> Array:
    """The six tensors e_i (x) e_j + e_j (x) e_i, i <= j, a basis of the symmetric ones: shape (6, 3, 3), orthogonal to
    each other.

    >>> symmetric_basis().shape
    (6, 3, 3)
    """
    e = np.eye(3)
    return np.stack([dyad(e[i], e[j]) + dyad(e[j], e[i]) for i, j in combinations_with_replacement(range(3), 2)])


def skew_basis() -> Array:
    """The three tensors e_i ^ e_j, i < j, a basis of the skew ones: shape (3, 3, 3).

    >>> skew_basis().shape
    (3, 3, 3)
    """
    e = np.eye(3)
    return np.stack([wedge(e[i], e[j]) for i, j in combinations(range(3), 2)])
