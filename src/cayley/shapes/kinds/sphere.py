"""Balls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cayley.compiler.typing import Array
from cayley.shapes.kinds.ellipsoid import Ellipsoid
from cayley.shapes.kinds.kind import Kind, positive
from cayley.shapes.surface import Surface

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element


@dataclass(frozen=True)
class Sphere(Kind):
    """About the origin."""

    radius: float
    word = "sphere"
    mujoco = 2

    @classmethod
    def from_urdf(cls, element: Element, search: Search) -> Sphere:
        return cls(positive(element, "radius"))

    @classmethod
    def from_mujoco(cls, size: Array) -> Sphere:
        return cls(float(size[0]))

    def surface(self) -> Surface:
        return Ellipsoid((self.radius,) * 3).surface()
