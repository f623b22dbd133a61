"""The bodies of a tree, each by itself: where they are in the root's axes, and how their joints let them move.

    c, m, I    centre of mass, mass and central inertia of a body       w       its angular velocity
    o          origin of the child's frame of its joint
Bodies that fixed joints hold together are one. Nothing here is shared with the recursive methods: it is what they are
tested with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.dynamics.rigid_links.joined_bodies import joined_moments
from cayley.geometry.pose import Pose
from cayley.kinematics.forward import body_poses
from cayley.model.masses import check_has_masses, rigid_groups
from cayley.model.tree import Tree

ROOT = -1


class FreeBody(NamedTuple):
    """A rigid body, its joint and how it moves, in the root's axes."""

    parent: int  # number of the free body, or ROOT
    columns: slice  # of its joint in the velocity
    o: Array
    c: Array
    m: Array
    I: Array
    w: Array
    slide: Array  # (3, k): velocity of o, in the parent, for unit velocities of the joint
    turn: Array  # (3, k)
    speed: Array  # velocity of o in the parent
    drift: tuple[Any, Any]  # acceleration of o and angular acceleration, in the parent, by the joint's own velocities


def free_bodies(tree: Tree, q: Array, qd: Array) -> list[FreeBody]:
    """The bodies that move, each with the fixed ones on it, and how they move."""
    check_has_masses(tree)
    poses = body_poses(tree, q)
    groups = rigid_groups(tree)
    number = {body: g - 1 for g, group in enumerate(groups) for body in group}
    found: list[FreeBody] = []
    for group in groups[1:]:
        parent = number[tree.parents[group[0] - 1]]
        before = np.zeros(3) if parent == ROOT else found[parent].w
        found.append(_free_body(tree, q, qd, poses[group[0]], group, parent, before))
    return found


def _free_body(tree: Tree, q: Array, qd: Array, pose: Pose, group: tuple[int, ...], parent: int,
               before: Array) -> FreeBody:
    joint = group[0] - 1
    (R, o) = pose
    motion = tree.joints[joint].motion
    own = q[tree.q_slices[joint]]
    columns = tree.v_slices[joint]
    directions = motion.subspace(own)
    rest = motion.bias(own, qd[columns])
    slide = R @ directions[:3]
    turn = R @ directions[3:]
    speed = slide @ qd[columns]
    spin = turn @ qd[columns]
    w = before + spin
    drift = (R @ rest[:3] + np.cross(w, speed), R @ rest[3:] + np.cross(w, spin))
    body = joined_moments(tree, group)
    return FreeBody(parent, columns, o, o + R @ body.center, body.mass, R @ body.inertia_about_center @ R.T, w, slide,
                    turn, speed, drift)
