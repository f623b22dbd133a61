"""A motion that shows what the joints of a mechanism do, where nothing is known of its masses: one joint after the
other goes some way to both sides and back, within its limits."""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.skeleton import resting
from cayley.model.tree import Tree

_SECONDS = 1.6  # for each joint
_FRAMES = 40
_TURN = 0.9  # rad
_SLIDE = 0.25  # m


def demonstration(tree: Tree) -> tuple[Array, Array] | None:
    """Times and configurations of a mechanism without loops, or None where no joint has one coordinate."""
    rest = resting(tree)
    moving = [] if tree.is_constrained else [number for number, joint in enumerate(tree.joints)
                                             if joint.motion.nq == joint.motion.nv == 1]
    if not moving:
        return None
    phase = np.linspace(0.0, 2.0 * np.pi, _FRAMES, endpoint=False)
    parts = []
    for number in moving:
        place = tree.q_slices[number].start
        size = _TURN if tree.joints[number].motion.coordinate_units[0] == "rad" else _SLIDE
        up = min(size, float(tree.upper[place] - rest[place]))
        down = min(size, float(rest[place] - tree.lower[place]))
        part = np.tile(rest, (_FRAMES, 1))
        part[:, place] += np.where(np.sin(phase) > 0, up, down) * np.sin(phase)
        parts.append(part)
    q = np.concatenate([*parts, rest[None]])
    return np.linspace(0.0, _SECONDS * len(moving), len(q)), q
