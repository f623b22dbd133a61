"""Inverse dynamics of a chain by Hollerbach's recursion over rotations (3, 3) and vectors: Algorithm 5.2, O(n).

    W_i      rotation of link i in the root's axes
    ds_i''   acceleration of its origin, without gravity
    n_i      m_i r_i
    e_i    rate of the momentum of the links beyond joint i
    D_i    (3, 3) of their moments of mass and accelerations
    c_i    their first moment about the origin of link i         mb_i   their mass
The published algorithm is for revolute joints; prismatic joints are completed as in spec R-31: what a slide adds to the
acceleration of the origin, and the force along its axis. Source: Balafoutis & Patel (5.2.14)-(5.2.16), Appendix A,
corrected as in spec E-10."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import Links
from cayley.dynamics.rigid_links.transforms import MovingMatrix, at_rest, insertion

_Z = np.array([0.0, 0.0, 1.0])


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    tau = []
    for link, (W, D, e, c, mass) in zip(links.links, sums_beyond(links, q, qd, qdd), strict=True):
        if link.is_revolute:
            dW = W @ insertion(link)[:3, :3]                                            # (5.2.16d)
            tau.append(np.trace(dW @ D) - links.gravity @ (dW @ c))                     # (5.2.16d)
        else:
            tau.append((W @ _Z) @ (e - mass * links.gravity))                           # spec R-31
    return np.array(tau)


class Sums(NamedTuple):
    """Over the links beyond a joint: D and c in the axes of its link on the left, all else in the root's."""

    W: Array
    D: Array
    e: Array
    c: Array
    mass: Scalar


def sums_beyond(links: Links, q: Array, qd: Array, qdd: Array) -> list[Sums]:
    """The sums (A.13)-(A.15) of each joint, from the tip inwards."""
    A = np.zeros((3, 3))
    s = np.zeros(3)
    D = np.zeros((3, 3))
    e = np.zeros(3)
    c = np.zeros(3)
    mass = 0.0
    found = []
    for link, (moved, dds) in reversed(list(zip(links.links, accelerations(links, q, qd, qdd), strict=True))):
        m, n, J = link.moments
        D = A @ D + np.outer(s, e) + np.outer(n, dds) + J @ moved.ddW.T                 # (5.2.16b)
        e = e + m * dds + moved.ddW @ n                                                 # (5.2.16a)
        c = n + mass * s + A @ c                                                        # (5.2.16c)
        mass = mass + m
        found.append(Sums(moved.W, D, e, c, mass))
        A = link.rotation(q)
        s = link.offset(q)
    return found[::-1]


def accelerations(links: Links, q: Array, qd: Array, qdd: Array) -> list[tuple[MovingMatrix, Any]]:
    """The rotation of each link with its rates, and the acceleration of its origin, in the root's axes."""
    before = at_rest(3)
    dds = np.zeros(3)
    found = []
    for i, link in enumerate(links.links):
        A = link.rotation(q)
        moved = before.carried(A, insertion(link)[:3, :3], qd[i], qdd[i])  # (5.2.15a), (5.2.15b), (5.2.15c)
        dds = dds + before.ddW @ link.offset(q)                                         # (5.2.15d)
        if link.is_prismatic:
            dds = dds + 2 * before.dW @ (A @ _Z) * qd[i] + moved.W @ _Z * qdd[i]        # spec R-31
        found.append((moved, dds))
        before = moved
    return found
