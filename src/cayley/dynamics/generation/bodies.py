"""Links and actuators of an arm as one family of bodies, s = 1, ..., 2N, and where they are in vector-parameters.

    s = 2i - 1, 2i     actuator i and link i, both carried by link l = 2i - 2; a rigid joint has no actuator
    c_s                vector-parameter of the turn of body s in body l: <(tan alpha/2, 0, 0), (0, 0, tan theta/2)>
    g_s = <g_l, c_s>   that of its turn in the base; 0p_s = 0p_l + O(g_l) lp_s
Turns are homogeneous, [w : v] with c = v / w, so that alpha or theta = pi is a turn like any other. Source: Mladenova
8.1-8.2, (309)-(313), corrected as in spec E-53, E-54; spec R-57.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.dynamics.rigid_links.links import ROOT, Link, Links, links_of
from cayley.errors import UnsupportedError
from cayley.geometry.rotations.homogeneous import compose_homogeneous, matrix_from_homogeneous
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.model.tree import Tree

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def bodies_of(tree: Tree) -> Links:
    """The bodies of an arm of revolute and prismatic joints, in the order of the mechanism: links, then actuators."""
    links = links_of(tree)
    for link in links.links:
        if not (link.is_revolute or link.is_prismatic):
            raise UnsupportedError(f"joint {link.name!r} of {tree.name} is {link.motion.word}: equations are generated "
                                   "for revolute and prismatic joints; use the default methods, which are for all")
    return links


def numbering(tree: Tree) -> Array:
    """The places in q of the bodies s = 1, 2, ..., in their order: before each link its actuator, if it has one.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = load_robot("planar2r").with_drive("joint1", stiffness=1e3).including("elastic drives")
    >>> numbering(arm).tolist()
    [2, 0, 1]
    """
    motors = set(tree.motors.values())
    order = []
    for number in range(len(tree.joints)):
        if number not in motors and tree.joints[number].motion.nv:
            order += [tree.v_slices[n].start for n in (tree.motors.get(number), number) if n is not None]
    return np.array(order, dtype=int)


class BodyPlace(NamedTuple):
    """Where a body is: its turn in the body before it and in the base, [w : v] (4), and its origin in both (3)."""

    turn: Array
    offset: Array
    attitude: Array
    position: Array

    @property
    def transform(self) -> Array:
        """0T_s (4, 4)."""
        last = np.array([[0.0, 0.0, 0.0, 1.0]])
        return np.concatenate([np.concatenate([matrix_from_homogeneous.unchecked(self.attitude),
                                               np.stack([self.position], axis=1)], axis=1), last])


def body_places(links: Links, q: Array) -> list[BodyPlace]:
    """The places of all bodies at `q`, by composition of vector-parameters.

    >>> from cayley.model.catalogue import load_robot
    >>> body_places(bodies_of(load_robot("planar2r")), np.array([0.3, 0.2]))[1].attitude.round(6)
    array([0.968912, 0.      , 0.      , 0.247404])
    """
    places: list[BodyPlace] = []
    for link in links.links:
        before = places[link.parent] if link.parent != ROOT else BodyPlace(UPRIGHT, np.zeros(3), UPRIGHT, np.zeros(3))
        turn = compose_homogeneous.unchecked(quaternion_from_matrix.unchecked(link.placement[:3, :3]), _joint(link, q))
        offset = link.offset(q)
        places.append(BodyPlace(turn, offset, compose_homogeneous.unchecked(before.attitude, turn),
                                before.position + matrix_from_homogeneous.unchecked(before.attitude) @ offset))
    return places


def _joint(link: Link, q: Array) -> Array:
    if link.is_prismatic:
        return UPRIGHT
    half = q[link.coordinates.start] / 2
    return np.stack([np.cos(half), 0.0 * half, 0.0 * half, np.sin(half)])


def table_vector_parameter(alpha: Scalar, theta: Scalar) -> Array:
    """c_s (3) of one row of a modified Denavit-Hartenberg table, (312): infinite where alpha or theta is a half-turn.

    >>> table_vector_parameter(0.3, 0.7).round(6)
    array([ 0.151135, -0.055169,  0.365028])
    """
    twist = np.tan(alpha / 2)
    turn = np.tan(theta / 2)
    return np.stack([twist, -twist * turn, turn])
