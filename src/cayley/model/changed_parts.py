"""One part of a mechanism with other numbers: the mass of a body, the limits of a joint, friction, armature."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cayley.compiler.typing import ArrayLike
from cayley.errors import ModelError, did_you_mean, shown
from cayley.model.joint_kinds import JointKind
from cayley.model.parts import Joint, Limits, Rotor
from cayley.model.physical_bodies import check_possible
from cayley.model.rotor import Friction
from cayley.model.tree import Tree


def with_body(tree: Tree, body: str, *, mass: float | None = None, center: ArrayLike | None = None,
              inertia: ArrayLike | None = None) -> Tree:
    """Mechanism with another mass [kg], centre of mass [m] or inertia about it [kg m^2] of one body, what is
    not given staying as it is. What no body can have is refused.

    >>> with_body(cy.load("planar2r").tree, "link2", mass=3.0).bodies[2].mass
    3.0
    """
    given = {key: value for key, value in (("mass", mass), ("center", center), ("inertia", inertia))
             if value is not None}
    old = tree.bodies[tree.body_number(body)]
    new = replace(old, **given)  # type: ignore[arg-type]  # made arrays
    check_possible(new)
    return tree.with_parts([new if each is old else each for each in tree.bodies], tree.joints)


def with_joint(tree: Tree, joint: str, *, motion: JointKind | None = None, placement: ArrayLike | None = None,
               lower: ArrayLike | None = None, upper: ArrayLike | None = None, velocity: ArrayLike | None = None,
               effort: ArrayLike | None = None) -> Tree:
    """Mechanism with another kind, placement (4, 4) or other limits of one joint, what is not given staying as it is.

    >>> with_joint(cy.load("planar2r").tree, "joint2", lower=-1.0, upper=1.0).upper
    array([inf,  1.])
    """
    limits = {key: _each(value) for key, value in
              (("lower", lower), ("upper", upper), ("velocity", velocity), ("effort", effort)) if value is not None}
    old = tree.joints[tree.joint_number(joint)]
    if motion is not None and not isinstance(motion, JointKind):
        raise ModelError(f"the kind of joint {joint!r} must be one of cayley.model.joint_kinds, Prismatic() for one, "
                         f"not {shown(motion)}")
    kept = old.limits if motion is None or (motion.nq, motion.nv) == (old.motion.nq, old.motion.nv) else Limits()
    return tree.with_joints(replace(old, motion=old.motion if motion is None else motion,
                                    placement=old.placement if placement is None else placement,
                                    limits=replace(kept, **limits)))


def _each(value: ArrayLike) -> tuple[float, ...]:
    try:
        return tuple(np.atleast_1d(np.asarray(value, dtype=float)).tolist())
    except (TypeError, ValueError) as error:
        raise ModelError(f"a limit must be a number, or one for each coordinate, not {shown(value)}") from error


def with_friction(tree: Tree, joint: str | Sequence[str], *, viscous: ArrayLike = 0.0,
                  coulomb: ArrayLike = 0.0) -> Tree:
    """Mechanism with another friction in some joints, the same in all or one for each."""
    names = joint_list(tree, joint)
    made = list(zip(names, per_joint(names, viscous, "viscous friction"), per_joint(names, coulomb, "dry friction"),
                    strict=True))
    for name, *each in made:
        if not all(value >= 0 for value in each):
            raise ModelError(f"the friction of joint {name!r} is {each[0]:g} (viscous) and {each[1]:g} (dry): friction "
                             "is not negative, it takes energy away")
    return tree.with_joints(*[replace(tree.joints[tree.joint_number(name)], friction=Friction(viscous=v, coulomb=c))
                              for name, v, c in made])


def with_armature(tree: Tree, joint: str | Sequence[str], inertia: ArrayLike) -> Tree:
    """Mechanism with another armature in some joints, the same in all or one for each: the inertia of the
    rotor that the joint feels, behind the gear [kg m^2; kg]. The gear, the friction and the winding of a motor stay.

    >>> arm = with_armature(cy.load("planar2r").tree, ["joint1", "joint2"], [0.1, 0.05])
    >>> [joint.rotor.reflected for joint in arm.joints]
    [0.1, 0.05]
    """
    names = joint_list(tree, joint)
    return tree.with_joints(*[_with_armature(tree, name, value)
                              for name, value in zip(names, per_joint(names, inertia, "armature"), strict=True)])


def _with_armature(tree: Tree, name: str, inertia: float) -> Joint:
    joint = tree.joints[tree.joint_number(name)]
    if joint.rotor.is_body:
        raise ModelError(f"the rotor of joint {name!r} of {tree.name} is a body, whose numbers say its inertia: "
                         f"`with_drive({name!r}, ...)` gives it others")
    if not 0.0 <= inertia < np.inf:
        raise ModelError(f"the armature of joint {name!r} is {inertia}: an inertia is not negative")
    gear = joint.rotor.gear or 1.0
    return replace(joint, rotor=replace(joint.rotor, inertia=inertia / gear**2) if joint.rotor != Rotor()
                   else Rotor(inertia))


def joint_list(tree: Tree, joints: str | Sequence[str]) -> list[str]:
    """Names of joints that move; one of them may be given alone."""
    names = [joints] if isinstance(joints, str) else list(joints)
    for name in names:
        if not tree.joints[tree.joint_number(name)].motion.nv:
            raise ModelError(f"joint {name!r} of {tree.name} is fixed: it has no drive and no friction")
    return names


def per_joint(names: Sequence[str], value: ArrayLike, what: str) -> list[float]:
    """One number for each joint, from one for all or as many as there are."""
    try:
        return list(np.broadcast_to(np.atleast_1d(np.asarray(value, dtype=float)), (len(names),)).tolist())
    except (TypeError, ValueError) as error:
        raise ModelError(f"the {what} must be a number, or one for each of {', '.join(names)}, not {shown(value)}"
                         ) from error


def without_payload(tree: Tree, name: str | None = None) -> Tree:
    """Mechanism without a body that is fixed to another and carries nothing: a load that was put down, a tool
    that was taken off. Without a `name` the only one that `with_payload` gave a number.

    >>> arm = cy.load("planar2r").tree
    >>> [body.name for body in without_payload(arm.with_payload("tool", 2.0)).bodies]
    ['base', 'link1', 'link2']
    """
    loads = [body.name for body in tree.bodies if re.fullmatch(r"payload\d+", body.name)]
    if name is None and len(loads) != 1:
        raise ModelError(f"{tree.name} carries {', '.join(loads) or 'no payload'}: name the body to put down")
    chosen = loads[0] if name is None else name
    held = next((joint for joint in tree.joints if joint.child == chosen), None)
    if held is None:
        fixed = [joint.child for joint in tree.joints if not joint.motion.nv]
        raise ModelError(f"{tree.name} has no payload {chosen!r}{did_you_mean(chosen, fixed, otherwise='')}")
    carried = [joint.name for joint in tree.joints if joint.parent == chosen]
    on_it = [frame.name for frame in tree.frames if frame.body == chosen]
    used = [each.name for each in (*tree.loops, *tree.constraints) if chosen in each.frames]
    if held.motion.nv or carried or on_it or used:
        why = (f"joint {held.name!r} moves it" if held.motion.nv else
               f"it carries {', '.join(map(repr, [*carried, *on_it, *used]))}")
        raise ModelError(f"{chosen!r} of {tree.name} is not a payload: {why}")
    return tree.with_parts([body for body in tree.bodies if body.name != chosen],
                           [joint for joint in tree.joints if joint.name != held.name])
