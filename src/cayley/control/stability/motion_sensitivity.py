"""Sensitivity of a motion to constants of the mechanism under the same forces and to small changes of state and forces.

    D y'' + V y' + P y = dtau/dp - (dID/dp at fixed q, qd, qdd)         y = dq/dp
    dx' = A(t) dx + B(t) dtau        dx(t) = Phi(t, s) dx(s) + integral Phi(t, r) B(r) dtau(r) dr        x = (q, qd)
D, V, P and the derivative of inverse dynamics ID are those of the running state, so there is no error but that of the
integration; of mechanisms with constraints they are the derivatives of forward dynamics. The parameters are those of
`cayley.model.parameters`; `arm.with_payload("tool", 0.0)` adds the "payload1.mass" of a payload without mass. A and B
are those of the linearised arm at the states of the nominal motion. Perturbations are along the velocities, where
coordinates are more than these. Source: Balafoutis & Patel (1.1.3), 7.1, spec R8.9, S1-109."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cayley.compiler.typing import Array, ArrayLike
from cayley.control.arms import ArmLike, tree_of
from cayley.control.tracking import Reference, followed
from cayley.dynamics.forward.kernels import forward_dynamics_kernel
from cayley.dynamics.inverse.kernels import inverse_dynamics_kernel
from cayley.dynamics.linearised.kernels import forward_derivatives_kernel, linearize_kernel
from cayley.dynamics.linearised.state_space import LinearisedMechanism, StateSpace, turning_of_perturbations
from cayley.errors import SignatureError, UnsupportedError, shown
from cayley.kinematics.constraints.actuated_motion import check_untimed
from cayley.kinematics.constraints.closure_checks import check_closed_state
from cayley.kinematics.constraints.rows import residual_kernel
from cayley.kinematics.frame_kernels import rate_kernel
from cayley.model.constraints import check_independent
from cayley.model.parameters import Parameters
from cayley.model.tree import Tree
from cayley.showing import brief


@dataclass(frozen=True, eq=False)
class SensitiveMotion:
    """A motion and its derivatives by k parameters, by name, at times (T): q (T, nq), qd (T, nv), dq (T, nv, k) and
    dqd (T, nv, k).

    dq is along the velocities, where coordinates are more than these."""

    parameters: tuple[str, ...]
    t: Array
    q: Array
    qd: Array
    dq: Array
    dqd: Array

    __repr__ = brief


def trajectory_sensitivity(tree: Tree, parameters: Sequence[str], q: Array, qd: Array, forces: Callable[[float], Any],
                           times: ArrayLike, *, force_changes: Callable[[float], Any] | None = None, dq: float = 0.0,
                           dqd: float = 0.0, tolerance: float = 1e-10) -> SensitiveMotion:
    """The motion from a state under `forces(t)` (nv), and its derivatives by the parameters that are meant by
    words, as in `with_parameters`; the first of the times is the start.

    `force_changes(t)` (nv, k): dtau/dp, if the forces depend on the parameters; `dq`, `dqd` (nv, k), if the initial
    state does. Of a mechanism with constraints the parameters are such as do not change these.

    >>> from cayley.model.catalogue import load_robot
    >>> arm = load_robot("s1_g1")
    >>> found = trajectory_sensitivity(arm, ["mass"], np.zeros(2), np.zeros(2), lambda t: np.zeros(2), [0, 0.1])
    >>> found.parameters, found.dq.shape
    (('link1.mass', 'link2.mass'), (2, 2, 2))
    """
    chosen, accelerated = (_closed_accelerations if tree.is_constrained else _accelerations)(tree, parameters, q, qd)
    n = tree.nv
    k = len(chosen)
    rate = rate_kernel(tree)

    def slope(t: float, x: Array) -> Array:
        here = np.ascontiguousarray(x[:tree.nq])
        velocity = np.ascontiguousarray(x[tree.nq:tree.nq + n])
        y, dy = x[tree.nq + n:].reshape(2, n, k)
        applied = np.zeros((n, k)) if force_changes is None else force_changes(t)
        acceleration, ddy = accelerated(here, velocity, np.asarray(forces(t), dtype=float), y, dy, applied)
        turned = dy + turning_of_perturbations(tree, velocity) @ y
        return np.concatenate([rate(here, velocity), acceleration, turned.ravel(), ddy.ravel()])

    start = np.concatenate([q, qd, np.broadcast_to(dq, (n, k)).ravel(), np.broadcast_to(dqd, (n, k)).ravel()])
    first = tree.nq + n
    t, rows = followed(tree.name, slope, start, times, tolerance)
    return SensitiveMotion(chosen.names, t, rows[:, :tree.nq], rows[:, tree.nq:first],
                           rows[:, first:first + n * k].reshape(-1, n, k), rows[:, first + n * k:].reshape(-1, n, k))


Accelerated = Callable[[Array, Array, Array, Array, Array, Array], tuple[Array, Array]]


def _accelerations(tree: Tree, parameters: Sequence[str], q: Array, qd: Array) -> tuple[Parameters, Accelerated]:
    """The parameters, and qdd and y'' of q, qd, tau, y, y' and dtau/dp."""
    inverse = inverse_dynamics_kernel(tree).with_parameters(*parameters)
    nominal = inverse.parameters.nominal
    change = inverse.jacobian("parameters")
    forward = forward_dynamics_kernel(tree)
    sensitivities = linearize_kernel(tree)

    def accelerated(q: Array, qd: Array, tau: Array, y: Array, dy: Array, applied: Array) -> tuple[Array, Array]:
        qdd = forward(q, qd, tau)
        D, V, P = sensitivities(q, qd, qdd)
        return qdd, np.linalg.solve(D, applied - change(q, qd, qdd, nominal) - V @ dy - P @ y)

    return inverse.parameters, accelerated


