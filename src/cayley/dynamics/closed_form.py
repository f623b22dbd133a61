"""The equations of motion in closed form, M qdd + V + G = tau, of trees with joints of every kind.

    M   inertia matrix (nv, nv)     V = C qd   Coriolis and centrifugal forces (nv)     G   gravity forces (nv)
V is read off the Newton-Euler recursion, which is affine in the accelerations. C is the matrix of Christoffel's
symbols, also where velocities are no rates of coordinates: that of the Levi-Civita connection of the kinetic energy,
dM/dt - 2 C is skew. It comes from the recursion of Echeandia and Wensing (Numerical methods to compute the Coriolis
matrix and Christoffel symbols for rigid-body systems, 2021): with the spatial velocity V_i, the spatial inertia I and
the bodies' own B = (V x* I - I V x + (I V) x~*) / 2, summed over what each joint carries.
Source: Ruggiu (3.58), (3.59); spec S2-57."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import composite_bodies
from cayley.dynamics.inverse import newton_euler
from cayley.dynamics.rigid_links.energies import Twist, link_twists
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.geometry.spatial import cross_with_force, force_cross, force_transform, motion_cross, spatial_inertia


def velocity_forces(links: Links, q: Array, qd: Array) -> Array:
    """V (nv): what keeps the velocities `qd` as they are, without gravity."""
    return newton_euler.inverse_dynamics(replace(links, gravity=np.zeros(3)), q, qd, np.zeros(links.nv))


def velocity_coefficients(links: Links, q: Array) -> Array:
    """c (nv, nv, nv), symmetric in the last two indices, with V_i = c_ijk qd_j qd_k."""
    def of(qd: Array) -> Array:
        return velocity_forces(links, q, qd)

    units = np.eye(links.nv)
    alone = [of(unit) for unit in units]
    rows = [[alone[j] if j == k else (of(units[j] + units[k]) - alone[j] - alone[k]) / 2 for k in range(links.nv)]
            for j in range(links.nv)]
    return np.moveaxis(np.array(rows).reshape((links.nv,) * 3), 2, 0)


def gravity_forces(links: Links, q: Array) -> Array:
    """G (nv): the slope of the potential energy along each velocity, from the moments that each joint carries."""
    falls: list[Any] = []
    forces = []
    for link, (mass, first, _) in zip(links.links, composite_bodies(links, q), strict=True):
        g = link.outwards(links.gravity if link.parent == ROOT else falls[link.parent], q)
        falls.append(g)
        forces.append(-(link.subspace(q).T @ np.concatenate([mass * g, np.cross(first, g)])))
    return np.concatenate(forces or [np.zeros(0)])


def coriolis_matrix(links: Links, q: Array, qd: Array) -> Array:
    """C (nv, nv), with V = C qd, dM/dt - 2 C skew, and Christoffel's symbols where q are coordinates."""
    twists = link_twists(links, q, qd)
    I = [spatial_inertia(link.moments.mass, link.moments.first, link.moments.inertia) for link in links.links]
    B = [_own_coriolis(inertia, twist) for inertia, twist in zip(I, twists, strict=True)]
    rates = [_direction_rates(link, twist, q, qd) for link, twist in zip(links.links, twists, strict=True)]
    C = [[0.0] * links.nv for _ in range(links.nv)]
    for number in reversed(range(len(I))):
        link = links.links[number]
        _fill(C, links, q, number, rates, I[number], B[number])
        if link.parent != ROOT:
            X = _inward(link, q)
            I[link.parent] = I[link.parent] + X @ I[number] @ X.T
            B[link.parent] = B[link.parent] + X @ B[number] @ X.T
    return np.array(C).reshape(links.nv, links.nv)


def _fill(C: list[list[Any]], links: Links, q: Array, number: int, rates: list[Any], I: Array, B: Array) -> None:
    """The rows and columns of C between a joint and those on the way to the root, from what the joint carries."""
    link = links.links[number]
    S = link.subspace(q)
    right = I @ rates[number] + B @ S
    left = I @ S
    lower = B.T @ S
    _put(C, link, link, S.T @ right)
    while link.parent != ROOT:
        X = _inward(link, q)
        right = X @ right
        left = X @ left
        lower = X @ lower
        parent = links.links[link.parent]
        _put(C, parent, links.links[number], parent.subspace(q).T @ right)
        _put(C, links.links[number], parent, (rates[link.parent].T @ left + parent.subspace(q).T @ lower).T)
        link = parent


def _direction_rates(link: Link, twist: Twist, q: Array, qd: Array) -> Array:
    """The rates of the directions (6, nv) of a joint in space, seen in the link's axes."""
    carried = motion_cross(np.concatenate(twist)) @ link.subspace(q)
    return carried if link.motion.constant_subspace else carried + link.subspace_rate(q, qd[link.columns])


def _put(C: list[list[Any]], rows: Link, columns: Link, block: Array) -> None:
    for i, row in zip(range(rows.columns.start, rows.columns.stop), block, strict=True):
        C[i][columns.columns] = list(row)


def _inward(link: Link, q: Array) -> Array:
    """The matrix (6, 6) of wrenches on a link as wrenches about its parent's origin, in the parent's axes."""
    return force_transform(link.rotation(q), link.offset(q))


def _own_coriolis(I: Array, twist: Twist) -> Array:
    """B (6, 6) of one body: B V = V x* I V, and dI/dt - 2 B is skew."""
    V = np.concatenate(twist)
    return (force_cross(V) @ I - I @ motion_cross(V) + cross_with_force(I @ V)) / 2
