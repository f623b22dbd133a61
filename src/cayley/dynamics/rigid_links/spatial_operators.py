"""Spatial operators of links and of the rotors that they carry, in the frame of each body: motions are (w; v), forces
(n; f).

    Phi    (6, 6)  motions of the carrier's frame as those of the body's: X turns from the carrier's axes to the body's,
                   s is the body's origin in the carrier; its transpose takes forces back, so that power stays n.w + f.v
    M      (6, 6)  inertia about the body's origin
    E      (6, k)  what the joint, or the motor, adds to the motion for a unit of each of its velocities
    a      (6)     acceleration by velocities alone: that of the carrier and the body's own
    b      (6)     force by velocities alone
A rotor (Phi_m, M_m, a_m, b_m) hangs on a link, not on another rotor, and turns with its own velocity. Source:
Mladenova, section 7.2, with spec E-42 to E-44: forces are (n; f), and a_m has the angular velocity of the link."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import Link, Links, links_of
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.geometry.tensors.cross import skew
from cayley.model.tree import Tree

_ZERO = np.zeros((3, 3))


class LinksAndRotors(NamedTuple):
    """The links of a mechanism, with the numbers of those that are rotors."""

    links: Links
    rotors: tuple[int, ...]

    @property
    def bars(self) -> tuple[int, ...]:
        """The numbers of those that are not rotors, parents first."""
        return tuple(k for k in range(len(self.links.links)) if k not in self.rotors)


def links_and_rotors(tree: Tree) -> LinksAndRotors:
    """The links of a mechanism in the frames of its bodies, z along the axes."""
    return _told_apart(tree, links_of(tree))


def minimal_links_and_rotors(tree: Tree) -> LinksAndRotors:
    """The same on base parameters, in frames that save operations."""
    return _told_apart(tree, minimal_links(tree))


def _told_apart(tree: Tree, links: Links) -> LinksAndRotors:
    motors = {tree.joints[number].name for number in tree.motors.values()}
    return LinksAndRotors(links, tuple(k for k, link in enumerate(links.links) if link.name in motors))


class Operators(NamedTuple):
    """The quantities of a link or of a rotor that depend on the configuration, with the number of what carries it, and
    its places among the velocities."""

    carrier: int
    columns: slice
    Phi: Array
    M: Array
    E: Array
    s: Array


def operators(link: Link, q: Array) -> Operators:
    """The operators of one link or rotor.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = links_and_rotors(load_robot("planar2r"))
    >>> operators(arm.links.links[1], np.zeros(2)).Phi[3:, :3]
    array([[ 0. ,  0. ,  0. ],
           [ 0. ,  0. ,  0.5],
           [ 0. , -0.5,  0. ]])
    """
    X = link.rotation(q).T
    s = link.offset(q)
    Phi = np.concatenate([np.concatenate([X, _ZERO], axis=1), np.concatenate([-X @ skew(s), X], axis=1)])
    u = skew(link.moments.first)
    M = np.concatenate([np.concatenate([link.moments.inertia, u], axis=1),
                        np.concatenate([-u, link.moments.mass * np.eye(3)], axis=1)])
    return Operators(link.parent, link.columns, Phi, M, _swapped(link.subspace(q)), s)


def velocity_acceleration(link: Link, body: Operators, carrier: Array, q: Array, qd: Array) -> Array:
    """a (6), of the velocity (6) of the carrier and of the joint's or the motor's own (k)."""
    X = body.Phi[:3, :3]
    w = carrier[:3]
    turned = X @ w
    own = body.E @ qd
    rate = _swapped(link.twist_rate(q, qd, np.zeros(len(qd))))
    sliding = np.cross(2 * turned + own[:3], own[3:])
    return rate + np.concatenate([np.cross(turned, own[:3]), X @ np.cross(w, np.cross(w, body.s)) + sliding])


def velocity_force(body: Operators, V: Array) -> Array:
    """b (6), of the body's velocity (6)."""
    w = V[:3]
    momentum = body.M[:, :3] @ w
    return np.concatenate([np.cross(w, momentum[:3]), np.cross(w, momentum[3:])])


def _swapped(motions: Array) -> Array:
    """(v; w) as (w; v)."""
    return np.concatenate([motions[3:], motions[:3]])
