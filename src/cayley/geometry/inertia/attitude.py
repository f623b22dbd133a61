"""The attitude of a rigid body under torques, simulated through half-turns.

Euler's equations in body axes together with the vector-parameter in homogeneous form h = [w : v], which has no
singularity: c = v / w is infinite where w = 0, and that is a time like any other. Source: Mladenova (89)-(93),
(100)-(102), spec R-20, R-23.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.inertia.body_dynamics import angular_acceleration_from_torque
from cayley.geometry.inertia.tensors import check_invertible_inertia
from cayley.geometry.rates.charts import chart
from cayley.geometry.rates.half_turns import half_turns_of
from cayley.geometry.rotations.homogeneous import (
    homogeneous_from_matrix,
    matrix_from_homogeneous,
    normalize_homogeneous,
)
from cayley.ordinary_equations import Integrated, integrate
from cayley.showing import brief

Torque = Callable[[float, np.ndarray, np.ndarray], Any]
"""torque(t, w, h): the torque [N m] in body axes at a time, an angular velocity in body axes and a homogeneous
attitude.
"""


class AttitudeState(NamedTuple):
    """Angular velocity (3) in body axes and attitude as unit [w : v] (4)."""

    angular_velocity: Array
    homogeneous: Array


@dataclass(frozen=True)
class AttitudeTrajectory(HoldsFunctions):
    """A simulated attitude at `times` (n), and at any time between through `at`."""

    inertia: Array
    times: Array
    angular_velocity: Array
    """In body axes (n, 3) [rad/s]."""
    homogeneous: Array
    """Attitudes (n, 4) as unit [w : v], continuous in time: c = v / w passes through infinity where w is zero."""
    half_turns: Array
    """The times at which the attitude is half a turn away from the reference: crossed, or touched (to 1e-9, and the
    error).
    """
    norm_drift: float
    """How far the norm of the integrated form went from one: an estimate of the error of the integration."""
    dense: Callable[[Any], Array] = field(repr=False)

    __repr__ = brief

    @property
    def vector_parameter(self) -> Array:
        """c (n, 3); infinite at a half-turn."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.homogeneous[:, 1:] / self.homogeneous[:, :1]

    @property
    def matrices(self) -> Array:
        """Rotation matrices from body to world axes, (n, 3, 3)."""
        return matrix_from_homogeneous(self.homogeneous)

    @property
    def energy(self) -> Array:
        """Kinetic energy of the rotation (n) [J]."""
        return np.einsum("ni,ij,nj->n", self.angular_velocity, self.inertia, self.angular_velocity) / 2

    @property
    def momentum(self) -> Array:
        """Angular momentum in world axes (n, 3) [kg m^2/s]: constant without torque."""
        return np.einsum("nij,jk,nk->ni", self.matrices, self.inertia, self.angular_velocity)

    def at(self, time: float) -> AttitudeState:
        """The state at a time within the simulated interval."""
        state = self.dense(time)
        return AttitudeState(state[:3], normalize_homogeneous(state[3:]))


def simulate_attitude(inertia: ArrayLike, angular_velocity: ArrayLike, times: ArrayLike, *,
                      start: ArrayLike = (1.0, 0.0, 0.0, 0.0), torque: Torque | None = None, rtol: float = 1e-12,
                      atol: float = 1e-14) -> AttitudeTrajectory:
    """Euler's equations from times[0] on, (92) with (101), through any number of half-turns; by SciPy's DOP853.

    `inertia` (3, 3) about the centre of mass or a point at rest and `angular_velocity` (3) are in body axes. `start` is
    a rotation matrix (3, 3), a vector-parameter (3) or a homogeneous one (4). `torque(t, w, h)` is in body axes; for
    thrusters return B @ u. A body at rest without torque stays so. A body that cannot exist is refused.

    >>> tumbling = simulate_attitude(np.diag([1.0, 2.0, 3.0]), [0.4, 1.0, -0.3], [0.0, 1.0, 3.0])   # WE-05
    >>> tumbling.half_turns.round(9)
    array([2.9034749])
    """
    J = np.asarray(inertia, dtype=float)
    check_invertible_inertia(J)
    state = np.concatenate([finite_vector(angular_velocity, "angular velocity"), _homogeneous(start)])
    found = integrate(_rate(J, torque), state, times, rtol=rtol, atol=atol).checked("the attitude")
    w = found.states[:, :3]
    h = found.states[:, 3:]
    drift = float(np.abs(np.linalg.norm(h, axis=1) - 1).max())
    half_turns = _half_turns(found, 1e-9 + 100 * rtol)
    return AttitudeTrajectory(J, found.times, w, normalize_homogeneous(h), half_turns, drift, found.dense)


def _rate(J: Array, torque: Torque | None) -> Callable[[float, Array], Array]:
    accelerate = angular_acceleration_from_torque.unchecked
    turn = chart("homogeneous").rates_from_body.unchecked

    def rate(t: float, y: Array) -> Array:
        w = y[:3].copy()
        h = y[3:].copy()
        moment = np.zeros(3) if torque is None else finite_vector(torque(t, w, h), f"torque at t = {t:.6g}")
        return np.concatenate([accelerate(J, w, moment), turn(h, w)])

    return rate


def _half_turns(found: Integrated, nearest: float) -> Array:
    steps = found.steps
    grid = np.append((steps[:-1, None] + np.diff(steps)[:, None] * np.arange(0, 1, 0.2)).ravel(), steps[-1])
    return half_turns_of(lambda t: normalize_homogeneous.unchecked(np.ascontiguousarray(found.dense(t)[:, 3:]))[:, 0],
                         grid,
                         nearest=nearest)


def finite_vector(value: ArrayLike, name: str) -> Array:
    """Three finite numbers as an array."""
    array = np.asarray(value, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise GeometryError(f"the {name} is {array}: three finite numbers are needed")
    return array


def _homogeneous(start: ArrayLike) -> Array:
    attitude = np.asarray(start, dtype=float)
    if attitude.shape == (3, 3):
        return homogeneous_from_matrix(attitude)
    if attitude.shape == (3,):
        return normalize_homogeneous(np.concatenate([[1.0], attitude]))
    if attitude.shape == (4,):
        return normalize_homogeneous(attitude)
    raise GeometryError("the start is a rotation matrix (3, 3), a vector-parameter (3) or a homogeneous one (4), "
                        f"not of shape {attitude.shape}")
