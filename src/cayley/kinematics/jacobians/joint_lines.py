"""The axes of the joints as lines in the root's frame, and the Jacobian of dual numbers that they make.

    K, K*    direction and moment of an axis: K^ = K + mu K*
    t', d'   rates of the turn about it and of the slide along it
The twist of a frame's body at the root's origin is w^ = sum (t' + mu d') K^: the real part is the angular velocity, the
dual part the velocity of the body point at the origin. As real numbers, 6 x 2n: columns (K*; K) of the turns, then (K;
0) of the slides. The joints that a tree really has choose among them: a revolute joint takes a column of the left half,
a prismatic one of the right half, a helical one both, a spherical one three on the left, a floating one all six.
Source: Mladenova (157)-(163), numbered as in spec E-77.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cayley.compiler.typing import Array
from cayley.geometry.pose import HERE, Pose
from cayley.kinematics.elementary import pairs_to
from cayley.model.joint_kinds import Motion
from cayley.model.tree import Tree
from cayley.showing import brief


class JointLines(NamedTuple):
    """Rows, one for each axis: K and K*, each (n, 3)."""

    directions: Array
    moments: Array

    def __repr__(self) -> str:
        return brief(self)


def joint_lines(tree: Tree, q: Array, frame: str) -> JointLines:
    """The axes on the way to a frame; a spherical or a floating joint has three, those of the body that it moves."""
    pose = HERE
    directions = []
    moments = []
    for link in pairs_to(tree, frame)[0]:
        pose = pose.then(link.placement).then(Pose(*link.motion.pose(q[link.coordinates])))
        for axis in _axes(link.motion):
            directions.append(pose.R @ axis)
            moments.append(np.cross(pose.p, directions[-1]))
    return JointLines(np.stack(directions), np.stack(moments)) if directions else JointLines(
        np.zeros((0, 3)), np.zeros((0, 3)))


def dual_jacobian(tree: Tree, q: Array, frame: str) -> Array:
    """The twist (v; w) of a frame's body at the root's origin, in the root's axes, by (t'; d'): (6, 2n).

    Mladenova (163).
    """
    K, moments = (rows.T for rows in joint_lines(tree, q, frame))
    return np.concatenate([np.concatenate([moments, K]), np.concatenate([K, np.zeros(K.shape)])], axis=1)


def active_columns(tree: Tree, frame: str) -> Array:
    """The constant matrix (2n, nv) from velocities to (t'; d'): `dual_jacobian @ active_columns` is the Jacobian at the
    root's origin.
    """
    links = pairs_to(tree, frame)[0]
    n = sum(len(_axes(link.motion)) for link in links)
    chosen = np.zeros((2 * n, tree.nv))
    axis = 0
    for link in links:
        count = len(_axes(link.motion))
        turning, sliding = _shares(link.motion)
        chosen[axis:axis + count, link.columns] = turning
        chosen[n + axis:n + axis + count, link.columns] = sliding
        axis += count
    return chosen


def _axes(motion: Motion) -> Array:
    return np.eye(3) if motion.screw is None else np.array([motion.screw.axis])


def _shares(motion: Motion) -> tuple[Any, Any]:
    """What a joint's velocities give to the turns about its axes and to the slides along them."""
    if motion.screw is None:
        directions = np.asarray(motion.subspace(motion.neutral))
        return directions[3:], directions[:3]
    return motion.screw.turn, motion.screw.slide
