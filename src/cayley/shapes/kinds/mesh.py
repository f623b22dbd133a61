"""Meshes: files of triangles, read when they are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cayley.shapes.kinds.kind import Kind
from cayley.shapes.mesh_files import read_mesh
from cayley.shapes.surface import Levels, Surface

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element


@dataclass(frozen=True)
class Mesh(Kind):
    """A file (STL, OBJ, DAE, glTF, PLY), scaled along its axes."""

    path: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    word = "mesh"

    @classmethod
    def from_urdf(cls, element: Element, search: Search) -> Mesh:
        x, y, z = element.numbers("scale", 3, np.ones(3))
        if not x * y * z:
            raise element.error(f"the scale is {x:g} {y:g} {z:g}; no factor is zero")
        path = search.found(element.word("filename"))
        search.weigh(path)
        return cls(path, (float(x), float(y), float(z)))

    def surface(self) -> Surface:
        return self.levels()[0]

    def levels(self) -> Levels:
        return tuple(surface.scaled(np.array(self.scale)) for surface in read_mesh(self.path))
