"""Angular velocity and acceleration of quaternions and of homogeneous vector-parameters, and the kinematic equations
back.

A homogeneous vector-parameter h = [w : v] is any multiple of the quaternion of the rotation: c = v / w, and w = 0 is a
half-turn like any other attitude. The pair (s; d) of Mladenova's second chart is its multiple of norm one. So one set
of formulas serves: those of `homogeneous_...` hold for every norm, those of `quaternion_...` check that the norm is
one. Rates from angular velocities keep the norm; a norm that changes does not disturb the angular velocity, it is
reported as `stretch`. Sources: Mladenova 2.2, after (26), corrected as in spec E-04; 2.4, second chart, spec R-13.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion, check_unit_quaternion
from cayley.geometry.scaling import largest_component, scaling


class StretchedRate(NamedTuple):
    world: Array
    body: Array
    stretch: Scalar


class Rate(NamedTuple):
    world: Array
    body: Array


@kernel("(4),(4)->(3),(3),()", check=check_nonzero_quaternion)
def angular_velocity_from_homogeneous_rate(h: Array, dh: Array) -> StretchedRate:
    """Angular velocity `world` and `body` [rad/s] of [w : v] with the rate `dh`, for any norm: vector parts of 2 dh
    h^-1 and 2 h^-1 dh.

    `stretch` = h.dh / h.h [1/s] is the relative rate of the norm, which has no part in the rotation.

    >>> angular_velocity_from_homogeneous_rate([2.0, 0.0, 0.0, 0.0], [0.5, 1.0, 2.0, 3.0])
    StretchedRate(world=array([1., 2., 3.]), body=array([1., 2., 3.]), stretch=np.float64(0.25))
    """
    scale = scaling(largest_component(h))
    return _velocity(scale * h, scale * dh)


def _velocity(h: Array, dh: Array) -> StretchedRate:
    along, across = _parts(h, dh)
    per = 1 / (h @ h)
    return StretchedRate(2 * per * (along + across), 2 * per * (along - across), per * (h @ dh))


@kernel("(4),(4),(4)->(3),(3)", check=check_nonzero_quaternion)
def angular_acceleration_from_homogeneous_rates(h: Array, dh: Array, ddh: Array) -> Rate:
    """Angular acceleration `world` and `body` [rad/s^2] of [w : v] with the rates `dh` and `ddh`, for any norm.

    >>> angular_acceleration_from_homogeneous_rates([2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0],
    ...                                             [0.0, 1.0, 2.0, 3.0]).world
    array([1., 2., 3.])
    """
    scale = scaling(largest_component(h))
    return _acceleration(scale * h, scale * dh, scale * ddh)


def _acceleration(h: Array, dh: Array, ddh: Array) -> Rate:
    velocity = _velocity(h, dh)
    along, across = _parts(h, ddh)
    per = 2 / (h @ h)
    return Rate(per * (along + across) - 2 * velocity.stretch * velocity.world,
                per * (along - across) - 2 * velocity.stretch * velocity.body)


def _parts(h: Array, dh: Array) -> tuple[Array, ...]:
    """w dv - dw v and v x dv: the vector part of dh conj(h) is their sum, that of conj(h) dh their difference."""
    return h[0] * dh[1:] - dh[0] * h[1:], np.cross(h[1:], dh[1:])


@kernel("(4),(3)->(4)", check=check_nonzero_quaternion)
def homogeneous_rate_from_world_velocity(h: Array, w: Array) -> Array:
    """The rate of [w : v] under the spatial angular velocity `w` [rad/s]: (0; w) h / 2. The norm does not change.

    >>> homogeneous_rate_from_world_velocity([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. ,  0. ])
    """
    return _product(w, h, np.cross(w, h[1:]))


@kernel("(4),(3)->(4)", check=check_nonzero_quaternion)
def homogeneous_rate_from_body_velocity(h: Array, w: Array) -> Array:
    """The rate of [w : v] under the body angular velocity `w` [rad/s]: h (0; w) / 2. The norm does not change.

    >>> homogeneous_rate_from_body_velocity([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. ,  0. ])
    """
    return _product(w, h, np.cross(h[1:], w))


def _product(w: Array, h: Array, cross: Array) -> Array:
    return 0.5 * np.concatenate([np.stack([-(w @ h[1:])]), h[0] * w + cross])


@kernel("(4),(3),(3)->(4)", check=check_nonzero_quaternion)
def homogeneous_second_rate_from_world_acceleration(h: Array, w: Array, dw: Array) -> Array:
    """The second rate of [w : v] from spatial angular velocity and acceleration: (0; dw) h / 2 - |w|^2 h / 4.

    >>> homogeneous_second_rate_from_world_acceleration([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. , -1. ])
    """
    return homogeneous_rate_from_world_velocity.unchecked(h, dw) - 0.25 * (w @ w) * h


@kernel("(4),(3),(3)->(4)", check=check_nonzero_quaternion)
def homogeneous_second_rate_from_body_acceleration(h: Array, w: Array, dw: Array) -> Array:
    """The second rate of [w : v] from body angular velocity and acceleration: h (0; dw) / 2 - |w|^2 h / 4.

    >>> homogeneous_second_rate_from_body_acceleration([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. , -1. ])
    """
    return homogeneous_rate_from_body_velocity.unchecked(h, dw) - 0.25 * (w @ w) * h


@kernel("(4),(4)->(3),(3),()", check=check_unit_quaternion)
def angular_velocity_from_quaternion_rate(q: Array, dq: Array) -> StretchedRate:
    """Angular velocity `world` and `body` [rad/s] of a unit quaternion with the rate `dq`; `stretch` = q.dq should be
    zero.

    >>> angular_velocity_from_quaternion_rate([1.0, 0.0, 0.0, 0.0], [0.0, 0.5, 1.0, 1.5]).world
    array([1., 2., 3.])
    """
    return _velocity(q, dq)


@kernel("(4),(4),(4)->(3),(3)", check=check_unit_quaternion)
def angular_acceleration_from_quaternion_rates(q: Array, dq: Array, ddq: Array) -> Rate:
    """Angular acceleration `world` and `body` [rad/s^2] of a unit quaternion with the rates `dq` and `ddq`.

    >>> angular_acceleration_from_quaternion_rates([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0],
    ...                                            [0.0, 0.5, 1.0, 1.5]).world
    array([1., 2., 3.])
    """
    return _acceleration(q, dq, ddq)


@kernel("(4),(3)->(4)", check=check_unit_quaternion)
def quaternion_rate_from_world_velocity(q: Array, w: Array) -> Array:
    """The rate of a unit quaternion under the spatial angular velocity `w` [rad/s]: (0; w) q / 2; q.dq = 0.

    >>> quaternion_rate_from_world_velocity([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. ,  0. ])
    """
    return homogeneous_rate_from_world_velocity.unchecked(q, w)


@kernel("(4),(3)->(4)", check=check_unit_quaternion)
def quaternion_rate_from_body_velocity(q: Array, w: Array) -> Array:
    """The rate of a unit quaternion under the body angular velocity `w` [rad/s]: q (0; w) / 2; q.dq = 0.

    >>> quaternion_rate_from_body_velocity([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. ,  0. ])
    """
    return homogeneous_rate_from_body_velocity.unchecked(q, w)


@kernel("(4),(3),(3)->(4)", check=check_unit_quaternion)
def quaternion_second_rate_from_world_acceleration(q: Array, w: Array, dw: Array) -> Array:
    """The second rate of a unit quaternion from spatial angular velocity and acceleration; q.ddq = -|w|^2 / 4.

    >>> quaternion_second_rate_from_world_acceleration([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. , -1. ])
    """
    return homogeneous_second_rate_from_world_acceleration.unchecked(q, w, dw)


@kernel("(4),(3),(3)->(4)", check=check_unit_quaternion)
def quaternion_second_rate_from_body_acceleration(q: Array, w: Array, dw: Array) -> Array:
    """The second rate of a unit quaternion from body angular velocity and acceleration; q.ddq = -|w|^2 / 4.

    >>> quaternion_second_rate_from_body_acceleration([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 1.0])
    array([-0.5,  0. ,  0. , -1. ])
    """
    return homogeneous_second_rate_from_body_acceleration.unchecked(q, w, dw)
