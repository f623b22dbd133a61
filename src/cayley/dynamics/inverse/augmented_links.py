"""Inverse dynamics of open chains by tensor Newton-Euler with augmented links: the constants of the robot are computed
off-line.

    w, wd       angular velocity and acceleration of a link
    mb, u, Kh   moments of the augmented link about its origin
    Om       the tensor wd~ + w~ w~                            mu    what turns the augmented link about its origin
    zeta     what a slide adds to the accelerations
    Udd      second derivative of the first moment of links i to n
    sdd      acceleration of the origin, minus gravity
    eta      moment, about the link's origin, that its joint gives it
    s        from the origin of a link to that of the next
    B        Udd + mb zeta of the next link, in the axes of this one
Source: Balafoutis & Patel, Algorithm 5.7, (5.3.44)-(5.3.46), corrected as in spec E-19; ends of the chain as in spec
R-39."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.augmented_bodies import LinkPayload
from cayley.dynamics.inverse.augmented_bodies import augmented_links as chain_of_augmented_links
from cayley.dynamics.inverse.newton_euler import JointLoad, acceleration_tensor
from cayley.dynamics.inverse.passes import FREE, NONE, STILL, Base, EndLoad, Z, across_z, as_wrenches, backward, forward
from cayley.dynamics.inverse.tensor_newton_euler import euler_torque
from cayley.dynamics.rigid_links.links import Link, Links


class LinkState(NamedTuple):
    """The motion of a link, and the moments that turn the augmented link."""

    w: Array
    wd: Array
    Om: Array
    zeta: Array
    sdd: Array
    mu: Scalar = None


class Sum(NamedTuple):
    """Over a link and all after it."""

    Udd: Array
    eta: Array


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL, tip: EndLoad = FREE,
                     payload: LinkPayload | None = None) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` (n) at the state (`q`, `qd`).

    `base` is the motion of the base, `tip` the wrench that the last link exerts on its surroundings (the opposite of
    the one on the robot), and `payload` a particle on the last link, which makes it an augmented link."""
    augmented, states, sums = passes(links, q, qd, qdd, base, tip, payload)
    return np.array([
        joint_force(link, state, own) for link, state, own in zip(augmented.links, states, sums, strict=True)])


def reactions(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL, tip: EndLoad = FREE,
              payload: LinkPayload | None = None) -> Array:
    """The wrenches (n, 6), force first, that the joints give to their links: about the link's origin, in the link's
    axes."""
    augmented, states, sums = passes(links, q, qd, qdd, base, tip, payload)
    forces = [link.moments.mass * state.sdd + own.Udd  # (5.3.38)
              for link, state, own in zip(augmented.links, states, sums, strict=True)]
    return as_wrenches([JointLoad(f, own.eta) for f, own in zip(forces, sums, strict=True)])


def passes(links: Links, q: Array, qd: Array, qdd: Array, base: Base, tip: EndLoad,
           payload: LinkPayload | None) -> tuple[Links, list[Any], list[Any]]:
    """The augmented links, their states, and the sums."""
    augmented = chain_of_augmented_links(links, q, payload)
    start = LinkState(base.w, base.wd, acceleration_tensor(base.w, base.wd), NONE, base.a - links.gravity)
    states = forward(augmented, start, forward_cycle, q, qd, qdd)
    return augmented, states, backward(augmented, states, tip, backward_cycle, passed_on, q)


def forward_cycle(link: Link, before: LinkState, q: Array, qd: Array, qdd: Array) -> LinkState:
    """The forward cycle of an augmented link."""
    rate = qd[link.columns][0]
    change = qdd[link.columns][0]
    wt = link.outwards(before.w, q)  # (5.3.45a)
    wd = link.outwards(before.wd, q)  # (5.3.45b)
    sdd = link.outwards(before.sdd + before.Om @ link.offset(q), q)  # (5.3.45e)
    if link.is_revolute:
        w = wt + Z * rate  # (5.3.45a)
        wd = wd + across_z(wt) * rate + Z * change  # (5.3.45b)
        zeta = NONE  # (5.3.45d)
    else:
        w = wt
        zeta = across_z(wt) * (2 * rate) + Z * change  # (5.3.45d)
        sdd = sdd + zeta  # (5.3.45e)
    Om = acceleration_tensor(w, wd)  # (5.3.45c)
    mu = euler_torque(Om, link.moments.second)  # (5.3.45f) (5.3.45g)
    return LinkState(w, wd, Om, zeta, sdd, mu)


def backward_cycle(link: Link, state: LinkState, outer: EndLoad) -> Sum:
    """The backward cycle of an augmented link; `outer` is B, the eta of the next link, and s."""
    u = link.moments.first
    Udd = state.Om @ u + outer.force  # (5.3.46a)
    eta = state.mu + np.cross(u, state.sdd) + np.cross(outer.at, outer.force) + outer.moment  # (5.3.46b)
    return Sum(Udd, eta)


def passed_on(link: Link, state: LinkState, own: Sum, q: Array) -> EndLoad:
    """B, eta and s for the link before."""
    pulled = own.Udd if link.is_revolute else own.Udd + link.moments.mass * state.zeta  # (5.3.46a)
    B = link.inwards(pulled, q)  # (5.3.46a)
    eta = link.inwards(own.eta, q)  # (5.3.46b)
    return EndLoad(B, eta, link.offset(q))


def joint_force(link: Link, state: LinkState, own: Sum) -> Scalar:
    return own.eta[2] if link.is_revolute else link.moments.mass * state.sdd[2] + own.Udd[2]  # (5.3.46c)
