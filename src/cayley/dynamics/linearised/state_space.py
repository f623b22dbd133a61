"""State-space models of mechanisms near a nominal motion: x' = A x + B u with x = (dq, dqd), u = dtau.

    A = [[N, 1], [-D^-1 P, -D^-1 V]]         B = [[0], [D^-1]]
N is zero where velocities are rates of coordinates. Where they are twists in a body's axes (spherical and floating
joints) perturbations are measured in axes that turn: (dq)' = dqd - v x dq. Over a step in which A and B hold still, the
discrete model is exact:
    exp(dt [[A, B], [0, 0]]) = [[Ad, Bd], [0, 1]]
Source: Balafoutis & Patel (7.2.1)-(7.2.3), spec R8.1, R8.7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import expm

from cayley.compiler.kernel import Kernel
from cayley.compiler.solving.rounding import least_singular
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.forward.singular_inertia import check_definite
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.linearised.by_differentiation import times
from cayley.dynamics.linearised.kernels import Linearize, linearize_kernel
from cayley.errors import ConventionError
from cayley.model.tree import Tree
from cayley.showing import brief

if TYPE_CHECKING:
    from cayley.dynamics.linearised.constrained import ClosedMechanism



@dataclass(frozen=True, eq=False)
class StateSpace:
    """x' = A x + B u, or x_next = A x + B u with a step `dt` [s]. Leading axes are a batch."""

    A: Array
    B: Array
    dt: float | None = None

    __repr__ = brief

    @property
    def poles(self) -> Array:
        """The complex eigenvalues (..., 2 nv) of A [1/s; of a discrete model, factors for each step]."""
        return np.linalg.eigvals(self.A).astype(complex)

    @property
    def stable(self) -> Scalar:
        """True (...) if every perturbation dies out."""
        return (self.poles.real < 0).all(axis=-1) if self.dt is None else (np.abs(self.poles) < 1).all(axis=-1)

    @property
    def controllability_matrix(self) -> Array:
        """[B, A B, A^2 B, ...] (..., 2 nv, 2 nv m)."""
        blocks = [self.B]
        while len(blocks) < self.A.shape[-1]:
            blocks.append(self.A @ blocks[-1])
        return np.concatenate(blocks, axis=-1)

    @property
    def margins(self) -> Array:
        """For each pole s the least singular value of [A - s, B] beside the largest: zero if u cannot reach it."""
        poles = self.poles
        shifted = self.A[..., None, :, :] - poles[..., :, None, None] * np.eye(self.A.shape[-1])
        B = np.broadcast_to(self.B[..., None, :, :], (*shifted.shape[:-1], self.B.shape[-1]))
        values = np.linalg.svd(np.concatenate([shifted, B], axis=-1), compute_uv=False)
        return values.min(axis=-1, initial=np.inf) / values.max(axis=-1, initial=1e-300)

    @property
    def controllable(self) -> Scalar:
        """True (...) if the forces reach every mode, by the test of Popov, Belevitch and Hautus."""
        return (self.margins > least_singular(self.A.shape[-1])).all(axis=-1)

    def discretised(self, dt: float) -> StateSpace:
        """The exact model of steps of `dt` [s] in which u is held (zero-order hold)."""
        if self.dt is not None:
            raise ConventionError(
                f"this model is discrete already, with steps of {self.dt} s; `continuous(model)` is the way back")
        states, inputs = self.B.shape[-2:]
        joined = np.zeros((*self.A.shape[:-2], states + inputs, states + inputs))
        joined[..., :states, :states] = self.A
        joined[..., :states, states:] = self.B
        step = expm(dt * joined)
        return StateSpace(step[..., :states, :states], step[..., :states, states:], dt)

    def driven_by(self, columns: Sequence[int]) -> StateSpace:
        """The same with some of the forces alone: what an arm with idle joints can do."""
        return StateSpace(self.A, self.B[..., list(columns)], self.dt)


@dataclass(frozen=True, eq=False)
class Linearisation(StateSpace):
    """A mechanism near one state, or a batch of states, of a nominal motion: dtau = D dqdd + V dqd + P dq. Of a
    mechanism with constraints it is a `ClosedLinearisation`, in the coordinates of independent joints."""

    q: Array = None  # type: ignore[assignment]
    qd: Array = None  # type: ignore[assignment]
    qdd: Array = None  # type: ignore[assignment]
    tau: Array = None  # type: ignore[assignment]
    D: Array = None  # type: ignore[assignment]
    V: Array = None  # type: ignore[assignment]
    P: Array = None  # type: ignore[assignment]

    __repr__ = brief

    def forces(self, dq: Array, dqd: Array, dqdd: Array) -> Array:
        """tau + dtau (..., nv) for perturbations (..., nv); right to first order."""
        return self.tau + times(self.D, dqdd) + times(self.V, dqd) + times(self.P, dq)

    def accelerations(self, dq: Array, dqd: Array, dtau: ArrayLike) -> Array:
        """qdd + dqdd (..., nv) for perturbations (..., nv); right to first order."""
        return self.qdd + times(self.A[..., self.D.shape[-1]:, :], np.concatenate([dq, dqd], axis=-1)) + \
            times(self.B[..., self.D.shape[-1]:, :], dtau)


