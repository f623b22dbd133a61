"""Energies are linear in the mass properties: K = Y_K(q, qd) pi, P = Y_P(q) pi, with the parameters of the regressor of
forces, in its order.

    u, w   velocity of a link's origin and angular velocity, in the link's axes
    R, s   its rotation, and the place of its origin, in the root's frame
Of a link with the moments (m, n, J) about its origin

    K = m u.u / 2 + n.(u x w) + (tr(J) w.w - w.J w) / 2         P = -m g.s - n.R^T g
A rotor has v^2 / 2 by its inertia, a spring what it stores by its stiffness; friction and offsets have no energy.
Source: Khalil & Dombre, section 12.4.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.energies import link_poses, link_twists
from cayley.dynamics.rigid_links.links import Links


def kinetic_energy_columns(links: Links, q: Array, qd: Array) -> list[Array]:
    """Of each link the kinetic energy by its ten moments (10).

    >>> from cayley.dynamics.rigid_links.links import links_of
    >>> from cayley.model.catalogue import load_robot
    >>> kinetic_energy_columns(links_of(load_robot("planar2r")), np.zeros(2), np.array([2.0, 0.0]))[1] + 0.0
    array([0.5, 2. , 0. , 0. , 2. , 0. , 0. , 2. , 0. , 0. ])
    """
    found = []
    for u, w in link_twists(links, q, qd):
        x, y, z = w * w / 2
        found.append(np.array([u @ u / 2, *np.cross(u, w), y + z, -w[0] * w[1], -w[0] * w[2], x + z, -w[1] * w[2],
                               x + y]))
    return found


def potential_energy_columns(links: Links, q: Array) -> list[Array]:
    """Of each link the potential energy by its ten moments (10)."""
    return [np.concatenate([np.array([-(links.gravity @ s)]), -(R.T @ links.gravity), np.zeros(6)])
            for R, s in link_poses(links, q)]
