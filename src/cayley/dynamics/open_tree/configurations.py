"""The configurations of a tree as a manifold: how coordinates follow velocities, joint by joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.typing import Array
from cayley.model.configurations import check_configuration, normalized, quaternion_places
from cayley.model.parts import Joint
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
        return self._joined(lambda joint, a, b: joint.motion.rate(x[a], d[b]))

    def step(self, x: Array, d: Array) -> Array:
        return self._joined(lambda joint, a, b: joint.motion.step(x[a], d[b]))

    def difference(self, start: Array, end: Array) -> Array:
        return self._joined(lambda joint, a, b: joint.motion.difference(start[a], end[a]))

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

    def _joined(self, of_joint: Callable[[Joint, slice, slice], Array]) -> Array:
        return np.concatenate([of_joint(*place) for place in moving_joints(self.tree)] or [np.zeros(0)])


def moving_joints(tree: Tree) -> Iterator[tuple[Joint, slice, slice]]:
    """The joints with coordinates, and where these and their velocities are."""
    for joint, a, b in zip(tree.joints, tree.q_slices, tree.v_slices, strict=True):
        if joint.motion.nq:
            yield joint, a, b
