"""The errors of joints under independent control through motors: poles, gains, limits and offsets.

    (I s^2 + D s + K + k_I / s) e(s) = load / s
    I = N Jm N, or M' with the links     D = K_hat (ke N + kd) + friction     K = K_hat kp + C     k_I = K_hat ki
    C = dg/dq and load = g at the target        offset = K^-1 load with PD, none with PID
Without links each joint is alone: what is left out is small behind high gears and at low speeds. C may be negative: an
arm that stands up pushes away from its target, and K must be positive for it to stay.
Source: Yamamoto (6.19)-(6.33), with the signs of spec E3-27 to E3-30; S3-41 to S3-43."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import root

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.actuators.motors import VoltageDynamics, voltage_dynamics
from cayley.control.arms import ArmLike, gains_of, tree_of
from cayley.control.stability.linear_model import LinearModel
from cayley.dynamics.linearised.kernels import linearize_kernel
from cayley.dynamics.state_kernels import gravity_forces_kernel
from cayley.errors import SignatureError, SingularityError, UnreachableError, shown
from cayley.showing import brief


class JointGains(NamedTuple):
    """Gains (n) of a joint law that gives volts."""

    kp: Array
    kd: Array


@dataclass(frozen=True, eq=False)
class JointErrors:
    """Made by `joint_error_model`; matrices (n, n) and the load (n)."""

    inertia: Array
    damping: Array
    stiffness: Array
    integral: Array
    load: Array
    gain: Array  # (n) force by volt

    __repr__ = brief

    def characteristic(self, s: complex) -> Array:
        """The matrix (n, n) that multiplies e(s): I s^2 + D s + K + k_I / s."""
        held = self.inertia * s**2 + self.damping * s + self.stiffness
        return held + self.integral / s if self.integral.any() else held

    def laplace(self, s: complex) -> Array:
        """e(s) (n) of an arm that starts at its target, at rest. (6.26)"""
        return np.linalg.solve(self.characteristic(s), self.load / s)

    def linear_model(self) -> LinearModel:
        """From what is added to the `load` (n) to the error `e` (n): its frequency response, and its poles as gains
        change, are those of the arm that is pushed."""
        n = len(self.load)
        parts = [self.stiffness, self.damping, *([self.integral] if self.integral.any() else [])]
        last = -np.linalg.solve(self.inertia, np.concatenate(parts, axis=1))
        rows = [np.eye(n, n * len(parts), k=n), last, *([np.eye(n, 3 * n)] if len(parts) == 3 else [])]
        B = np.zeros((n * len(parts), n))
        B[n:2 * n] = np.linalg.inv(self.inertia)
        return LinearModel(np.concatenate(rows), B, C=np.eye(n, n * len(parts)), name="joint errors",
                           inputs=[f"load[{k}]" for k in range(n)], outputs=[f"e[{k}]" for k in range(n)])

    @property
    def poles(self) -> Array:
        """All of them, by their real part: 2 n of PD, 3 n of PID, where k_I is regular."""
        return np.sort_complex(self.linear_model().poles)

    @property
    def is_stable(self) -> bool:
        return bool((self.poles.real < 0).all())

    @property
    def offset(self) -> Array:
        """e (n) that is left after all time, to first order; zero with integral action. (6.27)"""
        if not self.is_stable:
            raise SingularityError(f"there is no steady-state error: the errors grow, with poles at "
                                   f"{shown(self.poles)}")
        return np.zeros(len(self.load)) if self.integral.any() else np.linalg.solve(self.stiffness, self.load)

    @property
    def largest_ki(self) -> Array:
        """The gains ki (n) beyond which the joints are unstable, by Routh: k_I < D K / I. (6.33)"""
        for matrix in (self.inertia, self.damping, self.stiffness):
            if (matrix != np.diag(np.diagonal(matrix))).any():
                raise SignatureError("the joints are coupled, by the links or by gravity: the limit of one depends on "
                                     "the gains of the others; try gains, and look at `is_stable`")
        limit = np.diagonal(self.damping) * np.diagonal(self.stiffness) / np.diagonal(self.inertia) / self.gain
        return np.asarray(limit)


def joint_error_model(arm: ArmLike, kp: ArrayLike, kd: ArrayLike, ki: ArrayLike = 0.0, *,
                      target: ArrayLike | None = None, links: bool = False) -> JointErrors:
    """The error model of an arm under `joint_control` with gains in volts; about a `target` (n) gravity is known, and
    with `links` their inertia.

    >>> import cayley as cy
    >>> from cayley.model.winding import Winding
    >>> arm = cy.load("planar2r")
    >>> for joint in arm.joint_names:
    ...     arm = arm.with_drive(joint, inertia=1e-5, gear=100.0, winding=Winding(1.0, 0.05))
    >>> joint_error_model(arm, kp=[20.0, 40.0], kd=1.0).poles.round(3).real
    array([-296.629, -293.178,   -6.822,   -3.371])
    """
    driven = voltage_dynamics(arm)
    gain = driven.gain
    n = len(gain)
    stiffness = np.diag(gain * gains_of(kp, n, "kp", signed=True))
    load = np.zeros(n)
    at = None if target is None else _target(target, n)
    if at is None:
        if links:
            raise SignatureError("the inertia of links is that at a target: give one")
    else:
        stiffness = stiffness + linearize_kernel(driven.tree)(at, np.zeros(n), np.zeros(n)).P
        load = gravity_forces_kernel(driven.tree)(at)
    inertia = _rotors(driven) if at is None or not links else driven.inertia_matrix(at)
    return JointErrors(inertia, np.diag(driven.damping + gain * gains_of(kd, n, "kd", signed=True)), stiffness,
                       np.diag(gain * gains_of(ki, n, "ki", signed=True)), load, gain)


def joint_gains(arm: ArmLike, frequency: ArrayLike, damping_ratio: ArrayLike = 1.0) -> JointGains:
    """kp and kd in volts with which each joint, its motor alone, has the natural frequency w [rad/s] and the damping
    ratio z: I (s^2 + 2 z w s + w^2). Behind a negative gear they are negative. A joint that the motor and friction damp
    more already is named. (6.22)"""
    driven = voltage_dynamics(arm)
    n = len(driven.gain)
    w = gains_of(frequency, n, "frequency", signed=True)
    z = gains_of(damping_ratio, n, "damping_ratio", signed=True)
    inertia = np.diagonal(_rotors(driven))
    kd = (2 * z * w * inertia - driven.damping) / driven.gain
    if not (w > 0).all() or not (z > 0).all() or not (driven.gain * kd >= 0).all():
        least = driven.damping / (2 * inertia)
        raise SignatureError(f"frequency and damping ratio are positive, and their product at least {shown(least)}, "
                             f"which the motors have by themselves; given were {shown(w)} and {shown(z)}")
    return JointGains(w**2 * inertia / driven.gain, kd)


def joint_equilibrium(arm: ArmLike, kp: ArrayLike, target: ArrayLike) -> Array:
    """The configuration q (n) in which an arm with PD control in volts rests, not to first order: K_hat kp (target - q)
    = g(q).

    `UnreachableError` where there is none near the target."""
    driven = voltage_dynamics(arm)
    n = len(driven.gain)
    stiffness = driven.gain * gains_of(kp, n, "kp", signed=True)
    at = _target(target, n)
    gravity = gravity_forces_kernel(tree_of(arm))
    found = root(lambda q: stiffness * (at - q) - gravity(q), at, tol=1e-13)
    if not np.abs(found.fun).max() <= 1e-9 * (1 + np.abs(gravity(at)).max()):
        raise UnreachableError(f"no place near {shown(at)} was found where the gains hold the arm: {found.message}")
    return np.asarray(found.x)


def _rotors(driven: VoltageDynamics) -> Array:
    if not (driven.rotor_inertia > 0).all():
        raise SignatureError(f"the rotors of {driven.tree.name} have the inertias {shown(driven.windings.rotor)}: the "
                             "model of a joint alone needs them all; ask for it with `links`")
    return np.diag(driven.rotor_inertia)


def _target(target: ArrayLike, count: int) -> Array:
    at = np.asarray(target, dtype=float)
    if at.shape != (count,) or not np.isfinite(at).all():
        raise SignatureError(f"a target must be finite numbers ({count}), not {shown(target)}")
    return at
