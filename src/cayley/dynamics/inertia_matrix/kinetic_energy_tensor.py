"""The kinetic energy of open chains as a quadratic form of the joint rates; its tensor is the inertia matrix.

In the root's axes, for link k and joint i <= k:

    w_k, r'_k   angular velocity of link k, velocity of its centre of mass: sums over the joints before it
    z_i         axis of joint i         r_ik   from the origin of link i to the centre of mass of link k
Source: Balafoutis & Patel (6.3.34)-(6.3.42), reference as in spec E-12; prismatic joints as in spec R5."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.solve import mirrored
from cayley.dynamics.rigid_links.energies import link_poses
from cayley.dynamics.rigid_links.links import Links


def inertia_matrix(links: Links, q: Array) -> Array:
    """The kinetic-energy tensor H = D (n, n) at the configuration `q`: energy = q'.H q' / 2."""
    rates = unit_velocities(links, q)
    return mirrored([[_summed(links, rates, j, i) for j in range(i + 1)] for i in range(links.nv)])


def unit_velocities(links: Links, q: Array) -> list[list[tuple[Any, Any]]]:
    """For each link k, and each joint i <= k, the w and r' of the link for the unit rate of the joint, in the axes of
    the link."""
    poses = link_poses(links, q)
    return [[_unit_velocity(links, poses, i, k) for i in range(k + 1)] for k in range(len(poses))]


def _unit_velocity(links: Links, poses: list[Any], i: int, k: int) -> tuple[Any, Any]:
    (R, p) = poses[k]
    z = poses[i].R[:, 2]
    to_center = p + R @ links.links[k].moments.center - poses[i].p
    turn, slide = (z, np.cross(z, to_center)) if links.links[i].is_revolute else (np.zeros(3), z)
    return R.T @ turn, R.T @ slide


def _summed(links: Links, rates: list[list[tuple[Any, Any]]], j: int, i: int) -> float:
    """Over all links that both joints move."""
    total = np.float64(0.0)
    for link, row in zip(links.links[i:], rates[i:], strict=True):
        w_j, v_j = row[j]
        w_i, v_i = row[i]
        total = total + w_j @ link.moments.inertia_about_center @ w_i + link.moments.mass * (v_j @ v_i)  # (6.3.42)
    return total
