"""One mechanism on another: an arm on a cart, a gripper on an arm, as one mechanism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.errors import ModelError
from cayley.model.parts import Body, Frame, Joint
from cayley.model.tree import Tree


def mounted(tree: Tree, other: Tree, on: str, pose: ArrayLike | None = None) -> Tree:
    """A mechanism that carries another: the root of that is fixed to a frame or body `on`, at a pose (4, 4) in it. Its
    bodies, joints and drives keep their names, which must be others than those that are there already; its root is a
    body of the same name, or a frame if it has no mass. The tool is then that of what is carried: a frame of the
    carrier with the name of one of its frames is called "CARRIER tool". Gravity is that of the one that carries.

    >>> from cayley.model.catalogue import load_robot
    >>> mounted(load_robot("two_wheel_robot"), load_robot("planar2r"), "chassis").actuated_joints
    ('left', 'right', 'joint1', 'joint2')
    """
    frame = tree.frame(on)
    place = frame.pose @ (np.eye(4) if pose is None else np.asarray(pose, dtype=float))
    root = other.bodies[0]
    tree = _with_other_frame_names(tree, {each.name for each in other.frames})
    taken = {*tree.frame_names, *[body.name for body in tree.bodies]}
    twice = [name for name in [*[body.name for body in other.bodies[1:]], *[each.name for each in other.frames]]
             if name in taken] + [name for name in other.joint_names if name in tree.joint_names]
    if twice:
        raise ModelError(f"{tree.name} and {other.name}, which is to be mounted on it, both have a {twice[0]!r}: give "
                         "one of them another name")
    heavy = root.mass is not None and root.mass > 0
    name = root.name if root.name not in taken else f"{other.name} {root.name}"
    bodies: list[Body] = [replace(root, name=name)] if heavy else []
    fixed = [Joint(f"mount of {other.name}", frame.body, name, placement=place)] if heavy else []
    carrier = name if heavy else frame.body
    shift = np.eye(4) if heavy else place
    joints = [replace(each, parent=carrier, placement=shift @ each.placement) if each.parent == root.name else each
              for each in other.joints]
    frames = [replace(each, body=carrier, pose=shift @ each.pose) if each.body == root.name else each
              for each in other.frames]
    if not heavy and name == root.name:
        frames.append(Frame(root.name, frame.body, place))
    whole = tree.with_parts([*tree.bodies, *bodies, *other.bodies[1:]], [*tree.joints, *fixed, *joints])
    whole = replace(whole, frames=(*tree.frames, *frames))
    whole = whole.with_constraints((*tree.loops, *other.loops), (*tree.constraints, *other.constraints))
    return whole.with_actuated(*tree.actuated_joints, *other.actuated_joints)


def _with_other_frame_names(tree: Tree, taken: set[str]) -> Tree:
    """The mechanism with the names of these frames behind its own name; those that constraints name are left."""
    named = {name for each in (*tree.loops, *tree.constraints) for name in each.frames}
    frames = [replace(each, name=f"{tree.name} {each.name}") if each.name in taken and each.name not in named else each
              for each in tree.frames]
    return replace(tree, frames=tuple(frames))
