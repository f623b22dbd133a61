"""Angular velocity and acceleration of the vector-parameter c = tan(phi/2) e, and its kinematic differential equation.

The equation dc = (1 + c c^T - hat(c)) w / 2 sends c to infinity at a half-turn, in finite time: integrate with
`integrate_attitude`, which goes through, or use the homogeneous form of `quaternion_rates`.
Sources: Mladenova (79)-(81), spec R-19, R-20.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.rates.quaternion_rates import Rate
from cayley.geometry.rotations.vector_parameter import check_vector_parameter, doubled_share


@kernel("(3),(3)->(3),(3)", check=check_vector_parameter)
def angular_velocity_from_vector_parameter_rate(c: Array, dc: Array) -> Rate:
    """Angular velocity `world` and `body` [rad/s]: 2 (dc +- c x dc) / (1 + c.c). Mladenova (79).

    >>> angular_velocity_from_vector_parameter_rate([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    Rate(world=array([1., 1., 0.]), body=array([ 1., -1.,  0.]))
    """
    per, turn = doubled_share(c)
    along = per * dc
    across = np.cross(turn, dc)
    return Rate(along + across, along - across)


@kernel("(3),(3),(3)->(3),(3)", check=check_vector_parameter)
def angular_acceleration_from_vector_parameter_rates(c: Array, dc: Array, ddc: Array) -> Rate:
    """Angular acceleration `world` and `body` [rad/s^2]: 2 (ddc +- c x ddc - (c.dc) w) / (1 + c.c). Mladenova (80).

    >>> angular_acceleration_from_vector_parameter_rates([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]).world
    array([ 1.,  1., -1.])
    """
    per, turn = doubled_share(c)
    along = per * ddc
    across = np.cross(turn, ddc)
    velocity = angular_velocity_from_vector_parameter_rate(c, dc)
    growth = turn @ dc
    return Rate(along + across - growth * velocity.world, along - across - growth * velocity.body)


@kernel("(3),(3)->(3)")
def vector_parameter_rate_from_world_velocity(c: Array, w: Array) -> Array:
    """The rate of `c` [1/s] under the spatial angular velocity `w` [rad/s]: (w + c (c.w) - c x w) / 2. Mladenova (81).

    >>> vector_parameter_rate_from_world_velocity([0.0, 0.0, 1.0], [1.0, 1.0, 0.0])
    array([1., 0., 0.])
    """
    return 0.5 * (w + (c @ w) * c - np.cross(c, w))


@kernel("(3),(3)->(3)")
def vector_parameter_rate_from_body_velocity(c: Array, w: Array) -> Array:
    """The rate of `c` [1/s] under the body angular velocity `w` [rad/s]: (w + c (c.w) + c x w) / 2.

    >>> vector_parameter_rate_from_body_velocity([0.0, 0.0, 1.0], [1.0, -1.0, 0.0])
    array([1., 0., 0.])
    """
    return 0.5 * (w + (c @ w) * c + np.cross(c, w))


@kernel("(3),(3),(3)->(3)")
def vector_parameter_second_rate_from_world_acceleration(c: Array, w: Array, dw: Array) -> Array:
    """The second rate of `c` [1/s^2] from spatial angular velocity and acceleration: A dw + (c.w) dc, A w = dc. Spec
    R-24.

    >>> vector_parameter_second_rate_from_world_acceleration([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, -1.0])
    array([1., 0., 0.])
    """
    return vector_parameter_rate_from_world_velocity(c, dw) + (c @ w) * vector_parameter_rate_from_world_velocity(c, w)


@kernel("(3),(3),(3)->(3)")
def vector_parameter_second_rate_from_body_acceleration(c: Array, w: Array, dw: Array) -> Array:
    """The second rate of `c` [1/s^2] from body angular velocity and acceleration.

    >>> vector_parameter_second_rate_from_body_acceleration([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, -1.0, -1.0])
    array([1., 0., 0.])
    """
    return vector_parameter_rate_from_body_velocity(c, dw) + (c @ w) * vector_parameter_rate_from_body_velocity(c, w)
