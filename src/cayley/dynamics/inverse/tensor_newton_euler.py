"""Inverse dynamics of open chains by tensor Newton-Euler in the axes of the links.

    w, wd    angular velocity and acceleration of a link       s      from the origin of a link to that of the next
    Om       the tensor wd~ + w~ w~                            r      from the origin of a link to its centre of mass
    sdd      acceleration of its origin, minus gravity
    J        the Euler tensor of a link about its centre of mass
    rdd      the same of its centre of mass
    F, M     force and moment, about the centre of mass, that move the link
    f, eta   force and moment, about the link's origin, that its joint gives it
Source: Balafoutis & Patel, Algorithm 5.6, (5.3.7)-(5.3.8), spec R-37."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.newton_euler import JointLoad, acceleration_tensor
from cayley.dynamics.inverse.passes import Base, EndLoad, Recursion, Z, across_z
from cayley.dynamics.rigid_links.links import Link, Links


class LinkState(NamedTuple):
    """The motion of a link, and the loads that move it."""

    w: Array
    wd: Array
    Om: Array
    sdd: Array
    F: Scalar = None
    M: Scalar = None


def forward_cycle(link: Link, before: LinkState, q: Array, qd: Array, qdd: Array) -> LinkState:
    rate = qd[link.columns][0]
    change = qdd[link.columns][0]
    wt = link.outwards(before.w, q)  # (5.3.7a)
    wd = link.outwards(before.wd, q)  # (5.3.7b)
    sdd = link.outwards(before.sdd + before.Om @ link.offset(q), q)  # (5.3.7d)
    if link.is_revolute:
        w = wt + Z * rate  # (5.3.7a)
        wd = wd + across_z(wt) * rate + Z * change  # (5.3.7b)
    else:
        w = wt
        sdd = sdd + across_z(wt) * (2 * rate) + Z * change  # (5.3.7d)
    m = link.moments.mass
    r = link.moments.center
    J = link.moments.second_about_center
    Om = acceleration_tensor(w, wd)  # (5.3.7c)
    rdd = Om @ r + sdd  # (5.3.7e)
    F = m * rdd  # (5.3.7f)
    M = euler_torque(Om, J)  # (5.3.7g) (5.3.7h)
    return LinkState(w, wd, Om, sdd, F, M)


def backward_cycle(link: Link, state: LinkState, outer: EndLoad) -> JointLoad:
    f = outer.force + state.F  # (5.3.8a)
    eta = state.M + np.cross(outer.at, outer.force) + np.cross(link.moments.center, state.F) + outer.moment  # (5.3.8b)
    return JointLoad(f, eta)


def passed_on(link: Link, state: LinkState, load: JointLoad, q: Array) -> EndLoad:
    """The load of a joint in the axes of the link before it."""
    f = link.inwards(load.f, q)  # (5.3.8a)
    eta = link.inwards(load.n, q)  # (5.3.8b)
    return EndLoad(f, eta, link.offset(q))


def euler_torque(Om: Array, J: Array) -> Array:
    """The vector of Om J - (Om J)^T with 15 multiplications and 15 additions: (4.3.44), spec R-19."""
    return np.array([
        Om[2, 0] * J[0, 1] + Om[2, 1] * J[1, 1] - Om[1, 0] * J[0, 2] - Om[1, 2] * J[2, 2] +
        (Om[2, 2] - Om[1, 1]) * J[1, 2],
        Om[0, 1] * J[1, 2] + Om[0, 2] * J[2, 2] - Om[2, 0] * J[0, 0] - Om[2, 1] * J[0, 1] +
        (Om[0, 0] - Om[2, 2]) * J[0, 2],
        Om[1, 0] * J[0, 0] + Om[1, 2] * J[0, 2] - Om[0, 1] * J[1, 1] - Om[0, 2] * J[1, 2] +
        (Om[1, 1] - Om[0, 0]) * J[0, 1]])


def _start(links: Links, base: Base) -> LinkState:
    return LinkState(base.w, base.wd, acceleration_tensor(base.w, base.wd), base.a - links.gravity)


RECURSION = Recursion(_start, forward_cycle, backward_cycle, passed_on)
inverse_dynamics, reactions = RECURSION.inverse_dynamics, RECURSION.reactions
