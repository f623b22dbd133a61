"""Velocities of tasks: differential inverse kinematics.

    qd = N x       x the independent velocities, by the constraints of the mechanism; all of them if there are none
    qd = N x - G phi       where constraints that are open by phi are to be closed
    J_c N x = 0    of contacts that stand
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayley.compiler.typing import Array
from cayley.control.drive_dynamics import DriveDynamics
from cayley.control.tasks.contacts import Contact
from cayley.control.tasks.joint_limits import JointLimits
from cayley.control.tasks.situation import LimitRow, Situation, without_cost
from cayley.control.tasks.task import ControlTask
from cayley.kinematics.constraints.rows import residual
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.model.tree import Tree
from cayley.systems import Port, Record


@dataclass(frozen=True, eq=False)
class VelocityLevel:
    """The level of velocities of a mechanism."""

    tree: Tree
    drives: DriveDynamics
    limits: JointLimits
    contacts: Sequence[Contact]
    period: float | None
    closes: bool = False

    accelerates = False
    word = "velocity"

    @property
    def sees_velocity(self) -> bool:
        """True if limits of acceleration ask for the velocity before."""
        return bool(np.isfinite(self.limits.acceleration).any())

    @property
    def ports(self) -> dict[str, Port]:
        return {"q": Port((self.tree.nq,))} | ({"qd": Port((self.tree.nv,))} if self.sees_velocity else {})

    @property
    def outputs(self) -> dict[str, Port]:
        return {"qd": Port((self.tree.nv,))} if not self.sees_velocity else {"next_qd": Port((self.tree.nv,))}

    @property
    def limit_names(self) -> tuple[str, ...]:
        return tuple(f"velocity of {self.limits.names[k]}" for k in self._limited)

    @property
    def _limited(self) -> list[int]:
        return [k for k in range(self.tree.nv) if self.limits.is_limited(k)]

    def at(self, u: Record, p: Record) -> Situation:
        """The velocities to choose from; a text."""
        n = self.drives.count
        here = self.drives.at(u.q)
        N = np.eye(n) if here.N is None else here.N
        qd = u.qd if self.sees_velocity else np.zeros(self.tree.nv)
        is_tied = here.N is not None or bool(self.contacts)
        rest = np.zeros(self.tree.nv) if here.G is None or not self.closes else -here.G @ self._open(u.q)
        rows = []
        for k in self._limited:
            low, high = self.limits.velocity_bounds(k, u.q, qd[k], p.approach, self.period or 0.0)
            speed = self.limits.velocity[k]
            share = (speed if np.isfinite(speed) else 1.0) if is_tied else 0.0
            rows.append(LimitRow(N[k], low - rest[k], high - rest[k], share))
        held = [u[f"contact_{each.label}"] * here.rows(each.jacobian(self.tree, u.q)) for each in self.contacts]
        A = np.concatenate(held) if held else np.zeros((0, n))
        return Situation(N, rest, rows, A, np.zeros(len(A)), *without_cost(n), {next(iter(self.outputs)): (N, rest)})

    def _open(self, q: Array) -> Array:
        """The residual of the constraints that are kept; a text."""
        return residual(self.tree, q)[list(constraint_structure(self.tree).used)]

    def wanted(self, task: ControlTask, here: Situation, u: Record, p: Record) -> tuple[Array, Array]:
        """The rows (m, n) of a task by the unknowns, and the values (m) that they should have; a text."""
        J = task.jacobian(self.tree, u.q, task.aim(self.tree, u))
        return J @ here.motion, task.velocity(self.tree, u, p) - J @ here.rest
