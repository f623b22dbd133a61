"""The Cartesian decomposition of a tensor into a symmetric and a skew part, the wedge product, and bases of the two
spaces.

Source: Balafoutis & Patel, section 3.3.2, equations (3.3.7)-(3.3.9).
"""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.tensors.checks import unit_vectors


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
    """The dyads e_i (x) e_j of a frame, as an array [i, j] of tensors; T = sum of T_ij e_i (x) e_j, (3.2.17).

    The columns of `frame` (n, n) are the unit vectors e_i; without it they are the axes of space themselves.

    >>> np.einsum("ij,ijkl", [[1, 2, 3], [4, 5, 6], [7, 8, 9]], dyad_basis())
    array([[1., 2., 3.],
           [4., 5., 6.],
           [7., 8., 9.]])
    """
    e = unit_vectors(frame)
    return np.einsum("ki,lj->ijkl", e, e)


def symmetric_basis(n: int = 3) -> Array:
    """The n (n + 1) / 2 tensors e_i (x) e_j + e_j (x) e_i, i <= j, a basis of the symmetric ones, orthogonal to each
    other: shape (6, 3, 3) in space.

    >>> symmetric_basis().shape, symmetric_basis(5).shape
    ((6, 3, 3), (15, 5, 5))
    """
    e = np.eye(n)
    pairs = combinations_with_replacement(range(n), 2)
    return np.array([np.outer(e[i], e[j]) + np.outer(e[j], e[i]) for i, j in pairs]).reshape(-1, n, n)


def skew_basis(n: int = 3) -> Array:
    """The n (n - 1) / 2 tensors e_i ^ e_j, i < j, a basis of the skew ones, orthogonal to each other: shape (3, 3, 3)
    in space, and nothing for n = 1.

    >>> skew_basis().shape, skew_basis(4).shape
    ((3, 3, 3), (6, 4, 4))
    """
    e = np.eye(n)
    pairs = combinations(range(n), 2)
    return np.array([np.outer(e[i], e[j]) - np.outer(e[j], e[i]) for i, j in pairs]).reshape(-1, n, n)
