"""The chassis of what rolls: the body that carries the wheels, as a plate between them. No graphics here."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from cayley.compiler.typing import Array
from cayley.kinematics.forward import body_poses
from cayley.model.tree import Tree

_EDGE = 0.6  # of the largest radius: how far a plate goes beyond the axles,
_BELOW = 0.2  # and how far below them it is


def chassis_plates(tree: Tree) -> dict[int, Array]:
    """The outlines (k, 3), open, of the bodies that carry wheels, in their own frames, by their numbers.

    A plate is across the axis that points up, a little below the body's origin. It spans the places of the body's
    joints, and goes a part of a wheel's radius farther to the front and back; to the sides, too, where all is in line.
    """
    up: dict[int, tuple[Array, float]] = {}
    poses = body_poses(tree, tree.neutral)
    for constraint in tree.constraints:
        if constraint.rim is None:
            continue
        ground, wheel = (tree.frame(name) for name in constraint.frames)
        number = tree.body_number(wheel.body)
        carrier = _carrier(tree, number)
        if carrier is None or tree.body_number(ground.body) == carrier:
            continue
        radius = float(np.linalg.norm(constraint.rim, axis=1).max())
        normal = poses[carrier].R.T @ poses[tree.body_number(ground.body)].R @ ground.pose[:3, 2]
        known = up.get(carrier)
        up[carrier] = (normal, max(radius, known[1] if known else 0.0))
    return {body: _plate(tree, body, normal, radius) for body, (normal, radius) in up.items()}


def _carrier(tree: Tree, body: int) -> int | None:
    """The body, before a wheel, that slides or floats over the ground; none for a wheel that does so itself."""
    joints = [tree.joints[number] for number in tree.path(body)]
    moving = [joint for joint in joints if joint.motion.nv]
    if len(moving) < 2 or moving[0].motion.nv < 3:
        return None
    return tree.body_number(moving[0].child)


def _plate(tree: Tree, body: int, normal: Array, radius: float) -> Array:
    places = [joint.placement[:3, 3] for joint, parent in zip(tree.joints, tree.parents, strict=True)
              if parent == body and joint.motion.nv]
    frames = [frame.pose[:3, 3] for constraint in tree.constraints for name in constraint.frames
              if (frame := tree.frame(name)).body == tree.bodies[body].name]
    ahead, aside = _directions(tree, body, normal)
    flat = np.array([np.zeros(3), *places, *frames]) @ np.stack([ahead, aside], axis=1)
    edge = _EDGE * radius
    wide = edge if np.ptp(flat[:, 1]) < 2 * edge else 0.0
    corners = np.concatenate([flat + np.array([edge * a, wide * b]) for a in (-1, 1) for b in (-1, 1)])
    return corners[ConvexHull(corners).vertices] @ np.stack([ahead, aside]) - _BELOW * radius * normal


def _directions(tree: Tree, body: int, normal: Array) -> tuple[Array, Array]:
    """Ahead and aside on a body, by the axle of the first wheel that it carries itself; any where none does."""
    for constraint in tree.constraints:
        if constraint.rim is not None:
            joint = tree.joints[tree.body_number(tree.frame(constraint.frames[1]).body) - 1]
            if joint.parent == tree.bodies[body].name and joint.motion.screw is not None:
                aside = joint.placement[:3, :3] @ np.asarray(joint.motion.screw.axis)
                aside = aside - (aside @ normal) * normal
                if np.linalg.norm(aside) > 0.5:
                    aside = aside / np.linalg.norm(aside)
                    return np.cross(aside, normal), aside
    aside = np.linalg.svd(normal[None])[2][1]
    return np.cross(aside, normal), aside
