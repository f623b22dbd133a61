"""A vector as the skew tensor of its cross product, and back. (Balafoutis & Patel: `dual` and `vect` of a skew tensor.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar


def skew(v: Sequence[Scalar] | Array) -> Array:
    """The matrix (3, 3) of v x, for one vector of any scalars; `hat` is its kernel, for stacks of numbers.

    >>> skew([1.0, 2.0, 3.0]) @ [1.0, 0.0, 0.0]
    array([ 0.,  3., -2.])
    """
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


@kernel("(3)->(3,3)")
def hat(v: Array) -> Array:
    """The skew matrix of the cross product: `hat(v) @ x == np.cross(v, x)`.

    >>> hat([1.0, 2.0, 3.0]) @ [1.0, 0.0, 0.0]
    array([ 0.,  3., -2.])
    """
    return skew(v)


@kernel("(3,3)->(3)")
def vee(m: Array) -> Array:
    """The vector of the skew part of a matrix; for a skew matrix the inverse of `hat`.

    >>> vee(hat([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    return np.stack([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2
