"""Dynamics of a Stewart-Gough platform in the coordinates of the platform, by Newton and Euler.

    t = (v; w), td        twist of the platform at its origin, in the base's axes, and its rate
    s, v, a               from a leg's foot to its ball; velocity and acceleration of the ball
    J^T f = W + sum of H_k^T F_k          f forces of the legs' drives, H_k t = v_k,  J the legs' Jacobian
W is the wrench that moves the platform, F the force at the ball that moves a leg. A leg is a tree of a universal joint
(alpha, beta) and a slide (L), whose coordinates s gives in closed form: s = Rx(alpha) Ry(beta) (0, 0, L). With x, y, z
the axes of the slide,
    q' = (-y.v / (L cos beta), x.v / L, z.v)         F = x tau_2 / L - y tau_1 / (L cos beta) + z tau_3
and tau are the forces of the joints by Newton and Euler. Source: Dasgupta & Mruthyunjaya 1998.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.solving.definite import is_definite, only_where
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.tracing.symbols import wrapped
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import inertia_matrix
from cayley.dynamics.inverse.newton_euler import inverse_dynamics, movements
from cayley.dynamics.rigid_links.links import links_of
from cayley.errors import ModelError, SingularityError
from cayley.geometry.tensors.cross import hat
from cayley.machines.arguments import compiled
from cayley.model.joint_kinds import Prismatic, Universal
from cayley.model.parts import Body, Joint
from cayley.model.tree import Tree

if TYPE_CHECKING:
    from cayley.machines.parallel.stewart import StewartPlatform

_MASSLESS = Body("massless", 0.0)


class LegMotion(NamedTuple):
    """A leg at its joints: coordinates q (3), axes (3, 3) of the slide, and G (3, 3): q' = G v of the ball."""

    q: Array
    axes: Array
    G: Array


class StewartDynamics:
    """Inverse and forward dynamics of a platform, with or without masses of legs: see `StewartPlatform.dynamics`."""

    def __init__(self, machine: StewartPlatform, platform: Body, cylinder: Body | None, piston: Body | None,
                 gravity: Array) -> None:
        if platform.mass is None:
            raise ModelError("the platform has no mass: dynamics need platform=Body(name, mass, center, inertia)")
        self.machine = machine
        self.platform = platform
        self.mass: float = platform.mass
        self.gravity = gravity
        for name, body in (("cylinder", cylinder), ("piston", piston)):
            if body is not None and body.mass is None:
                raise ModelError(f"the {name} of a leg has an unknown mass; leave it out if it has none")
        bodies = [Body("base"), replace(cylinder or _MASSLESS, name="cylinder"),
                  replace(piston or _MASSLESS, name="piston")]
        joints = [Joint("foot", "base", "cylinder", Universal()), Joint("leg", "cylinder", "piston", Prismatic())]
        self.leg = links_of(Tree.of("leg", bodies, joints, gravity=gravity))

    @compiled("(4,4),(6),(6)->(6)", outputs=("forces",), explain="_explain")
    def inverse_dynamics(self, pose: Array, twist: Array, acceleration: Array) -> Array:
        """`inverse_dynamics(pose, twist, acceleration)`: the forces (..., 6) of the legs [N], positive where they push
        the platform away, that give the rate (..., 6) of the twist (..., 6).

        NaN, and for one state an error, where the legs do not hold the platform.
        """
        needed = self._wrench(pose, twist, acceleration)
        J = wrapped(self.machine.jacobian(pose))
        return only_where(is_definite(J @ J.T), np.linalg.solve(J.T, needed))

    @compiled("(4,4),(6),(6)->(6)", outputs=("acceleration",))
    def forward_dynamics(self, pose: Array, twist: Array, forces: Array) -> Array:
        """`forward_dynamics(pose, twist, forces)`: the rate (..., 6) of the twist that forces (..., 6) of the legs
        give."""
        rest = wrapped(self.machine.jacobian(pose)).T @ forces - self._wrench(pose, twist, np.zeros(6))
        return ldl_solve(self.mass_matrix(pose), rest)

    @compiled("(4,4)->(6,6)")
    def mass_matrix(self, pose: Array) -> Array:
        """`mass_matrix(pose)`: (..., 6, 6) of platform and legs, for twists at the platform's origin."""
        R = pose[:3, :3]
        c = hat(R @ self.platform.center)
        corner = -self.mass * c
        own = R @ self.platform.inertia @ R.T - self.mass * c @ c
        M = np.block([[self.mass * np.eye(3), corner], [corner.T, own]])
        for joint, s in zip(self.machine.platform, self.machine.legs(pose), strict=True):
            H = np.concatenate([np.eye(3), -hat(R @ joint)], axis=1)
            q, _, G = _leg_motion(s)
            M = M + H.T @ (G.T @ inertia_matrix(self.leg, q) @ G) @ H
        return M

    # The text

    def _wrench(self, pose: Array, twist: Array, acceleration: Array) -> Array:
        """The wrench of the drives on the platform, J^T f."""
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
        """The force (3) at its ball that moves a leg."""
        q, axes, G = _leg_motion(s)
        qd = G @ v
        falling = replace(self.leg, gravity=np.zeros(3))
        drift = axes @ movements(falling, q, qd, np.zeros(3))[-1].a
        return G.T @ inverse_dynamics(self.leg, q, qd, G @ (a - drift))

    def _explain(self, pose: ArrayLike, *_: Array) -> None:
        found = self.machine.singularity(pose)
        if found.kind != "regular":
            raise SingularityError(
                f"the legs of the Stewart platform do not hold it at this pose: it is free to move along "
                f"{found.gained[0].round(6).tolist()}, and no forces of the legs are determined")


def _leg_motion(s: Array) -> LegMotion:
    L = np.sqrt(s @ s)
    across = np.sqrt(s[1] * s[1] + s[2] * s[2])  # L cos(beta)
    sa, ca, sb, cb = -s[1] / across, s[2] / across, s[0] / L, across / L
    axes = np.stack([np.stack([cb, 0.0 * L, sb]), np.stack([sa * sb, ca, -sa * cb]), np.stack([-ca * sb, sa, ca * cb])])
    x, y, z = axes.T
    q = np.stack([np.arctan2(-s[1], s[2]), np.arctan2(s[0], across), L])
    return LegMotion(q, axes, np.stack([-y / across, x / L, z]))
