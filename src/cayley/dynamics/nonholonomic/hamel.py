"""Hamel's equations in pseudo-velocities, with the reactions of the constraints.

    L*(q, pid) = L(q, B pid)                  all n pseudo-velocities in it: those of constraints are put to zero last
    B_k = d/dt dL*/dpid_k - dL*/dpi_k + sum_ij gamma_kij dL*/dpid_i pid_j,      dL*/dpi_k = sum_s b_sk dL*/dq_s
    B_k = P_k   for the pseudo-velocities,    P_k = sum_s (Q_s + tau_s) b_sk
    R_k = B_k - P_k   for the constraints     the reaction, which is Routh's multiplier Lambda_k
Source: Mladenova (224)-(236), with the sign of the reactions as in spec E-41a.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel, kernel
from cayley.compiler.solving.linear import ldl_solve
from cayley.compiler.typing import Array

if TYPE_CHECKING:
    from cayley.dynamics.nonholonomic.system import NonholonomicSystem


class HamelForces(NamedTuple):
    """What a motion needs: forces (m) along the pseudo-velocities, and the reactions (r) of the constraints if nothing
    acts along these."""

    forces: Array
    reactions: Array


class HamelMotion(NamedTuple):
    """Accelerations (m), rates of the pseudo-velocities, and reactions (r)."""

    pidd: Array
    reactions: Array


class _Sides(NamedTuple):
    """B = M* pidd + bias and P, for all n pseudo-velocities."""

    M: Array
    bias: Array
    P: Array


def hamel_forces(system: NonholonomicSystem) -> Kernel[HamelForces]:
    """`(q, pid, pidd)` -> `HamelForces`."""
    def text(q: Array, pid: Array, pidd: Array) -> HamelForces:
        m = len(pid)
        sides = _sides(system, q, pid, np.zeros(len(q)))
        needed = sides.M[:, :m] @ pidd + sides.bias - sides.P
        return HamelForces(needed[:m], needed[m:])

    return system.kernel("(n),(m),(m)->(m),(r)", text, "hamel_forces", ("q", "pid", "pidd"), HamelForces._fields)


def hamel_motion(system: NonholonomicSystem) -> Kernel[HamelMotion]:
    """`(q, pid, tau)` -> `HamelMotion`."""
    def text(q: Array, pid: Array, tau: Array) -> HamelMotion:
        m = len(pid)
        sides = _sides(system, q, pid, tau)
        pidd = ldl_solve(sides.M[:m, :m], (sides.P - sides.bias)[:m])
        return HamelMotion(pidd, (sides.M[:, :m] @ pidd + sides.bias - sides.P)[m:])

    return system.kernel("(n),(m),(n)->(m),(r)", text, "hamel", ("q", "pid", "tau"), HamelMotion._fields)


def _sides(system: NonholonomicSystem, q: Array, pid: Array, tau: Array) -> _Sides:
    """At a motion that the constraints allow: their pseudo-velocities are put to zero after all is differentiated."""
    sides = kernel("(n),(n),(n)->(n,n),(n),(n)", name="hamel_sides", inputs=("q", "rates", "tau"))(
        lambda *state: _sides_of_all(system, *state))
    return _Sides(*sides(q, np.concatenate([pid, np.zeros(len(q) - len(pid))]), tau))


def _sides_of_all(system: NonholonomicSystem, q: Array, rates: Array, tau: Array) -> _Sides:
    frame = system.frame
    B = frame.inverse(q)
    qd = B @ rates
    L = system.mechanics.lagrangian(q, qd, None)
    momenta = jacobian(L, rates)
    around = np.stack([momenta @ (gamma @ rates) for gamma in frame.coefficients(q)])
    bias = jacobian(momenta, q) @ qd - B.T @ jacobian(L, q) + around
    applied = tau if system.mechanics.forces is None else tau + np.stack(list(system.mechanics.forces(q, qd, None)))
    return _Sides(jacobian(momenta, rates), bias, B.T @ applied)
