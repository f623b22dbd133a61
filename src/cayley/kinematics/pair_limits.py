"""Joint limits as sets: Q of the configurations, and Q_ct of the pairs (c, t) of a chain in vector-parameters.

A turn between limits short of half-turns has a c between two finite vectors; a turn that may pass a half-turn has an
unbounded one. Source: Mladenova (1), (109), (256); spec R-25.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.kinematics.elementary import pairs_to
from cayley.kinematics.jacobians.vector_parameter_chain import JointPairs
from cayley.model.joint_kinds import Motion, Screw
from cayley.model.joint_kinds.motion import Z
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class PairLimits:
    """The set Q_ct: bounds of c and t, component by component, each (n, 3). Mladenova (109), (256)."""

    lower: JointPairs
    upper: JointPairs

    def contain(self, pairs: JointPairs) -> Array:
        """Whether pairs (..., n, 3) are in the set, (...)."""
        inside = [(low <= x) & (x <= high) for low, x, high in zip(self.lower, pairs, self.upper, strict=True)]
        return np.all(inside[0] & inside[1], axis=(-2, -1))


def pair_limits(tree: Tree, frame: str) -> PairLimits:
    """The limits of the joints on the way to a frame as limits of their pairs: infinite where a turn may pass a
    half-turn or has none.
    """
    bounds = [
        _pair_bounds(link.motion, tree.lower[link.coordinates], tree.upper[link.coordinates])
        for link in pairs_to(tree, frame)[0]]
    low, high = (np.array([b[side] for b in bounds]) for side in (0, 1))
    return PairLimits(JointPairs(low[:, 0], low[:, 1]), JointPairs(high[:, 0], high[:, 1]))


def within_limits(tree: Tree, q: ArrayLike) -> Array:
    """Whether configurations (..., nq) are in the set Q of the joint limits, (...). Mladenova (1)."""
    return np.all((tree.lower <= np.asarray(q)) & (np.asarray(q) <= tree.upper), axis=-1)


def _pair_bounds(motion: Motion, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The smallest and the largest (c, t), each (2, 3)."""
    none = np.zeros((2, 3))
    attitude = motion.attitude
    if attitude is not None:
        low, high = none if attitude.position is None else (lower[attitude.position], upper[attitude.position])
        return np.array([np.full(3, -np.inf), low]), np.array([np.full(3, np.inf), high])
    free = lower[0] <= -np.pi or upper[0] >= np.pi
    ends = np.array([[-np.inf], [np.inf]]) if free else np.tan(np.array([lower, upper]) / 2)
    axis, turn, slide = motion.screw or Screw(Z, 0.0, 0.0)
    c = _along(np.asarray(axis), ends) if turn else none
    t = _along(np.asarray(axis) * slide, np.array([lower, upper])) if slide else none
    return np.array([c.min(axis=0), t.min(axis=0)]), np.array([c.max(axis=0), t.max(axis=0)])


def _along(axis: Array, ends: Array) -> Array:
    """Both ends times the axis; zero times infinity is zero."""
    return np.where(axis == 0, 0.0, np.where(axis == 0, 1.0, axis) * ends)
