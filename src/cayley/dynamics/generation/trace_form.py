"""Lagrange's equations in trace form: sums over bodies of traces of 4x4 matrices.

    B_sk = sum_j tr(dT_j/dq_s J_j dT_j^T/dq_k)        C_s = sum_j tr(dT_j/dq_s J_j T_j''^T), without accelerations
    G_s = -sum_j g . (dT_j/dq_s) (m r, m)_j           the force that holds body s, to be added
T_j depends on q_s if body s is j or carries it. The pseudo-inertia J has the second moments int r r^T dm, whose
off-diagonal entries are the products of inertia with a positive sign. Source: Mladenova 8.3, (348)-(357), corrected as
in spec E-60 to E-62; spec R-59.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.generation.outward import BodyMotion, outward_in_base_axes
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.geometry.tensors.cross import skew

_LAST = np.zeros((1, 4))


class Terms(NamedTuple):
    """B (n, n) of the accelerations, C (n) of the velocities, G (n) of gravity: B qdd + C + G is what moves an arm."""

    B: Array
    C: Array
    G: Array


def pseudo_inertia(mass: Scalar, center: ArrayLike, inertia: ArrayLike) -> Array:
    """J (4, 4) of a body, from its tensor of inertia (3, 3) about the centre of mass: (355)-(357).

    >>> pseudo_inertia(2.0, [0.5, 0.0, 0.0], np.diag([0.1, 0.2, 0.3])).diagonal().round(12)
    array([0.7, 0.1, 0. , 2. ])
    """
    tensor = np.asarray(inertia)
    r = np.asarray(center)
    second = np.trace(tensor) / 2 * np.eye(3) - tensor + mass * np.outer(r, r)
    return _pseudo(second, mass * r, mass)


def _pseudo(second: Array, first: Array, mass: Scalar) -> Array:
    row = np.concatenate([first, np.stack([mass])])
    return np.concatenate([np.concatenate([second, np.stack([first], axis=1)], axis=1), np.stack([row])])


def trace_form(links: Links, q: Array, qd: Array) -> Terms:
    """B, C and G of an arm, as traces; the order is that of the mechanism."""
    attitudes, motions = outward_in_base_axes(links, q, qd)
    n = len(links.links)
    B: list[list[Any]] = [[0.0] * n for _ in range(n)]
    C: list[Any] = [0.0] * n
    G: list[Any] = [0.0] * n
    for j, (R, motion, link) in enumerate(zip(attitudes, motions, links.links, strict=True)):
        T = np.concatenate([np.concatenate([R, np.stack([motion.p], axis=1)], axis=1), [[0.0, 0.0, 0.0, 1.0]]])
        J = _pseudo(link.moments.second, link.moments.first, link.moments.mass)
        moved = {s: _velocity(motions[s].delta, motions[s].lam) @ T for s in path(links, j)}
        change = _acceleration(motion, T)
        for s, slope in moved.items():
            weighted = slope @ J
            C[s] = C[s] + np.trace(weighted @ change.T)
            G[s] = G[s] - links.gravity @ weighted[:3, 3]
            for k, other in moved.items():
                if k >= s:
                    B[s][k] = B[s][k] + np.trace(weighted @ other.T)
                    B[k][s] = B[s][k]
    place = [link.columns.start for link in links.links]
    return in_places(place, B, C, G)


def path(links: Links, j: int) -> list[int]:
    """The bodies from the base to body j, which is the last."""
    found = [j]
    while links.links[found[-1]].parent != ROOT:
        found.append(links.links[found[-1]].parent)
    return found[::-1]


def in_places(place: list[int], B: list[list[Any]], C: list[Any], G: list[Any]) -> Terms:
    """The terms with body k at the place of its coordinate."""
    order = list(np.argsort(place))
    return Terms(np.array([[B[s][k] for k in order] for s in order]), np.array([C[s] for s in order]),
                 np.array([G[s] for s in order]))


def _velocity(delta: Array, lam: Array) -> Array:
    return np.concatenate([np.concatenate([skew(delta), np.stack([lam], axis=1)], axis=1), _LAST])


def _acceleration(motion: BodyMotion, T: Array) -> Array:
    """T'' (4, 4) without accelerations of joints: (329)."""
    w = skew(motion.w)
    last = np.stack([motion.u_rate + w @ motion.u], axis=1)
    return np.concatenate([np.concatenate([skew(motion.w_rate) + w @ w, last], axis=1), _LAST]) @ T
