"""The Cartesian decomposition of a tensor into a symmetric and a skew part, the wedge product, and bases of the two
spaces.

Source: Balafoutis & Patel, section 3.3.2, equations (3.3.7)-(3.3.9).
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array


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
