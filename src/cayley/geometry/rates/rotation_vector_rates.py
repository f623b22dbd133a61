"""Angular velocity and acceleration of the rotation vector l = phi e, and back.

    w = a dl + b l x dl + k (l.dl) l      a = sin(phi)/phi, b = (1 - cos(phi))/phi^2, k = (phi - sin(phi))/phi^3

All three are smooth in l.l, at zero too; the body velocity has -b in place of b. The map from rates to velocities is
regular up to a full turn, half-turns included, and singular at full turns (phi = 2 pi, 4 pi, ...), where every axis
gives the same attitude. The matrix of the map is also what turns the linear part of a twist into a translation
(`motions.screws`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import first_failure, place, rounding_of
from cayley.geometry.rates.quaternion_rates import Rate
from cayley.geometry.rotations.even_functions import cubic_ratio, sine_ratio, versine_ratio
from cayley.geometry.tensors.cross import hat


def check_below_full_turn(l: ArrayLike, *_: object) -> None:
    """Raise `SingularityError` where a rotation vector is so near to a full turn (2 pi, 4 pi, ..., not 0) that its rate
    is not determined.

    >>> check_below_full_turn([0.0, 0.0, 2 * np.pi])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the rotation vector is a full turn: its angle is 6.28319 rad...
    """
    angle = np.linalg.norm(np.asarray(l, dtype=np.float64), axis=-1)
    bad = first_failure((angle < np.pi) | (np.abs(np.sin(angle / 2)) > max(1e-8, 8 * rounding_of(l))) | np.isnan(angle))
    if bad is not None:
        raise SingularityError(
            f"the rotation vector{place(bad)} is a full turn: its angle is {angle[bad]:.6g} rad. Every axis gives this "
            "attitude, so its rate is not determined; take the vector of the same attitude with an angle below pi")


@kernel("(3)->(3,3)")
def world_velocity_map(l: Array) -> Array:
    """The matrix from the rate of the rotation vector to the spatial angular velocity; its transpose gives the body
    velocity.

    It is the mean of the rotations exp(t hat(l)) for t from 0 to 1: 1 + b hat(l) + k hat(l)^2.

    >>> world_velocity_map([0.0, 0.0, 0.0])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    t2 = l @ l
    return sine_ratio(t2) * np.eye(3) + versine_ratio(t2) * hat(l) + cubic_ratio(t2) * np.outer(l, l)


@kernel("(3)->(3,3)", check=check_below_full_turn)
def world_velocity_map_inverse(l: Array) -> Array:
    """The matrix from the spatial angular velocity to the rate of the rotation vector; its transpose is the one for the
    body velocity.

    1 - hat(l)/2 + m hat(l)^2 with m = (1 - (phi/2) cot(phi/2))/phi^2: regular at zero and at half-turns, singular at
    full turns.

    >>> world_velocity_map_inverse([0.0, 0.0, np.pi])[2]
    array([0., 0., 1.])
    """
    t2 = l @ l
    spin = hat(l)
    return np.eye(3) - 0.5 * spin + cotangent_ratio(t2) * (spin @ spin)


@kernel("(3),(3)->(3),(3)")
def angular_velocity_from_rotation_vector_rate(l: Array, dl: Array) -> Rate:
    """Angular velocity `world` and `body` [rad/s] of the rotation vector `l` [rad] with the rate `dl` [rad/s].

    >>> angular_velocity_from_rotation_vector_rate([0.0, 0.0, np.pi], [0.0, 0.0, 2.0]).world
    array([0., 0., 2.])
    """
    t2 = l @ l
    along = sine_ratio(t2) * dl + (cubic_ratio(t2) * (l @ dl)) * l
    across = versine_ratio(t2) * np.cross(l, dl)
    return Rate(along + across, along - across)


@kernel("(3),(3),(3)->(3),(3)")
def angular_acceleration_from_rotation_vector_rates(l: Array, dl: Array, ddl: Array) -> Rate:
    """Angular acceleration `world` and `body` [rad/s^2] of the rotation vector with the rates `dl` [rad/s] and `ddl`
    [rad/s^2].

    >>> angular_acceleration_from_rotation_vector_rates([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]).world
    array([0., 0., 2.])
    """
    velocity = angular_velocity_from_rotation_vector_rate(l, ddl)
    along, across = _drift(l, dl)
    return Rate(velocity.world + along + across, velocity.body + along - across)


