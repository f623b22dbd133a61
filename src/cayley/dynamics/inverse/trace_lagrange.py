"""Closed-form dynamics of a chain by traces of transforms and pseudo-inertias: tau = M q'' + h + g.

    T_k   transform of link k
    H_k   its pseudo-inertia
    s_k   its centre of mass, in H_k's last column m (s; 1)
The cost grows as n^4: for small n, and as a reference. Revolute and prismatic joints.
`trace_terms` is the same for trees, with T'' by recursion. Source: Mladenova (348)-(357), corrected as in spec E-60 to
E-62; Yamamoto (3.18)-(3.30), corrected as in spec E3-13, E3-15, E3-16.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.dynamics.rigid_links.transforms import (
    Moving,
    at_rest,
    insertion,
    pseudo_inertia,
    transform,
    transform_derivatives,
)


def inertia_matrix(links: Links, q: Array) -> Array:
    """M (n, n)."""
    first = transform_derivatives(links, q).first
    M = np.zeros((links.nv, links.nv))
    for link, dT in zip(links.links, first, strict=True):
        M = M + np.einsum("iab,jab->ij", dT @ pseudo_inertia(link.moments), dT)         # (3.28)
    return M


def velocity_forces(links: Links, q: Array, qd: Array) -> Array:
    """h (n), from the part of T'' that velocities make."""
    first, second = transform_derivatives(links, q)
    h = np.zeros(len(links.links))
    for link, dT, ddT in zip(links.links, first, second, strict=True):
        bent = np.einsum("lmab,l,m->ab", ddT, qd, qd)                                   # (3.24)
        h = h + np.einsum("iab,ab->i", dT @ pseudo_inertia(link.moments), bent)         # (3.28)
    return h


def gravity_forces(links: Links, q: Array) -> Array:
    """g (n), the derivative of the potential energy."""
    first = transform_derivatives(links, q).first
    g = np.array([*links.gravity, 0.0])
    total = np.zeros(links.nv)
    for link, dT in zip(links.links, first, strict=True):
        total = total - (dT @ pseudo_inertia(link.moments)[:, 3]) @ g                   # (3.27)
    return total


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    return inertia_matrix(links, q) @ qdd + velocity_forces(links, q, qd) + gravity_forces(links, q)    # (3.29)


def trace_terms(links: Links, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """B (n, n), C (n) and G (n) of a tree of revolute and prismatic joints, as traces of transforms T_j of bodies.

    B_sk = sum_j tr(dT_j/dq_s J_j dT_j^T/dq_k),  C_s = sum_j tr(dT_j/dq_s J_j T_j''^T),  G_s = -sum_j g.(dT_j/dq_s) m r
    """
    B, C, G = np.zeros((links.nv, links.nv)), np.zeros(links.nv), np.zeros(links.nv)
    moving: list[Moving] = []
    slopes: list[dict[int, Array]] = []
    for link in links.links:
        A, Q = transform(link, q), insertion(link)
        before, moved = (at_rest(4), {}) if link.parent == ROOT else (moving[link.parent], slopes[link.parent])
        moving.append(before.carried(A, Q, qd[link.columns.start], 0.0))
        slopes.append({s: dT @ A for s, dT in moved.items()} | {link.columns.start: moving[-1].W @ Q})
        of_body = np.stack([slopes[-1].get(s, np.zeros((4, 4))) for s in range(links.nv)])
        weighted = of_body @ pseudo_inertia(link.moments)
        B = B + np.einsum("iab,jab->ij", weighted, of_body)
        C = C + np.einsum("iab,ab->i", weighted, moving[-1].ddW)
        G = G - weighted[:, :3, 3] @ links.gravity
    return B, C, G
