"""Arrays and their parts, of numbers or of expressions: values that follow each other in one vector, matrices on a
diagonal, and the sum over copies that broadcasting made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TypeVar

import numpy as np

from cayley.compiler.typing import Array

Name = TypeVar("Name")


def as_vector(value: Array) -> Array:
    """A value as a vector (n)."""
    shape = np.shape(value)
    return np.stack([value]) if shape == () else value if len(shape) == 1 else value.reshape(-1)


def split(vector: Array, shapes: Mapping[Name, tuple[int, ...]]) -> dict[Name, Array]:
    """The values of some shapes that follow each other in a vector."""
    ends = np.cumsum([0, *[prod(shape) for shape in shapes.values()]]).tolist()
    return {name: vector[a] if shape == () else vector[a:b].reshape(shape)
            for (name, shape), a, b in zip(shapes.items(), ends[:-1], ends[1:], strict=True)}


def block_diagonal(blocks: Sequence[Array]) -> Array:
    """The matrix with matrices on its diagonal, of numbers or of expressions; any may be without rows or columns."""
    if len(blocks) == 1:
        return blocks[0]
    widths = [np.shape(block)[1] for block in blocks]
    rows = [np.concatenate([np.zeros((np.shape(block)[0], sum(widths[:k]))), block,
                            np.zeros((np.shape(block)[0], sum(widths[k + 1:])))], axis=1)
            for k, block in enumerate(blocks) if np.shape(block)[0]]
    return np.concatenate(rows) if rows else np.zeros((0, sum(widths)))


def joined(parts: list[Array]) -> Array:
    """Vectors one after the other; those without numbers may have any type."""
    filled = [part for part in parts if np.shape(part) != (0,)]
    return np.concatenate(filled) if len(filled) > 1 else filled[0] if filled else np.zeros(0)


def each(values: Mapping[str, Array], change: Callable[[Array], Array]) -> dict[str, Array]:
    """Values by name, each of them changed."""
    return {name: change(value) for name, value in values.items()}


def summed(array: Array, shape: tuple[int, ...], full: tuple[int, ...]) -> Array:
    """The derivative by an argument of some shape, of those by its copies in an array of the `full` shape."""
    array = array.reshape((*[1] * (len(full) - array.ndim), *array.shape))
    lead = len(full) - len(shape)
    axes = (*range(lead), *[lead + k for k, size in enumerate(shape) if size == 1 and full[lead + k] != 1])
    copies = prod(full[k] for k in axes) // max(1, prod(array.shape[k] for k in axes))
    found = array.sum(axes).reshape(shape) if axes else array.reshape(shape)
    return found if copies == 1 else copies * found


def padded(array: Array, width: int, axis: int, value: float) -> Array:
    """An array made as wide as `width` along an axis, with a value at its end."""
    shape = list(array.shape)
    shape[axis] = width - shape[axis]
    return np.concatenate([array, np.full(shape, value)], axis=axis)
