"""Shapes on bodies, and all those of a mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from cayley.compiler.typing import Array
from cayley.errors import ModelError
from cayley.progress import PatientBar
from cayley.shapes.kinds import Kind
from cayley.shapes.surface import Levels, Surface
from cayley.showing import brief

Role = Literal["visual", "collision"]

_ABOUT = 1.4  # times its share: most have less


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape that a body carries: what it is, where in the body's frame (4, 4), whether it is to be seen, to be
    collided with, or both, its colour (red, green, blue from 0 to 1) if the model says one, and the bits by which MJCF
    says what it collides with: two shapes do where one's `contype` has a bit of the other's `conaffinity`."""

    body: str
    kind: Kind
    pose: Array
    roles: tuple[Role, ...]
    color: tuple[float, float, float] | None = None
    bits: tuple[int, int] = (1, 1)  # contype, conaffinity

    __repr__ = brief

    def collides_with(self, other: Shape) -> bool:
        """True if the bits of neither keep it from the other."""
        return bool((self.bits[0] & other.bits[1]) | (other.bits[0] & self.bits[1]))

    @cached_property
    def levels(self) -> Levels:
        """The surfaces in the body's frame, from fine to coarse. Files are read here, and only here; `ModelError` says
        what is wrong with one."""
        return tuple(surface.moved(self.pose) for surface in self.kind.levels())

    @property
    def surface(self) -> Surface:
        """The finest of its surfaces."""
        return self.levels[0]


@dataclass(frozen=True, eq=False)
class Shapes:
    """The shapes of a mechanism, and what of them could not be had, in words."""

    shapes: tuple[Shape, ...] = ()
    missing: tuple[str, ...] = ()
    bare: frozenset[str] = frozenset()  # bodies with a shape that could not be had
    apart: tuple[frozenset[str], ...] = ()  # pairs of bodies that the file excludes from collisions

    def __getitem__(self, k: int) -> Shape:
        return self.shapes[k]

    def __iter__(self) -> Iterator[Shape]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __repr__(self) -> str:
        kinds = [shape.kind.word for shape in self.shapes]
        words = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)) or "none"
        return f"<shapes: {words}{f'; {len(self.missing)} missing' if self.missing else ''}>"

    def of(self, role: Role) -> Shapes:
        """The shapes that are seen, or those that collide."""
        return Shapes(tuple(shape for shape in self.shapes if role in shape.roles), self.missing, self.bare,
                      self.apart)

    @property
    def seen(self) -> Shapes:
        """The shapes that a picture shows: the visual shapes, or where no body has any, those that collide."""
        return self.of("visual") if any("visual" in shape.roles for shape in self.shapes) else self.of("collision")

    def surfaces(self, most: int) -> Surfaces:
        """The surfaces with no more triangles than `most` together, about; large ones get the larger shares."""
        found = []
        missing = list(self.missing)
        bare = set(self.bare)
        with PatientBar("reading shapes", len(self.shapes)) as bar:
            for number, shape in enumerate(self.shapes, start=1):
                try:
                    found.append((shape, shape.surface))
                except ModelError as why:
                    missing.append(f"{shape.body}: {why}")
                    bare.add(shape.body)
                bar.reached(number)
        shares = _shares([surface for _, surface in found], most)
        simple = [(shape, _level(shape.levels, share)) for (shape, _), share in zip(found, shares, strict=True)]
        return Surfaces(tuple(simple), tuple(dict.fromkeys(missing)), frozenset(bare))


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Shapes with their surfaces in the frames of their bodies, what could not be had, and of which bodies."""

    parts: tuple[tuple[Shape, Surface], ...] = ()
    missing: tuple[str, ...] = ()
    bare: frozenset[str] = frozenset()

    __repr__ = brief


def _level(levels: Levels, share: float) -> Surface:
    """The finest that has no more triangles than its share, about, or else the coarsest."""
    return next((surface for surface in levels if len(surface.triangles) <= _ABOUT * share), levels[-1])


def _shares(surfaces: Sequence[Surface], most: int) -> Array:
    """Triangles for each, by the square roots of their areas; what the simple ones leave goes to the others."""
    counts = np.array([len(surface.triangles) for surface in surfaces], dtype=float)
    weights = np.sqrt([surface.area + 1e-12 for surface in surfaces])
    shares = counts.copy()
    large = np.ones(len(counts), dtype=bool)
    while (shares.sum() > most) and large.any():
        left = most - counts[~large].sum()
        offered = left * weights / weights[large].sum()
        if not (small := large & (counts <= offered)).any():
            shares[large] = np.maximum(offered[large], 0.0)
            break
        large &= ~small
    return shares
