"""Runs of the systems of one body, with the quantities that their tests ask for, forwards and backwards in time.

Backwards in time a body moves as forwards with its velocities reversed, under the same forces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import GeometryError, SingularityError
from cayley.geometry.inertia.gyroscope import gyroscope_accelerations, gyroscope_moments, nodal_from_fixed
from cayley.geometry.inertia.mass_properties import MassProperties
from cayley.geometry.rotations.homogeneous import (
    homogeneous_from_matrix,
    matrix_from_homogeneous,
    normalize_homogeneous,
)
from cayley.machines.single_body import gyroscope, half_turns, rigid_body, rotating_body
from cayley.ordinary_equations import IntegrationError, instants_of
from cayley.showing import brief
from cayley.systems.adaptive.events import Event
from cayley.systems.system import System
from cayley.systems.trajectory import Trajectory

_VELOCITIES = ("velocity", "angular_velocity", "rates")


class AttitudeState(NamedTuple):
    """Angular velocity (3) in body axes and attitude as unit [w : v] (4)."""

    angular_velocity: Array
    homogeneous: Array


class BodyState(NamedTuple):
    """Position and velocity of the centre of mass in the world, attitude [w : v], angular velocity in body axes."""

    position: Array
    velocity: Array
    homogeneous: Array
    angular_velocity: Array


@dataclass(frozen=True, eq=False)
class _BodyRun:
    """A run of a system, forwards or backwards in time."""

    run: Trajectory
    times: Array
    sense: float

    __repr__ = brief

    def block(self, name: str, values: ArrayLike) -> Array:
        """A block of the run as it is in the direction of the times."""
        return self.sense * np.asarray(values) if name in _VELOCITIES else np.asarray(values)

    def __getattr__(self, name: str) -> Array:
        if name not in self.run.system.state:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.block(name, self.run[name])

    @property
    def homogeneous(self) -> Array:
        """Attitudes (n, 4) as unit [w : v], continuous in time."""
        return normalize_homogeneous(self.orientation)

    @property
    def matrices(self) -> Array:
        """Rotation matrices from body to world axes, (n, 3, 3)."""
        return matrix_from_homogeneous(self.orientation)

    @property
    def energy(self) -> Array:
        """Kinetic energy (n) [J]."""
        return np.asarray(self.run.energy)


@dataclass(frozen=True, eq=False)
class AttitudeTrajectory(_BodyRun):
    """A simulated attitude at `times` (n), and at any time between through `at`; `half_turns` are times."""

    inertia: Array
    half_turns: Array

    @property
    def norm_drift(self) -> float:
        """How far the norm of the quaternion is from one."""
        return float(np.abs(np.linalg.norm(self.orientation, axis=1) - 1).max())

    @property
    def vector_parameter(self) -> Array:
        """c (n, 3); infinite at a half-turn."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.homogeneous[:, 1:] / self.homogeneous[:, :1]

    @property
    def momentum(self) -> Array:
        """Angular momentum in world axes (n, 3) [kg m^2/s]."""
        return self.sense * self.run.outputs["angular_momentum"]

    def at(self, time: float) -> AttitudeState:
        """The state at a time within the simulated interval."""
        state = self.run.at(self.sense * time)
        return AttitudeState(self.block("angular_velocity", state["angular_velocity"]),
                             normalize_homogeneous(state["orientation"]))


@dataclass(frozen=True, eq=False)
class BodyTrajectory(_BodyRun):
    """The motion of a body at `times` (n); `states` has arrays with n leading."""

    body: MassProperties

    @property
    def states(self) -> BodyState:
        return BodyState(self.position, self.velocity, self.homogeneous, self.angular_velocity)

    @property
    def momentum(self) -> Array:
        """Linear momentum (n, 3) [kg m/s]."""
        return self.sense * self.run.outputs["momentum"]

    @property
    def angular_momentum(self) -> Array:
        """Angular momentum about the centre of mass in world axes (n, 3) [kg m^2/s]."""
        return self.sense * self.run.outputs["angular_momentum"]


@dataclass(frozen=True, eq=False)
class GyroscopeTrajectory(_BodyRun):
    """The motion of a gyroscope at `times` (k): `angles`, `rates` and `accelerations` of (psi, theta, phi)."""

    I0: float
    I: float
    accelerations: Array

    @property
    def moments(self) -> Array:
        """The moments about the nodal axes (k, 3) [N m] that acted."""
        return gyroscope_moments(self.I0, self.I, self.angles[:, 1], self.rates, self.accelerations)

    @property
    def axial_momentum(self) -> Array:
        """About its own axis (k) [kg m^2/s]."""
        return self.sense * self.run.outputs["axial_momentum"]

    @property
    def vertical_momentum(self) -> Array:
        """About the fixed z (k) [kg m^2/s]."""
        return self.sense * self.run.outputs["vertical_momentum"]

    @property
    def kinetic_energy(self) -> Array:
        """(k) [J]."""
        return self.energy


