"""Motions that a report plays: a fall with the motors off, or a demonstration where masses are unknown.

In a fall the mechanism swings from rest without friction, so its energy stays constant. Joints bounce from their
limits without loss. A floating base is held. Where gravity causes no motion, an initial velocity starts it. In a
demonstration each joint in turn moves to both sides, within its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.skeleton import resting
from cayley.errors import UnsupportedError
from cayley.kinematics.constraints.closure_checks import consistent_velocity
from cayley.kinematics.forward import body_poses
from cayley.kinematics.loops.closing import close
from cayley.mechanism import Mechanism
from cayley.model.configurations import with_mimic_joints
from cayley.model.constraints import constraints_of, tied_joints
from cayley.model.joint_kinds import JointKind
from cayley.model.parts import Joint, Limits
from cayley.model.tree import Tree
from cayley.simulation import Trajectory, simulate
from cayley.studio.sliders import keeps_closed, sliders

_SECONDS = 8.0
_FRAMES_A_SECOND = 50
_SPEED = 3.0  # [m/s] of a throw
_SPIN = (1.0, 4.0, 2.0)  # [rad/s]
_LOADED = 0.3  # beside the largest torque of gravity that was found
_STILL = 1e-9  # accelerations beside that of free fall
_EVALUATIONS = 200_000
_EVENTS = 20_000
# of a demonstration
_EACH = 1.6  # [s] for each joint
_FRAMES = 40
_TURN = 0.9  # [rad]
_SLIDE = 0.25  # [m]
_WAY = 0.35  # of a range, or of a turn, to either side


@dataclass(frozen=True)
class Fall:
    """The motion of the mechanism, some of its joints held, its configurations (n, nq), and how it started."""

    tree: Tree
    trajectory: Trajectory
    configurations: Array
    start: str


def floating(tree: Tree) -> list[bool]:
    """Per joint, True if it floats freely and its body is not held by loops or rods."""
    tied = frozenset[int]().union(*[tied_joints(tree, each) for each in constraints_of(tree)])
    return [joint.motion.free and number not in tied for number, joint in enumerate(tree.joints)]


def held(tree: Tree, still: Sequence[bool]) -> Tree:
    """The mechanism with some of its joints fixed where they are at rest."""
    if not any(still):
        return tree
    rest = resting(tree)
    joints = [
        replace(joint, motion=JointKind(), limits=Limits(), mimic=None, placement=_placed(joint, rest[place]))
        if fixed else joint for joint, place, fixed in zip(tree.joints, tree.q_slices, still, strict=True)]
    return replace(tree, joints=tuple(joints))


def fall(tree: Tree) -> Fall:
    """Simulate the mechanism with its motors off, from rest in a configuration in which gravity acts."""
    if tree.is_constrained:
        return _closed_fall(tree)
    still = floating(tree)
    part = held(tree, still)
    if any(still) and not part.nv:
        return _throw(tree)
    q, qd, words = _start(Mechanism(part))
    found = _followed(part, q, qd)
    return Fall(part, found, whole_configurations(tree, still, found.q), words)


def _throw(tree: Tree) -> Fall:
    """Motion of floating bodies alone: thrown up, turning, until they are back where they started."""
    weight = float(np.linalg.norm(tree.gravity))
    up = -np.asarray(tree.gravity) / weight if weight else np.zeros(3)
    qd = np.zeros(tree.nv)
    q = resting(tree)
    for number, (joint, place) in enumerate(zip(tree.joints, tree.v_slices, strict=True)):
        if joint.motion.free:
            R, center = _carried(tree, number, q)
            qd[place] = [*R.T @ (_SPEED * up) - np.cross(_SPIN, center), *_SPIN]
    seconds = 2.0 * _SPEED / weight if weight else _SECONDS
    words = ("The body is thrown upwards with a spin and falls back to its start." if weight else
             "There is no gravity: the body starts with a spin and keeps it.")
    found = _followed(tree, q, qd, seconds)
    return Fall(tree, found, found.q, words)


def _carried(tree: Tree, number: int, q: Array) -> tuple[Array, Array]:
    """Rotation of the bodies that a joint carries, and their centre of mass in those axes."""
    poses = body_poses(tree, q)
    base = poses[number + 1].inverse
    parts = [(body.mass or 0.0, base.then(pose).matrix @ [*body.center, 1.0])
             for k, (body, pose) in enumerate(zip(tree.bodies, poses, strict=True)) if number in tree.path(k)]
    mass = sum(part for part, _ in parts)
    center = sum((part * place[:3] for part, place in parts), np.zeros(3))
    return np.asarray(poses[number + 1].R, dtype=float), center / mass if mass else center


def _followed(tree: Tree, q: Array, qd: Array, seconds: float = _SECONDS) -> Trajectory:
    times = np.linspace(0.0, seconds, round(seconds * _FRAMES_A_SECOND) + 1)
    return simulate(tree, q, qd, times=times, limits="elastic", rtol=1e-8, max_events=_EVENTS,
                    max_evaluations=_EVALUATIONS, progress=False)


def _closed_fall(tree: Tree) -> Fall:
    """Fall of a mechanism with loops, mimic joints or wheels, from its closed configuration at rest."""
    if tree.is_timed:
        raise UnsupportedError(f"motions of {tree.name} are prescribed, so it cannot fall freely")
    still = floating(tree)
    part = held(tree, still)
    arm = Mechanism(part)
    q = _off_its_stops(part, resting(part))
    qd = np.zeros(arm.nv)
    words = "The motion starts at rest, with the loops closed near zero, and joints that would be at a limit mid-range."
    if np.abs(arm.forward_dynamics(q, qd, qd)).max(initial=0.0) < _STILL * (1.0 + abs(arm.gravity).max()):
        qd = consistent_velocity(part, q, np.ones(arm.nv))
        words = "The start is an equilibrium, so the motion begins with velocities near 1 rad/s or 1 m/s."
    found = _followed(part, q, qd)
    return Fall(part, found, whole_configurations(tree, still, found.q), words)


def _off_its_stops(tree: Tree, q: Array) -> Array:
    """The configuration with actuated joints that are at a stop in the middle of their ranges."""
    stopped = {}
    for name in tree.actuated_joints:
        at = tree.q_slices[tree.joint_number(name)]
        ends = np.array([*tree.lower[at], *tree.upper[at]])
        if len(ends) == 2 and np.isfinite(ends).all() and not ends[0] < q[at.start] < ends[1]:
            stopped[name] = float(ends.mean())
    closed = close(tree, q, fixed=stopped) if stopped else None
    return q if closed is None or closed.status != "closed" else closed.configuration


def whole_configurations(tree: Tree, still: Sequence[bool], q: Array) -> Array:
    """Configurations (n, nq) of the mechanism from those of the one with held joints."""
    found = np.tile(resting(tree), (len(q), 1))
    moving = [np.r_[place] for place, fixed in zip(tree.q_slices, still, strict=True) if not fixed]
    found[:, np.concatenate(moving or [np.zeros(0)]).astype(int)] = q
    return found


def _start(arm: Mechanism) -> tuple[Array, Array, str]:
    """Initial state in words and numbers: at rest where gravity acts, or with a velocity where it never does."""
    rest = resting(arm.tree)
    others = np.concatenate([rest[None], arm.random_configuration((200,), seed=0)])
    forces = arm.gravity_forces(others)
    slides = np.concatenate([np.array(joint.motion.velocity_units) == "m" for joint in arm.joints])
    turns = np.linalg.norm(np.where(slides, 0.0, forces), axis=-1)
    pull = turns if turns.max() > 0 else np.linalg.norm(forces, axis=-1)
    if pull.max() < 1e-9 * (1.0 + abs(arm.gravity).max()):
        return rest, np.ones(
            arm.nv), "Gravity acts on no joint, so every joint starts with 1 rad/s or 1 m/s."
    if pull[0] >= _LOADED * pull.max():
        return rest, np.zeros(arm.nv), "The motion starts at rest, with every joint at zero or mid-range."
    words = f"The motion starts at rest, in the configuration with the largest gravity torques of {len(others)} tried."
    return others[int(np.argmax(pull))], np.zeros(arm.nv), words


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
