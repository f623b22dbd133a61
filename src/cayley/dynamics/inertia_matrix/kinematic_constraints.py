"""The kinematic constraints of a tree as one tensor, and its natural orthogonal complement.

    t      twists (w; r') of the centres of mass of all links, in the root's axes, (6 N)
    T      t = T qd, (6 N, nv), from `cayley.dynamics.inertia_matrix.orthogonal_complement`
    K      K t = 0 for all motions that the joints allow, (6 N, 6 N)
    S, D   directions of a joint, and the wrenches of its drives, D^T S = 1
Rows i of K are (1 - S D^T) of the twist of link i relative to its parent, at the joint's origin: what the joint does
not allow. For a revolute joint that is the velocity there, and the angular velocity across the axis; for a prismatic
joint the angular velocity, and the velocity across the axis. The rank of K is 6 N - nv, 5 n for n such joints, and T
spans its null space: K T = 0. Source: Balafoutis & Patel (6.2.10)-(6.2.14), after Angeles & Lee 1988; spec R4.3."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from cayley.compiler.solving.rounding import relative_rank
from cayley.compiler.typing import Array
from cayley.dynamics.inertia_matrix.orthogonal_complement import twist_map
from cayley.dynamics.rigid_links.energies import link_poses
from cayley.dynamics.rigid_links.links import ROOT, Link, Links, links_of
from cayley.geometry.tensors.cross import skew
from cayley.kinematics.frame_kernels import sized_kernel
from cayley.kinematics.mechanism_kernel import MechanismKernel, of_a_mechanism
from cayley.model.tree import Tree
from cayley.showing import shown_briefly

_SWAP = np.kron([[0.0, 1.0], [1.0, 0.0]], np.eye(3))  # between (v; w) and (w; v)


@shown_briefly
class OrthogonalComplement(NamedTuple):
    """K (..., 6 N, 6 N) with K t = 0, and T (..., 6 N, nv) with t = T qd, for the twists (w; r') of the centres of mass
    of all links in the root's axes."""

    K: Array
    T: Array

    @property
    def residual(self) -> Array:
        """The largest entry of K T (...): rounding."""
        return np.abs(self.K @ self.T).max(axis=(-2, -1), initial=0.0)

    @property
    def rank(self) -> Array:
        """The rank of K (...): how many velocities the joints take from 6 N."""
        return relative_rank(self.K, exact=True)


def constraint_tensor(links: Links, q: Array) -> Array:
    """K (6 N, 6 N)."""
    poses = link_poses(links, q)
    centers = [pose.p + pose.R @ link.moments.center for pose, link in zip(poses, links.links, strict=True)]
    K = [[np.zeros((6, 6))] * len(poses) for _ in poses]
    for i, link in enumerate(links.links):
        held = _held(link, poses[i].R, q)
        K[i][i] = held @ _at(poses[i].p - centers[i])
        if link.parent != ROOT:
            K[i][link.parent] = -(held @ _at(poses[i].p - centers[link.parent]))
    return np.concatenate([np.concatenate(row, axis=1) for row in K]) if K else np.zeros((0, 0))


def _held(link: Link, R: Array, q: Array) -> Array:
    """(6, 6): of a relative twist (w; v) in the root's axes what the joint does not allow."""
    lost = np.eye(6) - link.subspace(q) @ link.motion.driving_wrenches(q[link.coordinates]).T
    none = np.zeros((3, 3))
    turned = np.concatenate([np.concatenate([R, none], axis=1), np.concatenate([none, R], axis=1)])
    return _SWAP @ turned @ lost @ turned.T @ _SWAP


def _at(arm: Array) -> Array:
    """(6, 6): the twist (w; v) of a body at a point, to which an arm leads from its centre, from that of the centre."""
    return np.concatenate([np.eye(6)[:3], np.concatenate([-skew(arm), np.eye(3)], axis=1)])


@of_a_mechanism
def orthogonal_complement_kernel(tree: Tree) -> MechanismKernel[OrthogonalComplement]:
    """`orthogonal_complement(q)`: `OrthogonalComplement`."""
    links = links_of(tree)
    n = 6 * len(links.links)
    made = sized_kernel(tree, f"(q)->({n},{n}),({n},v)",
                        lambda q: OrthogonalComplement(constraint_tensor(links, q), twist_map(links, q)),
                        "orthogonal_complement", sentence="The kinematic constraints K t = 0 of the twists of all "
                        "links, and the natural orthogonal complement T, t = T qd.")
    return cast("MechanismKernel[OrthogonalComplement]", made)
