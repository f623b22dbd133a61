"""The dynamics of a mechanism in the velocities of its drives, which laws need of arms, of machines with loops and of
machines with wheels.

    qd = N pd        qdd = N pdd + c        M_p pdd + b_p = the forces of the drives
    M_p = N^T M N        b_p = N^T (M c + b)        c = - G drift        dN/dt v = - G dA/dt N v
p are the velocities of drives from which all others follow, M and b those of the spanning tree, A the Jacobian of the
constraints. Of an open arm p = q, N = 1 and c = 0, and nothing is computed. Source: Ruggiu (4.23)-(4.29)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.typing import Array
from cayley.errors import UnsupportedError
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.space import ConstraintSpace
from cayley.kinematics.constraints.structure import constraint_structure
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.general_jacobian import configuration_rate_map
from cayley.kinematics.orientation import changing
from cayley.model.tree import Tree


@dataclass(frozen=True, eq=False)
class DriveDynamics:
    """A mechanism and the places (m) of the velocities of its drives that lead all others; made by `of`."""

    tree: Tree
    leading: tuple[int, ...]

    @classmethod
    def of(cls, tree: Tree, what: str) -> DriveDynamics:
        """`UnsupportedError` names a motion of a mechanism with constraints that no drive leads, for the law `what`."""
        if not tree.is_constrained:
            return cls(tree, tuple(range(tree.nv)))
        check_untimed(tree)
        structure = constraint_structure(tree)
        undriven = [structure.velocities[k] for k in structure.independent if k not in tree.actuated_velocities]
        if undriven:
            raise UnsupportedError(f"{what} needs a drive for each of the {structure.mobility} independent motions of "
                                   f"{tree.name}, and no drive leads {undriven[0]!r}: `with_actuated` names the joints "
                                   "that have drives, and `lqr` can do with fewer")
        return cls(tree, structure.independent)

    @property
    def count(self) -> int:
        return len(self.leading)

    @property
    def is_open(self) -> bool:
        return not self.tree.is_constrained

    @property
    def is_driven(self) -> Array:
        """A mask (nv): one at the velocities of drives, zero elsewhere."""
        return np.isin(np.arange(self.tree.nv), self.leading).astype(float)

    def picked(self, values: Array) -> Array:
        """The entries (m) of drives among those (nv) of all velocities."""
        return values if self.is_open else values[list(self.leading)]

    def spread(self, forces: Array) -> Array:
        """Forces (nv) that are those (m) of the drives, and zero elsewhere."""
        if self.is_open:
            return forces
        places = {place: k for k, place in enumerate(self.leading)}
        return np.stack([forces[places[k]] if k in places else 0.0 * forces[0] for k in range(self.tree.nv)])

    def at(self, q: Array, qd: Array | None = None) -> DrivenState:
        """The motions that the constraints leave at a state; a text."""
        if self.is_open:
            return DrivenState(self)
        N, G = ConstraintSpace.of(self.tree, q).followers(self.leading)
        c = None if qd is None else -G @ constraints.drift(self.tree, q, qd)[self._rows]
        return DrivenState(self, N, G, c)

    @cached_property
    def jacobian_rate(self) -> Kernel:
        """`jacobian_rate(q, qd)`: dA/dt of the rows that are kept."""
        tree = self.tree

        def jacobian_rate(q: Array, qd: Array) -> Array:
            A = constraints.jacobian(tree, q)[self._rows]
            return changing(A, [q], [configuration_rate_map(tree, q) @ qd])

        return kernel(sized(tree, f"(q),(v)->({len(self._rows)},v)"))(jacobian_rate)

    @cached_property
    def _rows(self) -> list[int]:
        return list(constraint_structure(self.tree).used)


@dataclass(frozen=True, eq=False)
class DrivenState:
    """N (nv, m), G and c (nv) at a state, none of an open arm; all methods are texts."""

    of: DriveDynamics
    N: Array | None = None
    G: Array | None = None
    c: Array | None = None

    def forces(self, tau: Array) -> Array:
        """N^T tau (m, ...): the forces of drives that are worth those (nv, ...) of all joints."""
        return tau if self.N is None else self.N.T @ tau

    def spread(self, tau: Array) -> Array:
        """The forces (nv) of drives that are worth those (nv) of all joints."""
        return self.of.spread(self.forces(tau))

    def rows(self, J: Array) -> Array:
        """J N (k, m): a Jacobian (k, nv) by the velocities of drives."""
        return J if self.N is None else J @ self.N

    def inertia(self, M: Array) -> Array:
        """M_p (m, m) of the inertia matrix (nv, nv) of all joints."""
        return M if self.N is None else self.N.T @ M @ self.N

    def bias(self, M: Array, b: Array) -> Array:
        """b_p (m) of the bias forces b (nv) of all joints."""
        return b if self.c is None else self.forces(M @ self.c + b)

    def drift(self, J: Array, Jd_qd: Array) -> Array:
        """J c + J' qd (k): the rate of J qd where the drives do not accelerate."""
        return Jd_qd if self.c is None else Jd_qd + J @ self.c

    def velocity(self, pd: Array) -> Array:
        """N pd (nv)."""
        return pd if self.N is None else self.N @ pd

    def acceleration(self, pdd: Array) -> Array:
        """N pdd + c (nv)."""
        return pdd if self.c is None else self.velocity(pdd) + self.c

    def reference_acceleration(self, q: Array, qd: Array, v: Array, a: Array) -> Array:
        """d(N v)/dt (nv) for velocities v of drives that are not those of the motion, with rates a."""
        if self.N is None or self.G is None:
            return a
        return self.N @ a - self.G @ (self.of.jacobian_rate(q, qd) @ (self.N @ v))

    def momentum_rate(self, q: Array, qd: Array, momentum: Array, rate: Array) -> Array:
        """d(N^T p)/dt (m) for a momentum p (nv) of all joints and its rate."""
        if self.N is None or self.G is None:
            return rate
        return self.N.T @ (rate - self.of.jacobian_rate(q, qd).T @ (self.G.T @ momentum))
