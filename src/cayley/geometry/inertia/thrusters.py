"""A body turned by thrusters: its differential equations in three forms, affine in the controls.

    J         inertia tensor in body axes
    w         angular velocity in body axes ("body")
    x = J w   angular momentum in body axes
    c   vector-parameter tan(phi/2) e     B = [b_1 ... b_m]   axes of the thrusters        u   their torques

The forms in c are rational, and infinite at a half-turn; `rotating_body` of `cayley.machines` goes through.
Source: Mladenova (94)-(107); signs as in spec E-24, the (c, dc) form as in spec E-25 and R-24."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.inertia.body_dynamics import angular_acceleration_from_torque
from cayley.geometry.inertia.tensors import check_invertible_inertia, inverse_inertia
from cayley.geometry.rates.charts import chart
from cayley.geometry.rotations.vector_parameter import check_vector_parameter

_CHART = chart("vector_parameter")


class VelocityState(NamedTuple):
    angular_acceleration: Array
    vector_parameter_rate: Array


class MomentumState(NamedTuple):
    momentum_rate: Array
    vector_parameter_rate: Array


def check_thrusters(B: ArrayLike) -> None:
    """Raise `GeometryError` if the thruster axes, the columns of B (3, m), are not finite or not independent."""
    B = np.asarray(B, dtype=float)
    if B.ndim != 2 or B.shape[0] != 3 or not np.isfinite(B).all():
        raise GeometryError(f"the axes of thrusters are finite columns of an array (3, m), not of shape {B.shape}")
    for k in range(B.shape[1]):
        size = np.linalg.norm(B[:, k])
        before = B[:, :k]
        rest = B[:, k] - before @ np.linalg.lstsq(before, B[:, k], rcond=None)[0] if k else B[:, k]
        if not np.linalg.norm(rest) > 1e-9 * size:
            raise GeometryError(
                f"thruster axis {k} = {B[:, k].tolist()} depends on those before it: with it there are {k} independent "
                "torques, not more; leave it out, or share its torque among the others")


def is_underactuated(B: ArrayLike) -> bool:
    """True if independent thruster axes, the columns of B (3, m), span less than all torques: m < 3.

    >>> is_underactuated([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    True
    """
    check_thrusters(B)
    return np.shape(B)[1] < 3


def _check_model(J: Array, B: Array, *_: object) -> None:
    check_invertible_inertia(J)
    check_thrusters(B)


@kernel("(3,3),(3,m),(3),(3),(m)->(3),(3)", check=_check_model)
def attitude_rates(J: Array, B: Array, w: Array, c: Array, u: Array) -> VelocityState:
    """The (w, c) form: J dw = -w x J w + B u and dc = (1 + c c^T + hat(c)) w / 2, (100)-(102).

    >>> attitude_rates(np.eye(3), [[1.0], [0.0], [0.0]], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0]).vector_parameter_rate
    array([0., 0., 1.])
    """
    return VelocityState(angular_acceleration_from_torque(J, w, B @ u), _CHART.rates_from_body(c, w))


@kernel("(3,3),(3)->(3)", check=check_invertible_inertia)
def momentum_drift(J: Array, x: Array) -> Array:
    """f(x) = x x J^-1 x, the rate of the angular momentum in body axes without torque, (99); g_i = b_i.

    >>> momentum_drift(np.diag([2.0, 4.0, 5.0]), [0.0, 4.0, 5.0])
    array([-1.,  0.,  0.])
    """
    return np.cross(x, inverse_inertia(J) @ x)


@kernel("(3,3),(3,m),(3),(3),(m)->(3),(3)", check=_check_model)
def momentum_state_rates(J: Array, B: Array, x: Array, c: Array, u: Array) -> MomentumState:
    """The (x, c) form: dx = f(x) + B u and dc = (1 + c c^T + hat(c)) J^-1 x / 2, (103), (104).

    >>> momentum_state_rates(np.eye(3), [[1.0], [0.0], [0.0]], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0], [3.0]).momentum_rate
    array([3., 0., 0.])
    """
    return MomentumState(
        momentum_drift(J, x) + B @ u, _CHART.rates_from_body(c,
                                                                               inverse_inertia(J) @ x))


def _check_parameter(J: Array, B: Array, c: Array, *_: object) -> None:
    _check_model(J, B)
    check_vector_parameter(c)


@kernel("(3,3),(3,m),(3),(3),(m)->(3)", check=_check_parameter)
def vector_parameter_acceleration(J: Array, B: Array, c: Array, dc: Array, u: Array) -> Array:
    """ddc [1/s^2] of (c, dc) in body axes, spec R-24; m thrusters control m directions at most.

    >>> vector_parameter_acceleration(np.eye(3), [[1.0], [0.0], [0.0]], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [3.0])
    array([1.5, 0. , 0. ])
    """
    w = _CHART.velocity(c, dc).body
    return _CHART.accelerations_from_body(c, w, angular_acceleration_from_torque(J, w, B @ u))
