"""Forward dynamics of open chains by a filter and a smoother, the bias forces in them: one sweep less than with
`operator_factors`.

Velocities and gravity enter as known inputs of the filter. Spatial vectors are motions (w; v) and forces (n; f) about a
link's origin.

    h, phi, P, Dh, G   as in `cayley.dynamics.inertia_matrix.operator_factors`
    V      velocity of a link              c, b   acceleration of a link, and force on it, by velocities alone
    Z, e   force on a link that is explained by the joints beyond it and by velocities, and the innovation of a joint's
           force
    A      acceleration of a link, gravity in it as -g of the base
It is the articulated-body method in the words of estimation: P is the articulated inertia. Source: Rodriguez & Kreutz
1990; Balafoutis & Patel, after (6.2.19), spec R4.4, R4.5."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.operator_factors import Filter, kalman_filter
from cayley.dynamics.inverse.featherstone import spatial_cross
from cayley.dynamics.inverse.rodriguez import spatial_inertia
from cayley.dynamics.rigid_links.links import Links


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: float = 0.0) -> Array:
    """The accelerations (n) that the forces `tau` give at the state (`q`, `qd`); infinite or NaN where a joint moves no
    inertia.

    `rotors`: inertia (n) of the drives, added to the diagonal of D."""
    found = kalman_filter(links, q, rotors)
    c, b = _inputs(links, found, qd)
    return _smoothed(found, c, _innovations(found, c, b, tau), links.gravity)


def _inputs(links: Links, found: Filter, qd: Array) -> tuple[list[Any], list[Any]]:
    """c and b of each link."""
    c = []
    b = []
    V = np.zeros(6)
    for link, h, phi, rate in zip(links.links, found.h, found.phi, qd, strict=True):
        V = phi.T @ V + h * rate
        c.append(spatial_cross(V) @ (h * rate))
        b.append(-spatial_cross(V).T @ (spatial_inertia(link) @ V))
    return c, b


def _innovations(found: Filter, c: list[Any], b: list[Any], tau: Array) -> list[Any]:
    innovations = []
    beyond = np.zeros(6)
    for i in reversed(range(len(b))):
        Z = b[i] + beyond + found.P[i] @ c[i]
        innovations.append(tau[i] - found.h[i] @ Z)
        beyond = found.phi[i] @ (Z + found.G[i] * innovations[-1])
    return innovations[::-1]


def _smoothed(found: Filter, c: list[Any], innovations: list[Any], gravity: Array) -> Array:
    qdd = []
    A = np.concatenate([np.zeros(3), -gravity])
    for i, e in enumerate(innovations):
        before = found.phi[i].T @ A
        qdd.append(e / found.Dh[i] - found.G[i] @ before)
        A = before + c[i] + found.h[i] * qdd[-1]
    return np.array(qdd)
