"""Motions that a report plays: from the ready pose to another and back, or a demonstration where masses are unknown.

A floating base and joints that turn about all axes are held. In a demonstration each joint in turn moves to both sides,
within its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.law_trial import ordinary_step
from cayley.drawing.skeleton import resting
from cayley.errors import UnsupportedError
from cayley.mechanism import Mechanism
from cayley.model.configurations import with_mimic_joints
from cayley.model.constraints import constraints_of, tied_joints
from cayley.model.coordinate_labels import coordinate_labels, velocity_labels
from cayley.model.joint_kinds import JointKind
from cayley.model.parts import Joint, Limits
from cayley.model.tree import Tree
from cayley.planning import driven_motion, point_to_point
from cayley.planning.driven import coordinates, driving_tree
from cayley.planning.motion import Motion
from cayley.planning.sequence import in_sequence
from cayley.studio.sliders import keeps_closed, sliders

_SECONDS = 2.0  # of the way there, and of the way back
_FRAMES_A_SECOND = 50
_FARTHEST = {"rad": 0.7, "m": 0.15}
_ROOM = 0.8  # of the way to a limit
# of a demonstration
_EACH = 1.6  # [s] for each joint
_FRAMES = 40
_TURN = 0.9  # [rad]
_SLIDE = 0.25  # [m]
_WAY = 0.35  # of a range, or of a turn, to either side


@dataclass(frozen=True)
class OpeningMotion:
    """Configurations (n, nq) of a mechanism at the times `t` (n), and the forces (n, k) of its drives, by their names
    and units."""

    t: Array
    configurations: Array
    tau: Array
    drives: tuple[tuple[str, str], ...]


def opening_motion(tree: Tree) -> OpeningMotion:
    """Motion from the ready pose to another and back, each from rest to rest, with the forces of the drives, those that
    hold the weight among them."""
    still = held_joints(tree)
    part = held(tree, still)
    if not part.nv or part.is_timed:
        raise UnsupportedError(f"{tree.name} has no joint that a drive moves by itself")
    rest = resting(part)
    if part.is_constrained:
        arm = Mechanism(driving_tree(part))
        at = list(coordinates(arm.tree))
        goal = ordinary_step(part, rest) if keeps_closed(part) else _farther(part, rest)
        move = driven_motion(arm, _there_and_back(rest[at], goal[at]), rest)
    else:
        arm = Mechanism(part)
        move = _there_and_back(rest, _farther(part, rest))
    t = np.linspace(0.0, move.duration, round(move.duration * _FRAMES_A_SECOND) + 1)
    states = move(t)
    drives = list(arm.tree.actuated_velocities)
    labels = velocity_labels(part)
    tau = np.asarray(arm.inverse_dynamics(*states))[:, drives]
    return OpeningMotion(t, whole_configurations(tree, still, states[0]), tau, tuple(labels[k] for k in drives))


def _there_and_back(start: Array, end: Array) -> Motion:
    there = point_to_point(start, end, duration=_SECONDS)
    return in_sequence([there, point_to_point(end, start, duration=_SECONDS)])


def _farther(tree: Tree, rest: Array) -> Array:
    """Each joint on the side where it has more room, not as far as its limit."""
    step = np.array([_FARTHEST[unit] for _, unit in coordinate_labels(tree)])
    up = np.minimum(step, _ROOM * (tree.upper - rest))
    down = np.minimum(step, _ROOM * (rest - tree.lower))
    return rest + np.where(up >= down, np.maximum(up, 0.0), -down)


def held_joints(tree: Tree) -> list[bool]:
    """Per joint, True if no single drive moves it: it floats, or turns about all axes, and no loop holds its body."""
    return [free or (joint.motion.nq != joint.motion.nv and number not in _tied(tree))
            for number, (joint, free) in enumerate(zip(tree.joints, floating(tree), strict=True))]


def floating(tree: Tree) -> list[bool]:
    """Per joint, True if it floats freely and its body is not held by loops or rods."""
    return [joint.motion.free and number not in _tied(tree) for number, joint in enumerate(tree.joints)]


def _tied(tree: Tree) -> frozenset[int]:
    return frozenset[int]().union(*[tied_joints(tree, each) for each in constraints_of(tree)])


def held(tree: Tree, still: Sequence[bool]) -> Tree:
    """The mechanism with some of its joints fixed where they are at rest."""
    if not any(still):
        return tree
    rest = resting(tree)
    joints = [
        replace(joint, motion=JointKind(), limits=Limits(), mimic=None, placement=_placed(joint, rest[place]))
        if fixed else joint for joint, place, fixed in zip(tree.joints, tree.q_slices, still, strict=True)]
    return replace(tree, joints=tuple(joints))


def whole_configurations(tree: Tree, still: Sequence[bool], q: Array) -> Array:
    """Configurations (n, nq) of the mechanism from those of the one with held joints."""
    found = np.tile(resting(tree), (len(q), 1))
    moving = [np.r_[place] for place, fixed in zip(tree.q_slices, still, strict=True) if not fixed]
    found[:, np.concatenate(moving or [np.zeros(0)]).astype(int)] = q
    return found


def _placed(joint: Joint, q: Array) -> Array:
    R, p = joint.motion.pose(q)
    pose = np.eye(4)
    pose[:3, :3] = R
    pose[:3, 3] = p
    return np.asarray(joint.placement) @ pose


def demonstration(arm: Mechanism, rest: Array | None = None) -> tuple[Array, Array]:
    """Times (k) and configurations (k, nq) of a demonstration, which come back to where they begin: each joint in turn
    to both sides, within its limits, and of a mechanism with loops as far as it goes."""
    tree = arm.tree
    rest = resting(tree) if rest is None else rest
    moving = [k for k, joint in enumerate(tree.joints) if joint.motion.nq == joint.motion.nv == 1 and not joint.mimic]
    if keeps_closed(tree):
        q = _inputs_to_and_fro(arm, rest)
        return np.linspace(0.0, _EACH * len(q) / _FRAMES, len(q)), q
    phase = np.linspace(0.0, 2.0 * np.pi, _FRAMES, endpoint=False)
    parts = [rest[None]]
    for number in moving:
        place = tree.q_slices[number].start
        size = _TURN if tree.joints[number].motion.coordinate_units[0] == "rad" else _SLIDE
        up = min(size, float(tree.upper[place] - rest[place]))
        down = min(size, float(rest[place] - tree.lower[place]))
        part = np.tile(rest, (_FRAMES, 1))
        part[:, place] += np.where(np.sin(phase) > 0, up, down) * np.sin(phase)
        parts.append(part)
    q = with_mimic_joints(tree, np.concatenate([*parts, rest[None]]))
    return np.linspace(0.0, _EACH * max(len(moving), 1), len(q)), q


def _inputs_to_and_fro(arm: Mechanism, rest: Array) -> Array:
    """Every slider's joint in turn to one side and to the other, as far as the machine goes."""
    names = {slider["place"]: joint.name for slider in sliders(arm.tree, rest)
             for joint, place in zip(arm.joints, arm.tree.q_slices, strict=True) if place.start == slider["place"]}
    found = [rest]
    for slider in sliders(arm.tree, rest):
        span = _WAY * min(slider["upper"] - slider["lower"], 2.0 if slider["turns"] else np.inf)
        for side in (span, -span):
            samples = slider["value"] + side * np.sin(np.linspace(0.0, np.pi / 2, _FRAMES // 2))
            inputs = {name: np.full(len(samples), rest[place]) for place, name in names.items()}
            inputs[names[slider["place"]]] = samples
            path = arm.loops.follow_inputs(inputs, start=rest)
            there = path.configuration[np.isfinite(path.configuration).all(axis=1)]
            found += [*there, *there[::-1]]
    return np.stack([*found, rest])
