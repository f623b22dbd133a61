"""Ports of a system and blocks of its state: names, shapes, units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

from cayley.errors import SignatureError, shown
from cayley.explained_calls import with_explained_calls
from cayley.geometry.manifolds import VECTOR, Manifold, Shape


@with_explained_calls
@dataclass(frozen=True)
class Port:
    """An input or output: its `shape`, a number if it is empty, its `unit`, and the `default` of an input that nothing
    gives."""

    shape: Shape = ()
    unit: str = ""
    default: float | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


@with_explained_calls
@dataclass(frozen=True)
class Block:
    """A part of the state: its `shape` and `unit`, the `manifold` it lies on, the name of the block that is its
    `velocity`, if one is, and the `default` of all its entries where a start does not give it. The derivative of a
    block is a tangent of its manifold; that of a block with a velocity is the velocity, and is not written."""

    shape: Shape = ()
    unit: str = ""
    manifold: Manifold = VECTOR
    velocity: str | None = None
    default: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", as_shape(self.shape))

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def is_flat(self) -> bool:
        """True if the block is a vector, or moves as one."""
        return not self.manifold.curved

    @property
    def tangent(self) -> Shape:
        return self.manifold.tangent(self.shape)


PortLike: TypeAlias = Port | str | int | tuple[int | Shape, str] | Shape
BlockLike: TypeAlias = Block | PortLike


def as_shape(given: int | Shape) -> Shape:
    return (given,) if isinstance(given, int) else tuple(given)


def as_port(given: PortLike, name: str) -> Port:
    """A port as it is, or what stands for one: a unit (of a number), a size, a shape, or size and unit.

    >>> as_port("V", "voltage"), as_port((3, "N m"), "torque")
    (Port(shape=(), unit='V', default=None), Port(shape=(3,), unit='N m', default=None))
    """
    match given:
        case Port():
            return replace(given, shape=as_shape(given.shape))
        case str():
            return Port((), given)
        case int() if given > 0:
            return Port((given,))
        case (int() | tuple() as shape, str() as unit):
            return Port(as_shape(shape), unit)
        case tuple():
            sizes = tuple(size for size in given if isinstance(size, int) and size > 0)
            if len(sizes) == len(given):
                return Port(sizes)
    raise SignatureError(f'{name!r} is described by a unit ("V"), a size (3), a shape, a size and a unit (3, "N m"), '
                         f"or an object that says more, not by {shown(given)}")


def as_ports(given: Mapping[str, PortLike]) -> dict[str, Port]:
    return {name: as_port(spec, name) for name, spec in given.items()}


def as_blocks(given: Mapping[str, BlockLike], whose: str) -> dict[str, Block]:
    """The blocks of a state, each velocity with the tangents of what it moves."""
    ports = as_ports({name: spec for name, spec in given.items() if not isinstance(spec, Block)})
    blocks = {name: spec if isinstance(spec, Block) else Block(ports[name].shape, ports[name].unit)
              for name, spec in given.items()}
    for name, block in blocks.items():
        if block.velocity is None:
            continue
        if block.velocity not in blocks:
            raise SignatureError(f"the velocity of {name!r} is {block.velocity!r}, a block that {whose} does not have")
        if blocks[block.velocity].shape != block.tangent:
            raise SignatureError(f"{block.velocity!r} has the shape {blocks[block.velocity].shape}; as the velocity of "
                                 f"{name!r} it has {block.tangent}")
    return blocks
