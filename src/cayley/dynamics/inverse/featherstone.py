"""Inverse dynamics of open chains by Newton-Euler in spatial vectors (Featherstone).

Spatial vectors are Pluecker coordinates about the origin of a link, in its axes: motions (w; v), forces (f; n), hats
left out.

    v, a     spatial velocity and acceleration, gravity in it as -g of the base
    s        axis of the joint: (z; 0), or (0; z)
    X        change of coordinates from link i to i-1, of motions and of forces
    I        spatial inertia about the link's origin
    F        what moves the link       f    what its joint gives it
Source: Balafoutis & Patel, Algorithm 5.4, (5.2.25)-(5.2.30), with (5.2.25) as in spec E-14, X and gravity as in spec
E-15 and R-34."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.newton_euler import JointLoad
from cayley.dynamics.inverse.passes import NONE, Base, EndLoad, Recursion, Z
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.geometry import spatial
from cayley.geometry.spatial import force_cross, force_transform, motion_transform, swapped


class LinkState(NamedTuple):
    """The motion of a link, and the loads that move it."""

    v: Array
    a: Array
    F: Scalar = None


def forward_cycle(link: Link, before: LinkState, q: Array, qd: Array, qdd: Array) -> LinkState:
    X = outward_transform(link, q)
    s = axis(link)
    I = spatial_inertia(link)
    rate = qd[link.columns][0]
    change = qdd[link.columns][0]
    v = X @ before.v + s * rate  # (5.2.26a)
    a = X @ before.a + spatial_cross(v) @ (s * rate) + s * change  # (5.2.26b)
    F = I @ a + spatial_cross(v) @ (I @ v)  # (5.2.26c)
    return LinkState(v, a, F)


def backward_cycle(link: Link, state: LinkState, outer: EndLoad) -> JointLoad:
    f = np.concatenate(outer.about_origin) + state.F  # (5.2.27a)
    return JointLoad(f[:3], f[3:])


def passed_on(link: Link, state: LinkState, load: JointLoad, q: Array) -> EndLoad:
    f = inward_transform(link, q) @ np.concatenate(load)  # (5.2.27a)
    return EndLoad(f[:3], f[3:])


def axis(link: Link) -> Array:
    """The joint's axis (6) as a spatial vector."""
    return np.concatenate([Z, NONE] if link.is_revolute else [NONE, Z])


def spatial_inertia(link: Link) -> Array:
    """(6, 6), from motions to forces, (5.2.25)."""
    m, u, _ = link.moments
    return swapped(spatial.spatial_inertia(m, u, link.moments.inertia).T).T


def spatial_cross(v: Array) -> Array:
    """The matrix (6, 6) of the product with a motion, (5.2.29)."""
    return force_cross(swapped(v))


def inward_transform(link: Link, q: Array) -> Array:
    """X (6, 6) from the coordinates of the link to those of the link before it, (5.2.30) with the translation."""
    return force_transform(link.rotation(q), link.offset(q))


def outward_transform(link: Link, q: Array) -> Array:
    """The inverse of `inward_transform`."""
    return motion_transform(link.rotation(q), link.offset(q)).T


def _start(links: Links, base: Base) -> LinkState:
    return LinkState(np.concatenate([base.w, NONE]), np.concatenate([base.wd, base.a - links.gravity]))


RECURSION = Recursion(_start, forward_cycle, backward_cycle, passed_on)
inverse_dynamics, reactions = RECURSION.inverse_dynamics, RECURSION.reactions
