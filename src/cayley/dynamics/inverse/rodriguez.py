"""Inverse dynamics of open chains as a two-point boundary-value problem with a transition operator (Rodriguez).

Spatial vectors are pairs about the origin of a link, in its axes: motions (w; v), forces (n; f), hats left out.

    v, a     angular velocity and velocity of the origin; their accelerations, gravity in them as -g of the base
    phi      transition operator (i-1, i), with the change of axes in it: forces go inwards by it, motions outwards by
             its transpose
    h        axis of the joint: (z; 0), or (0; z)       I      inertia about the link's origin
    alpha, beta     what velocities add to the accelerations and to the forces
    f               what the joint gives to its link
Source: Balafoutis & Patel, Algorithm 5.5, (5.2.31)-(5.2.35); signs, boundary values and the terms alpha and beta, which
are not printed there, as in spec E-16 and R-35.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.passes import (
    FREE,
    NONE,
    STILL,
    Base,
    Load,
    Wrench,
    Z,
    as_wrenches,
    backward,
    forward,
)
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.geometry import spatial
from cayley.geometry.spatial import motion_transform, swapped


class LinkState(NamedTuple):
    """How a link moves."""

    v: Array
    a: Array


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL, tip: Wrench = FREE) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` (n) at the state (`q`, `qd`)."""
    found = spatial_loads(links, q, qd, qdd, base, tip)
    return np.array([axis(link) @ f for link, f in zip(links.links, found, strict=True)])  # (5.2.35b)


def reactions(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL, tip: Wrench = FREE) -> Array:
    """The wrenches (n, 6), force first, that the joints give to their links: about the link's origin, in the link's
    axes."""
    return as_wrenches([Load(f[3:], f[:3]) for f in spatial_loads(links, q, qd, qdd, base, tip)])


def spatial_loads(links: Links, q: Array, qd: Array, qdd: Array, base: Base, tip: Wrench) -> list[Any]:
    start = LinkState(np.concatenate([base.w, NONE]), np.concatenate([base.wd, base.a - links.gravity]))
    states = forward(links, start, forward_cycle, q, qd, qdd)
    end = transition(np.eye(3), tip.at) @ np.concatenate([tip.moment, tip.force])
    return backward(links, states, end, backward_cycle, passed_on, q)


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


def backward_cycle(link: Link, state: LinkState, outer: ArrayLike) -> Array:
    w = state.v[:3]
    u = link.moments.first
    I = link.moments.inertia
    beta = np.concatenate([np.cross(w, I @ w), np.cross(w, np.cross(w, u))])
    return outer + spatial_inertia(link) @ state.a + beta  # (5.2.35a)


def passed_on(link: Link, state: LinkState, f: Array, q: Array) -> Array:
    return transition(link.rotation(q), link.offset(q)) @ f  # (5.2.35a)


def axis(link: Link) -> Array:
    """The joint's axis (6) as a spatial vector."""
    return np.concatenate([Z, NONE] if link.is_revolute else [NONE, Z])


def spatial_inertia(link: Link) -> Array:
    """(6, 6), from accelerations to forces, (5.2.31)."""
    m, u, _ = link.moments
    return swapped(swapped(spatial.spatial_inertia(m, u, link.moments.inertia)).T).T


def transition(A: Array, s: Array) -> Array:
    """phi (6, 6): forces about a point, in its axes, as forces about another, from which `s` leads to it; `A` turns the
    axes, (5.2.32).

    With one set of axes phi(i, k) phi(k, j) = phi(i, j), phi(i, i) = 1 and phi(i, j) phi(j, i) = 1, (5.2.33).
    """
    return motion_transform(A, s)  # of motions (v; w), as of forces (n; f)
