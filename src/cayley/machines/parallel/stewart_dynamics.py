"""Dynamics of a Stewart-Gough platform in the coordinates of the platform, by Newton and Euler.

    t = (v; w), td        twist of the platform at its origin, in the base's axes, and its rate
    s = L u, v, a         from a leg's foot to its ball: length, direction; velocity and acceleration of the ball
    J^T f = W + sum of H_k^T F_k          f forces of the legs' drives, H_k t = v_k,  J the legs' Jacobian
W is the wrench that moves the platform, F the force at the ball that moves a leg: lower part of mass m1, centre c1
above the foot, upper part of mass m2, centre c2 below the ball, I1, I2 their inertias across and Iz both about the leg.
    along u     m2 (u.a + c2 |ud|^2)
    across u    (B (a - u u.a - 2 Ld ud) / L + 2 m2 (L - c2) Ld ud) / L,     B = m1 c1^2 + I1 + I2 + m2 (L - c2)^2
    spin        Iz (k nd - n u x v / L^2),     n = k.v the spin that the universal joint gives,
                k = s_x / (L rho^2) (0, -s_z, s_y),  rho^2 = s_y^2 + s_z^2
    weight      -m2 u u.g - (m1 c1 + m2 (L - c2)) (g - u u.g) / L
The curl of k is -u / L^2: whatever the axes of the universal joint, the spin turns with the solid angle that u sweeps.
Source: Dasgupta & Mruthyunjaya 1998 for the form; the force of a leg by Lagrange in L and u.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError, SingularityError
from cayley.geometry.tensors.cross import hat
from cayley.model.parts import Body

if TYPE_CHECKING:
    from cayley.machines.parallel.stewart import StewartPlatform

_ROUND = 1e-9  # of a leg's inertia: what may be wrong with its symmetry


class Leg(NamedTuple):
    """A leg that is round: m1, c1, m2, c2, and the inertias across (I1 + I2) and about it."""

    lower: float
    lower_center: float
    upper: float
    upper_center: float
    across: float
    about: float


class StewartDynamics:
    """Inverse and forward dynamics of a platform, with or without masses of legs: see `StewartPlatform.dynamics`."""

    def __init__(self, machine: StewartPlatform, platform: Body, leg: Leg, gravity: Array) -> None:
        if platform.mass is None:
            raise ModelError("the platform has no mass: dynamics need platform=Body(name, mass, center, inertia)")
        self.machine = machine
        self.platform = platform
        self.mass: float = platform.mass
        self.leg = leg
        self.gravity = gravity

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        """`inverse_dynamics(pose, twist, acceleration)`: the forces (..., 6) of the legs [N], positive where they push
        the platform away, that give the rate (..., 6) of the twist (..., 6).

        NaN, and for one state an error, where the legs do not hold the platform.
        """
        def inverse_dynamics(pose: Array, twist: Array, acceleration: Array) -> Array:
            needed = self._wrench(pose, twist, acceleration)
            J = wrapped(self.machine.jacobian(pose))
            return only_where(is_definite(J @ J.T), np.linalg.solve(J.T, needed))

        return kernel("(4,4),(6),(6)->(6)", name="inverse_dynamics", inputs=("pose", "twist", "acceleration"),
                      outputs=("forces",), explain=self._explain)(inverse_dynamics)

    @cached_property
    def forward_dynamics(self) -> Kernel:
        """`forward_dynamics(pose, twist, forces)`: the rate (..., 6) of the twist that forces (..., 6) of the legs
        give."""
        def forward_dynamics(pose: Array, twist: Array, forces: Array) -> Array:
            M = self._mass_matrix(pose)
            rest = wrapped(self.machine.jacobian(pose)).T @ forces - self._wrench(pose, twist, np.zeros(6))
            return ldl_solve(M, rest)

        return kernel("(4,4),(6),(6)->(6)", name="forward_dynamics", inputs=("pose", "twist", "forces"),
                      outputs=("acceleration",))(forward_dynamics)

    @cached_property
    def mass_matrix(self) -> Kernel:
        """`mass_matrix(pose)`: (..., 6, 6) of platform and legs, for twists at the platform's origin."""
        return kernel("(4,4)->(6,6)", name="mass_matrix", inputs=("pose",))(self._mass_matrix)

    # The text

    def _wrench(self, pose: Array, twist: Array, acceleration: Array) -> Array:
        """What the drives must do to the platform, J^T f."""
        w = twist[3:]
        wd = acceleration[3:]
        R = pose[:3, :3]
        c = R @ self.platform.center
        I = R @ self.platform.inertia @ R.T
        force = self.mass * (acceleration[:3] + np.cross(wd, c) + np.cross(w, np.cross(w, c)) - self.gravity)
        total = np.concatenate([force, I @ wd + np.cross(w, I @ w) + np.cross(c, force)])
        for joint, s in zip(self.machine.platform, self.machine.legs(pose), strict=True):
            arm = R @ joint
            v = twist[:3] + np.cross(w, arm)
            a = acceleration[:3] + np.cross(wd, arm) + np.cross(w, np.cross(w, arm))
            F = self._leg_force(s, v, a)
            total = total + np.concatenate([F, np.cross(arm, F)])
        return total

    def _leg_force(self, s: Array, v: Array, a: Array) -> Array:
        """F (3): what moves a leg by its ball."""
        m1, c1, m2, c2, across, about = self.leg
        L = np.sqrt(s @ s)
        u = s / L
        Ld = u @ v
        ud = (v - u * Ld) / L
        square = ud @ ud
        B = m1 * c1**2 + across + m2 * (L - c2)**2
        along = m2 * (u @ a + c2 * square)
        sideways = (B * (a - u * (u @ a) - 2 * Ld * ud) / L + 2 * m2 * (L - c2) * Ld * ud) / L
        g = self.gravity
        weight = -m2 * u * (u @ g) - (m1 * c1 + m2 * (L - c2)) * (g - u * (u @ g)) / L
        force = along * u + sideways + weight
        return force + about * self._spin_force(s, v, a, L, Ld) if about else force

    def _spin_force(self, s: Array, v: Array, a: Array, L: Scalar, Ld: Scalar) -> Array:
        square = s[1] * s[1] + s[2] * s[2]
        g = s[0] / L
        h = (s[1] * v[2] - s[2] * v[1]) / square
        gd = (v[0] - g * Ld) / L
        hd = (s[1] * a[2] - s[2] * a[1] - 2 * h * (s[1] * v[1] + s[2] * v[2])) / square
        return _spin_row(s, L) * (gd * h + g * hd) - g * h * np.cross(s, v) / L**3

    def _mass_matrix(self, pose: Array) -> Array:
        R = pose[:3, :3]
        c = hat(R @ self.platform.center)
        corner = -self.mass * c
        own = R @ self.platform.inertia @ R.T - self.mass * c @ c
        M = np.block([[self.mass * np.eye(3), corner], [corner.T, own]])
        for joint, s in zip(self.machine.platform, self.machine.legs(pose), strict=True):
            H = np.concatenate([np.eye(3), -hat(R @ joint)], axis=1)
            M = M + H.T @ self._leg_mass(s) @ H
        return M

    def _leg_mass(self, s: Array) -> Array:
        """What a leg weighs at its ball (3, 3)."""
        m1, c1, m2, c2, across, about = self.leg
        L = np.sqrt(s @ s)
        u = s / L
        sideways = (m1 * c1**2 + across + m2 * (L - c2)**2) / L**2
        k = _spin_row(s, L)
        return sideways * np.eye(3) + (m2 - sideways) * np.outer(u, u) + about * np.outer(k, k)

    def _explain(self, pose: ArrayLike, *_: Array) -> None:
        found = self.machine.singularity(pose)
        if found.kind != "regular":
            raise SingularityError(
                f"the legs of the Stewart platform do not hold it at this pose: it is free to move along "
                f"{found.gained[0].round(6).tolist()}, and no forces of the legs are determined")


