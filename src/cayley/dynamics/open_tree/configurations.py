"""The configurations of a tree as a manifold: how coordinates follow velocities, joint by joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.configuration_space import (
    configuration_difference,
    configuration_rate,
    configuration_step,
    moving_joints,
)
from cayley.model.configurations import check_configuration, normalized, quaternion_places
from cayley.model.tree import Tree
from cayley.systems.manifolds import Manifold


@dataclass(frozen=True)
class Configurations(Manifold):
    """The configurations of a tree; tangents are velocities of its joints."""

    tree: Tree

    @cached_property
    def curved(self) -> bool:  # type: ignore[override]
        return any(True for _ in quaternion_places(self.tree))

    def tangent(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (self.tree.nv,)

    def rate(self, x: Array, d: Array) -> Array:
        return configuration_rate(self.tree, x, d)

    def step(self, x: Array, d: Array) -> Array:
        return configuration_step(self.tree, x, d)

    def difference(self, start: Array, end: Array) -> Array:
        return configuration_difference(self.tree, start, end)

    def perturbation_rate(self, d: Array) -> Array:
        rows = []
        for joint, _, b in moving_joints(self.tree):
            own = joint.motion.perturbation_rate(d[b])
            rows.append(np.concatenate([np.zeros((len(own), b.start)), own,
                                        np.zeros((len(own), self.tree.nv - b.stop))], axis=1))
        return np.concatenate(rows)

    def projected(self, x: Array) -> Array:
        parts = []
        last = 0
        for _, turn in quaternion_places(self.tree):
            own = x[turn]
            parts += [x[last:turn.start], own / np.sqrt(own @ own)]
            last = turn.stop
        return np.concatenate([*parts, x[last:]]) if parts else x

    def nearest(self, values: Array) -> Array:
        return normalized(self.tree, values)

    def check(self, values: Array, what: str) -> None:
        check_configuration(self.tree, values, limits=False, tolerance=1e-5 if values.dtype == np.float32 else 1e-8)
