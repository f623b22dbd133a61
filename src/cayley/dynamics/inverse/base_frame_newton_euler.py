"""Inverse dynamics of open chains by Newton-Euler with all vectors in the axes of the base.

    R, p     axes and origin of a link's frame                 z      axis of its joint
    w, wd    angular velocity and acceleration of a link       s      its centre of mass, from its origin
    v, vd    velocity and acceleration of its origin, the latter minus gravity
    sdd      acceleration of its centre of mass, minus gravity
    F, N     force and moment, about the centre of mass, that move the link
    f, n     force and moment, about the link's origin, that its joint gives it
Source: Yamamoto (4.11)-(4.28); the axis in (4.18) as in spec E3-21; inertia in base axes (4.39)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.newton_euler import JointLoad
from cayley.dynamics.inverse.passes import FREE, NONE, STILL, Base, EndLoad, Z, as_wrenches, backward, forward
from cayley.dynamics.rigid_links.links import Link, Links


class LinkState(NamedTuple):
    """The place and the motion of a link, and the loads that move it, in the axes of the base."""

    R: Array
    p: Array
    w: Array
    wd: Array
    v: Array
    vd: Array
    z: Scalar = None
    s: Scalar = None
    sdd: Scalar = None
    F: Scalar = None
    N: Scalar = None


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL,
                     tip: EndLoad = FREE) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` (n) at the state (`q`, `qd`).

    `base` is the motion of the base. `tip` is the load that the last link exerts on its surroundings, in the axes of
    that link: the opposite of the load that acts on the robot."""
    states = movements(links, q, qd, qdd, base)
    return np.array([state.z @ (load.n if link.is_revolute else load.f)
                     for link, state, load in zip(links.links, states, loads(links, q, states, tip), strict=True)])


def reactions(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL, tip: EndLoad = FREE) -> Array:
    """The wrenches (n, 6), force first, that the joints give to their links: about the link's origin, in the axes of
    the base."""
    return as_wrenches(loads(links, q, movements(links, q, qd, qdd, base), tip))


def movements(links: Links, q: Array, qd: Array, qdd: Array, base: Base = STILL) -> list[LinkState]:
    """The outward pass."""
    start = LinkState(np.eye(3), NONE, base.w, base.wd, NONE, base.a - links.gravity)
    return forward(links, start, forward_cycle, q, qd, qdd)


def loads(links: Links, q: Array, states: list[LinkState], tip: EndLoad) -> list[JointLoad]:
    """The inward pass."""
    R = states[-1].R if states else np.eye(3)
    end = EndLoad(R @ tip.force, R @ tip.moment, R @ tip.at)
    return backward(links, states, end, backward_cycle, passed_on, q)


def forward_cycle(link: Link, before: LinkState, q: Array, qd: Array, qdd: Array) -> LinkState:
    rate = qd[link.columns][0]
    change = qdd[link.columns][0]
    offset = before.R @ link.offset(q)
    R = before.R @ link.rotation(q)
    z = R @ Z
    w = before.w  # (4.13)
    wd = before.wd  # (4.15)
    v = before.v + np.cross(w, offset)  # (4.17)
    vd = before.vd + np.cross(wd, offset) + np.cross(w, np.cross(w, offset))  # (4.19)
    if link.is_revolute:
        w = before.w + z * rate  # (4.12)
        wd = before.wd + np.cross(before.w, z * rate) + z * change  # (4.14)
    else:
        v = v + z * rate  # (4.18)
        vd = vd + 2 * np.cross(w, z * rate) + z * change  # (4.20)
    m = link.moments.mass
    s = R @ link.moments.center
    I = R @ link.moments.inertia_about_center @ R.T
    sdd = vd + np.cross(wd, s) + np.cross(w, np.cross(w, s))  # (4.28)
    F = m * sdd  # (4.24)
    N = I @ wd + np.cross(w, I @ w)  # (4.25)
    return LinkState(R, before.p + offset, w, wd, v, vd, z, s, sdd, F, N)


def backward_cycle(link: Link, state: LinkState, outer: EndLoad) -> JointLoad:
    f = state.F + outer.force  # (4.22)
    n = state.N + outer.moment + np.cross(state.s, state.F) + np.cross(outer.at, outer.force)  # (4.23)
    return JointLoad(f, n)


def passed_on(link: Link, state: LinkState, load: JointLoad, q: Array) -> EndLoad:
    """The load itself, and the way to the link's origin from that of the link before it."""
    return EndLoad(load.f, load.n, state.R @ link.rotation(q).T @ link.offset(q))
