"""State-space models of mechanisms with constraints, in the coordinates of independent joints: x' = A x + B u with
x = (dp, dpd), 2m numbers for a mobility of m, and u = dtau at all joints of the tree.

Every solution of such a model is one of the closed mechanism; linear models in all coordinates of the tree have motions
besides that open its loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cayley.compiler.kernel import Kernel
from cayley.compiler.typing import Array, ArrayLike
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.linearised.by_differentiation import times
from cayley.dynamics.linearised.constrained import (
    MinimalModel,
    constrained_linearize_kernel,
    followers_kernel,
    minimal_model_kernel,
)
from cayley.dynamics.linearised.kernels import Linearize, default_method
from cayley.dynamics.linearised.state_space import Linearisation
from cayley.errors import ConventionError, UnsupportedError
from cayley.kinematics.constraints.rows import drift_kernel, jacobian_kernel, residual_kernel
from cayley.kinematics.constraints.structure import ConstraintStructure, constraint_structure
from cayley.kinematics.mechanism_kernel import MechanismKernel
from cayley.model.tree import Tree
from cayley.showing import brief
from cayley.wording import did_you_mean

_KEPT = 1e-7  # beside the largest of its kind: what is left open of constraints that are kept


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
        return [residual_kernel(self.tree), jacobian_kernel(self.tree), drift_kernel(self.tree)]

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
