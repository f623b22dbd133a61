"""The configurations of a tree as a manifold, joint by joint, whatever the group of each joint is; tangents are the
velocities of its joints.

Texts for one configuration, of any scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cayley.compiler.typing import Array, Scalar
from cayley.model.parts import Joint
from cayley.model.tree import Tree


def configuration_rate(tree: Tree, q: Array, qd: Array) -> Array:
    """dq/dt (nq) at the velocity qd (nv)."""
    return _joined(tree, lambda joint, a, b: joint.motion.rate(q[a], qd[b]))


def configuration_step(tree: Tree, q: Array, qd: Array) -> Array:
    """Configuration (nq) that the constant velocity qd (nv) reaches from q in unit time."""
    return _joined(tree, lambda joint, a, b: joint.motion.step(q[a], qd[b]))


def straight_step(tree: Tree, q: Array, qd: Array, h: Scalar) -> tuple[Array, Array]:
    """Configuration (nq) after a time `h` with a velocity (nv) that does not turn, and that velocity in the axes there.
    """
    found = [joint.motion.straight(q[a], qd[b], h) for joint, a, b in moving_joints(tree)]
    ends, velocities = zip(*found, strict=True) if found else ((), ())
    return np.concatenate(ends or [np.zeros(0)]), np.concatenate(velocities or [np.zeros(0)])


def velocity_turning(tree: Tree, qd: Array) -> Array:
    """The acceleration (nv) that velocities show because their axes turn with them, with the opposite sign."""
    return _joined(tree, lambda joint, a, b: joint.motion.turning(qd[b]) @ qd[b])


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
