"""Forward dynamics of links and of the rotors of their drives: one sweep inwards, one outwards.

The force that moves a link with all that it carries is t = H W + h, with H its articulated inertia. A rotor, or a link
beyond a joint, with t = X W + x and the force tau upon its own coordinate, hands on to its carrier

    D = E^T X E,  X - X E D^-1 E^T X,  x + X a + X E D^-1 (tau - E^T (x + X a))
Operators and their frames are those of `cayley.dynamics.rigid_links.spatial_operators`; a joint whose D is not
positive definite moves no inertia. Source: Mladenova (272), spec R-50."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.inverse.links_and_rotors import outward
from cayley.dynamics.rigid_links.links import ROOT
from cayley.dynamics.rigid_links.spatial_operators import LinksAndRotors


def forward_dynamics(arm: LinksAndRotors, q: Array, qd: Array, tau: Array, *, rotors: Array | float = 0.0) -> Array:
    """The accelerations (nv) of joints and motors that the forces `tau` (nv) give, those of springs among them;
    `rotors` (nv) is inertia that coordinates have besides, of rotors that only spin."""
    moved = outward(arm, q, qd)
    beside = np.zeros(arm.links.nv) + rotors
    H = [body.M for body in moved.of]
    h = list(moved.b)
    steps = {}
    for k in (*arm.rotors, *reversed(arm.bars)):
        body = moved.of[k]
        pushed = h[k] + H[k] @ moved.a[k]
        HE = H[k] @ body.E
        D = body.E.T @ HE + np.diag(beside[body.columns])
        e = tau[body.columns] - body.E.T @ pushed
        freed = solve(D, np.eye(len(D)))
        steps[k] = HE, freed, e
        if body.carrier != ROOT:
            left = H[k] - HE @ freed @ HE.T
            H[body.carrier] = H[body.carrier] + body.Phi.T @ left @ body.Phi
            h[body.carrier] = h[body.carrier] + body.Phi.T @ (pushed + HE @ (freed @ e))
    rest = np.concatenate([np.zeros(3), -arm.links.gravity])
    W: dict[int, Array] = {}
    qdd: list[Scalar] = [0.0] * arm.links.nv
    for k in (*arm.bars, *arm.rotors):
        body = moved.of[k]
        HE, freed, e = steps[k]
        before = body.Phi @ (rest if body.carrier == ROOT else W[body.carrier])
        own = freed @ (e - HE.T @ before)
        qdd[body.columns] = own
        W[k] = before + moved.a[k] + body.E @ own
    return np.array(qdd)
