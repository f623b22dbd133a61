"""Inverse dynamics of a chain by Hollerbach's recursion over homogeneous matrices: Algorithm 5.1, O(n).

    W_i, W_i''   transform of link i and its second derivative by time         A_i   pose of link i in link i-1
    D_i   (4, 4) sum of the links beyond joint i of their pseudo-inertias and accelerations
    c_i   (4) of their first moments
Revolute and prismatic joints. Source: Balafoutis & Patel (5.2.11)-(5.2.13), corrected as in spec E-09."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.transforms import insertion, moving_transforms, pseudo_inertia, transform


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    g = np.array([*links.gravity, 0.0])
    A = np.zeros((4, 4))
    D = np.zeros((4, 4))
    c = np.zeros(4)
    tau = []
    moved = moving_transforms(links, q, qd, qdd)                                            # (5.2.12)
    for link, (W, _, ddW) in reversed(list(zip(links.links, moved, strict=True))):
        J = pseudo_inertia(link.moments)
        D = J @ ddW.T + A @ D                                                           # (5.2.13a)
        c = J[:, 3] + A @ c                                                             # (5.2.13b)
        dW = W @ insertion(link)                                                        # (5.2.13c)
        tau.append(np.trace(dW @ D) - g @ (dW @ c))                                     # (5.2.13c)
        A = transform(link, q)
    return np.array(tau[::-1])
