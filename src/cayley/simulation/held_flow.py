"""A tree of which some joints are held, in a stage of a step."""

from __future__ import annotations

from dataclasses import dataclass

from cayley.compiler.typing import Array
from cayley.dynamics.forward.dry_friction import held_solve
from cayley.dynamics.open_tree import TreeMechanics
from cayley.systems.fixed_steps.protocol import Flow
from cayley.systems.layout import State
from cayley.systems.record import Record


@dataclass(frozen=True, eq=False)
class HeldMechanics(TreeMechanics):
    """The equations of motion with some joints held: where `going` (nv) is zero."""

    going: Array | float = 1.0

    def acceleration(self, q: Array, qd: Array, tau: Array, *more: Array) -> Array:
        return held_solve(*self.balance(q, qd, tau, *more), self.going)

    def solved(self, M: Array, forces: Array) -> Array:
        return held_solve(M, forces, self.going)


@dataclass(frozen=True)
class HeldFlow(Flow):
    """The system of a tree with these equations of motion in place of its own."""

    mechanics: TreeMechanics

    def tangents(self, x: State, u: Record) -> dict[str, Array]:
        return {"q": x.qd, "qd": self.mechanics.acceleration(x.q, x.qd, *acting(u))}


def acting(u: Record) -> list[Array]:
    """Joint forces, wrenches and inertias, as the equations of motion take them."""
    return [u[name] for name in u]
