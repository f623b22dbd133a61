"""What a tensor has in every frame: scalar invariants, and the vector of its skew part.

The vector invariant `vect(T)` of the source is `vee(T)`, its `dual(u)` of a vector is `hat(u)`. `dual_vector` is the
way back, and refuses a tensor that is not skew. The `left_` pair has the opposite orientation. Source: Balafoutis &
Patel, section 3.3.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.tensors.checks import check_skew
from cayley.geometry.tensors.cross import hat


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


@kernel("(3,3)->(3)", check=check_skew)
def dual_vector(T: Array) -> Array:
    """The vector u with T = hat(u), (3.3.31), (3.3.33). A tensor that is not skew is refused: `vee` takes any.

    >>> dual_vector([[0.0, -3.0, 2.0], [3.0, 0.0, -1.0], [-2.0, 1.0, 0.0]])
    array([1., 2., 3.])
    """
    return np.stack([T[2, 1], T[0, 2], T[1, 0]])


@kernel("(3)->(3,3)")
def left_dual_tensor(u: Array) -> Array:
    """The skew tensor of the opposite orientation, (3.3.34): -hat(u), so that v x u = left_dual_tensor(u) @ v.

    >>> left_dual_tensor([0.0, 0.0, 1.0]) @ [1.0, 0.0, 0.0]
    array([ 0., -1.,  0.])
    """
    return -hat(u)


@kernel("(3,3)->(3)", check=check_skew)
def left_dual_vector(T: Array) -> Array:
    """The vector u with T = left_dual_tensor(u), (3.3.36). A tensor that is not skew is refused.

    >>> left_dual_vector(left_dual_tensor([1.0, 2.0, 3.0]))
    array([1., 2., 3.])
    """
    return -np.stack([T[2, 1], T[0, 2], T[1, 0]])
