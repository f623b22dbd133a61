"""A vector as the skew tensor of its cross product, and back. (Balafoutis & Patel: `dual` and `vect` of a skew tensor.)

>>> hat([1.0, 2.0, 3.0]) @ [1.0, 0.0, 0.0]
array([ 0.,  3., -2.])
>>> vee(hat([1.0, 2.0, 3.0]))
array([1., 2., 3.])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.geometry.formula import formula


def skew(v: Sequence[Scalar] | Array) -> Array:
    """The matrix (3, 3) of v x, for one vector of any scalars; `hat` is its kernel, for stacks of numbers.

    >>> skew([1.0, 2.0, 3.0]) @ [1.0, 0.0, 0.0]
    array([ 0.,  3., -2.])
    """
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


hat = formula("hat", "(3)->(3,3)", lambda v: skew(v),
              "The skew matrix of the cross product: `hat(v) @ x == np.cross(v, x)`.")
vee = formula("vee", "(3,3)->(3)", lambda m: np.stack([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]) / 2,
              "The vector of the skew part of a matrix; for a skew matrix the inverse of `hat`.")

