"""Meshes that another library has read: MuJoCo reads those of MJCF."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from cayley.compiler.typing import Array
from cayley.shapes.kinds.kind import Kind
from cayley.shapes.surface import Levels, Surface, kept_levels
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element


@dataclass(frozen=True, eq=False)
class Triangles(Kind):
    """Points (n, 3) [m] and triangles (m, 3) of their numbers."""

    points: Array
    triangles: Array

    __repr__ = brief
    word = "triangles"
    mujoco = 7

    @classmethod
    def from_urdf(cls, element: Element, search: Search) -> Triangles:
        raise element.error("URDF names the files of meshes: say <mesh filename=.../>")

    def surface(self) -> Surface:
        return self.levels()[0]

    def levels(self) -> Levels:
        digest = sha256(self.points.tobytes() + self.triangles.tobytes()).hexdigest()
        return kept_levels(digest, lambda: Surface.of(self.points, self.triangles))
