"""Derivatives of the dynamics of mechanisms with constraints: loops, rods, couplings and mimic joints.

    M qdd + A^T lam = f,   A qdd + drift = 0
Both are differentiated with qdd and lam held, and what is found is solved with the matrix of the equations themselves:

    (M A^T; A 0) (dqdd; dlam) = (dtau - (P + d(A^T lam)/dq) dq - V dqd;  - d(A qdd + drift)/dq dq - d(drift)/dqd dqd)
V and P are those of the spanning tree. A perturbation is one of the closed mechanism if A dq = 0 and A dqd + d(A qd)/dq
dq = 0. In the velocities pd of independent joints all of them are

    dq = N dp,   dqd = N dpd + T dp      N: A N = 0, one for the joints themselves;   T = - G d(A qd)/dq N
G solves the constraints for the other joints. For perturbations that open the constraints the derivatives are those
of accelerations with A qdd + drift = 0, as Pinocchio's are. State-space models are x' = A x + B u with x = (dp, dpd)
and u = dtau at all joints of the tree: every solution is one of the closed mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.tracing.nominal_values import is_symbolic
from cayley.compiler.tracing.symbols import where, wrapped
from cayley.compiler.typing import Array, ArrayLike, Scalar, Text
from cayley.dynamics.forward.constrained import (
    dry_frictions,
    equations_text,
    explanation_of_constraints,
    friction_at_rest,
    state_signature,
)
from cayley.dynamics.inertia_matrix.always_regular import always_regular
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.linearised.by_differentiation import along_velocities, times
from cayley.dynamics.linearised.closed_form_for_trees import Sensitivities
from cayley.dynamics.linearised.kernels import Linearize, default_method, sensitivities_text
from cayley.dynamics.linearised.state_space import Linearisation
from cayley.dynamics.mechanics.constrained import block_inverse, block_inverse_of_rank
from cayley.dynamics.rigid_links.minimal_links import minimal_links
from cayley.errors import ConventionError, UnsupportedError, did_you_mean
from cayley.kinematics.constraints import rows as constraints
from cayley.kinematics.constraints.space import ConstraintSpace
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure
from cayley.kinematics.frame_kernels import sized
from cayley.kinematics.jacobians.general_jacobian import derivatives
from cayley.kinematics.mechanism_kernel import Made, MechanismKernel, described, of_a_mechanism, units_of
from cayley.model.constraints import check_positions_follow
from cayley.model.parameters import has_symbols
from cayley.model.tree import Tree
from cayley.showing import brief, shown_briefly

_KEPT = 1e-7  # beside the largest of its kind: what is left open of constraints that are kept


@shown_briefly
class ConstrainedDerivatives(NamedTuple):
    """dqdd = by_q dq + by_qd dqd + by_tau dtau at the accelerations qdd, and the same of the constraint forces (h)."""

    qdd: Array
    by_q: Array
    by_qd: Array
    by_tau: Array
    forces: Array
    forces_by_q: Array
    forces_by_qd: Array
    forces_by_tau: Array


class ConstraintPartials(NamedTuple):
    """Derivatives of what the constraints say, by q along the velocities, and by qd."""

    pushed: Array
    """(n, n) of A^T lam by q."""
    accelerated: Array
    """(h, n) of A qdd + drift by q."""
    moved: Array
    """(h, n) of A qd by q, and of what the time adds to it."""
    drift: Array
    """(h, n) of the drift by qd."""


@of_a_mechanism
def constrained_derivatives_kernel(tree: Tree, structure: ConstraintStructure, method: str, kind: type[Made]) -> Made:
    """`forward_derivatives(q, qd, tau)` of a mechanism with constraints; V and P of its tree by a method."""
    text = constrained_derivatives_text(tree, structure, method)
    described(tree, text, "Forward dynamics under constraints, qdd(q, qd, tau) and the constraint "
              "forces, and their derivatives by q, qd and tau.", f"Method: {method}.")
    h = len(structure.rows)
    own = "(v),(v,v),(v,v),(v,v)"
    return kernel(sized(tree, f"{state_signature(tree)}->{own},({h}),({h},v),({h},v),({h},v)"),
                  name="forward_derivatives", outputs=ConstrainedDerivatives._fields,
                  inputs=constraints.timed(tree, ("q", "qd", "tau")),
                  units=units_of(tree) | {"t": "s"}, kind=kind,
                  explain=explanation_of_constraints(tree, structure))(text)


def constrained_derivatives_text(tree: Tree, structure: ConstraintStructure, method: str | None = None) -> Text:
    """The text `(q, qd, tau)`. Where dry friction holds the mechanism, nothing accelerates it, and how the load is
    shared between friction and constraints is not known: the derivatives of their forces are NaN."""
    equations = equations_text(tree, structure)
    coulomb = dry_frictions(tree, structure)
    free = tree.spanning_tree()
    of_tree = sensitivities_text(free, method)
    scale = structure.scale(structure.used)
    simple = structure.by_structure and always_regular(free)  # then it takes fewer operations

    def text(q: Array, qd: Array, tau: Array, *t: Scalar) -> ConstrainedDerivatives:
        found = equations(q, qd, tau, *t)
        M, f, A, drift = found
        friction = None if coulomb is None else friction_at_rest(found, coulomb, qd, structure)
        f = f if friction is None else f + friction.forces
        inverse = (block_inverse(M, A, scale) if simple else
                   block_inverse_of_rank(M, A, rank=structure.rank, scale=scale))
        qdd = inverse.C11 @ f - inverse.C12 @ drift
        lam = inverse.C12.T @ f - inverse.C22 @ drift
        _, V, P = of_tree(q, qd, qdd)
        at = constraint_partials(tree, structure, (q, qd, *t), qdd, lam)
        changes = ((-(P + at.pushed), -at.accelerated), (-V, -at.drift))  # by q, by qd
        by_state = [inverse.C11 @ upper + inverse.C12 @ lower for upper, lower in changes]
        lam_by_state = [inverse.C12.T @ upper + inverse.C22 @ lower for upper, lower in changes]
        accelerated = [*by_state, inverse.C11]
        pushed = [*lam_by_state, inverse.C12.T]
        if friction is not None:
            accelerated = [where(friction.holds, 0.0, value) for value in accelerated]
            pushed = [where(friction.holds, np.nan, value) for value in pushed]
        forces = _in_all_rows(structure, *[-value for value in (lam, *pushed)])
        return ConstrainedDerivatives._make([qdd, *accelerated, *forces])

    return text


@of_a_mechanism
def constrained_linearize_kernel(tree: Tree, structure: ConstraintStructure, method: str, kind: type[Made],
                                 chosen: tuple[int, ...] | None = None) -> Made:
    """`linearize(q, qd, qdd)`: D, V and P (m, m) of the closed mechanism in its independent velocities, or those at the
    places `chosen`, for forces that act at those joints alone: dtau_p = D dpdd + V dpd + P dp."""
    check_positions_follow(tree, "a linear model")
    chosen = structure.independent if chosen is None else chosen
    of_tree = sensitivities_text(tree.spanning_tree(), method)
    equations = equations_text(tree, structure)

    def linearize(q: Array, qd: Array, qdd: Array, *t: Scalar) -> Sensitivities:
        M, f, A, _ = equations(q, qd, np.zeros(tree.nv), *t)
        needed = M @ qdd - f
        N, G = ConstraintSpace(structure, A, structure.used).followers(chosen)
        _, V, P = of_tree(q, qd, qdd)
        at = constraint_partials(tree, structure, (q, qd, *t), qdd, G.T @ needed)
        T = -G @ (at.moved @ N)
        by_pd = -G @ (at.drift @ N)
        by_p = -G @ (at.accelerated @ N + at.drift @ T)
        return Sensitivities(N.T @ M @ N, N.T @ (V @ N + M @ by_pd),
                             N.T @ (P @ N + V @ T + M @ by_p - at.pushed @ N))

    names = ", ".join(structure.velocities[k] for k in chosen)
    described(tree, linearize, f"D, V, P: the derivatives of the forces at {names} by the accelerations, velocities "
              "and coordinates of these joints, which the others follow.", f"Method: {method}.")
    m = len(chosen)
    return kernel(sized(tree, f"{state_signature(tree)}->({m},{m}),({m},{m}),({m},{m})"), name="linearize",
                  outputs=Sensitivities._fields, inputs=constraints.timed(tree, ("q", "qd", "qdd")),
                  units=units_of(tree) | {"t": "s"}, kind=kind,
                  explain=explanation_of_constraints(tree, structure, chosen))(linearize)


@of_a_mechanism
def followers_kernel(tree: Tree, structure: ConstraintStructure, chosen: tuple[int, ...], kind: type[Made]) -> Made:
    """`followers(q)`: N (..., n, m), all velocities by those at the places `chosen`."""
    def text(q: Array) -> Array:
        return ConstraintSpace.of(tree, q).followers(chosen).N

    described(tree, text, "All velocities by those of independent joints.")
    return kernel(sized(tree, f"(q)->(v,{len(chosen)})"), name="followers", inputs=("q",), outputs=("N",),
                  units=units_of(tree), kind=kind, explain=explanation_of_constraints(tree, structure, chosen))(text)


class MinimalModel(NamedTuple):
    """x' = A x + B dtau for x = (dp, dpd) (2m), at the accelerations qdd (n)."""

    A: Array
    B: Array
    qdd: Array


