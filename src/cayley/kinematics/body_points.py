"""Points fixed to a body, to its tool or to what it holds: where they are and how they move.

A point has its coordinates in a named frame; one of a grasped object has them in the frame of the tool (Yamamoto
(1.19), corrected as in spec E3-08). An object that is held somewhere else is a frame of its own: `tree.with_frame(name,
body, pose)`.
"""

from __future__ import annotations

from cayley.compiler.typing import Array
from cayley.kinematics.jacobians.analytic import relative_pose
from cayley.kinematics.jacobians.velocity import acceleration, twist
from cayley.model.tree import Tree


def point_position(tree: Tree, q: Array, point: Array, frame: str, *, relative_to: str) -> Array:
    """Where a point (3) of a frame is, seen from another frame or from the root ("world") [m]: R point + p."""
    pose = relative_pose(tree, q, frame, relative_to)
    return pose.R @ point + pose.p


def point_velocity(tree: Tree, q: Array, qd: Array, point: Array, frame: str, *, axes: str) -> Array:
    """The velocity (3) of a point of a frame relative to the root, in the named axes [m/s]."""
    return twist(tree, q, qd, frame, axes=axes, at=point)[:3]


def point_acceleration(tree: Tree, q: Array, qd: Array, qdd: Array, point: Array, frame: str, *, axes: str) -> Array:
    """The acceleration (3) of a point of a frame relative to the root, without gravity, in the named axes [m/s^2]."""
    return acceleration(tree, q, qd, qdd, frame, axes=axes, at=point)[:3]
