"""Random configurations within the limits of the joints: every joint on the way to a frame anywhere in its range,
alike.

A turn without limits is drawn from one turn, one with a single limit from the turn beside it; a ball joint from all
rotations, alike. A slide without an end is refused by name; the limits of a floating joint are those of its position,
its attitude is any. A joint that follows another does so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.skeleton import resting
from cayley.errors import ModelError, UnsupportedError
from cayley.model.configurations import quaternion_places, with_mimic_joints
from cayley.model.constraints import ties
from cayley.model.tree import Tree

JointLimits = Mapping[str, tuple[float, float]]


def joints_between(tree: Tree, frame: str, relative_to: str | None) -> list[int]:
    """The moving joints on which the pose of a frame in another (or in the root) depends, by number."""
    ways = [
        set(tree.path(tree.body_number(tree.frame(name).body))) for name in (frame, relative_to) if name is not None]
    between = ways[0] if relative_to is None else ways[0] ^ ways[1]
    moving = sorted(number for number in between if tree.joints[number].motion.nv)
    if not moving:
        raise ModelError(f"no joint of {tree.name} moves {frame!r}"
                         + (f" relative to {relative_to!r}" if relative_to else ""))
    return moving


def is_tied_between(tree: Tree, frame: str, relative_to: str | None) -> bool:
    """Whether constraints other than mimic joints tie joints between a frame and another (or the root)."""
    between = joints_between(tree, frame, relative_to)
    return any(not tie.joints.isdisjoint(between) for tie in ties(tree))


def ranges(tree: Tree, joints: Sequence[int], limits: JointLimits | None) -> tuple[Array, Array]:
    """Where the coordinates (nq) of the joints are drawn from; the others have an empty range at rest."""
    low = high = resting(tree)
    low = low.copy()
    high = high.copy()
    for name in limits or {}:
        tree.joint_number(name)
    for number in joints:
        joint = tree.joints[number]
        place = tree.q_slices[number]
        lower = np.array(joint.limits.lower)
        upper = np.array(joint.limits.upper)
        if limits and joint.name in limits:
            lower, upper = (np.full(joint.motion.nq, float(end)) for end in limits[joint.name])
        turns = np.array(joint.motion.wraps, dtype=bool)
        attitude = joint.motion.attitude
        if attitude is not None:
            if np.isfinite([*joint.limits.lower[attitude.q], *joint.limits.upper[attitude.q]]).any():
                raise UnsupportedError(
                    f"joint {joint.name!r} of {tree.name} is {joint.motion.word} and has limits: rotations within "
                    "limits of a quaternion are not drawn")
            kept = attitude.position or slice(0, 0)
            place = slice(place.start + kept.start, place.start + kept.stop)
            lower = lower[kept]
            upper = upper[kept]
            turns = turns[kept]
        lower[turns], upper[turns] = _one_turn(lower[turns], upper[turns])
        if not np.isfinite([*lower, *upper]).all():
            raise ModelError(
                f"joint {joint.name!r} of {tree.name} is {joint.motion.word} and has no end: its reach is infinite. "
                f"Give limits={{{joint.name!r}: (lower, upper)}}"
                + (", or the frame that it carries as relative_to" if joint.motion.nv > 1 else ""))
        if not (lower <= upper).all():
            raise ModelError(f"the limits of joint {joint.name!r} are crossed: lower {lower}, upper {upper}")
        low[place] = lower
        high[place] = upper
    return low, high


def random_configurations(tree: Tree, joints: Sequence[int], count: int, seed: int,
                          limits: JointLimits | None = None) -> Array:
    """Configurations (count, nq); joints not named are at rest."""
    drawn = leaders(tree, joints)
    low, high = ranges(tree, drawn, limits)
    rng = np.random.default_rng(seed)
    q = low + (high - low) * rng.random((count, tree.nq))
    for joint, place in quaternion_places(tree):
        if tree.joint_number(joint.name) in drawn:
            turn = rng.normal(size=(count, 4))
            q[:, place] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return with_mimic_joints(tree, q)


def leaders(tree: Tree, joints: Sequence[int]) -> list[int]:
    """The joints that follow none and on which the given ones depend."""
    return sorted({tree.mimic_joints[number].leader if number in tree.mimic_joints else number for number in joints})


def free_directions(tree: Tree, joints: Sequence[int], limits: JointLimits | None) -> Array:
    """The velocities (nv, k) with which the joints move within their limits, those that follow others with them."""
    drawn = leaders(tree, joints)
    low, high = ranges(tree, drawn, limits)
    columns = []
    for number in drawn:
        q = tree.q_slices[number]
        v = tree.v_slices[number]
        # by a quaternion: never held
        attitude = tree.joints[number].motion.attitude
        held = np.zeros(v.stop - v.start, dtype=bool)
        if attitude is None:
            held[:] = low[q] == high[q]
        elif attitude.position is not None:
            held[attitude.position] = (low[q] == high[q])[attitude.position]
        columns += [_followed_unit(tree, number, v.start + k) for k, fast in enumerate(held) if not fast]
    return np.stack(columns, axis=1) if columns else np.zeros((tree.nv, 0))


def _followed_unit(tree: Tree, leader: int, place: int) -> Array:
    """The velocity (nv) whose entry at a place of the leader is one, with what follows it."""
    unit = np.zeros(tree.nv)
    unit[place] = 1.0
    for number, follower in tree.mimic_joints.items():
        if follower.leader == leader:
            unit[tree.v_slices[number]] = follower.multiplier
    return unit


def _one_turn(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Finite ranges of angles."""
    free = np.isinf(lower) & np.isinf(upper)
    low = np.where(free, -np.pi, np.where(np.isinf(lower), upper - 2 * np.pi, lower))
    return low, np.where(free, np.pi, np.where(np.isinf(upper), low + 2 * np.pi, upper))