@of_a_mechanism
def minimal_model_kernel(tree: Tree, structure: ConstraintStructure, chosen: tuple[int, ...],
                         kind: type[Made]) -> Made:
    """`minimal_model(q, qd, tau)`: the state-space model of a mechanism with constraints in the velocities of the
    joints at the places `chosen`."""
    check_positions_follow(tree, "a linear model")
    derived = constrained_derivatives_text(tree, structure)
    rows = list(structure.used)
    joints = list(chosen)

    def minimal_model(q: Array, qd: Array, tau: Array) -> MinimalModel:
        found = derived(q, qd, tau)
        N, G = ConstraintSpace.of(tree, q).followers(chosen)
        T = -G @ (_moved(tree, rows, q, qd) @ N)
        m = len(joints)
        by_p = (found.by_q @ N + found.by_qd @ T)[joints]
        A = np.block([[(turning(tree, qd) @ N)[joints], np.eye(m)], [by_p, (found.by_qd @ N)[joints]]])
        return MinimalModel(A, np.concatenate([np.zeros((m, tree.nv)), found.by_tau[joints]]), found.qdd)

    names = ", ".join(structure.velocities[k] for k in chosen)
    described(tree, minimal_model, f"x' = A x + B dtau for the perturbations of {names} and of their velocities.")
    m = len(chosen)
    return kernel(sized(tree, f"(q),(v),(v)->({2 * m},{2 * m}),({2 * m},v),(v)"), name="minimal_model",
                  outputs=MinimalModel._fields, inputs=("q", "qd", "tau"), units=units_of(tree), kind=kind,
                  explain=explanation_of_constraints(tree, structure, chosen))(minimal_model)


