"""Closed-form dynamics of a tree by traces of transforms and pseudo-inertias: tau = B q'' + C + G.

    T_k   transform of link k, with T_k'' by recursion
    J_k   its pseudo-inertia, whose last column is m (r; 1), r its centre of mass
For small n, and as a reference. Revolute and prismatic joints. Source: Mladenova (348)-(357), corrected as in spec E-60
to E-62; Yamamoto (3.18)-(3.30), corrected as in spec E3-13, E3-15, E3-16."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.dynamics.rigid_links.transforms import MovingMatrix, at_rest, insertion, pseudo_inertia, transform


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    B, C, G = trace_terms(links, q, qd)
    return B @ qdd + C + G  # (3.29)


def trace_terms(links: Links, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """B (n, n), C (n) and G (n) of a tree of revolute and prismatic joints, as traces of transforms T_j of bodies.

    B_sk = sum_j tr(dT_j/dq_s J_j dT_j^T/dq_k),  C_s = sum_j tr(dT_j/dq_s J_j T_j''^T),  G_s = -sum_j g.(dT_j/dq_s) m r
    """
    B, C, G = np.zeros((links.nv, links.nv)), np.zeros(links.nv), np.zeros(links.nv)
    moving: list[MovingMatrix] = []
    slopes: list[dict[int, Array]] = []
    for link in links.links:
        A, Q = transform(link, q), insertion(link)
        before, moved = (at_rest(4), {}) if link.parent == ROOT else (moving[link.parent], slopes[link.parent])
        moving.append(before.carried(A, Q, qd[link.columns.start], 0.0))  # (3.24)
        slopes.append({s: dT @ A for s, dT in moved.items()} | {link.columns.start: moving[-1].W @ Q})
        of_body = np.stack([slopes[-1].get(s, np.zeros((4, 4))) for s in range(links.nv)])
        weighted = of_body @ pseudo_inertia(link.moments)
        B = B + np.einsum("iab,jab->ij", weighted, of_body)  # (3.28)
        C = C + np.einsum("iab,ab->i", weighted, moving[-1].ddW)  # (3.28)
        G = G - weighted[:, :3, 3] @ links.gravity  # (3.27)
    return B, C, G
