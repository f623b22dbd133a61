"""Poses of the bodies and frames of a tree.

    R, p   rotation and origin of a body's frame, in the root's frame
The pose of joint k's child is the parent's pose, moved by the placement of the joint and by its motion."""

from __future__ import annotations

from cayley.compiler.typing import Array
from cayley.geometry.pose import HERE
from cayley.geometry.pose import Pose as Pose
from cayley.model.tree import Tree


def joint_pose(tree: Tree, number: int, q: Array) -> Pose:
    """The pose of a joint's child in its parent."""
    joint = tree.joints[number]
    return Pose.of(joint.placement).then(Pose(*joint.motion.pose(q[tree.q_slices[number]])))


def body_poses(tree: Tree, q: Array) -> list[Pose]:
    """The poses of all bodies, the root first."""
    poses = [HERE]
    for number, parent in enumerate(tree.parents):
        poses.append(poses[parent].then(joint_pose(tree, number, q)))
    return poses


def body_pose(tree: Tree, q: Array, body: int) -> Pose:
    """The pose of one body: only the joints on the way to it are looked at."""
    pose = HERE
    for number in tree.path(body):
        pose = pose.then(joint_pose(tree, number, q))
    return pose


def frame_pose(tree: Tree, q: Array, frame: str, relative_to: str | None = None) -> Pose:
    """The pose of a named frame in the root's frame, or in another named frame."""
    wanted = tree.frame(frame)
    pose = body_pose(tree, q, tree.body_number(wanted.body)).then(Pose.of(wanted.pose))
    return pose if relative_to is None else frame_pose(tree, q, relative_to).inverse.then(pose)
