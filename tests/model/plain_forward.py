"""Poses by the plain product over the tree, for the tests to compare with other libraries."""

import numpy as np


def body_poses(tree, q):
    """The pose of every body by name."""
    poses = {tree.bodies[0].name: np.eye(4)}
    for joint, place in zip(tree.joints, tree.q_slices, strict=True):
        moved = np.eye(4)
        moved[:3, :3], moved[:3, 3] = joint.motion.pose(q[place])
        poses[joint.child] = poses[joint.parent] @ joint.placement @ moved
    return poses


def frame_poses(tree, q):
    """The pose of every named frame."""
    bodies = body_poses(tree, q)
    return {frame.name: bodies[frame.body] @ frame.pose for frame in tree.frames}


def random_coordinates(joint, rng):
    """A configuration of one joint, within turns and slides of moderate size."""
    word = joint.motion.word
    if word == "floating":
        return np.concatenate([rng.normal(size=3), random_quaternion(rng)])
    return random_quaternion(rng) if word == "spherical" else rng.uniform(-3, 3, joint.motion.nq)


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_configuration(tree, rng):
    return np.concatenate([random_coordinates(joint, rng) for joint in tree.joints] or [np.zeros(0)])
