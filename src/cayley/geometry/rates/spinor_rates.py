"""Angular velocity and acceleration of the unit spinor of a rotation, and the kinematic equation dpsi = -(i/2) (w .
sigma) psi.

Spinors are real arrays (2, 2) as in `rotations.spinor`. Source: Mladenova 2.3 (57)-(63), corrected as in spec E-11.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.rates.quaternion_rates import Rate, StretchedRate, angular_acceleration_from_homogeneous_rates
from cayley.geometry.rotations.complex_numbers import IMAGINARY_UNIT, matrix_product, product
from cayley.geometry.rotations.spinor import (
    check_unit_spinor,
    inverse_spinor,
    quaternion_from_spinor,
    spinor_matrix,
    spinor_product,
)


@kernel("(2,2),(2,2)->(3),(3),()", check=check_unit_spinor)
def angular_velocity_from_spinor_rate(psi: Array, dpsi: Array) -> StretchedRate:
    """Angular velocity `world` and `body` [rad/s]: f(0, w) = -2i (dpsi)^ f(q^-1) and f(0, w_b) = -2i (q^-1)^ dpsi.
    Mladenova (62), (63).

    `stretch`, the real part of psi^+ dpsi [1/s], should be zero: it would change the norm, not the rotation.

    >>> angular_velocity_from_spinor_rate([[0.0, 1.0], [0.0, 0.0]], [[1.5, 0.0], [0.5, 1.0]]).world
    array([1., 2., 3.])
    """
    per = 2 / np.sum(psi * psi)
    back = inverse_spinor(psi)
    world = quaternion_from_spinor(spinor_product(dpsi, back))
    body = quaternion_from_spinor(spinor_product(back, dpsi))
    return StretchedRate(per * world[1:], per * body[1:], per * np.sum(psi * dpsi) / 2)


@kernel("(2,2),(2,2),(2,2)->(3),(3)", check=check_unit_spinor)
def angular_acceleration_from_spinor_rates(psi: Array, dpsi: Array, ddpsi: Array) -> Rate:
    """Angular acceleration `world` and `body` [rad/s^2] of a unit spinor with the rates `dpsi` and `ddpsi`.

    >>> angular_acceleration_from_spinor_rates([[0.0, 1.0], [0.0, 0.0]], np.zeros((2, 2)),
    ...                                        [[1.5, 0.0], [0.5, 1.0]]).world
    array([1., 2., 3.])
    """
    return Rate(*angular_acceleration_from_homogeneous_rates.unchecked(*(quaternion_from_spinor(x)
                                                                         for x in (psi, dpsi, ddpsi))))


@kernel("(2,2),(3)->(2,2)", check=check_unit_spinor)
def spinor_rate_from_world_velocity(psi: Array, w: Array) -> Array:
    """The rate of a unit spinor under the spatial angular velocity `w` [rad/s]: -(i/2) (w . sigma) psi. Mladenova (61).

    >>> spinor_rate_from_world_velocity([[0.0, 1.0], [0.0, 0.0]], [1.0, 2.0, 3.0])[1]
    array([0.5, 1. ])
    """
    return -0.5 * product(IMAGINARY_UNIT, matrix_product(spinor_matrix(_pure(w)), psi))


@kernel("(2,2),(3)->(2,2)", check=check_unit_spinor)
def spinor_rate_from_body_velocity(psi: Array, w: Array) -> Array:
    """The rate of a unit spinor under the body angular velocity `w` [rad/s]: f(q (0; w)) / 2.

    >>> spinor_rate_from_body_velocity([[0.0, 1.0], [0.0, 0.0]], [1.0, 2.0, 3.0])[1]
    array([0.5, 1. ])
    """
    return 0.5 * spinor_product(psi, np.array([[w[2], 0.0], [w[0], w[1]]]))


@kernel("(2,2),(3),(3)->(2,2)", check=check_unit_spinor)
def spinor_second_rate_from_world_acceleration(psi: Array, w: Array, dw: Array) -> Array:
    """The second rate of a unit spinor from spatial angular velocity and acceleration: -(i/2) (dw . sigma) psi - |w|^2
    psi / 4.

    >>> spinor_second_rate_from_world_acceleration([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 2.0], [1.0, 2.0, 3.0])
    array([[ 1.5, -1. ],
           [ 0.5,  1. ]])
    """
    return spinor_rate_from_world_velocity.unchecked(psi, dw) - 0.25 * (w @ w) * psi


@kernel("(2,2),(3),(3)->(2,2)", check=check_unit_spinor)
def spinor_second_rate_from_body_acceleration(psi: Array, w: Array, dw: Array) -> Array:
    """The second rate of a unit spinor from body angular velocity and acceleration.

    >>> spinor_second_rate_from_body_acceleration([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0, 2.0], [1.0, 2.0, 3.0])
    array([[ 1.5, -1. ],
           [ 0.5,  1. ]])
    """
    return spinor_rate_from_body_velocity.unchecked(psi, dw) - 0.25 * (w @ w) * psi


@kernel("(2,2),(3)->(3)", check=check_unit_spinor)
def rotate_by_spinor(psi: Array, x: Array) -> Array:
    """The vector x turned by a unit spinor, in spinor algebra alone: f(0, x') = -psi^ (x . sigma) f(q^-1). Mladenova
    (57)-(60), E-11.

    >>> rotate_by_spinor([[1.0, 0.0], [0.0, 0.0]], [1.0, 2.0, 3.0])   # a half-turn about the third axis
    array([-1., -2.,  3.])
    """
    turn = spinor_matrix(quaternion_from_spinor(psi))
    return -quaternion_from_spinor(matrix_product(turn, matrix_product(spinor_matrix(_pure(x)),
                                                                       inverse_spinor(psi))))[1:]


def _pure(x: Array) -> Array:
    return np.array([0.0, x[0], x[1], x[2]])
