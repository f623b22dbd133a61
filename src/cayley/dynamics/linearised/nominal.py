"""The nominal motion of an open chain, all of it in the axes of the root: what closed forms of linearised models are
written in.

    z, z', z''       direction of a joint and its rates
    w, w', W         angular velocity, acceleration and acceleration tensor of a link
    s, s', s''       place, velocity and acceleration (gravity included) of a link's origin
    m, U, U', U''    mass, first moment about the origin of links i to n, and its rates
    E, L             inertia tensor of links i to n about the origin, and the rate tensor, integral r~ r'~ dm
    F, n             force and moment about the origin that links i to n need
Every quantity is a sum over the links by its definition; nothing is recursive but the motion itself.
Source: Balafoutis & Patel (7.3.2)-(7.3.4), spec R8.2, R8.5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.augmented_bodies import augmented_links
from cayley.dynamics.inverse.newton_euler import Movement, movements, own_load
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.dynamics.rigid_links.moments import LinkMoments
from cayley.geometry.tensors.cross import skew


@dataclass(frozen=True, eq=False)
class MovingLink:
    """One link of the nominal motion, numbered i."""

    link: Link
    R: Array  # its axes in the root's, W_i of the source
    z: Array
    dz: Array
    ddz: Array
    w: Array
    dw: Array
    W: Array
    s: Array
    ds: Array
    dds: Array
    own: LinkMoments
    augmented: LinkMoments
    f: Array  # what the link by itself needs
    n: Array


@dataclass(frozen=True, eq=False)
class CarriedLinks:
    """Links i to n together, about the origin of link i."""

    m: Scalar
    U: Scalar
    dU: Scalar
    ddU: Scalar
    E: Scalar
    L: Scalar
    F: Scalar
    n: Scalar


@dataclass(frozen=True, eq=False)
class Nominal:
    """The links of a chain on their nominal motion."""

    links: tuple[MovingLink, ...]
    carried: tuple[CarriedLinks, ...]

    def between(self, i: int, j: int) -> tuple[Any, Any]:
        """From the origin of link i to that of link j, and its rate."""
        return self.links[j].s - self.links[i].s, self.links[j].ds - self.links[i].ds


def nominal(links: Links, q: Array, qd: Array, qdd: Array) -> Nominal:
    """The nominal motion of an open chain (`serial_chain`) at a state and an acceleration."""
    R = np.eye(3)
    s = np.zeros(3)
    ds = np.zeros(3)
    w = np.zeros(3)
    found: list[MovingLink] = []
    for link, moved, big in zip(links.links, movements(links, q, qd, qdd),
                                augmented_links(links, q).links, strict=True):
        way = R @ link.offset(q)
        s = s + way
        ds = ds + np.cross(w, way)
        R = R @ link.rotation(q)
        if link.is_prismatic:
            ds = ds + R[:, 2] * qd[link.columns][0]
        found.append(_moving_link(link, moved, big.moments, R, s, ds))
        w = found[-1].w
    return Nominal(tuple(found), tuple(_carried(found, i) for i in range(len(found))))


def _moving_link(link: Link, moved: Movement, augmented: LinkMoments, R: Array, s: Array, ds: Array) -> MovingLink:
    w = R @ moved.w
    dw = R @ moved.dw
    z = R[:, 2]
    W = R @ moved.W @ R.T
    load = own_load(link, moved)
    return MovingLink(link, R, z, np.cross(w, z), W @ z, w, dw, W, s, ds, R @ moved.a, _turned(link.moments, R),
                      _turned(augmented, R), R @ load.f, R @ load.n)


def _turned(moments: LinkMoments, R: Array) -> LinkMoments:
    return LinkMoments(moments.mass, R @ moments.first, R @ moments.second @ R.T)


def _carried(links: list[MovingLink], i: int) -> CarriedLinks:
    here = links[i]
    zero = np.zeros(3)
    m = 0.0
    U = zero
    dU = zero
    ddU = zero
    F = zero
    n = zero
    J = np.zeros((3, 3))
    M = np.zeros((3, 3))
    for link in links[i:]:
        mass, u, second = link.own
        s = link.s - here.s
        ds = link.ds - here.ds
        dds = link.dds - here.dds
        m = m + mass
        U = U + u + mass * s
        dU = dU + np.cross(link.w, u) + mass * ds
        ddU = ddU + link.W @ u + mass * dds
        F = F + link.f
        n = n + link.n + np.cross(s, link.f)
        crossed = np.outer(u, s)
        J = J + second + crossed + crossed.T + mass * np.outer(s, s)
        # integral r' r^T dm
        M = M + skew(link.w) @ second + np.outer(ds, u) + np.outer(np.cross(link.w, u) + mass * ds, s)
    one = np.eye(3)
    return CarriedLinks(m, U, dU, ddU, np.trace(J) * one - J, M - np.trace(M) * one, F, n)
