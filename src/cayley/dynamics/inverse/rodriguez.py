"""Inverse dynamics of open chains as a two-point boundary-value problem with a transition operator (Rodriguez).

Spatial vectors are pairs about the origin of a link, in its axes: motions (w; v), forces (n; f), hats left out.

    v, a     angular velocity and velocity of the origin; their accelerations, gravity in them as -g of the base
    phi      transition operator (i-1, i), with the change of axes in it: forces go inwards by it, motions outwards by
             its transpose
    h        axis of the joint: (z; 0), or (0; z)       I      inertia about the link's origin
    alpha, beta     what velocities add to the accelerations and to the forces
    f               what the joint gives to its link
Source: Balafoutis & Patel, Algorithm 5.5, (5.2.31)-(5.2.35); signs, boundary values and the terms alpha and beta, which
are not printed there, as in spec E-16 and R-35."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse.featherstone import axis
from cayley.dynamics.inverse.newton_euler import JointLoad
from cayley.dynamics.inverse.passes import NONE, Base, EndLoad, Recursion, Z
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.geometry import spatial
from cayley.geometry.spatial import motion_transform, swapped


class LinkState(NamedTuple):
    """The motion of a link."""

    v: Array
    a: Array


def forward_cycle(link: Link, before: LinkState, q: Array, qd: Array, qdd: Array) -> LinkState:
    phi = transition(link.rotation(q), link.offset(q))
    h = axis(link)
    s = link.offset(q)
    rate = qd[link.columns][0]
    change = qdd[link.columns][0]
    w = before.v[:3]
    turned = np.cross(link.outwards(w, q), Z * rate)
    swung = link.outwards(np.cross(w, np.cross(w, s)), q)
    alpha = np.concatenate([turned, swung] if link.is_revolute else [NONE, swung + 2 * turned])
    v = phi.T @ before.v + h * rate  # (5.2.34a)
    a = phi.T @ before.a + h * change + alpha  # (5.2.34b)
    return LinkState(v, a)


def backward_cycle(link: Link, state: LinkState, outer: EndLoad) -> JointLoad:
    w = state.v[:3]
    u = link.moments.first
    I = link.moments.inertia
    beta = np.concatenate([np.cross(w, I @ w), np.cross(w, np.cross(w, u))])
    f = np.concatenate(outer.about_origin[::-1]) + spatial_inertia(link) @ state.a + beta  # (5.2.35a)
    return JointLoad(f[3:], f[:3])


def passed_on(link: Link, state: LinkState, load: JointLoad, q: Array) -> EndLoad:
    f = transition(link.rotation(q), link.offset(q)) @ np.concatenate(load[::-1])  # (5.2.35a)
    return EndLoad(f[3:], f[:3])


def spatial_inertia(link: Link) -> Array:
    """(6, 6), from accelerations to forces, (5.2.31)."""
    m, u, _ = link.moments
    return swapped(swapped(spatial.spatial_inertia(m, u, link.moments.inertia)).T).T


def transition(A: Array, s: Array) -> Array:
    """phi (6, 6): forces about a point, in its axes, as forces about another, from which `s` leads to it; `A` turns the
    axes, (5.2.32).

    With one set of axes phi(i, k) phi(k, j) = phi(i, j), phi(i, i) = 1 and phi(i, j) phi(j, i) = 1, (5.2.33)."""
    return motion_transform(A, s)  # of motions (v; w), as of forces (n; f)


def _start(links: Links, base: Base) -> LinkState:
    return LinkState(np.concatenate([base.w, NONE]), np.concatenate([base.wd, base.a - links.gravity]))


RECURSION = Recursion(_start, forward_cycle, backward_cycle, passed_on)
inverse_dynamics, reactions = RECURSION.inverse_dynamics, RECURSION.reactions
