"""Cylinders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.shapes.kinds.kind import Kind, positive
from cayley.shapes.surface import Surface, revolved

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element


@dataclass(frozen=True)
class Cylinder(Kind):
    """About z, with its middle at the origin."""

    radius: float
    length: float
    word = "cylinder"
    mujoco = 5

    @classmethod
    def from_urdf(cls, element: Element, search: Search) -> Cylinder:
        return cls(positive(element, "radius"), positive(element, "length"))

    @classmethod
    def from_mujoco(cls, size: Array) -> Cylinder:
        return cls(float(size[0]), 2 * float(size[1]))

    def surface(self) -> Surface:
        return revolved(self.radius * np.array([0.0, 1, 1, 0]), self.length / 2 * np.array([-1.0, -1, 1, 1]))
