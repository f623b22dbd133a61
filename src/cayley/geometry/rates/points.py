"""Velocity and acceleration of points of a moving body, and of points that move in a moving frame.

A frame has its origin at q (velocity v_q, acceleration a_q) and axes `R`; a point of it is at B_p in its own
coordinates, with the rates B_v and B_a as seen in the frame. Angular velocity `w` and acceleration `dw` are spatial.
[m, s, rad] Sources: Ruggiu (2.11)-(2.21); Yamamoto (1.25)-(1.29), (4.1)-(4.10); Mladenova (75)-(78).

The instantaneous screw axis: with angular velocity w and the velocity v of the body point at q, the axis is parallel to
w and passes through q + w x v / w.w; all its points move with pitch * w. If w = 0 the axis is at infinity: a pure slide
along v, which has a direction but no place. Sources: Ruggiu (2.6)-(2.10), (2.17), extended to helicoidal motion as in
spec 3.4; Mladenova (142)-(145), corrected as in spec E-33.

>>> acceleration_of_body_point([0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.5], [3.0, 4.0, 0.0])
array([-14. , -14.5,   1. ])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import SingularityError
from cayley.geometry.batch import place, refuse
from cayley.geometry.formula import formula
from cayley.geometry.rates.charts import acceleration_matrix
from cayley.geometry.rotations.matrix import check_rotation_matrix
from cayley.geometry.scaling import direction, largest_component, scaling


class PointAcceleration(NamedTuple):
    total: Array
    origin: Array
    tangential: Array
    centripetal: Array
    coriolis: Array
    relative: Array


class RecoveredVelocity(NamedTuple):
    normal: Array
    free: Array
    defect: Scalar


class FrameRates(NamedTuple):
    velocity: Array
    acceleration: Array


@kernel("(3),(3),(3)->(3)")
def velocity_of_body_point(origin_velocity: Array, w: Array, arm: Array) -> Array:
    """Velocity [m/s] of a body point, `arm` [m] from the origin: v_q + w x arm. Ruggiu (2.14), Yamamoto (1.27).

    Two theorems of rigid velocities: the component along w is the same for all points (2.17), and the relative velocity
    of two points is normal to the segment between them (2.18).

    >>> velocity_of_body_point([1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 3.0, 0.0])
    array([-5.,  0.,  0.])
    """
    return origin_velocity + np.cross(w, arm)


acceleration_of_body_point = formula(
    "acceleration_of_body_point", "(3),(3),(3),(3)->(3)",
    lambda origin_acceleration, w, dw, arm: origin_acceleration + acceleration_matrix(w, dw) @ arm,
    "Acceleration [m/s^2] of a point fixed in a body, `arm` [m] from the origin: a_q + (hat(dw) + hat(w)^2) arm. "
    "Ruggiu (2.20).")


@kernel("(3,3),(3),(3),(3),(3),(3),(3)->(3),(3),(3),(3),(3),(3)", check=check_rotation_matrix)
def acceleration_of_moving_point(R: Array, origin_acceleration: Array, w: Array, dw: Array, point: Array,
                                 point_rate: Array, point_second_rate: Array) -> PointAcceleration:
    """Acceleration [m/s^2] of a point that moves in a moving frame: `total`, and the five parts that it is the sum of.

    `origin` a_q, `tangential` dw x R B_p, `centripetal` w x (w x R B_p), `coriolis` 2 w x R B_v, `relative` R B_a; the
    first three together are the transport acceleration. Ruggiu (2.19), Yamamoto (4.4)-(4.6).

    >>> acceleration_of_moving_point(np.eye(3), [0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.5], [3.0, 4.0, 0.0],
    ...                              [1.0, 0.0, 0.0],
    ...                              [0.0, 0.0, 3.0]).total
    array([-14. , -10.5,   4. ])
    """
    arm = R @ point
    tangential, centripetal = np.cross(dw, arm), np.cross(w, np.cross(w, arm))
    coriolis = 2 * np.cross(w, R @ point_rate)
    relative = R @ point_second_rate
    return PointAcceleration(origin_acceleration + tangential + centripetal + coriolis + relative,
                             1.0 * origin_acceleration, tangential, centripetal, coriolis, relative)


@kernel("(3,3),(3),(3),(3),(3)->(3),(3)", check=check_rotation_matrix)
def compose_angular_rates(R_ab: Array, w_ab: Array, dw_ab: Array, w_bc: Array, dw_bc: Array) -> FrameRates:
    """Angular `velocity` and `acceleration` of c in a, in axes of a, from those of b in a and of c in b (axes of b).

    w_ac = w_ab + R w_bc; dw_ac = dw_ab + w_ab x R w_bc + R dw_bc. Yamamoto (4.7)-(4.10).

    >>> compose_angular_rates(np.eye(3), [0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    FrameRates(velocity=array([2., 0., 1.]), acceleration=array([0., 2., 0.]))
    """
    turned = R_ab @ w_bc
    return FrameRates(w_ab + turned, dw_ab + np.cross(w_ab, turned) + R_ab @ dw_bc)


def check_away_from_axis(p: ArrayLike, *_: object) -> None:
    """Raise `SingularityError` where a point is on the origin: its velocity says nothing about the angular velocity.

    >>> check_away_from_axis([0.0, 0.0, 0.0])
    Traceback (most recent call last):
    cayley.errors.SingularityError: the point is the fixed point itself: its velocity says nothing about the rotation
    """
    refuse(np.any(np.asarray(p) != 0, axis=-1), lambda bad: f"the point{place(bad)} is the fixed point itself: its "
           "velocity says nothing about the rotation", SingularityError)


@kernel("(3),(3)->(3),(3),()", check=check_away_from_axis)
def angular_velocity_from_point(p: Array, v: Array) -> RecoveredVelocity:
    """The angular velocity as far as the velocity `v` of one point `p` determines it: p x v / p.p, the part `normal` to
    p.

    The part along the unit vector `free` cannot be seen; take more points (`measured_points`). `defect` = v.p / |p|
    [m/s] is the part of v that no rotation gives. Yamamoto (1.26), limited as in spec E3-09.

    >>> found = angular_velocity_from_point([0.0, 0.0, 2.0], [2.0, 0.0, 0.5])
    >>> found.normal, found.free, float(found.defect)
    (array([0., 1., 0.]), array([0., 0., 1.]), 0.5)
    """
    scale = scaling(largest_component(p))
    length = np.linalg.norm(scale * p)
    free = scale * p / length
    v_scaled = scale * v
    return RecoveredVelocity(np.cross(free, v_scaled) / length, free, free @ v)


class InstantaneousScrew(NamedTuple):
    """`direction` unit vector; `point` of the axis nearest to q; `moment` = point x direction; `angular_speed` [rad/s]
    about and `linear_speed` [m/s] along the axis; `pitch` [m/rad], their ratio, infinite for a pure slide."""

    direction: Array
    point: Array
    moment: Array
    angular_speed: Scalar
    linear_speed: Scalar
    pitch: Scalar


@kernel("(3),(3),(3)->(3),(3),(3),(),(),()")
def instantaneous_screw(w: Array, v: Array, q: Array) -> InstantaneousScrew:
    """The screw axis of a body with angular velocity `w` [rad/s] whose point at `q` [m] has the velocity `v` [m/s].

    See `InstantaneousScrew` for the fields. w = 0 is a slide: the direction is that of v, the point is q itself (any
    line along v will do), the pitch is infinite. At rest the direction is z, and speeds and pitch are zero.

    >>> screw = instantaneous_screw([1.0, 2.0, 2.0], [3.0, 1.0, -2.0], [1.0, 0.0, -1.0])   # spec WE-09
    >>> screw.point, screw.pitch.round(12)
    (array([ 0.33333333,  0.88888889, -1.55555556]), np.float64(0.111111111111))
    """
    axis, speed = direction(w)
    along, slide = direction(v)
    turning = speed != 0  # NaN turns too, so that it is seen
    axis = where(turning, axis, along)
    linear = where(turning, axis @ v, slide)
    per = 1 / where(turning, speed, 1.0)
    point = q + where(turning, np.cross(axis, v) * per, 0.0)
    resting = (speed == 0) & (slide == 0)
    return InstantaneousScrew(axis, point, np.cross(point, axis), speed, linear, linear / where(resting, 1.0, speed))
