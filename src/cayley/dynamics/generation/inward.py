"""Inward recursion: the terms of an arm's equations of motion, each body in its own axes.

    K, H, M      of all that a body carries: tensor of inertia and first moment about the origin of the base, mass
    N, D         the moment and force that its motion needs without accelerations of joints
    X, Y         K delta + H x lambda and delta x H + M lambda: what a joint's acceleration needs
    B_kk = delta . X + lambda . Y        C_k = delta . N + lambda . D        G_k = -g . Y
and B_sk with X and Y turned into the axes of the bodies s that carry k. An actuator carries nothing, a link the next
actuator and link. Source: Mladenova 8.3, (361)-(388), corrected as in spec E-63 to E-66; spec R-61.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.solving.linear import is_zero
from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.generation.outward import BodyMotion, outward_in_own_axes
from cayley.dynamics.generation.trace_form import Terms, in_places
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.dynamics.rigid_links.moments import Moments


class Carried(NamedTuple):
    """What a body carries, itself included."""

    K: Array
    H: Array
    M: Scalar
    N: Array
    D: Array

    def with_next(self, other: Carried, link: Link, q: Array) -> Carried:
        """And what a body that it carries does, in the axes of that."""
        return Carried(self.K + link.inwards_both(other.K, q), self.H + link.inwards(other.H, q), self.M + other.M,
                       self.N + link.inwards(other.N, q), self.D + link.inwards(other.D, q))


def inward(links: Links, q: Array, qd: Array) -> Terms:
    """B, C and G of an arm by the recursions; the order is that of the mechanism.

    >>> import cayley as cy
    >>> from cayley.dynamics.generation.bodies import bodies_of
    >>> inward(bodies_of(cy.load("s1_f2").tree), np.array([0.3, -0.7]), np.array([1.1, -0.4])).B.round(4)
    array([[0.8695, 0.2047],
           [0.2047, 0.09  ]])
    """
    motions = outward_in_own_axes(links, q, qd)
    carried = [_own(link.moments, motion) for link, motion in zip(links.links, motions, strict=True)]
    n = len(motions)
    for k in reversed(range(n)):
        link = links.links[k]
        if link.parent != ROOT:
            carried[link.parent] = carried[link.parent].with_next(carried[k], link, q)
    gravity: list[Array] = []
    B: list[list[Any]] = [[0.0] * n for _ in range(n)]
    C: list[Any] = []
    G: list[Any] = []
    for k, (link, motion, all_of_it) in enumerate(zip(links.links, motions, carried, strict=True)):
        gravity.append(link.outwards(links.gravity if link.parent == ROOT else gravity[link.parent], q))
        X = all_of_it.K @ motion.delta + np.cross(all_of_it.H, motion.lam)
        Y = np.cross(motion.delta, all_of_it.H) + all_of_it.M * motion.lam
        C.append(motion.delta @ all_of_it.N + motion.lam @ all_of_it.D)
        G.append(-(gravity[k] @ Y))
        s = k
        while s != ROOT:
            B[s][k] = B[k][s] = motions[s].delta @ X + motions[s].lam @ Y
            X = links.links[s].inwards(X, q)
            Y = links.links[s].inwards(Y, q)
            s = links.links[s].parent
    return in_places([link.columns.start for link in links.links], B, C, G)


def _own(moments: Moments, motion: BodyMotion) -> Carried:
    """What a body itself needs."""
    H = moments.first + moments.mass * motion.p
    center = np.zeros(3) if is_zero(moments.mass) else moments.first / moments.mass
    r = center + motion.p
    centered = moments.second - np.outer(moments.first, center)
    I = np.trace(centered) * np.eye(3) - centered
    w = motion.w
    K = I + (r @ H) * np.eye(3) - np.outer(r, H)
    D = (moments.mass * (motion.u_rate + np.cross(w, motion.u)) + np.cross(motion.w_rate, H)
         + np.cross(w, np.cross(w, H)))
    return Carried(K, H, moments.mass, I @ motion.w_rate + np.cross(w, I @ w) + np.cross(r, D), D)
