"""Contacts as data of a mechanism: pairs of shapes on bodies that may touch, with friction, restitution, compliance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.typing import Array
from cayley.errors import ModelError, shown
from cayley.geometry.contact_shapes import CONTACT_SHAPES, ContactShape
from cayley.model.parts import Immutable
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class Collider(Immutable):
    """A shape with a name that a body carries, in the frame of that body."""

    name: str
    body: str
    shape: ContactShape

    __repr__ = brief

    def __post_init__(self) -> None:
        if not isinstance(self.shape, CONTACT_SHAPES):
            kinds = ", ".join(kind.__name__ for kind in CONTACT_SHAPES)
            raise ModelError(f"the shape {self.name!r} of body {self.body!r} is {shown(self.shape)}: it must be one of "
                             f"{kinds} of cayley.geometry.contact_shapes")


@dataclass(frozen=True, eq=False)
class ContactPair(Immutable):
    """Two shapes that may touch, the ground or obstacle first where there is one, and how: the coefficients of Coulomb
    friction and of restitution (0 to 1), and a compliance of the contact [m/N], 0 where it is rigid."""

    first: Collider
    second: Collider
    friction: float = 0.7
    restitution: float = 0.0
    compliance: float = 0.0

    def __repr__(self) -> str:
        return f"<contact {self.name}: friction {self.friction}>"

    def __post_init__(self) -> None:
        for name, most in (("friction", np.inf), ("restitution", 1.0), ("compliance", np.inf)):
            value = getattr(self, name)
            if not (is_symbolic(value) or (isinstance(value, (int, float, np.number)) and 0.0 <= value <= most
                                           and np.isfinite(value))):
                wanted = "a number between 0 and 1" if most == 1.0 else "a finite number that is not negative"
                raise ModelError(f"the {name} of the contact {self.name} is {shown(value)}: it must be {wanted}")

    @property
    def name(self) -> str:
        """The names of both shapes: "LF_FOOT on ground"."""
        return f"{self.second.name} on {self.first.name}"


def contacts_at(pairs: Iterable[ContactPair],
                places: Mapping[str, tuple[str, Array | None]]) -> tuple[ContactPair, ...]:
    """The pairs with their shapes on the bodies that now hold them: per name of a body the one that it is a part of,
    and its pose (4, 4) there, None where it is itself. Pairs of bodies that have no place, or one and the same, are
    left out."""
    moved = [(pair, _placed(pair.first, places), _placed(pair.second, places)) for pair in pairs]
    return tuple(replace(pair, first=first, second=second) for pair, first, second in moved
                 if first is not None and second is not None and first.body != second.body)


def contacts_of(pairs: Iterable[ContactPair], bodies: Iterable[str]) -> tuple[ContactPair, ...]:
    """The pairs whose bodies are both among those named."""
    return contacts_at(pairs, {name: (name, None) for name in bodies})


def contacts_with_prefix(pairs: Iterable[ContactPair], prefix: str) -> tuple[ContactPair, ...]:
    """The pairs with a prefix before the names of shapes and bodies."""
    def named(collider: Collider) -> Collider:
        return replace(collider, name=prefix + collider.name, body=prefix + collider.body)

    return tuple(replace(pair, first=named(pair.first), second=named(pair.second)) for pair in pairs)


def _placed(collider: Collider, places: Mapping[str, tuple[str, Array | None]]) -> Collider | None:
    if collider.body not in places:
        return None
    body, pose = places[collider.body]
    if pose is None:
        return collider
    return replace(collider, body=body, shape=collider.shape.moved(np.asarray(pose, dtype=float)))