def _drift(l: Array, dl: Array) -> tuple[Array, ...]:
    """What the angular acceleration is when ddl = 0: its part along l and dl, and its part across them (opposite in the
    body).
    """
    t2 = l @ l
    a = sine_ratio(t2)
    b = versine_ratio(t2)
    k = cubic_ratio(t2)
    b_rate, k_rate = _slopes(t2, a, b, k)
    grown = l @ dl
    along = (k * (dl @ dl) + 2 * k_rate * grown * grown) * l + (2 * k - b) * grown * dl
    return along, 2 * b_rate * grown * np.cross(l, dl)


def _slopes(t2: Scalar, a: Scalar, b: Scalar, k: Scalar) -> tuple[Scalar, ...]:
    """The derivatives of b and k by the square of the angle: (a - 2b)/(2 t2) and (b - 3k)/(2 t2), by series where these
    cancel.
    """
    small = t2 < 1.0
    twice = 2 * where(small, 1.0, t2)
    series = [_alternating_derivative(t2, [factorial(2 * k + first) for k in range(11)]) for first in (2, 3)]
    return where(small, series[0], (a - 2 * b) / twice), where(small, series[1], (b - 3 * k) / twice)


def _alternating_derivative(x: Scalar, divisors: Sequence[float] | Array) -> Scalar:
    """The derivative of 1/d0 - x/d1 + x^2/d2 - ..."""
    total = 0.0
    for k in reversed(range(1, len(divisors))):
        total = (-1.0) ** k * k / divisors[k] + x * total
    return total


_COTANGENT = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600,
              3617 / 10670622842880000, 43867 / 5109094217170944000, 174611 / 802857662698291200000)


def cotangent_ratio(t2: Scalar) -> Scalar:
    """(1 - (t/2) cot(t/2))/t^2 of t^2; 1/12 at zero."""
    small = t2 < 1.0
    series = 0.0
    for coefficient in reversed(_COTANGENT):
        series = coefficient + t2 * series
    safe = where(small, 1.0, t2)
    half = 0.5 * np.sqrt(safe)
    return where(small, series, (1 - half * np.cos(half) / np.sin(half)) / safe)


@kernel("(3),(3)->(3)", check=check_below_full_turn)
def rotation_vector_rate_from_world_velocity(l: Array, w: Array) -> Array:
    """The rate of the rotation vector `l` [rad/s] under the spatial angular velocity `w` [rad/s].

    >>> rotation_vector_rate_from_world_velocity([0.0, 0.0, np.pi], [0.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    return world_velocity_map_inverse.unchecked(l) @ w


@kernel("(3),(3)->(3)", check=check_below_full_turn)
def rotation_vector_rate_from_body_velocity(l: Array, w: Array) -> Array:
    """The rate of the rotation vector `l` [rad/s] under the body angular velocity `w` [rad/s].

    >>> rotation_vector_rate_from_body_velocity([0.0, 0.0, np.pi], [0.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    return world_velocity_map_inverse.unchecked(l).T @ w


@kernel("(3),(3),(3)->(3)", check=check_below_full_turn)
def rotation_vector_second_rate_from_world_acceleration(l: Array, w: Array, dw: Array) -> Array:
    """The second rate of the rotation vector [rad/s^2] from spatial angular velocity and acceleration.

    >>> rotation_vector_second_rate_from_world_acceleration([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    along, across = _drift(l, rotation_vector_rate_from_world_velocity.unchecked(l, w))
    return world_velocity_map_inverse.unchecked(l) @ (dw - along - across)


@kernel("(3),(3),(3)->(3)", check=check_below_full_turn)
def rotation_vector_second_rate_from_body_acceleration(l: Array, w: Array, dw: Array) -> Array:
    """The second rate of the rotation vector [rad/s^2] from body angular velocity and acceleration.

    >>> rotation_vector_second_rate_from_body_acceleration([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0])
    array([0., 0., 2.])
    """
    along, across = _drift(l, rotation_vector_rate_from_body_velocity.unchecked(l, w))
    return world_velocity_map_inverse.unchecked(l).T @ (dw - along + across)