def simulate_attitude(inertia: ArrayLike, angular_velocity: ArrayLike, times: ArrayLike, *,
                      start: ArrayLike = (1.0, 0.0, 0.0, 0.0), torque: Callable[..., Any] | None = None,
                      rtol: float = 2e-13, atol: float = 1e-14) -> AttitudeTrajectory:
    """The attitude of a body under `torque(t, w, h)` in body axes: `rotating_body` simulated."""
    system = rotating_body(inertia)
    begin = {"orientation": _homogeneous(start),
             "angular_velocity": finite_vector(angular_velocity, "angular velocity")}
    acting = {"torque": None if torque is None else lambda t, h, w: torque(t, w, h)}
    run, instants, sense = _run(system, begin, times, acting, rtol, atol)
    found = np.sort(sense * half_turns(run, nearest=1e-9 + 100 * rtol))
    return AttitudeTrajectory(run, instants, sense, np.asarray(inertia, dtype=float), found[::1 if sense > 0 else -1])


def simulate_body(body: MassProperties, start: BodyState, times: ArrayLike, *, force: Callable[..., Any] | None = None,
                  torque: Callable[..., Any] | None = None, rtol: float = 1e-11, atol: float = 1e-13) -> BodyTrajectory:
    """The motion of a body under `force(t, state)` in world axes and `torque(t, state)` in body axes: `rigid_body`
    simulated."""
    begin = {"position": finite_vector(start.position, "position"),
             "velocity": finite_vector(start.velocity, "velocity"),
             "orientation": normalize_homogeneous(start.homogeneous),
             "angular_velocity": finite_vector(start.angular_velocity, "angular velocity")}
    acting = {name: _of_state(given) for name, given in (("force", force), ("torque", torque))}
    return BodyTrajectory(*_run(rigid_body(body), begin, times, acting, rtol, atol), body)


def simulate_gyroscope(I0: float, I: float, angles: ArrayLike, rates: ArrayLike, times: ArrayLike, *,
                       moments: ArrayLike | Callable[..., Any], axes: Literal["nodal", "fixed"], rtol: float = 1e-11,
                       atol: float = 1e-13) -> GyroscopeTrajectory:
    """The motion of a gyroscope under constant `moments` (3), or `moments(t, angles, rates)`: `gyroscope` simulated.
    Where the axis becomes upright a `SingularityError` says when."""
    system = gyroscope(I0, I, axes=axes)
    begin = {"angles": finite_vector(angles, "angles"), "rates": finite_vector(rates, "rates")}
    constant = None if callable(moments) else finite_vector(moments, "moments")
    given: Callable[..., Any] = moments if callable(moments) else lambda t, angles, rates: constant
    sine = float(np.sin(begin["angles"][1]))
    near = min(1e-6, abs(sine) / 2)
    upright = Event("upright", lambda t, angles, rates: np.sign(sine) * np.sin(angles[1]) - near, direction="falling")
    run, instants, sense = _run(system, begin, times, {"moments": given}, rtol, atol, upright)
    if len(run.t) < len(instants) or any(x.name == "upright" for x in run.happened):
        raise SingularityError(f"the axis of the gyroscope becomes upright at t = {sense * run.t[-1]:.6g} (sin theta = "
                               "0): there precession and spin turn about the same axis; rotating_body needs no angles")
    motion = GyroscopeTrajectory(run, instants, sense, float(I0), float(I), np.zeros(0))
    acting = [np.asarray(given(t, a, r), dtype=float) for t, a, r in zip(instants, motion.angles, motion.rates,
                                                                        strict=True)]
    nodal = nodal_from_fixed(motion.angles, acting) if axes == "fixed" else np.array(acting)
    change = gyroscope_accelerations(I0, I, motion.angles[:, 1], motion.rates, nodal)
    return GyroscopeTrajectory(run, instants, sense, float(I0), float(I), change)


def _run(system: System, start: Mapping[str, Array], times: ArrayLike,
         acting: Mapping[str, Callable[..., Any] | None], rtol: float, atol: float,
         *events: Event) -> tuple[Trajectory, Array, float]:
    """The run of a system, the times as they were given, and the direction of the time."""
    instants = instants_of(times)
    sense = 1.0 if instants[-1] > instants[0] else -1.0
    turned = {name: sense if name in _VELOCITIES else 1.0 for name in system.state}

    def driven(name: str, given: Callable[..., Any] | None) -> Callable[..., Array]:
        def value(t: float, *blocks: Array) -> Array:
            now = sense * t
            own = [s * np.asarray(b) for s, b in zip(turned.values(), blocks, strict=True)]
            return np.zeros(3) if given is None else finite_vector(given(now, *own), f"{name} at t = {now:.6g}")
        return value

    run = system.simulate({name: turned[name] * value for name, value in start.items()}, times=sense * instants,
                          inputs={name: driven(name, given) for name, given in acting.items()}, events=events,
                          rtol=rtol, atol=atol, progress=False)
    if not run.finished and not run.happened:
        raise IntegrationError(run.message)
    return run, instants, sense


def _of_state(given: Callable[..., Any] | None) -> Callable[..., Any] | None:
    return None if given is None else lambda t, p, v, h, w: given(t, BodyState(p, v, h, w))


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
