"""Geometric Jacobians: the twist (v; w) of a frame, column by column of the joints' velocities.

    v      velocity of the frame's origin relative to the root        w   angular velocity relative to the root
Which axes the two are written in must be said: `axes="world"` (the root's), `axes="body"` (the frame's own), or the
name of a frame. Source: equation (K-3) of docs/developers/theory/kinematics.md.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.pose import HERE, Pose
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.forward import frame_pose, joint_pose
from cayley.model.tree import Tree


def jacobian(tree: Tree, q: Array, frame: str, *, axes: str) -> Array:
    """The Jacobian (6, nv) of a frame: its twist is J @ v."""
    wanted = tree.frame(frame)
    poses = poses_on_the_way(tree, q, tree.body_number(wanted.body))
    end = (poses[-1][1] if poses else HERE).then(Pose.of(wanted.pose))
    turn = axes_in_root(tree, q, axes, end).T
    columns = [np.zeros((6, joint.motion.nv)) for joint in tree.joints]
    for number, pose in poses:
        columns[number] = _columns(tree.joints[number].motion.subspace(q[tree.q_slices[number]]), pose, end.p, turn)
    return np.concatenate(columns, axis=1) if columns else np.zeros((6, 0))


def poses_on_the_way(tree: Tree, q: Array, body: int) -> list[tuple[int, Pose]]:
    """For each joint from the root to a body, its number and the pose of its child."""
    pose = HERE
    found = []
    for number in tree.path(body):
        pose = pose.then(joint_pose(tree, number, q))
        found.append((number, pose))
    return found


def axes_in_root(tree: Tree, q: Array, axes: str, own: Pose) -> Array:
    """The rotation of the asked axes in the root's frame."""
    if axes == "world":
        return np.eye(3)
    return own.R if axes == "body" else frame_pose(tree, q, axes).R


def _columns(subspace: Array, child: Pose, point: Array, turn: Array) -> Array:
    """What a joint's directions do to a point, in the asked axes."""
    angular = child.R @ subspace[3:]
    linear = child.R @ subspace[:3] - hat(point - child.p) @ angular
    return np.concatenate([turn @ linear, turn @ angular])
