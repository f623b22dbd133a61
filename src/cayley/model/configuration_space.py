"""The configurations of a tree as a manifold, joint by joint, whatever the group of each joint is; tangents are the
velocities of its joints.

Texts for one configuration, of any scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.parts import Joint
from cayley.model.tree import Tree


def configuration_rate(tree: Tree, q: Array, qd: Array) -> Array:
    """dq/dt (nq) at the velocity qd (nv)."""
    return _joined(tree, lambda joint, a, b: joint.motion.rate(q[a], qd[b]))


def configuration_step(tree: Tree, q: Array, qd: Array) -> Array:
    """Configuration (nq) that the constant velocity qd (nv) reaches from q in unit time."""
    return _joined(tree, lambda joint, a, b: joint.motion.step(q[a], qd[b]))


def configuration_difference(tree: Tree, start: Array, end: Array) -> Array:
    """The constant velocity (nv) that leads from one configuration to another in unit time."""
    return _joined(tree, lambda joint, a, b: joint.motion.difference(start[a], end[a]))


def moving_joints(tree: Tree) -> Iterator[tuple[Joint, slice, slice]]:
    """The joints with coordinates, and where these and their velocities are."""
    for joint, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.nq:
            yield joint, a, b


def _joined(tree: Tree, of_joint: Callable[[Joint, slice, slice], Array]) -> Array:
    return np.concatenate([of_joint(*place) for place in moving_joints(tree)] or [np.zeros(0)])
