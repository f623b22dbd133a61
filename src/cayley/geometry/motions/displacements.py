"""Euclidean motions as pairs of a vector-parameter and a translation: r = O(c) r_d + p, and their velocity and
acceleration fields.

The vector-parameter is in homogeneous form h = [w : v] of any norm (a half-turn is w = 0), or finite, c = v / w.
Source: Mladenova (75)-(78), (146)-(147), spec R-18.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.motions.homogeneous import check_pose
from cayley.geometry.rates.points import acceleration_of_body_point, velocity_of_body_point
from cayley.geometry.rates.quaternion_rates import (
    angular_acceleration_from_homogeneous_rates,
    angular_velocity_from_homogeneous_rate,
)
from cayley.geometry.rotations.homogeneous import (
    check_homogeneous,
    compose_homogeneous,
    homogeneous_from_matrix,
    inverse_homogeneous,
    rotate_by_homogeneous,
)
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion
from cayley.geometry.rotations.vector_parameter import check_vector_parameter, homogeneous_from_vector_parameter


class Displacement(NamedTuple):
    rotation: Array
    translation: Array


class PointMotion(NamedTuple):
    position: Array
    velocity: Array
    acceleration: Array


def _check_two(h1: Array, _1: Array, h2: Array, _2: Array) -> None:
    check_homogeneous(h1, h2)


@kernel("(4,4)->(4),(3)", check=check_pose)
def displacement_from_pose(T: Array) -> Displacement:
    """The `rotation` as [w : v] of norm one, w >= 0, and the `translation` [m] of a pose.

    >>> displacement_from_pose(np.diag([-1.0, -1.0, 1.0, 1.0])).rotation
    array([0., 0., 0., 1.])
    """
    return Displacement(homogeneous_from_matrix.unchecked(T[:3, :3]), T[:3, 3])


@kernel("(4),(3),(3)->(3)", check=check_nonzero_quaternion)
def displace_point(h: Array, p: Array, point: Array) -> Array:
    """R r_d + p [m]. Mladenova (75).

    >>> displace_point([0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    array([ 0., -2.,  3.])
    """
    return rotate_by_homogeneous.unchecked(h, point) + p


@kernel("(4),(3),(4),(3)->(4),(3)", check=_check_two)
def compose_displacements(h1: Array, p1: Array, h2: Array, p2: Array) -> Displacement:
    """(h1 h2, R1 p2 + p1): the second displacement, then the first. Mladenova (76).

    >>> compose_displacements([1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    Displacement(rotation=array([0., 0., 0., 2.]), translation=array([1., 1., 0.]))
    """
    return Displacement(compose_homogeneous(h1, h2), rotate_by_homogeneous.unchecked(h1, p2) + p1)


@kernel("(4),(3)->(4),(3)", check=check_nonzero_quaternion)
def inverse_displacement(h: Array, p: Array) -> Displacement:
    """([w : -v], -R^T p).

    >>> inverse_displacement([1.0, 0.0, 0.0, 1.0], [1.0, 2.0, 3.0]).translation
    array([-2.,  1., -3.])
    """
    back = inverse_homogeneous(h)
    return Displacement(back, -rotate_by_homogeneous.unchecked(back, p))


@kernel("(4),(4),(4),(3),(3),(3),(3)->(3),(3),(3)", check=check_nonzero_quaternion)
def motion_of_point(h: Array, dh: Array, ddh: Array, p: Array, dp: Array, ddp: Array, point: Array) -> PointMotion:
    """`position`, `velocity` and `acceleration` of the body point r_d from the motion ([w : v], p) and its rates.
    Mladenova (77)-(78).

    dr = w x (r - p) + dp; ddr = (hat(dw) + hat(w)^2)(r - p) + ddp. Spec E-23: the two parts of ddr that the text calls
    tangential and normal are so only while the axis keeps its direction.

    >>> rest = [0.0, 0.0, 0.0]
    >>> motion_of_point([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0], np.zeros(4), rest, rest, rest,
    ...                 [1.0, 0.0, 0.0]).acceleration
    array([-4.,  0.,  0.])
    """
    arm = rotate_by_homogeneous.unchecked(h, point)
    w = angular_velocity_from_homogeneous_rate.unchecked(h, dh).world
    dw = angular_acceleration_from_homogeneous_rates.unchecked(h, dh, ddh).world
    return PointMotion(arm + p, velocity_of_body_point(dp, w, arm), acceleration_of_body_point(ddp, w, dw, arm))


@kernel("(3),(3),(3),(3),(3),(3),(3)->(3),(3),(3)", check=check_vector_parameter)
def motion_of_point_from_vector_parameter(c: Array, dc: Array, ddc: Array, p: Array, dp: Array, ddp: Array,
                                          point: Array) -> PointMotion:
    """`motion_of_point` for a finite vector-parameter `c` and its rates.

    >>> rest = [0.0, 0.0, 0.0]
    >>> motion_of_point_from_vector_parameter(rest, [0.0, 0.0, 1.0], rest, rest, rest, rest, [1.0, 0.0, 0.0]).velocity
    array([0., 2., 0.])
    """
    dh, ddh = (np.concatenate([np.zeros(1), rate]) for rate in (dc, ddc))
    return motion_of_point.unchecked(homogeneous_from_vector_parameter(c), dh, ddh, p, dp, ddp, point)
