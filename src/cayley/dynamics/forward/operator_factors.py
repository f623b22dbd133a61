"""Forward dynamics of open chains in two steps, each linear in the number of joints: the bias forces, then the factors
of D^-1.

    qdd = (1 - H Phi L)^T Dh^-1 (1 - H Phi L) (tau - b)
No matrix (n, n) is formed: the first factor is a sweep inwards, of the filter, the last a sweep outwards, of the
smoother.

    h, phi, Dh, G   as in `cayley.dynamics.inertia_matrix.operator_factors`
    Z, e     force (6) on a link that is explained by the joints beyond it, and what of a joint's force is not: the
             innovation
    A        acceleration (6) of a link
Source: Rodriguez & Kreutz 1990; Balafoutis & Patel (6.2.19), spec R4.5."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.operator_factors import Filter, kalman_filter
from cayley.dynamics.inverse import rodriguez
from cayley.dynamics.rigid_links.links import Links


def forward_dynamics(links: Links, q: Array, qd: Array, tau: Array, *, rotors: float = 0.0) -> Array:
    """The accelerations (n) that the forces `tau` give at the state (`q`, `qd`); infinite or NaN where a joint moves no
    inertia.

    `rotors`: inertia (n) of the drives, added to the diagonal of D."""
    bias = rodriguez.inverse_dynamics(links, q, qd, np.zeros(links.nv))
    found = kalman_filter(links, q, rotors)
    return smoothed(found, filtered(found, tau - bias) / np.array(found.Dh))


def filtered(found: Filter, forces: Array) -> Array:
    """(1 - H Phi L) forces: the innovations (n), from the tip inwards."""
    innovations = []
    Z = np.zeros(6)
    for h, phi, G, x in zip(*[reversed(part) for part in (found.h, found.phi, found.G, list(forces))], strict=True):
        e = x - h @ Z
        innovations.append(e)
        Z = phi @ (Z + G * e)
    return np.array(innovations[::-1])


def smoothed(found: Filter, v: Array) -> Array:
    """(1 - H Phi L)^T v, from the base outwards."""
    rates = []
    A = np.zeros(6)
    for h, phi, G, x in zip(found.h, found.phi, found.G, v, strict=True):
        before = phi.T @ A
        rates.append(x - G @ before)
        A = before + h * rates[-1]
    return np.array(rates)
