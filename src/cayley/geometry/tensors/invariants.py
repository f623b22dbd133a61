"""What a tensor has in every frame: scalar invariants, and the vector of its skew part.

The vector invariant `vect(T)` of the source is `vee(T)`, its `dual(u)` of a vector is `hat(u)`. `dual_vector` is the
way back, and refuses a tensor that is not skew. The `left_` pair has the opposite orientation. Source: Balafoutis &
Patel, section 3.3.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.tensors.checks import check_skew
from cayley.geometry.tensors.cross import hat


class ScalarInvariants(NamedTuple):
    trace: float
    minors: float
    determinant: float
    square: float


class PrincipalInvariants(NamedTuple):
    first: float
    second: float
    third: float


class PowerTraces(NamedTuple):
    first: float
    second: float
    third: float


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


@kernel("(3,3)->(),(),()")
def principal_invariants(T: Array) -> PrincipalInvariants:
    """The invariants I1, I2, I3 of a tensor: the coefficients of its characteristic polynomial, (3.3.18)-(3.3.20).

    >>> np.array(principal_invariants(np.diag([1.0, 2.0, 3.0])))
    array([ 6., 11.,  6.])
    """
    return PrincipalInvariants(*scalar_invariants(T)[:3])


@kernel("(3)->(),(),()")
def principal_from_eigenvalues(values: Array) -> PrincipalInvariants:
    """The invariants I1, I2, I3 of the symmetric tensor with these three eigenvalues, (3.3.22)-(3.3.24).

    >>> np.array(principal_from_eigenvalues([1.0, 2.0, 3.0]))
    array([ 6., 11.,  6.])
    """
    a, b, c = values
    return PrincipalInvariants(a + b + c, a * b + b * c + c * a, a * b * c)


@kernel("(3,3)->(),(),()")
def power_traces(T: Array) -> PowerTraces:
    """F1 = tr T, F2 = tr T^2, F3 = tr T^3 (Remark 3.5): invariants that need no components.

    >>> np.array(power_traces(np.diag([1.0, 2.0, 3.0])))
    array([ 6., 14., 36.])
    """
    square = T @ T
    return PowerTraces(np.trace(T), np.trace(square), np.sum(square * T.T))


@kernel("(),(),()->(),(),()")
def principal_from_power_traces(first: Scalar, second: Scalar, third: Scalar) -> PrincipalInvariants:
    """I1 = F1, I2 = (F1^2 - F2) / 2, I3 = (2 F3 + F1^3 - 3 F1 F2) / 6 (Remark 3.5).

    >>> np.array(principal_from_power_traces(6.0, 14.0, 36.0))
    array([ 6., 11.,  6.])
    """
    return PrincipalInvariants(first, (first * first - second) / 2,
                               (2 * third + first * first * first - 3 * first * second) / 6)


@kernel("(),()->()")
def symmetric_square(first: Scalar, second: Scalar) -> Scalar:
    """I4 = I1^2 - 2 I2 of a symmetric tensor, from its first two invariants.

    >>> float(symmetric_square(6.0, 11.0))
    14.0
    """
    return first * first - 2 * second


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
