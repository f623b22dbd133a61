"""Boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cayley.compiler.typing import Array
from cayley.shapes.kinds.kind import Kind
from cayley.shapes.surface import Surface

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
_SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


@dataclass(frozen=True)
class Box(Kind):
    """With edges along the axes, about the origin.

    >>> Box((1.0, 2.0, 3.0)).surface().area
    22.0
    """

    size: tuple[float, float, float]
    word = "box"
    mujoco = 6

    @classmethod
    def from_urdf(cls, element: Element, search: Search) -> Box:
        x, y, z = element.numbers("size", 3)
        if not min(x, y, z) > 0:
            raise element.error(f"the size is {x:g} {y:g} {z:g}; lengths are positive")
        return cls((float(x), float(y), float(z)))

    @classmethod
    def from_mujoco(cls, size: Array) -> Box:
        x, y, z = 2 * size
        return cls((float(x), float(y), float(z)))

    def surface(self) -> Surface:
        triangles = np.concatenate([_SIDES[:, [0, 1, 2]], _SIDES[:, [0, 2, 3]]])
        return Surface.of(_CORNERS * self.size, triangles)
