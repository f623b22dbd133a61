"""Angular velocity and acceleration of Euler angles, for all twelve sequences about moving or about fixed axes, and
back.

The angular velocity is the sum of the three turns about their present axes, w = u1 da1 + u2 da2 + u3 da3. The middle
axis is perpendicular to the two outer ones; where these are parallel (sin of the middle angle zero for a proper
sequence, cos for a Tait-Bryan one) the map to velocities loses a direction and has no inverse. Sources: Yamamoto
(1.30)-(1.35), spec S3-19; sequences and axes as in `rotations.euler`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SingularityError
from cayley.geometry.batch import first_failure, float_array, place, rounding_of
from cayley.geometry.rates.quaternion_rates import Rate
from cayley.geometry.rotations.euler import Axes, euler_kernels
from cayley.geometry.rotations.matrix import rotation_x, rotation_y, rotation_z

_ELEMENTARY = {"x": rotation_x, "y": rotation_y, "z": rotation_z}


class EulerRateKernels(NamedTuple):
    """The kernels of one convention."""

    velocity_map: Kernel
    velocity: Kernel[Rate]
    acceleration: Kernel[Rate]
    rates_from_world: Kernel
    rates_from_body: Kernel
    accelerations_from_world: Kernel
    accelerations_from_body: Kernel


def world_velocity_map_of_euler(angles: ArrayLike, *, sequence: str, axes: Axes) -> Array:
    """The matrix (..., 3, 3) from the rates of Euler angles to the spatial angular velocity: the present axes of the
    turns as columns.

    Its determinant is, up to its sign, the sine (proper sequences) or the cosine (Tait-Bryan) of the middle angle.
    Yamamoto (1.32).

    >>> world_velocity_map_of_euler([0.5, 0.7, 0.3], sequence="zyz", axes="moving")
    array([[ 0.        , -0.47942554,  0.56535421],
           [ 0.        ,  0.87758256,  0.30885441],
           [ 1.        ,  0.        ,  0.76484219]])
    """
    return euler_rate_kernels(sequence, axes=axes).velocity_map(angles)


def angular_velocity_from_euler_rates(angles: ArrayLike, rates: ArrayLike, *, sequence: str, axes: Axes) -> Rate:
    """Angular velocity `world` and `body` (..., 3) [rad/s] of Euler angles [rad] with `rates` [rad/s]. Yamamoto
    (1.30)-(1.33).

    >>> # spec W3-04
    >>> angular_velocity_from_euler_rates([0.3, 0.7, -1.1], [0.4, -0.9, 1.3], sequence="zyz", axes="moving").world 
    array([ 1.06604625, -0.61230969,  1.39429484])
    """
    return euler_rate_kernels(sequence, axes=axes).velocity(angles, rates)


def angular_acceleration_from_euler_rates(angles: ArrayLike, rates: ArrayLike, second_rates: ArrayLike, *,
                                          sequence: str, axes: Axes) -> Rate:
    """Angular acceleration `world` and `body` (..., 3) [rad/s^2] of Euler angles with `rates` and `second_rates`.

    >>> angular_acceleration_from_euler_rates([0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0], sequence="zyz",
    ...                                       axes="moving").world
    array([-2.,  0.,  0.])
    """
    return euler_rate_kernels(sequence, axes=axes).acceleration(angles, rates, second_rates)


def euler_rates_from_world_velocity(angles: ArrayLike, w: ArrayLike, *, sequence: str, axes: Axes) -> Array:
    """The rates of Euler angles (..., 3) [rad/s] under the spatial angular velocity `w`. `SingularityError` where there
    are none.

    >>> euler_rates_from_world_velocity([0.3, 0.0, 0.0], [0.0, 0.0, 1.0], sequence="zyz", axes="moving")
    Traceback (most recent call last):
    cayley.errors.SingularityError: zyz angles about moving axes are singular: the outer axes are parallel (margin ...
    """
    return euler_rate_kernels(sequence, axes=axes).rates_from_world(angles, w)


def euler_rates_from_body_velocity(angles: ArrayLike, w: ArrayLike, *, sequence: str, axes: Axes) -> Array:
    """The rates of Euler angles (..., 3) [rad/s] under the body angular velocity `w`. `SingularityError` where there
    are none.

    >>> euler_rates_from_body_velocity([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], sequence="zyx", axes="moving")
    array([3., 2., 1.])
    """
    return euler_rate_kernels(sequence, axes=axes).rates_from_body(angles, w)


def euler_second_rates_from_world_acceleration(angles: ArrayLike, w: ArrayLike, dw: ArrayLike, *, sequence: str,
                                               axes: Axes) -> Array:
    """The second rates of Euler angles [rad/s^2] from spatial angular velocity and acceleration. `SingularityError`
    where there are none.

    >>> euler_second_rates_from_world_acceleration([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], sequence="zyx",
    ...                                            axes="moving")
    array([3., 2., 1.])
    """
    return euler_rate_kernels(sequence, axes=axes).accelerations_from_world(angles, w, dw)


def euler_second_rates_from_body_acceleration(angles: ArrayLike, w: ArrayLike, dw: ArrayLike, *, sequence: str,
                                              axes: Axes) -> Array:
    """The second rates of Euler angles [rad/s^2] from body angular velocity and acceleration. `SingularityError` where
    there are none.

    >>> euler_second_rates_from_body_acceleration([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], sequence="zyx",
    ...                                           axes="moving")
    array([3., 2., 1.])
    """
    return euler_rate_kernels(sequence, axes=axes).accelerations_from_body(angles, w, dw)


@cache
def euler_rate_kernels(sequence: str, *, axes: Axes) -> EulerRateKernels:
    """The kernels of one convention, for differentiation, export and control loops; the functions of this module call
    them.

    >>> euler_rate_kernels("zyz", axes="moving").velocity_map.operations()
    <2 multiplications, 2 trigonometric>
    """
    matrix = euler_kernels(sequence, axes=axes).matrix_from_euler  # also refuses what is not a sequence
    moving, ordered = (sequence, slice(None)) if axes == "moving" else (sequence[::-1], slice(None, None, -1))
    name = f"{sequence}_{axes}"

    def turn_axes(angles: Array) -> tuple[Array, ...]:
        """u1, u2, u3 in the order of moving axes."""
        unit = dict(zip("xyz", np.eye(3), strict=True))
        i, j, k = tuple(moving)
        first = _ELEMENTARY[i](angles[ordered][0])
        middle = _ELEMENTARY[j](angles[ordered][1])
        return unit[i], first @ unit[j], first @ (middle @ unit[k])

    def drift(angles: Array, rates: Array) -> Array:
        u1, u2, u3 = turn_axes(angles)
        r1, r2, r3 = rates[ordered]
        return np.cross(u1, u2) * (r1 * r2) + np.cross(u1 * r1 + u2 * r2, u3) * r3

    def solved(angles: Array, w: Array) -> Array:
        u1, u2, u3 = turn_axes(angles)
        rows = np.stack([np.cross(u2, u3), np.cross(u3, u1), np.cross(u1, u2)])
        return (rows @ w / (u1 @ rows[0]))[ordered]

    def check(angles: ArrayLike, *_: object) -> None:
        _check_regular(float_array(angles), sequence, axes)

    @kernel("(3)->(3,3)", name=f"world_velocity_map_of_{name}")
    def velocity_map(angles: Array) -> Array:
        return np.stack(turn_axes(angles)[ordered], axis=1)

    @kernel("(3),(3)->(3),(3)", name=f"angular_velocity_from_{name}")
    def velocity(angles: Array, rates: Array) -> Rate:
        world = velocity_map(angles) @ rates
        return Rate(world, matrix(angles).T @ world)

    @kernel("(3),(3),(3)->(3),(3)", name=f"angular_acceleration_from_{name}")
    def acceleration(angles: Array, rates: Array, second_rates: Array) -> Rate:
        world = velocity_map(angles) @ second_rates + drift(angles, rates)
        return Rate(world, matrix(angles).T @ world)

    @kernel("(3),(3)->(3)", name=f"{name}_rates_from_world_velocity", check=check)
    def rates_from_world(angles: Array, w: Array) -> Array:
        return solved(angles, w)

    @kernel("(3),(3)->(3)", name=f"{name}_rates_from_body_velocity", check=check)
    def rates_from_body(angles: Array, w: Array) -> Array:
        return solved(angles, matrix(angles) @ w)

    @kernel("(3),(3),(3)->(3)", name=f"{name}_second_rates_from_world_acceleration", check=check)
    def accelerations_from_world(angles: Array, w: Array, dw: Array) -> Array:
        return solved(angles, dw - drift(angles, solved(angles, w)))

    @kernel("(3),(3),(3)->(3)", name=f"{name}_second_rates_from_body_acceleration", check=check)
    def accelerations_from_body(angles: Array, w: Array, dw: Array) -> Array:
        R = matrix(angles)
        return solved(angles, R @ dw - drift(angles, solved(angles, R @ w)))

    return EulerRateKernels(velocity_map, velocity, acceleration, rates_from_world, rates_from_body,
                            accelerations_from_world, accelerations_from_body)


def _check_regular(angles: Array, sequence: str, axes: Axes) -> None:
    margin = np.abs((np.sin if sequence[0] == sequence[2] else np.cos)(angles[..., 1]))
    bad = first_failure(~(margin <= 4 * rounding_of(angles)))  # which is rounding
    if bad is not None:
        lost = np.linalg.svd(np.asarray(world_velocity_map_of_euler(angles[bad], sequence=sequence, axes=axes)))[0][:,
                                                                                                                    2]
        raise SingularityError(
            f"{sequence} angles{place(bad)} about {axes} axes are singular: the outer axes are parallel (margin "
            f"{margin[bad]:.0e}), and no rates give an angular velocity along {np.round(lost, 6).tolist()}; "
            "integrate with another sequence, or with integrate_attitude")
