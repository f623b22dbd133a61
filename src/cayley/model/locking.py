"""Joints that are locked where they are, and freed again.

A locked joint is a fixed one in its place, which remembers what it was. Loops and other constraints between frames
stay: a four-bar linkage with its crank locked is a structure. Mimic joints are locked with the joint that they follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ModelError, shown
from cayley.geometry.pose import Pose
from cayley.model.configurations import check_configuration
from cayley.model.joint_kinds import JointKind
from cayley.model.named_configurations import coordinates_by_joint
from cayley.model.parts import Joint, Limits, Locked, Rotor
from cayley.model.rotor import Friction
from cayley.model.tree import Tree

_SAME = 1e-9  # [rad, m]: so near must a mimic joint be to where the other takes it
JointNames = str | Sequence[str]


def locked(tree: Tree, joints: JointNames | Mapping[str, ArrayLike], q: ArrayLike | None = None) -> Tree:
    """Mechanism with joints fixed where they are in a configuration `q` (nq), at their zeros if none is given;
    or at values of their own, {joint: value}. Their coordinates are gone, and so are their drives.

    >>> locked(cy.load("planar2r").tree, {"joint1": 0.5}).joint_names
    ('joint2',)
    """
    values = _values(tree, joints, q)
    for name in values:
        _check_lockable(tree, tree.joints[tree.joint_number(name)])
    values |= _values_of_followers(tree, values)
    _check_places(tree, values)
    made = [_fixed(tree, joint, values[joint.name]) if joint.name in values else joint for joint in tree.joints]
    kept = tree.actuated and tuple(name for name in tree.actuated if name not in values)
    return replace(tree, actuated=kept).with_parts(tree.bodies, made)


def freed(tree: Tree, joints: JointNames) -> Tree:
    """Mechanism with joints that were locked as they were before: they move again, and so do the mimic joints
    that follow them.

    >>> freed(locked(cy.load("planar2r").tree, "joint1"), "joint1").joint_names
    ('joint1', 'joint2')
    """
    names = list(_listed(tree, joints))
    own = {joint.name: joint for joint in tree.joints}
    for name in names:
        if own[tree.joints[tree.joint_number(name)].name].locked is None:
            _refuse_to_free(tree, own[name])
    names += [joint.name for joint in tree.joints if joint.locked is not None and joint.name not in names
              and _leader(tree, joint) in names]
    for name in names:
        leader = _leader(tree, own[name])
        if leader is not None and leader not in names and own[leader].locked is not None:
            raise ModelError(f"joint {name!r} of {tree.name} mimics {leader!r}, which is locked: free that one")
    made = tree.with_parts(tree.bodies, [_free(joint) if joint.name in names else joint for joint in tree.joints])
    driven = [name for name in names if (was := own[name].locked) is not None and was.actuated]
    return made if made.actuated is None else made.with_actuated(*made.actuated, *driven)


# Which joints, and where


def _values(tree: Tree, joints: JointNames | Mapping[str, ArrayLike], q: ArrayLike | None) -> dict[str, Array]:
    if isinstance(joints, Mapping):
        if q is not None:
            raise ModelError("joints are locked at values of their own, {joint: value}, or where they are in q: give "
                             "one of these")
        return {name: np.array(values) for name, values in coordinates_by_joint(tree, joints)}
    names = list(_listed(tree, joints))
    whole = dict(coordinates_by_joint(tree, tree.neutral if q is None else q))
    for name in names:
        if name not in whole:
            raise ModelError(f"joint {name!r} of {tree.name} is fixed: there is nothing to lock")
    return {name: np.array(whole[name]) for name in names}


def _listed(tree: Tree, joints: JointNames) -> Iterator[str]:
    if not isinstance(joints, str | Sequence):
        raise ModelError(f"joints must be named, one or a list of them, not {shown(joints)}")
    for name in [joints] if isinstance(joints, str) else joints:
        yield tree.joints[tree.joint_number(name)].name


def _values_of_followers(tree: Tree, values: Mapping[str, Array]) -> dict[str, Array]:
    """The values to which locked joints take those that mimic them."""
    found: dict[str, Array] = {}
    for number, (leader, multiplier, offset) in tree.mimic_joints.items():
        name = tree.joints[number].name
        followed = tree.joints[leader].name
        if followed in values:
            found[name] = multiplier * values[followed] + offset
            if name in values and not np.allclose(values[name], found[name], rtol=0.0, atol=_SAME):
                raise ModelError(f"joint {name!r} of {tree.name} cannot be locked at {values[name][0]:.6g}: it mimics "
                                 f"{followed!r}, which takes it to {found[name][0]:.6g}")
        elif name in values:
            raise ModelError(f"joint {name!r} of {tree.name} mimics {followed!r}: lock that one")
    return found


def _check_lockable(tree: Tree, joint: Joint) -> None:
    motors = {motor for pair in tree.motors.items() for motor in pair}
    if tree.joint_number(joint.name) in motors:
        raise ModelError(f"joint {joint.name!r} of {tree.name} has a motor that is a part of the mechanism, or is one: "
                         "lock it before drives are included, `including()`")
    if joint.rotor.is_body:
        raise ModelError(f"the rotor of joint {joint.name!r} of {tree.name} is a body, which would be lost: take it "
                         f"off, `with_drive({joint.name!r})`, and add its mass to its carrier, `with_body`")
    for constraint in tree.constraints:
        if any(name == joint.name or name.startswith(f"{joint.name}.") for name in constraint.coordinates):
            raise ModelError(f"joint {joint.name!r} of {tree.name} cannot be locked: {constraint.sentence}; take that "
                             f"off, `without_constraints({constraint.name!r})`")


def _check_places(tree: Tree, values: Mapping[str, Array]) -> None:
    """Raise if the joints cannot be there: outside of limits, quaternions not of length one."""
    whole = tree.neutral
    own = dict(zip([joint.name for joint in tree.joints], tree.q_slices, strict=True))
    for name, value in values.items():
        whole[own[name]] = value
    others = [joint if joint.name in values else replace(joint, limits=Limits()) for joint in tree.joints]
    check_configuration(replace(tree, joints=tuple(others)), whole)


# Joints


def _fixed(tree: Tree, joint: Joint, value: Array) -> Joint:
    was = Locked(joint, tuple(value.tolist()), joint.name in tree.actuated_joints)
    there = np.asarray(joint.placement) @ Pose(*joint.motion.pose(value)).matrix
    return replace(joint, motion=JointKind(), placement=there, limits=Limits(), friction=Friction(), rotor=Rotor(),
                   mimic=None, spring=None, locked=was)


def _free(joint: Joint) -> Joint:
    """The joint as it was, in the place where it is now: what carries it may have been changed since."""
    was = joint.locked
    assert was is not None
    moved = Pose(*was.joint.motion.pose(np.array(was.q))).matrix
    is_there = np.array_equal(np.asarray(was.joint.placement) @ moved, joint.placement)
    placement = was.joint.placement if is_there else np.asarray(joint.placement) @ np.linalg.inv(moved)
    return replace(was.joint, name=joint.name, parent=joint.parent, child=joint.child, placement=placement)


def _leader(tree: Tree, joint: Joint) -> str | None:
    """The joint at the end of the chain of those that a locked joint mimicked."""
    own = {each.name: each for each in tree.joints}
    mimic = joint.locked.joint.mimic if joint.locked is not None else joint.mimic
    leader = None
    while mimic is not None:
        leader = mimic.joint
        followed = own[leader]
        mimic = followed.locked.joint.mimic if followed.locked is not None else followed.mimic
    return leader


def _refuse_to_free(tree: Tree, joint: Joint) -> NoReturn:
    if not joint.motion.nv:
        raise ModelError(f"joint {joint.name!r} of {tree.name} was not locked: choose a kind, "
                         f"`with_joint({joint.name!r}, motion=Revolute())`")
    what = f"it mimics {joint.mimic.joint!r}, `spanning_tree()` frees it" if joint.mimic is not None else "it moves"
    raise ModelError(f"joint {joint.name!r} of {tree.name} is not locked: {what}")
