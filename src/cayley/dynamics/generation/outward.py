"""Outward recursion: how the bodies of an arm move, in the axes of the base or each in its own.

    delta, tau   the motion that a joint gives, in the axes of its body: (0, 0, 1) and 0 of a revolute joint, 0 and
                 (0, 0, 1) of a prismatic one
    lambda       -delta x p + tau: dT/dq = [[delta~, lambda], [0, 0]] T
    w, u         angular velocity, and the velocity of the point of the body that is at the origin of the base
    w*', u*'     their rates without accelerations of joints
Source: Mladenova 8.2, (314)-(347), corrected as in spec E-55 to E-59; spec R-58.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import ROOT, Link, Links

_Z = np.array([0.0, 0.0, 1.0])
_NONE = np.zeros(3)


class BodyMotion(NamedTuple):
    """The motion of a body; p is its origin from that of the base. All (3), in the axes of the base or of the body."""

    p: Array
    delta: Array
    lam: Array
    w: Array
    u: Array
    v: Array  # of its origin
    w_rate: Array
    u_rate: Array


STILL = BodyMotion(*[_NONE] * 8)


def generators(link: Link) -> tuple[Array, Array]:
    """delta and tau of a body, in its own axes: (318), (319)."""
    return (_NONE, _Z) if link.is_prismatic else (_Z, _NONE)


def outward_in_base_axes(links: Links, q: Array, qd: Array) -> tuple[list[Array], list[BodyMotion]]:
    """The attitudes 0R_s (3, 3) and the motions of all bodies, in the axes of the base: (324)-(340)."""
    attitudes: list[Array] = []
    motions: list[BodyMotion] = []
    for link in links.links:
        R, before = (np.eye(3), STILL) if link.parent == ROOT else (attitudes[link.parent], motions[link.parent])
        rate = qd[link.columns.start]
        delta, tau = (np.array(R @ link.inwards(axis, q)) for axis in generators(link))
        p = before.p + R @ link.offset(q)
        lam = tau - np.cross(delta, p)
        w = before.w + delta * rate
        u = before.u + lam * rate
        motions.append(BodyMotion(
            p, delta, lam, w, u, np.cross(w, p) + u, before.w_rate + np.cross(before.w, delta) * rate,
            before.u_rate + (np.cross(w, lam) + np.cross(u, delta)) * rate))
        attitudes.append(R @ link.rotation(q))
    return attitudes, motions


def outward_in_own_axes(links: Links, q: Array, qd: Array) -> list[BodyMotion]:
    """The motions of all bodies, each in its own axes: (341)-(347)."""
    motions: list[BodyMotion] = []
    for link in links.links:
        before = STILL if link.parent == ROOT else motions[link.parent]
        rate = qd[link.columns.start]
        delta, tau = generators(link)
        offset = link.offset(q)
        p = link.outwards(before.p + offset, q)
        lam = tau - np.cross(delta, p)
        turned = link.outwards(before.w, q)
        w = turned + delta * rate
        u = link.outwards(before.u, q) + lam * rate
        v = link.outwards(before.v + np.cross(before.w, offset), q) + tau * rate
        motions.append(BodyMotion(
            p, delta, lam, w, u, v, link.outwards(before.w_rate, q) + np.cross(turned, delta) * rate,
            link.outwards(before.u_rate, q) + (np.cross(w, lam) + np.cross(u, delta)) * rate))
    return motions
