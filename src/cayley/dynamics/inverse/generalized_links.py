"""Closed-form dynamics of a chain of revolute joints by generalized links (Renaud; Vukobratovic, Li and Kircanski).

A generalized link is all that joint i carries, as if it were rigid. In the root's axes:

    z_i              axis of joint i
    s_ji             from the origin of link j to that of link i
    mb_i, U_i, E_i   mass, first moment and inertia tensor, about the origin of link i, of the generalized link
    d                inertia
    c_ik(j)          Christoffel symbols
tau_j = d_jk qdd_k + c_ik(j) qd_i qd_k + G_j.
Source: Balafoutis & Patel (5.2.17)-(5.2.20), with the index ranges and the gravity of spec R-32, E-13."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.passes import LagrangeCoefficients
from cayley.dynamics.rigid_links.links import Links
from cayley.errors import UnsupportedError

_Z = np.array([0.0, 0.0, 1.0])


class GeneralizedLink(NamedTuple):
    """The axis and origin of a joint, and what it carries, in the root's axes."""

    turns: bool
    z: Array
    p: Array
    mass: Scalar
    U: Array
    E: Array


def closed_form(links: Links, q: Array) -> LagrangeCoefficients:
    """The coefficients of the equations of motion; a joint that does not turn is refused by its name.

    >>> from cayley.dynamics.rigid_links.links import serial_chain
    >>> from cayley.model.catalogue import load_robot
    >>> closed_form(serial_chain(load_robot("s1_f2")), np.array([0.0, np.pi / 2])).C[0].round(12)
    array([[ 0.  , -0.15],
           [-0.15, -0.15]])
    """
    for link in links.links:
        if not link.is_revolute:
            raise UnsupportedError(
                f"the closed form by generalized links is for revolute joints, and joint {link.name!r} of {links.name} "
                f"is {link.motion.word}: use the method of Uicker and Kahn, or the default one")
    carried = generalized_links(links, q)
    n = len(carried)
    d: list[list[Any]] = [[0.0] * n for _ in range(n)]
    c: list[list[list[Any]]] = [[[0.0] * n for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            d[i][j] = d[j][i] = _inertia(carried[i], carried[j])                       # (5.2.19a)
        for k in range(i + 1):
            for j in range(i + 1):
                c[j][i][k] = c[j][k][i] = _christoffel(carried[i], carried[k], carried[j])  # (5.2.19b)
    for j in range(n):
        for i in range(j):
            for k in range(i + 1):
                c[j][i][k] = c[j][k][i] = -c[i][j][k]                                   # spec R-32
    G = [-(link.z @ np.cross(link.U, links.gravity)) for link in carried]               # (5.2.19c)
    return LagrangeCoefficients(np.array(d).reshape(n, n), np.array(c).reshape(n, n, n), np.array(G))


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint torques (n) [N m] that give the accelerations `qdd` at the state (`q`, `qd`)."""
    found = closed_form(links, q)
    return found.forces(qd, qdd)                                                        # (5.2.17)


def generalized_links(links: Links, q: Array) -> list[GeneralizedLink]:
    """The links that each joint of a chain carries, in the root's axes."""
    R = [np.eye(3)]
    p = [np.zeros(3)]
    for link in links.links:
        p.append(p[-1] + R[-1] @ link.offset(q))
        R.append(R[-1] @ link.rotation(q))
    U = np.zeros(3)
    E = np.zeros((3, 3))
    mass = 0.0
    s = np.zeros(3)
    found = []
    for i in range(len(links.links), 0, -1):
        m, n, _ = own = links.links[i - 1].moments
        E = E + 2 * (U @ s) * np.eye(3) - np.outer(s, U) - np.outer(U, s)               # (5.2.20a)
        E = E + R[i] @ own.inertia @ R[i].T + mass * ((s @ s) * np.eye(3) - np.outer(s, s))    # (5.2.20a)
        U = U + mass * s + R[i] @ n                                                     # (5.2.20b)
        mass = mass + m
        s = p[i] - p[i - 1]
        found.append(GeneralizedLink(links.links[i - 1].is_revolute, R[i] @ _Z, p[i], mass, U, E))
    return found[::-1]


def _inertia(outer: GeneralizedLink, inner: GeneralizedLink) -> float:
    _, z, p, _, U, E = outer
    return z @ (E @ inner.z) + z @ np.cross(U, np.cross(inner.z, p - inner.p))          # (5.2.19a)


def _christoffel(i: GeneralizedLink, k: GeneralizedLink, j: GeneralizedLink) -> float:
    """c_ik(j) for k and j not beyond i."""
    bent = i.E @ k.z - np.trace(i.E) / 2 * k.z                                          # (5.2.19b)
    return j.z @ np.cross(i.z, bent) + j.z @ np.cross(i.p - j.p, np.cross(k.z, np.cross(i.z, i.U)))    # (5.2.19b)
