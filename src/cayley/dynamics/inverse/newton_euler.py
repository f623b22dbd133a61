"""Inverse dynamics of trees with joints of every kind: the tensor Newton-Euler recursion in the axes of the links.

Motions travel outwards, forces come back:

    w, dw    angular velocity and acceleration         W    the tensor dw~ + w~ w~, by which points of a link accelerate
    a        acceleration of the link's origin, minus gravity
    f, n     force and moment, about its origin, that move link and load
    m, u, J  the moments of the link's mass about its origin
The same text is the reference (links as the model has them) and the default (links in frames and with moments that cost
least, `cayley.dynamics.rigid_links.minimal_links`). Source: Balafoutis & Patel, Algorithm 5.6 and (5.3.46), with
moments about the origins; equations (D-2)-(D-6) of docs/developers/theory/inverse_dynamics.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import ROOT, Link, Links

_NONE = np.zeros(3)


class Movement(NamedTuple):
    """The motion of a link, in its own axes."""

    w: Scalar
    dw: Scalar
    W: Scalar
    a: Scalar


class JointLoad(NamedTuple):
    """The force and the moment about the link's origin, in its own axes, that its joint must give it."""

    f: Array
    n: Array


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array, *, base: Movement | None = None,
                     loads: Iterable[tuple[int, JointLoad]] = ()) -> Array:
    """Generalised forces (nv) that give the accelerations `qdd` at the state (`q`, `qd`).

    `base`: the movement of the root (its `a` without gravity), if it moves. `loads`: links and what acts on them from
    outside, at their origins and in their axes."""
    needed = joint_loads(links, q, movements(links, q, qd, qdd, base), loads)
    return np.concatenate(joint_forces(links, q, needed) or [np.zeros(0)])


def movements(links: Links, q: Array, qd: Array, qdd: Array, base: Movement | None = None) -> list[Movement]:
    """The motion of each link, from the root outwards; gravity is an acceleration of the root upwards."""
    root = at_rest(links, base)
    found: list[Movement] = []
    for link in links.links:
        parent = root if link.parent == ROOT else found[link.parent]
        found.append(carried(link, parent, q, qd[link.columns], qdd[link.columns]))
    return found


def at_rest(links: Links, base: Movement | None = None) -> Movement:
    """The movement of the root, gravity included: rest, or what `base` says."""
    root = Movement(_NONE, _NONE, np.zeros((3, 3)), _NONE) if base is None else base
    return root._replace(a=root.a - links.gravity)


def carried(link: Link, parent: Movement, q: Array, qd: Array, qdd: Array) -> Movement:
    """The movement of a link from that of its parent."""
    slide, turn = np.split(link.twist(q, qd), 2)
    dslide, dturn = np.split(link.twist_rate(q, qd, qdd), 2)
    before = link.outwards(parent.w, q)
    w = before + turn
    dw = link.outwards(parent.dw, q) + np.cross(before, turn) + dturn
    a = link.outwards(parent.a + parent.W @ link.offset(q), q) + np.cross(2 * before + turn, slide) + dslide
    return Movement(w, dw, acceleration_tensor(w, dw), a)


def acceleration_tensor(w: Array, dw: Array) -> Array:
    """dw~ + w~ w~, with 6 multiplications and 9 additions: Balafoutis & Patel, section 4.3.4."""
    p11 = w[0] * w[0]
    p22 = w[1] * w[1]
    p33 = w[2] * w[2]
    p12 = w[0] * w[1]
    p13 = w[0] * w[2]
    p23 = w[1] * w[2]
    return np.array([[-(p22 + p33), p12 - dw[2], p13 + dw[1]],
                     [p12 + dw[2], -(p11 + p33), p23 - dw[0]],
                     [p13 - dw[1], p23 + dw[0], -(p11 + p22)]])


def joint_loads(links: Links, q: Array, moved: list[Movement],
                loads: Iterable[tuple[int, JointLoad]] = ()) -> list[JointLoad]:
    """The loads that joints must give to their links, from the tips inwards."""
    found = [own_load(link, movement) for link, movement in zip(links.links, moved, strict=True)]
    for number, load in loads:
        if number != ROOT:
            found[number] = JointLoad(found[number].f - load.f, found[number].n - load.n)
    for number in reversed(range(len(found))):
        link = links.links[number]
        if link.parent != ROOT:
            f = link.inwards(found[number].f, q)
            n = link.inwards(found[number].n, q)
            before = found[link.parent]
            found[link.parent] = JointLoad(before.f + f, before.n + n + np.cross(link.offset(q), f))
    return found


def own_load(link: Link, movement: Movement) -> JointLoad:
    """The load that a link by itself needs for its motion."""
    m, u, J = link.moments
    return JointLoad(movement.W @ u + m * movement.a, turning_moment(movement, J) + np.cross(u, movement.a))


def own_load_about_center(link: Link, movement: Movement) -> JointLoad:
    """The same with the moment about the centre of mass: F_ci and M_ci of Balafoutis & Patel."""
    load = own_load(link, movement)
    return JointLoad(load.f, load.n - np.cross(link.moments.center, load.f))


def turning_moment(movement: Movement, J: Array) -> Array:
    """The vector of W J - (W J)^T: Balafoutis & Patel (4.3.44). Where two entries of W meet, w and dw are cheaper."""
    (w1, w2, w3), (_, _, dw3), W, _ = movement
    p11 = w1 * w1
    p22 = w2 * w2
    p33 = w3 * w3
    return np.array([
        W[2, 0] * J[0, 1] + W[2, 1] * J[1, 1] - W[1, 0] * J[0, 2] - W[1, 2] * J[2, 2] + (p33 - p22) * J[1, 2],
        W[0, 1] * J[1, 2] + W[0, 2] * J[2, 2] - W[2, 0] * J[0, 0] - W[2, 1] * J[0, 1] + (p11 - p33) * J[0, 2],
        W[1, 2] * J[0, 2] - W[0, 2] * J[1, 2] + dw3 * (J[0, 0] + J[1, 1]) + w1 * w2 * (J[0, 0] - J[1, 1]) +
        (p22 - p11) * J[0, 1]])


def joint_forces(links: Links, q: Array, found: list[JointLoad]) -> list[Any]:
    """The part (nv) of each load along the directions of its joint."""
    return [
        link.subspace(q).T @ np.concatenate([load.f, load.n]) for link, load in zip(links.links, found, strict=True)]
