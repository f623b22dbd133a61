"""The motion of one free rigid body under forces and torques: direct dynamics.

Newton's law for the centre of mass in world axes, Euler's equation in body axes, attitude as a homogeneous
vector-parameter. The inverse problem, forces from motion, is `newton_euler_by_vectors` along the motion. Source: seed
2, section 3.2.1-3.2.2, spec S2-49.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError
from cayley.geometry.inertia.attitude import finite_vector
from cayley.geometry.inertia.body_dynamics import angular_acceleration_from_torque
from cayley.geometry.inertia.consistency import check_mass_properties
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.geometry.inertia.tensors import check_invertible_inertia
from cayley.geometry.rates.charts import chart
from cayley.geometry.rotations.homogeneous import matrix_from_homogeneous, normalize_homogeneous
from cayley.ordinary_equations import integrate
from cayley.showing import brief


class BodyState(NamedTuple):
    """Of a body at one instant, or at many with leading axes."""

    position: Array
    """Of the centre of mass, in the world [m]."""
    velocity: Array
    """Of the centre of mass, in the world [m/s]."""
    homogeneous: Array
    """Attitude [w : v], from body to world axes."""
    angular_velocity: Array
    """In body axes [rad/s]."""


@dataclass(frozen=True)
class BodyTrajectory:
    """The motion of a body at `times` (n); `states` has arrays with n leading."""

    body: MassProperties
    times: Array
    states: BodyState

    __repr__ = brief

    @property
    def matrices(self) -> Array:
        """Rotation matrices from body to world axes, (n, 3, 3): orthogonal to the last digit."""
        return matrix_from_homogeneous(self.states.homogeneous)

    @property
    def energy(self) -> Array:
        """Kinetic energy (n) [J]."""
        v = self.states.velocity
        w = self.states.angular_velocity
        return (self.body.mass * np.sum(v * v, axis=1) + np.einsum("ni,ij,nj->n", w, self.body.inertia, w)) / 2

    @property
    def momentum(self) -> Array:
        """Linear momentum (n, 3) [kg m/s]."""
        return self.body.mass * self.states.velocity

    @property
    def angular_momentum(self) -> Array:
        """Angular momentum about the centre of mass in world axes (n, 3) [kg m^2/s]."""
        return np.einsum("nij,jk,nk->ni", self.matrices, self.body.inertia, self.states.angular_velocity)


def simulate_body(body: MassProperties, start: BodyState, times: ArrayLike, *,
                  force: Callable[[float, BodyState], Any] | None = None,
                  torque: Callable[[float, BodyState], Any] | None = None, rtol: float = 1e-11,
                  atol: float = 1e-13) -> BodyTrajectory:
    """The motion from times[0] on. `force(t, state)` acts on the centre of mass, in world axes [N]; `torque(t, state)`
    is about it, in body axes [N m]. The inertia of `body` is about its centre of mass in body axes. A body that cannot
    exist, or has no mass, is refused.

    >>> ball = MassProperties(2.0, np.zeros(3), np.eye(3))
    >>> rest = BodyState(np.zeros(3), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))
    >>> simulate_body(ball, rest, [0.0, 1.0], force=lambda t, state: [0.0, 0.0, -2 * 9.81]).states.position[-1].round(9)
    array([ 0.   ,  0.   , -4.905])
    """
    check_mass_properties(body)
    check_invertible_inertia(body.inertia)
    if body.mass == 0:
        raise GeometryError("a body without mass has no acceleration: give it mass, or simulate its attitude alone")
    accelerate = angular_acceleration_from_torque.unchecked
    turn = chart("homogeneous").rates_from_body.unchecked
    zero = np.zeros(3)

    def rate(t: float, y: Array) -> Array:
        state = BodyState(y[:3].copy(), y[3:6].copy(), y[6:10].copy(), y[10:].copy())
        push = zero if force is None else finite_vector(force(t, state), f"force at t = {t:.6g}")
        twist = zero if torque is None else finite_vector(torque(t, state), f"torque at t = {t:.6g}")
        return np.concatenate([state.velocity, push / body.mass, turn(state.homogeneous, state.angular_velocity),
                               accelerate(body.inertia, state.angular_velocity, twist)])

    initial = np.concatenate([
        finite_vector(start.position, "position"),
        finite_vector(start.velocity, "velocity"),
        normalize_homogeneous(start.homogeneous),
        finite_vector(start.angular_velocity, "angular velocity")])
    found = integrate(rate, initial, times, rtol=rtol, atol=atol).checked("the motion")
    y = found.states
    return BodyTrajectory(body, found.times,
                          BodyState(y[:, :3], y[:, 3:6], normalize_homogeneous(y[:, 6:10]), y[:, 10:]))