def constraint_partials(tree: Tree, structure: ConstraintStructure, state: tuple[Array, ...], qdd: Array,
                        lam: Array) -> ConstraintPartials:
    """The derivatives at a state (q, qd, and t if a constraint depends on it) with qdd and lam held."""
    q, qd, *t = state
    rows = list(structure.used)
    n = tree.nv
    h = len(rows)

    def text(q: Array, qd: Array) -> Array:
        A = wrapped(constraints.jacobian(tree, q, *t)[rows])
        return np.concatenate([A.T @ lam, A @ qdd + constraints.drift(tree, q, qd, *t)[rows],
                               constraints.rates(tree, q, qd, *t)[rows]])

    inside = has_symbols(tree) or any(map(is_symbolic, (qdd, lam, *t)))
    by_q, by_qd = derivatives(text, (n + 2 * h,), q, qd, inside=inside)
    along = along_velocities(minimal_links(tree.spanning_tree()), q, by_q)
    return ConstraintPartials(along[:n], along[n:n + h], along[n + h:], by_qd[n:n + h])


def _moved(tree: Tree, rows: list[int], q: Array, qd: Array) -> Array:
    """(h, n) the derivatives of A qd by q, along the velocities."""
    def text(q: Array, qd: Array) -> Array:
        return wrapped(constraints.jacobian(tree, q)[rows]) @ qd

    by_q, _ = derivatives(text, (len(rows),), q, qd, inside=has_symbols(tree))
    return along_velocities(minimal_links(tree.spanning_tree()), q, by_q)


def turning(tree: Tree, qd: Array) -> Array:
    """(n, n) of (dq)' = dqd + turning dq: zero, but where velocities are twists in the axes of a body."""
    blocks = np.array(np.zeros((tree.nv, tree.nv)), dtype=object)
    for joint, own in zip(tree.joints, tree.v_slices, strict=True):
        blocks[own, own] = joint.motion.perturbation_rate(qd[own])
    return wrapped(blocks)


def _in_all_rows(structure: ConstraintStructure, *values: Array) -> list[Array]:
    """Values of the rows that are kept (r, ...) as those of all (h, ...): NaN where the motion does not tell."""
    places = {row: k for k, row in enumerate(structure.used)}
    found = []
    for value in values:
        unknown = np.full(np.shape(value)[1:], np.nan)
        rows = [value[places[k]] if known else unknown for k, known in enumerate(structure.determined)]
        found.append(np.stack(rows) if rows else np.zeros((0, *np.shape(value)[1:])))
    return found