def leg_of(cylinder: Body | None, piston: Body | None) -> Leg:
    """The leg of two bodies that are round about z; None has no mass."""
    parts = [_round(name, body) for name, body in (("cylinder", cylinder), ("piston", piston))]
    (m1, c1, I1, z1), (m2, c2, I2, z2) = parts
    return Leg(m1, c1, m2, -c2, I1 + I2, z1 + z2)


def _round(name: str, body: Body | None) -> tuple[float, float, float, float]:
    if body is None:
        return 0.0, 0.0, 0.0, 0.0
    if body.mass is None:
        raise ModelError(f"the {name} of a leg has an unknown mass; leave it out if it has none")
    size = max(float(np.abs(body.inertia).max()), body.mass * float(np.abs(body.center).max())**2, 1e-300)
    off = np.abs(body.inertia - np.diag([body.inertia[0, 0], body.inertia[0, 0], body.inertia[2, 2]])).max()
    if off > _ROUND * size or body.mass * np.abs(body.center[:2]).max()**2 > _ROUND**2 * size:
        raise ModelError(
            f"the {name} of a leg is not round about z: its centre is {body.center.tolist()}, its inertia "
            f"{body.inertia.tolist()}. `cy.Mechanism(machine.tree(...))` takes any")
    return body.mass, float(body.center[2]), float(body.inertia[0, 0]), float(body.inertia[2, 2])


def _spin_row(s: Array, L: Scalar) -> Array:
    """k (3): the spin of a leg by the velocity of its ball."""
    scale = s[0] / (L * (s[1] * s[1] + s[2] * s[2]))
    return np.array([0.0, -scale * s[2], scale * s[1]])
