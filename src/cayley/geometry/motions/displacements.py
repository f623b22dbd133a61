"""Euclidean motions as pairs of a vector-parameter and a translation: r = O(c) r_d + p, and their velocity and
acceleration fields.

The vector-parameter is in homogeneous form h = [w : v] of any norm (a half-turn is w = 0), or finite, c = v / w.
Source: Mladenova (75)-(78), (146)-(147), spec R-18.
"""

from __future__ import annotations

from typing import NamedTuple

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array
from cayley.geometry.rates.charts import chart
from cayley.geometry.rates.points import acceleration_of_body_point, velocity_of_body_point
from cayley.geometry.rotations.homogeneous import (
    rotate_by_homogeneous,
)
from cayley.geometry.rotations.quaternion import check_nonzero_quaternion


class PointMotion(NamedTuple):
    position: Array
    velocity: Array
    acceleration: Array


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
    w = chart("homogeneous").velocity.unchecked(h, dh).world
    dw = chart("homogeneous").acceleration.unchecked(h, dh, ddh).world
    return PointMotion(arm + p, velocity_of_body_point(dp, w, arm), acceleration_of_body_point(ddp, w, dw, arm))
