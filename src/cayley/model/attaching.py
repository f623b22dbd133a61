"""One mechanism on another: an arm on a cart, a gripper on an arm, as one mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, UnsupportedError, shown
from cayley.model.constraint_kinds import Constraint
from cayley.model.contacts import contacts_at, contacts_with_prefix
from cayley.model.joint_kinds import JointKind
from cayley.model.parts import Body, Frame, Joint, NamedConfiguration, frozen_pose
from cayley.model.physical_bodies import check_possible
from cayley.model.tree import Tree


def attached(tree: Tree, other: Tree | Body, at: str, *, pose: ArrayLike | None = None, motion: JointKind | None = None,
             prefix: str = "") -> Tree:
    """A mechanism that carries another, or a body: the root of that is fixed to a frame or body `at`, at a `pose`
    (4, 4) in it, or moves in it by a joint of the kind `motion`, called "mount of NAME". Its bodies, joints, drives,
    loops and constraints keep their names, with a `prefix` before them if one is given, which must be others than those
    that are there already; its root is a body of the same name, or a frame if it has no mass and is fixed. The tool is
    then that of what is carried: a frame of the carrier with the name of one of its frames is called "CARRIER tool".
    Gravity, and what of drives is in the dynamics, are those of the one that carries.

    >>> attached(cy.load("two_wheel_robot").tree, cy.load("planar2r").tree, "chassis").actuated_joints
    ('left', 'right', 'joint1', 'joint2')
    """
    if not isinstance(other, Tree | Body) or not isinstance(prefix, str):
        wrong = f"the prefix is a text, not {shown(prefix)}" if isinstance(other, Tree | Body) else (
            f"a mechanism or a Body is attached, not {shown(other)}")
        raise ModelError(f"{wrong}: arm.attached(hand, at={at!r})")
    if isinstance(other, Body):
        check_possible(other)
    carried = Tree.of(other.name, [other], []) if isinstance(other, Body) else other
    _check_drives(tree, carried)
    carried = with_prefix(carried, prefix) if prefix else carried.without_motors()
    frame = tree.frame(at)
    place = np.asarray(frame.pose) @ frozen_pose(pose, f"the pose of {carried.name} at {at!r}")
    tree = _with_other_frame_names(tree, {each.name for each in carried.frames})
    taken = {*tree.frame_names, *tree.body_names}
    _check_names(tree, carried, taken)
    root = carried.bodies[0]
    name = root.name if root.name not in taken else f"{carried.name} {root.name}"
    if root.mass or motion is not None:
        root = replace(root, name=name)
        mount = Joint(f"{prefix}mount of {carried.name}", frame.body, name, motion or JointKind(), place)
        return _joined(tree, carried, [root], [mount], (name, np.eye(4)), [])
    origin = [Frame(root.name, frame.body, place)] if name == root.name else []
    return _joined(tree, carried, [], [], (frame.body, place), origin)


def _joined(tree: Tree, carried: Tree, roots: Sequence[Body], mounts: Sequence[Joint], on: tuple[str, Array],
            origin: Sequence[Frame]) -> Tree:
    """Union of two trees: what hung on the root of the second hangs on a body of the first, at a pose there."""
    root = carried.bodies[0].name
    body, place = on
    joints = [_on_carrier(each, root, body, place) for each in carried.joints]
    frames = [replace(each, body=body, pose=place @ np.asarray(each.pose)) if each.body == root else each
              for each in carried.frames]
    whole = replace(tree, actuated=_both_drives(tree, carried, mounts)).with_parts(
        [*tree.bodies, *roots, *carried.bodies[1:]], [*tree.joints, *mounts, *joints])
    places = {each.name: (each.name, None) for each in carried.bodies} | {root: (body, place)}
    whole = replace(whole, frames=(*tree.frames, *frames, *origin), named=_both_configurations(tree, carried),
                    notes=(*tree.notes, *carried.notes),
                    contacts=(*tree.contacts, *contacts_at(carried.contacts, places)))
    return whole.with_constraints((*tree.loops, *carried.loops), (*tree.constraints, *carried.constraints))


def _on_carrier(joint: Joint, root: str, body: str, place: Array) -> Joint:
    """Joint that hung on the old root, or whose rotor did, on the body that replaces it."""
    if joint.rotor.carrier == root:
        joint = replace(joint, rotor=joint.rotor.moved(place, body))
    if joint.parent != root:
        return joint
    rotor = joint.rotor.moved(place, None) if joint.rotor.carrier is None else joint.rotor
    return replace(joint, parent=body, placement=place @ np.asarray(joint.placement), rotor=rotor)


def _both_drives(tree: Tree, carried: Tree, mounts: Sequence[Joint]) -> tuple[str, ...] | None:
    """Actuated joints of both; by default all that may have a drive, and a mount that moves has none."""
    if tree.actuated is None and carried.actuated is None and not any(mount.motion.nv for mount in mounts):
        return None
    return (*tree.actuated_joints, *carried.actuated_joints)


def _both_configurations(tree: Tree, carried: Tree) -> tuple[NamedConfiguration, ...]:
    """Union of the named configurations of both trees; a name that both have sets the joints of both."""
    named = {each.name: each for each in tree.named}
    for each in carried.named:
        before = named[each.name].coordinates if each.name in named else ()
        named[each.name] = NamedConfiguration(each.name, (*before, *each.coordinates))
    return tuple(named.values())


def _check_drives(tree: Tree, carried: Tree) -> None:
    others = carried.included - tree.included
    if others:
        raise ModelError(f"{carried.name} has {', '.join(map(repr, sorted(others)))} in its dynamics, and {tree.name} "
                         f"has not: attach it without, `including()`, and include them in the whole")


def _check_names(tree: Tree, carried: Tree, taken: set[str]) -> None:
    joints = {joint.name for joint in tree.joints}
    constraints = {each.name for each in (*tree.loops, *tree.constraints)}
    twice = [*[name for name in (*carried.body_names[1:], *[each.name for each in carried.frames]) if name in taken],
             *[joint.name for joint in carried.joints if joint.name in joints],
             *[each.name for each in (*carried.loops, *carried.constraints) if each.name in constraints]]
    if twice:
        raise ModelError(f"{tree.name} and {carried.name}, which is to be attached to it, both have a {twice[0]!r}: "
                         'give one of them another name, or what is attached a prefix, prefix="left_"')


def _with_other_frame_names(tree: Tree, taken: set[str]) -> Tree:
    """The mechanism with the names of these frames behind its own name; those that constraints name are left."""
    named = {name for each in (*tree.loops, *tree.constraints) for name in each.frames}
    frames = [replace(each, name=f"{tree.name} {each.name}") if each.name in taken and each.name not in named else each
              for each in tree.frames]
    return replace(tree, frames=tuple(frames))


_NAMES = ("word", "words")
_FORMULAS = ("formulas",)  # they have names of coordinates in them


def with_prefix(tree: Tree, prefix: str) -> Tree:
    """Mechanism with a prefix before the names of its bodies, joints, frames and constraints.

    >>> with_prefix(cy.load("planar2r").tree, "left ").joint_names
    ('left joint1', 'left joint2')
    """
    bare = tree.without_motors()
    constraints = [_renamed(each, prefix) for each in bare.constraints]
    loops = [replace(each, name=prefix + each.name, first=prefix + each.first, second=prefix + each.second)
             for each in bare.loops]
    named = [NamedConfiguration(each.name, tuple((prefix + joint, own) for joint, own in each.coordinates))
             for each in bare.named]
    made = replace(bare, bodies=tuple(replace(body, name=prefix + body.name) for body in bare.bodies),
                   joints=tuple(_renamed_joint(joint, prefix) for joint in bare.joints),
                   frames=tuple(replace(frame, name=prefix + frame.name, body=prefix + frame.body)
                                for frame in bare.frames),
                   loops=tuple(loops), constraints=tuple(constraints), named=tuple(named),
                   contacts=contacts_with_prefix(bare.contacts, prefix),
                   actuated=bare.actuated and tuple(prefix + name for name in bare.actuated))
    return made.including(*tree.included)


def _renamed_joint(joint: Joint, prefix: str) -> Joint:
    rotor = joint.rotor if joint.rotor.carrier is None else replace(joint.rotor, carrier=prefix + joint.rotor.carrier)
    mimic = joint.mimic and replace(joint.mimic, joint=prefix + joint.mimic.joint)
    locked = joint.locked and joint.locked._replace(joint=_renamed_joint(joint.locked.joint, prefix))
    return replace(joint, name=prefix + joint.name, parent=prefix + joint.parent, child=prefix + joint.child,
                   rotor=rotor, mimic=mimic, locked=locked)


def _renamed(constraint: Constraint, prefix: str) -> Constraint:
    forms = {entry.name: entry.metadata.get("form") for entry in fields(constraint)}
    if any(form in _FORMULAS for form in forms.values()):
        raise UnsupportedError(f"the {constraint.word} {constraint.name!r} has names of joints in its formulas: it "
                               "cannot be given a prefix; name the parts otherwise where they are made")
    changed = {name: prefix + value if isinstance(value, str) else tuple(prefix + each for each in value)
               for name, form in forms.items() if form in _NAMES for value in [getattr(constraint, name)]}
    return replace(constraint, name=prefix + constraint.name, **changed)
