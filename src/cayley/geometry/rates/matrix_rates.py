"""Angular velocity and acceleration of a moving rotation matrix R(t), and the rates of the matrix that they cause.

Spatial (world) velocity w: dR R^T = hat(w). Body velocity w_b: R^T dR = hat(w_b), w_b = R^T w. The accelerations are
the time derivatives of these two vectors; they too are related by dw_b = R^T dw. [rad/s, rad/s^2] Sources: Mladenova
(13)-(20), (77); Ruggiu (2.1)-(2.5), (2.19)-(2.21).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import GeometryError
from cayley.geometry.batch import first_failure, place, tolerance_of
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.tensors.cross import hat, vee


class MeasuredRate(NamedTuple):
    world: Array
    body: Array
    defect: Scalar


@kernel("(3,3),(3,3)->(3),(3),()", check=check_rotation_matrix)
def angular_velocity_from_matrix_rate(R: Array, dR: Array) -> MeasuredRate:
    """Angular velocity `world` and `body` [rad/s] of a rotation matrix `R` with the rate `dR` [1/s].

    Measured rates are not quite tangent to the rotations. The skew part of dR R^T is used; the largest element of its
    symmetric part, which no angular velocity explains, is the third result, `defect` [1/s]. Mladenova (14), (20);
    Ruggiu (2.1)-(2.5).

    >>> found = angular_velocity_from_matrix_rate(np.eye(3), [[0.25, -2.0, 3.0], [2.0, 0.0, -1.0], [-3.0, 1.0, 0.0]])
    >>> found.world, float(found.defect)
    (array([1., 3., 2.]), 0.25)
    """
    world = dR @ R.T
    body = R.T @ dR
    return MeasuredRate(vee(world), vee(body), np.max(np.abs(world + world.T)) / 2)


@kernel("(3,3),(3,3),(3,3)->(3),(3),()", check=check_rotation_matrix)
def angular_acceleration_from_matrix_rates(R: Array, dR: Array, ddR: Array) -> MeasuredRate:
    """Angular acceleration `world` and `body` [rad/s^2] of a rotation matrix with the rates `dR` [1/s] and `ddR`
    [1/s^2].

    `defect` is the largest element of the symmetric part of ddR R^T + dR dR^T: zero for a true rotation. Mladenova
    (77).

    >>> W = acceleration_matrix([1.0, 3.0, 2.0], [0.5, 0.0, 1.0])
    >>> angular_acceleration_from_matrix_rates(np.eye(3), matrix_rate_from_world_velocity(np.eye(3), [1.0, 3.0, 2.0]),
    ...                                        W).world
    array([0.5, 0. , 1. ])
    """
    world = ddR @ R.T
    return MeasuredRate(vee(world), vee(R.T @ ddR), np.max(np.abs(world + world.T + 2 * (dR @ dR.T))) / 2)


@kernel("(3,3),(3)->(3,3)", check=check_rotation_matrix)
def matrix_rate_from_world_velocity(R: Array, w: Array) -> Array:
    """The rate of `R` [1/s] under the spatial angular velocity `w` [rad/s]: dR = hat(w) R. Mladenova (14).

    >>> matrix_rate_from_world_velocity(np.eye(3), [1.0, 3.0, 2.0])[1]
    array([ 2.,  0., -1.])
    """
    return hat(w) @ R


@kernel("(3,3),(3)->(3,3)", check=check_rotation_matrix)
def matrix_rate_from_body_velocity(R: Array, w: Array) -> Array:
    """The rate of `R` [1/s] under the body angular velocity `w` [rad/s]: dR = R hat(w). Mladenova (20).

    >>> matrix_rate_from_body_velocity(np.eye(3), [1.0, 3.0, 2.0])[1]
    array([ 2.,  0., -1.])
    """
    return R @ hat(w)


@kernel("(3,3),(3),(3)->(3,3)", check=check_rotation_matrix)
def matrix_second_rate_from_world_acceleration(R: Array, w: Array, dw: Array) -> Array:
    """The second rate of `R` [1/s^2] from its spatial angular velocity and acceleration: (hat(dw) + hat(w)^2) R.

    >>> matrix_second_rate_from_world_acceleration(np.eye(3), [1.0, 3.0, 2.0], [0.5, 0.0, 1.0])[0]
    array([-13.,   2.,   2.])
    """
    return acceleration_matrix(w, dw) @ R


@kernel("(3,3),(3),(3)->(3,3)", check=check_rotation_matrix)
def matrix_second_rate_from_body_acceleration(R: Array, w: Array, dw: Array) -> Array:
    """The second rate of `R` [1/s^2] from its body angular velocity and acceleration: R (hat(dw) + hat(w)^2).

    >>> matrix_second_rate_from_body_acceleration(np.eye(3), [1.0, 3.0, 2.0], [0.5, 0.0, 1.0])[0]
    array([-13.,   2.,   2.])
    """
    return R @ acceleration_matrix(w, dw)


@kernel("(3),(3)->(3,3)")
def acceleration_matrix(w: Array, dw: Array) -> Array:
    """W = hat(dw) + hat(w)^2 [1/s^2]: W r is the acceleration, relative to the origin, of the body point at r. Ruggiu
    (2.20).

    Its skew part is hat(dw): `vee` of it is the angular acceleration again; its symmetric part is hat(w)^2.

    >>> acceleration_matrix([1.0, 3.0, 2.0], [0.5, 0.0, 1.0])[0]
    array([-13.,   2.,   2.])
    """
    spin = hat(w)
    return hat(dw) + spin @ spin


@kernel("(3,3),(3,3)->(3,3)", check=check_rotation_matrix)
def tangent_matrix_rate(R: Array, dR: Array) -> Array:
    """The part of a measured rate that is tangent to the rotations at `R`: the nearest rate of a true rotation.

    >>> tangent_matrix_rate(np.eye(3), [[0.25, -2.0, 3.0], [2.0, 0.0, -1.0], [-3.0, 1.0, 0.0]])[0]
    array([ 0., -2.,  3.])
    """
    return hat(vee(dR @ R.T)) @ R


def check_matrix_rate(R: ArrayLike, dR: ArrayLike, *_: object, tolerance: float | None = None) -> None:
    """Raise `GeometryError` where `dR` is not tangent to the rotations at `R`.

    The symmetric part of dR R^T may be 1e-8 (float32: 1e-4), or `tolerance`, times the largest element of dR (or of
    1/s, if that is more).

    >>> check_matrix_rate(np.eye(3), 0.25 * np.eye(3))
    Traceback (most recent call last):
    cayley.errors.GeometryError: dR is not the rate of a rotation: the symmetric part of dR R^T is 0.25, 1e-08 is ...
    """
    defect = np.asarray(angular_velocity_from_matrix_rate(R, dR).defect)
    allowed = np.broadcast_to(
        tolerance_of(dR, tolerance) * np.maximum(1.0, np.max(np.abs(np.asarray(dR)), axis=(-2, -1))), defect.shape)
    bad = first_failure(defect <= allowed)
    if bad is not None:
        raise GeometryError(
            f"dR{place(bad)} is not the rate of a rotation: the symmetric part of dR R^T is {defect[bad]:.3g}, "
            f"{allowed[bad]:.0e} is allowed. tangent_matrix_rate(R, dR) drops that part")
