"""The task of a posture: the joints at a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.tasks.task import ControlTask
from cayley.errors import check_known
from cayley.model.configuration_space import configuration_difference
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class PostureTask(ControlTask):
    """The joints at a configuration (nq), which is a whole one; those that count are the actuated ones, or `joints`."""

    joints: Sequence[str] | None = None
    word: ClassVar[str] = "posture"

    def _counted(self, tree: Tree) -> list[tuple[str, int]]:
        names = tree.actuated_joints if self.joints is None else tuple(self.joints)
        check_known(names, tree.joint_names, f"{tree.name} has no joint")
        return [(joint.name, place) for joint, places in zip(tree.joints, tree.v_slices, strict=True)
                if joint.name in names for place in range(places.start, places.stop)]

    def rows(self, tree: Tree) -> tuple[str, ...]:
        return tuple(name for name, _ in self._counted(tree))

    def shape(self, tree: Tree) -> tuple[int, ...] | None:
        return (tree.nq,)

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        return configuration_difference(tree, q, target)[[place for _, place in self._counted(tree)]]

    def jacobian(self, tree: Tree, q: Array, target: Array) -> Array:
        return np.eye(tree.nv)[[place for _, place in self._counted(tree)]]

    def drift(self, tree: Tree, q: Array, qd: Array, target: Array) -> Array:
        return np.zeros(len(self._counted(tree)))
