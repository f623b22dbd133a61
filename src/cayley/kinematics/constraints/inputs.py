"""The joints of a mechanism whose coordinates are given, its inputs; the others follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.errors import ConventionError, SignatureError, UnsupportedError, shown
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Inputs:
    """Some joints of a tree, by their numbers, in the order in which they were named."""

    tree: Tree
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, tree: Tree, names: Sequence[str] | Mapping[str, ArrayLike]) -> Inputs:
        """The joints of these names; `ConventionError` for one that is named twice, or has no coordinates.

        >>> from cayley.model.catalogue import load_robot
        >>> Inputs.of(load_robot("four_bar"), ["crank"]).coordinates
        array([0])
        """
        if isinstance(names, str):
            raise ConventionError(f"inputs must be a list of names of joints: [{names!r}], not {names!r}")
        numbers = [tree.joint_number(name) for name in names]
        for name, number in zip(names, numbers, strict=True):
            if not tree.joints[number].motion.nq:
                raise ConventionError(f"joint {name!r} of {tree.name} has no coordinates: it cannot be an input")
            if numbers.count(number) > 1:
                raise ConventionError(f"joint {name!r} is named twice among the inputs")
        return cls(tree, tuple(numbers))

    def check_followed(self) -> None:
        """Refuse a mechanism in which no joint follows from another."""
        if not self.tree.is_constrained:
            raise UnsupportedError(
                f"{self.tree.name} has no loops or other constraints: no joint follows from inputs, and any values of "
                "its coordinates are a configuration")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.tree.joints[number].name for number in self.numbers)

    @cached_property
    def coordinates(self) -> Array:
        """The places of their coordinates in q."""
        return _places([self.tree.q_slices[number] for number in self.numbers])

    @cached_property
    def velocities(self) -> Array:
        """The places of their velocities in qd."""
        return _places([self.tree.v_slices[number] for number in self.numbers])

    @cached_property
    def following(self) -> Array:
        """Flags (nv) of the velocities that are not inputs."""
        others = np.ones(self.tree.nv, dtype=bool)
        others[self.velocities] = False
        return others

    def values(self, given: Mapping[str, ArrayLike]) -> Array:
        """Values (..., coordinates) of all of them, side by side: a number for a joint of one coordinate, as many as it
        has for another."""
        if not isinstance(given, Mapping):
            raise ConventionError(
                f"inputs of {self.tree.name} must be values by names of joints, as {{{self.names[0]!r}: 0.5}}, not "
                f"{shown(given)}")
        parts = []
        for name, number in zip(self.names, self.numbers, strict=True):
            size = self.tree.joints[number].motion.nq
            value = self._numbers(name, given[name])
            if size != 1 and value.shape[-1:] != (size,):
                raise ConventionError(
                    f"the input {name!r} of {self.tree.name} has {size} coordinates: values (..., {size}), not "
                    f"{value.shape}")
            parts.append(value[..., None] if size == 1 else value)
        batch = common_batch(dict(zip(self.names, [part.shape[:-1] for part in parts], strict=True)))
        return np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts] or
                              [np.zeros((*batch, 0))], axis=-1)

    def _numbers(self, name: str, given: ArrayLike) -> Array:
        try:
            return np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise ConventionError(
                f"values of the input {name!r} of {self.tree.name} must be numbers, not {shown(given)}") from None

    def put(self, q: Array, values: Array) -> Array:
        """The configurations with these values of the inputs."""
        batch = common_batch({"configurations": q.shape[:-1], "values of inputs": values.shape[:-1]})
        made = np.array(np.broadcast_to(q, (*batch, self.tree.nq)))
        made[..., self.coordinates] = values
        return made


def common_batch(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The axes of a batch that several arrays have together, or an error with what they are of."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        said = ", ".join(f"{shape} {what}" for what, shape in shapes.items())
        raise SignatureError(f"batches that cannot be broadcast together: {said}") from None


def _places(slices: Sequence[slice]) -> Array:
    return np.array([k for place in slices for k in range(place.start, place.stop)], dtype=int)