@dataclass(frozen=True, eq=False)
class LinearisedMechanism:
    """The kernels from which linear models of a mechanism are made, compiled at first use.

    >>> from cayley.model.catalogue import load_robot
    >>> hanging = LinearisedMechanism(load_robot("s1_g1")).at([-np.pi / 2, 0.0])
    >>> hanging.controllable, hanging.stable
    (np.True_, np.False_)
    >>> np.abs(hanging.poles.real).max().round(9), np.abs(hanging.tau).max().round(9)
    (np.float64(0.0), np.float64(0.0))
    """

    tree: Tree
    independent: tuple[str, ...] | None = None
    """Of a mechanism with constraints: the velocities in which the model is written, by the names of their joints; the
    first that can be chosen, if it is not said."""

    __repr__ = brief

    @cached_property
    def sensitivities(self) -> Linearize:
        return linearize_kernel(self.tree)

    @cached_property
    def inverse_dynamics(self) -> Kernel:
        return inverse_dynamics_kernel(self.tree)

    @cached_property
    def forward_dynamics(self) -> Kernel:
        return forward_dynamics_kernel(self.tree)

    def at(self, q: ArrayLike, qd: Array | None = None, qdd: Array | None = None) -> Linearisation:
        """The linear model at a state and an acceleration, at rest if they are left out; leading axes are a batch."""
        q, qd, qdd = self._states(q, qd, qdd)
        if self.tree.is_constrained:
            return self._closed.at(q, qd, qdd)
        tau = self.inverse_dynamics(q, qd, qdd)
        (D, V, P) = self.sensitivities(q, qd, qdd)
        A, B = state_matrices(self.tree, qd, D, V, P)
        return Linearisation(A, B, None, q, qd, qdd, tau, D, V, P)

    def at_forces(self, q: Array, qd: Array, tau: Array) -> Linearisation:
        """The linear model at a state under given forces."""
        if self.tree.is_constrained:
            return self._closed.at_forces(*self._states(q, qd, tau))
        return self.at(q, qd, self.forward_dynamics(q, qd, tau))

    @cached_property
    def _closed(self) -> ClosedMechanism:
        from cayley.dynamics.linearised.constrained import ClosedMechanism  # which few mechanisms need
        return ClosedMechanism(self.tree, self.independent)

    def _states(self, q: ArrayLike, qd: Array | None, qdd: Array | None) -> list[Array]:
        q = np.atleast_1d(np.asarray(q, dtype=float))
        rest = np.zeros(self.tree.nv)
        qd, qdd = (rest if x is None else np.atleast_1d(np.asarray(x, dtype=float)) for x in (qd, qdd))
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], qdd.shape[:-1])
        return [np.broadcast_to(x, (*batch, x.shape[-1])) for x in (q, qd, qdd)]


def state_matrices(tree: Tree, qd: Array, D: Array, V: Array, P: Array) -> tuple[Array, Array]:
    """A (..., 2 nv, 2 nv) and B (..., 2 nv, nv); an error names the state and joints where D is not positive."""
    n = tree.nv
    check_definite(tree, D)
    solved = np.linalg.solve(D, np.concatenate([-P, -V, np.broadcast_to(np.eye(n), D.shape)], axis=-1))
    upper = np.concatenate([turning_of_perturbations(tree, qd),
                            np.broadcast_to(np.eye(n), D.shape),
                            np.zeros(D.shape)], axis=-1)
    both = np.concatenate([upper, solved], axis=-2)
    return both[..., :2 * n], both[..., 2 * n:]


def turning_of_perturbations(tree: Tree, qd: ArrayLike) -> Array:
    """N (..., nv, nv) of (dq)' = dqd + N dq: zero, but where velocities are twists in the axes of a body."""
    qd = np.asarray(qd, dtype=float)
    N = np.zeros((*qd.shape, tree.nv))
    for joint, own in zip(tree.joints, tree.v_slices, strict=True):
        N[..., own, own] = joint.motion.perturbation_rate(qd[..., own])
    return N
