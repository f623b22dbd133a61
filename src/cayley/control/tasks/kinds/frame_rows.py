"""Rows of a frame's motion along or about chosen axes of the root, which tasks of positions and orientations share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.tasks.task import ControlTask
from cayley.errors import SignatureError, shown
from cayley.geometry.rotations.quaternion import quaternion_from_matrix
from cayley.geometry.rotations.rotation_vector import rotation_vector_from_quaternion
from cayley.kinematics.jacobians.general_jacobian import general_jacobian
from cayley.kinematics.jacobians.velocity import frame_bias
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class FrameRowsTask(ControlTask):
    """A task of a `frame`, in the axes of the root."""

    frame: str

    @property
    def subject(self) -> str:
        return self.frame

    def places(self) -> list[int]:
        """The places of the rows among (x, y, z; turn about x, y, z)."""
        return list(range(6))

    def rows(self, tree: Tree) -> tuple[str, ...]:
        tree.frame(self.frame)
        words = ("x", "y", "z", "about x", "about y", "about z")
        return tuple(f"{self.frame} {words[k]}" for k in self.places())

    def jacobian(self, tree: Tree, q: Array, target: Array) -> Array:
        return general_jacobian(tree, q, self.frame, axes="world")[self.places()]

    def drift(self, tree: Tree, q: Array, qd: Array, target: Array) -> Array:
        return frame_bias(tree, q, qd, self.frame, axes="world")[self.places()]


def axes_places(axes: str, whose: str) -> list[int]:
    """The places of axes such as "xyz" or "xy", each named once and in their order."""
    places = ["xyz".find(letter) for letter in axes] if isinstance(axes, str) else []
    if not places or -1 in places or places != sorted(set(places)):
        raise SignatureError(f"the axes of {whose} are letters out of \"xyz\", in this order, not {shown(axes)}")
    return places


def turn_missing(R: Array, target: Array) -> Array:
    """The rotation vector (3) of target R^T, its angle from 0 to pi; a text."""
    return rotation_vector_from_quaternion.unchecked(quaternion_from_matrix.unchecked(target @ R.T))


def picked(values: Array, places: list[int]) -> Array:
    """The entries at places, all of them as they are."""
    return values if len(places) == len(values) else np.stack([values[k] for k in places])
