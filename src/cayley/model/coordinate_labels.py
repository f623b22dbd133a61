"""What the columns of q, qd and tau are called, and in which units they are."""

from __future__ import annotations

from collections.abc import Sequence

from cayley.model.joint_kinds import Floating, Motion, Planar, Prismatic, Spherical, Universal
from cayley.model.tree import Tree

_COORDINATES: dict[type[Motion], Sequence[tuple[str, str]]] = {
    Universal: [("first", "rad"), ("second", "rad")],
    Planar: [("x", "m"), ("y", "m"), ("angle", "rad")],
    Spherical: [("qw", ""), ("qx", ""), ("qy", ""), ("qz", "")],
    Floating: [("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", "")],
}
_VELOCITIES: dict[type[Motion], Sequence[tuple[str, str]]] = {
    Spherical: [("wx", "rad"), ("wy", "rad"), ("wz", "rad")],
    Floating: [("vx", "m"), ("vy", "m"), ("vz", "m"), ("wx", "rad"), ("wy", "rad"), ("wz", "rad")],
}


def coordinate_labels(tree: Tree) -> list[tuple[str, str]]:
    """Name and unit of each coordinate.

    >>> from cayley.model.catalogue import load_robot
    >>> coordinate_labels(load_robot("scara"))[2]
    ('joint3', 'm')
    """
    return [label for joint in tree.joints for label in _of_joint(joint.name, joint.motion, _COORDINATES, joint.motion.nq)]


def velocity_labels(tree: Tree) -> list[tuple[str, str]]:
    """Name of each velocity, and the unit of what it is the rate of: rad (its force is N m) or m (N)."""
    both = {**_COORDINATES, **_VELOCITIES}
    return [label for joint in tree.joints for label in _of_joint(joint.name, joint.motion, both, joint.motion.nv)]


def _of_joint(name: str, motion: Motion, table: dict[type[Motion], Sequence[tuple[str, str]]], size: int) -> list[tuple[str, str]]:
    if type(motion) in table:
        return [(f"{name}.{part}", unit) for part, unit in table[type(motion)]]
    return [(name, "m" if isinstance(motion, Prismatic) else "rad")] * size
