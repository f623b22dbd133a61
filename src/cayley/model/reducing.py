"""Merging of bodies that fixed and locked joints hold together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.errors import ModelError
from cayley.model.configurations import check_configuration
from cayley.model.contacts import contacts_at, contacts_of
from cayley.model.masses import rigid_groups
from cayley.model.motors import ELASTIC, GEARED, REDUCED, has_motor
from cayley.model.parts import Body, BodyByMoments, Frame, Joint
from cayley.model.tree import Tree


def reduced(tree: Tree) -> Tree:
    """Mechanism with all bodies that fixed joints hold together made one, of the name of the first; the others
    are frames of their names. What moves, and how, is the same. With `locked` this is Pinocchio's `buildReducedModel`.

    >>> reduced(cy.load("planar2r").tree.with_payload("tool", 2.0))
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
    return replace(made, named=bare.named, arguments=bare.arguments,
                   contacts=contacts_at(bare.contacts, places)).including(*tree.included)


def _places(tree: Tree) -> dict[str, tuple[str, Array]]:
    """Per name of a body, the body that it becomes a part of, and its pose there."""
    found: dict[str, tuple[str, Array]] = {tree.bodies[0].name: (tree.bodies[0].name, np.eye(4))}
    for joint in tree.joints:
        head, pose = found[joint.parent]
        found[joint.child] = (joint.child, np.eye(4)) if joint.motion.nv else (head, pose @ np.asarray(joint.placement))
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
    """Moments of a body about the origin of another frame, in its axes."""
    mass, first, second = body.moments
    R = pose[:3, :3]
    p = pose[:3, 3]
    turned = R @ first
    return (mass, turned + mass * p,
            R @ second @ R.T + np.outer(turned, p) + np.outer(p, turned) + mass * np.outer(p, p))


def _moved(joint: Joint, places: dict[str, tuple[str, Array]]) -> Joint:
    """A joint on the body that its parent has become a part of, and its rotor on that of its carrier."""
    head, pose = places[joint.parent]
    carrier = joint.rotor.carrier
    there = (None, pose) if carrier is None else places[carrier]
    rotor = joint.rotor.moved(there[1], there[0])
    return replace(joint, parent=head, placement=pose @ np.asarray(joint.placement), rotor=rotor)


def _names_of_parts(tree: Tree) -> list[str]:
    return [frame.name for frame in tree.frames] + [part.name for part in (*tree.loops, *tree.constraints)]


def _check_nothing_on_motors(tree: Tree, bare: Tree) -> None:
    kept = _names_of_parts(bare)
    lost = [name for name in _names_of_parts(tree) if name not in kept]
    if lost:
        raise ModelError(f"{', '.join(map(repr, lost))} of {tree.name} are connected to motors, which are parts of it: "
                         "reduce it before drives are included, `including()`")


def subtree(tree: Tree, body: str, q: ArrayLike | None = None) -> Tree:
    """Mechanism that a body carries, with that body as its root. Gravity is given in the axes of that body when the
    joints that carry it are at `q` (nq), by default at zero. Loops, mimic joints, other constraints and rotors that
    couple the part to the rest raise an error that names them.

    >>> subtree(cy.load("panda_hand").tree, "panda_hand")
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
    made = replace(made, named=tree.named, arguments=tree.arguments, contacts=contacts_of(bare.contacts, inside))
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
