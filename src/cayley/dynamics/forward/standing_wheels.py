"""A cart on a planar base as one that stands on its wheels: what carries it, and with what force.

A planar joint keeps a cart upright by itself, so that its wheels carry nothing. The same cart with a base that floats
and with wheels that hold the height of their centres has the same motion, if three wheels or more are not in line; and
its contacts have the forces with which the ground pushes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from cayley.compiler.made_once import kept
from cayley.compiler.typing import Array
from cayley.errors import ModelError, UnsupportedError
from cayley.kinematics.constraints.rows import residual
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.model.constraint_kinds import Constraint, Wheel
from cayley.model.constraint_kinds.rolling import seen_from
from cayley.model.constraints import constraints_of
from cayley.model.joint_kinds import Floating, Planar
from cayley.model.joint_kinds.held import FrameMotion, Row
from cayley.model.parts import Limits
from cayley.model.tree import Tree

_AT_HEIGHT = 1e-9  # m


@dataclass(frozen=True)
class StandingWheel(Constraint):
    """A wheel that also keeps its centre at the height of its radius, and so carries what is above it."""

    rolls: Wheel = field(default=None)  # type: ignore[assignment]  # which is always given
    word = "standing wheel"
    presses = True

    @property
    def frames(self) -> tuple[str, ...]:
        return self.rolls.frames

    @property
    def row_names(self) -> tuple[str, ...]:
        return "contact", *self.rolls.row_names

    @property
    def positions(self) -> int:
        return 1

    def rows(self, frames: Sequence[FrameMotion], coordinates: Sequence[Row]) -> list[Row]:
        wheel = seen_from(*frames)
        at = self.rolls.contact(wheel)
        height = Row(wheel.p[2] - self.rolls.radius * at.upright, at.v[2], at.dv[2])
        return [height, *self.rolls.rows(frames, coordinates)]

    @property
    def sentence(self) -> str:
        return self.rolls.sentence


@dataclass(frozen=True, eq=False)
class StandingMechanism:
    """The mechanism that stands, and the state of it that a state of the other one is: the text."""

    tree: Tree
    planar: Tree
    bases: tuple[int, ...]

    def state(self, q: Array, qd: Array, tau: Array) -> tuple[Array, Array, Array]:
        """Configuration, velocities and joint forces."""
        parts: list[list[Array]] = [[], [], []]
        for number, joint in enumerate(self.planar.joints):
            own = [q[self.planar.q_slices[number]], qd[self.planar.v_slices[number]],
                   tau[self.planar.v_slices[number]]]
            if number in self.bases and isinstance(joint.motion, Planar):
                own = _floating(joint.motion, *own)
            for found, part in zip(parts, own, strict=True):
                found.append(part)
        q, qd, tau = (np.concatenate(found) for found in parts)
        return q, qd, tau


def _floating(base: Planar, q: Array, qd: Array, tau: Array) -> list[Array]:
    """The state of a floating joint that is at that of a planar one."""
    R, p = base.pose(q)
    axis = np.asarray(base.axis)
    half = q[2] / 2
    turn = np.concatenate([np.stack([np.cos(half)]), axis * np.sin(half)])
    both = [np.concatenate([R.T @ (base.plane.T @ each[:2]), axis * each[2]]) for each in (qd, tau)]
    return [np.concatenate([p, turn]), *both]


def standing(tree: Tree) -> StandingMechanism:
    """The mechanism on its wheels; found once. `UnsupportedError` where they do not carry it alone."""
    return kept(tree, "standing on its wheels", lambda: _standing(tree))


def _standing(tree: Tree) -> StandingMechanism:
    bases = []
    pressed = []
    for each in tree.constraints:
        base = _base(tree, each) if isinstance(each, Wheel) and not each.presses else None
        if base is not None:
            bases.append(base)
        pressed.append(StandingWheel(each.name, each) if base is not None and isinstance(each, Wheel) else each)
    if not bases:
        return StandingMechanism(tree, tree, ())
    joints = [replace(joint, motion=Floating(), limits=Limits()) if number in bases else joint
              for number, joint in enumerate(tree.joints)]
    free = replace(tree, joints=tuple(joints), constraints=())
    made = StandingMechanism(free.with_constraints(tree.loops, pressed), tree, tuple(dict.fromkeys(bases)))
    _check_heights(made)
    if constraint_structure(made.tree).mobility != constraint_structure(tree).mobility:
        raise UnsupportedError(
            f"the wheels of {tree.name} do not carry it alone, as three that are not in line would: what else keeps it "
            "upright takes part of the load, and how much is not known")
    return made


def _base(tree: Tree, wheel: Wheel) -> int | None:
    """The planar joint, with its axis along the ground's, by which a wheel gets about on the ground."""
    ground, rim = (tree.frame(name) for name in wheel.frames)
    moving = [number for number in tree.path(tree.body_number(rim.body)) if tree.joints[number].motion.nv]
    if not moving or tree.body_number(ground.body) != 0:
        return None
    joint = tree.joints[moving[0]]
    if not isinstance(joint.motion, Planar):
        return None
    up = joint.placement[:3, :3] @ np.asarray(joint.motion.axis)
    return moving[0] if np.abs(up - ground.pose[:3, 2]).max() < _AT_HEIGHT else None


def _check_heights(made: StandingMechanism) -> None:
    q = made.state(made.planar.neutral, np.zeros(made.planar.nv), np.zeros(made.planar.nv))[0]
    left = np.asarray(residual(made.tree, np.asarray(q, dtype=float), 0.0 if made.tree.is_timed else None), dtype=float)
    rows = [(each, k) for each in constraints_of(made.tree) for k in range(len(each.row_names))]
    for (each, k), off in zip(rows, left, strict=True):
        if isinstance(each, StandingWheel) and k == 0 and abs(off) > _AT_HEIGHT:
            raise ModelError(f"the centre of {each.name!r} of {made.planar.name} is {each.rolls.radius + off:.6g} m "
                             f"above the ground, and its radius {each.rolls.radius:g} m: it does not touch the ground")
