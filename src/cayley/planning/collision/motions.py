"""Collisions on the way from one configuration to another: along a straight line of coordinates.

A line is cut into parts on which no sphere moves farther than a step from where it is in the middle. There it is looked
at with that much more around it, and twice as much between links, which may both move: nothing between is missed.

    |dp| <= sum of |dq_j| (v_j + w_j l_j)      v_j, w_j: velocity and turning of joint j by a unit rate
    l_j: the lengths of all placements and travels beyond joint j, and what a sphere is away from its link's origin"""

from __future__ import annotations

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnsupportedError
from cayley.model.tree import Tree
from cayley.planning.collision.checking import configurations_of, touches
from cayley.planning.collision.scene import Scene
from cayley.planning.collision.sphere_model import CollisionModel

_AT_ONCE = 1 << 17
"""Configurations that are looked at in one call."""


def collides_between(tree: Tree, model: CollisionModel, start: ArrayLike, end: ArrayLike, scene: Scene, *,
                     margin: float = 0.0, step: float = 0.01) -> Array:
    """True (...) where a robot touches an obstacle or itself somewhere on the straight way from configurations `start`
    to `end` (..., nq). No sphere moves farther than `step` [m] from where it is looked at: a smaller one takes longer,
    and calls fewer free motions collisions."""
    first, last = np.broadcast_arrays(configurations_of(tree, start), configurations_of(tree, end))
    if not (np.isfinite(step) and step > 0.0):
        raise SignatureError(f"the step is a positive distance, not {step}")
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        raise SignatureError("the ends of a motion are finite configurations")
    a, b = first.reshape(-1, tree.nq), last.reshape(-1, tree.nq)
    counts = np.maximum(np.ceil(farthest(tree, model, a, b) / (2 * step)), 1).astype(int)
    found = np.zeros(len(a), dtype=bool)
    for some in _blocks(counts):
        number = np.repeat(some, counts[some])
        starts = np.cumsum(counts[some]) - counts[some]
        place = (np.arange(len(number)) - np.repeat(starts, counts[some]) + 0.5) / counts[number]
        q = a[number] + place[:, None] * (b - a)[number]
        found[some] = np.logical_or.reduceat(touches(tree, model, q, scene, margin, step), starts)
    return found.reshape(first.shape[:-1])[()]


def farthest(tree: Tree, model: CollisionModel, start: Array, end: Array) -> Array:
    """A distance (...) [m] that no center of a sphere moves more than on the straight way between configurations."""
    if tree.is_constrained or any(joint.motion.nq != joint.motion.nv or not joint.motion.constant_subspace
                                  for joint in tree.joints):
        raise UnsupportedError(f"motions of {tree.name} between configurations are not checked: it has loops, or "
                               "joints that are neither revolute nor prismatic: check many configurations instead")
    rates = [joint.motion.subspace(np.zeros(joint.motion.nq)) for joint in tree.joints]
    most = np.maximum(np.abs(start), np.abs(end)).reshape(-1, tree.nq).max(axis=0, initial=0.0)
    travels = [float(np.linalg.norm(S[:3], axis=0) @ most[part])
               for S, part in zip(rates, tree.q_slices, strict=True)]
    reach = np.zeros(len(tree.bodies))
    for link in model.links:
        reach[tree.body_number(link.body)] = np.linalg.norm(link.spheres[:, :3], axis=1).max()
    for k in reversed(range(len(tree.joints))):
        length = float(np.linalg.norm(tree.joints[k].placement[:3, 3])) + travels[k]
        reach[tree.parents[k]] = max(reach[tree.parents[k]], length + reach[k + 1])
    levers = [beyond + own for beyond, own in zip(reach[1:], travels, strict=True)]
    weights = np.concatenate([np.linalg.norm(S[:3], axis=0) + np.linalg.norm(S[3:], axis=0) * lever
                              for S, lever in zip(rates, levers, strict=True)])
    return np.abs(end - start) @ weights


def _blocks(counts: Array) -> list[Array]:
    """The numbers of motions in parts that have not many configurations together."""
    ends = np.cumsum(counts)
    return [part for part in np.split(np.arange(len(counts)), np.flatnonzero(np.diff(ends // _AT_ONCE)) + 1)
            if len(part)]
