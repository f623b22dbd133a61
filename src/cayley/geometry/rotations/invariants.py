"""What of a rotation is the same in every frame: linear invariants (vector and trace) and natural ones (axis and
angle).

    vect(Q) = sin(phi) e      tr(Q) = 1 + 2 cos(phi)

Source: Ruggiu 1.2.5, (1.36)-(1.37) and Fig. 1.10, in the form that keeps its digits near 0 and near a half-turn (spec
S2-10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.scaling import direction
from cayley.geometry.tensors.cross import vee
from cayley.geometry.tensors.decomposition import skew_part, symmetric_part


class LinearInvariants(NamedTuple):
    symmetric: Array
    skew: Array
    vector: Array
    trace: Scalar


class NaturalInvariants(NamedTuple):
    axis: Array
    angle: Scalar
    other_axis: Array
    other_angle: Scalar
    axis_is_free: Scalar
    sign_is_free: Scalar


@kernel("(3,3)->(3,3),(3,3),(3),()")
def linear_invariants(A: Array) -> LinearInvariants:
    """The Cartesian decomposition A = symmetric + skew of any 3x3, its vector (vector x v = skew v for all v) and its
    trace.

    >>> found = linear_invariants([[1.0, 0.0, 0.0], [4.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    >>> found.vector @ found.vector, found.trace
    (np.float64(4.0), np.float64(6.0))
    """
    return LinearInvariants(symmetric_part(A), skew_part(A), vee(A), np.trace(A))


@kernel("(3,3)->(3),(),(3),(),(),()", check=check_rotation_matrix)
def natural_invariants(Q: Array) -> NaturalInvariants:
    """Axis and angle [rad] of a rotation, both pairs: (e, phi) with phi in [0, pi], and (-e, -phi).

    The axis comes from vect(Q) up to a quarter turn, beyond it from the largest column of the symmetric part minus
    cos(phi) 1, which is (1 - cos(phi)) e e^T; each keeps its digits where the other loses them. `axis_is_free` is 1
    where phi = 0, every axis will do and (0, 0, 1) is given; `sign_is_free` is 1 at a half-turn, where (-e, phi) serves
    as well. Ruggiu (1.36), (1.37).

    >>> natural_invariants(np.diag([-1.0, 1.0, -1.0])).axis
    array([0., 1., 0.])
    """
    vector = vee(Q)
    cosine = (np.trace(Q) - 1) / 2
    _, sine = direction(vector)
    column = _largest_column(symmetric_part(Q) - cosine * np.eye(3), vector)
    axis, length = direction(where(cosine > 0, vector, column))
    angle = np.arctan2(sine, cosine)
    axis_is_free = length == 0
    sign_is_free = _is_rounding(sine) & (cosine < 0)
    return NaturalInvariants(axis, angle, -axis, -angle, where(axis_is_free, 1.0, 0.0), where(sign_is_free, 1.0, 0.0))


def _is_rounding(sine: Scalar) -> Scalar:
    """Whether it is at most four roundings of one, in the precision that the kernel runs in."""
    return 1.0 + 0.125 * sine == 1.0


def _largest_column(dyad: Array, vector: Array) -> Array:
    """The column of c e e^T that has the largest diagonal element, along the vector, not against it."""
    x = dyad[0, 0]
    y = dyad[1, 1]
    z = dyad[2, 2]
    column = where((x >= y) & (x >= z), dyad[:, 0], where(y >= z, dyad[:, 1], dyad[:, 2]))
    return where(column @ vector < 0, -column, column)

