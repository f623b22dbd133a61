"""The arms of the catalogue's worked examples, from their Denavit-Hartenberg rows, and planar arms."""

import numpy as np

from cayley.mechanism import Mechanism
from cayley.model.joint_kinds import Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint


def rotation(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    turned = {"x": [[1, 0, 0], [0, c, -s], [0, s, c]], "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]
    pose = np.eye(4)
    pose[:3, :3] = turned
    return pose


def translation(x, y, z):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def modified_link(a, alpha, d, theta):
    return translation(a, 0, 0) @ rotation("x", alpha) @ rotation("z", theta) @ translation(0, 0, d)


def standard_link(a, alpha, d, theta):
    return rotation("z", theta) @ translation(0, 0, d) @ translation(a, 0, 0) @ rotation("x", alpha)


def modified_arm(rows, kinds=None, tool=None):
    """Rows (a, alpha, d, theta), the joint's coordinate added to d or theta; body k is frame k + 1 of the convention.
    """
    kinds = kinds or "R" * len(rows)
    placements = [modified_link(*row) for row in rows]
    return _arm(placements, kinds, [Frame("tool", f"link{len(rows)}", tool)])


def standard_arm(rows, kinds=None):
    """Rows (a, alpha, d, theta); frame "frame k" is the convention's frame after joint k."""
    kinds = kinds or "R" * len(rows)
    after = [translation(a, 0, 0) @ rotation("x", alpha) for a, alpha, _, _ in rows]
    offsets = [rotation("z", theta) @ translation(0, 0, d) for _, _, d, theta in rows]
    placements = [before @ offset for before, offset in zip([np.eye(4), *after], offsets, strict=False)]
    frames = [Frame("frame0", "base"), *[Frame(f"frame{k + 1}", f"link{k + 1}", pose) for k, pose in enumerate(after)]]
    return _arm(placements, kinds, frames)


def _arm(placements, kinds, frames):
    motions = {"R": Revolute(), "P": Prismatic()}
    bodies = [Body("base"), *[Body(f"link{k + 1}") for k in range(len(kinds))]]
    joints = [Joint(f"joint{k + 1}", bodies[k].name, bodies[k + 1].name, motions[kind], placement)
              for k, (kind, placement) in enumerate(zip(kinds, placements, strict=True))]
    return Mechanism.of("arm", bodies, joints, frames=frames)


def planar_arm(*lengths):
    """Revolute joints about z, links along x."""
    rows = [(length, 0.0, 0.0, 0.0) for length in (0.0, *lengths[:-1])]
    return modified_arm(rows, tool=translation(lengths[-1], 0, 0))


H = np.pi / 2
ELBOW = [(0, 0, 0.4, 0), (0, H, 0, 0), (0.5, 0, 0, 0)]  # W3-06, with the hand point (0.3, 0, 0)
SIX = [(0, 0, 0, 0), (0, -H, 0, 0), (0.4318, 0, 0.15005, 0), (0.0203, -H, 0.4318, 0), (0, H, 0, 0),
       (0, -H, 0, 0)]  # W3-07
MIXED = [(0, 0, 0.40, 0), (0.10, H, 0.20, 0.3), (0.30, -np.pi / 3, 0.05, 0), (0.25, H, 0.10, 0.2)]  # W3-08, R-P-R-R
STANFORD_LIKE = [(0, -H, 0.412, 0), (0, H, 0.154, 0), (0, 0, 0, -H), (0, -H, 0, 0), (0, H, 0, 0),
                 (0, 0, 0.263, 0)]  # WE-13, RRPRRR