def _closed_accelerations(tree: Tree, parameters: Sequence[str], q: Array, qd: Array) -> tuple[Parameters, Accelerated]:
    """The same of a mechanism with constraints, which the parameters must not change."""
    check_untimed(tree)
    check_closed_state(tree, q, qd, 0.0)
    forward = forward_dynamics_kernel(tree).with_parameters(*parameters)
    nominal = forward.parameters.nominal
    moved = np.abs(residual_kernel(tree).with_parameters(*parameters).jacobian("parameters")(q, nominal)).max(
        axis=0, initial=0.0)
    if moved.any():
        names = [name for name, size in zip(forward.parameters.names, moved, strict=True) if size]
        raise UnsupportedError(
            f"{', '.join(names)} of {tree.name} change its constraints: other values would start from another state. "
            "Choose parameters of its masses, drives and gravity")
    change = forward.jacobian("parameters")
    derivatives = forward_derivatives_kernel(tree)

    def accelerated(q: Array, qd: Array, tau: Array, y: Array, dy: Array, applied: Array) -> tuple[Array, Array]:
        found = derivatives(q, qd, tau)
        return found.qdd, found.by_q @ y + found.by_qd @ dy + found.by_tau @ applied + change(q, qd, tau, nominal)

    return forward.parameters, accelerated


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """The model along a `reference(t) -> (q, qd, qdd)`; made by `linear_along`."""

    model: LinearisedMechanism
    reference: Reference

    def at(self, t: float) -> StateSpace:
        """A (2 nv, 2 nv) and B (2 nv, nv) at a time."""
        return self.model.at(*[np.asarray(x, dtype=float) for x in self.reference(t)])

    def transition(self, times: ArrayLike, *, tolerance: float = 1e-10) -> Array:
        """Phi(t, times[0]) (k, 2 nv, 2 nv) at the times (k), which rise."""
        size = 2 * self.model.tree.nv

        def slope(t: float, x: Array) -> Array:
            return (self.at(t).A @ x.reshape(size, size)).ravel()

        _, rows = followed(f"perturbations of {self.model.tree.name}", slope, np.eye(size).ravel(), _rising(times),
                           tolerance)
        return rows.reshape(-1, size, size)

    def perturbations(self, dx: ArrayLike, times: ArrayLike, *, forces: Callable[[float], ArrayLike] | None = None,
                      tolerance: float = 1e-10) -> Array:
        """dx (k, 2 nv) at the times (k) from a perturbation (2 nv) at the first and, if there are any, perturbations
        `forces(t)` (nv) of the nominal ones."""
        size = 2 * self.model.tree.nv
        start = np.asarray(dx, dtype=float)
        if start.shape != (size,):
            raise SignatureError(f"a perturbation of {self.model.tree.name} must have the shape ({size},), not "
                                 f"{start.shape}")

        def slope(t: float, x: Array) -> Array:
            here = self.at(t)
            pushed = 0.0 if forces is None else here.B @ np.asarray(forces(t), dtype=float)
            return here.A @ x + pushed

        return followed(f"perturbations of {self.model.tree.name}", slope, start, _rising(times), tolerance)[1]


def linear_along(arm: ArmLike, reference: Reference) -> LinearMotion:
    """The linear time-varying model of an arm along a nominal motion, under the forces that this needs.

    >>> import cayley as cy
    >>> along = linear_along(cy.load("planar2r"), lambda t: (np.sin([t, 2 * t]), np.cos([t, 2 * t]) * [1, 2],
    ...                                                      -np.sin([t, 2 * t]) * [1, 4]))
    >>> along.transition([0.0, 0.5, 1.0]).shape
    (3, 4, 4)
    """
    tree = tree_of(arm)
    check_independent(tree, "a linear model along a motion")
    return LinearMotion(LinearisedMechanism(tree), reference)


def _rising(times: ArrayLike) -> Array:
    given = np.atleast_1d(np.asarray(times, dtype=float))
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or not (np.diff(given) > 0).all():
        raise SignatureError(f"times must be finite numbers that rise, not {shown(times)}")
    return given
