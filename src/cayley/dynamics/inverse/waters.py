"""Inverse dynamics of a chain by Waters' form of Lagrange's equations: accelerations of the transforms by recursion,
O(n^2).

    W_j, W_j''   transform of link j and its second derivative by time         J_j   its pseudo-inertia
Revolute and prismatic joints. Source: Balafoutis & Patel (5.2.9), (5.2.10)."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.transforms import insertion, moving_transforms, pseudo_inertia, transform


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    moved = moving_transforms(links, q, qd, qdd)
    g = np.array([*links.gravity, 0.0])
    tau = []
    for i, link in enumerate(links.links):
        dW = moved[i].W @ insertion(link)  # (5.2.9)
        total = 0.0
        for j in range(i, len(links.links)):
            if j > i:
                dW = dW @ transform(links.links[j], q)                                  # (5.2.9)
            weighed = dW @ pseudo_inertia(links.links[j].moments)                       # (5.2.9)
            total = total + np.trace(weighed @ moved[j].ddW.T) - g @ weighed[:, 3]      # (5.2.9)
        tau.append(total)
    return np.array(tau)
