"""The kinds of shapes: each a class with its name in files, its surface, and how it is read; and a line in `KINDS`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from cayley.compiler.typing import Array
from cayley.shapes.mesh_files import read_mesh
from cayley.shapes.surface import SIDES, Levels, Surface, kept_levels, revolved
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.model.formats.search import FileSearch
    from cayley.model.formats.xml_elements import XmlElement

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
_AROUND = 1.0 / np.cos(np.pi / SIDES)**2
"""What is round lies in its surface of flat faces if that is larger by this factor."""
_SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


class Kind(ABC):
    """Base class of the kinds of shapes."""

    word: ClassVar[str]  # of `<geometry>` in URDF
    mujoco: ClassVar[int | None] = None  # mjtGeom

    @classmethod
    @abstractmethod
    def from_urdf(cls, element: XmlElement, search: FileSearch) -> Kind:
        """The shape of an element; its errors have the element's line."""

    @classmethod
    def from_mujoco(cls, size: Array) -> Kind:
        """The shape of the three numbers `geom_size`."""
        raise NotImplementedError

    @abstractmethod
    def surface(self) -> Surface:
        """The surface in the shape's own frame, as fine as it is drawn."""

    def around(self) -> Surface:
        """A surface that contains the shape: for what must not be missed."""
        return self.surface()

    def levels(self) -> Levels:
        """The surfaces from fine to coarse."""
        return (self.surface(),)


def _positive(element: XmlElement, key: str) -> float:
    """An attribute that is a length."""
    value = element.number(key)
    if not value > 0:
        raise element.error(f"{key} is {value:g}; a length is positive")
    return value


def _three(numbers: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = map(float, numbers)
    return x, y, z


@dataclass(frozen=True)
class BoxShape(Kind):
    """A box with edges along the axes, about the origin.

    >>> BoxShape((1.0, 2.0, 3.0)).surface().area
    22.0
    """

    size: tuple[float, float, float]
    word = "box"
    mujoco = 6

    @classmethod
    def from_urdf(cls, element: XmlElement, search: FileSearch) -> BoxShape:
        x, y, z = element.numbers("size", 3)
        if not min(x, y, z) > 0:
            raise element.error(f"the size is {x:g} {y:g} {z:g}; lengths are positive")
        return cls(_three((x, y, z)))

    @classmethod
    def from_mujoco(cls, size: Array) -> BoxShape:
        return cls(_three(2 * size))

    def surface(self) -> Surface:
        triangles = np.concatenate([_SIDES[:, [0, 1, 2]], _SIDES[:, [0, 2, 3]]])
        return Surface.of(_CORNERS * self.size, triangles)


@dataclass(frozen=True)
class CylinderShape(Kind):
    """About z, with its middle at the origin."""

    radius: float
    length: float
    word = "cylinder"
    mujoco = 5

    @classmethod
    def from_urdf(cls, element: XmlElement, search: FileSearch) -> Self:
        return cls(_positive(element, "radius"), _positive(element, "length"))

    @classmethod
    def from_mujoco(cls, size: Array) -> Self:
        return cls(float(size[0]), 2 * float(size[1]))

    def surface(self) -> Surface:
        return revolved(self.radius * np.array([0.0, 1, 1, 0]), self.length / 2 * np.array([-1.0, -1, 1, 1]))

    def around(self) -> Surface:
        return replace(self, radius=self.radius * _AROUND).surface()


@dataclass(frozen=True)
class CapsuleShape(CylinderShape):
    """A cylinder with half a ball on either end; the length is without these."""

    word = "capsule"
    mujoco = 3

    def surface(self) -> Surface:
        angles = np.linspace(0, np.pi / 2, SIDES // 4 + 1)
        radii = self.radius * np.concatenate([np.sin(angles), np.cos(angles)])
        radii[[0, -1]] = 0.0
        heights = np.concatenate([-self.radius * np.cos(angles) - self.length / 2,
                                  self.radius * np.sin(angles) + self.length / 2])
        return revolved(radii, heights)


@dataclass(frozen=True)
class EllipsoidShape(Kind):
    """An ellipsoid with its semi-axes along the axes, about the origin. MJCF has them."""

    semi_axes: tuple[float, float, float]
    word = "ellipsoid"
    mujoco = 4

    @classmethod
    def from_urdf(cls, element: XmlElement, search: FileSearch) -> EllipsoidShape:
        raise element.error("URDF has no ellipsoids: say a sphere, or a mesh")

    @classmethod
    def from_mujoco(cls, size: Array) -> EllipsoidShape:
        return cls(_three(size))

    def surface(self) -> Surface:
        angles = np.linspace(0, np.pi, SIDES // 2 + 1)
        radii = np.sin(angles)
        radii[[0, -1]] = 0.0
        return revolved(radii, -np.cos(angles)).scaled(np.array(self.semi_axes))

    def around(self) -> Surface:
        return EllipsoidShape(_three(_AROUND * np.array(self.semi_axes))).surface()


@dataclass(frozen=True)
class SphereShape(Kind):
    """A ball about the origin."""

    radius: float
    word = "sphere"
    mujoco = 2

    @classmethod
    def from_urdf(cls, element: XmlElement, search: FileSearch) -> SphereShape:
        return cls(_positive(element, "radius"))

    @classmethod
    def from_mujoco(cls, size: Array) -> SphereShape:
        return cls(float(size[0]))

    def surface(self) -> Surface:
        return EllipsoidShape((self.radius,) * 3).surface()

    def around(self) -> Surface:
        return EllipsoidShape((self.radius,) * 3).around()


@dataclass(frozen=True)
class Mesh(Kind):
    """A file of triangles (STL, OBJ, DAE, glTF, PLY), scaled along its axes; it is read when it is looked at."""

    path: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    word = "mesh"

    @classmethod
    def from_urdf(cls, element: XmlElement, search: FileSearch) -> Mesh:
        x, y, z = element.numbers("scale", 3, np.ones(3))
        if not x * y * z:
            raise element.error(f"the scale is {x:g} {y:g} {z:g}; no factor is zero")
        path = search.found(element.word("filename"))
        search.weigh(path)
        return cls(path, _three((x, y, z)))

    def surface(self) -> Surface:
        return self.levels()[0]

    def levels(self) -> Levels:
        return tuple(surface.scaled(np.array(self.scale)) for surface in read_mesh(self.path))

    def around(self) -> Surface:
        return read_mesh(self.path, whole=True)[0].scaled(np.array(self.scale))


@dataclass(frozen=True, eq=False)
class Triangles(Kind):
    """A mesh that another library has read (MuJoCo): points (n, 3) [m] and triangles (m, 3) of their numbers."""

    points: Array
    triangles: Array

    __repr__ = brief
    word = "triangles"
    mujoco = 7

    @classmethod
    def from_urdf(cls, element: XmlElement, search: FileSearch) -> Triangles:
        raise element.error("URDF names the files of meshes: say <mesh filename=.../>")

    def surface(self) -> Surface:
        return self.levels()[0]

    def levels(self) -> Levels:
        digest = sha256(self.points.tobytes() + self.triangles.tobytes()).hexdigest()
        return kept_levels(digest, lambda: Surface.of(self.points, self.triangles))

    def around(self) -> Surface:
        return Surface.of(self.points, self.triangles)


KINDS: dict[str, type[Kind]] = {
    kind.word: kind for kind in (BoxShape, CylinderShape, SphereShape, CapsuleShape, EllipsoidShape, Mesh, Triangles)}
