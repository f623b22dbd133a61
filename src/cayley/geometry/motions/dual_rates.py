"""The kinematic equations of rigid motions in dual vector-parameters: those of rotations, over dual numbers.

    w^ = 2 (c^' + c^ x c^') / (1 + c^.c^)         c^' = (w^ + c^ (c^.w^) - c^ x w^) / 2
w^ = w + mu w* is the dual angular velocity: w the angular velocity, w* the velocity of the point of the body that is at
the origin, p' - w x p in the axes of the world; in those of the body, where the signs of the vector products change,
R^T p', the velocity of its own origin. As the twist (w*; w) it is at hand for every frame of a mechanism,
`arm.twist(q, qd, frame, axes="world", at="world")`, or `axes="body"`. Half-turns send c^ to infinity in finite time:
`integrate_pose` goes through. Source: Mladenova (157), spec S0-73; for rotations (79), (81).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.geometry.motions.dual import Dual, dual_cross, dual_dot
from cayley.geometry.rotations.vector_parameter import check_vector_parameter


class DualRate(NamedTuple):
    """A dual angular velocity (2, 3), (w, w*) [rad/s, m/s], in the axes of the `world` and in those of the `body`."""

    world: Array
    body: Array


def _check_finite(c: ArrayLike, *_: object) -> None:
    check_vector_parameter(np.asarray(c)[..., 0, :])


@kernel("(2,3),(2,3)->(2,3),(2,3)", check=_check_finite)
def dual_velocity_from_dual_vector_parameter_rate(c: Array, dc: Array) -> DualRate:
    """The dual angular velocity `world` and `body` (2, 3) from c^ and its rate (2, 3), (real, dual) [-, m; 1/s, m/s].
    `SingularityError` where c is not finite. Mladenova (157).

    >>> here = [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]   # a quarter turn about z, and 2 m up
    >>> dual_velocity_from_dual_vector_parameter_rate(here, [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]).world
    array([[0., 0., 1.],
           [0., 0., 0.]])
    """
    at = Dual(c[0], c[1])
    rate = Dual(dc[0], dc[1])
    per = 2 / (1 + dual_dot(at, at))
    across = dual_cross(at, rate)
    return DualRate((per * (rate + across)).stacked(), (per * (rate - across)).stacked())


@kernel("(2,3),(2,3)->(2,3)")
def dual_vector_parameter_rate_from_world_velocity(c: Array, w: Array) -> Array:
    """The rate (2, 3) of c^ under the dual angular velocity w^ (2, 3) in the axes of the world: (w^ + c^ (c^.w^) - c^ x
    w^) / 2.

    >>> dual_vector_parameter_rate_from_world_velocity([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]], [[0, 0, 1.0], [0, 0, 0.0]])
    array([[0., 0., 1.],
           [0., 0., 2.]])
    """
    return _rate(Dual(c[0], c[1]), Dual(w[0], w[1]), -1.0)


@kernel("(2,3),(2,3)->(2,3)")
def dual_vector_parameter_rate_from_body_velocity(c: Array, w: Array) -> Array:
    """The rate (2, 3) of c^ under the dual angular velocity w^ (2, 3) in the axes of the body: (w^ + c^ (c^.w^) + c^ x
    w^) / 2.

    >>> dual_vector_parameter_rate_from_body_velocity([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]], [[1.0, 0, 0], [0, 0, 0.0]])
    array([[0.5, 0.5, 0. ],
           [0. , 1. , 0. ]])
    """
    return _rate(Dual(c[0], c[1]), Dual(w[0], w[1]), 1.0)


def _rate(c: Dual, w: Dual, hand: float) -> Array:
    return (0.5 * (w + c * dual_dot(c, w) + hand * dual_cross(c, w))).stacked()
