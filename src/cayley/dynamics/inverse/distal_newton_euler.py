"""Inverse dynamics of open chains by Newton-Euler in distal frames: frame i is at the outer end of link i, its z axis
on that of joint i+1.

Such are the frames of the standard Denavit-Hartenberg convention. Gravity is a force on each link here, not an
acceleration.

    R        the axes of frame i-1 seen from frame i
    r, rc    from origin i-1 to origin i, from origin i to the centre of mass
    w, wd    angular velocity and acceleration           v, vd    velocity and acceleration of origin i
    vd_c     acceleration of the centre of mass          g        gravity, in the axes of frame i
    f*, n*   forces of inertia, at the centre of mass
    f, n     force and moment that link i-1 gives to link i at origin i-1
Source: Ruggiu, section 3.3.1 and (3.34)-(3.39), with the moment as in spec E-04."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.inverse.newton_euler import JointLoad, acceleration_tensor
from cayley.dynamics.inverse.passes import FREE, NONE, STILL, Base, EndLoad, Z, along_the_axes, as_wrenches
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.geometry.pose import Pose

if TYPE_CHECKING:
    from cayley.dynamics.rigid_links.moments import LinkMoments


class LinkState(NamedTuple):
    """The motion of a link, in the axes of its distal frame."""

    w: Array
    wd: Array
    v: Array
    vd: Array
    g: Array
    vd_c: Scalar = None
    R: Scalar = None
    r: Scalar = None


def joint_frames(links: Links) -> list[Array]:
    """Distal frames of any chain: on each link the frame of the next joint, on the last its own."""
    return [*[link.placement for link in links.links], np.eye(4)]


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL, tip: EndLoad = FREE,
                     frames: Sequence[Array] | None = None) -> Array:
    """Joint forces (n) [N or N m] that give the accelerations `qdd` (n) at the state (`q`, `qd`).

    `base` is the motion of the base, `tip` the wrench that the last link exerts on its surroundings (the opposite of
    the one on the robot) in the axes of that link, and `frames` n + 1 distal frames, by default the joints' frames."""
    frames = joint_frames(links) if frames is None else frames
    states = movements(links, q, qd, qdd, base, frames)
    return along_the_axes(links, loads(links, states, tip, frames))  # (3.38) (3.39)


def reactions(links: Links, q: Array, qd: Array, qdd: Array, *, base: Base = STILL, tip: EndLoad = FREE,
              frames: Sequence[Array] | None = None) -> Array:
    """The wrenches (n, 6), force first, that the joints give to their links: in frame i-1 and about its origin."""
    frames = joint_frames(links) if frames is None else frames
    return as_wrenches(loads(links, movements(links, q, qd, qdd, base, frames), tip, frames))


def movements(links: Links, q: Array, qd: Array, qdd: Array, base: Base, frames: Sequence[Array]) -> list[LinkState]:
    """The outward pass: how the links move. Velocities are those relative to the base's origin, which may move."""
    E = frames[0][:3, :3]
    p = frames[0][:3, 3]
    a = base.a + acceleration_tensor(base.w, base.wd) @ p
    states = [LinkState(E.T @ base.w, E.T @ base.wd, E.T @ np.cross(base.w, p), E.T @ a, E.T @ links.gravity)]
    for link, (start, end) in zip(links.links, pairwise(frames), strict=True):
        states.append(forward_cycle(link, start, end, states[-1], q, qd, qdd))
    return states[1:]


def loads(links: Links, states: Sequence[LinkState], tip: EndLoad, frames: Sequence[Array]) -> list[JointLoad]:
    """The inward pass: what the joints give to their links, in the frames before them."""
    E = frames[-1][:3, :3]
    p = frames[-1][:3, 3]
    load = JointLoad(E.T @ tip.force, E.T @ (tip.moment + np.cross(tip.at - p, tip.force)))
    found = []
    for link, end, state in reversed(list(zip(links.links, frames[1:], states, strict=True))):
        load = backward_cycle(link, end, state, load)
        found.append(load)
    return found[::-1]


def forward_cycle(link: Link, start: Array, end: Array, before: LinkState, q: Array, qd: Array,
                  qdd: Array) -> LinkState:
    """`start` and `end` are the poses of the frames before and of the link, in the links that carry them."""
    rate = qd[link.columns][0]
    change = qdd[link.columns][0]
    A = link.rotation(q)
    R = end[:3, :3].T @ A.T @ start[:3, :3]
    r = end[:3, :3].T @ (A.T @ (link.offset(q) - start[:3, 3]) + end[:3, 3])
    if link.is_revolute:
        w = R @ (before.w + Z * rate)
        wd = R @ (before.wd + Z * change + np.cross(before.w, Z * rate))
        slide = NONE
        swerve = NONE
    else:
        w = R @ before.w
        wd = R @ before.wd
        slide = R @ (Z * rate)
        swerve = 2 * np.cross(w, slide) + R @ (Z * change)
    v = R @ before.v + np.cross(w, r) + slide
    vd = R @ before.vd + np.cross(wd, r) + np.cross(w, np.cross(w, r)) + swerve
    rc = _moments(link, end).center
    vd_c = vd + np.cross(wd, rc) + np.cross(w, np.cross(w, rc))
    return LinkState(w, wd, v, vd, R @ before.g, vd_c, R, r)


def backward_cycle(link: Link, end: Array, state: LinkState, after: JointLoad) -> JointLoad:
    """`after` is what the link gives to the next one, at its own origin and in its own axes."""
    own = _moments(link, end)
    rc = own.center
    I = own.inertia_about_center
    f_star = -own.mass * state.vd_c  # (3.35)
    n_star = -(I @ state.wd) - np.cross(state.w, I @ state.w)  # (3.36)
    f = after.f - own.mass * state.g - f_star  # (3.34)
    n = after.n + np.cross(state.r + rc, f) - np.cross(rc, after.f) - n_star  # (3.34)
    return JointLoad(state.R.T @ f, state.R.T @ n)


def _moments(link: Link, end: Array) -> LinkMoments:
    """The moments of a link in its distal frame."""
    return link.moments.seen_from(*Pose.of(end).inverse)
