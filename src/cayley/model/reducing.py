"""Bodies that move as one made one: what fixed and locked joints hold together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array, Scalar
from cayley.errors import ModelError
from cayley.model.masses import rigid_groups
from cayley.model.parts import Body, BodyByMoments, Frame, Joint
from cayley.model.tree import Tree


def reduced(tree: Tree) -> Tree:
    """The same mechanism with all bodies that fixed joints hold together made one, of the name of the first; the others
    are frames of their names. What moves, and how, is the same. With `locked` this is Pinocchio's `buildReducedModel`.

    >>> from cayley.model.catalogue import load_robot
    >>> reduced(load_robot("planar2r").with_payload("tool", 2.0))
    <planar2r: 3 bodies, 2 joints, nq = 2, nv = 2>
    """
    bare = tree.without_motors()
    _check_nothing_on_motors(tree, bare)
    places = _places(bare)
    bodies = [_merged(bare, group, places) for group in rigid_groups(bare)]
    heads = {body.name for body in bodies}
    names = {frame.name for frame in bare.frames}
    frames = [replace(frame, body=places[frame.body][0], pose=places[frame.body][1] @ np.asarray(frame.pose))
              for frame in bare.frames]
    frames += [Frame(body.name, *places[body.name]) for body in bare.bodies
               if body.name not in heads and body.name not in names]
    joints = [_moved(joint, places) for joint in bare.joints if joint.motion.nv]
    made = Tree.of(bare.name, bodies, joints, frames=frames, gravity=bare.gravity, loops=bare.loops,
                   constraints=bare.constraints, actuated=bare.actuated, source=bare.source, notes=bare.notes)
    return replace(made, named=bare.named, arguments=bare.arguments).including(*tree.included)


def _places(tree: Tree) -> dict[str, tuple[str, Array]]:
    """By the names of bodies, the body that each is a part of, and its pose there."""
    found: dict[str, tuple[str, Array]] = {tree.bodies[0].name: (tree.bodies[0].name, np.eye(4))}
    for joint in tree.joints:
        head, pose = found[joint.parent]
        found[joint.child] = (joint.child, np.eye(4)) if joint.motion.nv else (
            head, pose @ np.asarray(joint.placement))
    return found


def _merged(tree: Tree, group: tuple[int, ...], places: dict[str, tuple[str, Array]]) -> Body:
    bodies = [tree.bodies[k] for k in group]
    known = [body for body in bodies if body.mass is not None]
    if len(bodies) == 1 or not known:
        return bodies[0]
    parts = [_moments(body, places[body.name][1]) for body in known]
    mass, first, second = (sum(entries[1:], entries[0]) for entries in zip(*parts, strict=True))
    made = BodyByMoments.of(bodies[0].name, mass, first, second)
    plain = not any(isinstance(body, BodyByMoments) for body in known) and not is_symbolic(mass)
    return Body(made.name, float(mass), made.center, made.inertia) if plain else made


def _moments(body: Body, pose: Array) -> tuple[Scalar, Array, Array]:
    """Those of a body about the origin of another frame, in its axes."""
    mass, first, second = body.moments
    R = pose[:3, :3]
    p = pose[:3, 3]
    turned = R @ first
    return (mass, turned + mass * p,
            R @ second @ R.T + np.outer(turned, p) + np.outer(p, turned) + mass * np.outer(p, p))


def _moved(joint: Joint, places: dict[str, tuple[str, Array]]) -> Joint:
    """A joint on the body that its parent has become a part of, and its rotor on that of its carrier."""
    head, pose = places[joint.parent]
    rotor = joint.rotor
    if rotor.carrier is not None:
        carrier, there = places[rotor.carrier]
        place = rotor.place if rotor.place is None else tuple(map(tuple, (there @ np.asarray(rotor.place)).tolist()))
        rotor = replace(rotor, carrier=carrier, place=place)
    elif rotor.place is not None:
        rotor = replace(rotor, place=tuple(map(tuple, (pose @ np.asarray(rotor.place)).tolist())))
    return replace(joint, parent=head, placement=pose @ np.asarray(joint.placement), rotor=rotor)


def _check_nothing_on_motors(tree: Tree, bare: Tree) -> None:
    lost = [name for name in _hanging(tree) if name not in set(_hanging(bare))]
    if lost:
        raise ModelError(f"{', '.join(map(repr, lost))} of {tree.name} hang on motors, which are parts of it: reduce "
                         "it before drives are included, `including()`")


def _hanging(tree: Tree) -> list[str]:
    return [*[frame.name for frame in tree.frames], *[each.name for each in (*tree.loops, *tree.constraints)]]
