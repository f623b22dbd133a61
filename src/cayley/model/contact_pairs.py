"""Pairs of shapes that may touch, found from the tree: what moves against the ground, against obstacles, against what
moves freely besides it, and if wanted against its own links."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TypeAlias

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import ArrayLike
from cayley.errors import ModelError, did_you_mean, shown
from cayley.geometry.contact_shapes import ContactShape, HalfSpace, HeightField
from cayley.geometry.convex_shapes import Sphere
from cayley.model.contacts import Collider, ContactPair
from cayley.model.masses import rigid_groups
from cayley.model.parts import frozen_pose
from cayley.model.tree import Tree

GROUND = "ground"

Ground: TypeAlias = str | HalfSpace | HeightField | ArrayLike | None
Shapes: TypeAlias = ContactShape | Sequence[ContactShape]
PerPair: TypeAlias = float | Mapping[tuple[str, str], float]
Exclusions: TypeAlias = Collection[frozenset[str]]


def ground_of(tree: Tree, ground: Ground) -> list[Collider]:
    """The shape of the ground on the root: level ("plane"), below a pose (4, 4), a half-space or height field."""
    if ground is None:
        return []
    if isinstance(ground, str) and ground != "plane":
        raise ModelError(f'the ground of {tree.name} is {shown(ground)}: it is "plane", a pose (4, 4) whose z points '
                         "out of the ground, HalfSpace(pose), HeightField(heights, size) or None")
    shape = (ground if isinstance(ground, HalfSpace | HeightField) else
             HalfSpace() if isinstance(ground, str) else HalfSpace(frozen_pose(ground, f"the ground of {tree.name}")))
    return [Collider(GROUND, tree.bodies[0].name, shape)]


def shapes_at(tree: Tree, frame: str, shapes: Shapes) -> list[Collider]:
    """Shapes that are given in a frame or body, on the body that has it; several are numbered from 1."""
    place = tree.frame(frame)
    given = list(shapes) if isinstance(shapes, Sequence) else [shapes]
    names = [frame] if len(given) == 1 else [f"{frame} {k}" for k in range(1, len(given) + 1)]
    found = [Collider(name, place.body, shape) for name, shape in zip(names, given, strict=True)]
    return [replace(each, shape=each.shape.moved(place.pose)) for each in found]


def points_at(tree: Tree, points: Mapping[str, float]) -> list[Collider]:
    """Spheres of a radius [m] about the origins of frames."""
    return [collider for frame, radius in points.items() for collider in shapes_at(tree, frame, Sphere(radius))]


def with_pairs(tree: Tree, fixed: Sequence[Collider], colliders: Sequence[Collider], *, self_contact: bool,
               exclude: Iterable[tuple[str, str]], apart: Exclusions, friction: PerPair, restitution: PerPair,
               compliance: PerPair) -> Tree:
    """The mechanism in whose contacts every shape that moves may touch all that is fixed to the root, and shapes of
    other trees of bodies: a free body, a second robot on a floating base. With `self_contact` links of one tree may
    touch each other, but neighbours and bodies that are joined rigidly. `apart` are pairs of names that a file
    excludes."""
    names = [each.name for each in (*fixed, *colliders)]
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise ModelError(f"two shapes that may touch in {tree.name} are both named {twice!r}: give the shapes of a "
                         f"body in one list, shapes={{{twice!r}: [one, other]}}, and obstacles names of their own")
    groups = rigid_groups(tree)
    group_of = {tree.bodies[k].name: number for number, group in enumerate(groups) for k in group}
    above = [0, *[group_of[tree.bodies[tree.parents[group[0] - 1]].name] for group in groups[1:]]]
    free = [False, *[tree.joints[group[0] - 1].motion.free for group in groups[1:]]]
    kin = list(range(len(groups)))  # the group that begins the tree of bodies that each group is of
    for group in range(1, len(groups)):
        kin[group] = group if free[group] else kin[above[group]]

    def may(one: Collider, other: Collider) -> bool:
        a, b = group_of[one.body], group_of[other.body]
        neighbours = kin[a] == kin[b] and (above[a] == b or above[b] == a)
        return a != b and not neighbours and (self_contact or kin[a] != kin[b])

    ordered = sorted(colliders, key=lambda each: tree.body_number(each.body))
    moving = [each for each in ordered if group_of[each.body]]
    pairs = [(first, second) for first in fixed for second in moving]
    pairs += [pair for pair in combinations(ordered, 2) if may(*pair) and not any(_names(pair, each) for each in apart)]
    out = _known(exclude, pairs, "exclude")
    pairs = [pair for pair in pairs if not any(_names(pair, each) for each in out)]
    _check_masses(tree, groups, group_of, pairs)
    for name, values in (("friction", friction), ("restitution", restitution), ("compliance", compliance)):
        if isinstance(values, Mapping):
            _known(values, pairs, name)
    return replace(tree, contacts=tuple(
        ContactPair(*pair, _value(friction, pair, ContactPair.friction), _value(restitution, pair, 0.0),
                    _value(compliance, pair, 0.0)) for pair in pairs))


def _names(pair: tuple[Collider, Collider], names: Collection[str]) -> bool:
    """True if two names are those of both shapes of a pair, or of their bodies; that of the ground is not meant."""
    own = [{each.name} if isinstance(each.shape, HalfSpace | HeightField) else {each.name, each.body} for each in pair]
    one, other = names if len(names) == 2 else [*names] * 2
    return (one in own[0] and other in own[1]) or (other in own[0] and one in own[1])


def _known(named: Iterable[tuple[str, str]], pairs: Sequence[tuple[Collider, Collider]],
           what: str) -> list[tuple[str, str]]:
    """Pairs of names; an error names one that no pair has."""
    names = {name for pair in pairs for each in pair for name in (each.name, each.body)}
    for each in (found := list(named)):
        if not isinstance(each, tuple | list) or len(each) != 2:
            raise ModelError(f"{what} names pairs, [(one, other), ...], not {shown(each)}")
        for name in each:
            if name not in names:
                there = f"; there are {', '.join(sorted(names))}"
                raise ModelError(f"{what} names {shown(name)}, which may touch nothing"
                                 f"{did_you_mean(name, names, otherwise=there)}")
    return found


def _value(values: PerPair, pair: tuple[Collider, Collider], otherwise: float) -> float:
    """The number for a pair, or another where pairs are named and this one is not."""
    if not isinstance(values, Mapping):
        return values
    return next((value for names, value in values.items() if _names(pair, names)), otherwise)


def _check_masses(tree: Tree, groups: Sequence[Sequence[int]], group_of: Mapping[str, int],
                  pairs: Sequence[tuple[Collider, Collider]]) -> None:
    """Raise an error that names a body that touches, moves and has no mass."""
    for body in dict.fromkeys(each.body for pair in pairs for each in pair):
        masses = [tree.bodies[k].mass for k in groups[group_of[body]]]
        if group_of[body] and not any(is_symbolic(mass) or mass for mass in masses):
            raise ModelError(f"body {body!r} of {tree.name} may touch others and has no mass, nor has what is fixed to "
                             f"it: give it one, `variants.with_body({body!r}, mass=...)`, or leave its shapes out")
