"""Particles with constraints: their equations of motion in generalised coordinates, or in their own with multipliers.

    x (N, 3), xd   places and velocities of N particles
    m (N)          masses
    h              independent constraints
    n              3N - h
Generalised coordinates embed the constraints in x = r(q, t). A virtual displacement is dr/dq dq, at frozen time; an
effective one is dr/dq dq + dr/dt dt: they differ when the constraints move, and only virtual displacements give
generalised forces. Sources: Yamamoto (G.1)-(G.11), corrected as in spec E3-43; Ruggiu (3.42)-(3.49)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cayley.compiler.derivatives.derivative import jacobian
from cayley.compiler.kernel import Kernel
from cayley.compiler.local_functions import HoldsFunctions
from cayley.compiler.typing import Array, ArrayLike, Scalar
from cayley.dynamics.mechanics.lagrange import (
    Function,
    LagrangeSystem,
    by_time,
    optional,
    takes_time,
    timed,
    timed_kernel,
)
from cayley.errors import ModelError, SignatureError


@dataclass(frozen=True, eq=False)
class ParticleSystem(HoldsFunctions):
    """Particles that generalised coordinates place: `places(q[, t])` gives x (N, 3). `potential(x[, t])` [J] and
    `forces(x, xd[, t])` (N, 3) [N] are written in the particles' own coordinates.

    >>> rod = ParticleSystem([2.0], lambda q: [[0.5 * np.cos(q[0]), 0.5 * np.sin(q[0]), 0.0]],
    ...                      potential=lambda x: 2.0 * 9.81 * x[0, 1])
    >>> rod.equations.generalized_forces([0.0], [0.0], [1.0])
    array([10.31])
    """

    masses: Array
    places: Function
    potential: Function | None = None
    forces: Function | None = None

    @cached_property
    def rheonomic(self) -> bool:
        """True if time enters explicitly."""
        return any(takes_time(f, count) for f, count in ((self.places, 1), (self.potential, 1), (self.forces, 2)) if f)

    @cached_property
    def equations(self) -> LagrangeSystem:
        """Lagrange's equations in the generalised coordinates."""
        masses = np.asarray(self.masses, dtype=float)
        potential = optional(self.potential, 1)
        applied = optional(self.forces, 2)

        def lagrangian(q: Array, qd: Array, t: Scalar) -> Scalar:
            x, xd = self._moving(q, qd, t)
            kinetic = masses @ (xd * xd).sum(axis=1) / 2                                # (G.11)
            return kinetic - potential(x, t) if potential else kinetic

        def forces(q: Array, qd: Array, t: Scalar) -> Array:
            x, xd = self._moving(q, qd, t)
            return np.einsum("ja,jai->i", _pushes(applied(x, xd, t), x), jacobian(x, q))  # type: ignore[misc]    # (G.9)

        return LagrangeSystem(lagrangian, self.rheonomic, forces if applied else None, name="particles")

    @cached_property
    def positions(self) -> Kernel:
        """`(q)` -> x (..., N, 3); this and the following kernels take t last if the system is rheonomic."""
        return self._kernel("positions", "(n)", ("q",), self._placed)

    @cached_property
    def velocities(self) -> Kernel:
        """`(q, qd)` -> xd (..., N, 3): dr/dq qd + dr/dt."""
        return self._kernel("velocities", "(n),(n)", ("q", "qd"), lambda q, qd, t: self._moving(q, qd, t)[1])

    @cached_property
    def virtual_displacement(self) -> Kernel:
        """`(q, dq)` -> dr/dq dq (..., N, 3), at frozen time."""
        return self._kernel("virtual_displacement", "(n),(n)", ("q", "dq"),
                            lambda q, dq, t: jacobian(self._placed(q, t), q) @ dq)

    @cached_property
    def effective_displacement(self) -> Kernel:
        """`(q, dq, dt)` -> dr/dq dq + dr/dt dt (..., N, 3)."""
        def text(q: Array, dq: Array, dt: Scalar, t: Scalar) -> Array:
            x = self._placed(q, t)
            return jacobian(x, q) @ dq + by_time(x, t) * dt
        return self._kernel("effective_displacement", "(n),(n),()", ("q", "dq", "dt"), text)

    def _placed(self, q: Array, t: Scalar) -> Array:
        x = _rows(timed(self.places, 1)(q, t))
        if x.shape != (len(self.masses), 3):
            raise ModelError(
                f"there are {len(self.masses)} masses, but the places have the shape {x.shape}: give x (N, 3)")
        return x

    def _moving(self, q: Array, qd: Array, t: Scalar) -> tuple[Any, Any]:
        x = self._placed(q, t)
        return x, jacobian(x, q) @ qd + by_time(x, t)                                   # (G.4)

    def _kernel(self, name: str, shapes: str, inputs: tuple[str, ...], text: Function) -> Kernel:
        return timed_kernel(shapes, f"({len(self.masses)},3)", text, name, inputs, self.rheonomic)


def constrained_particles(masses: ArrayLike, constraints: Function, *, potential: Function | None = None,
                          forces: Function | None = None) -> LagrangeSystem:
    """Particles under holonomic constraints, in their own coordinates q = (x1, y1, z1, x2, ...), (3N), with
    multipliers. `constraints(x[, t])` (h), `potential(x[, t])` and `forces(x, xd[, t])` (N, 3) take x (N, 3).

    >>> dumbbell = constrained_particles([1.0, 2.0], lambda x: [(x[1] - x[0]) @ (x[1] - x[0]) - 1.0])
    >>> dumbbell.degrees_of_freedom([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    5
    """
    weights = np.repeat(np.asarray(masses, dtype=float), 3)
    holds = timed(constraints, 1)
    rests = optional(potential, 1)
    pushes = optional(forces, 2)

    def lagrangian(q: Array, qd: Array, t: Scalar) -> Array:
        if len(q) != len(weights):
            raise ModelError(f"{len(weights) // 3} particles have {len(weights)} coordinates, not {len(q)}")
        kinetic = weights @ (qd * qd) / 2
        return kinetic - rests(q.reshape(-1, 3), t) if rests else kinetic

    rheonomic = any(takes_time(f, count) for f, count in ((constraints, 1), (potential, 1), (forces, 2)) if f)
    return LagrangeSystem(
        lagrangian, rheonomic, name="particles", constraints=lambda q, t: holds(q.reshape(-1, 3), t),
        forces=(lambda q, qd, t: _pushes(pushes(q.reshape(-1, 3), qd.reshape(-1, 3), t), q.reshape(-1, 3)).reshape(-1))
        if pushes else None)


def _pushes(values: list[list[Scalar]], x: Array) -> Array:
    forces = _rows(values)
    if forces.shape != x.shape:
        raise SignatureError(f"the forces on {len(x)} particles have the shape {forces.shape}: give (N, 3)")
    return forces


def _rows(values: list[list[Scalar]]) -> Array:
    return np.stack([np.stack(list(row)) for row in values])
