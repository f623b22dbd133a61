"""Test for mechanisms on whose joints gravity does no work."""

from __future__ import annotations

import numpy as np

from cayley.model.tree import Tree

IDLE = ("all axes are parallel to it, or slide across it. For an arm that moves in a vertical plane pass "
        "gravity=(0, -9.81, 0)")
_ALIGNED = 1e-9


def gravity_is_idle(tree: Tree) -> bool:
    """True if gravity does no work at any configuration of revolute and prismatic joints. Revolute axes that are
    parallel to gravity in one configuration then are in all.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = load_robot("planar2r")
    >>> gravity_is_idle(arm), gravity_is_idle(arm.with_gravity([0.0, 0.0, -9.81]))
    (False, True)
    """
    size = float(np.linalg.norm(tree.gravity))
    if not size or not tree.nv:
        return False
    down = tree.gravity / size
    turned = [np.eye(3)]
    for joint, parent in zip(tree.joints, tree.parents, strict=True):
        turned.append(turned[parent] @ np.asarray(joint.placement)[:3, :3])
        screw = joint.motion.screw
        if not joint.motion.nv:
            continue
        if screw is None or (screw.turn and screw.slide):
            return False
        axis = turned[-1] @ np.asarray(screw.axis)
        if np.linalg.norm(np.cross(axis, down) if screw.turn else axis @ down) > _ALIGNED:
            return False
    return True
