"""Energies and momentum of a tree with joints of every kind.

    u, w      velocity of a link's origin and angular velocity, in the link's axes
    m, n, J   moments of its mass about its origin
    K, P      kinetic and potential energy
The potential is zero where the mass is at the root's origin; its constant is arbitrary. What is fixed to the root has
no share. Sources: Balafoutis & Patel (5.2.1)-(5.2.5), (A.3), (A.4); Yamamoto (3.16), (3.26), sign of gravity as in spec
E3-19; Ruggiu (3.55)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import ROOT, Links
from cayley.geometry.pose import HERE, Pose


class Twist(NamedTuple):
    """Velocity of a link's origin and its angular velocity, in the link's own axes."""

    u: Array
    w: Array


class Impulse(NamedTuple):
    """Momentum, and angular momentum about the link's origin, in the link's own axes."""

    p: Array
    l: Array


def link_poses(links: Links, q: Array) -> list[Pose]:
    """The poses of the links in the root's frame."""
    found: list[Pose] = []
    for link in links.links:
        parent = HERE if link.parent == ROOT else found[link.parent]
        found.append(parent.then(Pose(link.rotation(q), link.offset(q))))
    return found


def link_twists(links: Links, q: Array, qd: Array) -> list[Twist]:
    """The twists of the links relative to the root."""
    found: list[Twist] = []
    for link in links.links:
        u, w = Twist(np.zeros(3), np.zeros(3)) if link.parent == ROOT else found[link.parent]
        slide, turn = np.split(link.twist(q, qd[link.columns]), 2)
        found.append(Twist(link.outwards(u + np.cross(w, link.offset(q)), q) + slide, link.outwards(w, q) + turn))
    return found


def link_impulses(links: Links, twists: list[Twist]) -> list[Impulse]:
    """The momentum of each link by itself."""
    found = []
    for link, (u, w) in zip(links.links, twists, strict=True):
        m, n, _ = link.moments
        found.append(Impulse(m * u + np.cross(w, n), link.moments.inertia @ w + np.cross(n, u)))
    return found


def kinetic_energy(links: Links, q: Array, qd: Array) -> Scalar:
    """K = 1/2 sum (u.p + w.l) [J].

    >>> from cayley.dynamics.rigid_links.links import links_of
    >>> from cayley.model.catalogue import load_robot
    >>> arm = links_of(load_robot("s3_w08"))
    >>> q, qd = np.array([[0.4, 0.15, -0.7, 1.1], [0.5, -0.3, 0.8, -1.2]])
    >>> kinetic_energy(arm, q, qd).round(9), potential_energy(arm, q).round(9)
    (np.float64(0.805506255), np.float64(30.696075441))
    """
    twists = link_twists(links, q, qd)
    return sum(
        (u @ p + w @ l
         for (u, w), (p, l) in zip(twists, link_impulses(links, twists), strict=True)), start=np.float64(0.0)) / 2


def potential_energy(links: Links, q: Array) -> Scalar:
    """P = - sum m g.r [J], r the places of the centres of mass."""
    return -(links.gravity @ first_moment(links, q))


def lagrangian(links: Links, q: Array, qd: Array) -> Scalar:
    """L = K - P [J]."""
    return kinetic_energy(links, q, qd) - potential_energy(links, q)                     # (5.2.1)


def total_energy(links: Links, q: Array, qd: Array) -> Scalar:
    """K + P [J]: what the joint forces change, at the rate qd.tau."""
    return kinetic_energy(links, q, qd) + potential_energy(links, q)


# Momentum


def total_mass(links: Links) -> float:
    """The mass [kg] of all that moves."""
    return sum((link.moments.mass for link in links.links), start=0.0)


def first_moment(links: Links, q: Array) -> Array:
    """The first moment (3) [kg m] of all that moves, about the root's origin and in its axes."""
    total = np.zeros(3)
    for link, (R, p) in zip(links.links, link_poses(links, q), strict=True):
        total = total + R @ link.moments.first + link.moments.mass * p
    return total


def center_of_mass(links: Links, q: Array) -> Array:
    """The centre of mass (3) [m] of all that moves, in the root's frame."""
    return first_moment(links, q) / total_mass(links)


def momentum(links: Links, q: Array, qd: Array) -> Array:
    """Momentum and angular momentum (6), (p; l) [kg m/s, kg m^2/s], about the root's origin and in its axes."""
    total_p = np.zeros(3)
    total_l = np.zeros(3)
    for (p, l), (R, s) in zip(link_impulses(links, link_twists(links, q, qd)), link_poses(links, q), strict=True):
        total_p = total_p + R @ p
        total_l = total_l + R @ l + np.cross(s, R @ p)
    return np.concatenate([total_p, total_l])


def centroidal_momentum(links: Links, q: Array, qd: Array) -> Array:
    """The same about the centre of mass (6), in the root's axes."""
    p, l = np.split(momentum(links, q, qd), 2)
    return np.concatenate([p, l - np.cross(center_of_mass(links, q), p)])


def generalized_momentum(links: Links, q: Array, qd: Array) -> Array:
    """dK/dqd = M qd (nv): the momentum beyond each joint along its directions."""
    found = link_impulses(links, link_twists(links, q, qd))
    for number in reversed(range(len(found))):
        link = links.links[number]
        if link.parent != ROOT:
            p = link.inwards(found[number].p, q)
            l = link.inwards(found[number].l, q)
            before = found[link.parent]
            found[link.parent] = Impulse(before.p + p, before.l + l + np.cross(link.offset(q), p))
    parts = [link.subspace(q).T @ np.concatenate(impulse) for link, impulse in zip(links.links, found, strict=True)]
    return np.concatenate(parts or [np.zeros(0)])
