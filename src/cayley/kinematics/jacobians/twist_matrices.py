"""Velocities as 4 x 4 matrices: T' of a pose, and T' T^-1 = [[hat(w), v_O], [0, 0]] with the velocity v_O of the body
point at the origin.

The pose may be that of any frame in any other, in particular that of a link in the link before it, for which T' T^-1 =
[[t' Z, d' z], [0, 0]] in Denavit-Hartenberg frames. Seen from another frame a twist matrix becomes T M T^-1, and those
of a chain add up. Source: Ruggiu (2.46)-(2.55), corrected as in spec E-30.
"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.pose import Pose
from cayley.geometry.tensors.cross import hat
from cayley.kinematics.jacobians.analytic import relative_pose
from cayley.kinematics.jacobians.general_jacobian import branch, reference
from cayley.kinematics.jacobians.velocity import Moving
from cayley.model.tree import Tree


def pose_rate(tree: Tree, q: Array, qd: Array, frame: str, *, relative_to: str) -> Array:
    """T' (4, 4) of the pose of a frame in another, or in the root ("world")."""
    return twist_matrix(tree, q, qd, frame, relative_to=relative_to) @ relative_pose(tree, q, frame, relative_to).matrix


def twist_matrix(tree: Tree, q: Array, qd: Array, frame: str, *, relative_to: str) -> Array:
    """T' T^-1 (4, 4) of the pose of a frame in another, or in the root ("world"), in the axes of that other."""
    own = branch(tree, q, qd, None, frame).end
    other = reference(tree, q, qd, None, relative_to).end
    return similar_twist_matrix(other.pose.inverse, absolute_twist_matrix(own) - absolute_twist_matrix(other))


def absolute_twist_matrix(body: Moving) -> Array:
    """[[hat(w), u - w x p], [0, 0]] in the root's axes."""
    return _matrix(hat(body.w), body.u - np.cross(body.w, body.pose.p))


def similar_twist_matrix(pose: Pose, matrix: Array) -> Array:
    """T M T^-1: the same twist, seen from the frame in which the one it was seen from has the pose T.

    Ruggiu (2.51)-(2.53).
    """
    turned = pose.R @ matrix[:3, :3] @ pose.R.T
    return _matrix(turned, pose.R @ matrix[:3, 3] - turned @ pose.p)


def _matrix(spin: Array, velocity: Array) -> Array:
    return np.concatenate([np.concatenate([spin, np.stack([velocity], axis=1)], axis=1), np.zeros((1, 4))])
