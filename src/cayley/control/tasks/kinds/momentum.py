"""The task of the momentum about the centre of mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.tasks.task import ControlTask
from cayley.dynamics.state_kernels import state_kernel
from cayley.model.tree import Tree
from cayley.systems import Port, Record


@dataclass(frozen=True, eq=False)
class MomentumTask(ControlTask):
    """Momentum and angular momentum (6) about the centre of mass, in the root's axes. Its target is a momentum, so that
    there is no position to return to: h' = rate + gain (target - h)."""

    word: ClassVar[str] = "momentum"

    def rows(self, tree: Tree) -> tuple[str, ...]:
        return tuple(f"{what} {axis}" for what in ("momentum", "angular momentum") for axis in "xyz")

    def shape(self, tree: Tree) -> tuple[int, ...] | None:
        return (6,)

    def ports(self, tree: Tree, *, accelerates: bool) -> dict[str, Port]:
        known = super().ports(tree, accelerates=False)
        return known if accelerates else {name: port for name, port in known.items() if name.startswith("target")}

    def error(self, tree: Tree, q: Array, target: Array) -> Array:
        return np.zeros(6)

    def jacobian(self, tree: Tree, q: Array, target: Array) -> Array:
        return state_kernel(tree, "centroidal_momentum_matrix")(q)

    def drift(self, tree: Tree, q: Array, qd: Array, target: Array) -> Array:
        return state_kernel(tree, "centroidal_bias")(q, qd)

    def velocity(self, tree: Tree, u: Record, p: Record) -> Array:
        return self.aim(tree, u)

    def acceleration(self, tree: Tree, u: Record, p: Record, velocity: Array) -> Array:
        return self._given(tree, u, "rate") + p[f"gain_{self.label}"] * (self.aim(tree, u) - velocity)
