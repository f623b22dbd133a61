"""Inverse dynamics by Newton and Euler's equations, all axes changed by vector-parameters: no rotation matrix is ever
formed.

    h        the vector-parameter of link i in link i-1 as [w : v], c = v/w, of length one: finite at half-turns too
    w, dw    angular velocity and acceleration
    a        acceleration of the link's origin, minus gravity
    s         origin of link i in link i-1
    m, u, I   mass, first moment and inertia about the origin
    f, n     force and moment, about the origin, that the joint gives to the link
Source: Mladenova (65) for O(c) x, (261)-(266) with rigid joints, spec R-48, R-49; Table 3, row G.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.links import Link, Links
from cayley.geometry.rotations.quaternion import quaternion_from_matrix

_Z = np.array([0.0, 0.0, 1.0])


class Turned(NamedTuple):
    """O(c) of c = v/w; `twice` is 2 v."""

    w: Array
    v: Array
    twice: Array

    def forth(self, x: Array) -> Array:
        """O(c) x = x + 2 v x (w x + v x x)."""
        return x + np.cross(self.twice, self.w * x + np.cross(self.v, x))

    def back(self, x: Array) -> Array:
        """O(-c) x."""
        return x + np.cross(self.twice, np.cross(self.v, x) - self.w * x)


def inverse_dynamics(links: Links, q: Array, qd: Array, qdd: Array) -> Array:
    """Joint forces (n) of a chain of revolute and prismatic joints."""
    w = np.zeros(3)  # (261)
    dw = np.zeros(3)  # (261)
    a = -links.gravity  # (261)
    turns = [link_turn(link, q) for link in links.links]
    loads = []
    for link, turn, rate, change in zip(links.links, turns, qd, qdd, strict=True):
        s = link.offset(q)
        a = turn.back(a + np.cross(dw, s) + np.cross(w, np.cross(w, s)))  # (262) a
        before = turn.back(w)  # (262) V
        dw = turn.back(dw)  # (262) W
        if link.is_revolute:
            w = before + _Z * rate  # (262) V
            dw = dw + _Z * change + np.cross(before, _Z * rate)  # (262) W
        else:
            w = before
            a = a + _Z * change + 2 * np.cross(before, _Z * rate)  # (262) a
        m = link.moments.mass
        u = link.moments.first
        I = link.moments.inertia
        f = m * a + np.cross(dw, u) + np.cross(w, np.cross(w, u))  # (265) f
        n = I @ dw + np.cross(w, I @ w) + np.cross(u, a)  # (265) n
        loads.append((f, n))
    return _joint_forces(links, q, turns, loads)


def _joint_forces(links: Links, q: Array, turns: list[Turned], loads: list[tuple[Any, Any]]) -> Array:
    forces: list[Any] = []
    carried_f = np.zeros(3)  # (263)
    carried_n = np.zeros(3)  # (263)
    for link, turn, (f, n) in zip(reversed(links.links), reversed(turns), reversed(loads), strict=True):
        f = f + carried_f  # (265) t
        n = n + carried_n  # (265) t
        forces.append(n[2] if link.is_revolute else f[2])  # (266)
        carried_f = turn.forth(f)  # (265) t
        carried_n = turn.forth(n) + np.cross(link.offset(q), carried_f)  # (265) t
    return np.stack(forces[::-1]) if forces else np.zeros(0)


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
