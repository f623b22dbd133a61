"""Momentum about the centre of mass, and the matrix that makes it of the velocities.

    c, M       centre of mass and mass of all that moves
    h = A qd   momentum and angular momentum about c (6), in the root's axes: A the centroidal momentum matrix
    h' = A qdd + b
A column of A is the momentum of all that a joint carries, frozen together, at a unit velocity of the joint: composite
bodies, as in the mass matrix. b is the inertia force of the links, and its moment about c, at qdd = 0. The first three
rows of A are M times the Jacobian of c. Rotors behind gears, which are no bodies, have no share.
Source: Orin, Goswami & Lee, Centroidal dynamics of a humanoid robot (2013), (14)-(21)."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.composite_bodies_for_trees import asked_by, composite_bodies
from cayley.dynamics.inverse.newton_euler import Movement, movements, own_load
from cayley.dynamics.rigid_links import energies
from cayley.dynamics.rigid_links.links import Links


def centroidal_momentum_matrix(links: Links, q: Array) -> Array:
    """A (6, nv), rows (linear; angular), about the centre of mass and in the root's axes.

    >>> from cayley.dynamics.rigid_links.links import links_of
    >>> from cayley.model.catalogue import load_robot
    >>> arm = links_of(load_robot("s1_f2"))
    >>> q, qd = np.array([[0.3, -0.7], [1.1, -0.4]])
    >>> np.allclose(centroidal_momentum_matrix(arm, q) @ qd, energies.centroidal_momentum(arm, q, qd))
    True
    """
    center = energies.center_of_mass(links, q)
    columns = [np.zeros((6, 0))]
    for link, body, (R, s) in zip(links.links, composite_bodies(links, q), energies.link_poses(links, q), strict=True):
        for direction in link.subspace(q).T:
            p, l = asked_by(body, direction)
            columns.append(np.concatenate([R @ p, R @ l + np.cross(s - center, R @ p)])[:, None])
    return np.concatenate(columns, axis=1)


def center_of_mass_jacobian(links: Links, q: Array) -> Array:
    """The velocity of the centre of mass by the velocities (3, nv), in the root's axes."""
    columns = [np.zeros((3, 0))]
    for link, body, (R, _) in zip(links.links, composite_bodies(links, q), energies.link_poses(links, q), strict=True):
        columns += [(R @ asked_by(body, direction)[0])[:, None] for direction in link.subspace(q).T]
    return np.concatenate(columns, axis=1) / energies.total_mass(links)


def centroidal_bias(links: Links, q: Array, qd: Array) -> Array:
    """b (6): the rate of the centroidal momentum at the velocity `qd` without accelerations, A' qd."""
    center = energies.center_of_mass(links, q)
    weightless = Movement(np.zeros(3), np.zeros(3), np.zeros((3, 3)), links.gravity)  # which takes gravity off
    moved = movements(links, q, qd, np.zeros(links.nv), weightless)
    force = np.zeros(3)
    moment = np.zeros(3)
    for link, movement, (R, s) in zip(links.links, moved, energies.link_poses(links, q), strict=True):
        f, n = own_load(link, movement)
        force = force + R @ f
        moment = moment + R @ n + np.cross(s - center, R @ f)
    return np.concatenate([force, moment])
