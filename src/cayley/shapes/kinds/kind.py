"""Base class of the kinds of shapes: the name in files, the surface, and how it is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from cayley.compiler.typing import Array
from cayley.shapes.surface import Levels, Surface

if TYPE_CHECKING:
    from cayley.model.formats.search import Search
    from cayley.model.formats.xml_elements import Element


class Kind(ABC):
    """Base class of the kinds; to add one: a class in a file of its own, and a line in `KINDS`."""

    word: ClassVar[str]  # of `<geometry>` in URDF
    mujoco: ClassVar[int | None] = None  # mjtGeom

    @classmethod
    @abstractmethod
    def from_urdf(cls, element: Element, search: Search) -> Kind:
        """The shape of an element; its errors have the element's line."""

    @classmethod
    def from_mujoco(cls, size: Array) -> Kind:
        """The shape of the three numbers `geom_size`."""
        raise NotImplementedError

    @abstractmethod
    def surface(self) -> Surface:
        """In the shape's own frame, as fine as it is drawn."""

    def levels(self) -> Levels:
        """The surfaces from fine to coarse."""
        return (self.surface(),)


def positive(element: Element, key: str) -> float:
    """An attribute that is a length."""
    value = element.number(key)
    if not value > 0:
        raise element.error(f"{key} is {value:g}; a length is positive")
    return value
