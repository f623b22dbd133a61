"""The instantaneous screw axis: every motion of a body is, at an instant, a rotation about a line and a slide along it.

With angular velocity w and the velocity v of the body point at q, the axis is parallel to w and passes through q + w x
v / w.w; all its points move with pitch * w. If w = 0 the axis is at infinity: a pure slide along v, which has a
direction but no place. Sources: Ruggiu (2.6)-(2.10), (2.17), extended to helicoidal motion as in spec 3.4; Mladenova
(142)-(145), corrected as in spec E-33.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.tracing.symbols import where
from cayley.compiler.typing import Array, Scalar
from cayley.geometry.rates.charts import chart
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion
from cayley.geometry.rotations.vector_parameter import check_vector_parameter
from cayley.geometry.scaling import direction


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


@kernel("(3),(3),(3),(3)->(3),(3),(3),(),(),()", check=check_vector_parameter)
def instantaneous_screw_from_vector_parameter(c: Array, dc: Array, p: Array, dp: Array) -> InstantaneousScrew:
    """The screw axis of the motion r = O(c) r_d + p with the rates `dc` [1/s] and `dp` [m/s]; fields as
    `instantaneous_screw`.

    Mladenova (142)-(145), corrected as in spec E-33.

    >>> screw = instantaneous_screw_from_vector_parameter([0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0],
    ...                                                   [0.0, 2.0, 4.0])
    >>> float(screw.angular_speed), float(screw.pitch), screw.point
    (2.0, 2.0, array([0., 0., 0.]))
    """
    return instantaneous_screw(chart("vector_parameter").velocity(c, dc).world, dp, p)


@kernel("(4),(4),(3),(3)->(3),(3),(3),(),(),()", check=check_nonzero_quaternion)
def instantaneous_screw_from_homogeneous(h: Array, dh: Array, p: Array, dp: Array) -> InstantaneousScrew:
    """The screw axis of the motion r = R r_d + p with R given by [w : v] of any norm and its rate: half-turns included.

    >>> screw = instantaneous_screw_from_homogeneous([0.0, 0.0, 0.0, 2.0], [-2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0],
    ...                                              [0.0, 2.0, 4.0])
    >>> float(screw.angular_speed), float(screw.pitch)
    (2.0, 2.0)
    """
    return instantaneous_screw(chart("homogeneous").velocity.unchecked(h, dh).world, dp, p)
