"""Capsules: cylinders with half a ball on either end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.shapes.kinds.kind import Kind, positive
from cayley.shapes.surface import SIDES, Surface, revolved

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element


@dataclass(frozen=True)
class Capsule(Kind):
    """About z, with its middle at the origin; the length is that of the cylinder, without its ends."""

    radius: float
    length: float
    word = "capsule"
    mujoco = 3

    @classmethod
    def from_urdf(cls, element: Element, search: Search) -> Capsule:
        return cls(positive(element, "radius"), positive(element, "length"))

    @classmethod
    def from_mujoco(cls, size: Array) -> Capsule:
        return cls(float(size[0]), 2 * float(size[1]))

    def surface(self) -> Surface:
        angles = np.linspace(0, np.pi / 2, SIDES // 4 + 1)
        radii = self.radius * np.concatenate([np.sin(angles), np.cos(angles)])
        radii[[0, -1]] = 0.0
        heights = np.concatenate([-self.radius * np.cos(angles) - self.length / 2,
                                  self.radius * np.sin(angles) + self.length / 2])
        return revolved(radii, heights)
