"""Random trees with every kind of joint, here and in Pinocchio."""

import numpy as np

from cayley.geometry.rotations import matrix_from_quaternion
from cayley.model.joint_kinds import Floating, Helical, JointKind, Planar, Prismatic, Revolute, Spherical, Universal
from cayley.model.parts import Body, Frame, Joint

KINDS = ("revolute", "continuous", "prismatic", "helical", "universal", "spherical", "planar", "floating", "fixed")


def unit(random, size=3):
    v = random.normal(size=size)
    return v / np.linalg.norm(v)


def random_pose(random):
    pose = np.eye(4)
    pose[:3, :3] = matrix_from_quaternion(unit(random, 4))
    pose[:3, 3] = random.normal(size=3)
    return pose


def random_motion(random, kind):
    axis = tuple(unit(random))
    across = np.cross(axis, unit(random))
    return {
        "revolute": Revolute(axis), "continuous": Revolute(axis, continuous=True), "prismatic": Prismatic(axis),
        "helical": Helical(axis, random.normal()), "universal": Universal(axis, tuple(across / np.linalg.norm(across))),
        "spherical": Spherical(), "planar": Planar(), "floating": Floating(), "fixed": JointKind()}[kind]


def random_parts(random, kinds):
    """Bodies, joints and frames of a random tree whose joints are of the given kinds."""
    bodies, joints = [Body("root")], []
    for k, kind in enumerate(kinds):
        spread = random.normal(size=(3, 3))
        squares = (spread @ spread.T + np.eye(3)) / 2
        inertia = np.trace(squares) * np.eye(3) - squares  # that of a body, however its mass is spread
        bodies.append(Body(f"body{k}", random.uniform(0.5, 3), random.normal(size=3), inertia))
        parent = bodies[random.integers(max(0, k - 2), k + 1)].name
        joints.append(Joint(f"joint{k}", parent, f"body{k}", random_motion(random, kind), random_pose(random)))
    frames = [Frame(f"frame{k}", f"body{k}", random_pose(random)) for k in range(len(kinds))]
    return bodies, joints, frames


def random_configuration(random, tree):
    parts = []
    for joint in tree.joints:
        q = random.normal(size=joint.motion.nq)
        if joint.motion.nq in (4, 7):
            q[-4:] /= np.linalg.norm(q[-4:])
        parts.append(q)
    return np.concatenate(parts or [np.zeros(0)])
