"""Inverse dynamics of open chains by vector Newton-Euler in the axes of the links (Luh, Walker, Paul).

    w, wd    angular velocity and acceleration of a link       s      from the origin of a link to that of the next
    sdd      acceleration of its origin, minus gravity         r      from the origin of a link to its centre of mass
    rdd      the same of its centre of mass
    F, M     force and moment, about the centre of mass, that move the link
    f, eta   force and moment, about the link's origin, that its joint gives it
Sources: Balafoutis & Patel, Algorithm 5.3, (5.2.23)-(5.2.24), spec R-33; the same equations are Yamamoto's
(4.29)-(4.40), with (4.31) and (4.32), lost in print, as in spec E3-22."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.newton_euler import JointLoad
from cayley.dynamics.inverse.passes import EndLoad, Recursion, Z, across_z
from cayley.dynamics.rigid_links.links import Link


class LinkState(NamedTuple):
    """The motion of a link, and the loads that move it."""

    w: Array
    wd: Array
    sdd: Array
    F: Scalar = None
    M: Scalar = None


def forward_cycle(link: Link, before: LinkState, q: Array, qd: Array, qdd: Array) -> LinkState:
    rate = qd[link.columns][0]
    change = qdd[link.columns][0]
    s = link.offset(q)  # (5.2.23c)
    wt = link.outwards(before.w, q)  # (5.2.23a)
    wd = link.outwards(before.wd, q)  # (5.2.23b)
    sdd = link.outwards(before.sdd + np.cross(before.wd, s) + np.cross(before.w, np.cross(before.w, s)), q)  # (5.2.23c)
    if link.is_revolute:
        w = wt + Z * rate  # (5.2.23a)
        wd = wd + across_z(wt) * rate + Z * change  # (5.2.23b)
    else:
        w = wt
        sdd = sdd + across_z(wt) * (2 * rate) + Z * change  # (5.2.23c)
    m = link.moments.mass
    r = link.moments.center
    I = link.moments.inertia_about_center
    rdd = np.cross(wd, r) + np.cross(w, np.cross(w, r)) + sdd  # (5.2.23d)
    F = m * rdd  # (5.2.23e)
    M = I @ wd + np.cross(w, I @ w)  # (5.2.23f)
    return LinkState(w, wd, sdd, F, M)


def backward_cycle(link: Link, state: LinkState, outer: EndLoad) -> JointLoad:
    f = outer.force + state.F  # (5.2.24a)
    eta = state.M + np.cross(outer.at, outer.force) + np.cross(link.moments.center, state.F) + outer.moment  # (5.2.24b)
    return JointLoad(f, eta)


def passed_on(link: Link, state: LinkState, load: JointLoad, q: Array) -> EndLoad:
    """The load of a joint in the axes of the link before it."""
    f = link.inwards(load.f, q)  # (5.2.24a)
    eta = link.inwards(load.n, q)  # (5.2.24b)
    return EndLoad(f, eta, link.offset(q))


RECURSION = Recursion(lambda links, base: LinkState(base.w, base.wd, base.a - links.gravity), forward_cycle,
                      backward_cycle, passed_on)
inverse_dynamics, reactions = RECURSION.inverse_dynamics, RECURSION.reactions
