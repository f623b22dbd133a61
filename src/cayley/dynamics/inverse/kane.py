"""Inverse dynamics of open chains by Kane's sums of forces in partial velocities (Angeles, Ma, Rojas; the same as
Silver's).

With all vectors in the axes of the base:

    z, o     axis and origin of joint i               M    moment about its centre of mass that turns link j
    c, rdd   centre of mass of link j, and its acceleration minus gravity       r    c of link j minus o of joint i
A revolute joint gives link j >= i the partial velocities z (angular) and z x r (of c); a sliding one gives it z (of c).
Source: Balafoutis & Patel (5.2.36), (5.2.37), spec R-36."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.base_frame_newton_euler import LinkState, movements
from cayley.dynamics.inverse.passes import FREE, STILL, Base, EndLoad
from cayley.dynamics.rigid_links.links import Link, Links


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL,
                     tip: EndLoad = FREE) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` (n) at the state (`q`, `qd`)."""
    states = movements(links, q, qd, qdd, base)
    return np.array([
        joint_force(link, state, states[i:], tip)
        for i, (link, state) in enumerate(zip(links.links, states, strict=True))])


def joint_force(link: Link, state: LinkState, beyond: list[LinkState], tip: EndLoad) -> Scalar:
    """The force of one joint, as a sum over its link and all beyond it."""
    z = state.z
    o = state.p
    last = beyond[-1]
    end = last.p + last.R @ tip.at
    pull = last.R @ tip.force
    turn = last.R @ tip.moment
    if link.is_revolute:
        return z @ (sum(moment_about(o, other) for other in beyond) + turn + np.cross(end - o, pull))  # (5.2.36)
    return z @ (sum(other.F for other in beyond) + pull)  # (5.2.37)


def moment_about(o: Array, other: LinkState) -> Array:
    """The moment that turns a link, about the point `o`."""
    r = other.p + other.s - o
    return other.N + np.cross(r, other.F)  # (5.2.36)
