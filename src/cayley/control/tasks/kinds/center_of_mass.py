"""The task of the centre of mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cayley.compiler.typing import Array
from cayley.control.tasks.kinds.frame_rows import axes_places, picked
from cayley.control.tasks.task import ControlTask
from cayley.dynamics.rigid_links.energies import total_mass
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.state_kernels import state_kernel
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class CenterOfMassTask(ControlTask):
    """The centre of mass of all that moves at a point (3) in the root's axes, or over it: `axes="xy"`."""

    axes: str = "xyz"
    word: ClassVar[str] = "center_of_mass"

    def _places(self) -> list[int]:
        return axes_places(self.axes, f"the task {self.label!r}")

    def rows(self, tree: Tree) -> tuple[str, ...]:
        return tuple(f"center of mass {'xyz'[k]}" for k in self._places())

    def shape(self, tree: Tree) -> tuple[int, ...] | None:
        return (3,)

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        return picked(target - state_kernel(tree, "center_of_mass")(q), self._places())

    def jacobian(self, tree: Tree, q: Array, target: Array) -> Array:
        return state_kernel(tree, "center_of_mass_jacobian")(q)[self._places()]

    def drift(self, tree: Tree, q: Array, qd: Array, target: Array) -> Array:
        mass = total_mass(links_of(tree.spanning_tree()))
        return picked(state_kernel(tree, "centroidal_bias")(q, qd)[:3] / mass, self._places())
