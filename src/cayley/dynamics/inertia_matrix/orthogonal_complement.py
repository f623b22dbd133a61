"""The inertia matrix of trees with joints of every kind by the natural orthogonal complement (Angeles & Ma).

In the root's axes, with the twist (w; r') of each link's centre of mass:

    T   twists of all links = T v, (6 N, nv)         M   inertia of all links on the diagonal: central tensor, mass
    N   M = N^T N                                    P   N T, with D = T^T M T = P^T P
In a chain column j of block k is (z; z x r) for a revolute, (0; z) for a prismatic joint j <= k; so T and P are lower
block triangular. Source: Angeles & Ma 1988; Balafoutis & Patel (6.2.10)-(6.2.15), spec R4.3."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.energies import link_poses
from cayley.dynamics.rigid_links.links import ROOT, Link, Links
from cayley.errors import ModelError, UnsupportedError
from cayley.geometry.pose import Pose

# of the moments about the link's origin, from which the central ones are a difference: so far below zero they may be
_ROUNDING = 1e-12


def inertia_matrix(links: Links, q: Array) -> Array:
    """The inertia matrix (nv, nv) at the configuration `q`: D = T^T M T."""
    T = twist_map(links, q)
    moved = [M @ T[6 * k:6 * k + 6] for k, M in enumerate(extended_masses(links, q))]
    return T.T @ np.concatenate(moved) if moved else np.zeros((0, 0))


def twist_map(links: Links, q: Array) -> Array:
    """T (6 N, nv): the twists (w; r') of the links' centres of mass for unit velocities, (6.2.14)."""
    poses = link_poses(links, q)
    blocks = [np.concatenate(_twists_of(links, poses, number, q)) for number in range(len(links.links))]
    return np.concatenate(blocks) if blocks else np.zeros((0, links.nv))


def _twists_of(links: Links, poses: list[Pose], number: int, q: Array) -> tuple[Any, Any]:
    """The rows (3, nv) of w and of r' of one link: only joints on the way to it move it."""
    center = poses[number].p + poses[number].R @ links.links[number].moments.center
    turns = [np.zeros((3, links.nv))]
    slides = [np.zeros((3, links.nv))]
    while number != ROOT:
        link = links.links[number]
        (R, p) = poses[number]
        chosen = np.eye(links.nv)[link.columns]
        w = R @ link.subspace(q)[3:]
        v = R @ link.subspace(q)[:3]
        arm = center - p
        turns.append(w @ chosen)
        slides.append(np.stack([v[:, k] + np.cross(w[:, k], arm) for k in range(w.shape[1])], axis=1) @ chosen)
        number = link.parent
    return sum(turns[1:], turns[0]), sum(slides[1:], slides[0])


def extended_masses(links: Links, q: Array) -> list[Any]:
    """The blocks (6, 6) of M, in the root's axes, (6.2.11), (6.2.13)."""
    return [_diagonal(R @ link.moments.inertia_about_center @ R.T, link.moments.mass * np.eye(3))
            for link, (R, _) in zip(links.links, link_poses(links, q), strict=True)]


def mass_roots(links: Links, q: Array) -> list[Any]:
    """The blocks (6, 6) of N.

    The roots of the links' own tensors are constants; rods and particles have roots as well."""
    return [_diagonal(_root(link).T @ R.T, np.sqrt(link.moments.mass) * np.eye(3))
            for link, (R, _) in zip(links.links, link_poses(links, q), strict=True)]


def square_root(links: Links, q: Array) -> Array:
    """P = N T (6 N, nv), with D = P^T P, (6.2.15)."""
    T = twist_map(links, q)
    rooted = [N @ T[6 * k:6 * k + 6] for k, N in enumerate(mass_roots(links, q))]
    return np.concatenate(rooted) if rooted else T


def _root(link: Link) -> Array:
    """L (3, 3), with L L^T the central inertia of a link in its axes."""
    if is_symbolic(link.moments.second):
        raise UnsupportedError(
            f"this method needs the principal moments of what joint {link.name!r} moves, and these are inputs: use "
            "another method, or leave them constants")
    values, axes = np.linalg.eigh(np.asarray(link.moments.inertia_about_center, dtype=float))
    if values[0] < -_ROUNDING * np.abs(link.moments.second).max() or link.moments.mass < 0:
        raise ModelError(
            f"what joint {link.name!r} moves has a negative mass or moment of inertia (mass {link.moments.mass:.6g}, "
            f"central moments {np.array2string(values, precision=6)}): this method needs the roots of them. Correct "
            "the inertia, or use another method")
    return axes * np.sqrt(np.maximum(values, 0.0))


def _diagonal(a: Array, b: Array) -> Array:
    none = np.zeros((3, 3))
    return np.concatenate([np.concatenate([a, none], axis=1), np.concatenate([none, b], axis=1)])
