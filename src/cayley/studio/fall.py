"""Motion of a mechanism with its motors off: it falls from rest and swings without friction, so its energy stays
constant.

Joints bounce from their limits, and lose nothing. A base that floats is held. Where gravity moves nothing, a push
starts the motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.typing import Array
from cayley.drawing.skeleton import resting
from cayley.errors import UnsupportedError
from cayley.kinematics.constraints.closed_states import consistent_velocity
from cayley.kinematics.forward import body_poses
from cayley.kinematics.loops.closing import close
from cayley.mechanism import Mechanism
from cayley.model.constraints import constraints_of, tied_joints
from cayley.model.joint_kinds import Motion
from cayley.model.parts import Joint, Limits
from cayley.model.tree import Tree
from cayley.simulation import Trajectory, simulate

_SECONDS = 8.0
_FRAMES_A_SECOND = 50
_SPEED = 3.0  # [m/s] of a throw
_SPIN = (1.0, 4.0, 2.0)  # [rad/s]
_LOADED = 0.3  # beside the largest torque of gravity that was found
_STILL = 1e-9  # accelerations beside that of free fall
_EVALUATIONS = 200_000
_EVENTS = 20_000


@dataclass(frozen=True)
class Fall:
    """The motion of the mechanism, some of its joints held, its configurations (n, nq), and how it started, in words.
    """

    tree: Tree
    trajectory: Trajectory
    configurations: Array
    start: str


def floating(tree: Tree) -> list[bool]:
    """Per joint, True if it floats freely and is no platform held by loops or rods."""
    tied = frozenset[int]().union(*[tied_joints(tree, each) for each in constraints_of(tree)])
    return [joint.motion.free and number not in tied for number, joint in enumerate(tree.joints)]


def held(tree: Tree, still: Sequence[bool]) -> Tree:
    """The mechanism with some of its joints fixed where they are at rest."""
    if not any(still):
        return tree
    rest = resting(tree)
    joints = [
        replace(joint, motion=Motion(), limits=Limits(), mimic=None, placement=_placed(joint, rest[place]))
        if fixed else joint for joint, place, fixed in zip(tree.joints, tree.q_slices, still, strict=True)]
    return replace(tree, joints=tuple(joints))


def fall(tree: Tree) -> Fall:
    """The motion from rest, at least from a pose in which gravity pulls."""
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
    words = ("It is thrown up, turning, and comes down to where it was." if weight else
             "Nothing pulls at it: it starts with a turn and keeps it.")
    found = _followed(tree, q, qd, seconds)
    return Fall(tree, found, found.q, words)


def _carried(tree: Tree, number: int, q: Array) -> tuple[Array, Array]:
    """The rotation of what a joint moves, and its centre of mass in its own axes."""
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
    """The motion of a mechanism with loops, mimic joints or wheels, from its closed configuration at rest; what floats
    is held, unless constraints hold it."""
    if tree.is_timed:
        raise UnsupportedError(f"motions of {tree.name} are prescribed, so that its motors are never off")
    still = floating(tree)
    part = held(tree, still)
    arm = Mechanism(part)
    q = _off_its_stops(part, resting(part))
    qd = np.zeros(arm.nv)
    words = "It starts at rest and closed, near the zero of its joints, or amid the range of those that are at a stop."
    if np.abs(arm.forward_dynamics(q, qd, qd)).max(initial=0.0) < _STILL * (1.0 + abs(arm.gravity).max()):
        qd = consistent_velocity(part, q, np.ones(arm.nv))
        words = "Gravity moves nothing here: it starts with a push, velocities near 1 rad/s or 1 m/s."
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
    """The rest, if gravity pulls there; otherwise where it pulls most, of some configurations; or a push.

    Turns count before slides.
    """
    rest = resting(arm.tree)
    others = np.concatenate([rest[None], arm.random_configuration((200,), seed=0)])
    forces = arm.gravity_forces(others)
    slides = np.concatenate([np.array(joint.motion.velocity_units) == "m" for joint in arm.joints])
    turns = np.linalg.norm(np.where(slides, 0.0, forces), axis=-1)
    pull = turns if turns.max() > 0 else np.linalg.norm(forces, axis=-1)
    if pull.max() < 1e-9 * (1.0 + abs(arm.gravity).max()):
        return rest, np.ones(
            arm.nv), "Gravity moves nothing here: it starts with a push, every velocity 1 rad/s or 1 m/s."
    if pull[0] >= _LOADED * pull.max():
        return rest, np.zeros(arm.nv), "It starts at rest, with every joint at its zero or in the middle of its range."
    words = f"It starts at rest, in the pose, of {len(others)} that were tried, in which gravity pulls most."
    return others[int(np.argmax(pull))], np.zeros(arm.nv), words


def _placed(joint: Joint, q: Array) -> Array:
    R, p = joint.motion.pose(q)
    pose = np.eye(4)
    pose[:3, :3] = R
    pose[:3, 3] = p
    return np.asarray(joint.placement) @ pose
