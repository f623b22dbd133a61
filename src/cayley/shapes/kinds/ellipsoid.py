"""Ellipsoids, which MJCF has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.shapes.kinds.kind import Kind
from cayley.shapes.surface import SIDES, Surface, revolved

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element


@dataclass(frozen=True)
class Ellipsoid(Kind):
    """With its semi-axes along the axes, about the origin."""

    semi_axes: tuple[float, float, float]
    word = "ellipsoid"
    mujoco = 4

    @classmethod
    def from_urdf(cls, element: Element, search: Search) -> Ellipsoid:
        raise element.error("URDF has no ellipsoids: say a sphere, or a mesh")

    @classmethod
    def from_mujoco(cls, size: Array) -> Ellipsoid:
        x, y, z = size
        return cls((float(x), float(y), float(z)))

    def surface(self) -> Surface:
        angles = np.linspace(0, np.pi, SIDES // 2 + 1)
        radii = np.sin(angles)
        radii[[0, -1]] = 0.0
        return revolved(radii, -np.cos(angles)).scaled(np.array(self.semi_axes))
