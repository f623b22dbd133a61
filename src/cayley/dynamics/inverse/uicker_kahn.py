"""Inverse dynamics of a chain by the closed form of Uicker and Kahn: Lagrange's equations over homogeneous matrices,
O(n^4).

    W_j   transform of link j, with exact first and second derivatives by the coordinates
    J_j   its pseudo-inertia
    D     generalized inertia tensor (n, n)
    C     Coriolis and centrifugal coefficients (n, n, n)
    G     gravity (n)
tau_i = D_ik qdd_k + C_ikl qd_k qd_l + G_i. Revolute and prismatic joints.
Source: Balafoutis & Patel (5.2.7), (5.2.8), corrected as in spec E-08."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.passes import LagrangeCoefficients
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.transforms import pseudo_inertia, transform_derivatives


def closed_form(links: Links, q: Array) -> LagrangeCoefficients:
    """D (n, n), C (n, n, n) and G (n).

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> closed_form(serial_chain(load_robot("s1_f2")), np.zeros(2)).G.round(6)
    array([15.2055, 2.943 ])
    """
    n = len(links.links)
    g = np.array([*links.gravity, 0.0])
    first, second = transform_derivatives(links, q)
    D = np.zeros((n, n))
    C = np.zeros((n, n, n))
    G = np.zeros(n)
    for link, dW, ddW in zip(links.links, first, second, strict=True):
        weighed = dW @ pseudo_inertia(link.moments)                                     # (5.2.7)
        D = D + np.einsum("iab,kab->ik", weighed, dW)                                   # (5.2.7)
        C = C + np.einsum("iab,klab->ikl", weighed, ddW)                                # (5.2.7)
        G = G - weighed[:, :, 3] @ g                                                    # (5.2.7)
    return LagrangeCoefficients(D, C, G)


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    found = closed_form(links, q)
    return found.forces(qd, qdd)                                                        # (5.2.8)
