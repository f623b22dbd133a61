"""Mechanisms whose shapes touch: those that are given, or the collision geometry of the file of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

from cayley.errors import CayleyError, ModelError
from cayley.geometry.contact_shapes import MOST_VERTICES, ContactShape, ConvexHull, ConvexKind, Cylinder
from cayley.geometry.convex_shapes import Box, Capsule, Sphere
from cayley.model.contact_pairs import Ground, PerPair, Shapes, ground_of, points_at, shapes_at, with_pairs
from cayley.model.contacts import Collider
from cayley.model.findings import Remark
from cayley.model.tree import Tree
from cayley.shapes.kinds import BoxShape, CapsuleShape, CylinderShape, Kind, SphereShape
from cayley.shapes.reading import shapes_of
from cayley.shapes.shape import Shape

_ABOUT = "contacts"


def with_contacts(tree: Tree, ground: Ground = "plane", *, points: Mapping[str, float] | None = None,
                  shapes: Mapping[str, Shapes] | None = None, bodies: Iterable[str] | None = None,
                  obstacles: Mapping[str, ContactShape] | None = None, self_contact: bool = False,
                  exclude: Iterable[tuple[str, str]] = (), friction: PerPair = 0.7, restitution: PerPair = 0.0,
                  compliance: PerPair = 0.0) -> Tree:
    """Mechanism that touches the ground, obstacles and itself; see `Mechanism.with_contacts`."""
    given = [*points_at(tree, points or {}),
             *[each for frame, some in (shapes or {}).items() for each in shapes_at(tree, frame, some)]]
    apart: list[frozenset[str]] = []
    remarks: list[Remark] = []
    if bodies is not None or not given:
        of_file, apart, remarks = _from_file(tree, None if bodies is None else list(bodies))
        given += of_file
    if not given:
        raise ModelError(f"{tree.name} has no shapes that could touch: give spheres at frames, points={{frame: radius}}"
                         ", or shapes={body: Box(size)}")
    root = tree.bodies[0].name
    fixed = [*ground_of(tree, ground), *[Collider(name, root, shape) for name, shape in (obstacles or {}).items()]]
    made = with_pairs(tree, fixed, given, self_contact=self_contact, exclude=exclude, apart=apart,
                      friction=friction, restitution=restitution, compliance=compliance)
    others = [note for note in tree.notes if not (isinstance(note, Remark) and note.about == _ABOUT)]
    return replace(made, notes=(*others, *remarks))


def _from_file(tree: Tree, bodies: list[str] | None) -> tuple[list[Collider], list[frozenset[str]], list[Remark]]:
    """The collision geometry of all bodies, or of some, in the file of the model; that of earlier contacts where the
    file has none, as of what was attached; the pairs that do not collide; and remarks."""
    found = shapes_of(tree).of("collision")
    wanted = tree.body_names if bodies is None else [tree.bodies[tree.body_number(name)].name for name in bodies]
    colliders: list[Collider] = []
    shapes: list[tuple[Collider, Shape]] = []
    remarks = [Remark(_ABOUT, (), f"a shape that does not touch: {why}") for why in found.missing]
    for body in wanted:
        own = [shape for shape in found if shape.body == body]
        for k, shape in enumerate(own, start=1):
            try:
                made = Collider(body if len(own) == 1 else f"{body} {k}", body, convex(shape.kind).moved(shape.pose))
                shapes.append((made, shape))
            except CayleyError as why:
                remarks.append(Remark(_ABOUT, (body,), f"a {shape.kind.word} of {body!r} does not touch: {why}"))
        colliders += [made for made, shape in shapes if shape.body == body] or _earlier(tree, body)
    lacking = [name for name in bodies or () if name not in {each.body for each in colliders}]
    if lacking:
        raise ModelError(f"{', '.join(map(repr, lacking))} of {tree.name} have no collision geometry in the file of "
                         f"the model that could be used: give them shapes={{{lacking[0]!r}: Box(size)}}")
    apart = [frozenset((a.name, b.name)) for (a, one), (b, other) in combinations(shapes, 2)
             if not one.collides_with(other)]
    return colliders, [*found.apart, *apart], [*remarks, *_hulls(shapes)]


def _earlier(tree: Tree, body: str) -> list[Collider]:
    """The shapes of a body that moves in the contacts that the mechanism has."""
    sides = {side.name: side for pair in tree.contacts for side in (pair.first, pair.second)}
    return [side for side in sides.values() if side.body == body and body != tree.bodies[0].name]


def _hulls(shapes: list[tuple[Collider, Shape]]) -> list[Remark]:
    """A remark about the meshes that are used as their convex hulls."""
    hulls = {made.name: made.shape.error for made, _ in shapes if isinstance(made.shape, ConvexHull)}
    if not hulls:
        return []
    return [Remark(_ABOUT, tuple(hulls), f"{len(hulls)} meshes touch as their convex hulls, of at most {MOST_VERTICES} "
                   f"vertices, which are up to {1e3 * max(hulls.values()):.2g} mm inside: {', '.join(hulls)}",
                   doubtful=False)]


def convex(kind: Kind) -> ConvexKind:
    """The shape that touches for a kind of shapes, in the same frame: a mesh or ellipsoid as its convex hull."""
    make = _CONVEX.get(type(kind))
    return ConvexHull(kind.surface().points) if make is None else make(kind)


def _ends(kind: CylinderShape) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    return (0.0, 0.0, -kind.length / 2), (0.0, 0.0, kind.length / 2)


_CONVEX: dict[type[Kind], Callable[[Any], ConvexKind]] = {
    BoxShape: lambda box: Box(box.size), SphereShape: lambda ball: Sphere(ball.radius),
    CylinderShape: lambda rod: Cylinder(rod.radius, *_ends(rod)),
    CapsuleShape: lambda rod: Capsule(rod.radius, *_ends(rod))}
