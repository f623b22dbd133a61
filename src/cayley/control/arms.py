"""Mechanisms that laws are made for, and the checks that say why a law cannot drive one."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import SignatureError, UnsupportedError
from cayley.model.tree import Tree
from cayley.wording import shown


class HasTree(Protocol):
    """A mechanism."""

    @property
    def tree(self) -> Tree: ...


def tree_of(arm: Tree | HasTree) -> Tree:
    """The tree of a mechanism; a tree stays what it is."""
    found = arm if isinstance(arm, Tree) else getattr(arm, "tree", None)
    if not isinstance(found, Tree):
        raise SignatureError(f"a law is made for a mechanism, as cy.load gives it, not for {shown(arm)}")
    return found


def check_single_coordinates(tree: Tree, what: str) -> None:
    """Refuse a mechanism with joints that move in another way than by one coordinate, which is an angle or a length."""
    driven = set(tree.actuated_joints)
    for joint in tree.joints:
        if tree.is_constrained and joint.name not in driven:
            continue
        if joint.motion.nv and (joint.motion.nv, joint.motion.nq) != (1, 1):
            raise UnsupportedError(f"{what} is for joints of one coordinate each; joint {joint.name!r} of {tree.name} "
                                   f"is {joint.motion.word}, with {joint.motion.nv} velocities")


def check_driven(tree: Tree, what: str) -> None:
    """Refuse an open chain in which a joint has no drive, as a floating base has none: `what` would push it."""
    if tree.is_constrained or tree.motors:  # what is driven there is known to those who ask
        return
    driven = set(tree.actuated_joints)
    for joint in tree.joints:
        if joint.motion.nv and joint.mimic is None and joint.name not in driven:
            raise UnsupportedError(
                f"{what} gives forces to all joints, but {joint.name!r} of {tree.name} ({joint.motion.word}) has no "
                "drive: `lqr` knows of joints that nothing drives, and `with_actuated` says what has a drive")


def check_rigid_drives(tree: Tree, what: str) -> None:
    """Refuse a mechanism whose motors drive through springs: `what` would take them for rigid."""
    soft = [tree.joints[number].name for number in tree.motors if tree.joints[number].spring is not None]
    if soft:
        raise UnsupportedError(
            f"{what} would take the springs of {tree.name} for rigid, but joint {soft[0]!r} is driven through one: "
            "`cayley.control.through_springs` drives it by a law of the rigid arm, `including(\"armature\")`, "
            "and `FeedbackLinearisation` knows the springs")


def arm_of_single_coordinates(arm: Tree | HasTree, what: str) -> Tree:
    """The tree of an arm whose velocities are rates of its coordinates, free and with rigid drives; others are refused
    by name."""
    tree = tree_of(arm)
    check_rigid_drives(tree, what)
    check_single_coordinates(tree, what)
    check_driven(tree, what)
    return tree


def numbers_of(values: ArrayLike, what: str, dtype: type = float) -> Array:
    """An array of numbers, complex ones where `dtype` is; an error says `what` is none."""
    try:
        given = np.asarray(values)
        if given.dtype.kind in ("US" if dtype is complex else "USc"):
            raise TypeError("neither texts nor complex numbers count")
        return given.astype(dtype)
    except (TypeError, ValueError) as error:
        raise SignatureError(f"{what} must be numbers, not {shown(values)}") from error
