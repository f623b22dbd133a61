"""Groups of bodies that move as one, bodies whose masses are not known, and joints on which gravity does no work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.errors import ModelError
from cayley.model.tree import Tree

IDLE = ("all axes are parallel to it, or slide across it. For an arm that moves in a vertical plane pass "
        "gravity=(0, -9.81, 0)")
_ALIGNED = 1e-9


def rigid_groups(tree: Tree) -> tuple[tuple[int, ...], ...]:
    """The numbers of the bodies that move as one, group by group: what fixed joints hold together.

    The root's group is the first."""
    group_of = [0]
    groups: list[list[int]] = [[0]]
    for child, (joint, parent) in enumerate(zip(tree.joints, tree.parents, strict=True), start=1):
        if joint.motion.nv:
            groups.append([])
        group_of.append(len(groups) - 1 if joint.motion.nv else group_of[parent])
        groups[group_of[-1]].append(child)
    return tuple(tuple(group) for group in groups)


def check_has_masses(tree: Tree) -> None:
    """Raise `ModelError` that names the moving bodies whose mass is unknown.

    A body without mass that is held fast by one whose mass is known is a mere frame, as `<link name="tool0"/>` of URDF,
    and counts as massless; so does all that is fixed to the root, which does not move. A mass that is given as 0 is
    known.

    >>> from cayley.model.joint_kinds import Revolute
    >>> from cayley.model.parts import Body, Joint
    >>> check_has_masses(Tree.of("rod", [Body("base"), Body("rod")], [Joint("pivot", "base", "rod", Revolute())]))
    Traceback (most recent call last):
    cayley.errors.ModelError: the dynamics of rod need the mass of 'rod' (moved by 'pivot'), which is unknown: give ...
    """
    unknown = unknown_masses(tree)
    if unknown:
        bodies = ", ".join(f"{tree.bodies[k].name!r} (moved by {tree.joints[k - 1].name!r})" for k in unknown)
        raise ModelError(
            f"the dynamics of {tree.name} need the mass of {bodies}, which is unknown: give the mass, the centre and "
            "the inertia of each (<inertial> in URDF), or set them to zero: `with_missing_masses(0.0)`")


def unknown_masses(tree: Tree) -> list[int]:
    """The first body of each moving group in which no mass is known."""
    return [group[0] for group in rigid_groups(tree)[1:] if all(tree.bodies[k].mass is None for k in group)]


def with_masses_for_letters(tree: Tree, size: float = 1.0) -> Tree:
    """Mechanism with numbers that stand for masses which are unknown, where only what is zero counts: centres
    on the line to the next joint or frame of the body, and principal axes along those of the body."""
    unknown = unknown_masses(tree)
    bodies = list(tree.bodies)
    for number in unknown:
        ahead = [joint.placement[:3, 3] for joint, parent in zip(tree.joints, tree.parents, strict=True)
                 if parent == number]
        ahead += [frame.pose[:3, 3] for frame in tree.frames if frame.body == bodies[number].name]
        along = next((place for place in ahead if np.any(place)), np.zeros(3))
        bodies[number] = replace(bodies[number], mass=size, center=0.5 * size * along,
                                 inertia=size * np.diag([0.11, 0.13, 0.17]))
    return tree.with_parts(bodies, tree.joints)


def with_missing_masses(tree: Tree, mass: float) -> Tree:
    """Mechanism with this mass [kg], at their origins, for the bodies that move and whose mass is unknown."""
    unknown = set(unknown_masses(tree))
    bodies = [replace(body, mass=mass) if number in unknown else body for number, body in enumerate(tree.bodies)]
    return tree.with_parts(bodies, tree.joints)


def gravity_is_idle(tree: Tree) -> bool:
    """True if gravity does no work at any configuration of revolute and prismatic joints. Revolute axes that are
    parallel to gravity in one configuration then are in all.

    >>> arm = cy.load("planar2r").tree
    >>> gravity_is_idle(arm), gravity_is_idle(arm.with_gravity([0.0, 0.0, -9.81]))
    (False, True)
    """
    size = float(np.linalg.norm(tree.gravity))
    if not size or not tree.nv:
        return False
    down = tree.gravity / size
    turned = [np.eye(3)]
    for joint, parent in zip(tree.joints, tree.parents, strict=True):
        turned.append(turned[parent] @ np.asarray(joint.placement)[:3, :3])
        screw = joint.motion.screw
        if not joint.motion.nv:
            continue
        if screw is None or (screw.turn and screw.slide):
            return False
        axis = turned[-1] @ np.asarray(screw.axis)
        if np.linalg.norm(np.cross(axis, down) if screw.turn else axis @ down) > _ALIGNED:
            return False
    return True
