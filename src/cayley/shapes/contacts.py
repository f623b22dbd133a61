"""Mechanisms whose shapes touch: those that are given, or the collision geometry of the file of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cayley.errors import ModelError
from cayley.geometry.contact_shapes import ContactShape
from cayley.model.contact_pairs import Ground, PerPair, Shapes, ground_of, points_at, shapes_at, with_pairs
from cayley.model.contacts import Collider
from cayley.model.tree import Tree


def with_contacts(tree: Tree, ground: Ground = "plane", *, points: Mapping[str, float] | None = None,
                  shapes: Mapping[str, Shapes] | None = None, bodies: Iterable[str] | None = None,
                  obstacles: Mapping[str, ContactShape] | None = None, self_contact: bool = False,
                  exclude: Iterable[tuple[str, str]] = (), friction: PerPair = 0.7, restitution: PerPair = 0.0,
                  compliance: PerPair = 0.0) -> Tree:
    """Mechanism that touches the ground, obstacles and itself; see `Mechanism.with_contacts`."""
    given = [*points_at(tree, points or {}),
             *[each for frame, some in (shapes or {}).items() for each in shapes_at(tree, frame, some)]]
    if not given:
        raise ModelError(f"{tree.name} has no shapes that could touch: give spheres at frames, points={{frame: radius}}"
                         ", or shapes={body: Box(size)}")
    root = tree.bodies[0].name
    fixed = [*ground_of(tree, ground), *[Collider(name, root, shape) for name, shape in (obstacles or {}).items()]]
    return with_pairs(tree, fixed, given, self_contact=self_contact, exclude=exclude, apart=(),
                      friction=friction, restitution=restitution, compliance=compliance)