@dataclass(frozen=True, eq=False)
class ClosedLinearisation(Linearisation):
    """A mechanism with constraints near a state, or a batch of states. `q`, `qd`, `qdd` and `tau` are those of all
    joints; A (..., 2m, 2m), B (..., 2m, nv) and D, V, P (..., m, m) are in the velocities of the `independent` joints,
    which the others follow by `N` (..., nv, m)."""

    independent: tuple[str, ...] = ()
    places: tuple[int, ...] = ()
    N: Array = None  # type: ignore[assignment]

    __repr__ = brief

    def forces(self, dq: Array, dqd: Array, dqdd: Array) -> Array:
        """N^T (tau + dtau) (..., m), the forces of the independent joints alone, for perturbations (..., m)."""
        at_joints = times(np.swapaxes(self.N, -1, -2), self.tau)
        return at_joints + times(self.D, dqdd) + times(self.V, dqd) + times(self.P, dq)

    def accelerations(self, dq: Array, dqd: Array, dtau: ArrayLike) -> Array:
        """The accelerations (..., m) of the independent joints, for their perturbations and forces (..., nv)."""
        m = len(self.places)
        return self.qdd[..., list(self.places)] + times(self.A[..., m:, :], np.concatenate([dq, dqd], axis=-1)) + \
            times(self.B[..., m:, :], dtau)


@dataclass(frozen=True, eq=False)
class ClosedMechanism:
    """The kernels from which linear models of a mechanism with constraints are made."""

    tree: Tree
    independent: tuple[str, ...] | None = None

    def at(self, q: Array, qd: Array, qdd: Array) -> ClosedLinearisation:
        """The model at a motion that the constraints allow, driven by forces at the independent joints alone."""
        self._check_kept(q, qd, qdd)
        needed = times(np.swapaxes(self._followers(q), -1, -2), self._of_tree(q, qd, qdd))
        tau = np.zeros(qdd.shape)
        tau[..., list(self.places)] = needed
        return self._model(q, qd, tau)

    def at_forces(self, q: Array, qd: Array, tau: Array) -> ClosedLinearisation:
        """The model at a state that the constraints allow, under forces at any joints."""
        self._check_kept(q, qd, None)
        return self._model(q, qd, tau)

    def _model(self, q: Array, qd: Array, tau: Array) -> ClosedLinearisation:
        A, B, qdd = self._minimal(q, qd, tau)
        (D, V, P) = self._linearize(q, qd, qdd)
        return ClosedLinearisation(A, B, None, q, qd, qdd, tau, D, V, P, self.names, self.places, self._followers(q))

    @cached_property
    def structure(self) -> ConstraintStructure:
        return constraint_structure(self.tree)

    @cached_property
    def places(self) -> tuple[int, ...]:
        if self.independent is None:
            return self.structure.independent
        names = self.structure.velocities
        for name in self.independent:
            if name not in names:
                raise ConventionError(f"{self.tree.name} has no velocity {name!r}{did_you_mean(name, names)}")
        if len(set(self.independent)) != self.structure.mobility or len(self.independent) != self.structure.mobility:
            raise ConventionError(
                f"{self.tree.name} has mobility {self.structure.mobility}: name as many independent velocities, not "
                f"{', '.join(self.independent) or 'none'}")
        return tuple(names.index(name) for name in self.independent)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.structure.velocities[k] for k in self.places)

    @cached_property
    def _minimal(self) -> Kernel[MinimalModel]:
        return minimal_model_kernel(self.tree, self.structure, self.places, MechanismKernel)

    @cached_property
    def _linearize(self) -> Linearize:
        return constrained_linearize_kernel(self.tree, self.structure, default_method(self.tree), Linearize,
                                            self.places)

    @cached_property
    def _followers(self) -> Kernel[Array]:
        return followers_kernel(self.tree, self.structure, self.places, MechanismKernel)

    @cached_property
    def _of_tree(self) -> Kernel[Array]:
        return inverse_dynamics_kernel(self.tree.spanning_tree())

    @cached_property
    def _left(self) -> list[Kernel[Array]]:
        return [constraints.residual_kernel(self.tree), constraints.jacobian_kernel(self.tree),
                constraints.drift_kernel(self.tree)]

    def _check_kept(self, q: Array, qd: Array, qdd: Array | None) -> None:
        """Check that a state, and accelerations if they are given, are ones that the constraints allow."""
        if self.tree.is_timed:
            raise UnsupportedError(
                f"a constraint of {self.tree.name} depends on time: it has no linear model at a state alone; "
                "`forward_derivatives` and `linearize` take the time")
        residual, jacobian, drift = self._left
        A = jacobian(q)
        self._check("closed configurations", residual(q), 1.0)
        self._check("velocities with A qd = 0", times(A, qd), np.abs(qd).max(initial=1.0))
        if qdd is not None:
            rates = drift(q, qd)
            self._check("accelerations with A qdd + drift = 0", times(A, qdd) + rates,
                        max(np.abs(qdd).max(initial=1.0), np.abs(rates).max(initial=1.0)))

    def _check(self, what: str, left: Array, scale: float) -> None:
        worst = np.abs(left).max(initial=0.0)
        if worst > _KEPT * scale:  # what is no number stays none
            raise ConventionError(
                f"a linear model of {self.tree.name} is for {what}, and this is open by {worst:.3g}: see `close`, "
                "`constraint_jacobian` and `constraint_drift`")
