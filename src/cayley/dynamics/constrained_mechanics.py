"""The equations of motion of a mechanism with constraints: loops, rods, couplings, mimic joints, prescribed motions.

    M qdd = f + A^T forces,   A qdd + drift = 0       M and f those of the spanning tree
    phi(q) = 0,   A qd + phi_t = 0                    what a state is brought back onto after each step
Rows that are redundant by structure are left out; where what is redundant moves with the mechanism (Bennett's linkage),
as many rows are used as are independent, chosen anew at each state.

Where rows depend on each other at a configuration alone (a linkage that folds flat), branches of motions meet, and the
mechanism is to pass on its own. The nearer it is, the less such a row says, and the more it makes of what a step or
rounding leaves of phi: with e the part of an ordinary row that it has beyond the others, phi / e^2 of the direction of
the branch, and phi / e^3 of the acceleration. While that is not small, the row is left out: the velocity goes on as it
was. For a step of Newton's method this is the test of Kantorovich.
Of many rows A M^-1 A^T and A A^T would be large and full: they are eliminated as they are (`compiler.solving.saddle`),
damped a little, which leaves such rows out by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.made_once import kept_with_owner
from cayley.compiler.solving.definite import are_definite, is_definite, only_where
from cayley.compiler.solving.saddle import saddle
from cayley.compiler.solving.semidefinite import Semidefinite, factored
from cayley.compiler.tracing.symbols import where, wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inertia_matrix.solve import solve
from cayley.dynamics.mechanics.constrained import multipliers
from cayley.dynamics.open_tree import TreeConfigurations, TreeMechanics
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.rows import RowName, machine_size
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure
from cayley.kinematics.constraints.turned_loops import ConstraintRows, turned_loops
from cayley.kinematics.frame_kernels import sized
from cayley.model.tree import Tree
from cayley.systems.layout import Record

_ROUNDS = 3  # of Newton's method: what one step leaves is small already, and each makes it smaller by that
_SMALL = 6  # rows: so few are factored anew after the first round, where they are nearly closed; more only once
_MANY = 12  # rows, which are not factored as A A^T
_DAMPING = 1e-7  # of the square of a row: less, and rounding shows where rows depend on each other
_CLOSED = 1e-12  # metres and radians
_TRUSTED = 0.2
# Larger than the tolerance of ranks: a motion may pass a singular state, beside which its steps are not as exact
_ASTRAY = 1e-10  # of its scale: a pivot, a square, that the errors of a motion's steps hide, whichever branch it takes
_ASTRAY_FOR_ACCELERATIONS = 1e-9
_BESIDE = 1e-6  # of a margin: where steps towards its end become too small


@dataclass(frozen=True, eq=False)
class ConstrainedMechanics(TreeMechanics):
    """The texts for the mechanism `whole`, whose spanning tree is `tree`, at the time `t` if it depends on it."""

    whole: Tree | None = None
    t: Scalar = None

    @staticmethod
    def of(tree: Tree, wrenches: tuple[str, ...] = (), axes: str = "body",
           inertias: tuple[str, ...] = (), base_motion: bool = False) -> TreeMechanics:
        """The equations of motion of any mechanism, open or closed."""
        if not tree.is_constrained:
            return TreeMechanics(tree, wrenches, axes, inertias, base_motion)
        return ConstrainedMechanics(tree.spanning_tree(), wrenches, axes, inertias, base_motion, tree)

    def at(self, t: Scalar) -> ConstrainedMechanics:
        return replace(self, t=t) if self.is_timed else self

    @property
    def is_timed(self) -> bool:
        return self._whole.is_timed

    @property
    def holds_velocities(self) -> bool:
        """True if a constraint is on velocities alone, as that of a wheel."""
        return not constraints.hold_positions(self._whole).all()

    @property
    def _whole(self) -> Tree:
        assert self.whole is not None
        return self.whole

    @cached_property
    def structure(self) -> ConstraintStructure:
        return constraint_structure(self._whole)

    # Dynamics

    def acceleration(self, q: Array, qd: Array, tau: Array, *more: Array) -> Array:
        M, forces = self.balance(q, qd, tau, *more)
        held = self._held(q, qd)
        return self.solved_within(held.A, M, forces, -held.drift, held.residual)

    def solved_within(self, A: Array, M: Array, forces: Array, rates: Array, phi: Array | None = None) -> Array:
        """y (nv) with M y = forces + A^T z for some z, A y = rates; the rows A that are used are open by `phi`."""
        if self._may_be_singular:  # links without mass that the constraints move, or that nothing does
            M = M + self._weight * (A.T @ A)
            found = self._solved_rows(A, M, forces + self._weight * (A.T @ rates), rates, phi)
            return only_where(is_definite(M[::-1, ::-1]), found)
        return self._solved_rows(A, M, forces, rates, phi)

    @property
    def _may_be_singular(self) -> bool:
        return bool(self.inertias) or not always_regular(self.tree)

    def _solved_rows(self, A: Array, M: Array, forces: Array, rates: Array, phi: Array | None) -> Array:
        if self.structure.rank > _MANY:
            damping = self._damping(self._weight * machine_size(self._whole)**2)
            return saddle(M, A, damping).solve_undamped(forces, rates)

        def of_rows(S: Array, rest: Array) -> Array:
            light = [S[k][k] / (row @ row) for k, row in enumerate(A * self._lengths)]
            factors = factored(S, [one * size * size for one, size in zip(light, self._sizes, strict=True)],
                               self.structure.rank, _ASTRAY_FOR_ACCELERATIONS)
            left = factors.reduced(rest)
            return factors.solved(left if phi is None else _only(self._trusted(factors, phi, light), left))

        return multipliers(M[::-1, ::-1], forces[::-1], wrapped(A)[:, ::-1], -rates, solve=of_rows).qdd[::-1]

    def solved_between(self, pushed: Array, seen: Array, M: Array, forces: Array, rates: Array) -> Array:
        """y (nv) with M y = forces + P^T z for some z, and A y = rates: constraints that are seen as A at another place
        than that where they push along P. Large ones, and links without mass, are seen where they push: what iterates
        comes to the same end."""
        if self.structure.rank > _SMALL or not self.structure.by_structure or self._may_be_singular:
            return self.solved_within(pushed, M, forces, rates)
        freely = solve(M, np.concatenate([forces[:, None], pushed.T], axis=1))
        z = np.linalg.solve(wrapped(seen @ freely[:, 1:]), rates - seen @ freely[:, 0])
        return freely[:, 0] + freely[:, 1:] @ z

    def yielding(self, q: Array, M: Array, forces: Array) -> Array:
        """Accelerations (nv) by forces (nv), or velocities by impulses, within the constraints."""
        return self.solved_within(self.jacobian(q), M, forces, -self.rates(q, np.zeros(self.tree.nv)))

    @cached_property
    def _weight(self) -> float:
        return float(sum(body.mass or 0.0 for body in self.tree.bodies)) or 1.0

    def why_singular(self, q: ArrayLike) -> str | None:
        at = np.asarray(q, dtype=float)
        lost = constraints.lost_directions(self._whole, at, _BESIDE)
        if lost is not None or always_regular(self.tree):
            return lost
        A = np.asarray(constraints.jacobian(self._whole, at, 0.0 if self.is_timed else None), dtype=float)
        M = np.asarray(self.inertia(at), dtype=float) if not self.inertias else np.eye(self.tree.nv)
        return None if are_definite(M + self._weight * A.T @ A) else super().why_singular(q)

    def power(self, q: Array, qd: Array, tau: Array, *more: Array) -> Array:
        power = super().power(q, qd, tau, *more)
        if not self.is_timed:
            return power
        M, forces = self.balance(q, qd, tau, *more)  # the drives of prescribed motions do work
        return power + qd @ (M @ self.acceleration(q, qd, tau, *more) - forces)

    # Constraints

    @property
    def constraints(self) -> dict[str, Text]:
        found: dict[str, Text] = {}
        for each in dict.fromkeys(row.constraint for row in self.structure.rows):
            rows = [k for k, row in enumerate(self.structure.rows) if row.constraint == each]
            found[each] = lambda t, x, u, p, rows=rows: self.at(t)._residual(x.q)[rows]
            found[f"the rate of {each}"] = lambda t, x, u, p, rows=rows: self.at(t)._rates(x.q, x.qd)[rows]
        return found

    def project(self, t: Scalar, x: Record, u: Record, p: Record) -> dict[str, Array]:
        q, qd = self.at(t).projected(x["q"], x["qd"])
        for lost in constraints.passed(self._whole, x["q"], x["qd"]):
            q, qd = where(lost, np.nan, q), where(lost, np.nan, qd)
        return {"q": q, "qd": qd}

    @cached_property
    def _rows(self) -> list[int]:
        return list(self.structure.used)

    def residual(self, q: Array) -> Array:
        return self._residual(q)[self._rows]

    def relative_residual(self, q: Array) -> Array:
        """The residuals of the rows that are used, in parts of their sizes: radians, and parts of the machine."""
        return self.residual(q) / np.array(self._sizes)

    @property
    def used_rows(self) -> list[RowName]:
        """The rows that are used, by name."""
        return [self.structure.rows[k] for k in self._rows]

    def jacobian(self, q: Array) -> Array:
        return constraints.jacobian(self._whole, q, self.t)[self._rows]

    def rates(self, q: Array, qd: Array) -> Array:
        return self._rates(q, qd)[self._rows]

    def _residual(self, q: Array) -> Array:
        return constraints.residual(self._whole, q, self.t)

    def _rates(self, q: Array, qd: Array) -> Array:
        return constraints.rates(self._whole, q, qd, self.t)

    def _held(self, q: Array, qd: Array) -> ConstraintRows:
        """The rows that are used, those of loops on a shared body along its axes."""
        whole = ConstraintRows(constraints.jacobian(self._whole, q, self.t), self._residual(q), self._rates(q, qd),
                     constraints.drift(self._whole, q, qd, self.t))
        for loop in turned_loops(self._whole, self._rows, q, qd):
            for own, turned in zip(whole, loop.held, strict=True):
                own[loop.rows] = turned
        return ConstraintRows(*[each[self._rows] for each in whole])

    def projected(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """A state near the constraints, on them, by the smallest change."""
        if self.structure.rank > _MANY:
            return self._projected_sparsely(q, qd)
        small = self.structure.rank <= _SMALL
        held = self._held(q, qd)
        A = held.A
        factors = self._factored(A)
        trusted = self._trusted(factors, held.residual)
        for k in range(_ROUNDS):
            if k == 1 and small:
                A = held.A
                factors = self._factored(A)
            step = factors.solved(_only(trusted, factors.reduced(held.residual)))
            q = TreeConfigurations(self.tree).step(q, -(self._lengths**2 * (A.T @ step)))
            held = self._held(q, qd)
        for _ in range(2 if small else 1):
            change = factors.solved(_only(trusted, factors.reduced(self._held(q, qd).rates)))
            qd = qd - self._lengths**2 * (A.T @ change)
        return q, qd

    def _projected_sparsely(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """The same for many rows, by the equations as they are and not by A A^T. A first step that does not bring the
        constraints nearer, as beside a configuration where they depend on each other, is not made."""
        at_first = self._held(q, qd)
        nearest = saddle(np.diag(self._lengths**-2.0), at_first.A, self._damping(1.0)).least_change
        moved = self._displaced(q, -nearest(at_first.residual))
        held = self._held(moved, qd)
        nearer = held.residual @ held.residual <= at_first.residual @ at_first.residual / 4 + _CLOSED * _CLOSED
        q = where(nearer, self._displaced(moved, -nearest(held.residual)), q)
        return q, qd - nearest(held.rates)

    def _displaced(self, q: Array, displacement: Array) -> Array:
        """A small step, to its first order: the next round takes out the rest."""
        manifold = TreeConfigurations(self.tree)
        return manifold.projected(q + manifold.rate(q, displacement))

    def _damping(self, mass: float) -> list[float]:
        return [_DAMPING * size * size / mass for size in self._sizes]

    def _factored(self, A: Array) -> Semidefinite:
        A = A * self._lengths
        return factored(A @ A.T, [size * size for size in self._sizes], self.structure.rank, _ASTRAY)

    def _trusted(self, factors: Semidefinite, phi: Array, light: Sequence[Any] | None = None) -> list[Any]:
        """True for each used row whose step is short beside its distance from where it says nothing."""
        sizes = self._sizes if light is None else [one * size for one, size in zip(light, self._sizes, strict=True)]
        each = zip(factors.reduced(phi), factors.ordered(sizes), factors.inverses, strict=False)
        return [np.abs(y) * size * inverse <= _TRUSTED for y, size, inverse in each]

    @cached_property
    def _lengths(self) -> Array:
        return np.array(self.structure.lengths)

    @cached_property
    def _sizes(self) -> list[float]:
        return [self.structure.sizes[row] for row in self._rows]


@kept_with_owner
def projection_kernel(tree: Tree) -> Kernel[tuple[Array, Array]]:
    """`closed_state(q, qd)`: states (..., nq), (..., nv) near the constraints of a mechanism, on them; at the time t,
    the last argument, if one depends on it."""
    mechanics = ConstrainedMechanics.of(tree)
    assert isinstance(mechanics, ConstrainedMechanics)

    def text(q: Array, qd: Array, *t: Scalar) -> tuple[Array, Array]:
        return mechanics.at(*t).projected(q, qd) if t else mechanics.projected(q, qd)

    signature = f"(q),(v){',()' if tree.is_timed else ''}->(q),(v)"
    return kernel(sized(tree, signature), name="closed_state", inputs=constraints.timed(tree, ("q", "qd")))(text)


def _only(trusted: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    return [where(fine, value, 0.0) for fine, value in zip(trusted, values, strict=True)]
