"""Screw axes (product of exponentials): a chain as the unit twists of its joints at zero, and the home pose of its tip.

pose(q) = exp(S_1 q_1) ... exp(S_n q_n) home. The twists are spatial, (linear; angular) in the root's frame: a turn
about the line through p along e is (p x e; e), with pitch h (p x e + h e; e), a slide is (e; 0). Texts that write
(angular; linear) have the halves exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError
from cayley.geometry.pose import Pose
from cayley.model.chains import chain_to
from cayley.model.joint_kinds import Helical, JointKind, Prismatic, Revolute
from cayley.model.parts import Body, Frame, Joint, Limits, frozen, frozen_pose
from cayley.model.tree import GRAVITY, Tree
from cayley.showing import brief

_UNIT = 1e-9
_NO_PITCH = 1e-12  # [m], and of the distance of the axis: rounding, also where a far point of an axis was given


@dataclass(frozen=True, eq=False)
class ScrewAxes:
    """`twists` (n, 6), (linear; angular) [m; 1] or [1; 0], and the pose `home` (4, 4) of the tip at zero, in the root's
    frame."""

    twists: Array
    home: Array
    joints: tuple[str, ...] = ()
    limits: tuple[Limits, ...] = ()

    __repr__ = brief

    def __post_init__(self) -> None:
        n = len(self.twists)
        if n == 0:
            raise ModelError("no screw axes: a chain needs at least one")
        object.__setattr__(self, "twists", frozen(self.twists, (n, 6), "the screw axes"))
        object.__setattr__(self, "home", frozen_pose(self.home, "the home pose"))
        object.__setattr__(self, "joints", tuple(self.joints) or tuple(f"joint{i}" for i in range(1, n + 1)))
        object.__setattr__(self, "limits", tuple(self.limits) or (Limits(),) * n)
        if len(self.joints) != n or len(self.limits) != n:
            raise ModelError(f"there are {n} screw axes, {len(self.joints)} names and {len(self.limits)} limits")


def screw_axes_from_tree(tree: Tree, frame: str | None = None) -> ScrewAxes:
    """The screw axes of the chain from the root to a frame ("tool", or the only end, if not named).

    Revolute, prismatic and helical joints have one; a joint of another kind raises an error that names it.

    >>> from cayley.model.denavit_hartenberg.conversion import DHRow, tree_from_dh
    >>> screw_axes_from_tree(tree_from_dh([DHRow(a=0.5), DHRow(a=0.4)], convention="standard")).twists
    array([[ 0. ,  0. ,  0. ,  0. ,  0. ,  1. ],
           [ 0. , -0.5,  0. ,  0. ,  0. ,  1. ]])
    """
    chain = chain_to(tree, frame)
    twists = [_twist(joint, home) for joint, home in zip(chain.joints, chain.homes, strict=True)]
    return ScrewAxes(np.stack(twists), chain.tip, tuple(j.name for j in chain.joints),
                     tuple(j.limits for j in chain.joints))


def _twist(joint: Joint, home: Array) -> Array:
    R = home[:3, :3]
    p = home[:3, 3]
    screw = joint.motion.screw
    if screw is None:
        raise ModelError(f"joint {joint.name!r} is {joint.motion.word}: only revolute, prismatic and helical joints "
                         "have one screw axis")
    e = R @ np.asarray(screw.axis)
    if not screw.turn:
        return np.concatenate([e, np.zeros(3)])
    return np.concatenate([np.cross(p, e) + screw.slide * e, e])


def tree_from_screw_axes(axes: ScrewAxes, *, name: str = "arm", gravity: ArrayLike = GRAVITY, source: str = "",
                         bodies: Sequence[Body] | None = None) -> Tree:
    """A mechanism from screw axes: revolute, prismatic or helical joints, as the twists say, and the frame "tool" at
    the home pose.

    The frame of each body has the axes of the root at zero, and its origin on the joint's axis, at the point nearest to
    the root's origin; for a slide it is the body before's. `bodies`, root first, may bring names and mass properties in
    these frames.

    >>> slide_and_turn = ScrewAxes([[0, 0, 1, 0, 0, 0], [0, -0.5, 0.1, 0, 0, 1]], np.eye(4))
    >>> [joint.motion for joint in tree_from_screw_axes(slide_and_turn).joints]
    [Prismatic(axis=(0.0, 0.0, 1.0)), Helical(axis=(0.0, 0.0, 1.0), pitch=0.1)]
    """
    n = len(axes.twists)
    given = tuple(bodies) if bodies is not None else (Body("base"), *[Body(f"link{i}") for i in range(1, n + 1)])
    if len(given) != n + 1:
        raise ModelError(f"{n} screw axes join {n + 1} bodies, not {len(given)}")
    here = np.zeros(3)
    joints = []
    for i, twist in enumerate(axes.twists):
        motion, there = _motion(twist, here, axes.joints[i])
        placement = Pose(np.eye(3), there - here).matrix
        joints.append(Joint(axes.joints[i], given[i].name, given[i + 1].name, motion, placement, axes.limits[i]))
        here = there
    tool = Pose(axes.home[:3, :3], axes.home[:3, 3] - here).matrix
    return Tree.of(name, given, joints, frames=[Frame("tool", given[-1].name, tool)], gravity=gravity, source=source)


def _motion(twist: Array, here: Array, name: str) -> tuple[JointKind, Array]:
    """The joint of a twist, and a point of its axis."""
    linear = twist[:3]
    angular = twist[3:]
    size = float(np.linalg.norm(angular))
    slide = float(np.linalg.norm(linear))
    if size == 0.0:
        if abs(slide - 1) > _UNIT:
            raise ModelError(
                f"the screw axis of {name!r} is {twist.tolist()}: a slide must have a linear part of length one")
        return Prismatic(_axis(linear / slide)), here
    if abs(size - 1) > _UNIT:
        raise ModelError(
            f"the screw axis of {name!r} is {twist.tolist()}: its angular part must be zero or of length one")
    e = angular / size
    pitch = float(e @ linear)
    point = np.cross(e, linear)
    axis = _axis(e)
    return (Revolute(axis) if abs(pitch) < _NO_PITCH * max(1.0, slide) else Helical(axis, pitch)), point


def _axis(e: Array) -> tuple[float, float, float]:
    return float(e[0]), float(e[1]), float(e[2])
