"""A part of a mechanism as one of its own: what a body carries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.errors import ModelError
from cayley.model.configurations import check_configuration
from cayley.model.motors import ELASTIC, GEARED, REDUCED, has_motor
from cayley.model.parts import Joint
from cayley.model.tree import Tree


def subtree(tree: Tree, body: str, q: ArrayLike | None = None) -> Tree:
    """What a body carries, with that body as its root. Gravity is as the body feels it in its axes when the joints that
    carry it are as in `q` (nq), at their zeros if none is given. What ties the part to the rest is refused by name:
    loops, mimic joints, other constraints, rotors on other bodies.

    >>> from cayley.model.catalogue import load_robot
    >>> subtree(load_robot("panda_hand"), "panda_hand")
    <panda_hand of panda_hand: 3 bodies, 2 joints, nq = 2, nv = 2>
    """
    bare = tree.without_motors()
    number = bare.body_number(body)
    inside = {body}
    joints: list[Joint] = []
    for joint in bare.joints:
        if joint.parent in inside:
            inside.add(joint.child)
            joints.append(joint)
    _check_alone(bare, body, inside, joints)
    own = {*inside, *[frame.name for frame in bare.frames if frame.body in inside]}
    moving = {joint.name for joint in joints}
    loops = [each for each in bare.loops if own.issuperset(each.frames)]
    constraints = [each for each in bare.constraints if own.issuperset(each.frames)
                   and all(_joint_of(bare, name) in moving for name in each.coordinates)]
    made = Tree.of(f"{body} of {tree.name}", [each for each in bare.bodies if each.name in inside], joints,
                   frames=[frame for frame in bare.frames if frame.body in inside],
                   gravity=_felt_gravity(tree, number, q), loops=loops, constraints=constraints,
                   actuated=bare.actuated and [name for name in bare.actuated if name in moving],
                   source=tree.source, notes=tree.notes)
    made = replace(made, named=tree.named, arguments=tree.arguments)
    return made.including(*[term for term in tree.included if term not in (ELASTIC, REDUCED, GEARED)
                            or any(has_motor(joint, frozenset([term])) for joint in joints)])


def _felt_gravity(tree: Tree, number: int, q: ArrayLike | None) -> ArrayLike:
    given = tree.neutral if q is None else np.asarray(q, dtype=float)
    check_configuration(tree, given, limits=False)
    R = np.eye(3)
    for k in tree.path(tree.body_number(tree.without_motors().bodies[number].name)):
        joint = tree.joints[k]
        R = R @ np.asarray(joint.placement)[:3, :3] @ np.asarray(joint.motion.pose(given[tree.q_slices[k]])[0])
    return R.T @ tree.gravity


def _check_alone(tree: Tree, body: str, inside: set[str], joints: list[Joint]) -> None:
    """Raise if something ties the part to the rest."""
    own = {*inside, *[frame.name for frame in tree.frames if frame.body in inside]}
    moving = {joint.name for joint in joints}
    for constraint in (*tree.loops, *tree.constraints):
        sides = {name in own for name in constraint.frames} | {
            _joint_of(tree, name) in moving for name in constraint.coordinates}
        if len(sides) > 1:
            raise ModelError(f"what {body!r} carries is tied to the rest of {tree.name}: "
                             f"{constraint.sentence}; take that off, `without_constraints({constraint.name!r})`")
    for joint in tree.joints:
        if joint.mimic is not None and (joint.name in moving) != (joint.mimic.joint in moving):
            raise ModelError(f"what {body!r} carries is tied to the rest of {tree.name}: joint {joint.name!r} mimics "
                             f"{joint.mimic.joint!r}; `spanning_tree()` has no mimic joints")
        if joint.name in moving and joint.rotor.carrier is not None and joint.rotor.carrier not in inside:
            raise ModelError(f"the rotor of joint {joint.name!r} of {tree.name} is on {joint.rotor.carrier!r}, which "
                             f"is not in the part: `with_drive({joint.name!r}, ...)` gives it another")


def _joint_of(tree: Tree, coordinate: str) -> str:
    return tree.joints[tree.coordinate(coordinate).joint].name
