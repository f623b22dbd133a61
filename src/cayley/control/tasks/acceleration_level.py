"""Accelerations of tasks, with the forces of drives and contacts that bring them about: inverse dynamics.

    M a + b = S tau + J^T f,   J a + drift = - gain J qd        a the independent accelerations, J that of contacts
Where every independent motion has a drive and nothing touches, the unknowns are x = a, and tau = M x + b. Otherwise
they are the forces of the drives x = tau, of which everything else follows:

    (M J^T; J -D) (a; -f) = (S x - b; -drift - gain J qd)
A quadruped has 12 unknowns and no equations then, where accelerations and forces together would be 30 and 18; the
matrix is eliminated in an order that keeps the zeros between its legs. A row of a lifted contact is zero, and D = 1, so
that f = 0. Of one that stands D = 1e-10 1/kg is a ground that gives a little, where contacts depend on each other.
Forces of drives keep their limits in any case; cones of contacts and limits of joints give where they contradict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.solving.saddle import saddle
from cayley.compiler.typing import Array
from cayley.control.drive_dynamics import DriveDynamics, DrivenState
from cayley.control.tasks.contacts import Contact
from cayley.control.tasks.joint_limits import JointLimits
from cayley.control.tasks.situation import LimitRow, Situation, without_cost
from cayley.control.tasks.task import ControlTask
from cayley.dynamics.inertia_matrix.kernels import inertia_matrix_kernel
from cayley.dynamics.rigid_links.energies import total_mass
from cayley.dynamics.rigid_links.links import links_of
from cayley.dynamics.state_kernels import bias_forces_kernel
from cayley.model.tree import Tree
from cayley.systems import Port, Record

_GIVES = 1e-10


class Chosen(NamedTuple):
    """Accelerations a (m), forces of drives (k) and of contacts (c), as affine functions of the unknowns: each a matrix
    and a vector."""

    a: tuple[Array, Array]
    tau: tuple[Array, Array]
    f: tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class AccelerationLevel:
    """The level of accelerations and forces of a mechanism."""

    tree: Tree
    drives: DriveDynamics
    limits: JointLimits
    contacts: Sequence[Contact]

    accelerates = True
    word = "acceleration"

    @property
    def ports(self) -> dict[str, Port]:
        return {"q": Port((self.tree.nq,)), "qd": Port((self.tree.nv,))}

    @property
    def outputs(self) -> dict[str, Port]:
        nv = self.tree.nv
        return {"tau": Port((nv,)), "qdd": Port((nv,))} | {f"force_{c.label}": Port((c.size,)) for c in self.contacts}

    @cached_property
    def driven(self) -> tuple[int, ...]:
        """The places of the velocities that have drives."""
        return self.tree.actuated_velocities

    @property
    def by_acceleration(self) -> bool:
        """True if the unknowns are the accelerations."""
        return not self.contacts and tuple(self.drives.leading) == self.driven

    @property
    def limit_names(self) -> tuple[str, ...]:
        names = self.limits.names
        return (*(f"torque of {names[k]}" for k in self._strong), *(f"motion of {names[k]}" for k in self._limited),
                *(word for contact in self.contacts for word in contact.words[_first_side(contact):]))

    @property
    def _strong(self) -> list[int]:
        return [k for k in self.driven if np.isfinite(self.limits.effort[k])]

    @property
    def _limited(self) -> list[int]:
        return [k for k in range(self.tree.nv) if self.limits.is_limited(k)]

    def at(self, u: Record, p: Record) -> Situation:
        """The accelerations to choose from; a text."""
        here = self.drives.at(u.q, u.qd)
        of_joints = inertia_matrix_kernel(self.tree)(u.q)
        M, b = here.inertia(of_joints), here.bias(of_joints, bias_forces_kernel(self.tree)(u.q, u.qd))
        chosen = self._by_acceleration(M, b) if self.by_acceleration else self._by_force(here, M, b, u)
        X, rest = chosen.a if here.N is None else (here.N @ chosen.a[0], here.acceleration(chosen.a[1]))
        n = X.shape[1]
        cost, slope = without_cost(n)
        found = {"tau": self._spread(chosen.tau), "qdd": (X, rest)}
        for contact, F, f in self._each(*chosen.f):
            found[f"force_{contact.label}"] = (F, f)
            cost, slope = cost + contact.weight * (F.T @ F), slope + contact.weight * (F.T @ f)
        rows = [*self._torques(chosen.tau), *self._motions(X, rest, u, p), *self._cones(chosen.f, u)]
        least = 1e-12 if self.contacts else 1e-8  # the weights of contacts do the same
        return Situation(X, rest, rows, np.zeros((0, n)), np.zeros(0), cost, slope, found, least)

    def wanted(self, task: ControlTask, here: Situation, u: Record, p: Record) -> tuple[Array, Array]:
        """The rows (m, n) of a task by the unknowns, and the values (m) that they should have; a text."""
        target = task.aim(self.tree, u)
        J = task.jacobian(self.tree, u.q, target)
        drift = task.drift(self.tree, u.q, u.qd, target)
        return J @ here.motion, task.acceleration(self.tree, u, p, J @ u.qd) - drift - J @ here.rest

    def _by_acceleration(self, M: Array, b: Array) -> Chosen:
        n = len(b)
        return Chosen((np.eye(n), np.zeros(n)), (M, b), (np.zeros((0, n)), np.zeros(0)))

    def _by_force(self, here: DrivenState, M: Array, b: Array, u: Record) -> Chosen:
        S = here.forces(np.eye(self.tree.nv)[:, list(self.driven)])
        k = S.shape[1]
        J, going, gives = self._touching(here, u)
        factors = saddle(M, J, gives)
        found = [factors.solve(S[:, j], np.zeros(len(J))) for j in range(k)] + [factors.solve(-b, -going)]
        a, f = (np.stack([each[part] for each in found], axis=1) for part in (0, 1))
        return Chosen((a[:, :k], a[:, k]), (np.eye(k), np.zeros(k)), (-f[:, :k], -f[:, k]))

    def _touching(self, here: DrivenState, u: Record) -> tuple[Array, Array, Array]:
        """The rows J (c, m) of all contacts, drift + gain J qd (c), and by how much they give (c); no rows of contacts
        that are lifted."""
        J, going, gives = [np.zeros((0, self.drives.count))], [np.zeros(0)], [np.zeros(0)]
        for contact in self.contacts:
            rows = contact.jacobian(self.tree, u.q)
            stands = u[f"contact_{contact.label}"]
            drift = here.drift(rows, contact.drift(self.tree, u.q, u.qd))
            J.append(stands * here.rows(rows))
            going.append(stands * (drift + contact.gain * (rows @ u.qd)))
            gives.append(np.stack([1.0 - stands + _GIVES] * contact.size))
        return np.concatenate(J), np.concatenate(going), np.concatenate(gives)

    def _each(self, F: Array, f: Array) -> list[tuple[Contact, Array, Array]]:
        """The forces of each contact."""
        ends = np.cumsum([0, *[contact.size for contact in self.contacts]])
        return [(contact, F[a:b], f[a:b]) for contact, a, b in zip(self.contacts, ends[:-1], ends[1:], strict=True)]

    def _spread(self, tau: tuple[Array, Array]) -> tuple[Array, Array]:
        """Forces of all joints, zero where there is no drive."""
        places = {place: k for k, place in enumerate(self.driven)}
        T = np.stack([tau[0][places[k]] if k in places else np.zeros(tau[0].shape[1]) for k in range(self.tree.nv)])
        return T, np.stack([tau[1][places[k]] if k in places else 0.0 for k in range(self.tree.nv)])

    def _torques(self, tau: tuple[Array, Array]) -> list[LimitRow]:
        most = self.limits.effort
        places = {place: k for k, place in enumerate(self.driven)}
        return [LimitRow(tau[0][places[k]], -most[k] - tau[1][places[k]], most[k] - tau[1][places[k]])
                for k in self._strong]

    def _motions(self, X: Array, rest: Array, u: Record, p: Record) -> list[LimitRow]:
        rows = []
        for k in self._limited:
            low, high = self.limits.acceleration_bounds(k, u.q, u.qd[k], p.approach)
            rows.append(LimitRow(X[k], low - rest[k], high - rest[k], 10.0))
        return rows

    def _cones(self, f: tuple[Array, Array], u: Record) -> list[LimitRow]:
        weight = float(np.linalg.norm(self.tree.gravity)) * float(total_mass(links_of(self.tree.spanning_tree())))
        rows = []
        for contact, F, f0 in self._each(*f):
            stands = u[f"contact_{contact.label}"]
            sides = contact.sides(self.tree, u.q)
            first = _first_side(contact)
            for number, (entries, value) in enumerate(zip(sides[first:] @ F, sides[first:] @ f0, strict=True), first):
                least = contact.least if number == 0 else 0.0
                rows.append(LimitRow(entries, stands * least - value - (1.0 - stands), np.inf, weight or 1.0))
        return rows


def _first_side(contact: Contact) -> int:
    """The first side that says something: with friction the others press where nothing less does."""
    return 0 if contact.least or not contact.friction else 1
