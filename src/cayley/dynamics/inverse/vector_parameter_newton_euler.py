"""Inverse dynamics by Newton and Euler's equations, all axes changed by vector-parameters: the default recursion, in
which no rotation matrix is ever formed.

The vector-parameter of link i in link i-1 is homogeneous, [w : v], c = v/w, of length one: finite at half-turns too.
Source: Mladenova (65) for O(c) x, (261)-(266) with rigid joints, spec R-48, R-49; Table 3, row G."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.rigid_links.links import JointPlacement, Link, Links
from cayley.dynamics.rigid_links.planar_rotations import NO_TURN
from cayley.geometry.rotations.quaternion import quaternion_from_matrix


class Turned(NamedTuple):
    """O(c) of c = v/w, in the place of a turn about z; `twice` is 2 v."""

    w: Array
    v: Array
    twice: Array

    def about_z(self, x: Array) -> Array:
        """O(c) x = x + 2 v x (w x + v x x)."""
        return x + np.cross(self.twice, self.w * x + np.cross(self.v, x))

    def back_about_z(self, x: Array) -> Array:
        """O(-c) x."""
        return x + np.cross(self.twice, np.cross(self.v, x) - self.w * x)


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) of a chain of revolute and prismatic joints."""
    made = [replace(link, place=JointPlacement((link_turn(link, q), NO_TURN, NO_TURN), link.placement[:3, 3]),
                    turns_unseen=True)
            for link in links.links]
    return newton_euler.inverse_dynamics(replace(links, links=tuple(made)), q, qd, qdd)  # (261)-(266)


def link_turn(link: Link, q: Array) -> Turned:
    """<c0, e tan(q/2)>, homogeneous: (67)."""
    w0, x, y, z = _rounded(quaternion_from_matrix(link.placement[:3, :3]))
    if link.is_prismatic:
        v = np.array([x, y, z])
        return Turned(w0, v, v + v)
    c = np.cos(q[link.coordinates][0] / 2)
    s = np.sin(q[link.coordinates][0] / 2)
    v = np.array([x * c + y * s, y * c - x * s, z * c + w0 * s])  # (67)
    return Turned(w0 * c - z * s, v, v + v)  # (67)


def _rounded(unit: Array) -> Array:
    """A constant unit quaternion, without the dust that keeps its zeros from being zeros."""
    return np.where(np.abs(unit) < 1e-15, 0.0, unit)
