"""The rows of contact points: how the second body moves against the first at each of them, along its axes.

    row = axis . (J of the second body - J of the first), both at the point; joints that carry both bodies drop out"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.contacts.contact_points import ContactPoints, contact_layout
from cayley.kinematics.forward import body_poses
from cayley.model.tree import Tree


def contact_jacobian(tree: Tree, q: Array, points: ContactPoints) -> Array:
    """The rows (c, 3, nv) of all contact points of a configuration: velocities along both tangents and the normal."""
    poses = body_poses(tree, q)
    return np.stack([_rows(tree, q, poses, (spot.first, spot.second), position, axes)
                     for spot, position, axes in zip(contact_layout(tree), points.position, points.axes, strict=True)])


def _rows(tree: Tree, q: Array, poses: list[Pose], bodies: tuple[int, int], point: Array, axes: Array) -> Array:
    first, second = (set(tree.path(body)) for body in bodies)
    parts = []
    for number, joint in enumerate(tree.joints):
        sign = float(number in second) - float(number in first)
        parts.append(sign * (axes @ _velocities(tree, q, number, poses[number + 1], point)) if sign else
                     np.zeros((3, joint.motion.nv)))
    return np.concatenate(parts, axis=1)


def _velocities(tree: Tree, q: Array, number: int, child: Pose, point: Array) -> Array:
    """The velocities (3, n) that unit velocities of a joint give to a point."""
    subspace = tree.joints[number].motion.subspace(q[tree.q_slices[number]])
    return child.R @ subspace[:3] - hat(point - child.p) @ (child.R @ subspace[3:])
