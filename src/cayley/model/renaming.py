"""A mechanism whose parts have other names: two of the same on one robot."""

from __future__ import annotations

from dataclasses import fields, replace

from cayley.errors import UnsupportedError
from cayley.model.constraint_kinds import Constraint
from cayley.model.parts import Joint, NamedConfiguration
from cayley.model.tree import Tree

_NAMES = ("word", "words")
_FORMULAS = ("formulas",)  # they have names of coordinates in them


def with_prefix(tree: Tree, prefix: str) -> Tree:
    """The same mechanism with a prefix before the names of its bodies, joints, frames and constraints.

    >>> from cayley.model.catalogue import load_robot
    >>> with_prefix(load_robot("planar2r"), "left ").joint_names
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
